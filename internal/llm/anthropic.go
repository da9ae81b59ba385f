package llm

import (
	"context"
	"encoding/json"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// version is the version of the format.
const version = "2023-06-01"

// defaultMaxTokens is the maximum length of a reply if the request sets no limit. The format requires a number.
const defaultMaxTokens = 8192

// A Messages is a model with the messages format. The format no longer supports temperature and top_p.
type Messages struct {
	Endpoint
	Model string
}

// A request is the body of POST /v1/messages.
type request struct {
	Model      string      `json:"model"`
	MaxTokens  int         `json:"max_tokens"`
	System     []block     `json:"system,omitempty"`
	Messages   []message   `json:"messages"`
	Tools      []tool      `json:"tools,omitempty"`
	ToolChoice *toolChoice `json:"tool_choice,omitempty"`
	Stream     bool        `json:"stream"`
}

// A toolChoice determines whether the model may call tools: auto or none.
type toolChoice struct {
	Type string `json:"type"`
}

// A message is one turn, with the role user or assistant.
type message struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

// A tool is a declaration of a tool.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// A block is one part of a message that this client writes. The model's own parts are sent back unchanged.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   *string         `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cache          `json:"cache_control,omitempty"`
}

// A cache marks the end of a part that the provider can read from its cache.
type cache struct {
	Type string `json:"type"`
}

// Generate implements [Model].
func (m *Messages) Generate(ctx context.Context, r Request, text func(string)) (Reply, error) {
	out := anthropicReply{text: text}
	out.Message.Role = Assistant
	header := map[string]string{"X-Api-Key": m.Key, "Anthropic-Version": version}
	if err := m.Stream(ctx, "messages", header, m.request(r), out.read); err != nil {
		return Reply{}, err
	}
	return out.end()
}

// request returns r in the provider's format. Tools, the system text and the turns so far are marked for the cache.
// max_tokens is always set, because the format requires it.
func (m *Messages) request(r Request) request {
	q := request{Model: m.Model, MaxTokens: r.MaxTokens, Stream: true, Messages: []message{}}
	if q.MaxTokens == 0 {
		q.MaxTokens = defaultMaxTokens
	}
	if r.System != "" {
		// The tools come before the system text, so they are cached too.
		q.System = []block{{Type: "text", Text: r.System, Cache: &cache{"ephemeral"}}}
	}
	for i, turn := range r.Messages {
		q.Messages = append(q.Messages, message{role(turn.Role), content(turn, i == len(r.Messages)-1)})
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, tool{t.Name, t.Description, fitSchema(t.Schema, nil)})
	}
	if r.NoCalls && len(q.Tools) > 0 {
		q.ToolChoice = &toolChoice{"none"}
	}
	return q
}

func role(r Role) string {
	if r == Assistant {
		return "assistant"
	}
	return "user"
}

// content returns the blocks of a turn. The last turn is marked, so that the next request finds the conversation up
// to it in the cache.
func content(turn Message, last bool) []json.RawMessage {
	var all []json.RawMessage
	if turn.Raw != nil && json.Unmarshal(turn.Raw, &all) == nil && len(all) > 0 {
		return all
	}
	var blocks []block
	for _, r := range turn.Results {
		blocks = append(blocks, block{Type: "tool_result", ToolUseID: r.ID, Content: &r.Text, IsError: r.Refused})
	}
	if turn.Text != "" || len(turn.Results)+len(turn.Calls) == 0 {
		blocks = append(blocks, block{Type: "text", Text: orSilence(turn.Text)})
	}
	for _, c := range turn.Calls {
		blocks = append(blocks, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: Object(c.Arguments)})
	}
	if last {
		blocks[len(blocks)-1].Cache = &cache{"ephemeral"}
	}
	for _, b := range blocks {
		encoded, _ := json.Marshal(b) // strings, and JSON that was parsed before
		all = append(all, encoded)
	}
	return all
}

// orSilence returns text, or a placeholder for an empty text, which the format refuses.
func orSilence(text string) string {
	if text == "" {
		return "…"
	}
	return text
}

