package expression

import (
	"cel.dev/cel-go/cel"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Facts are what a rule over changes can ask of one: what the server worked out, and nothing that an agent said.
type Facts struct {
	Op      string   // "create", "update", "delete", "action", "call" or "schema"; "group" when a change has several
	Class   string   // "source.Class" of the first of Classes; "" for none
	Classes []string // "source.Class", sorted
	Fields  []string // that are set, sorted, each once
	Rows    int      // records that are named
	Action  string   // the action that made it; "" for none
	Tool    string   // what was called
	Source  string
	Risk    string // "low", "medium" or "high", as worked out without any rule
}

// changeRoot is what can be asked of a change.
func changeRoot() root {
	text, list := cel.StringType, cel.ListType(cel.StringType)
	return root{name: "change", what: "a change", such: "change.op or change.rows", fields: []field{
		{"op", text}, {"class", text}, {"classes", list}, {"fields", list}, {"rows", cel.IntType}, {"action", text}, {"tool", text},
		{"source", text}, {"risk", text},
	}}
}

// object returns f as an expression reads it.
func (f *Facts) object() value.Value {
	text := value.OfString
	list := func(names []string) value.Value {
		out := make([]value.Value, len(names))
		for i, name := range names {
			out[i] = text(name)
		}
		return value.OfArray(out)
	}
	return value.OfObject([]value.Member{{Name: "op", Value: text(f.Op)}, {Name: "class", Value: text(f.Class)}, {Name: "classes", Value: list(f.Classes)},
		{Name: "fields", Value: list(f.Fields)}, {Name: "rows", Value: value.OfInt(int64(f.Rows))}, {Name: "action", Value: text(f.Action)},
		{Name: "tool", Value: text(f.Tool)}, {Name: "source", Value: text(f.Source)}, {Name: "risk", Value: text(f.Risk)}})
}

// A Condition is compiled CEL over change and principal that is true or false. It never changes and may be evaluated by
// many at once. Only CompileChange makes one that works; the zero Condition is an error for everything.
type Condition struct{ expression *Expression }

// CompileChange returns the condition that text writes. What is wrong with it is a *Fault.
func (c *Compiler) CompileChange(text string) (*Condition, error) {
	e, err := c.changes().Compile(text, Bool)
	if err != nil {
		return nil, err
	}
	return &Condition{e}, nil
}

// String returns the text that was compiled.
func (c *Condition) String() string { return c.expression.String() }

// Holds reports whether c is true of a change that who proposes. Its errors are those of Eval: the caller decides for
// the side of care.
func (c *Condition) Holds(f Facts, p identity.Principal) (bool, error) {
	if c.expression == nil {
		return false, ErrNothing
	}
	v, err := c.expression.EvalOver(p, map[string]value.Value{"change": f.object()})
	return err == nil && v.Bool(), err
}
