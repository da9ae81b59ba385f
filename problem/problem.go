// Package problem defines the errors of all requests, for every transport.
//
// It depends on no other package of this module. An Error separates the public part (Detail, Pointer, Near, Suggestion,
// Faults, Denial, Reply) from the part for operators (Kind, Err). Transports return the first group and log the second.
package problem

import (
	"errors"
	"math"
	"time"
)

// A Code is the machine-readable class of a failure, as agents see it in error_code.
type Code string

// The codes, the same for MCP, HTTP and the command line.
const (
	AccessDenied     Code = "access_denied" // hidden by the rules, which disclose it
	NotFound         Code = "not_found"     // absent, or hidden from the caller
	ToolFiltered     Code = "tool_filtered"
	PermissionDenied Code = "permission_denied"     // a scope, a gate or another permission is missing
	InvalidArgument  Code = "invalid_argument"      // the arguments are malformed
	InvalidQuery     Code = "invalid_query"         // the query is malformed or names unknown fields
	Unsupported      Code = "unsupported_by_source" // valid, but not available here
	Timeout          Code = "timeout"
	Cancelled        Code = "cancelled"
	RateLimited      Code = "rate_limited"     // too many calls for now. See RetryAfter
	BudgetExceeded   Code = "budget_exceeded"  // over a limit of size or a daily allowance
	SecurityBlocked  Code = "security_blocked" // never allowed
	Conflict         Code = "conflict"         // the state has changed or is already taken
	PendingReview    Code = "pending_review"   // the change waits for a reviewer
	Upstream         Code = "upstream_error"   // a source or an API has failed
	Internal         Code = "internal_error"   // a failure of the server. Details are in Err
	Unauthorized     Code = "unauthorized"     // the credential is missing or not valid
	UnknownTool      Code = "unknown_tool"     // no such tool, or none that the caller may see. JSON-RPC -32602 over MCP
)

// An Error is a failure. Everything but Kind and Err may be shown to the caller.
type Error struct {
	Code       Code
	Detail     string        // one sentence: where and what is wrong
	Pointer    string        // RFC 6901 pointer into the arguments, or ""
	Near       []string      // similar valid names, taken only from those the caller may see
	Suggestion string        // the next step for the caller
	Faults     []Fault       // every broken rule, if the arguments break a tool's schema
	Scope      string        // the scope that the caller lacks, with PermissionDenied, or "" if no scope would help
	Denial     *Denial       // the disclosed reason of a refusal, with AccessDenied, or nil
	Reply      *Reply        // the error response of an HTTP API, or nil
	RetryAfter time.Duration // how long to wait before the same call can succeed, or 0 if waiting doesn't help
	Lasting    bool          // waiting doesn't heal it, whatever the code
	Store      bool          // the gateway's own store failed, so nothing was decided about the call

	Kind string // the true reason for the audit: hidden_class, field_denied, …. Never shown
	Err  error  // the cause for operators. Never shown
}

// A Denial is the reason of a refusal that the owner discloses (policy.disclose). It holds names, no values.
type Denial struct {
	Kind    string   `json:"kind"`                     // as Error.Kind
	Field   string   `json:"denied_field,omitempty"`   // the field that must not be named, or "" if it is the class
	Allowed []string `json:"allowed_fields,omitempty"` // fields allowed instead, at most MaxAllowed
	Rewrite string   `json:"suggested_rewrite,omitempty"`
}

// A Reply is the sanitized error response of an HTTP API.
type Reply struct {
	Status       int    `json:"status"`                  // the HTTP status
	UpstreamCode string `json:"upstream_code,omitempty"` // the API's own error code, or ""
	Message      string `json:"message,omitempty"`       // the API's own message, on one line, or ""
}

// MaxAllowed is the most fields that a Denial lists.
const MaxAllowed = 20

// A Fault is one rule that the arguments break.
type Fault struct {
	Pointer string `json:"pointer"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// Error returns the code and the detail. It never includes Err.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Detail }

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later without being changed.
func (e *Error) Retryable() bool {
	if e.Lasting {
		return false
	}
	if e.Reply != nil && e.Code == Upstream && e.Reply.Status < 500 {
		return e.RetryAfter > 0
	}
	if e.RetryAfter == 0 && (e.Kind == "odd_answer" || e.Kind == "answer_not_json" || e.Reply != nil && lasting(e.Reply.Status)) {
		return false
	}
	switch e.Code {
	case Timeout, RateLimited, Upstream:
		return true
	}
	return e.RetryAfter > 0
}

// lasting reports whether a status of an API says that the same call fails again. Such a status means that the call
// isn't implemented, or that the version, the loop or the network stays as it is.
func lasting(status int) bool {
	switch status {
	case 501, 505, 506, 508, 510, 511:
		return true
	}
	return false
}

// Wait returns RetryAfter in seconds, rounded up to a millisecond.
func (e *Error) Wait() float64 { return math.Ceil(e.RetryAfter.Seconds()*1000) / 1000 }

// New returns an Error with a code and a detail that is safe to show.
func New(c Code, detail string) *Error { return &Error{Code: c, Detail: detail} }

// Of returns the Error in err's chain, or nil for nil. Any other error becomes Internal, with err only as its private
// cause.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Detail: "Internal error", Err: err}
}

// CodeOf returns the code of err, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return Of(err).Code
}
