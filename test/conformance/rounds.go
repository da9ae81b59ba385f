package conformance

//lint:file-ignore SA1019 the suites want logging, sampling and roots, which 2026-07-28 deprecates

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addRounds adds the tools that ask the client in their result and are called again with the answer (SEP-2322).
func addRounds(add adder) {
	const name = "test_input_required_result_"
	add(&mcp.Tool{Name: name + "elicitation", Description: "Asks for a name"}, askName)
	add(&mcp.Tool{Name: name + "sampling", Description: "Asks the client's model"}, askModel)
	add(&mcp.Tool{Name: name + "list_roots", Description: "Asks for the client's roots"}, askRoots)
	add(&mcp.Tool{Name: name + "request_state", Description: "Asks for a confirmation and keeps state"}, confirm("request_state"))
	add(&mcp.Tool{Name: name + "tampered_state", Description: "Refuses state that was changed"}, confirm("tampered_state"))
	add(&mcp.Tool{Name: name + "multiple_inputs", Description: "Asks for three things at once"}, askThree)
	add(&mcp.Tool{Name: name + "multi_round", Description: "Asks twice"}, askTwice)
	add(&mcp.Tool{Name: name + "capabilities", Description: "Asks for what the client can give"}, askCapable)
}

var (
	nameForm    = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
	colorForm   = json.RawMessage(`{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`)
	okForm      = json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`)
	contextForm = json.RawMessage(`{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`)
)

// ask returns a result that asks the client.
func ask(state string, requests mcp.InputRequestMap) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}
}

func form(message string, schema json.RawMessage) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: schema}
}

func prompt(message string, tokens int64) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: message}}},
		MaxTokens: tokens,
	}
}

// formContent returns what the user entered in a form, or nil if there is no such answer or the user didn't accept.
func formContent(responses mcp.InputResponseMap, key string) map[string]any {
	res, ok := responses[key].(*mcp.ElicitResult)
	if !ok || res == nil || res.Action != "accept" {
		return nil
	}
	return res.Content
}

func formField(responses mcp.InputResponseMap, key, field string) string {
	s, _ := formContent(responses, key)[field].(string)
	return s
}

// sampledText returns what the client's model said.
func sampledText(responses mcp.InputResponseMap, key string) (string, bool) {
	res, ok := responses[key].(*mcp.CreateMessageWithToolsResult)
	if !ok || res == nil {
		return "", false
	}
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text, true
		}
	}
	return "(non-text response)", true
}

func askName(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if name := formField(r.Params.InputResponses, "user_name", "name"); name != "" {
		return text(fmt.Sprintf("Hello, %s!", name)), nil
	}
	return ask("", mcp.InputRequestMap{"user_name": form("What is your name?", nameForm)}), nil
}

func askModel(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said, ok := sampledText(r.Params.InputResponses, "capital_question"); ok {
		return text("Sampling response: " + said), nil
	}
	return ask("", mcp.InputRequestMap{"capital_question": prompt("What is the capital of France?", 100)}), nil
}

func askRoots(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	res, ok := r.Params.InputResponses["client_roots"].(*mcp.ListRootsResult)
	if !ok || res == nil {
		return ask("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}), nil
	}
	uris := make([]string, len(res.Roots))
	for i, root := range res.Roots {
		uris[i] = root.URI
	}
	return text(fmt.Sprintf("Client exposed %d root(s): %s", len(uris), strings.Join(uris, ", "))), nil
}

// confirm returns a handler that requires a confirmation, with its own state returned. The server seals the state, so
// the client can't change it.
func confirm(state string) mcp.ToolHandler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Params.RequestState == state && formContent(r.Params.InputResponses, "confirm") != nil {
			return text("state-ok: requestState received and confirmation accepted"), nil
		}
		return ask(state, mcp.InputRequestMap{"confirm": form("Please confirm", okForm)}), nil
	}
}

func askThree(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	name := formField(r.Params.InputResponses, "user_name", "name")
	greeting, greeted := sampledText(r.Params.InputResponses, "greeting")
	roots, listed := r.Params.InputResponses["client_roots"].(*mcp.ListRootsResult)
	if name != "" && greeted && listed && roots != nil {
		return text(fmt.Sprintf("%s %s — %d root(s) visible", greeting, name, len(roots.Roots))), nil
	}
	return ask("multiple_inputs", mcp.InputRequestMap{
		"user_name":    form("What is your name?", nameForm),
		"greeting":     prompt("Generate a greeting", 50),
		"client_roots": &mcp.ListRootsParams{},
	}), nil
}

// askTwice keeps the round, and the answer of the first one, in its state. The server has no other memory of it.
func askTwice(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	const second = "round=2;name="
	switch state := r.Params.RequestState; {
	case state == "":
		return ask("round=1", mcp.InputRequestMap{"step1": form("Step 1: What is your name?", nameForm)}), nil
	case state == "round=1":
		name := orUnknown(formField(r.Params.InputResponses, "step1", "name"))
		return ask(second+name, mcp.InputRequestMap{"step2": form("Step 2: What is your favorite color?", colorForm)}), nil
	default:
		color := orUnknown(formField(r.Params.InputResponses, "step2", "color"))
		return text(fmt.Sprintf("Multi-round complete: %s likes %s", strings.TrimPrefix(state, second), color)), nil
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func askCapable(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(r.Params.InputResponses) > 0 {
		return text("Capability-aware input requests fulfilled"), nil
	}
	requests := mcp.InputRequestMap{}
	if can := r.ClientCapabilities(); can != nil {
		if can.Elicitation != nil {
			requests["user_name"] = form("What is your name?", nameForm)
		}
		if can.Sampling != nil {
			requests["greeting"] = prompt("Generate a short greeting", 50)
		}
		if can.RootsV2 != nil || can.Roots.ListChanged {
			requests["client_roots"] = &mcp.ListRootsParams{}
		}
	}
	if len(requests) == 0 {
		return text("No declared client capability supports an in-band input request"), nil
	}
	return ask("", requests), nil
}
