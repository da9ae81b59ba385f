package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// unknown replaces the names of unregistered tools.
const unknown = "(unknown)"

// calls is the Observer of the gateway.
type calls struct{ t *Telemetry }

// A call is the state that Begin passes to End in the context.
type call struct {
	tool string
	span oteltrace.Span // ended by End. Nil if the span belongs to the transport, or if there is none
}

// callKey is the key of a call's span in a context.
type callKey struct{}

// Begin names the transport's span after the tool. If there is no such span, or another call has already used it,
// Begin starts a new span.
func (c calls) Begin(ctx context.Context, _ identity.Principal, ask bailiwick.CallSpec) context.Context {
	in := &call{tool: ask.Tool}
	if ask.Unknown {
		in.tool = unknown
	}
	c.t.metrics.running.Inc()
	if op, ok := ctx.Value(operationKey{}).(*operation); ok && op.tool == "" {
		op.tool = in.tool
		if s := oteltrace.SpanFromContext(ctx); s.IsRecording() {
			s.SetName(op.method + " " + in.tool)
		}
	} else if c.t.tracer != nil {
		ctx, in.span = c.t.tracer.Start(ctx, "execute_tool "+in.tool)
	}
	return context.WithValue(ctx, callKey{}, in)
}

// End counts the call, records the outcome in its span, and logs a line.
func (c calls) End(ctx context.Context, _ identity.Principal, r *audit.Record, err error) {
	in, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return // the call was not begun by this observer
	}
	c.t.metrics.running.Dec()
	c.t.count(in.tool, r)
	s := oteltrace.SpanFromContext(ctx)
	if s.IsRecording() {
		s.SetAttributes(attributes(in.tool, r)...)
	}
	if c.t.options.Calls || c.t.options.Faults && !r.Well() {
		c.t.line(ctx, in.tool, r, err)
	}
	if in.span != nil {
		trace.Fail(in.span, err)
		in.span.End()
	}
}

// count updates the metrics for a call.
func (t *Telemetry) count(tool string, r *audit.Record) {
	m := t.metrics
	m.calls.WithLabelValues(tool, r.Outcome, r.Code).Inc()
	m.durations.WithLabelValues(tool).Observe(float64(r.Micros) / 1e6)
	m.rows.WithLabelValues(tool).Add(float64(max(r.Rows, 0)))
	m.bytes.WithLabelValues(tool).Add(float64(max(r.Bytes, 0)))
	m.tokens.WithLabelValues(tool).Add(float64(max(r.Tokens, 0)))
	if r.Cost > 0 {
		m.cost.WithLabelValues(tool).Add(float64(r.Cost) / 1e6)
	}
	if r.Kind == "" || r.Outcome != audit.Refused {
		return
	}
	kind := m.kinds.of(r.Kind)
	m.refusals.WithLabelValues(kind).Inc()
	if c := problem.Code(r.Code); c == problem.RateLimited || c == problem.BudgetExceeded {
		m.limits.WithLabelValues(kind).Inc()
	}
}

// attributes returns the span attributes of a call, which match its log line.
func attributes(tool string, r *audit.Record) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", tool),
		attribute.String("bailiwick.correlation_id", r.Correlation),
		attribute.String("bailiwick.principal", r.Principal),
		attribute.String("bailiwick.owner", r.Owner),
		attribute.String("bailiwick.policy", r.Policy),
		attribute.String("bailiwick.outcome", r.Outcome),
		attribute.Int("bailiwick.rows", r.Rows),
		attribute.Int("bailiwick.result_bytes", r.Bytes),
	}
	if r.Code != "" {
		out = append(out, attribute.String("bailiwick.error_code", r.Code))
	}
	if r.Kind != "" {
		out = append(out, attribute.String("bailiwick.kind", r.Kind))
	}
	if r.Parent != "" {
		out = append(out, attribute.String("bailiwick.parent", r.Parent), attribute.Int("bailiwick.depth", r.Depth))
	}
	return out
}

// line logs the line of a call. If a refusal has a cause other than the call itself, the line contains it.
func (t *Telemetry) line(ctx context.Context, tool string, r *audit.Record, err error) {
	if !t.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := make([]slog.Attr, 0, 20)
	attrs = append(attrs,
		slog.String("tool", tool),
		slog.String("outcome", r.Outcome),
		slog.Float64("duration_ms", float64(r.Micros)/1e3),
		slog.Int("rows", r.Rows),
		slog.Int("result_bytes", r.Bytes),
		slog.Int("est_input_tokens", r.Tokens),
		slog.String("principal", r.Principal),
		slog.String("owner", r.Owner),
		slog.Any("scopes", r.Scopes),
		slog.String("correlation_id", r.Correlation),
		slog.String("policy", r.Policy),
	)
	if r.Cost > 0 {
		attrs = append(attrs, slog.Float64("est_cost_usd", float64(r.Cost)/1e6))
	}
	if r.Code != "" {
		attrs = append(attrs, slog.String("error_code", r.Code))
	}
	if r.Kind != "" {
		attrs = append(attrs, slog.String("kind", r.Kind))
	}
	if p := problem.Of(err); p != nil && p.Err != nil && r.Outcome == audit.Refused {
		attrs = append(attrs, slog.String("cause", Cause(p.Err)))
	}
	if r.Parent != "" {
		attrs = append(attrs, slog.String("parent", r.Parent), slog.Int("depth", r.Depth))
	}
	if s := oteltrace.SpanContextFromContext(ctx); s.IsValid() {
		attrs = append(attrs, slog.String("trace_id", s.TraceID().String()), slog.String("span_id", s.SpanID().String()))
	}
	t.log.LogAttrs(ctx, slog.LevelInfo, "call", attrs...)
}

// Audit returns a log that appends to log and measures the time of each append.
func (t *Telemetry) Audit(log audit.Log) audit.Log { return timed{log, t.metrics} }

// A timed measures how long the audit takes to store a record.
type timed struct {
	audit.Log
	m *metrics
}

// Append implements audit.Log.
func (a timed) Append(ctx context.Context, r *audit.Record) error {
	start := time.Now()
	_, s := trace.Start(ctx, "audit")
	err := a.Log.Append(ctx, r)
	trace.End(s, err)
	a.m.auditSeconds.Observe(time.Since(start).Seconds())
	if err != nil {
		a.m.auditFailures.Inc()
	}
	return err
}
