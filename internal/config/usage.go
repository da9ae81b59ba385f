package config

import (
	"errors"
	"fmt"
)

// A usageError is an invalid command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Usagef returns a usage error.
func Usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// IsUsage reports whether err is a usage error.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*usageError](err)
	return ok
}

// Usage wraps err as a usage error.
func Usage(err error) error { return &usageError{err} }
