package sqlexpr

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck/typed"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// member binds x -> y: a member of an object or an element of a list; as text for ->>.
func (b *Binder) member(x, y Node, asText bool, p sqlparse.Pos) (Node, error) {
	k, ok := y.Expr.(plan.Const)
	if !ok || !typed.Dynamic(x.Kind()) {
		return Node{}, Invalid(p, "-> takes JSON on its left and a constant name or number on its right")
	}
	var out plan.Expr
	switch {
	case k.Value.Kind() == value.String:
		out = plan.Part{X: x.JSON(), Path: query.Path{k.Value.Text()}}
	case k.Value.Kind() == value.Int:
		out = plan.Apply{Op: plan.ElemAt, Args: []plan.Expr{x.JSON(), Whole(k.Value.Int())}, T: schema.JSON}
	default:
		return Node{}, Invalid(p, "-> takes a constant name or number on its right")
	}
	return b.leaf(out, asText), nil
}

// leaf returns JSON as it is, or as text.
func (b *Binder) leaf(x plan.Expr, asText bool) Node {
	if asText {
		x = plan.Convert{X: x, T: schema.String}
	}
	return Node{Node: typed.Node{Expr: x}}
}

// memberPath binds x #> '{a,b}'.
func (b *Binder) memberPath(x, y Node, asText bool, p sqlparse.Pos) (Node, error) {
	k, ok := y.Expr.(plan.Const)
	if !ok || k.Value.Kind() != value.String || !typed.Dynamic(x.Kind()) {
		return Node{}, Invalid(p, "#> takes JSON on its left and a constant path such as '{a,b}' on its right")
	}
	var out plan.Expr = x.JSON()
	for _, part := range strings.Split(strings.Trim(k.Value.Text(), "{}"), ",") {
		out = step(out, strings.TrimSpace(part))
	}
	return b.leaf(out, asText), nil
}

// step returns the member of x called name, or, if that is a number, the element.
func step(x plan.Expr, name string) plan.Expr {
	n := int64(0)
	if _, err := fmt.Sscanf(name, "%d", &n); err == nil && fmt.Sprint(n) == name {
		return plan.Apply{Op: plan.ElemAt, Args: []plan.Expr{x, Whole(n)}, T: schema.JSON}
	}
	return plan.Part{X: x, Path: query.Path{name}}
}
