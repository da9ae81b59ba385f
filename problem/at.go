package problem

import "fmt"

// Invalid returns an InvalidQuery error for the JSON pointer at.
func Invalid(at, format string, args ...any) *Error {
	return &Error{Code: InvalidQuery, Pointer: at, Detail: fmt.Sprintf(format, args...)}
}

// NotSupported returns an Unsupported error for the JSON pointer at of a valid query.
func NotSupported(at, format string, args ...any) *Error {
	return &Error{Code: Unsupported, Pointer: at, Detail: fmt.Sprintf(format, args...)}
}
