package sqlgen

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// apply writes the operators that are the same in all dialects, and calls the dialect for the others.
func (w exprWriter) apply(e plan.Apply) (string, error) {
	switch e.Op {
	case plan.And, plan.Or:
		return w.logic(e, w.sure)
	case plan.Not:
		x, err := w.sure(e.Args[0])
		return "(NOT " + x + ")", err
	case plan.Eq, plan.Ne, plan.Gt, plan.Gte, plan.Lt, plan.Lte, plan.Cmp:
		return w.compare(e)
	case plan.Concat:
		e.Args = flattenConcat(e.Args)
	}
	args, err := w.list(e.Args)
	if err != nil {
		return "", err
	}
	switch e.Op {
	case plan.IsNull:
		return "(" + args[0] + " IS NULL)", nil
	case plan.Same, plan.Differ, plan.Under, plan.UpTo:
		x, err := writeSQLComparison(w, e, args)
		return "coalesce(" + x + ", FALSE)", err
	case plan.IfNull:
		return "coalesce(" + strings.Join(args, ", ") + ")", nil
	}
	return w.d.Apply(w.s, e, args)
}

// mostJoined is the maximum number of texts that one call joins. Older versions of SQLite accept 127 arguments.
const mostJoined = 100

// flattenConcat returns the texts that a concatenation joins. It replaces an inner concatenation by its texts. One call
// makes only the result. A chain of calls also makes each intermediate text.
func flattenConcat(texts []plan.Expr) []plan.Expr {
	var out []plan.Expr
	for i, x := range texts {
		parts := []plan.Expr{x}
		if inner, _ := x.(plan.Apply); inner.Op == plan.Concat {
			parts = flattenConcat(inner.Args)
		}
		if len(out)+len(parts)+len(texts)-i-1 > mostJoined {
			parts = []plan.Expr{x}
		}
		out = append(out, parts...)
	}
	return out
}

