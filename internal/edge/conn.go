package edge

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/refused"
)

type connKey struct{}

// A conn is a connection that is counted, and whose requests are looked at as they arrive.
type conn struct {
	net.Conn
	listener *listener
	remote   netip.Addr

	mu      sync.Mutex
	idle    time.Time // since when it waits for a further request; zero while it doesn't
	head    head
	behind  int64 // bytes that arrived behind the header of the request
	awaited bool  // a body that has not arrived is waited for
	stale   bool  // bytes of a further request arrived before the answer was out
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	c.behind += int64(n - c.head.read(b[:n]))
	kind := ""
	if errors.Is(err, os.ErrDeadlineExceeded) {
		switch {
		case c.head.begun && !c.head.ended:
			kind = "header_late"
		case c.head.begun && c.awaited:
			kind = "body_late"
		}
	}
	c.mu.Unlock()
	c.note(kind)
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.note("answer_not_taken")
	}
	return n, err
}

func (c *conn) note(kind string) {
	if kind != "" {
		c.listener.options.Refused.Note(context.Background(), refused.Refusal{Door: "http", Kind: kind, Remote: c.remote})
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.drop(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets net/http end an answer before it ends the connection.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *conn) idleSince() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idle
}

// begin says why the request whose header was read must not be answered; "" for no reason. net/http drops the
// Content-Length of a request that has a Transfer-Encoding too, where a proxy in front may have gone by it.
func (c *conn) begin() (refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stale || !c.head.ended:
		return "pipelined"
	case c.head.length && c.head.encoding:
		return "two_lengths"
	}
	return ""
}

// await says that the body of the request is waited for, or no longer.
func (c *conn) await(body bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaited = body
}

// further reports whether more has arrived than a request with a body of so many bytes, -1 for an unknown number.
func (c *conn) further(length int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return length >= 0 && c.behind > length
}

// end makes ready for the next header. What arrived of it already was not looked at.
func (c *conn) end(unread bool, length int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale = unread || length < 0 || c.behind > length
	c.head, c.behind, c.awaited = head{}, 0, false
}

// A head reads the header of one request for the names of its fields. The zero one is at its beginning.
type head struct {
	begun, ended     bool
	length, encoding bool // Content-Length, Transfer-Encoding

	name  [18]byte // of the field in this line, in lower case
	n     int      // of name
	named bool     // the name has ended
}

// read reads what arrives, up to the end of the header, and returns how many bytes that is.
func (h *head) read(b []byte) int {
	for i, c := range b {
		if h.ended {
			return i
		}
		h.begun = true
		switch {
		case c == '\n':
			h.ended = h.n == 0 && !h.named
			h.n, h.named = 0, false
		case c == '\r', h.named:
		case c == ':':
			h.named = true
			h.length = h.length || string(h.name[:h.n]) == "content-length"
			h.encoding = h.encoding || string(h.name[:h.n]) == "transfer-encoding"
		case h.n < len(h.name):
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			h.name[h.n] = c
			h.n++
		}
	}
	return len(b)
}
