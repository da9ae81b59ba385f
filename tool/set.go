package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	bailiwick "github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Request is one call as a door received it. Arguments is an Object.
type Request struct {
	Name        string
	Arguments   value.Value
	Correlation string                                    // ties the records of one conversation together
	Progress    func(done, total float64, message string) // tells the caller how far it is; nil tells nobody
}

// A Set is tools that were checked, on a gateway. It is safe for use by several goroutines.
type Set struct {
	gateway *bailiwick.Gateway
	tools   []*Tool // by name
	byName  map[string]*checked
}

// checked is a tool with its input schema, compiled.
type checked struct {
	*Tool
	input *inputSchema
}

// NewSet checks tools and puts them on a gateway. It refuses a tool whose annotations contradict each other, whose
// schema some client can't load, and two tools of one name; all that is wrong is in the error.
func NewSet(g *bailiwick.Gateway, tools ...Tool) (*Set, error) {
	s := &Set{gateway: g, byName: map[string]*checked{}}
	var errs []error
	tools = slices.Clone(tools)
	for i := range tools {
		t := &tools[i]
		if t.bind != nil {
			t.Handle = t.bind(s)
		}
		input, err := compileInput(t)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("tool %s: %w", t.Name, err))
		case t.Handle == nil:
			errs = append(errs, fmt.Errorf("tool %s has no handler", t.Name))
		case t.Annotations.ReadOnly && t.Annotations.Destructive:
			errs = append(errs, fmt.Errorf("tool %s: what only reads can't be destructive", t.Name))
		case s.byName[t.Name] != nil:
			errs = append(errs, fmt.Errorf("tool %s stands twice", t.Name))
		default:
			s.tools = append(s.tools, t)
			s.byName[t.Name] = &checked{t, input}
		}
	}
	sort.Slice(s.tools, func(i, j int) bool { return s.tools[i].Name < s.tools[j].Name })
	return s, errors.Join(errs...)
}

// Needs returns the scope that t's annotations ask for. A tool without annotations counts as destructive.
func (t *Tool) Needs() identity.Scope {
	switch a := t.Annotations; {
	case a.ReadOnly:
		return identity.Read
	case a == Annotations{}, a.Destructive:
		return identity.Delete
	}
	return identity.Write
}

// List returns the tools that who may call, of one category or of all for "", by name. An unknown category has none.
func (s *Set) List(who identity.Principal, category string) []*Tool {
	var out []*Tool
	for _, t := range s.tools {
		if (category == "" || string(t.Category) == category) && policy.May(who, t.Name, t.Needs()) == nil {
			out = append(out, t)
		}
	}
	return out
}

// Call answers one call: it is the in-process door, and what every other door calls. Errors carry a *problem.Error.
func (s *Set) Call(ctx context.Context, who identity.Principal, r Request) (res Result, err error) {
	t := s.byName[r.Name]
	ask := bailiwick.Ask{Tool: short(r.Name), Needs: identity.Read, Arguments: r.Arguments, Correlation: r.Correlation, Progress: r.Progress}
	if t != nil {
		ask.Needs, ask.Timeout = t.Needs(), t.Timeout
	}
	err = s.gateway.Do(ctx, who, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		if t == nil {
			return 0, policy.Unknown("unknown_tool")
		}
		if err := t.input.check(r.Arguments); err != nil {
			return 0, err
		}
		res, err = t.Handle(ctx, c, r.Arguments)
		if res.Class == "" {
			res.Class = c.From()
		}
		return max(len(res.Structured), len(res.Text)), err
	})
	if err != nil {
		return Result{}, err
	}
	return res, nil
}

// Admit puts run under the same scopes, limits and record as a tool's call; see server.Tools.
func (s *Set) Admit(ctx context.Context, who identity.Principal, name string, run func(context.Context) (int, error)) error {
	ask := bailiwick.Ask{Tool: short(name), Needs: identity.Read}
	return s.gateway.Do(ctx, who, ask, func(ctx context.Context, _ *bailiwick.Call) (int, error) { return run(ctx) })
}

// short keeps names that nobody would register out of the record's way.
func short(name string) string {
	const most = 128
	if len(name) > most {
		return name[:most]
	}
	return name
}

// compact drops the white space that makes a schema readable in the source.
func compact(schema string) []byte {
	v, err := value.Read([]byte(schema), 0)
	if err != nil {
		return bytes.TrimSpace([]byte(schema)) // NewSet refuses it and says why
	}
	return v.AppendJSON(nil)
}
