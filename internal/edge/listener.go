package edge

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// A listener accepts connections within the bounds. For a connection over the bounds, it closes the connection that
// has been idle longest. If no connection is idle, it refuses the new connection.
type listener struct {
	net.Listener
	options *Options

	mu    sync.Mutex
	open  map[*conn]struct{}
	count map[netip.Prefix]int
}

func (s *Server) limitListener(l net.Listener) *listener {
	return &listener{Listener: l, options: &s.options, open: map[*conn]struct{}{}, count: map[netip.Prefix]int{}}
}

// full is the response to a connection over the bounds.
const full = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\nConnection: close\r\n" +
	"Content-Length: 62\r\n\r\nToo many connections at a time; close some, or try again soon\n"

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: raw, listener: l, remote: addressOf(raw.RemoteAddr())}
		kind := l.admit(c)
		if kind == "" {
			return c, nil
		}
		l.options.Refused.Note(context.Background(), Refusal{Door: "http", Kind: kind, Remote: c.remote})
		// A new connection can accept this at once, unless the client has closed it.
		_ = raw.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		_, _ = raw.Write([]byte(full))
		_ = raw.Close()
	}
}

func addressOf(a net.Addr) netip.Addr {
	p, _ := netip.ParseAddrPort(a.String()) // connections without an IP address share the zero address
	return p.Addr()
}

// admit counts c. If a bound refuses c, it returns the name of the bound.
func (l *listener) admit(c *conn) (refusal string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := NetworkOf(c.remote)
	if l.count[from] >= l.options.PerAddress && !l.evict(func(o *conn) bool { return NetworkOf(o.remote) == from }) {
		return "connections_of_address"
	}
	if len(l.open) >= l.options.Connections && !l.evict(func(*conn) bool { return true }) {
		return "connections"
	}
	l.open[c] = struct{}{}
	l.count[from]++
	return ""
}

// evict closes the connection that has been idle longest among connections for which meant returns true. It returns
// false if there is none. The caller holds l.mu.
func (l *listener) evict(meant func(*conn) bool) bool {
	var oldest *conn
	var since time.Time
	for c := range l.open {
		if at := c.idleSince(); !at.IsZero() && meant(c) && (oldest == nil || at.Before(since)) {
			oldest, since = c, at
		}
	}
	if oldest == nil {
		return false
	}
	l.drop(oldest)
	_ = oldest.Conn.Close() // net/http closes it again, and reports this
	return true
}

// drop removes c from the counts, once. The caller holds l.mu.
func (l *listener) drop(c *conn) {
	if _, ok := l.open[c]; !ok {
		return
	}
	delete(l.open, c)
	from := NetworkOf(c.remote)
	if l.count[from]--; l.count[from] == 0 {
		delete(l.count, from)
	}
}

// noteConnState records whether a connection is idle. net/http calls it when the state of a connection changes.
func noteConnState(c net.Conn, state http.ConnState) {
	if c, ok := c.(*conn); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.idle = time.Time{}
		if state == http.StateIdle {
			c.idle = time.Now()
		}
	}
}
