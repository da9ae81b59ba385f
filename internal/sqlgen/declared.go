package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Places is the part of a Scope that every statement provides.
type Places interface {
	Arg(v any, cast string) string
	Alias(prefix string) string
}

// inDeclaredType returns the stored column x of field f, converted to the type that the rules declare. The result is
// null if the value isn't in the form of the field.
func inDeclaredType(d Dialect, in Places, x string, f *schema.Field) string {
	s, held := alone{in}, &f.Stored.Field
	x = d.StoredValue(s, x, held)
	switch f.Stored.Form {
	case schema.EpochSeconds: // the years 1 to 9999, so that the product is in range
		x = "(CASE WHEN " + x + " BETWEEN -62135596800 AND 253402300799 THEN " + x + " * 1000 END)"
	case schema.JSONText:
		return d.ParseJSON(x)
	}
	return d.DerivedColumn(d.Convert(s, x, held.Type, f.Type), f.Type)
}

// The scope of a stored column. It can't compute other columns.
type alone struct{ Places }

// Atom implements Scope.
func (alone) Atom(x string) string { return x }

// Column implements Scope.
func (alone) Column(int) string { return "NULL" }

// Field implements Scope.
func (alone) Field(plan.Expr) (string, *schema.Field) { return "", nil }

// Outer implements Scope.
func (alone) Outer(int, int) (string, error) {
	return "", problem.New(problem.Internal, "a stored column has no record around it")
}