// logic writes an And or an Or. The function one writes each operand.
func (w exprWriter) logic(e plan.Apply, one func(plan.Expr) (string, error)) (string, error) {
	sep := " AND "
	if e.Op == plan.Or {
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

// sure writes a Boolean that is never null. Null becomes false.
func (w exprWriter) sure(e plan.Expr) (string, error) {
	a, _ := e.(plan.Apply)
	if a.Op == plan.And || a.Op == plan.Or {
		return w.logic(a, w.sure)
	}
	x, err := w.condition(e)
	if err != nil || definite(e) && !plain(e) && !asSQL(a.Op) && (a.Op != plan.Eq || !w.areStoredColumns(a.Args)) {
		return x, err
	}
	return "(" + x + " IS TRUE)", nil
}

// condition writes a Boolean in a place where null means the same as false.
func (w exprWriter) condition(e plan.Expr) (string, error) {
	a, _ := e.(plan.Apply)
	switch {
	case a.Op == plan.And || a.Op == plan.Or:
		return w.logic(a, w.condition)
	case a.Op == plan.Same:
		return Same(w.d, w.s, a.Args[0], w.s, a.Args[1])
	case asSQL(a.Op):
		args, err := w.list(a.Args)
		if err != nil {
			return "", err
		}
		return writeSQLComparison(w, a, args)
	case a.Op == plan.Eq && w.areStoredColumns(a.Args):
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

// asSQL reports whether op compares as SQL does: the result is null if an operand is null.
func asSQL(op plan.Op) bool {
	return op == plan.Same || op == plan.Differ || op == plan.Under || op == plan.UpTo
}

// writeSQLComparison returns the text of a comparison for which asSQL is true.
func writeSQLComparison(w exprWriter, e plan.Apply, args []string) (string, error) {
	op := map[plan.Op]plan.Op{plan.Same: plan.Eq, plan.Differ: plan.Eq, plan.Under: plan.Lt, plan.UpTo: plan.Lte}[e.Op]
	x, err := w.d.Compare(w.s, op, args[0], args[1], e.Args[0].Type())
	if e.Op == plan.Differ {
		x = "(NOT " + x + ")"
	}
	return x, err
}

// areStoredColumns reports whether all of es are stored columns.
func (w exprWriter) areStoredColumns(es []plan.Expr) bool {
	return !slices.ContainsFunc(es, func(e plan.Expr) bool {
		_, f := w.s.Field(e)
		return f == nil
	})
}

// equal writes the condition that two stored columns are equal, or that both are null. The database can use an index
// for it.
func (w exprWriter) equal(e plan.Apply) (string, error) {
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

// plain reports whether e is a comparison that is null only if it doesn't hold.
func plain(e plan.Expr) bool {
	a, _ := e.(plan.Apply)
	switch a.Op {
	case plan.Eq:
		return definite(a.Args[0]) || definite(a.Args[1])
	case plan.Gt, plan.Gte:
		return definite(a.Args[1])
	case plan.Lt, plan.Lte:
		return definite(a.Args[0])
	}
	return false
}

// A NullComparer is a dialect that writes comparisons and Cmp with null as a value, without repeating an operand.
// Otherwise, inside an Over, where Atom can't add columns, the text would double with each nested comparison.
type NullComparer interface {
	// CompareNull writes x op y for operands of type t.
	CompareNull(op plan.Op, x, y string, t schema.Type) string
}

// compare writes a comparison that is never null: null equals null and is less than all other values.
func (w exprWriter) compare(e plan.Apply) (string, error) {
	args, err := w.list(e.Args)
	if err != nil {
		return "", err
	}
	x, y, t := args[0], args[1], e.Args[0].Type()
	both := definite(e.Args[0]) && definite(e.Args[1])
	if n, ok := w.d.(NullComparer); ok && !(both && e.Op != plan.Ne && e.Op != plan.Cmp) {
		return n.CompareNull(e.Op, x, y, t), nil
	}
	switch e.Op {
	case plan.Ne:
		x, err = w.versus(plan.Eq, x, y, t, both)
		return "(NOT " + x + ")", err
	case plan.Cmp:
		x, y = w.s.Atom(x), w.s.Atom(y)
		less, err := w.versus(plan.Lt, x, y, t, both)
		if err != nil {
			return "", err
		}
		more, err := w.versus(plan.Gt, x, y, t, both)
		zero := w.d.Const(w.s, value.OfInt(0), schema.Integer) // a constant of 64 bits: a literal would have fewer
		return "(CASE WHEN " + less + " THEN -1 WHEN " + more + " THEN 1 ELSE " + zero + " END)", err
	}
	return w.versus(e.Op, x, y, t, both)
}

// versus writes x op y with null as a value. The argument both reports that neither operand is ever null.
func (w exprWriter) versus(op plan.Op, x, y string, t schema.Type, both bool) (string, error) {
	if both {
		return w.d.Compare(w.s, op, x, y, t)
	}
	x, y = w.s.Atom(x), w.s.Atom(y)
	text, err := w.d.Compare(w.s, op, x, y, t)
	if err != nil {
		return "", err
	}
	var null string // the result if an operand is null
	switch op {
	case plan.Eq:
		null = x + " IS NULL AND " + y + " IS NULL"
	case plan.Gt:
		null = x + " IS NOT NULL"
	case plan.Gte:
		null = y + " IS NULL"
	case plan.Lt:
		null = y + " IS NOT NULL"
	case plan.Lte:
		null = x + " IS NULL"
	default:
		return "", problem.New(problem.Internal, "sqlgen compares with no such operator")
	}
	return "coalesce(" + text + ", " + null + ")", nil
}

// definite reports whether e is never null.
func definite(e plan.Expr) bool {
	switch e := e.(type) {
	case plan.Const:
		return !e.Value.IsNull()
	case plan.Matches, plan.Object, plan.List:
		return true
	case plan.Apply:
		switch e.Op {
		case plan.Eq, plan.Ne, plan.Gt, plan.Gte, plan.Lt, plan.Lte, plan.Cmp, plan.Same, plan.Differ, plan.Under, plan.UpTo, plan.IsNull, plan.And,
			plan.Or, plan.Not, plan.Truth, plan.InList, plan.IsList, plan.TypeOf:
			return true
		}
	}
	return false
}

// UnsupportedForm returns the problem for a form that a database doesn't support. nearest is the suggestion: the
// nearest form that works.
func UnsupportedForm(detail, nearest string) error {
	return &problem.Error{Code: problem.Unsupported, Detail: detail, Suggestion: nearest}
}

// Sign returns the SQL operator of a comparison.
func Sign(op plan.Op) string {
	switch op {
	case plan.Eq:
		return "="
	case plan.Gt:
		return ">"
	case plan.Gte:
		return ">="
	case plan.Lt:
		return "<"
	}
	return "<="
}

// RealFunction writes Sqrt, Pow, Ln, Log10 or Exp with the functions of the database. Each function is called only if
// it can't fail. test returns the condition that an argument is in the range of arithmetic.
func RealFunction(s Scope, op plan.Op, a []string, test func(x string) string) string {
	x := s.Atom(a[0])
	when := func(condition, text string) string {
		return "(CASE WHEN " + test(x) + condition + " THEN " + text + " END)"
	}
	switch op {
	case plan.Sqrt:
		return when(" AND "+x+" >= 0", "sqrt("+x+")")
	case plan.Ln:
		return when(" AND "+x+" > 0", "ln("+x+")")
	case plan.Log10:
		return when(" AND "+x+" > 0", "log10("+x+")")
	case plan.Exp:
		return when(" AND abs("+x+") <= 345", "exp("+x+")")
	}
	y := s.Atom(a[1])
	return when(" AND "+test(y), "CASE WHEN "+y+" = 0 THEN 1e0 WHEN "+x+" = 0 THEN CASE WHEN "+y+" > 0 THEN 0e0 END WHEN "+
		x+" < 0 AND "+y+" <> floor("+y+") THEN NULL WHEN abs("+y+" * ln(abs("+x+"))) <= 345 THEN power("+x+", "+y+") END")
}
