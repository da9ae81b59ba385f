package app

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// checkActions checks that the actions of c can run. Faults have their positions in the file.
func checkActions(c *config.Config, p *policy.Policy, set *action.Set) error {
	return merge(&config.Config{}, []error{runnable(c, set), checkedPacks(c, p)})
}

// checkedPacks reports pack tools whose arguments can't be checked against the class that they name.
func checkedPacks(c *config.Config, p *policy.Policy) error {
	all := &config.Error{}
	for _, s := range c.Sources {
		if e, ok := errors.AsType[*config.Error](pack.Check(c.Packs[s.Name], p)); ok {
			all.Faults = append(all.Faults, e.Faults...)
		}
	}
	if all.Faults == nil {
		return nil
	}
	return all
}

// runnable reports actions that this program can't run, and statements with parameters that have no value.
func runnable(c *config.Config, set *action.Set) error {
	faults := &config.Error{}
	wrong := func(a *action.Action, key, message string) {
		faults.Faults = append(faults.Faults, c.WrongAction(&action.DeclarationFault{On: a.On, Action: a.Name, Key: []string{key}, Message: message}))
	}
	for _, a := range set.All() {
		switch a.Do {
		case action.Go:
			wrong(a, "do", "go runs a function of a program that embeds Bailiwick. This one has none")
		case action.HTTP:
			if key, message := callable(c, a); message != "" {
				wrong(a, key, message)
			}
		}
		i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == a.Class.Source })
		if a.Do != action.SQL || i < 0 {
			continue
		}
		dialect := databaseOf(c.Sources[i]).dialect
		if dialect == nil {
			wrong(a, "do", "sql runs a statement, and the source is no SQL database that this program writes to")
			continue
		}
		if message := wrongStatement(dialect, a); message != "" {
			wrong(a, "statement", message)
		}
	}
	if faults.Faults == nil {
		return nil
	}
	return faults
}

// wrongStatement returns the fault of the statement of an action (do: sql), or "".
func wrongStatement(dialect sqlgen.Dialect, a *action.Action) string {
	var values []value.Member
	for _, name := range a.Parameters() {
		values = append(values, value.Member{Name: name})
	}
	_, err := sqldriver.OwnedStatement(dialect, nil, a.Statement, value.OfObject(values))
	reads := false
	if err == nil {
		reads, err = sqlgen.OnlyReads(dialect, a.Statement)
	}
	switch p, ok := errors.AsType[*problem.Error](err); {
	case ok && p.Err != nil:
		return p.Err.Error()
	case err != nil:
		return err.Error()
	case reads:
		return "the statement only reads, and an action returns no records. Declare it under queries"
	}
	return ""
}

// callable returns the key and message of the fault if an action (do: http) names no existing operation. Otherwise it
// returns "".
func callable(c *config.Config, a *action.Action) (key, message string) {
	rules, ok := c.Rules.APIs[a.API]
	if !ok {
		return "api", fmt.Sprintf("no source that is an HTTP API is called %q%s", a.API, problem.DidYouMean(problem.Nearest(a.API, slices.Sorted(maps.Keys(c.Rules.APIs)), 3)))
	}
	if rules.Document == nil {
		return "", "" // reported as a separate fault
	}
	if rules.Document.FindOperation(a.Operation) != nil {
		return "", ""
	}
	var ids []string
	for _, op := range rules.Document.Operations {
		ids = append(ids, op.ID)
	}
	return "operation", fmt.Sprintf("%s has no operation %q%s", a.API, a.Operation, problem.DidYouMean(problem.Nearest(a.Operation, ids, 3)))
}

// compiledCalls are the calls that the owner declares, compiled.
type compiledCalls struct {
	actions []*action.Action
	queries []*declared.Query
}

// callsOf returns the declared calls that are in force at a moment.
func callsOf(m bailiwick.Moment) compiledCalls {
	return compiledCalls{m.Actions().All(), m.Queries().All()}
}

