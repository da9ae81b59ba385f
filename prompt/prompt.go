// Package prompt serves prompts and resources. A person starts an agent with a prompt. Classes are resources.
//
// A prompt parses its arguments, reads the caller's view from the gateway, and writes a text that guides an agent
// through the tools. A resource is the answer of a tool with its own URI. Both read data only as the tools do, so the
// gateway admits, limits and records them. They contain only what the caller may see. They exist only for callers
// that may call the corresponding tools. Package mcp maps them to the protocol.
package prompt

import (
	"context"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Prompt is a text with which a person can start an agent.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []Argument
	// The tools that its text requires. A caller that may not call all of them doesn't see the prompt.
	Uses   []string
	Handle Handler
}

// An Argument is one argument of a prompt. Arguments are strings, as in the protocol.
type Argument struct {
	Name        string
	Title       string // may be empty
	Description string
	Required    bool
	Complete    Completer // may be nil
}

// A Handler returns the text of a prompt. in contains the given arguments, including all required ones.
type Handler func(ctx context.Context, call *bailiwick.Call, in Input) (Result, error)

// A Completer returns the possible values of an argument, in any order. It uses only data that the caller sees.
// written is the argument so far. given contains the other arguments, which are not checked. If they are invalid, it
// returns no values and no error.
type Completer func(ctx context.Context, call *bailiwick.Call, written string, given map[string]string) ([]string, error)

// A Result is the text of a prompt.
type Result struct {
	Description string // describes this text. "" means the prompt's description
	Messages    []Message
}

// A Message is one message in the conversation that a prompt starts.
type Message struct {
	Agent bool // the agent's message. Otherwise the person's message
	Text  string
}

// Say returns a Result with one message from the person.
func Say(description, text string) Result {
	return Result{Description: description, Messages: []Message{{Text: text}}}
}

// An Input contains the arguments of one request for a prompt.
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

// Best returns the best of the given tools. This is the first that tools/list shows to the caller or, if there is
// none, the first that the caller can call by name. Otherwise it returns "".
func (in Input) Best(tools ...string) string {
	if i := slices.IndexFunc(tools, in.lists); i >= 0 {
		return tools[i]
	}
	if i := slices.IndexFunc(tools, in.may); i >= 0 {
		return tools[i]
	}
	return ""
}

// View returns the caller's view of the class that the named argument contains.
func (in Input) View(name string) (*policy.View, error) {
	v, err := in.call.View(in.texts[name])
	return v, at(err, name)
}

// at returns err with the pointer set to the named argument.
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
