package sqlbind

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// An output is a column of a select list.
type output struct {
	x    sqlparse.Expr
	name string
}

// bindSelect binds one SELECT with its ORDER BY.
func (b *binder) bindSelect(s *sqlparse.Select, order []sqlparse.Order, outer *rel, w *with) (*rel, error) {
	r, err := b.bindFromWhere(s, outer, w)
	if err != nil {
		return nil, err
	}
	r.windows = s.Windows
	outputs, err := r.outputs(s.Items)
	if err != nil {
		return nil, err
	}
	sqlparse.Replace(&s.Having, func(n *sqlparse.Name) sqlparse.Expr {
		if _, _, err := r.find(n); err == nil { // a column of this query or of an outer query
			return nil
		}
		if x := resolveOutput(n, outputs, r, false); x != sqlparse.Expr(n) {
			return x
		}
		return nil
	})
	order = slices.Clone(order)
	for i := range order {
		order[i].X = resolveOutput(order[i].X, outputs, r, true)
	}
	enums := noter{Field: r.field, Known: &r.known}
	for _, o := range outputs {
		enums.In(o.x)
	}
	enums.In([]sqlparse.Expr{s.Where, s.Having, s.Qualify})
	enums.Order(order)
	if err := r.groups(s, outputs, order); err != nil {
		return nil, err
	}
	if s.Having != nil {
		if err := r.where(s.Having); err != nil {
			return nil, err
		}
	}
	if err := r.addWindows(outputs, order, s.Qualify); err != nil {
		return nil, err
	}
	if s.Qualify != nil {
		if err := r.where(s.Qualify); err != nil {
			return nil, err
		}
	}
	switch {
	case s.On != nil:
		return r, r.distinctOn(s, outputs, order)
	case s.Distinct:
		return r, r.distinct(outputs, order)
	}
	return r, r.project(outputs, order)
}

// bindFromWhere binds the FROM and the WHERE of a SELECT.
func (b *binder) bindFromWhere(s *sqlparse.Select, outer *rel, w *with) (*rel, error) {
	r, err := b.from(s, outer, w)
	if err != nil || s.Where == nil {
		return r, err
	}
	if c := sqlparse.AggregateIn(s.Where); c != nil {
		return nil, unsupportedError(c.At, "use HAVING", "%s(…) can't be in WHERE, which comes before groups are made", c.Name)
	}
	return r, explainWhereError(s, r.where(s.Where))
}

// explainWhereError adds a hint to the error for an unknown column in WHERE, if the select list gives that name to a
// value.
func explainWhereError(s *sqlparse.Select, err error) error {
	var unknown *problem.Error
	if !errors.As(err, &unknown) || unknown.Kind != "unknown_field" {
		return err
	}
	for _, it := range s.Items {
		if it.Alias != nil && unknown.Detail == fmt.Sprintf("unknown column %q", it.Alias.Text) {
			unknown.Near = nil
			unknown.Suggestion = it.Alias.Text + " is a name in the select list, which comes after WHERE. Write its expression, or WHERE in a query around this one"
		}
	}
	return err
}

// resolveOutput returns the output to which e, in ORDER BY or GROUP BY, refers by name or number. Otherwise it returns
// e. In ORDER BY, a name refers first to an output. In GROUP BY, it refers first to a column.
func resolveOutput(e sqlparse.Expr, outputs []output, r *rel, ordering bool) sqlparse.Expr {
	switch e := e.(type) {
	case *sqlparse.Number:
		for i := range outputs {
			if fmt.Sprint(i+1) == e.Text {
				return outputs[i].x
			}
		}
	case *sqlparse.Name:
		if len(e.Parts) > 1 || !ordering && r.matching(e.Parts) != nil {
			return e
		}
		for _, o := range outputs {
			if equalFold(e.Parts[0], o.name) {
				return o.x
			}
		}
	}
	return e
}

