package edge

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// connKey is the context key of a request's connection.
type connKey struct{}

// A conn is a counted connection that inspects requests as they arrive.
type conn struct {
	net.Conn
	listener *listener
	remote   netip.Addr

	mu      sync.Mutex
	idle    time.Time // when the connection began to wait for the next request, or zero if it isn't waiting
	head    head
	behind  int64 // number of bytes received after the header of the request
	awaited bool  // the server waits for the rest of a body
	stale   bool  // bytes of another request arrived before the response was sent
	handled bool  // a handler has received the request
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

// Write implements net.Conn. net/http itself responds to bytes that are not a request, and to requests with too large
// a header. No handler sees these responses, so Write records them as refusals.
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	alone := !c.handled && c.head.begun && (bytes.HasPrefix(b, []byte("HTTP/1.1 4")) || bytes.HasPrefix(b, []byte("HTTP/1.1 505")))
	c.mu.Unlock()
	if alone {
		c.note("malformed")
	}
	n, err := c.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.note("answer_not_taken")
	}
	return n, err
}

func (c *conn) note(kind string) {
	if kind != "" {
		c.listener.options.Refused.Note(context.Background(), Refusal{Door: "http", Kind: kind, Remote: c.remote})
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.drop(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite allows net/http to finish a response before it closes the connection.
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

// begin returns the reason to refuse the request whose header was read, or "". A request must not have both a
// Content-Length and a Transfer-Encoding: net/http ignores the Content-Length, but a proxy in front may have used it.
func (c *conn) begin() (refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handled = true
	switch {
	case c.stale || !c.head.ended:
		return "pipelined"
	case c.head.length && c.head.encoding:
		return "two_lengths"
	}
	return ""
}

// await records whether the server waits for the body of the request.
func (c *conn) await(body bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaited = body
}

// further reports whether more bytes have arrived than a body of length bytes. length is -1 if unknown.
func (c *conn) further(length int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return length >= 0 && c.behind > length
}

// end prepares the connection for the next header. If bytes of this header have already arrived, they were not
// inspected.
func (c *conn) end(unread bool, length int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale = unread || length < 0 || c.behind > length
	c.head, c.behind, c.awaited, c.handled = head{}, 0, false, false
}

// A head searches the header of one request for field names. The zero value is at the beginning of the header.
type head struct {
	begun, ended     bool
	length, encoding bool // the header has a Content-Length or a Transfer-Encoding

	name  [18]byte // name of the field on this line, in lower case
	n     int      // length of name
	named bool     // the name is complete
}

// read reads b up to the end of the header, and returns the number of bytes read.
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
