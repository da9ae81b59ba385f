package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A failure is the outcome of an attempt without a response.
type failure struct {
	problem *problem.Error
	sent    bool // part of the request may have been sent
	final   bool // another attempt would also fail
}

// These are errors of responses.
var (
	errLarge     = problem.LoggableError("the answer is too large")
	errStream    = problem.LoggableError("the answer is a stream of events")
	errMalformed = problem.LoggableError("the answer is not HTTP, or not as it says")
	errEncoded   = problem.LoggableError("the answer is in a content encoding that was not asked for")
	errCut       = problem.LoggableError("the connection was cut")
)

// newFailure returns the failure for err. The detail is always a text of this package. The logged error is too,
// except for network errors. Other texts can repeat data from the API, including the credential.
func newFailure(ctx context.Context, err error, sent bool) *failure {
	p := &problem.Error{Code: problem.Upstream, Err: loggable(err)}
	f := &failure{problem: p, sent: sent}
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case isBusy(err) && ctx.Err() != context.Canceled:
		p.Code, p.Kind, p.Err, f.final = problem.RateLimited, "answer_memory", err, true
		p.Detail, p.Suggestion = "the memory for answers of APIs is in use by other calls", "Wait, then send the same call again"
		p.RetryAfter = (time.Second + rand.N(4*time.Second)).Truncate(time.Millisecond)
	case ctx.Err() == context.Canceled:
		p.Code, p.Detail, f.final = problem.Cancelled, "the call was cancelled", true
	case ctx.Err() != nil:
		p.Code, p.Detail, f.final = problem.Timeout, "the API did not answer in time", true
	case errors.Is(err, edge.ErrPrivate) || errors.Is(err, edge.ErrHost):
		p.Detail, p.Kind, f.final = "the API can't be reached", "private_address", true
	case certificate:
		p.Detail, p.Kind, f.final = "the API can't be reached", "certificate", true
	case err == errLarge:
		p.Detail, p.Kind, f.final = "what the API answered is too large", "too_large", true
		p.Suggestion = "Ask for less: fewer items a page, a filter, or one item alone"
	case err == errStream:
		p.Code, p.Detail, p.Kind, f.final = problem.Unsupported, "the API answers with a stream of events (text/event-stream), which can't be read here", "stream", true
	case sent:
		p.Detail, p.Kind = "the API broke off, or answered what can't be read", "broken"
	default:
		p.Detail, p.Kind = "the API can't be reached", "unreachable"
	}
	return f
}

// isBusy reports whether no memory for a response became available in time.
func isBusy(err error) bool {
	_, busy := errors.AsType[*fair.BusyError](err)
	return busy
}

// loggable returns err if it contains no text of the API. Otherwise it returns an error that describes the kind of
// err.
func loggable(err error) error {
	var known interface{ LogText() string }
	if errors.As(err, &known) || errors.Is(err, edge.ErrPrivate) {
		return err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return e
	}
	for _, e := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, e) {
			return e
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return errMalformed
}

// redirectFailure returns the failure for a redirect that is not followed. A redirected write counts as not sent only
// for the statuses 307 and 308, which request the same method and body at another URL.
func redirectFailure(status int, where string) *failure {
	return &failure{final: true, sent: status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect,
		problem: &problem.Error{Code: problem.Upstream, Kind: "redirect", Lasting: true, Detail: fmt.Sprintf("the API redirects (status %d) %s", status, where),
			Suggestion: "A redirect is followed to operations that you can call, and nowhere else"}}
}

// again reports whether another attempt may succeed.
func again(res *calls.HTTPResponse, f *failure) bool {
	if f != nil {
		return !f.final
	}
	switch res.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// finalOutcome returns the outcome of the last attempt. For a rate limit (429), it sets how long to wait. If the API
// doesn't, the wait is 1 to 5 s, as for the gateway's own limits.
func finalOutcome(res *calls.HTTPResponse, f *failure, asked time.Duration) (*calls.HTTPResponse, *failure) {
	if f != nil || res.Status != http.StatusTooManyRequests && asked <= 0 {
		return res, f
	}
	if asked <= 0 {
		asked = time.Second + rand.N(4*time.Second)
	}
	res.Header.Set("Retry-After", strconv.FormatInt(int64((asked+time.Second-1)/time.Second), 10))
	return res, nil
}

// backoff returns the wait after the n-th attempt. It doubles each time and has jitter.
func backoff(n int) time.Duration {
	d := 200 * time.Millisecond << min(n-1, 6)
	return d/2 + rand.N(d)
}

// longest is the maximum accepted Retry-After.
const longest = 24 * time.Hour

// retryAfter returns the wait that a response requests, in seconds or as a date, or 0 if it requests none.
func retryAfter(res *calls.HTTPResponse, now time.Time) time.Duration {
	if res == nil {
		return 0
	}
	text := strings.TrimSpace(res.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, longest)
	}
	if date, err := http.ParseTime(text); err == nil {
		return min(max(date.Sub(now), 0), longest)
	}
	return 0
}

func refuse(at, format string, args ...any) error {
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: fmt.Sprintf(format, args...)}
}

// oneLine reports whether all texts are valid header values.
func oneLine(texts ...string) bool {
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return false
		}
	}
	return true
}

// isToken reports whether name is a valid header name (RFC 9110).
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
