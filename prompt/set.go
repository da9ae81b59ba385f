package prompt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

const (
	timeout     = 10 * time.Second
	maxArgument = 4 << 10  // maximum bytes of one argument
	maxText     = 64 << 10 // maximum bytes of all messages of a prompt
)

// A Request requests a prompt or, with a URI as Name, a resource.
type Request struct {
	Name        string
	Arguments   map[string]string
	Correlation string                                    // identifies the records of one conversation
	Progress    func(done, total float64, message string) // reports progress to the caller. May be nil
}

// A Set is a set of checked prompts and resources for a set of tools. It is safe for concurrent use.
type Set struct {
	gateway *bailiwick.Gateway
	tools   *tool.Set
}

// NewSet checks prompts and adds them to a gateway with the given tools. It refuses prompts without a handler, and
// duplicate names of prompts or arguments. The error lists all faults.
func NewSet(g *bailiwick.Gateway, tools *tool.Set, prompts ...Prompt) (*Set, error) {
	s := &Set{gateway: g, tools: tools}
	parts, err := s.Prepare(prompts...)
	if err != nil {
		return s, err
	}
	return s, g.Renew(func(bailiwick.Moment) (bailiwick.Parts, error) { return parts, nil })
}

// all returns the prompts in force, sorted by name.
func (s *Set) all() []*Prompt {
	all, _ := s.gateway.Part(s).([]*Prompt)
	return all
}

// Replace checks prompts as NewSet does, and replaces the current prompts. On an error, the set is unchanged.
// Subscribers of the gateway are notified of the change.
func (s *Set) Replace(prompts ...Prompt) error {
	err := s.gateway.Renew(func(bailiwick.Moment) (bailiwick.Parts, error) { return s.Prepare(prompts...) })
	if err == nil {
		s.gateway.Announce(bailiwick.PromptsChanged)
	}
	return err
}

// Prepare does the work of Replace for a bailiwick.With. It checks the prompts and returns them for the With to
// apply. Subscribers are not notified.
func (s *Set) Prepare(prompts ...Prompt) (bailiwick.Parts, error) {
	sorted := make([]*Prompt, len(prompts))
	for i := range prompts {
		p := prompts[i]
		sorted[i] = &p
	}
	slices.SortStableFunc(sorted, func(a, b *Prompt) int { return strings.Compare(a.Name, b.Name) })
	var errs []error
	for i, p := range sorted {
		switch {
		case p.Name == "":
			errs = append(errs, errors.New("a prompt has no name"))
		case p.Handle == nil:
			errs = append(errs, fmt.Errorf("prompt %s has no handler", p.Name))
		case i > 0 && sorted[i-1].Name == p.Name:
			errs = append(errs, fmt.Errorf("prompt %s appears twice", p.Name))
		}
		for j, a := range p.Arguments {
			if a.Name == "" || slices.ContainsFunc(p.Arguments[:j], func(b Argument) bool { return b.Name == a.Name }) {
				errs = append(errs, fmt.Errorf("prompt %s: the argument %q has no name or appears twice", p.Name, a.Name))
			}
		}
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return bailiwick.Parts{s: sorted}, nil
}

// can reports whether the set contains the named tool and p may call it.
func (s *Set) can(p identity.Principal, name string) bool {
	return s.tools.May(p, name)
}

// find returns the named prompt. It returns nil if the prompt doesn't exist or one of its tools is missing.
func (s *Set) find(name string) *Prompt {
	for _, p := range s.all() {
		if p.Name == name && !slices.ContainsFunc(p.Uses, func(t string) bool { return s.tools.Tool(t) == nil }) {
			return p
		}
	}
	return nil
}

// List returns the prompts that principal may use, sorted by name.
func (s *Set) List(principal identity.Principal) []*Prompt {
	var out []*Prompt
	s.gateway.Moment(func() {
		out = nil
		for _, p := range s.all() {
			if principal.Has(identity.Read) && !slices.ContainsFunc(p.Uses, func(t string) bool { return !s.can(principal, t) }) {
				out = append(out, p)
			}
		}
	})
	return out
}

// takes returns the names of the arguments. The result is never nil, even for a nil prompt.
func (p *Prompt) takes() []string {
	out := []string{}
	if p != nil {
		for _, a := range p.Arguments {
			out = append(out, a.Name)
		}
	}
	return out
}

// Get returns a prompt. Errors contain a *problem.Error: UnknownTool for a prompt that is not in List.
func (s *Set) Get(ctx context.Context, principal identity.Principal, r Request) (Result, error) {
	var p *Prompt
	moment := s.gateway.Moment(func() { p = s.find(r.Name) })
	ask := bailiwick.CallSpec{Moment: moment, Tool: "prompt:" + short(r.Name), Needs: identity.Read, Uses: uses(p), Arguments: object(r.Arguments),
		Correlation: r.Correlation, Progress: r.Progress, Timeout: timeout}
	ask.Unknown, ask.Takes = p == nil, p.takes()
	var res Result
	err := s.gateway.Do(ctx, principal, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		if p == nil {
			return 0, unknownPromptError("unknown_prompt")
		}
		if err := p.check(r.Arguments); err != nil {
			return 0, err
		}
		var err error
		res, err = p.Handle(ctx, c, s.input(c, r.Arguments))
		if err != nil {
			return 0, err
		}
		n := 0
		for _, m := range res.Messages {
			n += len(m.Text)
		}
		if n > maxText {
			return 0, problem.New(problem.BudgetExceeded, fmt.Sprintf("the prompt is longer than %d bytes", maxText))
		}
		return n, nil
	})
	if err != nil {
		return Result{}, hide(err)
	}
	if res.Description == "" {
		res.Description = p.Description
	}
	return res, nil
}

