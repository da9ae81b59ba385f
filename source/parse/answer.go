package parse

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/url"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// An answerLimit is the maximum size of one answer. Values are counted by separators, including separators within
// texts.
type answerLimit struct{ Bytes, Values int }

// The limits of answers. A value needs about as much memory as 40 bytes of text.
var (
	maxAnswer      = answerLimit{16 << 20, 1 << 20}       // an answer that is read completely
	severalAnswers = answerLimit{2 << 20, 1 << 17}        // an answer with several records
	oneAnswer      = answerLimit{16 << 20, math.MaxInt32} // one record, read only as far as there is room
)

// largeAnswer is the error for an answer over its limits. It contains the size of the answer in bytes, or 0 if
// unknown.
type largeAnswer int64

// Error implements error.
func (largeAnswer) Error() string { return "the answer is too large" }

// tryLater is the suggestion to a caller who can do nothing else.
const tryLater = "try again later. If the error stays, tell the operator the correlation id"

// readAnswer returns a whole body, or the error largeAnswer. length is its size in bytes, negative if unknown. It
// uses the memory of into, if the body fits.
func readAnswer(body io.Reader, length int64, most answerLimit, into []byte) (b []byte, err error) {
	switch {
	case length > int64(most.Bytes):
		return nil, largeAnswer(length)
	case length < 0:
		b, err = io.ReadAll(io.LimitReader(body, int64(most.Bytes)+1))
	default:
		b = slices.Grow(into[:0], int(length))[:length]
		_, err = io.ReadFull(body, b)
	}
	if err == nil && (len(b) > most.Bytes || bytes.Count(b, []byte{','})+bytes.Count(b, []byte{'['})+bytes.Count(b, []byte{'{'}) > most.Values) {
		err = largeAnswer(0)
	}
	return b, err
}

// missingAnswer returns the error for a request that failed with err before its answer was read.
func missingAnswer(ctx context.Context, err error) error {
	if e := new(url.Error); errors.As(err, &e) {
		err = e.Err // without the URL, which may contain values
	}
	p := &problem.Error{Code: problem.Upstream, Kind: "unreachable", Detail: "the source could not be reached", Err: err, Suggestion: tryLater}
	switch {
	case errors.As(err, new(largeAnswer)):
		p.Code, p.Kind, p.Detail, p.Suggestion = problem.BudgetExceeded, "too_large", "a record of the source is too large to be read", "ask for fewer fields (keys), or for other records"
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		p.Code, p.Detail = problem.Timeout, "the query took too long and was stopped"
		p.Suggestion = "ask for less: a narrower where, fewer keys, a smaller limit"
	case ctx.Err() != nil:
		p.Code, p.Detail, p.Suggestion = problem.Cancelled, "the call was cancelled", ""
	}
	return p
}
