// Package telemetry reports what the gateway does: metrics, traces, and a log line for each call.
//
// The gateway and the MCP transport report calls and requests through Observers. Steps make their spans with package
// trace. No argument, record, rule, credential or error text enters a metric, a span or a line, and labels of metrics
// are few and fixed.
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
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
)

// Options configure a Telemetry. The zero Options collect metrics only.
type Options struct {
	Version string       // of the program
	Logger  *slog.Logger // for lines of calls, and warnings when traces can't be sent. Nil logs nothing
	Calls   bool         // log a line for each call
	Faults  bool         // log a line for each call that was refused, failed or was cancelled
	Traces  *Traces      // nil disables tracing
}

// Traces say which calls are traced, and where traces are sent.
type Traces struct {
	// Exporter receives the spans. Nil means OTLP.
	Exporter sdk.SpanExporter
	OTLP     OTLP
	// Sample is the fraction of calls traced, from 0 to 1, unless the client has decided by sending a traceparent. 0
	// means DefaultSample. A negative value traces only the calls that clients trace.
	Sample float64
	// Environment lets OTEL_* variables set options that aren't set here. Otherwise they are ignored.
	Environment bool
}

// DefaultSample is the default fraction of calls traced.
const DefaultSample = 0.1

// Telemetry collects metrics and traces. It is safe for use by several goroutines.
type Telemetry struct {
	options  Options
	log      *slog.Logger
	tracer   oteltrace.Tracer    // nil without tracing
	provider *sdk.TracerProvider // nil without tracing
	registry *prometheus.Registry
	metrics  *metrics
}

// New returns a Telemetry. It opens no connection. The first traces do.
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

// Calls returns the observer for bailiwick.Options.Observer.
func (t *Telemetry) Calls() bailiwick.Observer { return calls{t} }

// Requests returns the observer for mcp.Options.Observer.
func (t *Telemetry) Requests() wire.Observer { return requests{t} }

// flushTime is how long Close waits for the last traces to be sent.
const flushTime = 5 * time.Second

// Close sends the remaining spans and stops tracing.
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
