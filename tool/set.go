package tool

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Request is one call in the form in which a transport received it. Arguments is an Object.
type Request struct {
	Name        string
	Arguments   value.Value
	Correlation string                                    // ties the records of one conversation together
	Progress    func(done, total float64, message string) // reports progress to the caller. It may be nil
}

// A Set is a set of checked tools on a gateway. Tools can be added and removed while it serves. A running call ends
// with the tool with which it began. It is safe for concurrent use.
type Set struct{ gateway *bailiwick.Gateway }

// registry is the tools at one moment: the set's part of the configuration in force.
type registry struct {
	tools  []*Tool // sorted by name
	byName map[string]*checked
}

// checked is a tool with its compiled input schema.
type checked struct {
	*Tool
	input *argcheck.Schema
}

// NewSet checks tools and puts them on a gateway. It refuses tools with contradicting annotations, tools with a schema
// that some client can't load, and duplicate names. The error lists every fault.
func NewSet(g *bailiwick.Gateway, tools ...Tool) (*Set, error) {
	s := &Set{gateway: g}
	parts, err := s.changed(&registry{}, nil, tools)
	if err != nil {
		return nil, err
	}
	return s, g.Renew(func(bailiwick.Moment) (bailiwick.Parts, error) { return parts, nil })
}

// registered returns the tools in force.
func (s *Set) registered() *registry {
	if r, ok := s.gateway.Part(s).(*registry); ok {
		return r
	}
	return &registry{}
}

// Add adds tools to the set, all or none. It refuses what NewSet refuses.
func (s *Set) Add(tools ...Tool) error { return s.Replace(nil, tools) }

// Remove removes the named tools. If the set lacks one of them, it removes none and returns an error.
func (s *Set) Remove(names ...string) error { return s.Replace(names, nil) }

// Replace removes tools by name and adds others in one step: no call sees a state in between. The error lists every
// fault. On an error, the set doesn't change. Subscribers of the gateway are notified of the change.
func (s *Set) Replace(out []string, in []Tool) error {
	err := s.gateway.Renew(func(bailiwick.Moment) (bailiwick.Parts, error) { return s.Prepare(out, in) })
	if err == nil {
		s.gateway.Announce(bailiwick.ToolsChanged)
	}
	return err
}

// Prepare is like Replace, for a bailiwick.With: it checks everything and returns the tools to put into force. It
// doesn't notify subscribers.
func (s *Set) Prepare(out []string, in []Tool) (bailiwick.Parts, error) {
	return s.changed(s.registered(), out, in)
}

// changed returns the tools of a registry after a change.
func (s *Set) changed(from *registry, out []string, in []Tool) (bailiwick.Parts, error) {
	byName := map[string]*checked{}
	maps.Copy(byName, from.byName)
	var errs []error
	for _, name := range out {
		if byName[name] == nil {
			errs = append(errs, fmt.Errorf("there is no tool %s to take out", name))
		}
		delete(byName, name)
	}
	in = slices.Clone(in)
	for i := range in {
		c, err := s.check(&in[i])
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("tool %s: %w", in[i].Name, err))
		case byName[c.Name] != nil:
			errs = append(errs, fmt.Errorf("tool %s appears twice", c.Name))
		default:
			byName[c.Name] = c
		}
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	next := &registry{byName: byName}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		next.tools = append(next.tools, byName[name].Tool)
	}
	return bailiwick.Parts{s: next}, nil
}

