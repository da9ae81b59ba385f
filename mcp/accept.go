package mcp

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The media types of answers. The protocol wants clients to accept both, but many accept one, or name none.
const (
	asJSON   = "application/json"
	asEvents = "text/event-stream"
)

// accepts reports whether a client takes answers of a media type. A client without an Accept header takes any.
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

// unacceptable returns the fault of a request whose client takes no form of its answer, nil if it takes one. m is nil for a
// batch.
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

// A whole is the ResponseWriter of a client that takes JSON and no events. It keeps the written bytes until the request
// ends, and sends the response that the events hold.
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

// end sends the answer. For a stream it sends only the response in it. Other messages of a stream, such as progress,
// are left out of JSON.
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

// responseIn returns the last response in a stream of events: a message with an id and without a method.
func responseIn(stream []byte) []byte {
	var last []byte
	// The stream is the SDK's own, so that it can be read.
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