// A usage counts tokens. Input doesn't include tokens that were read from the cache or written to it. Output is nil
// if an event doesn't count it.
type usage struct {
	Input   int  `json:"input_tokens"`
	Written int  `json:"cache_creation_input_tokens"`
	Cached  int  `json:"cache_read_input_tokens"`
	Output  *int `json:"output_tokens"`
}

// An event is one event of the stream, with the used members of all types.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block map[string]any `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Partial    string `json:"partial_json"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// anthropicReply collects the reply from the events of the stream.
type anthropicReply struct {
	Reply
	text   func(string)
	blocks []map[string]any // in the provider's format, to be sent back
	inputs []string         // the received pieces of JSON of each block that is a call
	ended  bool
}

// read adds one event to the reply. The input count in message_start doesn't include tokens that were read from or
// written to the cache. So read adds the three counts.
func (out *anthropicReply) read(ev edge.Event) error {
	var e event
	if err := json.Unmarshal(ev.Data, &e); err != nil {
		return cutOff()
	}
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		out.Usage = Usage{Input: u.Input + u.Cached + u.Written, Cached: u.Cached, Written: u.Written}
		out.count(u.Output)
	case "content_block_start":
		out.blocks, out.inputs = append(out.blocks, e.Block), append(out.inputs, "")
		if piece, _ := e.Block["text"].(string); piece != "" {
			out.text(piece)
		}
	case "content_block_delta":
		return out.piece(e)
	case "message_delta":
		out.Reason = e.Delta.StopReason
		out.count(e.Usage.Output)
	case "message_stop":
		out.ended = true
	case "error":
		if f := parseFailure(ev.Data); f != nil {
			return f
		}
		return cutOff()
	}
	return nil
}

// count sets the number of tokens written so far.
func (out *anthropicReply) count(output *int) {
	if output != nil {
		out.Usage.Output = *output
	}
}

// piece adds a delta to its block. Blocks are kept unchanged, including thinking with its signature, so that they can
// be sent back. Unknown deltas are skipped.
func (out *anthropicReply) piece(e event) error {
	if e.Index < 0 || e.Index >= len(out.blocks) {
		return cutOff()
	}
	extend := func(member, piece string) {
		before, _ := out.blocks[e.Index][member].(string)
		out.blocks[e.Index][member] = before + piece
	}
	switch e.Delta.Type {
	case "text_delta":
		extend("text", e.Delta.Text)
		out.text(e.Delta.Text)
	case "input_json_delta":
		out.inputs[e.Index] += e.Delta.Partial
	case "thinking_delta":
		extend("thinking", e.Delta.Thinking)
	case "signature_delta":
		extend("signature", e.Delta.Signature)
	}
	return nil
}

// end returns the reply with the reason why it ended. If there was no message_stop, the stream was cut off. Blocks
// are sent back unchanged, except empty texts.
func (out *anthropicReply) end() (Reply, error) {
	if !out.ended || out.Reason == "" {
		return Reply{}, cutOff()
	}
	var whole []map[string]any
	for i, b := range out.blocks {
		text, _ := b["text"].(string)
		switch b["type"] {
		case "text":
			out.Message.Text += text
			if text == "" {
				continue // the provider sends empty texts but refuses them
			}
		case "tool_use":
			id, _ := b["id"].(string)
			name, _ := b["name"].(string)
			out.Message.Calls = append(out.Message.Calls, Call{ID: id, Name: name, Arguments: out.inputs[i]})
			b["input"] = Object(out.inputs[i])
		}
		whole = append(whole, b)
	}
	if whole != nil {
		out.Message.Raw, _ = json.Marshal(whole) // all parts were decoded from JSON
	}
	switch {
	case out.Reason == "refusal":
		out.Stop = Declined
	case out.Reason == "max_tokens" || out.Reason == "model_context_window_exceeded":
		out.Stop = Length
	case len(out.Message.Calls) > 0:
		out.Stop = Calling
	default:
		out.Stop = Done
	}
	return out.Reply, nil
}
