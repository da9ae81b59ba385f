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
)

// WithDeadlines returns h with the deadlines of o. It is for programs with their own http.Server, which must limit
// the connections. If a Server of this package calls the handler, it adds no second deadlines.
func WithDeadlines(h http.Handler, o Options) http.Handler { return withDeadlines(h, o.withDefaults()) }

// withDeadlines returns h with the deadlines of o on each request and its response. It adds none to a request that
// already has deadlines, from an outer handler or server.
func withDeadlines(h http.Handler, o Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hasDeadlines(w) {
			h.ServeHTTP(w, r)
			return
		}
		c, _ := r.Context().Value(connKey{}).(*conn)
		ctx, trace := WithTrace(r.Context())
		r = r.WithContext(ctx)
		x := &exchange{ResponseWriter: w, control: http.NewResponseController(w), options: &o, request: r, trace: trace, conn: c, length: r.ContentLength}
		defer x.end()
		if r.Body != nil && r.Body != http.NoBody {
			x.await(true)
			_ = x.control.SetReadDeadline(time.Now().Add(o.Body)) // not every ResponseWriter supports it
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

// hasDeadlines reports whether w already has deadlines.
func hasDeadlines(w http.ResponseWriter) bool {
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

// refusals contains the response texts for requests that this package refuses.
var refusals = map[string]string{
	"two_lengths": "400 Bad Request: the request has a Content-Length and a Transfer-Encoding; send one of them\n",
	"pipelined":   "400 Bad Request: the request was sent before the one before it was answered; wait for the answer\n",
}

func (x *exchange) refuse(r *http.Request, kind string) {
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	x.options.Refused.Note(r.Context(), Refusal{Door: "http", Kind: kind, Remote: remote.Addr()})
	x.Header().Set("Connection", "close")
	x.Header().Set("Content-Type", "text/plain; charset=utf-8")
	x.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(x, refusals[kind]) // an error means that the client has disconnected
}

// An exchange is the ResponseWriter of one request, with deadlines. Reading may continue after writing. net/http
// reads the rest of a body before it sends the response, unless it will close the connection.
type exchange struct {
	http.ResponseWriter
	control *http.ResponseController
	options *Options
	request *http.Request
	trace   *Trace
	told    bool        // report has reported the refusal
	conn    *conn       // nil under another server
	length  int64       // length of the body, or -1 if unknown
	unread  atomic.Bool // the end of the body has not arrived yet

	begun  bool          // the header is written
	events bool          // the response is an event stream
	waited time.Duration // how long writes have waited for the client
	bytes  int64         // number of written bytes of the body
}

// WriteHeader implements http.ResponseWriter. It closes the connection while the server drains, and after a response
// with status 401. It also closes the connection if the request has not arrived completely, or if bytes of another
// request have arrived.
func (x *exchange) WriteHeader(status int) {
	if status >= 200 && !x.begun {
		x.begun = true
		x.report(status)
		h := x.Header()
		x.events = strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
		ending := x.options.draining != nil && x.options.draining.Load()
		if ending || x.unread.Load() || status == http.StatusUnauthorized || x.conn != nil && (x.length < 0 || x.conn.further(x.length)) {
			h.Set("Connection", "close")
		}
	}
	defer x.wait()()
	x.ResponseWriter.WriteHeader(status)
}

// transports maps the first element of a path to its transport.
var transports = map[string]string{"mcp": "mcp", "tools": "mcp", "api": "api", "console": "console", "oauth": "oauth", "metrics": "metrics"}

// report reports a refusal to the RefusalLog, once. A refusal is a response with one of the statuses below. It is
// also a response for which a transport recorded a reason, such as a JSON-RPC error with status 200, or a redirect to
// sign in. The audit log contains refused calls. Only the RefusalLog contains requests that were refused before they
// became a call.
func (x *exchange) report(status int) {
	first, _, _ := strings.Cut(strings.TrimPrefix(x.request.URL.Path, "/"), "/")
	remote, _ := netip.ParseAddrPort(x.request.RemoteAddr)
	r := x.trace.Refusal(cmp.Or(transports[first], "http"), remote.Addr())
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusServiceUnavailable:
		r.Kind = cmp.Or(r.Kind, "status_"+strconv.Itoa(status))
	}
	if r.Kind != "" && !x.told {
		x.told = true
		x.options.Refused.Note(x.request.Context(), r)
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

// FlushError implements flushing for http.ResponseController.
func (x *exchange) FlushError() error {
	if !x.begun {
		x.WriteHeader(http.StatusOK)
	}
	defer x.wait()()
	return x.control.Flush()
}

// Unwrap is for http.ResponseController, which uses it to call other methods of the ResponseWriter.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// wait sets the write deadline of the response. The function done adds the time of the write to x.waited. The time of
// the handler does not count.
func (x *exchange) wait() (done func()) {
	start := time.Now()
	left := x.options.Event
	if !x.events {
		left = x.options.Answer + time.Duration(x.bytes)*time.Second/time.Duration(x.options.Rate) - x.waited
	}
	_ = x.control.SetWriteDeadline(start.Add(left)) // every connection supports it
	return func() { x.waited += time.Since(start) }
}

// end sets deadlines for net/http when the handler has returned. net/http then sends the rest of the response, and
// reads the rest of the body.
func (x *exchange) end() {
	if !x.begun {
		x.WriteHeader(http.StatusOK) // net/http would do the same, but not through x
	}
	x.report(http.StatusOK) // a reason may have been recorded after the header was sent
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

// A body clears its read deadline when it has arrived completely. Later reads only detect whether the client is still
// connected.
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
