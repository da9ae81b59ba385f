package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A refusal is a tool's error as the gateway told it.
type refusal struct {
	problem *problem.Error
	raw     json.RawMessage // as it came; nil when the gateway sent none
}

func (r *refusal) Error() string { return r.problem.Error() }
func (r *refusal) Unwrap() error { return r.problem }

// details say where in the arguments something is wrong, as every door writes them (design 04).
type details struct {
	Errors  []problem.Fault `json:"errors,omitempty"`
	Pointer string          `json:"pointer,omitempty"`
	Near    []string        `json:"near,omitempty"`
	Scope   string          `json:"scope,omitempty"`
}

// refusalOf reads the error that a tool gave as its result.
func refusalOf(a answer) error {
	var told struct {
		Error      string       `json:"error"`
		Code       problem.Code `json:"error_code"`
		Details    details      `json:"details"`
		Suggestion string       `json:"suggestion"`
		RetryAfter float64      `json:"retry_after"`
	}
	if json.Unmarshal(a.structured, &told) != nil || told.Code == "" {
		return &refusal{problem: problem.New(problem.Upstream, a.text)}
	}
	return &refusal{raw: a.structured, problem: &problem.Error{
		Code: told.Code, Detail: told.Error, Suggestion: told.Suggestion, Pointer: told.Details.Pointer, Near: told.Details.Near,
		Faults: told.Details.Errors, Scope: told.Details.Scope, RetryAfter: time.Duration(told.RetryAfter * float64(time.Second)),
	}}
}

// refused reads the error that the protocol gave instead of a result. An unknown tool gets its near names from
// tools/list, for the gateway tells of no tool that can't be called.
func (c *client) refused(ctx context.Context, name string, err error) error {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return err
	}
	if wire.Code != jsonrpc.CodeInvalidParams {
		return &refusal{problem: problem.New(problem.Upstream, wire.Message)}
	}
	names, err := c.toolNames(ctx)
	if err != nil {
		return err
	}
	return &refusal{problem: &problem.Error{Code: problem.UnknownTool, Detail: wire.Message, Near: problem.Nearest(name, names, 3),
		Suggestion: "\"bailiwick tools\" lists those that can be called"}}
}

func (c *client) list(ctx context.Context) ([]*mcp.Tool, error) {
	var all []*mcp.Tool
	for tool, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		all = append(all, tool)
	}
	return all, nil
}

func (c *client) toolNames(ctx context.Context) ([]string, error) {
	all, err := c.list(ctx)
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	return names, err
}
