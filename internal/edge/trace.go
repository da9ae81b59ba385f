package edge

import (
	"context"
	"net/netip"
	"sync"
)

// A Trace collects facts about a request that may be refused: who sent it, once that is known, and why it was refused.
// The handler that answers the request adds them, and the log of refusals reads them.
type Trace struct {
	mu   sync.Mutex
	what Refusal
}

// traceKey is the key of a Trace in a context.
type traceKey struct{}

// WithTrace returns ctx with a Trace, for RefusedBy and RefusedBecause.
func WithTrace(ctx context.Context) (context.Context, *Trace) {
	t := &Trace{}
	return context.WithValue(ctx, traceKey{}, t), t
}

// RefusedBy notes the principal of a request.
func RefusedBy(ctx context.Context, principal string) {
	note(ctx, func(r *Refusal) { r.Principal = principal })
}

// RefusedBecause notes why a request is refused, as an identifier, and its correlation ID. The first reason is kept.
func RefusedBecause(ctx context.Context, kind, correlation string) {
	note(ctx, func(r *Refusal) {
		if r.Kind == "" {
			r.Kind, r.Correlation = kind, correlation
		}
	})
}

// RefusalCause notes the error behind a refusal, only for operators. The first one is kept.
func RefusalCause(ctx context.Context, err error) {
	note(ctx, func(r *Refusal) {
		if r.Err == nil {
			r.Err = err
		}
	})
}

// note changes the known facts about the refusal of ctx's request, if it is traced.
func note(ctx context.Context, change func(*Refusal)) {
	if ctx == nil {
		return
	}
	if t, ok := ctx.Value(traceKey{}).(*Trace); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		change(&t.what)
	}
}

// Refusal returns the known facts. Kind is "" if no reason was noted.
func (t *Trace) Refusal(door string, remote netip.Addr) Refusal {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.what
	r.Door, r.Remote = door, remote
	return r
}
