package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// member binds x -> y: a member of an object or an element of a list. With asText, it binds ->>, which returns text.
func (b *Binder) member(x, y node, asText bool, p sqlparse.Pos) (node, error) {
	k, ok := y.Expr.(plan.Const)
	if !ok || !typecheck.Dynamic(x.Kind()) {
		return node{}, invalid(p, "-> takes JSON on its left, and not the text that ->> makes. Its right side is a constant name or number")
	}
	switch k.Value.Kind() {
	case value.String:
		return leaf(jsonMember(x.JSON(), k.Value.Text()), asText), nil
	case value.Int:
		return leaf(jsonElement(x.JSON(), k.Value.Int()), asText), nil
	}
	return node{}, invalid(p, "-> takes a constant name or number on its right")
}

// leaf returns x, which is JSON, unchanged or as text.
func leaf(x plan.Expr, asText bool) node {
	if asText {
		x = plan.Convert{X: x, T: schema.String}
	}
	return node{Node: typecheck.Node{Expr: x}}
}

// memberPath binds x #> '{a,b}'.
func (b *Binder) memberPath(x, y node, asText bool, p sqlparse.Pos) (node, error) {
	k, ok := y.Expr.(plan.Const)
	if ok && typecheck.Dynamic(x.Kind()) {
		if out, ok := JSONRoute(x.JSON(), k.Value.Text()); ok {
			return leaf(out, asText), nil
		}
	}
	return node{}, invalid(p, "#> takes JSON on its left and a constant path such as '{a,b}' on its right")
}
