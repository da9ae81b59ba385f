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

// read reads the body of a POST, once there is memory for it and what is made of it. It accepts only JSON, which a form of another site
// can't send without a preflight.
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

// listenMethod is the method of a request that stays open.
const listenMethod = "subscriptions/listen"

// mostListen is the most bytes of the body of a request that stays open.
const mostListen = 8 << 10

// releaseListenBody gives back the memory of body if m is a request that stays open. It returns the fault of one that is too large. m is nil for a
// batch. Requests that stay open are bounded by their number and their size.
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
