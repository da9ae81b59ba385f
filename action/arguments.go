package action

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// compileArguments builds the schema of the arguments: the declared properties, no others, and the permitted fields.
func (b *builder) compileArguments() {
	in := b.Input
	if in.IsNull() {
		in = value.OfObject(nil)
	}
	get := func(name string, otherwise value.Value) value.Value {
		if v, ok := in.Get(name); ok {
			return v
		}
		return otherwise
	}
	properties := slices.Clone(get("properties", value.OfObject(nil)).Members())
	for i, name := range b.Permitted {
		f := b.Class.Field(name)
		if f == nil || !slices.Contains(b.fields, name) {
			b.wrong([]string{"permitted", fmt.Sprint(i)}, "%s has no field %q that agents see%s", b.Class.Name, problem.Cut(name), problem.DidYouMean(problem.Nearest(name, b.fields, 2)))
			continue
		}
		if !slices.ContainsFunc(properties, func(m value.Member) bool { return m.Name == name }) {
			properties = append(properties, value.Member{Name: name, Value: writes.ArgumentSchema(f)})
		}
	}
	members := []value.Member{{Name: "type", Value: get("type", value.OfString("object"))},
		{Name: "additionalProperties", Value: get("additionalProperties", value.OfBool(false))}}
	for _, m := range in.Members() {
		if m.Name != "type" && m.Name != "additionalProperties" && m.Name != "properties" {
			members = append(members, m)
		}
	}
	doc := value.OfObject(append(members, value.Member{Name: "properties", Value: value.OfObject(properties)}))
	b.Action.shown = doc.AppendJSON(nil)
	b.Action.arguments = expression.CompileArguments(doc, []string{ReasonArgument, DryRunArgument, RecordArgument}, b.wrong)
}

// checked compiles the check_against declaration.
func (b *builder) checked() {
	d, key := b.CheckAgainst, "check_against"
	switch {
	case d.Class == "":
		return
	case b.Do == Delete:
		b.wrong([]string{key}, "what deletes has nothing to check; take it out")
		return
	case d.Record == writes.CheckNew && b.Do == Update:
		b.wrong([]string{key, "record"}, "what updates changes a record that is there; take it out")
		return
	case d.Record == "" && b.Do == Create:
		d.Record = writes.CheckNew
	}
	b.check = writes.CompileCheck(b.policy, d, b.Action.arguments.Names(), func(at []string, format string, args ...any) {
		b.wrong(append([]string{key}, at...), format, args...)
	})
}
