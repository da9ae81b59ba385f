package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// An Answer is the result of a tool.
type Answer struct {
	Text       string          // for people and models, or "" if there is none
	Structured json.RawMessage // the exact bytes from the gateway, or nil if there is none
}

// Call calls a tool. arguments is a JSON object. If the tool's result is an error, Call returns a *Refusal.
func (c *Client) Call(ctx context.Context, name string, arguments json.RawMessage) (Answer, error) {
	var res struct {
		Content    []content       `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		Meta       struct {
			Problem json.RawMessage `json:"problem"` // problem.MetaName
		} `json:"_meta"`
	}
	params, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		return Answer{}, problem.New(problem.InvalidArgument, "the arguments are not JSON")
	}
	if err := c.ask(ctx, "tools/call", params, &res); err != nil {
		return Answer{}, asRefusal(err)
	}
	a := Answer{Structured: res.Structured}
	for _, part := range res.Content {
		a.Text += part.Text
	}
	if res.IsError {
		if r, ok := ReadRefusal(res.Meta.Problem); ok {
			return Answer{}, r
		}
		// whether the call can be repeated is unknown
		return Answer{}, &Refusal{Problem: &problem.Error{Code: problem.Upstream, Detail: a.Text, Lasting: true}}
	}
	return a, nil
}

// A content is one part of a result or of a prompt's message. Text is empty for other kinds of parts.
type content struct {
	Text string `json:"text"`
}

// ask sends a request and reads its result into v.
func (c *Client) ask(ctx context.Context, method string, params json.RawMessage, v any) error {
	result, err := c.Dispatch(ctx, method, params)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(result, v); err != nil {
		return fmt.Errorf("read the answer to %s: %w", method, err)
	}
	return nil
}

// A Tool is a callable tool.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  *Annotations    `json:"annotations,omitempty"`

	Meta struct {
		Category string `json:"category,omitempty"`
		Listed   *bool  `json:"listed,omitempty"` // false for a tool that is hidden from other clients
	} `json:"_meta,omitzero"`
}

// IsUnlisted reports whether the gateway omits the tool from the list for other clients.
func (t Tool) IsUnlisted() bool { return t.Meta.Listed != nil && !*t.Meta.Listed }

// Reads reports whether the gateway declares that the tool changes nothing and proposes no change.
func (t Tool) Reads() bool { return t.Annotations != nil && t.Annotations.ReadOnly }

// Annotations are the gateway's declaration of a tool's effects. A missing hint means the more risky case.
type Annotations struct {
	ReadOnly    bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// A Prompt is a prompt template with which a person can start.
type Prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Arguments   []Argument `json:"arguments,omitempty"`
}

// An Argument is an argument of a prompt.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// A Resource is a document of the gateway, or a template whose URI contains names in braces.
type Resource struct {
	URI         string `json:"uri,omitempty"`
	Template    string `json:"uriTemplate,omitempty"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Tools lists the callable tools. Listed tools come first, then tools that can only be called by name.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	all, err := list[Tool](ctx, c, "tools/list", "tools")
	slices.SortStableFunc(all, func(a, b Tool) int { return cmp.Compare(listedFirst(a), listedFirst(b)) })
	return all, err
}

// listedFirst returns the sort key of a tool in Tools: 0 for a listed tool, 1 for others.
func listedFirst(t Tool) int {
	if t.IsUnlisted() {
		return 1
	}
	return 0
}

// Prompts lists the available prompts.
func (c *Client) Prompts(ctx context.Context) ([]Prompt, error) {
	return list[Prompt](ctx, c, "prompts/list", "prompts")
}

// Resources lists the readable documents, followed by templates for others.
func (c *Client) Resources(ctx context.Context) ([]Resource, error) {
	all, err := list[Resource](ctx, c, "resources/list", "resources")
	if err != nil {
		return nil, err
	}
	templates, err := list[Resource](ctx, c, "resources/templates/list", "resourceTemplates")
	return append(all, templates...), err
}

// list reads all pages of a list. member is the name of the list in a page.
func list[T any](ctx context.Context, c *Client, method, member string) ([]T, error) {
	all, cursor := []T{}, ""
	for {
		members := map[string]any{"_meta": map[string]string{"dev.bailiwick/tools": "full"}} // other lists ignore this
		if cursor != "" {
			members["cursor"] = cursor
		}
		params, _ := json.Marshal(members) // never fails for strings
		var page map[string]json.RawMessage
		if err := c.ask(ctx, method, params, &page); err != nil {
			return nil, err
		}
		var some []T
		if err := json.Unmarshal(page[member], &some); err != nil {
			return nil, fmt.Errorf("read the answer to %s: %w", method, err)
		}
		all = append(all, some...)
		before := cursor
		cursor = ""
		_ = json.Unmarshal(page["nextCursor"], &cursor) // it is missing on the last page
		if cursor == "" || cursor == before {
			return all, nil
		}
	}
}

// Render returns the text of a prompt's messages, separated by blank lines.
func (c *Client) Render(ctx context.Context, name string, arguments map[string]string) (string, error) {
	params, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		return "", fmt.Errorf("encode the arguments: %w", err)
	}
	var res struct {
		Messages []struct {
			Content content `json:"content"`
		} `json:"messages"`
	}
	if err := c.ask(ctx, "prompts/get", params, &res); err != nil {
		return "", asRefusal(err)
	}
	text := ""
	for i, m := range res.Messages {
		if i > 0 {
			text += "\n\n"
		}
		text += m.Content.Text
	}
	return text, nil
}

// Read returns the text of a document.
func (c *Client) Read(ctx context.Context, uri string) (string, error) {
	params, _ := json.Marshal(map[string]string{"uri": uri}) // never fails for a string
	var res struct {
		Contents []content `json:"contents"`
	}
	if err := c.ask(ctx, "resources/read", params, &res); err != nil {
		return "", asRefusal(err)
	}
	text := ""
	for _, part := range res.Contents {
		text += part.Text
	}
	return text, nil
}
