package conformance

//lint:file-ignore SA1019 the suites want logging, sampling and roots, which 2026-07-28 deprecates

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addDiagnostics adds the tools with which the suites of 2026-07-28 inspect the server itself.
func addDiagnostics(s *mcp.Server, add adder) {
	add(&mcp.Tool{
		Name: "test_x_mcp_header", Description: "Has an argument that is sent as a header too (SEP-2243)",
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"region": {"type": "string", "description": "mirrored into Mcp-Param-Region", "x-mcp-header": "Region"},
				"level": {"type": "integer", "description": "non-mirrored argument"}
			}
		}`),
	}, region)
	add(&mcp.Tool{Name: "test_missing_capability", Description: "Needs a client with sampling (SEP-2575)"}, missingCapability)
	add(&mcp.Tool{Name: "test_streaming_elicitation", Description: "Answers with a result and no request (SEP-2575)"},
		always(&mcp.TextContent{Text: "stream observed: result frames only, no top-level requests"}))
	add(&mcp.Tool{Name: "test_logging_tool", Description: "Logs, which only clients get that asked for it (SEP-2575)"}, logOnce)
	add(&mcp.Tool{Name: "test_trigger_tool_change", Description: "Changes the tools"},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			add(&mcp.Tool{Name: "__transient_tool_for_list_changed", Description: "Comes with test_trigger_tool_change"}, always())
			return text("tools_list_changed published"), nil
		})
	add(&mcp.Tool{Name: "test_trigger_prompt_change", Description: "Changes the prompts"},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddPrompt(&mcp.Prompt{Name: "__transient_prompt_for_list_changed", Description: "Comes with test_trigger_prompt_change"},
				func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
					return &mcp.GetPromptResult{}, nil
				})
			return text("prompts_list_changed published"), nil
		})
}

func region(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct {
		Region string `json:"region"`
		Level  int    `json:"level"`
	}
	if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
		return nil, fmt.Errorf("reading the arguments: %w", err)
	}
	return text("region=" + args.Region), nil
}

func missingCapability(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if can := r.ClientCapabilities(); can != nil && can.Sampling != nil {
		return text("Client declared the sampling capability; tool executed."), nil
	}
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the capabilities: %w", err)
	}
	return nil, &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "sampling capability required but not declared by client", Data: data,
	}
}

func logOnce(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "test_logging_tool executed"}); err != nil {
		return nil, fmt.Errorf("logging: %w", err)
	}
	return text("Log attempted; framework gates on _meta.../logLevel."), nil
}
