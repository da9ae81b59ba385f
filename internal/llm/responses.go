package llm

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// A Responses is a model with the responses API. The provider stores nothing, because each request contains the whole
// conversation.
type Responses struct {
	Endpoint
	Model string
}

// A responsesRequest is the body of POST /responses.
type responsesRequest struct {
	Model        string            `json:"model"`
	Instructions string            `json:"instructions,omitempty"`
	Input        []json.RawMessage `json:"input"`
	Tools        []responsesTool   `json:"tools,omitempty"`
	ToolChoice   string            `json:"tool_choice,omitempty"`
	Stream       bool              `json:"stream"`
	Store        bool              `json:"store"`
	Include      []string          `json:"include,omitempty"`
	MaxTokens    int               `json:"max_output_tokens,omitempty"`
	Temperature  *float64          `json:"temperature,omitempty"`
	TopP         *float64          `json:"top_p,omitempty"`
}

// A responsesTool is a declaration of a tool. Strict is always false, because strict mode supports only a part of
// JSON Schema.
type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// A responsesInput is one item of the input: a message, or the result of a call.
type responsesInput struct {
	Type    string  `json:"type"`
	Role    string  `json:"role,omitempty"`
	Content string  `json:"content,omitempty"`
	CallID  string  `json:"call_id,omitempty"`
	Output  *string `json:"output,omitempty"`
}

// A responsesItem is one item of the output. It contains only the members that this package reads.
type responsesItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Encrypted string `json:"encrypted_content"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

// A responsesEvent is one event of the stream, with the used members of all types.
type responsesEvent struct {
	Type     string          `json:"type"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Code     string          `json:"code"`    // for an error
	Message  string          `json:"message"` // for an error
	Response struct {
		Error *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage struct {
			Input   int `json:"input_tokens"`
			Output  int `json:"output_tokens"`
			Details struct {
				Cached  int `json:"cached_tokens"`
				Written int `json:"cache_write_tokens"`
			} `json:"input_tokens_details"`
		} `json:"usage"`
	} `json:"response"`
}

// Generate implements [Model].
func (m *Responses) Generate(ctx context.Context, r Request, text func(string)) (Reply, error) {
	out := responsesReply{reply: reply{text: text}}
	out.Message.Role = Assistant
	if err := m.Stream(ctx, "responses", bearer(m.Key), m.request(r), out.read); err != nil {
		return Reply{}, err
	}
	return out.end()
}

// request returns r in the provider's format, with store false so that the provider stores nothing.
func (m *Responses) request(r Request) responsesRequest {
	q := responsesRequest{Model: m.Model, Instructions: r.System, Stream: true, MaxTokens: r.MaxTokens, Temperature: r.Temperature, TopP: r.TopP, Input: []json.RawMessage{}}
	if reasons(m.Model) {
		// The reasoning is sent back, because the provider stores nothing.
		q.Include = []string{"reasoning.encrypted_content"}
	}
	for _, turn := range r.Messages {
		q.Input = append(q.Input, responsesTurn(turn)...)
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, responsesTool{"function", t.Name, t.Description, fitSchema(t.Schema, nil), false})
	}
	if r.NoCalls && len(q.Tools) > 0 {
		q.ToolChoice = "none"
	}
	return q
}

// reasons reports whether a model reasons before it answers. Other models refuse a request for their reasoning.
func reasons(model string) bool {
	for _, plain := range []string{"gpt-3", "gpt-4", "chatgpt-4"} {
		if strings.HasPrefix(model, plain) {
			return false
		}
	}
	return true
}

// responsesTurn returns the items of a turn. A turn of the model is sent back unchanged from turn.Raw, including its
// reasoning. A turn from another provider is written from its text and calls.
func responsesTurn(turn Message) []json.RawMessage {
	var items []json.RawMessage
	add := func(v any) {
		b, _ := json.Marshal(v) // plain strings always encode
		items = append(items, b)
	}
	switch {
	case turn.Role == Tool:
		for _, r := range turn.Results {
			add(responsesInput{Type: "function_call_output", CallID: r.ID, Output: &r.Text})
		}
	case turn.Raw != nil && json.Unmarshal(turn.Raw, &items) == nil:
	default:
		if turn.Text != "" || len(turn.Calls) == 0 {
			add(responsesInput{Type: "message", Role: string(turn.Role), Content: turn.Text})
		}
		for _, c := range turn.Calls {
			add(map[string]string{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": string(Object(c.Arguments))})
		}
	}
	return items
}

// A responsesReply collects the reply from the events of the stream.
type responsesReply struct {
	reply
	items []json.RawMessage
	ended bool
}

// read adds one event to the reply. Text is passed on as it arrives. An item is added when it is complete. A failure
// of the provider is temporary only if its code means that a later attempt may succeed.
func (out *responsesReply) read(ev edge.Event) error {
	var e responsesEvent
	if err := json.Unmarshal(ev.Data, &e); err != nil {
		if string(ev.Data) == "[DONE]" {
			return nil
		}
		return cutOff()
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		out.text(e.Delta)
	case "response.output_item.done":
		return out.item(e.Item)
	case "response.completed", "response.incomplete":
		out.ended, out.Reason = true, e.Response.Incomplete.Reason
		u := e.Response.Usage
		out.Usage = Usage{Input: u.Input, Cached: u.Details.Cached, Written: u.Details.Written, Output: u.Output}
	case "response.failed":
		f := &Failure{Message: "the provider could not answer", Temporary: true}
		if said := e.Response.Error; said != nil {
			f.Code, f.Message = said.Code, said.Message
			f.Temporary = said.Code == "server_error" || said.Code == "rate_limit_exceeded"
		}
		return f
	case "error":
		if f := parseFailure(ev.Data); f != nil {
			return f
		}
		return &Failure{Code: e.Code, Message: e.Message, Temporary: e.Code == "server_error" || e.Code == "rate_limit_exceeded"}
	}
	return nil
}

// item adds one complete item of the output.
func (out *responsesReply) item(raw json.RawMessage) error {
	var item responsesItem
	if err := json.Unmarshal(raw, &item); err != nil {
		return cutOff()
	}
	switch item.Type {
	case "message":
		for _, part := range item.Content {
			out.Message.Text += part.Text + part.Refusal
			out.refused = out.refused || part.Refusal != ""
		}
	case "function_call":
		out.Message.Calls = append(out.Message.Calls, Call{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
	case "reasoning":
		if item.Encrypted == "" {
			return nil // the provider would search for it in its storage, which is empty
		}
	}
	out.items = append(out.items, raw)
	return nil
}

func (out *responsesReply) end() (Reply, error) {
	if !out.ended {
		return Reply{}, cutOff()
	}
	out.Message.Raw, _ = json.Marshal(out.items) // each item was decoded from JSON
	return out.finish(out.Reason == "max_output_tokens"), nil
}
