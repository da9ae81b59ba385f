package writes

import "errors"

// A Refusal is the error of one write of a request. It wraps the error for the caller. In that error, field names are
// escaped and the position is part of the text.
type Refusal struct {
	Write int    // index of the write in the request
	Field string // the field that may not be set, as written in the request. "" if the whole write is refused
	err   error
}

// Error returns the text of the wrapped error.
func (r *Refusal) Error() string { return r.err.Error() }

// Unwrap returns the caller's error.
func (r *Refusal) Unwrap() error { return r.err }

// of wraps err in a Refusal of the i-th write.
func of(i int, err error) error {
	r, field := errors.AsType[*Refusal](err)
	if !field {
		r = &Refusal{err: err}
	}
	r.Write = i
	return r
}
