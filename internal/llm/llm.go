// Package llm sends requests to the providers of models, in the providers' own formats.
//
//	Request ─OpenAI, Anthropic, Gemini→ HTTP, streamed → Reply
//
// Each format is one Model. OpenAI has two: Chat, which local servers also support, and Responses. Anthropic has
// Messages, and Google has Gemini. Package assistant conducts the conversation.
package llm

import (
	"context"
	"encoding/json"
)

// A Model generates replies. Generate makes one attempt. Retrying makes more. The function text is called with each
// piece of the reply's text as it arrives.
type Model interface {
	Generate(ctx context.Context, r Request, text func(string)) (Reply, error)
}

// A Role is the author of a message.
type Role string

// These are the roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    Role
	Text    string          // for a user or the assistant
	Calls   []Call          // the calls that the assistant requests
	Results []Result        // the results of tools
	Raw     json.RawMessage // the assistant's turn in the provider's own format, to be sent back unchanged, or nil
}

// A Call is a call that a model requests. Arguments is the model's text, which may not be valid JSON.
type Call struct {
	ID, Name, Arguments string
}

// A Result is the text that one call returned, or the reason why it was refused.
type Result struct {
	ID, Name, Text string
	Refused        bool
}

// A Declaration is a tool as declared to models. Schema is a JSON Schema of an object.
type Declaration struct {
	Name, Description string
	Schema            json.RawMessage
}

// A Request is a conversation for a model to continue.
type Request struct {
	System   string
	Messages []Message
	Tools    []Declaration
	NoCalls  bool // the model must answer without calling a tool
	Sampling
}

// Sampling contains the sampling parameters. nil and 0 mean the provider's defaults.
type Sampling struct {
	MaxTokens   int // maximum tokens of one reply
	Temperature *float64
	TopP        *float64
}

// A Stop is the reason why a reply ended.
type Stop string

// These are the reasons.
const (
	Done     Stop = "done"     // the model has answered
	Calling  Stop = "calling"  // the model waits for the results of its calls
	Length   Stop = "length"   // the reply has reached the limit of tokens
	Declined Stop = "declined" // the model, or a filter of the provider, refuses
)

// A Reply is the model's turn.
type Reply struct {
	Message Message
	Stop    Stop
	Reason  string // the provider's own name for the reason
	Usage   Usage
}

// A Usage counts tokens as the provider counts them. Cached and Written are parts of Input.
type Usage struct {
	Input   int // tokens read
	Cached  int // tokens in Input that were read from the provider's cache
	Written int // tokens in Input that were written to the cache, if these have a separate price
	Output  int // tokens written, including reasoning
}

// Object returns arguments if they are a JSON object, or an empty object.
func Object(arguments string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) != nil || object == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}
