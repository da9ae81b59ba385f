package llm

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// A Gemini is a model behind generateContent.
type Gemini struct {
	Endpoint
	Model string
}

// keywords are those of JSON Schema that the format knows.
var keywords = []string{"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
	"minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering"}

// A request is the body of generateContent.
type geminiRequest struct {
	System     *geminiContent  `json:"systemInstruction,omitempty"`
	Contents   []geminiContent `json:"contents"`
	Tools      []tools         `json:"tools,omitempty"`
	ToolConfig *toolConfig     `json:"toolConfig,omitempty"`
	Generation *generation     `json:"generationConfig,omitempty"`
}

// A content is one turn, of the role user or model. Parts are kept as they came, because those of the model are signed.
type geminiContent struct {
	Role  string            `json:"role,omitempty"`
	Parts []json.RawMessage `json:"parts"`
}

// A tools is a set of declarations. All are in one.
type tools struct {
	Declarations []declaration `json:"functionDeclarations"`
}

// A declaration is that of one tool.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema"`
}

// A toolConfig says whether the model may call tools: the mode NONE forbids it.
type toolConfig struct {
	Calling struct {
		Mode string `json:"mode"`
	} `json:"functionCallingConfig"`
}

// A generation is how the reply is sampled. Fields that are left out have the provider's default.
type generation struct {
	MaxTokens   int      `json:"maxOutputTokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"topP,omitempty"`
}

// A part is one part of a content. It names only the members that are read or written here.
type part struct {
	Text     *string           `json:"text,omitempty"`
	Thought  bool              `json:"thought,omitempty"`
	Call     *functionCall     `json:"functionCall,omitempty"`
	Response *functionResponse `json:"functionResponse,omitempty"`
}

// A functionCall is a call by the model. Older models send no id.
type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// A functionResponse is the result of a call: {output: …}, or {error: …} if it was refused.
type functionResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

