package problem

import "fmt"

// Invalid refuses what stands at the JSON pointer at of a query.
func Invalid(at, format string, args ...any) *Error {
	return &Error{Code: InvalidQuery, Pointer: at, Detail: fmt.Sprintf(format, args...)}
}

// NotSupported refuses what stands at the JSON pointer at of a query, and is right but for what can be done here.
func NotSupported(at, format string, args ...any) *Error {
	return &Error{Code: Unsupported, Pointer: at, Detail: fmt.Sprintf(format, args...)}
}
