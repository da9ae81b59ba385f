package config

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/write"
)

// modes returns the possible modes of a write.
func modes() []write.Mode { return []write.Mode{write.Allow, write.Review, write.Deny} }

// writeRule returns the shape of a class's write mode. This is one mode for all writes, or one mode for each kind of
// write.
func writeRule(into *map[write.Op]write.Mode) yamlconf.Shape {
	set := func(ops ...write.Op) func(write.Mode) {
		return func(m write.Mode) {
			if *into == nil {
				*into = map[write.Op]write.Mode{}
			}
			for _, op := range ops {
				(*into)[op] = m
			}
		}
	}
	one := func(keep func(write.Mode)) yamlconf.Shape {
		names := make([]string, len(modes()))
		for i, m := range modes() {
			names[i] = string(m)
		}
		return yamlconf.Choose(names, func(s string) { keep(write.Mode(s)) })
	}
	var keys []yamlconf.Key
	for _, op := range []write.Op{write.OpCreate, write.OpUpdate, write.OpDelete} {
		keys = append(keys, yamlconf.Key{Name: string(op), Doc: "allow, review (the default) or deny", Shape: one(set(op))})
	}
	return yamlconf.Either(one(set(write.OpCreate, write.OpUpdate, write.OpDelete)), yamlconf.Object(keys, yamlconf.NotEmpty))
}

// actions returns the shape of the actions on the class on. If apart is true, it is the shape of actions that each
// name their class.
func (c *Config) actions(on string, apart bool) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "action", Check: actionName, Of: func(name string) (yamlconf.Shape, func()) {
		d := action.Declaration{Name: name, On: on}
		keys := c.actionKeys(&d)
		if apart {
			keys = append([]yamlconf.Key{{Name: "on", Doc: "The class that it writes", Must: true, Shape: yamlconf.Words(&d.On)}}, keys...)
		}
		return yamlconf.Object(keys, nil), func() { c.Actions = append(c.Actions, d) }
	}})
}

// actionName checks that an action has a valid tool name.
func actionName(r *yamlconf.Reader, e yamlconf.Entry) bool {
	if word(strings.ReplaceAll(e.Name, "-", "_")) {
		return true
	}
	r.Wrong(e.Key, e.At, "an action is named with letters, digits, _ and -, a letter first, at most 63")
	return false
}

// actionKeys returns the keys of one action, read into d. Whether the keys fit together is checked when the action is
// compiled: see WrongAction.
func (c *Config) actionKeys(d *action.Declaration) []yamlconf.Key {
	return []yamlconf.Key{
		{Name: "title", Doc: "For people", Shape: yamlconf.Words(&d.Title)},
		{Name: "description", Doc: "For agents: what it does and when to use it", Shape: yamlconf.Words(&d.Description)},
		{Name: "do", Doc: "create, update or delete a record. sql runs a statement, http an operation of an API, go a function of the embedding program, cloud a cloud function of Parse Server", Must: true,
			Shape: yamlconf.OneOf(&d.Do, action.Kinds()...)},
		{Name: "input", Doc: "The arguments: a JSON Schema of an object", Shape: yamlconf.Data(&d.Input)},
		{Name: "record", Doc: "The id of the record that it is about: {$cel: input.issueId}. Without it callers say object_id", Shape: yamlconf.Any(&d.Record)},
		{Name: "set", Doc: "The value of each field: plain, or {$cel: input.title} over input, record, now, principal and what was looked up. What asks for an argument that isn't given is left out", Shape: yamlconf.Data(&d.Set)},
		{Name: "permitted", Doc: "Fields that arguments of the same names set, besides set", Shape: yamlconf.List(&d.Permitted, "field names", nil)},
		{Name: "scope", Doc: "The scope that it needs: write (the default), delete or schema", Shape: yamlconf.OneOf(&d.Permission, identity.Write, identity.Delete, identity.Schema)},
		{Name: "supports_dry_run", Doc: "true: dry_run tries it, and leaves nothing", Shape: yamlconf.Flag(&d.DryRun)},
		{Name: "transitions", Doc: "By field: the values that may follow each value", Shape: transitions(&d.Transitions)},
		{Name: "lookup", Doc: "Records that expressions ask about, by name, as the caller sees them. A lookup is null if its id yields nothing", Shape: lookups(&d.Lookup)},
		{Name: "require", Doc: "What must be true of a call", Shape: pack.ReadRequirements(&d.Require, "An expression over input, record, now, principal and what was looked up. What fails is false")},
		{Name: "review", Doc: "How it may run: allow, review or deny. Without it the rules of the class and of review say", Shape: yamlconf.OneOf(&d.Review, modes()...)},
		{Name: "summary", Doc: "The line that reviewers read first: a text, or {$cel: …}", Shape: yamlconf.Any(&d.Summary)},
		{Name: "tool", Doc: "true: it is also a tool of its own, of its name", Shape: yamlconf.Flag(&d.Tool)},
		{Name: "check_against", Doc: "The class that describes what the arguments are for, such as one of a metadata cache: a name, or the class with fields and record. Arguments that break its types, required fields, picklists and lengths are refused",
			Shape: pack.ReadAgainst(&d.CheckAgainst)},
		{Name: "statement", Doc: "Of do: sql: the statement, with :name for each value of set", Shape: yamlconf.Words(&d.Statement)},
		{Name: "api", Doc: "Of do: http: the source", Shape: yamlconf.Words(&d.API)},
		{Name: "operation", Doc: "Of do: http: the operation of the source", Shape: yamlconf.Words(&d.Operation)},
		{Name: "function", Doc: "Of do: cloud: the cloud function, which gets the values of set", Shape: yamlconf.Words(&d.Function)},
	}
}

// transitions returns the shape of the allowed next values, by field and value.
func transitions(into *map[string]map[string][]string) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "field", Of: func(field string) (yamlconf.Shape, func()) {
		next := map[string][]string{}
		from := yamlconf.Each(yamlconf.Table{Names: "value", Of: func(value string) (yamlconf.Shape, func()) {
			to := []string{}
			return yamlconf.Items("values", func(int) (yamlconf.Shape, func()) {
				return yamlconf.Text("a value", func(s string) string { to = append(to, s); return "" }), nil
			}), func() { next[value] = to }
		}})
		return from, func() {
			if *into == nil {
				*into = map[string]map[string][]string{}
			}
			(*into)[field] = next
		}
	}})
}

// lookups returns the shape of the records that an action reads before it writes, by name.
func lookups(into *map[string]action.Lookup) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "lookup", Of: func(name string) (yamlconf.Shape, func()) {
		var l action.Lookup
		return yamlconf.Object([]yamlconf.Key{
				{Name: "class", Doc: "The class of the record", Must: true, Shape: yamlconf.Words(&l.Class)},
				{Name: "id", Doc: "Its id: {$cel: input.parentId}", Must: true, Shape: yamlconf.Any(&l.ID)},
			}, nil), func() {
				if *into == nil {
					*into = map[string]action.Lookup{}
				}
				(*into)[name] = l
			}
	}})
}

// WrongAction returns a fault at the position of an action.
func (c *Config) WrongAction(f *action.DeclarationFault) Fault {
	path := []string{"classes", c.classKey(f.On), "actions", f.Action}
	if _, ok := c.document.Place(path...); !ok {
		path = []string{"actions", f.Action}
	}
	return c.Wrong(f.Message, append(path, f.Key...)...)
}

// reviewName returns the name of review rule i, as stored in changes.
func reviewName(i int) string { return "review[" + strconv.Itoa(i) + "]" }
