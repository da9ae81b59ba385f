package expression

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Arguments contains the compiled arguments of a declaration.
type Arguments struct {
	*argcheck.Schema
	defaults []value.Member
}

// compileArguments compiles the JSON Schema of arguments. It calls wrong for each fault. It refuses names that are
// reserved for every call, and defaults that violate the schema. It returns nil if the schema can't be used for
// checks.
func compileArguments(doc value.Value, reserved []string, wrong Fault) *Arguments {
	schema, err := argcheck.Compile(json.RawMessage(doc.AppendJSON(nil)), false)
	if err != nil {
		wrong([]string{"input"}, "%v", err)
		return nil
	}
	a := &Arguments{Schema: schema}
	properties, _ := doc.Get("properties")
	for _, p := range properties.Members() {
		if slices.Contains(reserved, p.Name) {
			wrong([]string{"input", "properties", p.Name}, "is an argument that the gateway adds. Choose another name")
		}
		if v, ok := p.Value.Get("default"); ok {
			a.defaults = append(a.defaults, value.Member{Name: p.Name, Value: v})
		}
	}
	if refused := problem.Of(schema.Check(value.OfObject(a.defaults))); refused != nil {
		for _, f := range refused.Faults {
			if f.Rule != "required" { // not every argument needs a default
				wrong([]string{"input", "properties", strings.TrimPrefix(f.Pointer, "/"), "default"}, "the default breaks the schema: %s", f.Message)
			}
		}
	}
	return a
}

// WithDefaults returns the arguments in with defaults for missing arguments. It omits the arguments named in leave.
func (a *Arguments) WithDefaults(in value.Value, leave ...string) value.Value {
	members := slices.DeleteFunc(slices.Clone(in.Members()), func(m value.Member) bool { return slices.Contains(leave, m.Name) })
	for _, d := range a.defaults {
		if _, ok := in.Get(d.Name); !ok {
			members = append(members, d)
		}
	}
	return value.OfObject(members)
}
