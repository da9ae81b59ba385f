package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/bailiwick-dev/bailiwick/internal/wire"
)

// requests is the Observer of the MCP transport.
type requests struct{ t *Telemetry }

// An operation is a request of the protocol. It is passed in the context. Its call sets the tool.
type operation struct {
	method, version, transport string
	tool                       string // "" until a call has begun
	start                      time.Time
	span                       trace.Span // nil without tracing
}

// operationKey is the key of a request's operation in a context.
type operationKey struct{}

// Begin starts the span of a request. If the request names a span of the client, the new span is its child.
func (r requests) Begin(ctx context.Context, o wire.Operation) context.Context {
	op := &operation{method: o.Method, version: o.Version, transport: "pipe", start: time.Now()}
	if o.HTTP {
		op.transport = "tcp"
	}
	if r.t.tracer != nil {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": o.TraceParent, "tracestate": o.TraceState})
		attrs := make([]attribute.KeyValue, 0, 5)
		attrs = append(attrs, attribute.String("mcp.method.name", o.Method), attribute.String("network.transport", op.transport),
			attribute.String("bailiwick.correlation_id", o.Correlation))
		if o.HTTP {
			attrs = append(attrs, attribute.String("network.protocol.name", "http"))
		}
		if o.Version != "" {
			attrs = append(attrs, attribute.String("mcp.protocol.version", o.Version))
		}
		ctx, op.span = r.t.tracer.Start(ctx, o.Method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...))
	}
	return context.WithValue(ctx, operationKey{}, op)
}

// End ends the span of a request and counts the request.
func (r requests) End(ctx context.Context, failure string) {
	op, ok := ctx.Value(operationKey{}).(*operation)
	if !ok {
		return // the request was not begun by this observer
	}
	tool := ""
	if op.method == "tools/call" {
		tool = op.tool
	}
	r.t.metrics.operations.WithLabelValues(op.method, tool, failure, op.version, op.transport).Observe(time.Since(op.start).Seconds())
	if op.span == nil {
		return
	}
	if failure != "" {
		op.span.SetAttributes(attribute.String("error.type", failure))
		op.span.SetStatus(codes.Error, failure)
	}
	op.span.End()
}
