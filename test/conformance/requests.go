package conformance

//lint:file-ignore SA1019 the suites want logging, sampling and roots, which 2026-07-28 deprecates

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addLegacyRequests adds the tools that ask the client while they run, as the protocols before 2026-07-28 do.
func addLegacyRequests(add adder) {
	add(&mcp.Tool{Name: "test_sampling", Description: "Asks the client's model", InputSchema: oneString("prompt", "The prompt to send to the model")}, sampling)
	add(&mcp.Tool{Name: "test_elicitation", Description: "Asks the user", InputSchema: oneString("message", "The message to show the user")}, elicitation)
	add(&mcp.Tool{Name: "test_elicitation_sep1034_defaults", Description: "Asks the user, with default values (SEP-1034)"},
		elicit("Test defaults for primitives", defaultsForm))
	add(&mcp.Tool{Name: "test_elicitation_sep1330_enums", Description: "Asks the user, with enumerations (SEP-1330)"},
		elicit("Test enum schemas", enumsForm))
	add(&mcp.Tool{Name: "test_reconnection", Description: "Closes its event stream while it runs (SEP-1699)"}, reconnection)
}

func oneString(name, description string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string","description":%q}},"required":[%q],"additionalProperties":false}`,
		name, description, name))
}

func argument(r *mcp.CallToolRequest, name string) (string, error) {
	var args map[string]any
	if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
		return "", fmt.Errorf("reading the arguments: %w", err)
	}
	s, ok := args[name].(string)
	if !ok {
		return "", fmt.Errorf("%s must be a string", name)
	}
	return s, nil
}

func sampling(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	prompt, err := argument(r, "prompt")
	if err != nil {
		return nil, err
	}
	res, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: prompt}}},
		MaxTokens: 100,
	})
	if err != nil {
		return nil, fmt.Errorf("sampling failed: %w", err)
	}
	answer := "(non-text response)"
	if t, ok := res.Content.(*mcp.TextContent); ok {
		answer = t.Text
	}
	return text("LLM response: " + answer), nil
}

func elicitation(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	message, err := argument(r, "message")
	if err != nil {
		return nil, err
	}
	form := json.RawMessage(`{"type":"object","properties":{"username":{"type":"string","description":"Your preferred username"}},"required":["username"]}`)
	return elicit(message, form)(ctx, r)
}

// elicit returns a handler that shows the user a form and answers with the user's choice.
func elicit(message string, form json.RawMessage) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: form})
		if err != nil {
			return nil, fmt.Errorf("elicitation failed: %w", err)
		}
		return text(fmt.Sprintf("Elicitation result: action=%s, content=%v", res.Action, res.Content)), nil
	}
}

func reconnection(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Extra != nil && r.Extra.CloseSSEStream != nil {
		r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	}
	if err := pause(ctx, 100*time.Millisecond); err != nil {
		return nil, err
	}
	return text("Reconnection test completed successfully. If you received this, the client properly reconnected after stream closure."), nil
}

var defaultsForm = json.RawMessage(`{
	"type": "object",
	"properties": {
		"name": {"type": "string", "description": "User name", "default": "John Doe"},
		"age": {"type": "integer", "description": "User age", "default": 30},
		"score": {"type": "number", "description": "User score", "default": 95.5},
		"status": {"type": "string", "description": "User status", "enum": ["active", "inactive", "pending"], "default": "active"},
		"verified": {"type": "boolean", "description": "Verification status", "default": true}
	}
}`)

var enumsForm = json.RawMessage(`{
	"type": "object",
	"properties": {
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": [
			{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
		"untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "anyOf": [
			{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]}}
	}
}`)
