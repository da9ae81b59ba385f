// Package assistant has a conversation about an application: a model asks, the tools of a gateway answer.
//
// It is an agent like any other: it reaches the application through a client of the gateway, so it sees the views of
// the token that the client has, and what it wants written waits for people. It refuses to propose a write that nobody
// confirmed, and to be made without a provider, a key or an address that can work.
package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/assistant/llm"
	"github.com/bailiwick-dev/bailiwick/internal/client"
)

// A Client reaches a gateway; Dial and Stream make one. Call is called side by side.
type Client interface {
	Close() error
	Tools(context.Context) ([]client.Tool, error)
	Call(ctx context.Context, tool string, arguments json.RawMessage) (client.Answer, error)
	Instructions() string
}

// Options say what an assistant is. Client and Provider are required; zero values of the rest take what is in parentheses.
type Options struct {
	Client   Client
	Provider Provider
	System   string        // what the model is told beside how to work here (nothing)
	Sampling Sampling      // how it chooses its words (the provider's defaults)
	Timeout  time.Duration // how long the provider may be silent (90 s)

	MaxRounds int // of calls for one question; then the model answers with what it has (8)
	CompactAt int // tokens of a request from which on the conversation is compacted before the next question (never)

	Prices map[string]Price // by model (Prices())
	Hooks  Hooks
	HTTP   *http.Client // its transport reaches the provider (the default one)
}

// Sampling is how a model chooses its words. nil and 0 leave a parameter to the provider.
type Sampling struct {
	MaxTokens   int // of one reply
	Temperature *float64
	TopP        *float64
}

// Hooks are called while a question is answered, one at a time. nil hears of nothing.
type Hooks struct {
	OnText   func(piece string) // of the model's text, as it is written
	OnCall   func(Call)         // before a call
	OnResult func(Call)         // after it, with its result
	OnNotice func(Notice)

	// Confirm is asked before a call of a tool that may propose a write. nil declines all of them.
	Confirm func(context.Context, Call) (bool, error)
}

// A Notice is something that happens beside the conversation: another attempt, a compaction.
type Notice struct {
	Text    string
	Restart bool // what OnText got since the last call counts for nothing: the model begins anew
}

// An Assistant is one conversation. Its methods may be called side by side; questions wait for each other.
type Assistant struct {
	options Options
	model   llm.Model
	name    string // of the model
	price   *Price // nil for unknown

	hooking sync.Mutex // one hook at a time

	mu      sync.Mutex
	history []llm.Message
	usage   Usage
	began   time.Time // when the conversation did
	context int       // tokens of the last request and its reply
}

// New returns an assistant. It fails with what is missing or wrong, by name; nothing is sent yet.
func New(o Options) (*Assistant, error) {
	if o.Client == nil {
		return nil, errors.New("assistant: Options.Client is missing: connect to a gateway with Dial")
	}
	if o.MaxRounds == 0 {
		o.MaxRounds = 8
	}
	if o.Timeout == 0 {
		o.Timeout = 90 * time.Second
	}
	if o.MaxRounds < 0 || o.Timeout < 0 || o.CompactAt < 0 || o.Sampling.MaxTokens < 0 {
		return nil, errors.New("assistant: MaxRounds, Timeout, CompactAt and Sampling.MaxTokens can't be negative")
	}
	if o.Prices == nil {
		o.Prices = Prices()
	}
	if kinds()[o.Provider.Name].noSampling && (o.Sampling.Temperature != nil || o.Sampling.TopP != nil) {
		return nil, fmt.Errorf("the provider %s takes no Temperature and no TopP; leave them out", o.Provider.Name)
	}
	model, name, err := o.Provider.open(o.Timeout, o.HTTP)
	if err != nil {
		return nil, err
	}
	a := &Assistant{options: o, name: name, price: o.Provider.price(o.Prices, name)}
	a.model = llm.Retrying{Model: model, Notice: func(f *llm.Fault, wait time.Duration) {
		a.notice(Notice{Text: f.Error() + "; trying again in " + wait.Round(100*time.Millisecond).String(), Restart: true})
	}}
	return a, nil
}

