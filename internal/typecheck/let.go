package typecheck

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// let binds a $let. It computes each variable once, in a column. Otherwise nested expressions would grow without limit.
// Inside an operator over a list, where a value can't be put in a column, a variable can only be the element or a part
// of it.
func (s scope) let(e query.Let) (Node, error) {
	inner := s
	inner.lets = s.lets[:len(s.lets):len(s.lets)]
	for _, v := range e.Vars {
		n, err := s.expr(v.Value)
		if err == nil {
			err = n.CheckComputable()
		}
		if err != nil {
			return Node{}, err
		}
		switch below(n.Expr).(type) {
		case plan.Ref, plan.Outer, plan.Const, plan.Element, plan.Before: // short enough to repeat
		default:
			if n.IsObject() || len(s.elements) > 0 {
				return Node{}, problem.UnsupportedError(v.At, "a variable of $let holds a single value, and within $map, $filter and $reduce a path. Write the expression where the variable stands")
			}
			n = s.Keep(n)
		}
		inner.lets = append(inner.lets, let{v.Name[0], n, len(s.elements)})
	}
	return inner.expr(e.In)
}

// below returns the expression of which e is a part, or e itself.
func below(e plan.Expr) plan.Expr {
	if p, ok := e.(plan.Part); ok {
		return below(p.X)
	}
	return e
}

// letOf returns a variable of a $let, as a node of this scope, and whether it exists. It searches the variables that
// were defined within this number of elements.
func (s scope) letOf(e query.VariableRef, elements int) (Node, bool) {
	for i := len(s.lets) - 1; i >= 0; i-- {
		l := s.lets[i]
		if l.name != e.Name || l.elements != elements {
			continue
		}
		n := l.node
		if n.At = e.At; !n.Constant && !n.IsObject() {
			n.Elsewhere(deeper(n.Expr, len(s.elements)-l.elements))
		}
		return n, true
	}
	return Node{}, false
}

// deeper returns a variable for use inside as many more lists.
func deeper(e plan.Expr, by int) plan.Expr {
	switch e := e.(type) {
	case plan.Element:
		return plan.Element{Up: e.Up + by}
	case plan.Before:
		return plan.Before{Up: e.Up + by}
	case plan.Part:
		return plan.Part{X: deeper(e.X, by), Path: e.Path}
	}
	return e
}
