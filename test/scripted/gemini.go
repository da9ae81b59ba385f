package scripted

import (
	"encoding/json"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/llm"
)

func failGemini(code, message string, status int) any {
	return j{"error": j{"code": status, "message": message, "status": code}}
}

// A geminiPart is one part of a content in a request.
type geminiPart struct {
	Text             *string
	Thought          bool
	ThoughtSignature string
	FunctionCall     *struct {
		ID, Name string
		Args     json.RawMessage
	}
	FunctionResponse *struct {
		ID, Name string
		Response map[string]string
	}
}

// readGemini reads a request of Gemini's generateContent. The format has no ids, so calls are numbered through the conversation and
// each response belongs to the call of its place in the turn before. One with another name is refused, as Gemini does.
func readGemini(body []byte) (Conversation, error) {
	type content struct {
		Role  string
		Parts []geminiPart
	}
	var q struct {
		SystemInstruction content
		Contents          []content
		Tools             []struct {
			FunctionDeclarations []struct {
				Name, Description    string
				ParametersJsonSchema json.RawMessage
			}
		}
		ToolConfig       struct{ FunctionCallingConfig struct{ Mode string } }
		GenerationConfig struct {
			MaxOutputTokens   int
			Temperature, TopP *float64
		}
	}
	if err := strict(body, &q); err != nil {
		return Conversation{}, err
	}
	c := Conversation{NoCalls: q.ToolConfig.FunctionCallingConfig.Mode == "NONE"}
	for _, p := range q.SystemInstruction.Parts {
		c.System += *p.Text
	}
	for _, set := range q.Tools {
		for _, t := range set.FunctionDeclarations {
			c.Tools = append(c.Tools, llm.Declaration{Name: t.Name, Description: t.Description, Schema: t.ParametersJsonSchema})
		}
	}
	calls := 0
	for i, turn := range q.Contents {
		m := llm.Message{Role: llm.User}
		if turn.Role == "model" {
			m.Role = llm.Assistant
		}
		results := 0
		for _, p := range turn.Parts {
			switch {
			case p.FunctionCall != nil:
				calls++
				m.Calls = append(m.Calls, llm.Call{ID: fmt.Sprint(calls), Name: p.FunctionCall.Name, Arguments: string(p.FunctionCall.Args)})
			case p.FunctionResponse != nil:
				results++
				if m.Role = llm.Tool; i == 0 || results > len(c.Messages[len(c.Messages)-1].Calls) || p.FunctionResponse.Name != c.Messages[len(c.Messages)-1].Calls[results-1].Name {
					return c, fmt.Errorf("contents[%d]: the function responses must be those of the calls before", i)
				}
				text, refused := p.FunctionResponse.Response["error"]
				m.Results = append(m.Results, llm.Result{ID: c.Messages[len(c.Messages)-1].Calls[results-1].ID, Name: p.FunctionResponse.Name,
					Text: text + p.FunctionResponse.Response["output"], Refused: refused})
			case p.Text != nil && !p.Thought:
				m.Text += *p.Text
			}
		}
		c.Messages = append(c.Messages, m)
	}
	return c, nil
}

// writeGemini writes t as the chunks of streamGenerateContent: a thought, the text in pieces, and all calls in one chunk, the first
// signed. A turn that is declined without a text is a chunk without candidates.
func writeGemini(t Turn, c Conversation) []event {
	var all []event
	chunk := func(reason string, parts ...any) {
		candidate := j{"index": 0, "content": j{"role": "model", "parts": parts}}
		if reason != "" {
			candidate["finishReason"] = reason
		}
		all = append(all, event{data: j{"candidates": []any{candidate}, "modelVersion": c.Model, "responseId": "r1",
			"usageMetadata": j{"promptTokenCount": t.Usage.Input, "cachedContentTokenCount": t.Usage.Cached, "candidatesTokenCount": t.Usage.Output,
				"totalTokenCount": t.Usage.Input + t.Usage.Output}}})
	}
	if t.Stop == llm.Declined && t.Refusal+t.Text == "" {
		return []event{{data: j{"promptFeedback": j{"blockReason": "SAFETY"}, "usageMetadata": j{"promptTokenCount": t.Usage.Input, "totalTokenCount": t.Usage.Input}}}}
	}
	chunk("", j{"text": "Let me see.", "thought": true})
	if text := t.Text + t.Refusal; text != "" {
		for _, p := range pieces(text, 7) {
			chunk("", j{"text": p})
		}
	}
	var calls []any
	for i, call := range t.Calls {
		args := json.RawMessage(call.Arguments)
		if !json.Valid(args) { // this format has no place for arguments that aren't JSON
			chunk("MALFORMED_FUNCTION_CALL")
			return all
		}
		f := j{"name": call.Name, "args": args}
		if call.ID != "" {
			f["id"] = call.ID
		}
		part := j{"functionCall": f}
		if i == 0 {
			part["thoughtSignature"] = "c2VhbGVk"
		}
		calls = append(calls, part)
	}
	if calls != nil {
		chunk("", calls...)
	}
	chunk(map[llm.Stop]string{llm.Done: "STOP", llm.Calling: "STOP", llm.Length: "MAX_TOKENS", llm.Declined: "SAFETY"}[t.Stop], j{"text": ""})
	return all
}
