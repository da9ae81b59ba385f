package writes

import "errors"

// A Refusal is the error of one write of a request. It wraps the caller's error, in which names of fields are escaped
// and the place is text.
type Refusal struct {
	Write int    // the place of the write in the request, from 0
	Field string // the field that may not be set, as the request names it, or "" if it is the write itself
	err   error
}

// Error returns the text of the wrapped error.
func (r *Refusal) Error() string { return r.err.Error() }

// Unwrap returns the caller's error.
func (r *Refusal) Unwrap() error { return r.err }

// of returns err, which refuses the i-th write, as its Refusal.
func of(i int, err error) error {
	r, field := errors.AsType[*Refusal](err)
	if !field {
		r = &Refusal{err: err}
	}
	r.Write = i
	return r
}