// Model returns the name of the model.
func (a *Assistant) Model() string { return a.name }

// Ask begins a new conversation with a question.
func (a *Assistant) Ask(ctx context.Context, question string) (*Answer, error) {
	return a.ask(ctx, question, true)
}

// Reply goes on with the conversation.
func (a *Assistant) Reply(ctx context.Context, question string) (*Answer, error) {
	return a.ask(ctx, question, false)
}

// Reset forgets the conversation; Usage goes on counting.
func (a *Assistant) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.history, a.context = nil, 0
}

// Usage returns what the assistant has used since it was made.
func (a *Assistant) Usage() Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.usage
}

// History returns a copy of the conversation so far.
func (a *Assistant) History() []Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return transcript(a.history)
}

// An Answer is what came of one question.
type Answer struct {
	Text       string    `json:"text"`
	Stop       Stop      `json:"stop"`
	Calls      []Call    `json:"calls"`             // in the order in which the model wanted them
	Changes    []Change  `json:"changes,omitempty"` // that were proposed and wait for people
	Transcript []Message `json:"transcript"`        // of this question
	Usage      Usage     `json:"usage"`             // of this question, compaction before it included

	assistant *Assistant
}

// Reply goes on with the conversation that gave the answer.
func (x *Answer) Reply(ctx context.Context, question string) (*Answer, error) {
	return x.assistant.Reply(ctx, question)
}

// A Stop is why an answer ended.
type Stop string

// The reasons.
const (
	Done     Stop = "done"     // the model had said what it wanted to say
	Length   Stop = "length"   // it reached the limit of tokens
	Declined Stop = "declined" // it, or its provider, refused to answer
	Rounds   Stop = "rounds"   // it reached MaxRounds and answered with what it had
)

// A Call is one call of a tool.
type Call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a JSON string where the model wrote no JSON
	Result    string          `json:"result,omitempty"`
	Refused   bool            `json:"refused,omitempty"`
	Duration  time.Duration   `json:"duration_ns,omitempty"`
}

// A Change is a write that waits for people.
type Change struct {
	ID      string `json:"change_id"`
	Status  string `json:"status"`
	Summary string `json:"summary"`
	URL     string `json:"url,omitempty"`
}

// A Message is one turn: of the user, the assistant or the tools that it called.
type Message struct {
	Role  string `json:"role"` // user, assistant or tool
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"` // of the assistant: what it wants called; of a tool: what came of it
}

func transcript(turns []llm.Message) []Message {
	all := make([]Message, len(turns))
	for i, turn := range turns {
		all[i] = Message{Role: string(turn.Role), Text: turn.Text}
		for _, c := range turn.Calls {
			all[i].Calls = append(all[i].Calls, Call{Name: c.Name, Arguments: shown(c.Arguments)})
		}
		for _, r := range turn.Results {
			all[i].Calls = append(all[i].Calls, Call{Name: r.Name, Arguments: json.RawMessage("{}"), Result: r.Text, Refused: r.Refused})
		}
	}
	return all
}

// shown returns what a model wrote as arguments, as JSON.
func shown(arguments string) json.RawMessage {
	if arguments == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(arguments)) {
		return slices.Clone(json.RawMessage(arguments))
	}
	text, _ := json.Marshal(arguments) // a string always encodes
	return text
}

// hook calls do while no other hook is called.
func (a *Assistant) hook(do func()) {
	a.hooking.Lock()
	defer a.hooking.Unlock()
	do()
}

func (a *Assistant) notice(n Notice) {
	if a.options.Hooks.OnNotice != nil {
		a.hook(func() { a.options.Hooks.OnNotice(n) })
	}
}
