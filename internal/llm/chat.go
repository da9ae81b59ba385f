package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// A Chat is a model with the chat completions API. If Compatible is true, requests contain only members that all
// compatible servers know.
type Chat struct {
	Endpoint
	Model      string
	Compatible bool
}

// A chatRequest is the body of POST /chat/completions.
type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	Tools               []chatTool    `json:"tools,omitempty"`
	ToolChoice          string        `json:"tool_choice,omitempty"`
	Stream              bool          `json:"stream"`
	StreamOptions       *usageWanted  `json:"stream_options,omitempty"`
	MaxTokens           int           `json:"max_tokens,omitempty"`            // the name at compatible servers
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"` // the name at OpenAI
	Temperature         *float64      `json:"temperature,omitempty"`
	TopP                *float64      `json:"top_p,omitempty"`
}

// A usageWanted requests a last event with the usage. Otherwise streams omit it.
type usageWanted struct {
	IncludeUsage bool `json:"include_usage"`
}

// A chatMessage is one turn, or the result of one call. Content is null for a turn that contains only calls.
type chatMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// A chatCall is a call by the model.
type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

// A chatFunction contains the arguments of a call as JSON in a string.
type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// A chatTool is a tool of the type function.
type chatTool struct {
	Type     string       `json:"type"`
	Function chatDeclared `json:"function"`
}

// A chatDeclared is the declaration of a tool. Parameters is a JSON Schema.
type chatDeclared struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// A chatChunk is one event of the stream.
type chatChunk struct {
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Refusal   string `json:"refusal"`
			ToolCalls []struct {
				Index    int          `json:"index"`
				ID       string       `json:"id"`
				Function chatFunction `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached  int `json:"cached_tokens"`
			Written int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// Generate implements [Model].
func (m *Chat) Generate(ctx context.Context, r Request, text func(string)) (Reply, error) {
	out := chatReply{reply: reply{text: text}}
	out.Message.Role = Assistant
	if err := m.Stream(ctx, "chat/completions", bearer(m.Key), m.request(r), out.read); err != nil {
		return Reply{}, err
	}
	return out.end()
}

func bearer(key string) map[string]string {
	if key == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + key}
}

// request returns r in the provider's format. The maximum of tokens has another name at compatible servers, which
// don't know the newer name.
func (m *Chat) request(r Request) chatRequest {
	q := chatRequest{Model: m.Model, Stream: true, StreamOptions: &usageWanted{true}, Temperature: r.Temperature, TopP: r.TopP}
	if m.Compatible {
		q.MaxTokens = r.MaxTokens
	} else {
		q.MaxCompletionTokens = r.MaxTokens
	}
	if r.System != "" {
		q.Messages = append(q.Messages, chatMessage{Role: "system", Content: &r.System})
	}
	for _, turn := range r.Messages {
		q.Messages = append(q.Messages, chatTurn(turn)...)
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, chatTool{"function", chatDeclared{t.Name, t.Description, fitSchema(t.Schema, nil)}})
	}
	if r.NoCalls && len(q.Tools) > 0 {
		q.ToolChoice = "none"
	}
	return q
}

// chatTurn returns the messages of one turn. Each result is a separate message.
func chatTurn(turn Message) []chatMessage {
	switch turn.Role {
	case Tool:
		var all []chatMessage
		for _, r := range turn.Results {
			all = append(all, chatMessage{Role: "tool", ToolCallID: r.ID, Content: &r.Text})
		}
		return all
	case Assistant:
		said := chatMessage{Role: "assistant", Content: &turn.Text}
		for _, c := range turn.Calls {
			said.ToolCalls = append(said.ToolCalls, chatCall{c.ID, "function", chatFunction{c.Name, string(Object(c.Arguments))}})
		}
		if turn.Text == "" && len(turn.Calls) > 0 {
			said.Content = nil
		}
		return []chatMessage{said}
	}
	return []chatMessage{{Role: "user", Content: &turn.Text}}
}

// A chatReply collects the reply from the events of the stream.
type chatReply struct {
	reply
	at []int // the index of each call
}

// read adds one event to the reply. Calls arrive in pieces, by index. An event that isn't JSON means that the stream
// was cut off.
func (out *chatReply) read(e edge.Event) error {
	if string(bytes.TrimSpace(e.Data)) == "[DONE]" {
		return nil
	}
	var c chatChunk
	if err := json.Unmarshal(e.Data, &c); err != nil {
		return cutOff()
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		if f := parseFailure(e.Data); f != nil {
			return f
		}
	}
	if c.Usage != nil {
		out.Usage = Usage{Input: c.Usage.Prompt, Cached: c.Usage.Details.Cached, Written: c.Usage.Details.Written, Output: c.Usage.Completion}
	}
	for _, choice := range c.Choices {
		out.say(choice.Delta.Content)
		out.say(choice.Delta.Refusal)
		out.refused = out.refused || choice.Delta.Refusal != ""
		for _, piece := range choice.Delta.ToolCalls {
			call := out.call(piece.Index, piece.ID)
			call.Name += piece.Function.Name
			call.Arguments += piece.Function.Arguments
		}
		if choice.FinishReason != "" {
			out.Reason = choice.FinishReason
		}
	}
	return nil
}

func (out *chatReply) say(piece string) {
	if piece != "" {
		out.Message.Text += piece
		out.text(piece)
	}
}

// call returns the call to which a piece belongs. Some servers give every call the index 0 and a separate id.
func (out *chatReply) call(index int, id string) *Call {
	for i := len(out.at) - 1; i >= 0; i-- {
		if c := &out.Message.Calls[i]; out.at[i] == index && (id == "" || c.ID == id || c.ID == "") {
			if id != "" {
				c.ID = id
			}
			return c
		}
	}
	out.at = append(out.at, index)
	out.Message.Calls = append(out.Message.Calls, Call{ID: id})
	return &out.Message.Calls[len(out.Message.Calls)-1]
}

// end returns the reply. Without a finish reason, the stream was cut off. Some small servers send calls without an
// id. These calls get an id by their position.
func (out *chatReply) end() (Reply, error) {
	if out.Reason == "" {
		return Reply{}, cutOff()
	}
	for i := range out.Message.Calls {
		if c := &out.Message.Calls[i]; c.ID == "" {
			c.ID = "call_" + strconv.Itoa(i+1)
		}
	}
	return out.finish(out.Reason == "length"), nil
}
