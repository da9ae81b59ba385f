package response

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/request"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// refusal returns the error for a response whose status reports a failure.
func (w *walker) refusal(op *spec.Operation, r *request.Response) *problem.Error {
	told := w.told(op, r)
	p := &problem.Error{Kind: "api_refused", RetryAfter: retryAfter(r.Header),
		Reply: &problem.Reply{Status: r.Status, UpstreamCode: told.code, Message: told.message}}
	what := "answered"
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		p.Code, what = problem.InvalidArgument, "doesn't take this request:"
	case http.StatusUnauthorized, http.StatusForbidden:
		p.Code, what = problem.PermissionDenied, "itself refused this call:"
		p.Suggestion = "rules of this gateway allowed the call; who runs the API decides what the credential for it may do"
	case http.StatusNotFound, http.StatusGone:
		p.Code, what = problem.NotFound, "found nothing:"
	case http.StatusConflict, http.StatusPreconditionFailed:
		p.Code, what = problem.Conflict, "found a conflict:"
	case http.StatusTooManyRequests:
		p.Code, what = problem.RateLimited, "takes no more calls for now:"
	default:
		p.Code = problem.Upstream
		if r.Status >= 300 && r.Status < 400 {
			what = "answered with a redirect, which isn't followed:"
		}
	}
	// Many APIs repeat the status as their code, or its text as their message.
	p.Detail = fmt.Sprintf("the API %s %d", what, r.Status)
	text := http.StatusText(r.Status)
	if told.code != "" && told.code != strconv.Itoa(r.Status) {
		p.Detail += " " + told.code
	} else if text != "" {
		p.Detail += " " + text
	}
	if told.message != "" && !strings.EqualFold(told.message, text) {
		p.Detail += ": " + told.message
	}
	return p
}

// maxWait is the longest Retry-After passed on to an agent.
const maxWait = 24 * time.Hour

// retryAfter reads Retry-After: seconds, or a date relative to the response's Date.
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

// A reason is the code and message an API gives for a failure.
type reason struct{ code, message string }

// told reads the reason in its usual forms, from the visible part of the response.
func (w *walker) told(op *spec.Operation, r *request.Response) reason {
	body := []byte(strings.TrimSpace(string(r.Body)))
	if len(body) == 0 {
		return reason{}
	}
	if read, err := value.Read(body, maxDepth); err == nil {
		read, ok := w.walk(read, w.nodeOf(w.answered(op, r.Status)), open)
		if !ok {
			return reason{}
		}
		out := reasonOf(read, 0)
		return reason{code: token(out.code), message: sentence(out.message)}
	}
	if strings.HasPrefix(r.MediaType, "text/plain") || r.MediaType == "" {
		return reason{message: sentence(string(body))}
	}
	return reason{}
}

// Member names that hold the message and the code of a failure, normalized by plain, the most specific first.
var (
	messages = []string{"detail", "message", "errordescription", "errormessage", "msg", "description", "reason", "faultstring", "title"}
	codes    = []string{"code", "errorcode", "reasoncode", "errcode", "status", "type"}
)

// reasonOf reads {code, error}, {error: {code, message}}, {message}, problem+json, {errors: […]} and similar forms.
func reasonOf(v value.Value, depth int) reason {
	switch v.Kind() {
	case value.String:
		return reason{message: v.Text()}
	case value.Array:
		return listed(v.List(), depth)
	case value.Object:
	default:
		return reason{}
	}
	var out reason
	for _, name := range codes {
		if code := member(v, name); out.code == "" && (code.Kind() == value.String || name == "code" && code.IsNumber()) {
			out.code = code.String()
		}
	}
	for _, name := range messages {
		if m := member(v, name); out.message == "" && m.Kind() == value.String {
			out.message = m.Text()
		}
	}
	if depth > 3 {
		return out
	}
	// What is inside of an error is more exact: its code replaces this one, its message follows.
	for _, name := range []string{"error", "fault", "errors", "err", "exception"} {
		in := member(v, name)
		if text := in.Text(); in.Kind() == value.String && out.message != "" && out.code == "" && token(text) != "" {
			out.code = text // as in OAuth: {error: invalid_grant, error_description: …}
			continue
		}
		found := reasonOf(in, depth+1)
		if name == "errors" && in.Kind() == value.Object {
			found = byField(in)
		}
		if found.message != "" && (out.message == "" || name == "errors" && !strings.Contains(out.message, found.message)) {
			out.message = strings.TrimPrefix(out.message+": "+found.message, ": ")
		}
		if out.code == "" || name == "error" && found.code != "" {
			out.code = found.code
		}
	}
	return out
}

// listed combines the first of several reasons.
func listed(list []value.Value, depth int) reason {
	var out reason
	var all []string
	for _, e := range list[:min(len(list), 5)] {
		one := reasonOf(e, depth+1)
		for _, name := range []string{"field", "path", "pointer", "param", "name"} {
			if at := member(e, name); at.Kind() == value.String && at.Text() != "" && one.message != "" {
				one.message = at.Text() + ": " + one.message
				break
			}
		}
		if one.message != "" {
			all = append(all, one.message)
		}
		if out.code == "" {
			out.code = one.code
		}
	}
	out.message = strings.Join(all, "; ")
	return out
}

// byField reads {errors: {name: [is too short]}}.
func byField(v value.Value) reason {
	var all []string
	for _, m := range v.Members()[:min(len(v.Members()), 5)] {
		if one := reasonOf(m.Value, 3); one.message != "" {
			all = append(all, m.Name+": "+one.message)
		}
	}
	return reason{message: strings.Join(all, "; ")}
}

// member returns the member of v whose name, normalized by plain, is name.
func member(v value.Value, name string) value.Value {
	for _, m := range v.Members() {
		if plain(m.Name) == name {
			return m.Value
		}
	}
	return value.Value{}
}
