package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// long is the length from which a list of constants becomes one value, which a source receives as one argument.
const long = 50

// amongConstants binds IN with a long list of texts or of whole numbers, for an expression of the same type. It reports
// whether e has this form.
func (b *Binder) amongConstants(e *sqlparse.In) (cond, bool, error) {
	if len(e.List) < long {
		return cond{}, false, nil
	}
	x, err := b.Value(e.X)
	if err != nil || x.IsObject() {
		return cond{}, false, err
	}
	if t := x.Kind(); t != schema.String && t != schema.Integer || x.Span || x.IsNull() {
		return cond{}, false, nil
	}
	var values []value.Value
	known := true // no value is null
	for _, item := range e.List {
		n, err := b.Value(item)
		if err != nil || n.IsObject() {
			return cond{}, false, err
		}
		k, ok := n.Expr.(plan.Const)
		switch {
		case ok && k.Value.IsNull():
			known = false
		case !ok || n.Span || n.Kind() != x.Kind():
			return cond{}, false, nil
		default:
			values = append(values, k.Value)
		}
	}
	own, err := x.Element("IN")
	in := Test(plan.InList, own, plan.Const{Value: value.OfArray(values), T: schema.JSON})
	there, none := Not(isNull(x.Expr)), constantly(false)
	if known {
		none = Test(plan.And, there, Not(in))
	}
	return cond{Test(plan.And, there, in), none}, true, err
}

// flat combines x and y with an operator. If x already has this operator, y becomes another operand of it.
func flat(o plan.Op, x, y plan.Expr) plan.Expr {
	if a, ok := x.(plan.Apply); ok && a.Op == o {
		a.Args = append(a.Args[:len(a.Args):len(a.Args)], y)
		return a
	}
	return Test(o, x, y)
}
