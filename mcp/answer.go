package mcp

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An answer is the ResponseWriter for the SDK. It sets statuses and headers that the SDK can't set. It converts the
// SDK's plain-text errors to JSON-RPC errors.
type answer struct {
	http.ResponseWriter
	x     *exchange
	began func(session string) // called with the ID of the session that the response begins. Nil if it can't begin one

	committed bool
	discard   bool // discard the SDK's output, because it was replaced
	rewrite   int  // the status of a plain-text error to convert, or 0
	events    bool // the response is an event stream
}

// begin calls began once.
func (a *answer) begin(session string) {
	if a.began != nil {
		a.began(session)
		a.began = nil
	}
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if a.committed {
		return
	}
	a.committed = true
	h := a.Header()
	a.begin(h.Get("Mcp-Session-Id"))
	if n := a.x.retryAfter.Load(); n > 0 {
		h.Set("Retry-After", strconv.FormatInt(n, 10))
	}
	scope := a.x.scope.Load()
	switch {
	case scope != nil && a.x.message != nil:
		a.discard = true
		scope.fault(a.x.correlation).Write(a.ResponseWriter, a.x.message.ID)
		return
	case status >= 400 && strings.HasPrefix(h.Get("Content-Type"), "text/plain"):
		a.rewrite = status
		return
	case strings.HasPrefix(h.Get("Content-Type"), "text/event-stream"):
		h.Set("X-Accel-Buffering", "no") // otherwise nginx would buffer events
		a.events = true
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(b []byte) (int, error) {
	if !a.committed {
		a.WriteHeader(http.StatusOK)
	}
	if a.discard {
		return len(b), nil
	}
	if a.rewrite != 0 {
		a.discard = true
		id := ""
		if a.x.message != nil {
			id = a.x.message.ID
		}
		fromText(a.rewrite, string(b)).Write(a.ResponseWriter, id)
		return len(b), nil
	}
	if a.events && len(b) > 0 && b[0] == '{' {
		// In MCP 2026-07-28 the SDK writes an error as a separate body, even after events. No client reads it there,
		// so it is sent as an event.
		event := append(append([]byte("event: message\ndata: "), b...), "\n\n"...)
		if _, err := a.ResponseWriter.Write(event); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	return a.ResponseWriter.Write(b)
}

// FlushError lets [http.ResponseController] flush.
func (a *answer) FlushError() error {
	if !a.committed {
		a.WriteHeader(http.StatusOK)
	}
	if a.rewrite != 0 {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// fromText converts an HTTP error of the SDK to a fault.
func fromText(status int, text string) *wire.RPCFault {
	switch {
	case status >= 500:
		return wire.Internal()
	case status == http.StatusNotFound:
		f := wire.Invalid("Session not found")
		f.Status = status
		return f
	}
	f := wire.Invalid("Invalid Request: " + strings.TrimSpace(text))
	f.Status = status
	return f
}

// A missing is a scope that the credential lacks.
type missing struct{ scope, challenge string }

// fault returns the response for a credential that lacks a scope, as RFC 6750 section 3.1 defines it.
func (m *missing) fault(correlation string) *wire.RPCFault {
	data := append([]byte(`{"error_code":"permission_denied","scope":`), value.AppendQuote(nil, m.scope)...)
	data = value.AppendQuote(append(data, `,"correlation_id":`...), correlation)
	return &wire.RPCFault{
		Status: http.StatusForbidden, Code: wire.CodeUnauthorized, Message: "Insufficient scope", Data: append(data, '}'),
		Header: [2]string{"WWW-Authenticate", m.challenge},
	}
}
