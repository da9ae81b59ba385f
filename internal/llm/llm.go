// Package llm talks to the providers of models, in their own formats.
//
//	Request ─OpenAI, Anthropic, Gemini→ HTTP, streamed → Reply
//
// A provider is one Model. OpenAI has two: Chat, which local servers speak too, and Responses. Anthropic has Messages,
// and Google has Gemini. Package assistant holds the conversation.
package llm

import (
	"context"
	"encoding/json"
)

// A Model generates replies. Generate makes one attempt: Retry makes more. text is called with the pieces of the reply's
// text as they come.
type Model interface {
	Generate(ctx context.Context, r Request, text func(string)) (Reply, error)
}

// A Role is whose turn a message is.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    Role
	Text    string          // of a user or the assistant
	Calls   []Call          // the calls that the assistant wants
	Results []Result        // the results of tools
	Raw     json.RawMessage // the assistant's turn in the provider's own form, which goes back unchanged, or nil
}

// A Call is a call that a model wants. Arguments is its text, which may not be JSON.
type Call struct {
	ID, Name, Arguments string
}

// A Result is the text that one call gave, or why it was refused.
type Result struct {
	ID, Name, Text string
	Refused        bool
}

// A Declaration is a tool as models are shown it. Schema is a JSON Schema of an object.
type Declaration struct {
	Name, Description string
	Schema            json.RawMessage
}

// A Request is a conversation that a model continues.
type Request struct {
	System   string
	Messages []Message
	Tools    []Declaration
	NoCalls  bool // the model must answer without calling anything
	Sampling
}

// Sampling is how a model chooses its words. nil and 0 leave a parameter to the provider.
type Sampling struct {
	MaxTokens   int // of one reply
	Temperature *float64
	TopP        *float64
}

// A Stop is why a reply ended.
type Stop string

// The reasons.
const (
	Done     Stop = "done"     // the model has answered
	Calling  Stop = "calling"  // it waits for the results of its calls
	Length   Stop = "length"   // it has reached the limit of tokens
	Declined Stop = "declined" // it, or a filter of the provider, refuses
)

// A Reply is the model's turn.
type Reply struct {
	Message Message
	Stop    Stop
	Reason  string // the provider's own word for why it stopped
	Usage   Usage
}

// A Usage counts tokens as the provider does. Cached and Written are parts of Input.
type Usage struct {
	Input   int // tokens read
	Cached  int // those of Input that came from the provider's cache
	Written int // those of Input that were written into the cache, where that has a price of its own
	Output  int // tokens written, reasoning included
}

// Object returns arguments if they are a JSON object, or an empty object.
func Object(arguments string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) != nil || object == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}
