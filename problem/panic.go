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
	return &Error{Code: Internal, Detail: "Internal error", Kind: "panic", Err: panicked(fmt.Sprintf("panic: %s\n%s", what, debug.Stack()))}
}

// panicked is the text of a panic for operators.
type panicked string

func (p panicked) Error() string   { return string(p) }
func (p panicked) LogText() string { return string(p) }
