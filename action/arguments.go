package action

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// compileArguments builds the schema of the arguments. It allows only the declared properties and the permitted
// fields.
func (b *builder) compileArguments() {
	var more []value.Member
	for i, name := range b.Permitted {
		f := b.Class.Field(name)
		if f == nil || !slices.Contains(b.fields, name) {
			b.wrong([]string{"permitted", fmt.Sprint(i)}, "%s has no field %q that agents see%s", b.Class.Name, problem.Cut(name), problem.DidYouMean(problem.Nearest(name, b.fields, 2)))
			continue
		}
		more = append(more, value.Member{Name: name, Value: writes.ArgumentSchema(f)})
	}
	schema, _ := b.call.Input(b.Declaration.Input, more, ReasonArgument, DryRunArgument, RecordArgument)
	b.Action.shown, b.Action.arguments = schema.With().AppendJSON(nil), b.call.Arguments
}

// compileCheck compiles the check_against declaration.
func (b *builder) compileCheck() {
	d, key := b.CheckAgainst, "check_against"
	switch {
	case d.Class == "":
		return
	case b.Do == Delete:
		b.wrong([]string{key}, "what deletes has nothing to check. Take it out")
		return
	case d.Record == writes.CheckNew && b.Do == Update:
		b.wrong([]string{key, "record"}, "what updates changes a record that is there. Take it out")
		return
	case d.Record == "" && b.Do == Create:
		d.Record = writes.CheckNew
	}
	b.check = writes.CompileCheck(b.policy, d, b.Action.arguments.Names(), func(at []string, format string, args ...any) {
		b.wrong(append([]string{key}, at...), format, args...)
	})
}
