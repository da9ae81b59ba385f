package sqlbind

import (
	"fmt"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Names resolves the references of an expression.
type Names interface {
	// Column returns the node of a name. It refuses a column with a mask.
	Column(*sqlparse.Name) (node, error)
	// Passed is Column for a column that is only passed on. It may have a mask.
	PassColumn(*sqlparse.Name) (node, error)
	// Computed returns the value that a group or a window has computed for an expression, and whether there is one.
	ComputedValue(sqlparse.Expr) (node, bool)
	// Exists returns whether a query has a record.
	Exists(*sqlparse.Exists) (plan.Expr, error)
	// In compares x with the values of a query: whether sign holds for any of them.
	In(sign string, x sqlparse.Expr, q *sqlparse.Query, at sqlparse.Pos) (cond, error)
	// Scalar returns the value of a query.
	Scalar(*sqlparse.Sub) (node, error)
}

// A Binder binds expressions over the records that Names knows.
type Binder struct {
	Names
	Now    time.Time              // of now() and CURRENT_DATE
	Params map[string]value.Value // by name: "1" for $1, "status" for :status
	Known  *statement
}

// A statement is the state that the Binders of one statement share. It has the functions by name, made on first use,
// and how many expressions were bound.
type statement struct {
	Notes    []string // notes for the caller about how the statement was read
	Gathered []string // the columns of its SELECTs that hold a list or a joined text of a group
	all      map[string]function
	noted    map[string]bool
	bound    int
}

// Note notes something about a place. For each topic the first place counts.
func (s *statement) Note(at, topic, format string, args ...any) {
	if s.noted == nil {
		s.noted = map[string]bool{}
	}
	if !s.noted[topic] {
		s.noted[topic] = true
		s.Notes = append(s.Notes, at+": "+fmt.Sprintf(format, args...))
	}
}

// The bounds of expressions. One can be bound, or written, more often than it occurs in the text. The X of an IN is
// bound for each value of the list.
const maxBound, maxSize = 50_000, 5_000

// checkSize counts an expression, and returns an error if it is too large.
func (b *Binder) checkSize(at sqlparse.Pos, es ...plan.Expr) error {
	b.Known.bound++
	size := 0
	for _, e := range es {
		size += plan.Weight(e, maxSize+1)
	}
	if b.Known.bound > maxBound || size > maxSize {
		return unsupportedError(at, "compute a part of it in a query in FROM", "this expression is too large")
	}
	return nil
}

// Marks hold facts about a value that its type doesn't. With Day it is a Date at midnight that is shown as a day. With
// Span it is a length of time. That is an Integer in milliseconds, a Double for an average, or perhaps months for a
// constant. With Days it is an Integer that counts the days between two days. Number is PostgreSQL's type of a number.
type Marks struct {
	Day, Span, Days bool
	Number          numberType
}

// ofColumn returns the marks of a column by the name of its type in the database.
func ofColumn(native string) Marks { return Marks{Number: numberOfColumn(native)} }

// number returns PostgreSQL's type of x as a number.
func (x *node) number() numberType { return x.Number.Of(x.Kind()) }

// numberOf returns PostgreSQL's type of a value that is computed from numbers, or is one of them.
func numberOf(list ...node) (t numberType) {
	for i := range list {
		t = max(t, list[i].number())
	}
	return t
}

// A node is a typed expression. With Wholes it is a list of whole numbers.
type node struct {
	typecheck.Node
	Marks
	Wholes bool
	Months int64 // of a constant length of time, besides the milliseconds
}

// Item returns e, an element of the list x, in the type that all elements of x are known to have.
func (x *node) Item(e plan.Expr) plan.Expr {
	if f := x.Column; x.Wholes || f != nil && f.Field != nil && f.Type == schema.Array && slices.Contains([]string{"int2", "int4", "int8"}, f.Field.Native) {
		return plan.Convert{X: e, T: schema.Integer}
	}
	return e
}

// At returns a place as the text that placed moves into a message.
func At(p sqlparse.Pos) string { return fmt.Sprintf("line %d, column %d", p.Line, p.Column) }

// invalid returns the error for a place in the statement.
func invalid(p sqlparse.Pos, format string, args ...any) *problem.Error {
	return problem.Invalid(At(p), format, args...)
}

// unsupportedError returns the error for a form that the language doesn't support, with the form to write.
func unsupportedError(p sqlparse.Pos, instead, format string, args ...any) *problem.Error {
	return &problem.Error{Code: problem.Unsupported, Pointer: At(p), Detail: fmt.Sprintf(format, args...), Suggestion: instead}
}

// literal returns a constant.
func literal(v value.Value, p sqlparse.Pos) node { return node{Node: typecheck.Literal(v, At(p))} }

// computedOf returns the node of a computed expression.
func computedOf(x plan.Expr, p sqlparse.Pos) node {
	return node{Node: typecheck.Node{Expr: x, At: At(p)}}
}

// JSONOr returns the expression of x: an object with known members as JSON.
func (x *node) JSONOr() plan.Expr {
	if x.IsObject() || x.Expr.Type() == schema.Any {
		return x.JSON()
	}
	return x.Expr
}

// Constant returns the value of a constant expression.
func (b *Binder) Constant(e sqlparse.Expr) (value.Value, error) {
	alone := b.Alone()
	if n, ok := e.(*sqlparse.Name); ok && len(n.Parts) == 1 && n.Parts[0].Quoted {
		alone = b // a text in double quotes, if no column has the name
	}
	n, err := alone.Value(e)
	if err != nil {
		return value.Value{}, err
	}
	c, ok := n.Expr.(plan.Const)
	if !ok {
		return value.Value{}, invalid(e.Pos(), "a constant is expected here")
	}
	return c.Value, nil
}

// Whole returns a constant whole number.
func Whole(n int64) plan.Const { return plan.Const{Value: value.OfInt(n), T: schema.Integer} }

// Alone returns a binder that knows no names, for constants.
func (b *Binder) Alone() *Binder {
	return &Binder{Names: nothing{}, Now: b.Now, Params: b.Params, Known: b.Known}
}

// nothing is the Names of a constant expression.
type nothing struct{}

func (nothing) Column(n *sqlparse.Name) (node, error) {
	return node{}, invalid(n.Pos(), "a constant is expected here, not a column")
}
func (nothing) PassColumn(n *sqlparse.Name) (node, error) { return nothing{}.Column(n) }
func (nothing) ComputedValue(sqlparse.Expr) (node, bool)  { return node{}, false }
func (nothing) Exists(e *sqlparse.Exists) (plan.Expr, error) {
	return nil, invalid(e.At, "a constant is expected here, not a sub-query; ask for the value first, and write it")
}
func (nothing) In(_ string, _ sqlparse.Expr, _ *sqlparse.Query, at sqlparse.Pos) (cond, error) {
	return cond{}, invalid(at, "a constant is expected here, not a sub-query; ask for the value first, and write it")
}
func (nothing) Scalar(e *sqlparse.Sub) (node, error) {
	return node{}, invalid(e.At, "a constant is expected here, not a sub-query; ask for the value first, and write it")
}

// WithoutExpr returns x without its expression, as a value that is passed on keeps it.
func WithoutExpr(x *node) node {
	n := node{Marks: x.Marks}
	n.List = x.List
	if x.Column != nil {
		n.Column = &plan.Column{ID: x.Column.ID, Class: x.Column.Class, ClassKey: x.Column.ClassKey}
	}
	return n
}

// isComputed reports whether e is a value that a group or a window has computed.
func (b *Binder) isComputed(e sqlparse.Expr) bool {
	_, ok := b.Names.ComputedValue(e)
	return ok
}
