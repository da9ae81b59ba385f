package edge

import (
	"context"
	"net/netip"
	"sync"
)

// A Trace collects facts about a request that may be refused: the principal, when it is known, and the reason. The
// handler of the request adds them, and the RefusalLog uses them.
type Trace struct {
	mu   sync.Mutex
	what Refusal
}

// traceKey is the context key of a Trace.
type traceKey struct{}

// WithTrace returns ctx with a Trace, for RefusedBy, RefusedBecause and RefusalCause.
func WithTrace(ctx context.Context) (context.Context, *Trace) {
	t := &Trace{}
	return context.WithValue(ctx, traceKey{}, t), t
}

// RefusedBy records the principal of a request.
func RefusedBy(ctx context.Context, principal string) {
	note(ctx, func(r *Refusal) { r.Principal = principal })
}

// RefusedBecause records the reason of a refusal, as an identifier, and the correlation ID. Only the first reason is
// stored.
func RefusedBecause(ctx context.Context, kind, correlation string) {
	note(ctx, func(r *Refusal) {
		if r.Kind == "" {
			r.Kind, r.Correlation = kind, correlation
		}
	})
}

// RefusalCause records the error that caused a refusal, for operators only. Only the first error is stored.
func RefusalCause(ctx context.Context, err error) {
	note(ctx, func(r *Refusal) {
		if r.Err == nil {
			r.Err = err
		}
	})
}

// note changes the recorded facts about a refusal, if ctx has a Trace.
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

// Refusal returns the recorded facts. Kind is "" if no reason was recorded.
func (t *Trace) Refusal(door string, remote netip.Addr) Refusal {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.what
	r.Door, r.Remote = door, remote
	return r
}
