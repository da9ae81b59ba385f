package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addResources adds a text, an image, a template and a resource that changes.
func addResources(s *mcp.Server) {
	s.AddResource(&mcp.Resource{Name: "static-text", Description: "Text", MIMEType: "text/plain", URI: "test://static-text"},
		resource(mcp.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."}))
	s.AddResource(&mcp.Resource{Name: "static-binary", Description: "An image", MIMEType: "image/png", URI: "test://static-binary"},
		resource(mcp.ResourceContents{MIMEType: "image/png", Blob: bytesOf(redPixel)}))
	s.AddResource(&mcp.Resource{Name: "watched-resource", Description: "Changes every three seconds", MIMEType: "text/plain", URI: watchedResource},
		resource(mcp.ResourceContents{MIMEType: "text/plain", Text: "Watched resource content"}))
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", Description: "Has a parameter", MIMEType: "application/json", URITemplate: "test://template/{id}/data"}, fromTemplate)
}

func resource(c mcp.ResourceContents) mcp.ResourceHandler {
	return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		c := c
		c.URI = r.Params.URI
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
	}
}

func fromTemplate(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
	data, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
	if err != nil {
		return nil, fmt.Errorf("encoding the resource: %w", err)
	}
	return resource(mcp.ResourceContents{MIMEType: "application/json", Text: string(data)})(ctx, r)
}

// addPrompts adds prompts without arguments, with arguments, with a resource, with an image, and one that asks the
// client.
func addPrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Title: "Simple Test Prompt", Description: "Has no arguments"},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return says("A simple test prompt", &mcp.TextContent{Text: "This is a simple prompt for testing."}), nil
		})
	s.AddPrompt(&mcp.Prompt{
		Name: "test_prompt_with_arguments", Title: "Prompt With Arguments", Description: "Has two arguments",
		Arguments: []*mcp.PromptArgument{
			{Name: "arg1", Description: "First test argument", Required: true},
			{Name: "arg2", Description: "Second test argument", Required: true},
		},
	}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return says("A prompt with arguments", &mcp.TextContent{
			Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", r.Params.Arguments["arg1"], r.Params.Arguments["arg2"]),
		}), nil
	})
	s.AddPrompt(&mcp.Prompt{
		Name: "test_prompt_with_embedded_resource", Title: "Prompt With Embedded Resource", Description: "Embeds a resource",
		Arguments: []*mcp.PromptArgument{{Name: "resourceUri", Description: "URI of the resource to embed", Required: true}},
	}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return says("A prompt with an embedded resource",
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
				URI: r.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing.",
			}},
			&mcp.TextContent{Text: "Please process the embedded resource above."}), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Title: "Prompt With Image", Description: "Has an image"},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return says("A prompt with an image", image(), &mcp.TextContent{Text: "Please analyze the image above."}), nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Asks back (SEP-2322)"}, askContext)
}

// says returns a prompt in which the user says each of c.
func says(description string, c ...mcp.Content) *mcp.GetPromptResult {
	res := &mcp.GetPromptResult{Description: description}
	for _, c := range c {
		res.Messages = append(res.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return res
}

func askContext(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if formContent(r.Params.InputResponses, "user_context") != nil {
		return says("A prompt with elicited context", &mcp.TextContent{
			Text: "Context: " + formField(r.Params.InputResponses, "user_context", "context"),
		}), nil
	}
	return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{
		"user_context": form("Please provide context for the prompt", contextForm),
	}}, nil
}
