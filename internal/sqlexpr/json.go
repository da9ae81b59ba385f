package sqlexpr

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqljson"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck/typed"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// member binds x -> y: a member of an object or an element of a list; as text for ->>.
func (b *Binder) member(x, y Node, asText bool, p sqlparse.Pos) (Node, error) {
	k, ok := y.Expr.(plan.Const)
	if !ok || !typed.Dynamic(x.Kind()) {
		return Node{}, Invalid(p, "-> takes JSON on its left, and not the text that ->> makes; and a constant name or number on its right")
	}
	switch k.Value.Kind() {
	case value.String:
		return leaf(sqljson.Member(x.JSON(), k.Value.Text()), asText), nil
	case value.Int:
		return leaf(sqljson.Element(x.JSON(), k.Value.Int()), asText), nil
	}
	return Node{}, Invalid(p, "-> takes a constant name or number on its right")
}

// leaf returns JSON as it is, or as text.
func leaf(x plan.Expr, asText bool) Node {
	if asText {
		x = plan.Convert{X: x, T: schema.String}
	}
	return Node{Node: typed.Node{Expr: x}}
}

// memberPath binds x #> '{a,b}'.
func (b *Binder) memberPath(x, y Node, asText bool, p sqlparse.Pos) (Node, error) {
	k, ok := y.Expr.(plan.Const)
	if ok && typed.Dynamic(x.Kind()) {
		if out, ok := sqljson.Route(x.JSON(), k.Value.Text()); ok {
			return leaf(out, asText), nil
		}
	}
	return Node{}, Invalid(p, "#> takes JSON on its left and a constant path such as '{a,b}' on its right")
}
