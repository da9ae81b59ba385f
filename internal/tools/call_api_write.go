package tools

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

const writeTool = "call_api_write"

// callAPIWrite returns the tool that proposes a call that writes. Reviewers see the request and its effect before it
// is sent.
func (r *APITools) callAPIWrite() tool.Tool {
	return tool.Tool{
		Name: writeTool, Title: "Propose a call of an API",
		Description: "Propose a call that writes or deletes. A person decides, then it is sent. reason: why.",
		Input:       []byte(`{"type":"object","additionalProperties":false,"required":["operationId"],"properties":{` + callArguments + `,"reason":{"type":"string"}}}`),
		Output:      []byte(`{"type":"object","properties":{"status":{"type":"string"}}}`),
		Annotations: tool.Annotations{Destructive: true, Idempotent: true, OpenWorld: true},
		Writes:      policy.WriteAction, Scope: identity.Write, Proposes: true,
		Category: tool.API,
		Timeout:  60 * time.Second,
		Meant:    func(c *bailiwick.Call, in value.Value) (value.Value, error) { return placeArguments(c, in, "reason") },
		Offered:  r.offers(func(reach *calls.Reach) bool { return reach.Writes }),
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (tool.Result, error) {
			reach, err := findAPI(c, word(in, "source"), word(in, "operationId"))
			if err != nil {
				return tool.Result{}, err
			}
			call := &write.Call{Source: reach.Name, Operation: word(in, "operationId"), Request: calls.EncodeArguments(arguments(in))}
			return r.changes.Propose(ctx, c, write.Request{Writes: []write.Write{call}, Tool: writeTool, Input: in, Reason: word(in, "reason")})
		},
	}
}
