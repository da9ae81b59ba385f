package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// These limit a provider's response, in bytes.
const (
	maxEvent   = 16 << 20
	maxFailure = 64 << 10
)

// An Endpoint is the address of a provider, with the key.
type Endpoint struct {
	Base    *url.URL // the URL including the version, such as https://api.openai.com/v1
	Key     string   // never in an error
	Timeout time.Duration
	HTTP    *http.Client // nil means the default transport
}

// errSilent is the cause of cancelling a request whose provider sends no data for the endpoint's timeout.
var errSilent = errors.New("the provider is silent")

// Stream posts body as JSON to path below the base. It calls each for every event of the response. Timeout limits the
// time without a byte, not the whole response. It returns the errors of ctx and of each unchanged. Other errors of
// the connection and the response are *Failures.
func (e *Endpoint) Stream(ctx context.Context, path string, header map[string]string, body any, each func(edge.Event) error) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	attempt, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(e.Timeout, func() { cancel(errSilent) })
	defer silence.Stop()
	res, err := e.post(attempt, path, header, encoded)
	if err != nil {
		return e.connectionError(ctx, attempt, err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return e.responseError(res)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		return &Failure{Status: res.StatusCode, Message: fmt.Sprintf("the provider answers with %q instead of a stream of events. Is the base URL right?", kind)}
	}
	var own error
	err = edge.ReadEvents(&alive{res.Body, silence, e.Timeout}, maxEvent, func(ev edge.Event) error {
		own = each(ev)
		return own
	})
	switch f, ok := errors.AsType[*Failure](own); {
	case ok:
		return e.clean(f)
	case own != nil:
		return own
	case err != nil:
		return e.connectionError(ctx, attempt, err)
	}
	return nil
}

// post sends body to path below the base. It doesn't follow redirects, because header contains the key, which is only
// for this address.
func (e *Endpoint) post(ctx context.Context, path string, header map[string]string, body []byte) (*http.Response, error) {
	at, query, _ := strings.Cut(path, "?")
	u := e.Base.JoinPath(at)
	u.RawQuery = query
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	for name, v := range header {
		r.Header.Set(name, v)
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if e.HTTP != nil {
		c.Transport = e.HTTP.Transport
	}
	return c.Do(r)
}

// alive is a reader that resets the timer at each read of data.
type alive struct {
	io.Reader
	timer   *time.Timer
	timeout time.Duration
}

// Read implements io.Reader.
func (a *alive) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	if n > 0 {
		a.timer.Reset(a.timeout)
	}
	return n, err
}

// connectionError returns the error of a failed connection.
func (e *Endpoint) connectionError(ctx, attempt context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(attempt), errSilent):
		return &Failure{Code: "timeout", Temporary: true, Message: fmt.Sprintf("the provider said nothing for %s", e.Timeout)}
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return e.clean(&Failure{Code: "connection", Temporary: true, Message: "the connection to " + e.Base.Redacted() + " failed: " + err.Error()})
}

// cutOff returns the error for a stream that ended before the reply was complete.
func cutOff() *Failure {
	return &Failure{Code: "cut_off", Temporary: true, Message: "the provider's answer was cut off"}
}

// A Failure is the error for a request that a provider did not answer.
type Failure struct {
	Status     int           // HTTP status, or 0 if there was none or the response had already begun
	Code       string        // the provider's name for the kind of error, or ""
	Message    string        // the provider's message, without the key and without control characters
	RetryAfter time.Duration // how long the provider requests to wait, or 0
	Temporary  bool          // whether another attempt may succeed
}

// Error implements error. It describes the failure.
func (f *Failure) Error() string {
	text := f.Message
	if f.Status != 0 {
		text = fmt.Sprintf("the provider refuses with HTTP status %d", f.Status)
		if f.Code != "" {
			text += " (" + f.Code + ")"
		}
		if f.Message != "" {
			text += ": " + f.Message
		}
	}
	return text
}

// responseError parses an error response.
func (e *Endpoint) responseError(res *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxFailure)) // a body that can't be read adds nothing to the status
	f := parseFailure(body)
	if f == nil {
		f = &Failure{Message: strings.TrimSpace(string(body))}
		if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/html" {
			f.Message = ""
		}
	}
	f.Status = res.StatusCode
	switch res.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		f.Temporary = f.Code != "insufficient_quota" // OpenAI's code for an account without credit
	default:
		f.Temporary = res.StatusCode >= 500
	}
	if f.RetryAfter == 0 {
		f.RetryAfter = retryAfter(res.Header, time.Now())
	}
	return e.clean(f)
}

// parseFailure parses {"error": {message, type or status or code}}, the form of all providers, as an object or in a
// list. It returns nil for other bodies. It doesn't set Status.
func parseFailure(body []byte) *Failure {
	type failure struct {
		Error *struct {
			Message string          `json:"message"`
			Type    string          `json:"type"`
			Status  string          `json:"status"`
			Code    json.RawMessage `json:"code"`
			Details []struct {
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	var said failure
	if list := []failure{}; json.Unmarshal(body, &list) == nil && len(list) > 0 {
		said = list[0]
	} else if json.Unmarshal(body, &said) != nil {
		var plain struct {
			Error string `json:"error"` // the form of small local servers
		}
		if json.Unmarshal(body, &plain) == nil && plain.Error != "" {
			return &Failure{Message: plain.Error}
		}
		return nil
	}
	if said.Error == nil {
		return nil
	}
	// The code is in status, code or type, depending on the provider.
	f := &Failure{Message: said.Error.Message, Code: said.Error.Status}
	if f.Code == "" && json.Unmarshal(said.Error.Code, &f.Code) != nil || f.Code == "" {
		f.Code = said.Error.Type
	}
	for _, d := range said.Error.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			f.RetryAfter = wait
		}
	}
	switch f.Code {
	case "overloaded_error", "api_error", "server_error", "rate_limit_error", "rate_limit_exceeded", "timeout_error", "UNAVAILABLE", "INTERNAL", "RESOURCE_EXHAUSTED":
		f.Temporary = true
	}
	return f
}

// retryAfter returns how long the headers request to wait.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil && s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// maxSaid is the maximum length of a provider's message in an error, in bytes.
const maxSaid = 600

// clean removes the key and terminal control characters from f.
func (e *Endpoint) clean(f *Failure) *Failure {
	for _, text := range []*string{&f.Code, &f.Message} {
		if e.Key != "" {
			*text = strings.ReplaceAll(*text, e.Key, "[key]")
		}
		*text = strings.Map(func(c rune) rune {
			if c != ' ' && !unicode.IsPrint(c) {
				return ' '
			}
			return c
		}, *text)
		if len(*text) > maxSaid {
			*text = strings.ToValidUTF8((*text)[:maxSaid], "") + "…"
		}
	}
	return f
}
