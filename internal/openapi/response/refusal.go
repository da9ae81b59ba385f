package response

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// refusal returns the error for a response whose status reports a failure.
func (w *walker) refusal(op *spec.Operation, r *calls.HTTPResponse) *problem.Error {
	told := w.readReason(op, r)
	if told.message == "" && (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden) {
		told.message = challengeReason(r.Header)
	}
	p := &problem.Error{Kind: "api_refused", RetryAfter: retryAfter(r.Header),
		Reply: &problem.Reply{Status: r.Status, UpstreamCode: told.code, Message: told.message}}
	what := "answered"
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		p.Code, what = problem.InvalidArgument, "doesn't take this request:"
	case http.StatusUnauthorized, http.StatusForbidden:
		p.Code, what = problem.PermissionDenied, "itself refused this call:"
		p.Suggestion = "the rules of this gateway allowed the call. The operator of the API decides what the credential may do"
	case http.StatusNotFound, http.StatusGone:
		p.Code, what = problem.NotFound, "found nothing:"
	case http.StatusConflict, http.StatusPreconditionFailed:
		p.Code, what = problem.Conflict, "found a conflict:"
	case http.StatusTooManyRequests:
		p.Code, what = problem.RateLimited, "takes no more calls for now:"
		p.Suggestion = "Wait, then send the same call again"
	default:
		p.Code = problem.Upstream
		if r.Status >= 200 && r.Status < 300 {
			what = "says that it did not do this:"
		} else if r.Status >= 300 && r.Status < 400 {
			what = "answered with a redirect, which isn't followed:"
		}
	}
	// Many APIs repeat the status as their code, or the status text as their message.
	p.Detail = fmt.Sprintf("the API %s %d", what, r.Status)
	text := http.StatusText(r.Status)
	if told.code != "" && told.code != strconv.Itoa(r.Status) {
		p.Detail += " " + told.code
	} else if text != "" && r.Status >= 300 {
		p.Detail += " " + text
	}
	if told.message != "" && !strings.EqualFold(told.message, text) {
		p.Detail += ": " + told.message
	}
	return p
}

// described matches the reason in a bearer token challenge (RFC 6750).
var described = regexp.MustCompile(`(?i)\berror(_description)?="([^"]*)"`)

// challengeReason returns the reason that WWW-Authenticate gives, or "".
func challengeReason(h http.Header) (reason string) {
	for _, line := range h.Values("WWW-Authenticate") {
		for _, found := range described.FindAllStringSubmatch(line, -1) {
			if reason == "" || found[1] != "" {
				reason = sentence(found[2])
			}
		}
	}
	return reason
}

// maxWait is the longest Retry-After that is passed on to an agent.
const maxWait = 24 * time.Hour

// retryAfter reads Retry-After, which is a number of seconds or a date relative to the response's Date.
func retryAfter(h http.Header) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxWait)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxWait)
}

// CheckRefusal returns an error if the response to a write has a success status, but its body says that the API
// refused the write: {"ok": false, "error": "channel_not_found"}. Otherwise it returns nil. sent is the body of the
// write.
func CheckRefusal(v *spec.View, op *spec.Operation, r *calls.HTTPResponse, sent value.Value) error {
	read, err := Raw(r)
	if err != nil || r.Status >= 300 || !declines(read, sent) {
		return nil
	}
	return newWalker(v, Options{}).refusal(op, r)
}

// declines reports whether an object is the envelope of a failure. This means that a member reports a failure or an
// error, and that the object contains no record. A member that is also in sent is a field of the new record and
// doesn't count.
func declines(read, sent value.Value) bool {
	failed, says, erred, other := false, false, false, false
	for _, m := range read.Members() {
		_, given := sent.Get(m.Name)
		name := plain(m.Name)
		switch {
		case given:
			other = true
		case slices.Contains([]string{"ok", "success", "succeeded", "issuccess", "successful"}, name):
			failed = failed || m.Value.Kind() == value.Bool && !m.Value.Bool()
		case slices.Contains([]string{"failed", "iserror", "haserror", "haserrors"}, name):
			failed = failed || m.Value.Kind() == value.Bool && m.Value.Bool()
		case (name == "status" || name == "result") && fails(m.Value):
			failed = true
		case name == "error" || name == "errors" || name == "fault" || name == "exception":
			says, erred = says || !saysNothing(m.Value), erred || !saysNothing(m.Value)
		case slices.Contains([]string{"errormessage", "errorcode", "errmsg", "errcode", "message", "messages", "msg", "reason", "detail", "details", "errordescription"}, name):
			says = says || !saysNothing(m.Value)
		case slices.Contains([]string{"id", "data", "result", "results", "record", "records", "item", "items", "uuid", "key"}, name):
			if !saysNothing(m.Value) {
				return false
			}
		case !slices.Contains([]string{"status", "code", "statuscode", "type", "title", "timestamp", "path", "instance", "requestid", "traceid", "correlationid", "documentationurl", "extensions"}, name):
			other = true
		}
	}
	return failed && (says || !other) || erred && !other
}

// fails reports whether v is a status that reports a failed call.
func fails(v value.Value) bool {
	return v.Kind() == value.String && slices.Contains([]string{"error", "fail", "failed", "failure"}, strings.ToLower(v.Text()))
}

// saysNothing reports whether a member has no content: null, false, 0, or an empty string, list or object.
func saysNothing(v value.Value) bool {
	switch v.Kind() {
	case value.String:
		return v.Text() == ""
	case value.Array:
		return len(v.List()) == 0
	case value.Object:
		return len(v.Members()) == 0
	case value.Bool:
		return !v.Bool()
	}
	return v.IsNull() || v.String() == "0"
}
