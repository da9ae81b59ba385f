package scripted

import (
	"encoding/json"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/llm"
)

// A j is a JSON object.
type j = map[string]any

func failOpenAI(code, message string, _ int) any {
	return j{"error": j{"message": message, "type": code, "param": nil, "code": code}}
}

// readChat reads a request of OpenAI's Chat Completions. Arguments of calls that the client sends back must be JSON.
func readChat(body []byte) (Conversation, error) {
	var q struct {
		Model    string
		Messages []struct {
			Role      string
			Content   *string
			ToolCalls []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
			ToolCallID string `json:"tool_call_id"`
		}
		Tools []struct {
			Type     string
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
		ToolChoice          string `json:"tool_choice"`
		Stream              bool
		StreamOptions       j        `json:"stream_options"`
		MaxTokens           int      `json:"max_tokens"`
		MaxCompletionTokens int      `json:"max_completion_tokens"`
		Temperature         *float64 `json:"temperature"`
		TopP                *float64 `json:"top_p"`
	}
	if err := strict(body, &q); err != nil {
		return Conversation{}, err
	}
	c := Conversation{Model: q.Model, NoCalls: q.ToolChoice == "none"}
	for _, t := range q.Tools {
		c.Tools = append(c.Tools, llm.Declaration{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	for _, m := range q.Messages {
		text := ""
		if m.Content != nil {
			text = *m.Content
		}
		turn := llm.Message{Role: llm.Role(m.Role), Text: text}
		switch m.Role {
		case "system":
			c.System = text
			continue
		case "tool":
			c.result(llm.Result{ID: m.ToolCallID, Text: text})
			continue
		}
		for _, call := range m.ToolCalls {
			if !json.Valid([]byte(call.Function.Arguments)) {
				return c, fmt.Errorf("the arguments of %s are not JSON", call.ID)
			}
			turn.Calls = append(turn.Calls, llm.Call{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
		}
		c.Messages = append(c.Messages, turn)
	}
	return c, nil
}

// result adds a result to those of the last turn of tools.
func (c *Conversation) result(r llm.Result) {
	if n := len(c.Messages); n > 0 && c.Messages[n-1].Role == llm.Tool {
		c.Messages[n-1].Results = append(c.Messages[n-1].Results, r)
		return
	}
	c.Messages = append(c.Messages, llm.Message{Role: llm.Tool, Results: []llm.Result{r}})
}

// writeChat writes t as the chunks of a Chat Completions stream. These are the role, the text in pieces, the calls, the
// reason, the usage in a chunk without choices, and [DONE].
func writeChat(t Turn, c Conversation) []event {
	var all []event
	chunk := func(choices []any, usage any) {
		all = append(all, event{data: j{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1764000000, "model": c.Model,
			"system_fingerprint": "fp_1", "choices": choices, "usage": usage}})
	}
	delta := func(d j, reason any) {
		chunk([]any{j{"index": 0, "delta": d, "logprobs": nil, "finish_reason": reason}}, nil)
	}
	delta(j{"role": "assistant", "content": "", "refusal": nil}, nil)
	if t.Refusal != "" {
		for _, p := range pieces(t.Refusal, 7) {
			delta(j{"refusal": p}, nil)
		}
	}
	if t.Text != "" {
		for _, p := range pieces(t.Text, 7) {
			delta(j{"content": p}, nil)
		}
	}
	for i, call := range t.Calls {
		delta(j{"tool_calls": []any{j{"index": i, "id": call.ID, "type": "function", "function": j{"name": call.Name, "arguments": ""}}}}, nil)
	}
	for at := 0; ; at++ { // the arguments of parallel calls, in pieces that alternate
		wrote := false
		for i, call := range t.Calls {
			if p := pieces(call.Arguments, 9); at < len(p) {
				delta(j{"tool_calls": []any{j{"index": i, "function": j{"arguments": p[at]}}}}, nil)
				wrote = true
			}
		}
		if !wrote {
			break
		}
	}
	delta(j{}, map[llm.Stop]string{llm.Done: "stop", llm.Calling: "tool_calls", llm.Length: "length", llm.Declined: declinedReason(t)}[t.Stop])
	u := t.Usage
	chunk([]any{}, j{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output, "prompt_tokens_details": j{"cached_tokens": u.Cached}})
	return append(all, event{data: "[DONE]"})
}

// declinedReason is "stop" where the refusal is the model's, and the filter's otherwise.
func declinedReason(t Turn) string {
	if t.Refusal != "" {
		return "stop"
	}
	return "content_filter"
}

// readResponses reads a request of OpenAI's Responses API, whose input is a list of items rather than of turns.
func readResponses(body []byte) (Conversation, error) {
	var q struct {
		Model, Instructions string
		Input               []json.RawMessage
		Tools               []struct {
			Type, Name, Description string
			Parameters              json.RawMessage
			Strict                  *bool
		}
		ToolChoice      string `json:"tool_choice"`
		Stream, Store   bool
		Include         []string
		MaxOutputTokens int      `json:"max_output_tokens"`
		Temperature     *float64 `json:"temperature"`
		TopP            *float64 `json:"top_p"`
	}
	if err := strict(body, &q); err != nil {
		return Conversation{}, err
	}
	c := Conversation{Model: q.Model, System: q.Instructions, NoCalls: q.ToolChoice == "none"}
	for _, t := range q.Tools {
		c.Tools = append(c.Tools, llm.Declaration{Name: t.Name, Description: t.Description, Schema: t.Parameters})
	}
	for i, raw := range q.Input {
		if err := c.item(raw); err != nil {
			return c, fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	return c, nil
}

// item adds one item of the input.
func (c *Conversation) item(raw json.RawMessage) error {
	var item struct {
		Type, Role, Status, ID, Name, Arguments, Output string
		CallID                                          string `json:"call_id"`
		Encrypted                                       string `json:"encrypted_content"`
		Summary                                         []any
		Content                                         json.RawMessage
	}
	if err := strict(raw, &item); err != nil {
		return err
	}
	last := func() *llm.Message {
		if n := len(c.Messages); n == 0 || c.Messages[n-1].Role != llm.Assistant {
			c.Messages = append(c.Messages, llm.Message{Role: llm.Assistant})
		}
		return &c.Messages[len(c.Messages)-1]
	}
	switch item.Type {
	case "function_call":
		last().Calls = append(last().Calls, llm.Call{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
	case "function_call_output":
		c.result(llm.Result{ID: item.CallID, Text: item.Output})
	case "reasoning":
		if item.Encrypted == "" {
			return fmt.Errorf("the item %s is not found: items are not persisted when store is false", item.ID)
		}
	case "message":
		text := ""
		if json.Unmarshal(item.Content, &text) != nil {
			var parts []struct{ Text, Refusal string }
			if err := json.Unmarshal(item.Content, &parts); err != nil {
				return err
			}
			for _, p := range parts {
				text += p.Text + p.Refusal
			}
		}
		if item.Role == "assistant" {
			last().Text += text
		} else {
			c.Messages = append(c.Messages, llm.Message{Role: llm.User, Text: text})
		}
	default:
		return fmt.Errorf("the type %q is unknown", item.Type)
	}
	return nil
}

// A responsesStream numbers the events of one response.
type responsesStream struct {
	all    []event
	output []any
}

func (s *responsesStream) add(kind string, members j) {
	members["type"], members["sequence_number"] = kind, len(s.all)
	s.all = append(s.all, event{kind, members})
}

// message adds the events of one output item of type message. It and its one part are added, come in pieces, and are
// done. A refusal is a part of a type of its own.
func (s *responsesStream) message(text, refusal string) {
	part, kind, member := j{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}, "response.output_text", "text"
	empty := j{"type": "output_text", "text": "", "annotations": []any{}, "logprobs": []any{}}
	if refusal != "" {
		part, empty, kind, member, text = j{"type": "refusal", "refusal": refusal}, j{"type": "refusal", "refusal": ""}, "response.refusal", "refusal", refusal
	}
	at, id := len(s.output), fmt.Sprintf("msg_%d", len(s.output))
	s.add("response.output_item.added", j{"output_index": at, "item": j{"id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": []any{}}})
	s.add("response.content_part.added", j{"item_id": id, "output_index": at, "content_index": 0, "part": empty})
	with := func(members j) j { // the texts of a refusal have no log probabilities
		if refusal == "" {
			members["logprobs"] = []any{}
		}
		return members
	}
	for _, p := range pieces(text, 7) {
		s.add(kind+".delta", with(j{"item_id": id, "output_index": at, "content_index": 0, "delta": p}))
	}
	s.add(kind+".done", with(j{"item_id": id, "output_index": at, "content_index": 0, member: text}))
	s.add("response.content_part.done", j{"item_id": id, "output_index": at, "content_index": 0, "part": part})
	item := j{"id": id, "type": "message", "status": "completed", "role": "assistant", "content": []any{part}}
	s.add("response.output_item.done", j{"output_index": at, "item": item})
	s.output = append(s.output, item)
}

func (s *responsesStream) reasoning(encrypted bool) {
	item := j{"id": "rs_1", "type": "reasoning", "summary": []any{}}
	if encrypted {
		item["encrypted_content"] = "gAAAA-sealed"
	}
	s.add("response.output_item.added", j{"output_index": len(s.output), "item": j{"id": "rs_1", "type": "reasoning", "summary": []any{}}})
	s.add("response.output_item.done", j{"output_index": len(s.output), "item": item})
	s.output = append(s.output, item)
}

// call adds the events of one output item of type function_call, its arguments in pieces.
func (s *responsesStream) call(call llm.Call) {
	at, id := len(s.output), "fc_"+call.ID
	item := func(status, arguments string) j {
		return j{"id": id, "type": "function_call", "status": status, "call_id": call.ID, "name": call.Name, "arguments": arguments}
	}
	s.add("response.output_item.added", j{"output_index": at, "item": item("in_progress", "")})
	for _, p := range pieces(call.Arguments, 9) {
		s.add("response.function_call_arguments.delta", j{"item_id": id, "output_index": at, "delta": p})
	}
	s.add("response.function_call_arguments.done", j{"item_id": id, "output_index": at, "name": call.Name, "arguments": call.Arguments})
	s.add("response.output_item.done", j{"output_index": at, "item": item("completed", call.Arguments)})
	s.output = append(s.output, item("completed", call.Arguments))
}

// writeResponses writes t as the events of a Responses stream, from response.created to response.completed, or response.incomplete if
// the length or a filter ended it. Each event that has the response repeats it as a whole.
func writeResponses(t Turn, c Conversation) []event {
	s := &responsesStream{}
	response := func(status string, usage, incomplete any) j {
		output := s.output
		if output == nil {
			output = []any{}
		}
		r := j{"id": "resp_1", "object": "response", "created_at": 1764000000, "status": status, "model": c.Model, "output": output, "output_text": "",
			"error": nil, "incomplete_details": incomplete, "instructions": c.System, "metadata": j{}, "parallel_tool_calls": true, "temperature": 1, "top_p": 1,
			"tool_choice": "auto", "tools": []any{}}
		if usage != nil {
			r["usage"] = usage
		}
		return j{"response": r}
	}
	s.add("response.created", response("in_progress", nil, nil))
	s.add("response.in_progress", response("in_progress", nil, nil))
	s.reasoning(c.Model != "gpt-4o-mini")
	if t.Text+t.Refusal != "" {
		s.message(t.Text, t.Refusal)
	}
	for _, call := range t.Calls {
		s.call(call)
	}
	kind, status, incomplete := "response.completed", "completed", any(nil)
	switch {
	case t.Stop == llm.Length:
		kind, status, incomplete = "response.incomplete", "incomplete", j{"reason": "max_output_tokens"}
	case t.Stop == llm.Declined && t.Refusal == "":
		kind, status, incomplete = "response.incomplete", "incomplete", j{"reason": "content_filter"}
	}
	u := t.Usage
	s.add(kind, response(status, j{"input_tokens": u.Input, "input_tokens_details": j{"cached_tokens": u.Cached, "cache_write_tokens": 0},
		"output_tokens": u.Output, "output_tokens_details": j{"reasoning_tokens": 0}, "total_tokens": u.Input + u.Output}, incomplete))
	return s.all
}
