// Package telemetry reports the gateway's work as metrics, traces, and a log line for each call.
//
// The gateway and the MCP transport report calls and requests through Observers. Steps create their spans with
// package trace. Metrics, spans and log lines contain no argument, record, rule, credential or error text. Labels of
// metrics are few and fixed.
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
	Version string       // the program's version
	Logger  *slog.Logger // for lines about calls, and for warnings when traces can't be sent. Nil logs nothing
	Calls   bool         // log a line for each call
	Faults  bool         // log a line for each call that was refused, failed or was cancelled
	Traces  *Traces      // nil disables tracing
}

// Traces configure which calls are traced, and where traces are sent.
type Traces struct {
	// Exporter receives the spans. Nil means OTLP.
	Exporter sdk.SpanExporter
	OTLP     OTLP
	// Sample is the fraction of calls to trace, from 0 to 1. A client that sends a traceparent decides for its own
	// calls. 0 means DefaultSample. A negative value traces only calls that clients trace.
	Sample float64
	// Environment allows OTEL_* variables to set options that aren't set here. Otherwise the variables are ignored.
	Environment bool
}

// DefaultSample is the default fraction of calls to trace.
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

// New returns a Telemetry. It doesn't open a connection. Sending the first traces does.
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

// flushTime is the maximum time that Close waits for the last traces to be sent.
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
