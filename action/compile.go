package action

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// recordName is the name of the variable for the action's record.
const recordName = "record"

// revert is a reserved name. Package writes uses it for reverting a change.
const revert = "revert"

// Arguments of every call, in addition to the arguments of the action.
const (
	ReasonArgument = "reason"
	DryRunArgument = "dry_run"
	RecordArgument = "object_id"
)

// A DeclarationFault is an error in a declaration.
type DeclarationFault struct {
	On, Action string   // as declared
	Key        []string // the path below the action, such as "set", "title"
	Message    string
}

// Error returns the place and the message.
func (f *DeclarationFault) Error() string {
	return "classes." + f.On + ".actions." + strings.Join(append([]string{f.Action}, f.Key...), ".") + ": " + f.Message
}

// A Set is a set of compiled actions. The zero Set is empty.
type Set struct {
	actions []*Action // sorted by name and then class
}

// Compile compiles declarations against the current rules and their catalogue. The error joins a DeclarationFault for
// each error found.
func Compile(declared []Declaration, p *policy.Policy) (*Set, error) {
	s := &Set{}
	var errs []error
	expressions := expression.NewCompiler()
	for _, d := range declared {
		b := builder{policy: p, Action: &Action{Declaration: d}}
		b.call = expression.NewCallCompiler(expressions, b.wrong)
		b.build()
		for _, other := range s.actions {
			switch {
			case other.Name != d.Name || b.Class == nil:
			case other.Class.FullName() == b.Class.FullName():
				b.wrong(nil, "the class has another action of the name")
			case other.Tool && d.Tool:
				b.wrong([]string{"tool"}, "another tool has the name: the action of %s", other.On)
			}
		}
		errs = append(errs, b.errs...)
		s.actions = append(s.actions, b.Action)
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	slices.SortFunc(s.actions, func(a, b *Action) int {
		return strings.Compare(a.Name+" "+a.Class.FullName(), b.Name+" "+b.Class.FullName())
	})
	return s, nil
}

// All returns the actions, sorted by name.
func (s *Set) All() []*Action { return slices.Clone(s.actions) }

// On returns the actions of a class, "source.Class", sorted by name.
func (s *Set) On(class string) []*Action {
	var out []*Action
	for _, a := range s.actions {
		if a.Class.FullName() == class {
			out = append(out, a)
		}
	}
	return out
}

// A builder compiles one declaration.
type builder struct {
	*Action
	policy *policy.Policy
	call   *expression.CallCompiler
	fields []string // the visible and unmasked fields of the class
	errs   []error
}

func (b *builder) wrong(at []string, format string, args ...any) {
	b.errs = append(b.errs, &DeclarationFault{b.Declaration.On, b.Name, slices.Clone(at), fmt.Sprintf(format, args...)})
}

// build compiles the declaration into b.Action and reports each error to b.wrong. The order of the steps matters,
// because expressions can use only variables that were compiled before.
func (b *builder) build() {
	if b.Class, b.fields = b.findClass(b.Declaration.On, nil); b.Class == nil {
		return
	}
	if !slices.Contains(Kinds(), b.Do) {
		b.wrong([]string{"do"}, "must be create, update, delete, sql, http, go or cloud")
		return
	}
	if b.Name == revert {
		b.wrong(nil, "revert is what people do with a change. Choose another name")
	}
	b.scope()
	b.target()
	if b.compileArguments(); b.Action.arguments == nil {
		return
	}
	b.compileCheck()
	b.variables()
	if b.record, b.summary = b.call.Optional(b.Record, "record"), b.call.Optional(b.Summary, "summary"); b.record != nil && b.Do == Create {
		b.wrong([]string{"record"}, "a new record has no id yet. Take it out")
	} else if b.record != nil && b.Class.Recordless {
		b.wrong([]string{"record"}, "%s is a description without records. Take it out", b.Class.Name)
	}
	b.sets()
	early, late := b.call.Require(b.Require)
	b.require = append(early, late...)
	b.transit()
}

// findClass returns a class and the fields of it that actions can use.
func (b *builder) findClass(name string, at []string) (*schema.Class, []string) {
	class, visible, masked, err := b.policy.VisibleClass(name)
	if err != nil {
		b.wrong(at, "%v", err)
		return nil, nil
	}
	var names []string
	for _, f := range visible {
		if !slices.Contains(masked, f.Name) {
			names = append(names, f.Name)
		}
	}
	return class, names
}

// scope sets the scope that a call of the action requires. It is the declared permission. By default it is delete for
// an action of kind Delete, and write for others. The scope write is never enough to delete.
func (b *builder) scope() {
	switch b.Scope = b.Permission; b.Scope {
	case identity.Write, identity.Delete, identity.Schema:
	case "":
		if b.Scope = identity.Write; b.Do == Delete {
			b.Scope = identity.Delete
		}
	default:
		b.wrong([]string{"scope"}, "must be write, delete or schema")
	}
	if b.Do == Delete && b.Scope == identity.Write {
		b.wrong([]string{"scope"}, "what deletes needs delete or schema")
	}
}

// target checks the keys that belong to only one kind.
func (b *builder) target() {
	needs := func(key, text string, of Kind) {
		switch {
		case b.Do == of && strings.TrimSpace(text) == "":
			b.wrong([]string{key}, "do: %s needs it", of)
		case b.Do != of && text != "":
			b.wrong([]string{key}, "belongs to do: %s alone", of)
		}
	}
	needs("statement", b.Statement, SQL)
	needs("api", b.API, HTTP)
	needs("operation", b.Operation, HTTP)
	needs("function", b.Function, Cloud)
	if b.Do == Cloud && b.Class.Guard == nil {
		b.wrong([]string{"do"}, "cloud functions are of an application on Parse Server, and %s is of another source", b.Class.Name)
	}
	if b.Do == SQL {
		sum := sha256.Sum256([]byte(b.Statement))
		b.statement = hex.EncodeToString(sum[:])
	}
	if b.Class.Recordless && b.Do != HTTP {
		b.wrong([]string{"do"}, "%s is a description without records: only do: http can be about it", b.Class.Name)
		return
	}
	if b.Class.View && (b.Do == Create || b.Do == Update || b.Do == Delete) {
		b.wrong([]string{"do"}, "%s is a view of the database: its records can't be written", b.Class.Name)
	}
	if !b.Class.View && len(b.Class.Key) == 0 && b.Do != HTTP && b.Do != Go && b.Do != SQL && b.Do != Cloud {
		b.wrong([]string{"do"}, "records of %s have no id: they can't be written one by one", b.Class.Name)
	}
}

// variables declares the variables of the action's expressions.
func (b *builder) variables() {
	if b.Do != Create {
		b.call.Declare(expression.Variable{Name: recordName, What: "a record of " + b.Class.Name, Members: b.fields})
	}
	// The id of a lookup is evaluated before any lookup is available.
	var vars []expression.Variable
	for _, name := range slices.Sorted(maps.Keys(b.Lookup)) {
		at := []string{"lookup", name}
		if !b.call.Declares(name, at, recordName) {
			continue
		}
		class, fields := b.findClass(b.Lookup[name].Class, append(at, "class"))
		if class == nil {
			continue
		}
		id := b.call.Template(b.Lookup[name].ID, append(at, "id")...)
		b.lookups = append(b.lookups, lookup{name, class.FullName(), id})
		vars = append(vars, expression.Variable{Name: name, What: "a record of " + class.Name, Members: fields})
	}
	b.call.Declare(vars...)
}

// sets compiles the templates in Set.
func (b *builder) sets() {
	if !b.Set.IsNull() && b.Set.Kind() != value.Object {
		b.wrong([]string{"set"}, "must be an object of values by name")
		return
	}
	record := b.Do == Create || b.Do == Update
	for _, m := range b.Set.Members() {
		at := []string{"set", m.Name}
		switch f := b.Class.Field(m.Name); {
		case !record || f != nil && slices.Contains(b.fields, m.Name) && !f.Generated:
		case f != nil && f.Generated:
			b.wrong(at, "%s is filled in by the source", m.Name)
		default:
			b.wrong(at, "%s has no field %q that agents see%s", b.Class.Name, problem.Cut(m.Name), problem.DidYouMean(problem.Nearest(m.Name, b.fields, 2)))
		}
		if slices.Contains(b.Permitted, m.Name) {
			b.wrong(at, "%s is permitted as well: an argument sets it", m.Name)
		}
		b.set = append(b.set, expression.NamedTemplate{Name: m.Name, Of: b.call.Template(m.Value, at...)})
	}
	b.permitted = b.Permitted
	switch {
	case b.Do == Delete && (b.set != nil || b.permitted != nil):
		b.wrong([]string{"set"}, "what deletes sets nothing. Take it out")
	case record && b.set == nil && b.permitted == nil:
		b.wrong(nil, "needs set, or permitted")
	case b.permitted != nil && !record:
		b.wrong([]string{"permitted"}, "belongs to do: create and do: update alone")
	}
}

// transit compiles the transitions.
func (b *builder) transit() {
	for _, field := range slices.Sorted(maps.Keys(b.Transitions)) {
		at := []string{"transitions", field}
		t := transition{field: field, next: b.Transitions[field]}
		if slices.Contains(b.permitted, field) {
			t.argument = field
		}
		sets := t.argument != ""
		for _, n := range b.set {
			if n.Name == field {
				t.argument, sets = n.Of.Member(expression.InputName), true
			}
		}
		f := b.Class.Field(field)
		switch {
		case b.Do != Update:
			b.wrong(at, "belongs to do: update alone")
		case f == nil || !slices.Contains(b.fields, field):
			b.wrong(at, "%s has no field %q that agents see%s", b.Class.Name, problem.Cut(field), problem.DidYouMean(problem.Nearest(field, b.fields, 2)))
		case !sets:
			b.wrong(at, "the action doesn't set %s", field)
		}
		if f != nil && f.Values != nil {
			b.checkValues(at, f, t.next)
		}
		b.transitions = append(b.transitions, t)
	}
}

// checkValues rejects values that a field can't have.
func (b *builder) checkValues(at []string, f *schema.Field, next map[string][]string) {
	values := make([]string, len(f.Values))
	for i, v := range f.Values {
		values[i] = v.String()
	}
	for _, from := range slices.Sorted(maps.Keys(next)) {
		for _, name := range append([]string{from}, next[from]...) {
			if !slices.Contains(values, name) {
				b.wrong(append(at, from), "%s can't be %q%s", f.Name, problem.Cut(name), problem.DidYouMean(problem.Nearest(name, values, 2)))
			}
		}
	}
}