// allTools returns all tools that a configuration can name, including the tools of its compiled actions, bound to
// room. If room is nil, only the names and properties of the tools are usable.
func allTools(c *config.Config, room *tools.ChangeTools, compiled compiledCalls) []tool.Tool {
	o := tool.Options{QueryRows: c.Limits.QueryRows, SampleRows: c.Limits.SampleRows, Timeouts: c.Limits.Timeouts, Shut: shut(c.Rules)}
	var more []tool.Tool
	if room == nil {
		more = tools.CommonChangeTools()
		for _, a := range c.Actions {
			scope := cmp.Or(a.Permission, identity.Write)
			if a.Do == action.Delete {
				scope = cmp.Or(a.Permission, identity.Delete)
			}
			if a.Tool {
				more = append(more, tool.Tool{Name: a.Name, Scope: scope, Writes: policy.WriteAction, Proposes: true})
			}
		}
		for _, q := range c.Queries {
			if q.Tool {
				more = append(more, tool.Tool{Name: q.Name, Scope: identity.Read, Category: tool.Custom})
			}
		}
	} else {
		o.Writing, more = room, append(room.ToolsOf(compiled.actions), tool.QueryTools(compiled.queries)...)
	}
	more = append(append(more, tools.NewAPITools(room).Tools()...), packTools(c, room)...)
	for i := range more {
		if d, ok := c.Limits.Timeouts[more[i].Name]; ok {
			more[i].Timeout = d
		}
	}
	data := tool.Data(o)
	for i := range data {
		if most := c.Limits.Statement; most > 0 && data[i].Timeout > most {
			data[i].Timeout = most
		}
	}
	return slices.Concat(data, tools.DescribeTools(c.Limits.Timeouts), more)
}

// shut reports whether callers can't switch off any canonical filter in the rules.
func shut(rules policy.Rules) bool {
	for _, r := range rules.Classes {
		if r.Canonical != nil && !r.CanonicalShut {
			return false
		}
	}
	return true
}

// packTools returns the tools of packs.
func packTools(c *config.Config, room *tools.ChangeTools) []tool.Tool {
	var out []tool.Tool
	for _, s := range c.Sources {
		if of := c.Packs[s.Name]; of != nil {
			out = append(out, tools.NewPackTools(room).Tools(tools.PackAPI{Name: s.Name, Site: cmp.Or(s.OpenAPI.Site, s.OpenAPI.BaseURL), Tools: of, Underscores: s.OpenAPI.Underscore})...)
		}
	}
	return out
}

// ToolNames returns the names of all existing tools, even if they aren't served.
func ToolNames(c *config.Config) []string {
	names := []string{"list_tools"} // part of every set
	for _, t := range allTools(c, nil, compiledCalls{}) {
		names = append(names, t.Name)
	}
	return names
}

// checkTools reports tool names in c that don't exist.
func checkTools(c *config.Config) error {
	names := ToolNames(c)
	faults := &config.Error{}
	for _, q := range c.Queries {
		if n := slices.Index(names, q.Name); q.Tool && slices.Contains(names[n+1:], q.Name) {
			faults.Faults = append(faults.Faults, c.WrongQuery(&declared.DeclarationFault{Query: q.Name, Key: []string{"tool"}, Message: "another tool has the name. Choose another one for the query"}))
		}
	}
	var clash error
	if faults.Faults != nil {
		clash = faults
	}
	return merge(&config.Config{}, []error{c.CheckTools(names), clash, checkExamples(c)})
}

// servedTools returns the tools that c serves over sources. Tools for one kind of source are served only if c has a
// source of that kind.
func servedTools(c *config.Config, sources []config.Source, room *tools.ChangeTools, compiled compiledCalls) []tool.Tool {
	var classes, described, called bool
	for _, s := range sources {
		classes, described, called = classes || s.OpenAPI == nil, described || s.Metadata != nil, called || s.OpenAPI != nil
	}
	is := func(name string, all []tool.Tool) bool {
		return slices.ContainsFunc(all, func(t tool.Tool) bool { return t.Name == name })
	}
	data, describes := tool.Data(tool.Options{}), tools.DescribeTools(nil)
	all := allTools(c, room, compiled)
	if c.Tools.Profile == "" {
		for i := range all {
			name := all[i].Name
			all[i].Unlisted = (is(name, data) || is(name, tools.CommonChangeTools())) && !slices.Contains(tool.Standard(), name) && !slices.Contains(c.Tools.Only, name)
		}
	}
	return slices.DeleteFunc(all, func(t tool.Tool) bool {
		switch {
		case !c.Tools.Allows(t.Name):
			return true
		case is(t.Name, describes):
			return !described
		case t.Category == tool.Platform, t.Category == tool.API:
			return !called
		case is(t.Name, data) && !classes && called:
			return true
		}
		few, ok := tool.Profiles()[c.Tools.Profile]
		own := t.Name == declared.RunTool || slices.ContainsFunc(c.Queries, func(q declared.Declaration) bool { return q.Name == t.Name })
		return ok && !own && !slices.Contains(few, t.Name)
	})
}

// offers returns all tools and whether c serves them.
func offers(c *config.Config) []policyops.Tool {
	served := map[string]bool{}
	for _, t := range servedTools(c, c.Sources, nil, compiledCalls{}) {
		served[t.Name] = true
	}
	all := allTools(c, nil, compiledCalls{})
	out := make([]policyops.Tool, len(all))
	for i := range all {
		out[i] = policyops.Tool{Use: all[i].Ask().Use(), Off: !served[all[i].Name]}
	}
	return out
}
