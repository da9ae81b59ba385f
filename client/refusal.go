package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Refusal is a tool's error as the gateway told it.
type Refusal struct {
	Problem *problem.Error
	Raw     json.RawMessage // {error, error_code, …} as it came; nil when the gateway sent none
}

// Error says what Problem says.
func (r *Refusal) Error() string { return r.Problem.Error() }

// Unwrap returns Problem.
func (r *Refusal) Unwrap() error { return r.Problem }

// refusalOf reads the error that a tool gave as its result.
func refusalOf(a Answer) error {
	if r, ok := ReadRefusal(a.Structured); ok {
		return r
	}
	return &Refusal{Problem: problem.New(problem.Upstream, a.Text)}
}

// ReadRefusal reads {error, error_code, …}, as every door of a gateway writes a failure, and whether body is that.
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
		Faults: told.Details.Errors, Scope: told.Details.Scope, RetryAfter: time.Duration(told.RetryAfter * float64(time.Second)),
	}}, true
}

// refused reads the error that the protocol gave instead of a result. An unknown tool gets its near names from
// tools/list, for the gateway tells of no tool that can't be called.
func (c *Client) refused(ctx context.Context, name string, err error) error {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return err
	}
	if wire.Code != jsonrpc.CodeInvalidParams {
		return &Refusal{Problem: problem.New(problem.Upstream, wire.Message)}
	}
	names, err := c.toolNames(ctx)
	if err != nil {
		return err
	}
	return &Refusal{Problem: &problem.Error{Code: problem.UnknownTool, Detail: wire.Message, Near: problem.Nearest(name, names, 3)}}
}

// Tools lists the tools that can be called.
func (c *Client) Tools(ctx context.Context) ([]*mcp.Tool, error) {
	var all []*mcp.Tool
	for tool, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		all = append(all, tool)
	}
	return all, nil
}

func (c *Client) toolNames(ctx context.Context) ([]string, error) {
	all, err := c.Tools(ctx)
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	return names, err
}