// outputs expands the stars of a select list and names the columns.
func (r *rel) outputs(items []sqlparse.Item) ([]output, error) {
	var out []output
	for _, it := range items {
		star, ok := it.X.(*sqlparse.Star)
		if !ok {
			out = append(out, output{it.X, r.nameOf(it)})
			r.known.Gathered = append(r.known.Gathered, sqlparse.Gathering(it, r.nameOf(it), r.known.Gathered)...)
			continue
		}
		n := len(out)
		if err := r.checkExcept(star); err != nil {
			return nil, err
		}
		for _, c := range r.cols {
			if c.hidden || c.unlisted || slices.ContainsFunc(star.Except, func(n sqlparse.Ident) bool { return equalFold(n, c.name) }) || star.Table != nil && !equalFold(star.Table[len(star.Table)-1], c.table) {
				continue
			}
			out = append(out, output{&sqlparse.Name{Parts: []sqlparse.Ident{{Text: c.table, At: star.At}, {Text: c.name, Quoted: true, At: star.At}}}, c.name})
		}
		if star.Table != nil && len(out) == n {
			return nil, r.unknownColumnError(&sqlparse.Name{Parts: append(slices.Clone(star.Table), sqlparse.Ident{Text: "*"})}, append(slices.Clone(star.Table[len(star.Table)-1:]), sqlparse.Ident{Text: "*"}))
		}
		if star.Table == nil && len(r.cols) == 0 {
			return nil, invalid(star.At, "* needs a FROM")
		}
	}
	if len(out) > maxColumns {
		return nil, invalid(items[0].X.Pos(), "the records would have %d columns, at most %d", len(out), maxColumns)
	}
	taken := map[string]bool{}
	for i := range out {
		name := out[i].name
		for n := 2; taken[out[i].name]; n++ {
			out[i].name = fmt.Sprintf("%s_%d", name, n)
		}
		taken[out[i].name] = true
	}
	return out, nil
}

// checkExcept checks that the columns that a star excludes exist.
func (r *rel) checkExcept(star *sqlparse.Star) error {
	for _, n := range star.Except {
		if slices.ContainsFunc(r.cols, func(c col) bool {
			return !c.hidden && !c.unlisted && equalFold(n, c.name) && (star.Table == nil || equalFold(star.Table[len(star.Table)-1], c.table))
		}) {
			continue
		}
		if _, _, err := r.find(&sqlparse.Name{Parts: append(slices.Clone(star.Table), n)}); err != nil {
			return err
		}
	}
	return nil
}

// maxColumns is the maximum number of columns in a select list. It is within PostgreSQL's limit of 1,664.
const maxColumns = 800

// nameOf returns the name of an output column, as PostgreSQL does.
func (r *rel) nameOf(it sqlparse.Item) string {
	name, of := it.Title()
	if of != nil {
		if _, c, err := r.find(of); err == nil {
			return c.name
		}
	}
	return name
}

// project adds the select list. It sorts by order and then by the previous order.
func (r *rel) project(outputs []output, order []sqlparse.Order) error {
	m, err := r.selection(outputs)
	if err != nil {
		return err
	}
	terms, err := r.terms(order)
	if err != nil {
		return err
	}
	m.Order(r.shape, terms)
	r.finish(m, outputs)
	return nil
}

// terms binds the terms of an order.
func (r *rel) terms(order []sqlparse.Order) ([]term, error) {
	var terms []term
	for _, o := range order {
		x, err := r.value(o.X)
		if err != nil {
			return nil, err
		}
		terms = append(terms, term{X: x, Desc: o.Desc, Nulls: o.Nulls})
	}
	return terms, nil
}

// A selection is a mapping that begins with the columns of a select list.
type selection struct {
	mapping
	marks []Marks
}

// selection binds the outputs of a select list as columns. A plain name is passed on unchanged, so it may be masked.
// Objects, and values of a type that only the database knows, become JSON.
func (r *rel) selection(outputs []output) (*selection, error) {
	m := &selection{}
	for _, o := range outputs {
		var x node
		var err error
		if n, plain := o.x.(*sqlparse.Name); plain && !r.has(o.x) {
			x, err = r.PassColumn(n)
		} else {
			x, err = r.value(o.x)
		}
		if err != nil {
			return nil, err
		}
		e := x.Expr
		if x.IsObject() || e.Type() == schema.Any && x.Column == nil {
			e = x.JSON()
		}
		c := definedColumn(&x, e)
		c.Path, c.Behind = query.Path{o.name}, nil
		m.Columns, m.Shape.Columns = append(m.Columns, e), append(m.Shape.Columns, c)
		m.marks = append(m.marks, x.Marks)
	}
	return m, nil
}

// finish adds m. From now on, its outputs are the named columns.
func (r *rel) finish(m *selection, outputs []output) {
	r.add(&m.Map)
	r.setColumns(outputs, m.marks)
}

func (r *rel) setColumns(outputs []output, marks []Marks) {
	r.cols, r.computed = nil, nil
	for i, o := range outputs {
		r.cols = append(r.cols, col{name: o.name, at: i, Marks: marks[i]})
	}
}

// field returns the field whose stored value is in a column of r. It returns nil for any other name.
func (r *rel) field(n *sqlparse.Name) *schema.Field {
	up, c, err := r.find(n)
	if err != nil || up > 0 || c.at < 0 {
		return nil
	}
	return r.shape.Columns[c.at].Field
}
