// Package trace marks the steps of a call for whoever traces it.
//
// It is a word: the steps that have a context use it, and it knows none of them. What is traced, and where it goes, is
// decided by who put a recording span into the context: package telemetry, or a program that embeds the gateway. Where
// nobody did, a step costs one look into the context and no memory. It takes no text of an error: a span says how a step
// ended by its code alone, for the text can hold values.
package trace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Scope names the instrumentation in traces.
const Scope = "github.com/bailiwick-dev/bailiwick"

// Start begins a step of the call that ctx belongs to; End ends it. The context it returns is for what the step
// itself calls.
func Start(ctx context.Context, step string) (context.Context, trace.Span) {
	call := trace.SpanFromContext(ctx)
	if !call.IsRecording() {
		return ctx, call // which was ended by nobody and does nothing: a span that records isn't returned here
	}
	return call.TracerProvider().Tracer(Scope).Start(ctx, step)
}

// End ends a step that Start began, with what it came to.
func End(step trace.Span, err error) {
	Fail(step, err)
	step.End()
}

// Fail says in a span that it ended with err, by its code; nil says nothing.
func Fail(s trace.Span, err error) {
	if err == nil || !s.IsRecording() {
		return
	}
	code := string(problem.CodeOf(err))
	s.SetAttributes(attribute.String("error.type", code))
	s.SetStatus(codes.Error, code)
}

// Parent returns the header traceparent (W3C Trace Context) for what the call in ctx asks of others; "" where nobody
// traces it.
func Parent(ctx context.Context) string {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return ""
	}
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + c.TraceFlags().String()
}
