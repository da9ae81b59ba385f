package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	pgexpr "github.com/bailiwick-dev/bailiwick/internal/sqlgen/postgres"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// inView returns the column of a field of a class inside of its view, in the type of the field. Nothing outside of the
// view knows how the source holds it. alias is the class, or a derived table of its columns as they are stored.
func (w *writer) inView(alias string, f *schema.Field) string {
	x := w.column(alias, f.Name)
	if f.Stored == nil {
		return x
	}
	d, s, held := w.expressions(), within{statement{w}}, &f.Stored.Field
	x = d.Stored(s, x, held)
	switch f.Stored.Form {
	case schema.EpochSeconds: // the years 1 to 9999, so that the product is in range
		x = "(CASE WHEN " + x + " BETWEEN -62135596800 AND 253402300799 THEN " + x + " * 1000 END)"
	case schema.JSONText:
		return w.parsed(x)
	}
	return w.shown(d.Convert(s, x, held.Type, f.Type), f.Type)
}

// inside returns the fields of a class inside of its view.
func (w *writer) inside(c *schema.Class, alias string) fields {
	return func(name string) operand {
		f := c.Field(name)
		if f == nil {
			return operand{}
		}
		x := operand{text: w.inView(alias, f), field: f}
		if f.Unit() > 0 {
			x.raw = w.column(alias, f.Name)
		}
		return x
	}
}

// operandOf returns the operand of a field of c in a view; none if f is nil.
func (w *writer) operandOf(c *schema.Class, alias string, f *schema.Field) operand {
	if f == nil {
		return operand{}
	}
	x := operand{text: w.column(alias, f.Name), field: f}
	if raw := rawName(c, f); raw != "" {
		x.raw = w.column(alias, raw)
	}
	return x
}

// rawName returns the name of the column of a view that holds a field's integer as it is stored; "" if it counts no
// time, or no such name is free. Statements alone use it.
func rawName(c *schema.Class, f *schema.Field) string {
	const longest = 63 // PostgreSQL cuts longer names
	if name := f.Name + " as stored"; f.Unit() > 0 && len(name) <= longest && c.Field(name) == nil {
		return name
	}
	return ""
}

// counted writes a comparison of a date with an instant, in microseconds since 1970, by the stored integer, which an
// index can serve. The date itself is null where the integer isn't one.
func (w *writer) counted(x operand, op string, micros int64) {
	unit := x.field.Unit()
	n := micros / unit
	if micros%unit < 0 {
		n--
	}
	if micros%unit != 0 { // between n and n + 1
		switch op {
		case "=":
			w.write(never)
			return
		case "<":
			op = "<="
		case ">=":
			op = ">"
		}
	}
	w.write("(", x.raw, " ", op, " ")
	w.arg(n, "int8")
	w.write(" AND ", x.text, " IS NOT NULL)")
}

// within is the scope of the columns inside of a view.
type within struct{ statement }

// Atom implements expr.Scope. There is no column below that could hold x.
func (within) Atom(x string) string { return x }

// Column implements expr.Scope.
func (within) Column(int) string { return "NULL" }

// Field implements expr.Scope.
func (within) Field(plan.Expr) (string, *schema.Field) { return "", nil }

// Outer implements expr.Scope.
func (within) Outer(int, int) (string, error) {
	return "", problem.New(problem.Internal, "a view has no record around it")
}

var _ expr.Scope = within{}

func (sqlite) shown(x string, _ schema.Type) string { return x }

func (mysql) shown(x string, _ schema.Type) string { return x }

// shown drops the zeros at the end of a Decimal, which PostgreSQL would show.
func (postgres) shown(x string, t schema.Type) string {
	if t == schema.Decimal {
		return "trim_scale(" + x + ")"
	}
	return x
}

func (sqlite) parsed(x string) string { return "CASE WHEN json_valid(" + x + ") THEN " + x + " END" }

func (postgres) parsed(x string) string { return pgexpr.Parsed(x) }

func (mysql) parsed(x string) string { return "(CASE WHEN JSON_VALID(" + x + ") THEN " + x + " END)" }
