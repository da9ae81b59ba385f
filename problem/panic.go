package problem

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// PanicError returns the Internal error for a recovered panic. Err has the stack. For an error of the Go runtime it has
// the message too. For any other value it has only the type, because the value may contain the caller's data. Call it
// in the deferred function that recovers.
func PanicError(recovered any) *Error {
	what := fmt.Sprintf("%T", recovered)
	if e, ok := recovered.(runtime.Error); ok {
		what = e.Error()
	}
	return &Error{Code: Internal, Detail: "Internal error", Kind: "panic", Err: LoggableError(fmt.Sprintf("panic: %s\n%s", what, debug.Stack()))}
}

// LoggableError returns an error whose text contains no external input, so that it may be logged.
func LoggableError(text string) error { return said(text) }

// A said is an error whose text is our own, so that logs may have it.
type said string

func (s said) Error() string   { return string(s) }
func (s said) LogText() string { return string(s) }
