package client

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Refusal is a tool's error as reported by the gateway.
type Refusal struct {
	Problem *problem.Error
	Raw     json.RawMessage // the original {error, error_code, …}, or nil if the gateway sent none
}

// Error returns the text of Problem.
func (r *Refusal) Error() string { return r.Problem.Error() }

// Unwrap returns Problem.
func (r *Refusal) Unwrap() error { return r.Problem }

// ReadRefusal parses {error, error_code, …}, which is the form of errors in all transports of a gateway. It returns
// false if body has another form.
func ReadRefusal(body []byte) (*Refusal, bool) {
	var told struct {
		Error   string       `json:"error"`
		Code    problem.Code `json:"error_code"`
		Details struct {
			Errors  []problem.Fault `json:"errors"`
			Pointer string          `json:"pointer"`
			Near    []string        `json:"near"`
			Scope   string          `json:"scope"`
			problem.Denial
			problem.Reply
		} `json:"details"`
		Suggestion string  `json:"suggestion"`
		Retryable  *bool   `json:"retryable"`
		RetryAfter float64 `json:"retry_after"`
	}
	if json.Unmarshal(body, &told) != nil || told.Code == "" {
		return nil, false
	}
	var denial *problem.Denial
	if told.Details.Kind != "" {
		denial = &told.Details.Denial
	}
	var reply *problem.Reply
	if told.Details.Status != 0 {
		reply = &told.Details.Reply
	}
	return &Refusal{Raw: body, Problem: &problem.Error{
		Denial: denial, Reply: reply, Code: told.Code, Detail: told.Error, Suggestion: told.Suggestion, Pointer: told.Details.Pointer, Near: told.Details.Near,
		Lasting: told.Retryable != nil && !*told.Retryable, Faults: told.Details.Errors, Scope: told.Details.Scope, RetryAfter: time.Duration(told.RetryAfter * float64(time.Second)),
	}}, true
}

// asRefusal converts a protocol error to a Refusal. The gateway puts the code and details into the error's data.
func asRefusal(err error) error {
	rpc, ok := errors.AsType[*RPCError](err)
	if !ok {
		return err
	}
	if len(rpc.Data) > 0 {
		var members map[string]json.RawMessage
		if json.Unmarshal(rpc.Data, &members) == nil && members["error_code"] != nil {
			if members["error"] == nil {
				detail, _, _ := strings.Cut(rpc.Message, "\n") // the rest is for models and names tools
				members["error"], _ = json.Marshal(detail)     // never fails for a string
			}
			body, _ := json.Marshal(members) // never fails for decoded JSON
			if r, ok := ReadRefusal(body); ok {
				return r
			}
		}
	}
	if rpc.Code == codeInvalidParams {
		return &Refusal{Problem: problem.New(problem.InvalidArgument, rpc.Message)}
	}
	return &Refusal{Problem: problem.New(problem.Upstream, rpc.Message)}
}
