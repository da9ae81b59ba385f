// Package answer reads the answers of a Parse Server into memory that is bounded, and describes the lack of one.
package answer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// The limits of one answer. A value takes about as much memory as 40 bytes of text.
const (
	mostBytes  = 16 << 20
	mostValues = 1 << 20 // counted by their separators, also where these are in texts
)

// ErrLarge means that an answer is over the limits.
var ErrLarge = errors.New("the answer is too large")

// TryLater is the suggestion to a caller who can do nothing else.
const TryLater = "try again later; if it stays, tell the operator the correlation id"

// Read returns a whole body, or ErrLarge.
func Read(body io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, mostBytes+1))
	if err == nil && (len(b) > mostBytes || bytes.Count(b, []byte{','})+bytes.Count(b, []byte{'['})+bytes.Count(b, []byte{'{'}) > mostValues) {
		err = ErrLarge
	}
	return b, err
}

// Missing returns the error for a request whose answer can't be had because of err.
func Missing(ctx context.Context, err error) error {
	if e := new(url.Error); errors.As(err, &e) {
		err = e.Err // without the URL, which can hold values
	}
	p := &problem.Error{Code: problem.Upstream, Kind: "unreachable", Detail: "the source could not be reached", Err: err, Suggestion: TryLater}
	switch {
	case errors.Is(err, ErrLarge):
		p.Code, p.Kind, p.Detail, p.Suggestion = problem.BudgetExceeded, "too_large", "a record of the source is too large to be read", "ask for fewer fields (keys), or for other records"
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		p.Code, p.Detail = problem.Timeout, "the query took too long and was stopped"
		p.Suggestion = "ask for less: a narrower where, fewer keys, a smaller limit"
	case ctx.Err() != nil:
		p.Code, p.Detail, p.Suggestion = problem.Cancelled, "the call was cancelled", ""
	}
	return p
}
