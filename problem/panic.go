package problem

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Panicked returns what a recovered panic is to whoever asked: nothing of itself. Err tells operators where it came
// from, and what it was where that is the runtime's own error; any other value can hold values of the asker, and only
// its type is told. It is called where recover was.
func Panicked(recovered any) *Error {
	what := fmt.Sprintf("%T", recovered)
	if e, ok := recovered.(runtime.Error); ok {
		what = e.Error()
	}
	return &Error{Code: Internal, Detail: "Internal error", Kind: "panic", Err: Said(fmt.Sprintf("panic: %s\n%s", what, debug.Stack()))}
}

// Said returns a cause in our own words, which holds nothing that somebody else wrote: so logs may hold it.
func Said(text string) error { return said(text) }

type said string

func (s said) Error() string   { return string(s) }
func (s said) LogText() string { return string(s) }
