// Package telemetry tells operators what the gateway does: metrics, traces, and a line of the log for each call.
//
// It stands beside the way. The gateway and the MCP door tell it of calls and requests through their Observers; steps
// make their spans themselves (package span). It decides nothing, and it refuses to know values: no argument, record,
// rule, credential or text of an error enters a metric, a span or a line, and labels of metrics are few and fixed.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/mcpobserve"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
)

// Options say what is told, and to whom. The zero Options gather metrics alone.
type Options struct {
	Version string       // of the program
	Logger  *slog.Logger // gets lines of calls, and tells when traces can't be sent; nil gets nothing
	Calls   bool         // each call is a line of the log
	Traces  *Traces      // nil traces nothing
}

// Traces say which calls are traced, and where to.
type Traces struct {
	// Exporter takes the spans. It is that of OTLP, or any other. Nil takes OTLP.
	Exporter sdk.SpanExporter
	OTLP     OTLP
	// Sample is the part of the calls that is traced, from 0 to 1, where the client has not decided: one that sends a
	// traceparent has. 0 takes DefaultSample, and a negative one traces only what clients do.
	Sample float64
	// Environment lets OTEL_* variables say what isn't said here. Without it they have no effect.
	Environment bool
}

// DefaultSample is the part of calls that is traced.
const DefaultSample = 0.1

// Telemetry gathers what calls are. It is safe for use by several goroutines.
type Telemetry struct {
	options  Options
	log      *slog.Logger
	tracer   oteltrace.Tracer    // nil traces nothing
	provider *sdk.TracerProvider // nil traces nothing
	registry *prometheus.Registry
	metrics  *metrics
}

// New returns a Telemetry. It opens no connection: traces are sent when there are some.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{options: o, log: o.Logger}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.registry, t.metrics = newMetrics(o.Version)
	if o.Traces != nil {
		var err error
		if t.provider, err = t.newProvider(ctx, *o.Traces); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
		t.tracer = t.provider.Tracer(trace.Scope, oteltrace.WithInstrumentationVersion(o.Version))
	}
	return t, nil
}

// Calls returns what bailiwick.Options.Observer takes.
func (t *Telemetry) Calls() bailiwick.Observer { return calls{t} }

// Requests returns what server.Options.Observer takes.
func (t *Telemetry) Requests() mcpobserve.Observer { return requests{t} }

// flushTime is how long the end of the program waits for traces to be taken.
const flushTime = 5 * time.Second

// Close sends the spans that are left, and ends.
func (t *Telemetry) Close(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("telemetry: ending the traces: %w", err)
	}
	return nil
}