// check returns t with its compiled schema, or its fault.
func (s *Set) check(t *Tool) (*checked, error) {
	if t.bind != nil {
		t.Handle = t.bind(s)
	}
	if t.fault != nil {
		return nil, t.fault
	}
	compile := argcheck.Compile
	if t.own != nil && bytes.Equal(t.own, t.Input) { // the schema is the same in every process, and a test compiles it
		compile = argcheck.Later
	}
	takes := t.Input
	if t.takes != nil {
		takes = t.takes
	}
	schema, err := compile(takes, t.Category == Custom || t.Category == "")
	switch {
	case !callable(t.Name):
		return nil, fmt.Errorf("its name must be 1 to 64 of A-Z a-z 0-9 _ - ., not %q", t.Name)
	case err != nil:
		return nil, err
	case t.Handle == nil:
		return nil, errors.New("it has no handler")
	case t.Annotations.ReadOnly && t.Annotations.Destructive:
		return nil, errors.New("what only reads can't be destructive")
	case t.Annotations.ReadOnly && t.Writes != "":
		return nil, errors.New("what only reads makes no writes")
	}
	return &checked{t, schema}, nil
}

// callable reports whether name is a valid tool name in every version of MCP. Some models accept no dots, so clients
// rewrite them.
func callable(name string) bool {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.') {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 64
}

// Needs returns the scope that t or its annotations require. A tool without annotations counts as destructive.
func (t *Tool) Needs() identity.Scope {
	switch a := t.Annotations; {
	case t.Scope != "":
		return t.Scope
	case a.ReadOnly:
		return identity.Read
	case a == Annotations{}, a.Destructive:
		return identity.Delete
	}
	return identity.Write
}

// Ask returns the CallSpec for calls of t, without the caller's part.
func (t *Tool) Ask() bailiwick.CallSpec {
	return bailiwick.CallSpec{Tool: t.Name, Needs: t.Needs(), Writes: t.Writes, Proposes: t.Proposes, Timeout: t.Timeout, Queries: t.queries}
}

// List returns the tools that p may call, sorted by name. category selects one category, ignoring case, or all for "".
// An unknown category has no tools.
func (s *Set) List(p identity.Principal, category string) []*Tool {
	category = strings.ToLower(category)
	var out []*Tool
	s.gateway.Moment(func() {
		out = nil
		for _, t := range s.registered().tools {
			if (category == "" || string(t.Category) == category) && s.gateway.May(p, t.Ask()) == nil && s.isOffered(t, p) {
				if t.adapt != nil {
					own := *t
					t.adapt(s, p, &own)
					t = &own
				}
				out = append(out, t)
			}
		}
	})
	return out
}

// May reports whether p may call the named tool.
func (s *Set) May(p identity.Principal, name string) bool {
	may := false
	s.gateway.Moment(func() {
		t := s.Tool(name)
		may = t != nil && s.gateway.May(p, t.Ask()) == nil && s.isOffered(t, p)
	})
	return may
}

// isOffered reports whether t is offered to p.
func (s *Set) isOffered(t *Tool, p identity.Principal) bool {
	return (t.Offered == nil || t.Offered(p)) && (t.offers == nil || t.offers(s, p))
}

// lacks returns the scope that p lacks for proposals with t, if t is offered to p with this scope. Otherwise it returns
// "". The call is then refused because of the scope, like a call of a tool that is offered to everybody. So the client
// can ask its person for the scope.
func (s *Set) lacks(t *Tool, p identity.Principal) identity.Scope {
	if !t.Proposes {
		return ""
	}
	for _, scope := range []identity.Scope{identity.Write, identity.Delete, identity.Schema} {
		lent := p
		lent.Scopes = append(slices.Clone(p.Scopes), scope)
		if !p.Has(scope) && s.gateway.May(lent, t.Ask()) == nil && s.isOffered(t, lent) {
			return scope
		}
	}
	return ""
}

// Uses returns the uses of the tools, for Gateway.Describe and Gateway.WouldPermit.
func (s *Set) Uses() []bailiwick.ToolUse {
	var out []bailiwick.ToolUse
	for _, t := range s.registered().tools {
		out = append(out, bailiwick.ToolUse{Use: t.Ask().Use()})
	}
	return out
}

// Tool returns the named tool, or nil if the set has none.
func (s *Set) Tool(name string) *Tool {
	if t := s.registered().byName[name]; t != nil {
		return t.Tool
	}
	return nil
}

