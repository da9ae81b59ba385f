package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// expr parses an expression, one level deeper than its parent.
func (o operand) expr() Expr {
	o.depth++
	o.node()
	if o.err != nil {
		return nil
	}
	switch o.v.Kind() {
	case value.String:
		return o.reference()
	case value.Array:
		if !constant(o.v) {
			return ListExpr{Elements: o.expressions(), At: o.at}
		}
	case value.Object:
		return o.compound()
	}
	o.refuse(literals.Sane(o.v, o.at))
	return Literal{Value: o.v, At: o.at}
}

// expressions parses the elements of a list.
func (o operand) expressions() []Expr {
	var out []Expr
	for e := range o.members {
		out = append(out, e.expr())
	}
	return out
}

// reference parses text: a path after one dollar, a variable after two, or otherwise the text itself.
func (o operand) reference() Expr {
	name, ok := strings.CutPrefix(o.v.Text(), "$")
	if !ok {
		return Literal{Value: o.v, At: o.at}
	}
	variable, ok := strings.CutPrefix(name, "$")
	if !ok {
		path, err := CheckPath(name, o.at)
		o.refuse(err)
		return FieldRef{Path: path, At: o.at}
	}
	variable, rest, dotted := strings.Cut(variable, ".")
	var path Path
	if dotted {
		var err error
		path, err = CheckPath(rest, o.at)
		o.refuse(err)
	}
	switch {
	case variable != "ROOT" && variable != "CURRENT":
		o.checkVariable(variable)
	case dotted:
		return FieldRef{Path: path, At: o.at}
	default:
		variable = "ROOT"
	}
	return VariableRef{Name: variable, Path: path, At: o.at}
}

// checkVariable rejects an undefined variable.
func (o operand) checkVariable(name string) {
	if name == "KEEP" || name == "PRUNE" || name == "DESCEND" {
		o.refuse(invalid(o.at, "$$"+name+" is for $redact alone"))
	}
	if slices.Contains(o.vars, name) {
		return
	}
	known := []string{"$$ROOT", "$$CURRENT"}
	for _, v := range o.vars {
		known = append(known, "$$"+v)
	}
	slices.Sort(known)
	o.refuse(hint.Operator("variable", "$$"+name, o.at, slices.Compact(known)))
}

// constant reports whether v is a plain constant without paths, operators and typed values.
func constant(v value.Value) bool {
	for _, e := range v.List() {
		if !constant(e) {
			return false
		}
	}
	for _, m := range v.Members() {
		if m.Name == "__type" || literals.Name(m.Name, "") != nil || !constant(m.Value) {
			return false
		}
	}
	return v.Kind() != value.String || !strings.HasPrefix(v.Text(), "$")
}

// compound parses an object: an operator, a typed literal, or computed members.
func (o operand) compound() Expr {
	if operators(o.v) {
		op, more := o.v.Members()[0], o.v.Members()[1:]
		if len(more) > 0 {
			o.refuse(invalid(Pointer(o.at, more[0].Name), fmt.Sprintf("an expression is one operator, got %s beside %s", problem.Cut(more[0].Name), problem.Cut(op.Name))))
		}
		return o.member(op.Name, op.Value).operation()
	}
	if !o.nests() {
		v, err := literals.Value(o.v, o.at)
		o.refuse(err)
		return Literal{Value: v, At: o.at}
	}
	x := ObjectExpr{At: o.at}
	for m := range o.members {
		if strings.HasPrefix(m.name, "$") {
			o.refuse(invalid(m.at, "operators and plain keys can't be in one object"))
		}
		o.refuse(literals.Name(m.name, m.at))
		x.Members = append(x.Members, Computed{Name: Path{m.name}, Value: m.expr(), At: m.at})
	}
	return x
}

// date parses the text of a $date.
func (o operand) date() value.Value {
	date, ok := value.OfDateText(o.v.Text())
	if !o.is(value.String) || !ok {
		o.refuse(invalid(o.at, `a date is written {"$date": "2026-01-31T13:00:00Z"}`))
	}
	return date
}
