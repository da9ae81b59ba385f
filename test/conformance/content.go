package conformance

//lint:file-ignore SA1019 the suites want logging, sampling and roots, which 2026-07-28 deprecates

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var noArguments = json.RawMessage(`{"type":"object"}`)

// The smallest PNG (one red pixel) and WAV (silence) files.
const (
	redPixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silence  = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func bytesOf(encoded string) []byte {
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err) // it is a constant of this file
	}
	return b
}

// failing turns an error of h into a result that the model can read. Protocol errors are returned as they are.
func failing(h mcp.ToolHandler) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := h(ctx, r)
		if err == nil {
			return res, nil
		}
		if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
			return nil, err
		}
		res = &mcp.CallToolResult{}
		res.SetError(err)
		return res, nil
	}
}

func text(s string) *mcp.CallToolResult { return content(&mcp.TextContent{Text: s}) }

func content(c ...mcp.Content) *mcp.CallToolResult { return &mcp.CallToolResult{Content: c} }

// always returns a handler that returns the same content every time.
func always(c ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return content(c...), nil }
}

func embeddedResource(uri string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource"}}
}

func image() mcp.Content { return &mcp.ImageContent{Data: bytesOf(redPixel), MIMEType: "image/png"} }

// addContent adds the tools that answer with each kind of content, and with logs, progress and an error.
func addContent(add adder) {
	add(&mcp.Tool{Name: "test_simple_text", Description: "Answers with text"},
		always(&mcp.TextContent{Text: "This is a simple text response for testing."}))
	add(&mcp.Tool{Name: "test_image_content", Description: "Answers with an image"}, always(image()))
	add(&mcp.Tool{Name: "test_audio_content", Description: "Answers with audio"},
		always(&mcp.AudioContent{Data: bytesOf(silence), MIMEType: "audio/wav"}))
	add(&mcp.Tool{Name: "test_embedded_resource", Description: "Answers with an embedded resource"},
		always(embeddedResource("test://embedded-resource")))
	add(&mcp.Tool{Name: "test_multiple_content_types", Description: "Answers with text, an image and a resource"},
		always(&mcp.TextContent{Text: "This is text content"}, image(), embeddedResource("test://embedded-in-multiple")))
	add(&mcp.Tool{Name: "test_error_handling", Description: "Answers with an error"},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("this tool intentionally returns an error for testing")
		})
	add(&mcp.Tool{Name: "test_tool_with_logging", Description: "Logs while it runs"}, logging)
	add(&mcp.Tool{Name: "test_tool_with_progress", Description: "Reports its progress"}, progress)
	add(&mcp.Tool{Name: "json_schema_2020_12_tool", Description: "Has a schema with all that JSON Schema 2020-12 added", InputSchema: schema202012},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(fmt.Sprintf("JSON Schema 2020-12 tool called with: %s", r.Params.Arguments)), nil
		})
}

func logging(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: message}); err != nil {
			return nil, fmt.Errorf("logging: %w", err)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return text("Tool with logging executed successfully"), nil
}

func progress(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := r.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: done, Total: 100, Message: fmt.Sprintf("Completed step %.0f of 100", done),
		})
		if err != nil {
			return nil, fmt.Errorf("notifying: %w", err)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return text(fmt.Sprint(token)), nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var schema202012 = json.RawMessage(`{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {
		"address": {
			"$anchor": "addressDef",
			"type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
		}
	},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`)
