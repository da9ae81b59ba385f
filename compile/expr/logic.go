package expr

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// apply writes the operators that are the same in all dialects, and asks the dialect for the others.
func (w writer) apply(e algebra.Apply) (string, error) {
	switch e.Op {
	case algebra.And, algebra.Or:
		return w.logic(e, w.sure)
	case algebra.Not:
		x, err := w.sure(e.Args[0])
		return "(NOT " + x + ")", err
	case algebra.Eq, algebra.Ne, algebra.Gt, algebra.Gte, algebra.Lt, algebra.Lte, algebra.Cmp:
		return w.compare(e)
	}
	args, err := w.list(e.Args)
	if err != nil {
		return "", err
	}
	switch e.Op {
	case algebra.IsNull:
		return "(" + args[0] + " IS NULL)", nil
	case algebra.Same:
		x, err := w.d.Compare(w.s, algebra.Eq, args[0], args[1], e.Args[0].Type())
		return "coalesce(" + x + ", FALSE)", err
	case algebra.IfNull:
		return "coalesce(" + strings.Join(args, ", ") + ")", nil
	}
	return w.d.Apply(w.s, e, args)
}

// logic writes an And or an Or of what one makes of each operand.
func (w writer) logic(e algebra.Apply, one func(algebra.Expr) (string, error)) (string, error) {
	sep := " AND "
	if e.Op == algebra.Or {
		sep = " OR "
	}
	parts := make([]string, len(e.Args))
	for i, a := range e.Args {
		var err error
		if parts[i], err = one(a); err != nil {
			return "", err
		}
	}
	return "(" + strings.Join(parts, sep) + ")", nil
}

// sure writes a Boolean that is never null: false for null.
func (w writer) sure(e algebra.Expr) (string, error) {
	a, _ := e.(algebra.Apply)
	if a.Op == algebra.And || a.Op == algebra.Or {
		return w.logic(a, w.sure)
	}
	x, err := w.condition(e)
	if err != nil || definite(e) && !plain(e) && a.Op != algebra.Same && (a.Op != algebra.Eq || !w.stored(a.Args)) {
		return x, err
	}
	return "(" + x + " IS TRUE)", nil
}

// condition writes a Boolean for which null means the same as false.
func (w writer) condition(e algebra.Expr) (string, error) {
	a, _ := e.(algebra.Apply)
	switch {
	case a.Op == algebra.And || a.Op == algebra.Or:
		return w.logic(a, w.condition)
	case a.Op == algebra.Same:
		return Same(w.d, w.s, a.Args[0], w.s, a.Args[1])
	case a.Op == algebra.Eq && w.stored(a.Args):
		return w.equal(a)
	case plain(e):
		args, err := w.list(a.Args)
		if err != nil {
			return "", err
		}
		return w.d.Compare(w.s, a.Op, args[0], args[1], a.Args[0].Type())
	}
	return w.expr(e)
}

// Same writes that x at one place and y at another are equal, as a condition that is null where one of them is. Where
// both are columns as they are stored, it lets an index on x find them.
func Same(d Dialect, at Scope, x algebra.Expr, in Scope, y algebra.Expr) (string, error) {
	left, err := Write(d, at, x)
	if err != nil {
		return "", err
	}
	right, err := Write(d, in, y)
	if err != nil {
		return "", err
	}
	test, err := d.Compare(at, algebra.Eq, left, right, x.Type())
	if err != nil {
		return "", err
	}
	stored, f := at.Field(x)
	other, g := in.Field(y)
	if f == nil || g == nil {
		return test, nil
	}
	if find := d.Find(stored, f, other, g); find != "" {
		return "(" + find + " AND " + test + ")", nil
	}
	return test, nil
}

// stored reports whether all of es are columns as they are stored.
func (w writer) stored(es []algebra.Expr) bool {
	return !slices.ContainsFunc(es, func(e algebra.Expr) bool {
		_, f := w.s.Field(e)
		return f == nil
	})
}

// equal writes that two stored columns are equal, or both null, so that an index can serve.
func (w writer) equal(e algebra.Apply) (string, error) {
	same, err := Same(w.d, w.s, e.Args[0], w.s, e.Args[1])
	if err != nil {
		return "", err
	}
	args, err := w.list(e.Args)
	if err != nil {
		return "", err
	}
	return "(" + same + " OR (" + args[0] + " IS NULL AND " + args[1] + " IS NULL))", nil
}

// plain reports whether e is a comparison that is null at most where it doesn't hold.
func plain(e algebra.Expr) bool {
	a, _ := e.(algebra.Apply)
	switch a.Op {
	case algebra.Eq:
		return definite(a.Args[0]) || definite(a.Args[1])
	case algebra.Gt, algebra.Gte:
		return definite(a.Args[1])
	case algebra.Lt, algebra.Lte:
		return definite(a.Args[0])
	}
	return false
}

