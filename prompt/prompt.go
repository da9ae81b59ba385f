// Package prompt is what a person starts an agent with: prompts, each one value, and the classes as resources.
//
// A prompt decodes its arguments, asks the gateway what the asker sees, and writes a text that leads an agent through
// the tools; a resource is the answer of a tool under an address of its own. Neither reads anything in another way than
// the tools do: both are admitted, limited and recorded by the gateway, name nothing that the asker doesn't see, and
// exist for those alone who may call the tools behind them. The door that serves them (package server) maps them to MCP.
package prompt

import (
	"context"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Prompt is one text that an agent can be started with.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []Argument
	Uses        []string // the tools that its text can't do without: who may not call one of them doesn't see the prompt
	Handle      Handler
}

// An Argument is one argument of a prompt. Arguments are texts, as the protocol has them.
type Argument struct {
	Name        string
	Title       string // "" for none
	Description string
	Required    bool
	Complete    Completer // nil completes nothing
}

// A Handler writes a prompt. in has the arguments that it declares, the required ones at least.
type Handler func(ctx context.Context, call *bailiwick.Call, in Input) (Result, error)

// A Completer returns what an argument may be, of what the asker sees, in any order. written is what it is so far, and
// given are the other arguments, which nobody has checked: with them wrong there is nothing to complete, and no error.
type Completer func(ctx context.Context, call *bailiwick.Call, written string, given map[string]string) ([]string, error)

// A Result is what a prompt gives back.
type Result struct {
	Description string // of this text; "" takes that of the prompt
	Messages    []Message
}

// A Message is one part of the conversation that a prompt begins.
type Message struct {
	Agent bool // it is put into the agent's mouth; otherwise the person says it
	Text  string
}

// Say returns the Result of one message that the person says.
func Say(description, text string) Result {
	return Result{Description: description, Messages: []Message{{Text: text}}}
}

// An Input is the arguments of one request for a prompt.
type Input struct {
	call  *bailiwick.Call
	texts map[string]string
	may   func(tool string) bool
	tools func() []string
}

// Text returns the argument called name, "" where it was not given.
func (in Input) Text(name string) string { return in.texts[name] }

// May reports whether the asker can call a tool, so that the text can lead to it.
func (in Input) May(tool string) bool { return in.may(tool) }

// View returns the asker's view of the class that the argument called name says.
func (in Input) View(name string) (*policy.View, error) {
	v, err := in.call.View(in.texts[name])
	return v, at(err, name)
}

// at has a problem point at the argument called name.
func at(err error, name string) error {
	if err == nil {
		return nil
	}
	p := *problem.Of(err)
	p.Pointer = "/" + name
	return &p
}

func invalid(name, detail string) *problem.Error {
	return &problem.Error{Code: problem.InvalidArgument, Pointer: "/" + name, Detail: detail}
}
