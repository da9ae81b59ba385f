package scripted

import (
	"encoding/json"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/llm"
)

func failMessages(code, message string, _ int) any {
	return j{"type": "error", "error": j{"type": code, "message": message}, "request_id": "req_1"}
}

// readMessages reads a request of Anthropic's Messages API. max_tokens is required there, and no content may be empty.
func readMessages(body []byte) (Conversation, error) {
	var q struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		System    []struct {
			Type, Text string
			Cache      j `json:"cache_control"`
		}
		Messages []struct {
			Role    string
			Content []json.RawMessage
		}
		Tools []struct {
			Name, Description string
			InputSchema       json.RawMessage `json:"input_schema"`
		}
		ToolChoice struct{ Type string } `json:"tool_choice"`
		Stream     bool
	}
	if err := strict(body, &q); err != nil {
		return Conversation{}, err
	}
	c := Conversation{Model: q.Model, NoCalls: q.ToolChoice.Type == "none"}
	if q.MaxTokens < 1 {
		return c, fmt.Errorf("max_tokens: Field required")
	}
	for _, b := range q.System {
		c.System += b.Text
	}
	for _, t := range q.Tools {
		c.Tools = append(c.Tools, llm.Declaration{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	for i, m := range q.Messages {
		turn := llm.Message{Role: llm.Role(m.Role)}
		if len(m.Content) == 0 {
			return c, fmt.Errorf("messages[%d]: content is empty", i)
		}
		for _, raw := range m.Content {
			if err := turnBlock(&turn, raw); err != nil {
				return c, fmt.Errorf("messages[%d]: %w", i, err)
			}
		}
		c.Messages = append(c.Messages, turn)
	}
	return c, nil
}

// turnBlock adds one block to a turn.
func turnBlock(turn *llm.Message, raw json.RawMessage) error {
	var b struct {
		Type, ID, Name, Thinking, Signature string
		Text                                *string
		Input                               json.RawMessage
		ToolUseID                           string `json:"tool_use_id"`
		Content                             *string
		IsError                             bool `json:"is_error"`
		Cache                               j    `json:"cache_control"`
		Citations                           any
		Caller                              any
	}
	if err := strict(raw, &b); err != nil {
		return err
	}
	switch b.Type {
	case "text":
		if b.Text == nil || *b.Text == "" {
			return fmt.Errorf("text content blocks must be non-empty")
		}
		turn.Text += *b.Text
	case "thinking":
		if b.Signature == "" || turn.Role != llm.Assistant {
			return fmt.Errorf("thinking without a signature")
		}
	case "tool_use":
		var object map[string]any
		if turn.Role != llm.Assistant || json.Unmarshal(b.Input, &object) != nil {
			return fmt.Errorf("tool_use.input: Input should be a valid dictionary")
		}
		turn.Calls = append(turn.Calls, llm.Call{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
	case "tool_result":
		if turn.Text != "" || b.Content == nil {
			return fmt.Errorf("tool_result must come before text, with content")
		}
		turn.Role = llm.Tool
		turn.Results = append(turn.Results, llm.Result{ID: b.ToolUseID, Text: *b.Content, Refused: b.IsError})
	default:
		return fmt.Errorf("the block %q is unknown", b.Type)
	}
	return nil
}

// writeMessages writes t as the events of a Messages stream: a thinking block with its signature, the text, one block for each call.
// Input tokens are counted without those read from or written to the cache, as Anthropic does.
func writeMessages(t Turn, c Conversation) []event {
	var all []event
	n := 0
	add := func(kind string, members j) {
		members["type"] = kind
		all = append(all, event{kind, members})
	}
	block := func(start j, deltas ...j) {
		add("content_block_start", j{"index": n, "content_block": start})
		for _, d := range deltas {
			add("content_block_delta", j{"index": n, "delta": d})
		}
		add("content_block_stop", j{"index": n})
		n++
	}
	u := t.Usage
	usage := j{"input_tokens": u.Input - u.Cached - u.Written, "cache_creation_input_tokens": u.Written, "cache_read_input_tokens": u.Cached, "output_tokens": 1,
		"cache_creation": nil, "inference_geo": nil, "output_tokens_details": nil, "server_tool_use": nil, "service_tier": "standard", "speed": "standard"}
	add("message_start", j{"message": j{"id": "msg_1", "type": "message", "role": "assistant", "model": c.Model, "content": []any{}, "container": nil, "diagnostics": nil,
		"stop_details": nil, "stop_reason": nil, "stop_sequence": nil, "usage": usage}})
	add("ping", j{})
	block(j{"type": "thinking", "thinking": "", "signature": ""},
		j{"type": "thinking_delta", "thinking": "Let me see."}, j{"type": "signature_delta", "signature": "sealed"})
	if text := t.Text + t.Refusal; text != "" {
		var deltas []j
		for _, p := range pieces(text, 7) {
			deltas = append(deltas, j{"type": "text_delta", "text": p})
		}
		block(j{"type": "text", "text": "", "citations": nil}, deltas...)
	}
	for _, call := range t.Calls {
		var deltas []j
		for _, p := range pieces(call.Arguments, 9) {
			deltas = append(deltas, j{"type": "input_json_delta", "partial_json": p})
		}
		block(j{"type": "tool_use", "id": call.ID, "name": call.Name, "input": j{}, "caller": j{"type": "direct"}}, deltas...)
	}
	reason := map[llm.Stop]string{llm.Done: "end_turn", llm.Calling: "tool_use", llm.Length: "max_tokens", llm.Declined: "refusal"}[t.Stop]
	add("message_delta", j{"delta": j{"stop_reason": reason, "stop_sequence": nil, "stop_details": nil, "container": nil},
		"usage": j{"output_tokens": u.Output, "input_tokens": nil, "cache_creation_input_tokens": nil, "cache_read_input_tokens": nil, "server_tool_use": nil, "output_tokens_details": nil}})
	add("message_stop", j{})
	return all
}