// A NullComparer is a dialect that knows null in each comparison and Cmp without an operand that stands twice. Inside
// of an Over, where there are no Atoms, text would double with each comparison in another.
type NullComparer interface {
	// CompareNull writes x op y for operands of type t.
	CompareNull(op algebra.Op, x, y string, t schema.Type) string
}

// compare writes a comparison that is never null: null equals null and is less than all else.
func (w writer) compare(e algebra.Apply) (string, error) {
	args, err := w.list(e.Args)
	if err != nil {
		return "", err
	}
	x, y, t := args[0], args[1], e.Args[0].Type()
	both := definite(e.Args[0]) && definite(e.Args[1])
	if n, ok := w.d.(NullComparer); ok && !(both && e.Op != algebra.Ne && e.Op != algebra.Cmp) {
		return n.CompareNull(e.Op, x, y, t), nil
	}
	switch e.Op {
	case algebra.Ne:
		x, err = w.versus(algebra.Eq, x, y, t, both)
		return "(NOT " + x + ")", err
	case algebra.Cmp:
		x, y = w.s.Atom(x), w.s.Atom(y)
		less, err := w.versus(algebra.Lt, x, y, t, both)
		if err != nil {
			return "", err
		}
		more, err := w.versus(algebra.Gt, x, y, t, both)
		zero := w.d.Const(w.s, value.OfInt(0), schema.Integer) // of 64 bits, where a number written alone would have less
		return "(CASE WHEN " + less + " THEN -1 WHEN " + more + " THEN 1 ELSE " + zero + " END)", err
	}
	return w.versus(e.Op, x, y, t, both)
}

// versus writes x op y, null included; both tells that neither is ever null.
func (w writer) versus(op algebra.Op, x, y string, t schema.Type, both bool) (string, error) {
	if both {
		return w.d.Compare(w.s, op, x, y, t)
	}
	x, y = w.s.Atom(x), w.s.Atom(y)
	text, err := w.d.Compare(w.s, op, x, y, t)
	if err != nil {
		return "", err
	}
	var null string // what holds where one of the two is null
	switch op {
	case algebra.Eq:
		null = x + " IS NULL AND " + y + " IS NULL"
	case algebra.Gt:
		null = x + " IS NOT NULL"
	case algebra.Gte:
		null = y + " IS NULL"
	case algebra.Lt:
		null = y + " IS NOT NULL"
	case algebra.Lte:
		null = x + " IS NULL"
	default:
		return "", problem.New(problem.Internal, "compile/expr compares with no such operator")
	}
	return "coalesce(" + text + ", " + null + ")", nil
}

// definite reports whether e is never null.
func definite(e algebra.Expr) bool {
	switch e := e.(type) {
	case algebra.Const:
		return !e.Value.IsNull()
	case algebra.Matches, algebra.Object, algebra.List:
		return true
	case algebra.Apply:
		switch e.Op {
		case algebra.Eq, algebra.Ne, algebra.Gt, algebra.Gte, algebra.Lt, algebra.Lte, algebra.Cmp, algebra.Same, algebra.IsNull, algebra.And,
			algebra.Or, algebra.Not, algebra.Truth, algebra.InList, algebra.IsList, algebra.TypeOf:
			return true
		}
	}
	return false
}

// Unsupported is the problem of what a database can't do, with the nearest form that works.
func Unsupported(detail, nearest string) error {
	return &problem.Error{Code: problem.Unsupported, Detail: detail, Suggestion: nearest}
}

// Sign is how a comparison is written.
func Sign(op algebra.Op) string {
	switch op {
	case algebra.Eq:
		return "="
	case algebra.Gt:
		return ">"
	case algebra.Gte:
		return ">="
	case algebra.Lt:
		return "<"
	}
	return "<="
}

// Standard is what dialects write the same. A dialect embeds it.
type Standard struct{}

// Case implements Dialect.
func (Standard) Case(_ Scope, ifs, thens []string, otherwise string, _ schema.Type) string {
	var b strings.Builder
	b.WriteString("(CASE")
	for i := range ifs {
		b.WriteString(" WHEN " + ifs[i] + " THEN " + thens[i])
	}
	if otherwise != "" {
		b.WriteString(" ELSE " + otherwise)
	}
	b.WriteString(" END)")
	return b.String()
}

// Materialized implements Dialect.
func (Standard) Materialized(keep bool) string {
	if keep {
		return " MATERIALIZED"
	}
	return " NOT MATERIALIZED"
}

// Start implements Dialect.
func (Standard) Start(x string, _ schema.Type) string { return x }

// Correlates implements Dialect.
func (Standard) Correlates() bool { return true }
