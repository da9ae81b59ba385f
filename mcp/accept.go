package mcp

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The media types of answers. The protocol requires clients to accept both, but many clients accept only one or name
// none.
const (
	asJSON   = "application/json"
	asEvents = "text/event-stream"
)

// accepts reports whether a client accepts answers of a media type. A client without an Accept header accepts any.
func accepts(h http.Header, media string) bool {
	all := strings.Join(h.Values("Accept"), ",")
	if strings.TrimSpace(all) == "" {
		return true
	}
	group, _, _ := strings.Cut(media, "/")
	for part := range strings.SplitSeq(strings.ToLower(all), ",") {
		name, options, _ := strings.Cut(part, ";")
		switch strings.TrimSpace(name) {
		case media, group + "/*", "*/*":
			if q := strings.ReplaceAll(options, " ", ""); q != "q=0" && q != "q=0.0" {
				return true
			}
		}
	}
	return false
}

// unacceptable returns the fault of a request if the client accepts no form of its answer. It returns nil if the
// client accepts one. The message m is nil for a batch.
func unacceptable(h http.Header, m *wire.Message) *wire.RPCFault {
	f := wire.Invalid("Not Acceptable: Accept must allow application/json or text/event-stream")
	if m != nil && m.Method == listenMethod {
		f = wire.Invalid("Not Acceptable: Accept must allow text/event-stream, in which subscriptions are answered")
	}
	f.Status = http.StatusNotAcceptable
	switch {
	case accepts(h, asEvents), accepts(h, asJSON) && (m == nil || m.Method != listenMethod):
		return nil
	}
	return f
}

// A whole is the ResponseWriter for a client that accepts JSON but no events. It buffers the written bytes until the
// request ends. Then it sends the response that the events contain.
type whole struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader implements [http.ResponseWriter].
func (w *whole) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements [http.ResponseWriter].
func (w *whole) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// FlushError lets [http.ResponseController] flush. There is nothing to send yet.
func (w *whole) FlushError() error { return nil }

// end sends the answer. Of an event stream it sends only the response. It omits other messages, such as progress,
// because plain JSON has no place for them.
func (w *whole) end() {
	if w.status == 0 {
		return
	}
	body := w.body.Bytes()
	if strings.HasPrefix(w.Header().Get("Content-Type"), asEvents) {
		w.Header().Set("Content-Type", asJSON)
		w.Header().Del("X-Accel-Buffering")
		body = responseIn(body)
	}
	w.ResponseWriter.WriteHeader(w.status)
	// An error means that the client has disconnected.
	_, _ = w.ResponseWriter.Write(body)
}

// responseIn returns the last response in an event stream. A response is a message with an id and without a method.
func responseIn(stream []byte) []byte {
	var last []byte
	// The SDK writes this stream, so it is always well-formed.
	_ = edge.ReadEvents(bytes.NewReader(stream), len(stream)+1, func(e edge.Event) error {
		v, err := value.Read(e.Data, 0)
		if err != nil || v.Kind() != value.Object {
			return nil
		}
		_, id := v.Get("id")
		if _, method := v.Get("method"); id && !method {
			last = bytes.Clone(e.Data)
		}
		return nil
	})
	return last
}
