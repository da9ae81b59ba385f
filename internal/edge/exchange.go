package edge

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/refused"
)

// Timed returns h under the deadlines of o, for a program that serves it with an http.Server of its own: the bounds of
// connections are then up to that program. Below a Server it is h.
func Timed(h http.Handler, o Options) http.Handler { return timed(h, o.withDefaults()) }

func timed(h http.Handler, o Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isTimed(w) {
			h.ServeHTTP(w, r)
			return
		}
		c, _ := r.Context().Value(connKey{}).(*conn)
		x := &exchange{ResponseWriter: w, control: http.NewResponseController(w), options: &o, request: r, conn: c, length: r.ContentLength}
		defer x.end()
		if r.Body != nil && r.Body != http.NoBody {
			x.await(true)
			_ = x.control.SetReadDeadline(time.Now().Add(o.Body)) // not every ResponseWriter can
			r.Body = &body{r.Body, x}
		}
		if c != nil {
			if kind := c.begin(); kind != "" {
				x.refuse(r, kind)
				return
			}
		}
		h.ServeHTTP(x, r)
	})
}

// isTimed reports whether w keeps deadlines already.
func isTimed(w http.ResponseWriter) bool {
	for {
		switch inner := w.(type) {
		case *exchange:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = inner.Unwrap()
		default:
			return false
		}
	}
}

// refusals are what clients are told of requests that are refused here.
var refusals = map[string]string{
	"two_lengths": "400 Bad Request: the request has a Content-Length and a Transfer-Encoding; send one of them\n",
	"pipelined":   "400 Bad Request: the request was sent before the one before it was answered; wait for the answer\n",
}

func (x *exchange) refuse(r *http.Request, kind string) {
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	x.options.Refused.Note(r.Context(), refused.Refusal{Door: "http", Kind: kind, Remote: remote.Addr()})
	x.Header().Set("Connection", "close")
	x.Header().Set("Content-Type", "text/plain; charset=utf-8")
	x.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(x, refusals[kind]) // a client that has gone can't be told so
}

// An exchange is the ResponseWriter of one request, which keeps its deadlines. Reading may be behind writing: net/http
// reads the rest of a body before it sends the answer, unless the connection is to be closed.
type exchange struct {
	http.ResponseWriter
	control *http.ResponseController
	options *Options
	request *http.Request
	conn    *conn       // nil under another server
	length  int64       // of the body; -1 when it is not known
	unread  atomic.Bool // the end of the body has not arrived

	begun  bool // the header is written
	events bool // the answer is a stream of events
	waited time.Duration
	bytes  int64
}

// WriteHeader implements http.ResponseWriter. Who is answered before all of the request has arrived, who shows no valid
// credential, and who sent a further request already, needs a new connection for the next one.
func (x *exchange) WriteHeader(status int) {
	if status >= 200 && !x.begun {
		x.begun = true
		x.report(status)
		h := x.Header()
		x.events = strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
		if x.unread.Load() || status == http.StatusUnauthorized || x.conn != nil && (x.length < 0 || x.conn.further(x.length)) {
			h.Set("Connection", "close")
		}
	}
	defer x.wait()()
	x.ResponseWriter.WriteHeader(status)
}

// transports are what the first part of a path leads to.
var transports = map[string]string{"mcp": "mcp", "tools": "mcp", "api": "api", "console": "console", "metrics": "metrics"}

// report tells of an answer that refuses. The audit has what a call was refused for; what is refused before it is a call
// has its trace here alone.
func (x *exchange) report(status int) {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusServiceUnavailable:
		first, _, _ := strings.Cut(strings.TrimPrefix(x.request.URL.Path, "/"), "/")
		remote, _ := netip.ParseAddrPort(x.request.RemoteAddr)
		x.options.Refused.Note(x.request.Context(), refused.Refusal{Door: cmp.Or(transports[first], "http"), Kind: "status_" + strconv.Itoa(status), Remote: remote.Addr()})
	}
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(b []byte) (int, error) {
	if !x.begun {
		x.WriteHeader(http.StatusOK)
	}
	x.bytes += int64(len(b))
	defer x.wait()()
	return x.ResponseWriter.Write(b)
}

// FlushError lets http.ResponseController flush.
func (x *exchange) FlushError() error {
	if !x.begun {
		x.WriteHeader(http.StatusOK)
	}
	defer x.wait()()
	return x.control.Flush()
}

// Unwrap lets http.ResponseController do the rest.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// wait sets how long the reader of the answer may still be waited for, and counts how long that takes. The time of who
// makes the answer doesn't count.
func (x *exchange) wait() (done func()) {
	start := time.Now()
	left := x.options.Event
	if !x.events {
		left = x.options.Answer + time.Duration(x.bytes)*time.Second/time.Duration(x.options.Rate) - x.waited
	}
	_ = x.control.SetWriteDeadline(start.Add(left)) // each connection can
	return func() { x.waited += time.Since(start) }
}

// end leaves deadlines for what net/http does when the handler has returned: it sends the rest of the answer, then reads
// the rest of the body.
func (x *exchange) end() {
	if !x.begun {
		x.WriteHeader(http.StatusOK) // as net/http would, past this
	}
	x.wait()
	unread := x.unread.Load()
	if unread {
		_ = x.control.SetReadDeadline(time.Now().Add(x.options.Linger))
	}
	if x.conn != nil {
		x.conn.end(unread, x.length)
	}
}

func (x *exchange) await(body bool) {
	x.unread.Store(body)
	if x.conn != nil {
		x.conn.await(body)
	}
}

// A body clears its deadline when all of it has arrived: what is read then is whether the client is still there.
type body struct {
	io.ReadCloser
	x *exchange
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && b.x.unread.Load() {
		b.x.await(false)
		_ = b.x.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
