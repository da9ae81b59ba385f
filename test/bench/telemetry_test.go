package bench_test

import (
	"context"
	"io"
	"log/slog"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/source"
)

// nowhere accepts spans and discards them.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// BenchmarkTelemetry measures a call that reads nothing, with its admission, four steps and the record. It compares
// calls without telemetry with each kind of telemetry that operators can configure.
func BenchmarkTelemetry(b *testing.B) {
	src, rules := sqliteSource(b, tracker(b)), rules(b)
	for _, with := range []struct {
		name    string
		options *telemetry.Options
	}{
		{"bare", nil},
		{"metrics", &telemetry.Options{}},
		{"metrics+line", &telemetry.Options{Calls: true, Logger: slog.New(slog.NewJSONHandler(io.Discard, nil))}},
		{"metrics+line+traces0.1", &telemetry.Options{Calls: true, Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)), Traces: &telemetry.Traces{Exporter: nowhere{}, Sample: 0.1}}},
		{"metrics+line+traces1", &telemetry.Options{Calls: true, Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)), Traces: &telemetry.Traces{Exporter: nowhere{}, Sample: 1}}},
	} {
		b.Run("call/"+with.name, func(b *testing.B) {
			o := bailiwick.Options{Sources: map[string]source.Source{"tracker": src}, Rules: rules, Audit: &sealed{}, Limits: unlimited()}
			begin, end := func(ctx context.Context) context.Context { return ctx }, func(context.Context) {}
			if with.options != nil {
				t, err := telemetry.New(b.Context(), *with.options)
				if err != nil {
					b.Fatal(err)
				}
				defer t.Close(b.Context()) //nolint:errcheck // it sends nothing
				o.Observer, o.Audit = t.Calls(), t.Audit(o.Audit)
				requests := t.Requests()
				begin = func(ctx context.Context) context.Context {
					return requests.Begin(ctx, wire.Operation{Method: "tools/call", HTTP: true, Version: "2026-07-28", Correlation: "bench"})
				}
				end = func(ctx context.Context) { requests.End(ctx, "") }
			}
			g, _, err := bailiwick.New(b.Context(), o)
			if err != nil {
				b.Fatal(err)
			}
			p, ask := agent(), bailiwick.CallSpec{Tool: "query_class", Needs: identity.Read, Correlation: "bench"}
			b.ReportAllocs()
			for b.Loop() {
				ctx := begin(b.Context())
				err := g.Do(ctx, p, ask, func(ctx context.Context, _ *bailiwick.Call) (int, error) {
					for _, step := range []string{"policy", "compile", "shape", "source"} {
						_, s := trace.Start(ctx, step)
						trace.End(s, nil)
					}
					return 0, nil
				})
				if end(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
