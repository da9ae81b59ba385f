package parse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A credential is a header of a request in addition to the keys of the application.
type credential struct{ header, value string }

// nobody is the credential of a client without a session.
var nobody = credential{}

// master returns the credential with the master key.
func (s *Source) master() credential {
	return credential{"X-Parse-Master-Key", s.keys.Load().master}
}

// keys contains the keys of the application that can change.
type keys struct{ master, rest string }

// Rekey sets the keys of all further requests. master and rest are as in Options. The former keys remain masked in
// answers.
func (s *Source) Rekey(master, rest string) {
	s.secrets.Add(master, rest)
	s.keys.Store(&keys{master, rest})
}

// A request is one call of the REST API.
type request struct {
	method, path string
	query        url.Values
	body         value.Value
	as           credential
	into         []byte // memory for the answer, or nil
	id           string // an id, or "". If configured, Parse Server answers only one request with the same id
}

// A refusal is an answer of Parse Server that isn't a success.
type refusal struct {
	status, code int // code is Parse's own code, or 0
}

// Error returns only the numbers, because Parse's message may quote records.
func (r *refusal) Error() string {
	if r.code == 0 {
		return fmt.Sprintf("status %d", r.status)
	}
	return fmt.Sprintf("status %d, code %d", r.status, r.code)
}

// LogText returns the text of Error. Logs omit the text of errors without this method.
func (r *refusal) LogText() string { return r.Error() }

// askTime is the timeout of a request whose context has no deadline.
const askTime = 30 * time.Second

// sendRequest sends a request and returns the body of a successful answer. Its errors may be shown to the caller. If
// Parse Server answered with an error, the chain contains a *refusal. If the answer exceeds the limit, the chain
// contains largeAnswer.
func (s *Source) sendRequest(ctx context.Context, r request, most answerLimit) ([]byte, error) {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, askTime)
		defer cancel()
	}
	status, body, err := s.send(ctx, r, most)
	if err != nil {
		return nil, missingAnswer(ctx, err)
	}
	switch {
	case status >= 300 && status < 400:
		return nil, unexpectedAnswerError(&refusal{status: status}, "what answers leads to another address. The url of the source has to be that of Parse Server itself")
	case status == http.StatusOK || status == http.StatusCreated:
		return body, nil
	}
	var why value.Value
	if err := json.Unmarshal(body, &why); status < 500 && (err != nil || why.Kind() != value.Object) {
		return nil, stranger(status)
	}
	code, _ := why.Get("code")
	return nil, s.refusalError(&refusal{status, int(code.Int())})
}

// ask sends a request and returns the JSON of the answer. It fails like sendRequest.
func (s *Source) ask(ctx context.Context, r request) (value.Value, error) {
	body, err := s.sendRequest(ctx, r, maxAnswer)
	if err != nil {
		return value.Value{}, err
	}
	var answer value.Value
	if err := json.Unmarshal(body, &answer); err != nil || answer.Kind() != value.Object {
		return value.Value{}, stranger(http.StatusOK)
	}
	return answer, nil
}

// stranger returns the error for an answer that isn't JSON.
func stranger(status int) error {
	return unexpectedAnswerError(&refusal{status: status}, "what answers is not Parse Server. Its url ends with the path that it is mounted at, such as https://host/parse")
}

// send returns the status and the body that answer a request.
func (s *Source) send(ctx context.Context, r request, most answerLimit) (int, []byte, error) {
	u := *s.base
	u.Path += r.path
	var body io.Reader
	if !r.body.IsNull() {
		body = bytes.NewReader(r.body.AppendJSON(nil))
	}
	// A long query is sent in the body of a POST with _method=GET, which Parse Server treats as a GET.
	query := r.query.Encode()
	if len(query) > 4000 && r.method == http.MethodGet { // servers limit the length of a URL
		body = strings.NewReader(query + "&_method=GET")
	} else {
		u.RawQuery = query
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if u.RawQuery == "" && query != "" {
		req.Method = http.MethodPost
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("X-Parse-Application-Id", s.options.AppID)
	if rest := s.keys.Load().rest; rest != "" {
		req.Header.Set("X-Parse-REST-API-Key", rest)
	}
	if r.as != nobody {
		req.Header.Set(r.as.header, r.as.value)
	}
	if r.id != "" {
		req.Header.Set("X-Parse-Request-Id", r.id)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	read, err := readAnswer(resp.Body, resp.ContentLength, most, r.into)
	if err != nil {
		return resp.StatusCode, nil, err
	}
	return resp.StatusCode, s.secrets.Hide(read, r.as.value), nil
}

// unexpectedAnswerError returns the error for an answer that a working Parse Server never sends.
func unexpectedAnswerError(r *refusal, why string) error {
	return &problem.Error{Code: problem.Upstream, Kind: "parse_broken", Detail: "the source could not answer", Err: fmt.Errorf("%s: %w", why, r), Suggestion: tryLater}
}

// Codes of Parse Server.
const (
	codeNotFound   = 101
	codeQuery      = 102
	codeClass      = 103
	codeForbidden  = 119
	codeTimeout    = 124
	codeDuplicate  = 137
	codeScript     = 141
	codeValidation = 142
	codeRate       = 155
	codeRepeated   = 159 // a request id was used before
	codeSession    = 209
)

// refusalError turns an error of Parse Server into an error for the caller. If the error means that the cache of
// classes and users may be out of date, it drops the cache.
func (s *Source) refusalError(r *refusal) error {
	p := &problem.Error{Code: problem.Upstream, Kind: fmt.Sprintf("parse_%d", r.code), Detail: "the source could not answer", Err: r, Suggestion: tryLater}
	switch {
	case r.status >= 500, r.code == codeForbidden, r.code == codeQuery, r.code == codeSession:
		s.forget()
	}
	switch {
	case r.status >= 500:
		p.Err = fmt.Errorf("an error of Parse Server, which is in its own log: %w", r)
	case r.code == codeForbidden:
		p.Code, p.Detail, p.Suggestion = problem.PermissionDenied, "the permissions of the Parse application don't allow it", "get_schema shows what can be read"
	case r.code == codeNotFound:
		p.Code, p.Detail, p.Suggestion = problem.NotFound, "there is no such record", ""
	case r.code == codeSession:
		p.Code, p.Detail, p.Suggestion = problem.PermissionDenied, "the Parse session of this credential has ended", "sign in to the application again"
	case r.code == codeTimeout:
		p.Code, p.Detail, p.Suggestion = problem.Timeout, "the query took too long and was stopped", "ask for less: a narrower where, a smaller limit"
	case r.code == codeRate || r.status == http.StatusTooManyRequests:
		p.Code, p.Detail, p.RetryAfter = problem.RateLimited, "the source takes no more requests for now", time.Second
	case r.code == codeDuplicate:
		p.Code, p.Detail, p.Suggestion = problem.Conflict, "the source refuses it: another record has the same value", ""
	case r.code == codeValidation || r.code == codeScript:
		p.Code, p.Detail, p.Suggestion = problem.Conflict, "the code of the Parse application refuses it", "tell the operator the correlation id"
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		p.Kind, p.Detail = "parse_keys", "the source refuses the keys that it was configured with"
		p.Err = fmt.Errorf("the server refuses app_id, master_key or rest_key, or takes the master key from other addresses only (masterKeyIps): %w", r)
	}
	return p
}
