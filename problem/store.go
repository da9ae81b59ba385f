package problem

import (
	"math/rand/v2"
	"time"
)

// unkept is the text for callers when the store of the gateway fails.
const unkept = "the gateway can't keep its records, so it answers no calls"

// StoreError returns the error for a failure of the store in which the gateway keeps its records. The same call may succeed later. The
// wait of 1 to 5 seconds is drawn anew each time, so that those who wait don't all come back at once. Kind is Error.Kind.
func StoreError(kind string, err error) *Error {
	wait := (time.Second + rand.N(4*time.Second)).Truncate(time.Millisecond)
	return &Error{Code: Upstream, Detail: unkept, RetryAfter: wait, Store: true, Kind: kind, Err: err}
}

// MayRun is StoreFailed for a change that was filed and needs no approval. The change may be carried out all the same,
// so the caller must not ask for it again.
func MayRun(id string, err error) *Error {
	return &Error{Code: Upstream, Detail: unkept + ". The change " + id + " may be carried out all the same", Lasting: true, Store: true, Kind: "may_run", Err: err,
		Suggestion: "Look at this change, or at the record, before you ask for it again"}
}
