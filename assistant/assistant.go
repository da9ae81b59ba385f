// Package assistant conducts a conversation about an application. A model makes calls, and the tools of a gateway
// answer them.
//
// It is an agent like any other. It uses a client of the gateway, so it sees only the views of the client's token,
// and its writes wait for review. It proposes a write only after confirmation. New fails without a usable provider,
// key and address.
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

	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/llm"
)

// A Client connects to a gateway. Dial and Stream return one. Call may be called concurrently.
type Client interface {
	Close() error
	// Tools lists the tools that the client may call.
	Tools(context.Context) ([]client.Tool, error)
	// Call calls a tool with a JSON object of arguments. If the tool refuses, the error is a *client.Refusal.
	Call(ctx context.Context, tool string, arguments json.RawMessage) (client.Answer, error)
	// Instructions returns the gateway's instructions for the model.
	Instructions() string
}

// Options configure an assistant. Client and Provider are required. For other fields, the zero value means the
// default in parentheses.
type Options struct {
	Client   Client
	Provider Provider
	System   string        // additional instructions for the model (none)
	Sampling Sampling      // parameters of the model (the provider's defaults)
	Timeout  time.Duration // maximum time without data from the provider (90 s)

	MaxRounds int // maximum rounds of calls per question. Then the model answers with the results so far (8)
	CompactAt int // tokens of a request above which the conversation is compacted before the next question (never)

	Prices map[string]Price // by model (Prices())
	Hooks  Hooks
	HTTP   *http.Client // its transport connects to the provider (the default client)
}

// Sampling contains a model's sampling parameters. nil and 0 mean the provider's defaults.
type Sampling struct {
	MaxTokens   int // maximum tokens of one reply
	Temperature *float64
	TopP        *float64
}

// Hooks are called while a question is answered, one at a time. Each of them may be nil.
type Hooks struct {
	OnText   func(piece string) // a piece of the model's text, as it is generated
	OnCall   func(Call)         // before a call
	OnResult func(Call)         // after a call, with its result
	OnNotice func(Notice)

	// Confirm is called before a call of a tool that may propose a write. If it is nil, all these calls are declined.
	Confirm func(context.Context, Call) (bool, error)
}

// A Notice reports an event outside the conversation: a retry or a compaction.
type Notice struct {
	Text    string
	Restart bool // the model starts over. Discard the text that OnText received since the last call
}

// An Assistant is one conversation. Its methods may be called concurrently. Questions are answered one after the
// other.
type Assistant struct {
	options Options
	model   llm.Model
	name    string // the model's name
	price   *Price // nil if unknown

	hooking sync.Mutex // serializes hooks

	mu      sync.Mutex
	history []llm.Message
	usage   Usage
	began   time.Time // when the conversation began
	context int       // tokens of the last request and its reply
}

// New returns an assistant. An error names the missing or invalid option. New sends no request.
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
		return nil, fmt.Errorf("the provider %s takes no Temperature and no TopP. Leave them out", o.Provider.Name)
	}
	model, name, err := o.Provider.open(o.Timeout, o.HTTP)
	if err != nil {
		return nil, err
	}
	a := &Assistant{options: o, name: name, price: o.Provider.price(o.Prices, name)}
	a.model = llm.Retrying{Model: model, Notice: func(f *llm.Failure, wait time.Duration) {
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

// Reply continues the conversation with a question.
func (a *Assistant) Reply(ctx context.Context, question string) (*Answer, error) {
	return a.ask(ctx, question, false)
}

// Reset discards the conversation. Usage keeps counting.
func (a *Assistant) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.history, a.context = nil, 0
}

// Usage returns the usage of the assistant since New.
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

// An Answer is the result of one question.
type Answer struct {
	Text       string    `json:"text"`
	Stop       Stop      `json:"stop"`
	Calls      []Call    `json:"calls"`             // in the order in which the model requested them
	Changes    []Change  `json:"changes,omitempty"` // changes that were proposed and wait for review
	Transcript []Message `json:"transcript"`        // the transcript of this question
	Usage      Usage     `json:"usage"`             // the usage of this question, including a compaction before it

	assistant *Assistant
}

// Reply continues the conversation to which the answer belongs.
func (x *Answer) Reply(ctx context.Context, question string) (*Answer, error) {
	return x.assistant.Reply(ctx, question)
}

// A Stop is the reason why an answer ended.
type Stop string

// These are the reasons.
const (
	Done     Stop = "done"     // the model has finished
	Length   Stop = "length"   // it reached the limit of tokens
	Declined Stop = "declined" // the model or its provider refused to answer
	Rounds   Stop = "rounds"   // it reached MaxRounds and answered with the results so far
)

// A Call is one call of a tool.
type Call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a JSON string if the model wrote invalid JSON
	Result    string          `json:"result,omitempty"`
	Refused   bool            `json:"refused,omitempty"`
	Duration  time.Duration   `json:"duration_ns,omitempty"`
}

// A Change is a proposed write that waits for review.
type Change struct {
	ID      string `json:"change_id"`
	Status  string `json:"status"`
	Summary string `json:"summary"`
	URL     string `json:"url,omitempty"`
}

// A Message is one turn of the user, of the assistant, or of the tools that the assistant called.
type Message struct {
	Role  string `json:"role"` // user, assistant or tool
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"` // for the assistant: the requested calls. For a tool: their results
}

// transcript returns turns as Messages. Calls have their arguments, and results are calls with their answers.
func transcript(turns []llm.Message) []Message {
	all := make([]Message, len(turns))
	for i, turn := range turns {
		all[i] = Message{Role: string(turn.Role), Text: turn.Text}
		for _, c := range turn.Calls {
			all[i].Calls = append(all[i].Calls, Call{Name: c.Name, Arguments: argumentsJSON(c.Arguments)})
		}
		for _, r := range turn.Results {
			all[i].Calls = append(all[i].Calls, Call{Name: r.Name, Arguments: json.RawMessage("{}"), Result: r.Text, Refused: r.Refused})
		}
	}
	return all
}

// argumentsJSON returns the arguments that a model wrote, as JSON.
func argumentsJSON(arguments string) json.RawMessage {
	if arguments == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(arguments)) {
		return slices.Clone(json.RawMessage(arguments))
	}
	text, _ := json.Marshal(arguments) // a string always encodes
	return text
}

// hook runs do while no other hook is running.
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
