package llm

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// A Gemini is a model with the generateContent API.
type Gemini struct {
	Endpoint
	Model string
}

// keywords are the JSON Schema keywords that the format supports.
var keywords = []string{"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
	"minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering"}

// A geminiRequest is the body of generateContent.
type geminiRequest struct {
	System     *geminiContent  `json:"systemInstruction,omitempty"`
	Contents   []geminiContent `json:"contents"`
	Tools      []tools         `json:"tools,omitempty"`
	ToolConfig *toolConfig     `json:"toolConfig,omitempty"`
	Generation *generation     `json:"generationConfig,omitempty"`
}

// A geminiContent is one turn, with the role user or model. Parts are kept unchanged, because the model's parts are
// signed.
type geminiContent struct {
	Role  string            `json:"role,omitempty"`
	Parts []json.RawMessage `json:"parts"`
}

// A tools is a set of declarations. One set contains all declarations.
type tools struct {
	Declarations []declaration `json:"functionDeclarations"`
}

// A declaration declares one tool.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema"`
}

// A toolConfig determines whether the model may call tools. The mode NONE forbids it.
type toolConfig struct {
	Calling struct {
		Mode string `json:"mode"`
	} `json:"functionCallingConfig"`
}

// A generation contains the sampling parameters. Omitted fields have the provider's defaults.
type generation struct {
	MaxTokens   int      `json:"maxOutputTokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"topP,omitempty"`
}

// A part is one part of a content. It contains only the members that this package reads or writes.
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

// A functionResponse is the result of a call: {output: …}, or {error: …} for a refused call.
type functionResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

// A chunk is one event of the stream. Usage is the usage of the whole reply so far.
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

// calls returns the number of calls so far. The provider may omit the ids of calls, so they are numbered.
func calls(messages []Message) int {
	n := 0
	for _, turn := range messages {
		n += len(turn.Calls)
	}
	return n
}

// request returns r in the provider's format. The system text is separate from the turns. Schemas are reduced to the
// keywords that the format supports.
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
	b, _ := json.Marshal(v) // strings, and JSON that was parsed before
	return b
}

// contentOf returns a turn as a content. A turn of the model is sent back unchanged from turn.Raw, because its parts
// are signed. The result of a refused call is in the member error, and other results are in output.
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

// ours is the prefix of the ids that this package gives to calls without an id. These ids are not sent to the
// provider.
const ours = "bailiwick-call-"

func theirs(id string) string {
	if len(id) > len(ours) && id[:len(ours)] == ours {
		return ""
	}
	return id
}

// geminiReply collects the reply from the events of the stream.
type geminiReply struct {
	Reply
	text   func(string)
	before int // number of calls in earlier turns
	parts  []json.RawMessage
}

// read adds one chunk to the reply: the usage of the reply so far, and the parts of the only candidate.
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

// part adds one part of the reply. Thoughts are kept so that they can be sent back, but aren't shown. A call without
// an id gets a number that counts through the conversation.
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

// end returns the reply with the reason why it ended. Without a reason, the stream was cut off. A call that the
// provider couldn't parse is a temporary failure. Unknown reasons, such as SAFETY, mean Declined.
func (out *geminiReply) end() (Reply, error) {
	if out.parts != nil {
		out.Message.Raw, _ = json.Marshal(out.parts) // each part was decoded from JSON
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
