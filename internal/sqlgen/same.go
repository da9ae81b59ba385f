package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Same writes the condition that x equals y. The arguments at and in are the scopes of x and y. The condition is null
// if one side is null. If both are stored columns, the condition can use an index on x.
func Same(d Dialect, at Scope, x plan.Expr, in Scope, y plan.Expr) (string, error) {
	return between{d, at, in}.same(x, y, func(left, right string) (string, error) { return d.Compare(at, plan.Eq, left, right, x.Type()) })
}

// An Optional is a Dialect with a different equality for some LEFT JOINs. It applies if y is in a record for which an
// earlier LEFT JOIN may have found no match.
type Optional interface {
	EqualOptional(s Scope, x, y string, t schema.Type) string
}

// sameOptional is Same for a y in a record for which a LEFT JOIN may have found no match.
func sameOptional(d Dialect, at Scope, x plan.Expr, in Scope, y plan.Expr) (string, error) {
	o, ok := d.(Optional)
	if !ok {
		return Same(d, at, x, in, y)
	}
	return between{d, at, in}.same(x, y, func(left, right string) (string, error) { return o.EqualOptional(at, left, right, x.Type()), nil })
}

// A between compares expressions in two scopes.
type between struct {
	d      Dialect
	at, in Scope
}

// same writes the condition that x in the first scope equals y in the second. equal writes the comparison. For stored
// columns, same uses the test from the dialect's Find, which can use an index.
func (b between) same(x, y plan.Expr, equal func(left, right string) (string, error)) (string, error) {
	left, err := WriteExpr(b.d, b.at, x)
	if err != nil {
		return "", err
	}
	right, err := WriteExpr(b.d, b.in, y)
	if err != nil {
		return "", err
	}
	test, err := equal(left, right)
	if err != nil {
		return "", err
	}
	stored, f := b.at.Field(x)
	other, g := b.in.Field(y)
	if f == nil || g == nil {
		return test, nil
	}
	find, exact := b.d.Find(stored, f, other, g)
	switch {
	case find == "":
		return test, nil
	case exact:
		return find, nil
	}
	return "(" + find + " AND " + test + ")", nil
}
