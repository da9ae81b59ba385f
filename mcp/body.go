package mcp

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
)

// read reads the body of a POST after it has reserved memory for the body and the parsed values. It accepts only
// JSON, because a form on another site can't send JSON without a preflight request.
func (s *Server) read(w http.ResponseWriter, r *http.Request, who identity.Principal) (*fair.Body, *wire.RPCFault) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		f := wire.Invalid("Content-Type must be application/json")
		f.Status = http.StatusUnsupportedMediaType
		return nil, f
	}
	body, err := s.options.Bodies.Read(w, r, sharer(who))
	if err == nil {
		if err = body.Parse(r.Context()); err != nil {
			body.Close()
		}
	}
	if err == nil {
		return body, nil
	}
	if heavy, ok := errors.AsType[*fair.WeightError](err); ok {
		f := wire.Invalid(fair.Heavy(heavy))
		f.Status = http.StatusRequestEntityTooLarge
		return nil, f
	}
	if _, ok := errors.AsType[*fair.BusyError](err); ok {
		s.options.Bodies.Discard(w, r)
		f := busy()
		f.Message, f.Header = fair.Busy(err), [2]string{"Retry-After", strconv.Itoa(fair.Again)}
		f.Data = []byte(fmt.Sprintf(`{"error_code":"rate_limited","retryable":true,"retry_after":%d}`, fair.Again))
		return nil, f
	}
	if errors.Is(err, fair.ErrLarge) {
		f := wire.Invalid(fmt.Sprintf("Request body exceeds %d bytes", s.options.MaxBody))
		f.Status = http.StatusRequestEntityTooLarge
		return nil, f
	}
	return nil, wire.Invalid("Invalid Request: the body did not arrive")
}

// listenMethod is the method of a request that stays open to receive events.
const listenMethod = "subscriptions/listen"

// mostListen is the maximum body size of a request that stays open, in bytes.
const mostListen = 8 << 10

// releaseListenBody releases the memory of body if m is a request that stays open. It returns a fault if the body is
// too large. The message m is nil for a batch. The number and the size of such requests are limited instead of their
// memory.
func releaseListenBody(m *wire.Message, body *fair.Body) *wire.RPCFault {
	if m == nil || m.Method != listenMethod {
		return nil
	}
	if len(body.Bytes) > mostListen {
		f := wire.Invalid(fmt.Sprintf("Request body of %s exceeds %d bytes", listenMethod, mostListen))
		f.Status = http.StatusRequestEntityTooLarge
		return f
	}
	body.Close()
	return nil
}

func busy() *wire.RPCFault {
	return &wire.RPCFault{
		Status: http.StatusServiceUnavailable, Code: wire.CodeBusy, Message: "Too many requests at a time",
		Data:   []byte(`{"error_code":"rate_limited","retryable":true,"retry_after":1}`),
		Header: [2]string{"Retry-After", "1"},
	}
}
