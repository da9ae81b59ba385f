// Package trace marks the steps of a call as spans.
//
// The code that puts a recording span into the context decides which calls are traced and where traces are sent. This
// is package telemetry, or a program that embeds the gateway. Without such a span, a step costs only a lookup in the
// context, and no memory. Error texts are never recorded, because they can contain values. A span contains only the
// error's code.
package trace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Scope is the name of the instrumentation in traces.
const Scope = "github.com/bailiwick-dev/bailiwick"

// Start starts a step of the call in ctx. End ends the step. The returned context is for calls inside the step.
func Start(ctx context.Context, step string) (context.Context, trace.Span) {
	call := trace.SpanFromContext(ctx)
	if !call.IsRecording() {
		return ctx, call // a non-recording span, for which End does nothing
	}
	return call.TracerProvider().Tracer(Scope).Start(ctx, step)
}

// End ends a step that Start started, and records its result.
func End(step trace.Span, err error) {
	Fail(step, err)
	step.End()
}

// Fail marks a span as failed with the code of err, unless err is nil.
func Fail(s trace.Span, err error) {
	if err == nil || !s.IsRecording() {
		return
	}
	code := string(problem.CodeOf(err))
	s.SetAttributes(attribute.String("error.type", code))
	s.SetStatus(codes.Error, code)
}

// Parent returns the value of the header traceparent (W3C Trace Context) for outgoing requests of the call in ctx. It
// returns "" if the call isn't traced.
func Parent(ctx context.Context) string {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return ""
	}
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + c.TraceFlags().String()
}