// hide hides whether a prompt exists. It returns the same error for a prompt that doesn't exist and for one that the
// caller may not use.
func hide(err error) error {
	if p := problem.Of(err); p.Code == problem.UnknownTool {
		return unknownPromptError(p.Kind)
	}
	return err
}

func unknownPromptError(kind string) error {
	return &problem.Error{Code: problem.UnknownTool, Kind: kind, Detail: "unknown prompt"}
}

func (s *Set) input(c *bailiwick.Call, texts map[string]string) Input {
	return Input{call: c, texts: texts, may: func(name string) bool { return s.can(c.Who(), name) }, tools: func() []string {
		var names []string
		for _, t := range s.tools.List(c.Who(), "") {
			names = append(names, t.Name)
		}
		return names
	}, lists: func(name string) bool {
		t := s.tools.Tool(name)
		return t != nil && t.ListedFor(c.Who()) && s.can(c.Who(), name)
	}}
}

// check reports all faults in the arguments as one problem.InvalidArgument, with the same texts as tools.
func (p *Prompt) check(given map[string]string) error {
	var known []string
	var faults []argcheck.Fault
	for _, a := range p.Arguments {
		known = append(known, a.Name)
		if a.Required && given[a.Name] == "" {
			faults = append(faults, argcheck.Missing("", "argument", a.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			faults = append(faults, argcheck.UnknownName("", "argument", name, known))
		} else if n := len(given[name]); n > maxArgument {
			faults = append(faults, argcheck.Must(argcheck.At("", name), "maxLength", name, "have at most "+argcheck.Count(maxArgument, "byte"), strconv.Itoa(n)))
		}
	}
	return argcheck.Refuse("schema", faults, "")
}

// uses returns the tools that a prompt requires. The result is never nil, because a prompt is not a tool.
func uses(p *Prompt) []string {
	if p == nil {
		return []string{}
	}
	return append([]string{}, p.Uses...)
}

// object returns the arguments as a value, for the record.
func object(given map[string]string) value.Value {
	members := make([]value.Member, 0, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		members = append(members, value.Member{Name: name, Value: value.OfString(given[name])})
	}
	return value.OfObject(members)
}

// short shortens a name that is too long to be a registered name, for the record.
func short(name string) string {
	const most = 120
	return name[:min(len(name), most)]
}
