package change

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Partly is a target's error if it stopped between the calls of a change. Err is the reason. It wraps ErrUnknown if
// the call after those in Done may have been made.
type Partly struct {
	Done Receipt // of the calls that were made
	Of   int     // number of calls
	Err  error
	Left bool // the executor left before it sent the next call
}

// Error returns the reason why it stopped.
func (p *Partly) Error() string { return p.Err.Error() }

// Unwrap returns p.Err.
func (p *Partly) Unwrap() error { return p.Err }

// Progress returns a sentence about n calls of which done were made. next describes what happened to the next call.
func Progress(done int64, n int, next string) string {
	out := fmt.Sprintf("Call %d %s", done+1, next)
	switch {
	case done == 1:
		out = fmt.Sprintf("Call 1 was carried out, call 2 %s", next)
	case done > 0:
		out = fmt.Sprintf("Calls 1 to %d were carried out, call %d %s", done, done+1, next)
	}
	switch left := n - int(done) - 1; {
	case left == 1:
		out += fmt.Sprintf(", call %d was not sent", n)
	case left > 0:
		out += fmt.Sprintf(", calls %d to %d were not sent", done+2, n)
	}
	return out
}

// ApplyOutcome returns the outcome of an apply from the results of the target. It returns false if the error leaves the
// outcome open.
func ApplyOutcome(receipt Receipt, err error) (EventKind, Outcome, bool) {
	moved, partly := (*Moved)(nil), (*Partly)(nil)
	switch {
	case err == nil:
		return EventApplied, Outcome{Receipt: &receipt, Detail: receipt.Note}, true
	case errors.As(err, &partly):
		event, outcome := partly.outcome()
		return event, outcome, true
	case errors.As(err, &moved):
		return EventStale, Outcome{Now: moved.Now, Detail: "the records have changed since the review. Nothing was written"}, true
	case errors.Is(err, ErrUnknown):
		return EventUnknown, Outcome{Detail: problem.Of(err).Detail, Kind: problem.Of(err).Kind}, true
	}
	return "", Outcome{}, false
}

// FailureOutcome returns the outcome of a change of which nothing was written.
func FailureOutcome(why error) (EventKind, Outcome) {
	p := problem.Of(why)
	detail := problem.Sentences(detailOf(p), "Nothing was written")
	if p.Retryable() {
		detail = problem.Sentences(detail, "Proposed again, it may succeed later")
	}
	return EventFailed, Outcome{Detail: detail, Code: string(p.Code), Kind: p.Kind, Reply: p.Reply}
}

// outcome returns the outcome of a change that stopped between its calls.
func (p *Partly) outcome() (EventKind, Outcome) {
	why, event, next := problem.Of(p.Err), EventFailed, "was refused"
	if p.Left {
		next = "was not sent"
	}
	if errors.Is(p.Err, ErrUnknown) {
		event, next = EventUnknown, "may have happened or not"
	}
	detail := problem.Sentences(detailOf(why), Progress(p.Done.Rows, p.Of, next), p.Done.Note)
	return event, Outcome{Receipt: &p.Done, Detail: detail, Code: string(why.Code), Kind: why.Kind, Reply: why.Reply}
}

// AbandonedOutcome returns the outcome of a change whose executor left after it had begun to send the change.
func (c *Change) AbandonedOutcome() Outcome {
	if n := len(c.Writes); n > 1 && c.Op == write.OpCall {
		var done int64
		if c.Lease.Done != nil {
			done = c.Lease.Done.Rows
		}
		return Outcome{Receipt: c.Lease.Done, Detail: problem.Sentences("its executor left", Progress(done, n, "may have happened or not"))}
	}
	return Outcome{Detail: "it was about to be sent when its executor left: it may have happened or not"}
}

func detailOf(p *problem.Error) string {
	if p.Detail == "" || p.Code == problem.Internal {
		return "it could not be written"
	}
	return strings.TrimSuffix(p.Detail, ".")
}