// A chunk is one event of the stream. Usage is that of the whole reply so far.
type chunk struct {
	Candidates []struct {
		Content      geminiContent `json:"content"`
		FinishReason string        `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		Tools      int `json:"toolUsePromptTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// Generate implements [Model].
func (m *Gemini) Generate(ctx context.Context, r Request, text func(string)) (Reply, error) {
	out := geminiReply{text: text, before: calls(r.Messages)}
	out.Message.Role = Assistant
	path := "models/" + url.PathEscape(m.Model) + ":streamGenerateContent?alt=sse"
	if err := m.Stream(ctx, path, map[string]string{"X-Goog-Api-Key": m.Key}, m.request(r), out.read); err != nil {
		return Reply{}, err
	}
	return out.end()
}

// calls counts the calls so far: the format may leave them without ids, so they get numbers.
func calls(messages []Message) int {
	n := 0
	for _, turn := range messages {
		n += len(turn.Calls)
	}
	return n
}

// request returns r in the format. The system's text is apart from the turns, and schemas are reduced to the keywords that the format
// knows.
func (m *Gemini) request(r Request) geminiRequest {
	q := geminiRequest{Contents: []geminiContent{}}
	if r.System != "" {
		q.System = &geminiContent{Parts: []json.RawMessage{encodeJSON(part{Text: &r.System})}}
	}
	if r.Sampling != (Sampling{}) {
		q.Generation = &generation{r.MaxTokens, r.Temperature, r.TopP}
	}
	for _, turn := range r.Messages {
		q.Contents = append(q.Contents, contentOf(turn))
	}
	if len(r.Tools) > 0 {
		q.Tools = []tools{{}}
		for _, t := range r.Tools {
			q.Tools[0].Declarations = append(q.Tools[0].Declarations, declaration{t.Name, t.Description, fitSchema(t.Schema, keywords)})
		}
		if r.NoCalls {
			q.ToolConfig = &toolConfig{}
			q.ToolConfig.Calling.Mode = "NONE"
		}
	}
	return q
}

func encodeJSON(v any) json.RawMessage {
	b, _ := json.Marshal(v) // strings, and JSON that was read before
	return b
}

// contentOf returns a turn as a content. A turn of the model is sent back as it came, in turn.Raw, because its parts are signed. A
// refused call is answered in error, another one in output.
func contentOf(turn Message) geminiContent {
	c := geminiContent{Role: "user"}
	switch turn.Role {
	case Tool:
		for _, r := range turn.Results {
			member := "output"
			if r.Refused {
				member = "error"
			}
			c.Parts = append(c.Parts, encodeJSON(part{Response: &functionResponse{theirs(r.ID), r.Name, map[string]string{member: r.Text}}}))
		}
		return c
	case Assistant:
		c.Role = "model"
		if turn.Raw != nil && json.Unmarshal(turn.Raw, &c.Parts) == nil && len(c.Parts) > 0 {
			return c
		}
	}
	if turn.Text != "" || len(turn.Calls) == 0 {
		c.Parts = append(c.Parts, encodeJSON(part{Text: &turn.Text}))
	}
	for _, call := range turn.Calls {
		c.Parts = append(c.Parts, encodeJSON(part{Call: &functionCall{theirs(call.ID), call.Name, Object(call.Arguments)}}))
	}
	return c
}

// ours begins the ids that calls without one get here. The provider is not sent them.
const ours = "bailiwick-call-"

func theirs(id string) string {
	if len(id) > len(ours) && id[:len(ours)] == ours {
		return ""
	}
	return id
}

// A reply grows with the events of the answer.
type geminiReply struct {
	Reply
	text   func(string)
	before int // calls of earlier turns
	parts  []json.RawMessage
}

// read adds one chunk to the reply: its usage, which is that of the reply so far, and the parts of its one candidate.
func (out *geminiReply) read(e edge.Event) error {
	var c chunk
	if err := json.Unmarshal(e.Data, &c); err != nil {
		return cutOff()
	}
	if len(c.Error) > 0 {
		if f := parseFailure(e.Data); f != nil {
			return f
		}
	}
	if u := c.Usage; u != nil {
		out.Usage = Usage{Input: u.Prompt + u.Tools, Cached: u.Cached, Output: u.Candidates + u.Thoughts}
	}
	if c.Feedback.BlockReason != "" {
		out.Reason = c.Feedback.BlockReason
	}
	if len(c.Candidates) == 0 {
		return nil
	}
	for _, raw := range c.Candidates[0].Content.Parts {
		if err := out.part(raw); err != nil {
			return err
		}
	}
	if reason := c.Candidates[0].FinishReason; reason != "" {
		out.Reason = reason
	}
	return nil
}

// part adds one part of the reply. Thoughts are kept to be sent back and aren't shown. A call without an id gets one here, counted
// through the conversation.
func (out *geminiReply) part(raw json.RawMessage) error {
	var p part
	if err := json.Unmarshal(raw, &p); err != nil {
		return cutOff()
	}
	out.parts = append(out.parts, raw)
	if p.Text != nil && !p.Thought {
		out.Message.Text += *p.Text
		out.text(*p.Text)
	}
	if p.Call != nil {
		id := p.Call.ID
		if id == "" {
			id = ours + strconv.Itoa(out.before+len(out.Message.Calls)+1)
		}
		arguments := string(p.Call.Args)
		if arguments == "" {
			arguments = "{}"
		}
		out.Message.Calls = append(out.Message.Calls, Call{ID: id, Name: p.Call.Name, Arguments: arguments})
	}
	return nil
}

// end returns the reply with the reason why it stopped. Without a reason the stream was cut off. A call that the
// provider couldn't read is a temporary fault. Unknown reasons, such as SAFETY, decline.
func (out *geminiReply) end() (Reply, error) {
	if out.parts != nil {
		out.Message.Raw, _ = json.Marshal(out.parts) // each was decoded
	}
	switch out.Reason {
	case "":
		return Reply{}, cutOff()
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return Reply{}, &Failure{Code: out.Reason, Message: "the model wrote a call that the provider can't read", Temporary: true}
	case "MAX_TOKENS":
		out.Stop = Length
	case "STOP":
		out.Stop = Done
		if len(out.Message.Calls) > 0 {
			out.Stop = Calling
		}
	default:
		out.Stop = Declined
	}
	return out.Reply, nil
}
