// Package problem names the ways a request can fail, once, for every door.
//
// It is a word: every step of the way and every door may use it, and it imports nothing of ours. A failure
// carries what the asker may see (Detail, Pointer, Near, Suggestion, Faults, Denial, Reply) apart from what only operators may
// (Kind, Err). Doors show the first group and log the second; nothing else does either.
package problem

import (
	"errors"
	"math"
	"time"
)

// A Code is the machine-readable class of a failure, as agents see it in error_code.
type Code string

// The codes, one set for MCP, HTTP and the command line (design 04).
const (
	AccessDenied     Code = "access_denied"
	NotFound         Code = "not_found"
	ToolFiltered     Code = "tool_filtered"
	PermissionDenied Code = "permission_denied"
	InvalidArgument  Code = "invalid_argument"
	InvalidQuery     Code = "invalid_query"
	Unsupported      Code = "unsupported_by_source"
	Timeout          Code = "timeout"
	Cancelled        Code = "cancelled"
	RateLimited      Code = "rate_limited"
	BudgetExceeded   Code = "budget_exceeded"
	SecurityBlocked  Code = "security_blocked"
	Conflict         Code = "conflict"
	PendingReview    Code = "pending_review"
	Upstream         Code = "upstream_error"
	Internal         Code = "internal_error"
	Unauthorized     Code = "unauthorized"
	UnknownTool      Code = "unknown_tool" // no such tool, or none that the asker may see; JSON-RPC -32602 over MCP
)

// An Error is a failure. Everything but Kind and Err may be shown to the asker.
type Error struct {
	Code       Code
	Detail     string        // one sentence that names the place and what is wrong
	Pointer    string        // RFC 6901 pointer of the place in the arguments; "" when there is none
	Near       []string      // the nearest right names, taken only from what the asker may see
	Suggestion string        // what to do next
	Faults     []Fault       // every broken rule, where the arguments break a tool's schema
	Scope      string        // the scope that the asker lacks, with PermissionDenied; "" when no scope would help
	Denial     *Denial       // what the owner lets be told of a refusal, with AccessDenied; nil for nothing
	Reply      *Reply        // what an HTTP API said of it; nil where none was asked
	RetryAfter time.Duration // how long to wait before the same call can succeed; 0 when waiting does not help

	Kind string // the true reason for the audit: hidden_class, field_denied, …; never shown
	Err  error  // the cause for operators; never shown
}

// A Denial is what the owner lets an asker be told of a refusal (policy.disclose). It holds names and no values.
type Denial struct {
	Kind    string   `json:"kind"`                     // as Error.Kind
	Field   string   `json:"denied_field,omitempty"`   // the field that is not to be named; "" where it is the class
	Allowed []string `json:"allowed_fields,omitempty"` // fields that can stand there instead, MaxAllowed at most
	Rewrite string   `json:"suggested_rewrite,omitempty"`
}

// A Reply is what an HTTP API answered when it did not do what it was asked, cleaned.
type Reply struct {
	Status       int    `json:"status"`                  // of HTTP
	UpstreamCode string `json:"upstream_code,omitempty"` // the API's own, as it writes it; "" where it gives none
	Message      string `json:"message,omitempty"`       // the API's own words, on one line; "" where it gives none
}

// MaxAllowed is how many fields a Denial names.
const MaxAllowed = 20

// A Fault is one rule that the arguments break.
type Fault struct {
	Pointer string `json:"pointer"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// Error returns the code and the detail; it never includes Err.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Detail }

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later without being changed.
func (e *Error) Retryable() bool {
	if e.Reply != nil && e.Code == Upstream && e.Reply.Status < 500 {
		return e.RetryAfter > 0
	}
	switch e.Code {
	case Timeout, RateLimited, Upstream:
		return true
	}
	return e.RetryAfter > 0
}

// Wait returns RetryAfter in seconds, to the next millisecond.
func (e *Error) Wait() float64 { return math.Ceil(e.RetryAfter.Seconds()*1000) / 1000 }

// New returns an Error with a code and a detail that is safe to show.
func New(c Code, detail string) *Error { return &Error{Code: c, Detail: detail} }

// Of returns the Error that err carries. An error that carries none is Internal and shows nothing of itself.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Detail: "Internal error", Err: err}
}

// CodeOf returns the code that err carries, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return Of(err).Code
}
