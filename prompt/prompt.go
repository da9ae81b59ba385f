// Package prompt serves prompts, with which a person starts an agent, and classes as resources.
//
// A prompt parses its arguments, asks the gateway what the caller sees, and writes a text that leads an agent through
// the tools. A resource is the answer of a tool under a URI of its own. Neither reads data in other ways than the
// tools do: the gateway admits, limits and records both. They name nothing that the caller doesn't see, and exist
// only for callers that may call the tools behind them. Package mcp maps them to the protocol.
package prompt

import (
	"context"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Prompt is a text with which an agent can be started.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []Argument
	Uses        []string // the tools that its text needs: a caller that may not call one of them doesn't see the prompt
	Handle      Handler
}

// An Argument is one argument of a prompt. Arguments are texts, as in the protocol.
type Argument struct {
	Name        string
	Title       string // may be empty
	Description string
	Required    bool
	Complete    Completer // may be nil
}

// A Handler returns a prompt. in has the declared arguments that were given, and at least the required ones.
type Handler func(ctx context.Context, call *bailiwick.Call, in Input) (Result, error)

// A Completer returns the possible values of an argument, from what the caller sees, in any order. written is the
// argument so far. given holds the other arguments, unchecked: if they are invalid, there are no values, but no error
// either.
type Completer func(ctx context.Context, call *bailiwick.Call, written string, given map[string]string) ([]string, error)

// A Result is the text of a prompt.
type Result struct {
	Description string // of this text. "" means that of the prompt
	Messages    []Message
}

// A Message is one message of the conversation that a prompt begins.
type Message struct {
	Agent bool // said by the agent. Otherwise by the person
	Text  string
}

// Say returns a Result with one message by the person.
func Say(description, text string) Result {
	return Result{Description: description, Messages: []Message{{Text: text}}}
}

// An Input holds the arguments of one request for a prompt.
type Input struct {
	call  *bailiwick.Call
	texts map[string]string
	may   func(tool string) bool
	tools func() []string
	lists func(tool string) bool
}

// Text returns the named argument, or "" if it was not given.
func (in Input) Text(name string) string { return in.texts[name] }

// May reports whether the caller can call a tool, so that the text can refer to it.
func (in Input) May(tool string) bool { return in.may(tool) }

// Best returns the first of the tools that tools/list shows to the caller, else the first that the caller can call by
// name, else "".
func (in Input) Best(tools ...string) string {
	if i := slices.IndexFunc(tools, in.lists); i >= 0 {
		return tools[i]
	}
	if i := slices.IndexFunc(tools, in.may); i >= 0 {
		return tools[i]
	}
	return ""
}

// View returns the caller's view of the class in the named argument.
func (in Input) View(name string) (*policy.View, error) {
	v, err := in.call.View(in.texts[name])
	return v, at(err, name)
}

// at sets the pointer of a problem to the named argument.
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
