package problem

import (
	"fmt"
	"slices"
)

// Invalid returns an InvalidQuery error for the JSON pointer at.
func Invalid(at, format string, args ...any) *Error {
	return &Error{Code: InvalidQuery, Pointer: at, Detail: fmt.Sprintf(format, args...)}
}

// UnsupportedError returns an Unsupported error for the JSON pointer at of a valid query.
func UnsupportedError(at, format string, args ...any) *Error {
	return &Error{Code: Unsupported, Pointer: at, Detail: fmt.Sprintf(format, args...)}
}

// MapPointers returns e with its pointers, those of its faults too, as to returns them.
func (e *Error) MapPointers(to func(pointer string) string) *Error {
	out := *e
	out.Pointer, out.Faults = to(e.Pointer), slices.Clone(e.Faults)
	for i := range out.Faults {
		out.Faults[i].Pointer = to(out.Faults[i].Pointer)
	}
	return &out
}
