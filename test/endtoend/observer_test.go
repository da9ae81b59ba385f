package endtoend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A watching is an Observer that records its notifications and traces each call.
type watching struct {
	tracer trace.Tracer
	told   []string
}

func (w *watching) Begin(ctx context.Context, p identity.Principal, ask bailiwick.CallSpec) context.Context {
	w.told = append(w.told, fmt.Sprintf("%s begins %s", p.ID, ask.Tool))
	ctx, _ = w.tracer.Start(ctx, "call")
	return ctx
}

func (w *watching) End(ctx context.Context, p identity.Principal, r *audit.Record, err error) {
	w.told = append(w.told, fmt.Sprintf("%s ends %s: %s %s %s rows=%d keys=%s", p.ID, r.Tool, r.Outcome, r.Kind, problem.CodeOf(err), r.Rows, strings.Join(r.ArgKeys, ",")))
	trace.SpanFromContext(ctx).End()
}

// TestObserver checks that an observer is notified once of the start and the end of each call. Steps must be children
// of the call's span.
func TestObserver(t *testing.T) {
	memory := tracetest.NewInMemoryExporter()
	w := &watching{tracer: sdk.NewTracerProvider(sdk.WithSyncer(memory)).Tracer("test")}
	g := gateway(t, bailiwick.Options{Audit: &audit.Memory{}, Observer: w})
	read := func(class string) func(context.Context, *bailiwick.Call) (int, error) {
		return func(ctx context.Context, c *bailiwick.Call) (int, error) {
			_, err := c.Read(ctx, &query.Find{Class: class, Limit: 10})
			return 0, err
		}
	}
	args := value.OfObject([]value.Member{{Name: "where", Value: value.OfString("x")}, {Name: "anything at all"}, {Name: "class_name"}, {Name: "more"}})
	takes := []string{"class_name", "where"}
	for _, call := range []struct {
		ask bailiwick.CallSpec
		run func(context.Context, *bailiwick.Call) (int, error)
	}{
		{bailiwick.CallSpec{Tool: "reads", Needs: identity.Read, Arguments: args, Takes: takes}, read("notes")},
		{bailiwick.CallSpec{Tool: "misses", Needs: identity.Read, Arguments: args}, read("nothing")},
		{bailiwick.CallSpec{Tool: "explains", Needs: identity.Explain}, read("notes")},
		{bailiwick.CallSpec{Tool: "panics", Needs: identity.Read}, func(context.Context, *bailiwick.Call) (int, error) { panic("so") }},
	} {
		if err := g.Do(t.Context(), reader, call.ask, call.run); call.ask.Tool == "reads" && err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"a begins reads", "a ends reads: ok   rows=2 keys=?,class_name,where",
		"a begins misses", "a ends misses: refused unknown_class not_found rows=0 keys=anything at all,class_name,more,where",
		"a begins explains", "a ends explains: refused scope permission_denied rows=0 keys=",
		"a begins panics", "a ends panics: failed panic internal_error rows=0 keys=",
	}
	if d := cmp.Diff(want, w.told); d != "" {
		t.Error(d)
	}
	var spans []string
	for _, s := range memory.GetSpans() {
		spans = append(spans, s.Name+" "+s.Status.Description)
	}
	if d := cmp.Diff([]string{"policy ", "shape ", "call ", "policy not_found", "call ", "call ", "call "}, spans); d != "" {
		t.Error(d)
	}
}

// TestObserverUnrecorded checks that an observer is notified of a call that failed because it could not be recorded.
func TestObserverUnrecorded(t *testing.T) {
	w := &watching{tracer: sdk.NewTracerProvider().Tracer("test")}
	g := gateway(t, bailiwick.Options{Audit: deaf{}, Observer: w})
	if _, err := g.Read(t.Context(), reader, &query.Find{Class: "notes", Limit: 1}); err == nil || errors.Unwrap(problem.Of(err)) == nil {
		t.Error(err)
	}
	if d := cmp.Diff([]string{"a begins query_class", "a ends query_class: failed audit upstream_error rows=1 keys="}, w.told); d != "" {
		t.Error(d)
	}
}
