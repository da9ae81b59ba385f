package expression

import (
	"cel.dev/cel-go/cel"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Facts contains the properties of a change that a rule can test. The gateway computes them. Agents can't set them.
type Facts struct {
	Op      string   // "create", "update", "delete", "action", "call" or "schema". "group" for a change with several of them
	Class   string   // "source.Class", the first of Classes, or "" if there is none
	Classes []string // "source.Class", sorted
	Fields  []string // the set fields, sorted and distinct
	Rows    int      // the number of written records
	Action  string   // the action that made it, or ""
	Tool    string   // the tool that was called
	Source  string
	Risk    string // "low", "medium" or "high", as computed before review rules apply
}

// changeRoot declares the fields of a change.
func changeRoot() root {
	text, list := cel.StringType, cel.ListType(cel.StringType)
	return root{name: "change", what: "a change", such: "change.op or change.rows", fields: []field{
		{"op", text}, {"class", text}, {"classes", list}, {"fields", list}, {"rows", cel.IntType}, {"action", text}, {"tool", text},
		{"source", text}, {"risk", text},
	}}
}

// object returns f as the value of the variable "change".
func (f *Facts) object() value.Value {
	text, list := value.OfString, value.OfStrings[string]
	return value.OfObject([]value.Member{{Name: "op", Value: text(f.Op)}, {Name: "class", Value: text(f.Class)}, {Name: "classes", Value: list(f.Classes)},
		{Name: "fields", Value: list(f.Fields)}, {Name: "rows", Value: value.OfInt(int64(f.Rows))}, {Name: "action", Value: text(f.Action)},
		{Name: "tool", Value: text(f.Tool)}, {Name: "source", Value: text(f.Source)}, {Name: "risk", Value: text(f.Risk)}})
}

// A Condition is a compiled CEL condition over change and principal. It is immutable and safe for concurrent use.
// Only CompileChange creates valid Conditions. The zero Condition always returns errNothing.
type Condition struct{ expression *Expression }

// CompileChange compiles a condition. Errors in text are of type *expressionFault.
func (c *Compiler) CompileChange(text string) (*Condition, error) {
	e, err := c.changes().Compile(text, Bool)
	if err != nil {
		return nil, err
	}
	return &Condition{e}, nil
}

// String returns the text that was compiled.
func (c *Condition) String() string { return c.expression.String() }

// Holds reports whether c is true for a change that p proposes. It fails with the errors of Eval. On an error, the
// caller must choose the safer result.
func (c *Condition) Holds(f Facts, p identity.Principal) (bool, error) {
	if c.expression == nil {
		return false, errNothing
	}
	v, err := c.expression.EvalOver(p, map[string]value.Value{"change": f.object()})
	return v.Bool(), err
}
