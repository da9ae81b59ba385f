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
	// Column returns the node of a name. It refuses a masked column.
	Column(*sqlparse.Name) (node, error)
	// PassColumn is Column for a column that is only passed on. The column may be masked.
	PassColumn(*sqlparse.Name) (node, error)
	// ComputedValue returns the value that a group or a window has computed for an expression, and whether there is
	// such a value.
	ComputedValue(sqlparse.Expr) (node, bool)
	// Exists returns whether a query has a record.
	Exists(*sqlparse.Exists) (plan.Expr, error)
	// In returns the condition that the comparison sign holds between x and any value of a query.
	In(sign string, x sqlparse.Expr, q *sqlparse.Query, at sqlparse.Pos) (cond, error)
	// Scalar returns the value of a query.
	Scalar(*sqlparse.Sub) (node, error)
}

// A Binder binds expressions over the records of Names.
type Binder struct {
	Names
	Now    time.Time              // for now() and CURRENT_DATE
	Params map[string]value.Value // by name: "1" for $1, "status" for :status
	Known  *statement
}

// A statement is the state that the Binders of one statement share. The field all contains the functions by name and is
// created on first use. The field bound counts the bound expressions.
type statement struct {
	Notes    []string // notes for the caller about how the statement was read
	Gathered []string // the columns of its SELECTs with a list or a joined text of a group
	all      map[string]function
	noted    map[string]bool
	bound    int
}

// Note adds a note about a place. Only the first note of each topic is kept.
func (s *statement) Note(at, topic, format string, args ...any) {
	if s.noted == nil {
		s.noted = map[string]bool{}
	}
	if !s.noted[topic] {
		s.noted[topic] = true
		s.Notes = append(s.Notes, at+": "+fmt.Sprintf(format, args...))
	}
}

// The limits of expressions. An expression may be bound or written more often than it occurs in the text. For example,
// the X of an IN is bound for each value of the list.
const maxBound, maxSize = 50_000, 5_000

// checkSize counts an expression. It returns an error if the expression is too large or there are too many.
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

// Marks are facts about a value that its type doesn't contain. Day marks a Date at midnight that is shown as a day.
// Span marks a length of time: an Integer in milliseconds, or a Double for an average. A constant may also have months.
// Days marks an Integer that is the number of days between two days. Number is PostgreSQL's type of a number.
type Marks struct {
	Day, Span, Days bool
	Number          numberType
}

// ofColumn returns the marks of a column. native is its type in the database.
func ofColumn(native string) Marks { return Marks{Number: numberOfColumn(native)} }

// number returns PostgreSQL's numeric type of x.
func (x *node) number() numberType { return x.Number.Of(x.Kind()) }

// numberOf returns PostgreSQL's numeric type of a value that is computed from list or is one of list.
func numberOf(list ...node) (t numberType) {
	for i := range list {
		t = max(t, list[i].number())
	}
	return t
}

// A node is a typed expression. Wholes marks a list of whole numbers.
type node struct {
	typecheck.Node
	Marks
	Wholes bool
	Months int64 // for a constant length of time: its months, in addition to the milliseconds
}

// Item returns e, an element of the list x, converted to the known type of the elements.
func (x *node) Item(e plan.Expr) plan.Expr {
	if f := x.Column; x.Wholes || f != nil && f.Field != nil && f.Type == schema.Array && slices.Contains([]string{"int2", "int4", "int8"}, f.Field.Native) {
		return plan.Convert{X: e, T: schema.Integer}
	}
	return e
}

// At returns a place as text. sqlparse.WithPlace later puts it into the error message.
func At(p sqlparse.Pos) string { return fmt.Sprintf("line %d, column %d", p.Line, p.Column) }

// invalid returns the error for an invalid form at a place in the statement.
func invalid(p sqlparse.Pos, format string, args ...any) *problem.Error {
	return problem.Invalid(At(p), format, args...)
}

// unsupportedError returns the error for an unsupported form. instead is the form to write.
func unsupportedError(p sqlparse.Pos, instead, format string, args ...any) *problem.Error {
	return &problem.Error{Code: problem.Unsupported, Pointer: At(p), Detail: fmt.Sprintf(format, args...), Suggestion: instead}
}

// literal returns a constant.
func literal(v value.Value, p sqlparse.Pos) node { return node{Node: typecheck.Literal(v, At(p))} }

// computedOf returns the node of a computed expression.
func computedOf(x plan.Expr, p sqlparse.Pos) node {
	return node{Node: typecheck.Node{Expr: x, At: At(p)}}
}

// JSONOr returns the expression of x, as JSON if x is an object with known members or of type Any.
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
		alone = b // an unknown name in double quotes is a text
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

// Alone returns a binder for constants, in which no names are known.
func (b *Binder) Alone() *Binder {
	return &Binder{Names: nothing{}, Now: b.Now, Params: b.Params, Known: b.Known}
}

// nothing is the Names for a constant expression.
type nothing struct{}

func (nothing) Column(n *sqlparse.Name) (node, error) {
	return node{}, invalid(n.Pos(), "a constant is expected here, not a column")
}
func (nothing) PassColumn(n *sqlparse.Name) (node, error) { return nothing{}.Column(n) }
func (nothing) ComputedValue(sqlparse.Expr) (node, bool)  { return node{}, false }
func (nothing) Exists(e *sqlparse.Exists) (plan.Expr, error) {
	return nil, invalid(e.At, "a constant is expected here, not a sub-query. Ask for the value first, and write it")
}
func (nothing) In(_ string, _ sqlparse.Expr, _ *sqlparse.Query, at sqlparse.Pos) (cond, error) {
	return cond{}, invalid(at, "a constant is expected here, not a sub-query. Ask for the value first, and write it")
}
func (nothing) Scalar(e *sqlparse.Sub) (node, error) {
	return node{}, invalid(e.At, "a constant is expected here, not a sub-query. Ask for the value first, and write it")
}

// WithoutExpr returns the marks of x, and the facts about its column that stay with a value.
func WithoutExpr(x *node) node {
	n := node{Marks: x.Marks}
	n.List = x.List
	if x.Column != nil {
		n.Column = &plan.Column{ID: x.Column.ID, Class: x.Column.Class, ClassKey: x.Column.ClassKey}
	}
	return n
}

// isComputed reports whether a group or a window has computed the value of e.
func (b *Binder) isComputed(e sqlparse.Expr) bool {
	_, ok := b.Names.ComputedValue(e)
	return ok
}
