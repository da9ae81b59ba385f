package trace_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestSteps checks that steps are children of the span in the context, and that they record only the code of an
// error.
func TestSteps(t *testing.T) {
	memory := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(memory))
	ctx, call := provider.Tracer("test").Start(t.Context(), "call")
	_, policy := trace.Start(ctx, "policy")
	trace.End(policy, nil)
	_, source := trace.Start(ctx, "source")
	trace.End(source, &problem.Error{Code: problem.Upstream, Detail: "gone", Err: errors.New("password=x")})
	_, shape := trace.Start(ctx, "shape")
	trace.End(shape, errors.New("secret"))
	call.End()

	type told struct {
		Name, Status, ErrorType, Scope string
		Child                          bool
		Events                         int
	}
	var got []told
	for _, s := range memory.GetSpans() {
		g := told{Name: s.Name, Status: s.Status.Code.String() + " " + s.Status.Description, Scope: s.InstrumentationScope.Name,
			Child: s.Parent.SpanID() == call.SpanContext().SpanID(), Events: len(s.Events)}
		for _, a := range s.Attributes {
			g.ErrorType += string(a.Key) + "=" + a.Value.AsString()
		}
		got = append(got, g)
	}
	want := []told{
		{"policy", "Unset ", "", trace.Scope, true, 0},
		{"source", "Error upstream_error", "error.type=upstream_error", trace.Scope, true, 0},
		{"shape", "Error internal_error", "error.type=internal_error", trace.Scope, true, 0},
		{"call", "Unset ", "", "test", false, 0},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestParent checks the traceparent header of a step.
func TestParent(t *testing.T) {
	if got := trace.Parent(t.Context()); got != "" {
		t.Error(got)
	}
	ctx, call := sdk.NewTracerProvider().Tracer("test").Start(t.Context(), "call")
	defer call.End()
	want := http.Header{}
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(want))
	if got := trace.Parent(ctx); got != want.Get("Traceparent") || len(got) != 55 {
		t.Error(got, want)
	}
}

// TestOff checks that a step without tracing, or in an unsampled call, allocates no memory and ends no other span.
func TestOff(t *testing.T) {
	unsampled, call := sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample())).Tracer("test").Start(t.Context(), "call")
	defer call.End()
	for name, ctx := range map[string]context.Context{"none": t.Context(), "unsampled": unsampled} {
		failed := errors.New("failed")
		if n := testing.AllocsPerRun(100, func() {
			_, s := trace.Start(ctx, "policy")
			trace.End(s, failed)
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkOff measures a step without tracing, in contexts similar to those in a call.
func BenchmarkOff(b *testing.B) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		_, s := trace.Start(ctx, "policy")
		trace.End(s, nil)
	}
}
