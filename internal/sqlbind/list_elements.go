package sqlbind

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// listFunction returns f as a function that yields the elements of a list, such as unnest, or nil if it is something
// else.
func listFunction(f sqlparse.From) *sqlparse.Function {
	fn, ok := f.(*sqlparse.Function)
	if ok && (fn.Call.Name == "unnest" || strings.HasSuffix(strings.TrimSuffix(fn.Call.Name, "_text"), "_array_elements")) {
		return fn
	}
	return nil
}

// listJoin returns the meaning of a join with a list: whether records without elements stay, and the condition. The
// condition is nil for ON true.
func listJoin(j *sqlparse.Join) (keep bool, on sqlparse.Expr, err error) {
	on = j.On
	if w, ok := on.(*sqlparse.Word); ok && w.Text == "true" {
		on = nil
	}
	if j.Natural || j.Using != nil || j.Kind == "right" || j.Kind == "full" || j.Kind == "left" && on != nil {
		return false, nil, unsupportedError(j.At, "write CROSS JOIN, or LEFT JOIN … ON true, and move conditions to WHERE", "elements of a list, and queries that refer to the records beside them, can't be joined this way")
	}
	return j.Kind == "left", on, nil
}

// elements are the records for the elements of a list.
type elements struct {
	Stage   *plan.Unwind
	Columns []node // over the Stage: the element, and its number from 1
	Table   string // the name in FROM
	Names   []Name
}

// A Name is the name of a column of elements. A star omits a column that is Unlisted.
type Name struct {
	Text     string
	Column   int
	Unlisted bool
}

// bindList binds f over records of a shape. With keep, a record without elements stays, and the new columns are null.
func bindList(b *Binder, f *sqlparse.Function, shape *plan.Shape, keep bool) (elements, error) {
	c := f.Call
	if len(c.Args) != 1 {
		return elements{}, invalid(c.At, "%s takes 1 argument", c.Name)
	}
	x, err := b.Value(c.Args[0])
	if err != nil {
		return elements{}, err
	}
	if !x.List {
		x.Node = typecheck.Node{Expr: x.JSONOr(), At: x.At, Constant: x.Constant}
	}
	list, err := x.Elements(c.Name)
	if err != nil {
		return elements{}, err
	}
	if !x.List { // a value that isn't a list has no elements
		size := plan.Apply{Op: plan.Size, Args: []plan.Expr{list}, T: schema.Integer}
		list = plan.Case{If: []plan.Expr{isNull(size)}, Then: []plan.Expr{plan.Const{T: schema.JSON}}, Else: list, T: schema.JSON}
	}
	n := len(shape.Columns)
	u := &plan.Unwind{List: list, Keep: keep, Shape: *shape}
	u.Shape.Columns = append(slices.Clone(shape.Columns), plan.Column{Type: schema.JSON}, plan.Column{Type: schema.Integer})
	u.Shape.Order = append(slices.Clone(shape.Order), plan.Place{Column: n + 1})
	element := typecheck.Node{Expr: plan.Ref{Column: n, T: schema.JSON}, Column: &u.Shape.Columns[n], At: At(c.At)}
	if strings.HasSuffix(c.Name, "_text") {
		element.Compute(plan.Convert{X: element.Expr, T: schema.String})
	} else if item := x.Item(element.Expr); item.Type() == schema.Integer {
		element.Compute(item)
	}
	number := plan.Apply{Op: plan.Add, Args: []plan.Expr{plan.Ref{Column: n + 1, T: schema.Integer}, Whole(1)}, T: schema.Integer}
	e := elements{Stage: u, Columns: []node{{Node: element}, {Node: typecheck.Node{Expr: number}}}}
	return e, e.name(f)
}

// name names the columns as PostgreSQL does. An alias without column names also names the element.
func (e *elements) name(f *sqlparse.Function) error {
	e.Table, e.Names = f.Call.Name, []Name{{Text: "value"}, {Text: "ordinality", Column: 1}}
	if f.Alias.Name != nil {
		e.Table = f.Alias.Name.Text
	}
	if f.Call.Name == "unnest" {
		e.Names[0].Text = e.Table
	}
	if !f.Ordinality {
		e.Names = e.Names[:1]
	}
	if len(f.Alias.Columns) > len(e.Names) {
		return invalid(f.Alias.Columns[0].At, "%s has %d columns, and %d names are given", e.Table, len(e.Names), len(f.Alias.Columns))
	}
	for i, n := range f.Alias.Columns {
		e.Names[i].Text = n.Text
	}
	if f.Alias.Name != nil && f.Alias.Columns == nil && !strings.EqualFold(e.Table, e.Names[0].Text) {
		e.Names = append(e.Names, Name{Text: e.Table, Unlisted: true})
	}
	return nil
}