// Call answers one call. It is the in-process interface, which all transports use. Errors wrap a *problem.Error.
func (s *Set) Call(ctx context.Context, p identity.Principal, r Request) (res Result, err error) {
	var t *checked
	var lacks identity.Scope
	moment := s.gateway.Moment(func() {
		lacks = ""
		if t = s.registered().byName[r.Name]; t != nil && !s.isOffered(t.Tool, p) {
			if lacks = s.lacks(t.Tool, p); lacks == "" {
				t = nil // treat it as unregistered from here on
			}
		}
	})
	// A call of a tool that doesn't exist or isn't offered to p is also admitted, limited and recorded.
	ask := bailiwick.CallSpec{Tool: short(r.Name), Unknown: t == nil, Needs: identity.Read, Takes: []string{}}
	if t != nil {
		ask = t.Ask()
		ask.Takes, ask.Take = t.input.Names(), t.take
		ask.Needs = cmp.Or(lacks, ask.Needs)
	}
	ask.Arguments, ask.Correlation, ask.Progress, ask.Moment = r.Arguments, r.Correlation, r.Progress, moment
	ask.Tools = func() []string { return s.names(p) }
	err = s.gateway.Do(ctx, p, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		if t == nil {
			return 0, policy.UnknownToolError("unknown_tool")
		}
		args, err := t.take(c, r.Arguments)
		if err != nil {
			return 0, err
		}
		answered := make(chan Result, 1) // not a variable, because an abandoned handler may still write
		if err := c.Run(ctx, func(c *bailiwick.Call) error {
			out, err := t.Handle(ctx, c, args)
			if err != nil {
				return err
			}
			if out.Class == "" {
				out.Class = c.From()
			}
			out.explain(ctx, c, func(name string) bool { return s.May(p, name) })
			answered <- out
			return nil
		}); err != nil {
			return 0, err
		}
		res = <-answered
		return max(len(res.Structured), len(res.Text)), nil
	})
	if problem.CodeOf(err) == problem.UnknownTool {
		return Result{}, s.unknownToolError(p, r.Name, problem.Of(err).Kind)
	}
	if err != nil {
		return Result{}, s.advise(p, err)
	}
	return res, nil
}

// unknownToolError returns the error for a tool that doesn't exist for principal, with the nearest existing names. The error is
// the same for a tool that exists. kind is the actual reason, for the audit.
func (s *Set) unknownToolError(principal identity.Principal, name, kind string) error {
	names := s.names(principal)
	p := &problem.Error{Code: problem.UnknownTool, Kind: kind, Near: problem.Nearest(name, names, 3)}
	p.Detail = fmt.Sprintf("unknown tool %q%s", problem.Cut(name), problem.DidYouMean(p.Near))
	if slices.Contains(names, "list_tools") {
		p.Suggestion = "list_tools names the tools you may call"
	}
	return p
}

// names returns the names of the tools that p may call.
func (s *Set) names(p identity.Principal) []string {
	var names []string
	for _, t := range s.List(p, "") {
		names = append(names, t.Name)
	}
	return names
}

// Admit calls run with the scopes, limits and audit of a call of a tool. See mcp.Tools.
func (s *Set) Admit(ctx context.Context, p identity.Principal, name string, run func(context.Context) (int, error)) error {
	ask := bailiwick.CallSpec{Tool: short(name), Needs: identity.Read}
	return s.gateway.Do(ctx, p, ask, func(ctx context.Context, _ *bailiwick.Call) (int, error) { return run(ctx) })
}

// short shortens names that are too long for a tool, for the audit record.
func short(name string) string {
	const most = 128
	if len(name) > most {
		return name[:most]
	}
	return name
}

// compact removes the white space that makes a schema readable in the source.
func compact(schema string) []byte {
	v, err := value.Read([]byte(schema), 0)
	if err != nil {
		return bytes.TrimSpace([]byte(schema)) // NewSet refuses it with a reason
	}
	return v.AppendJSON(nil)
}
