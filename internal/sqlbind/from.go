package sqlbind

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// from binds the FROM of a SELECT. Without FROM, the result is one record without columns.
func (b *binder) from(s *sqlparse.Select, outer *rel, w *with) (*rel, error) {
	if s.From == nil {
		return b.fromRows([]value.Row{{}}, nil, outer, w), nil
	}
	around := b.where
	b.where = sqlparse.Conjuncts(s.Where)
	defer func() { b.where = around }()
	var r *rel
	for _, f := range s.From {
		if r != nil {
			if err := b.meter.Add(plan.CostlyJoin, 1, At(begins(f, s.At))); err != nil {
				return nil, err
			}
		}
		if list := listFunction(f); list != nil && r != nil {
			if err := r.unwind(list, false); err != nil {
				return nil, err
			}
			continue
		}
		if d, ok := f.(*sqlparse.Derived); ok && d.Lateral && r != nil {
			if err := r.joinLateral(d, &sqlparse.Join{Kind: "cross", At: d.At}); err != nil {
				return nil, err
			}
			continue
		}
		next, err := b.fromItem(f, outer, w)
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = next
			continue
		}
		if r, err = b.pair(r, next, &sqlparse.Join{Kind: "cross", At: s.At}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// begins returns the place of a FROM item. It returns at for kinds without a place.
func begins(f sqlparse.From, at sqlparse.Pos) sqlparse.Pos {
	switch f := f.(type) {
	case *sqlparse.Table:
		return f.Name[0].At
	case *sqlparse.Derived:
		return f.At
	case *sqlparse.Join:
		return f.At
	}
	return at
}

// fromItem binds one FROM item. Its columns are the columns of a class that the caller sees, or the columns of a query.
// outer is the outer query. A sub-query may use its columns, but a query in FROM may not.
func (b *binder) fromItem(f sqlparse.From, outer *rel, w *with) (*rel, error) {
	switch f := f.(type) {
	case *sqlparse.Table:
		return b.openTable(f, outer, w)
	case *sqlparse.Derived:
		r, err := b.query(f.Query, nil, w)
		if err != nil {
			return nil, err
		}
		r.outer = outer
		return r, b.applyAlias(r, f.Alias, "")
	case *sqlparse.Join:
		return b.join(f, outer, w)
	case *sqlparse.Function:
		return b.fromFunction(f, outer, w)
	}
	return nil, problem.New(problem.Internal, fmt.Sprintf("sqlbind knows no %T", f))
}

// openTable opens a class, a query of a WITH clause, or a table of information_schema.
func (b *binder) openTable(t *sqlparse.Table, outer *rel, w *with) (*rel, error) {
	last := t.Name[len(t.Name)-1]
	if len(t.Name) == 1 {
		for c := w; c != nil; c = c.around {
			if equalFold(last, c.Name.Text) {
				bind := func() (*rel, error) { return b.query(c.Query, nil, c.scope) }
				if c.Recursive && c.Query.RefersTo(c.Name) {
					bind = func() (*rel, error) { return b.recursive(c) }
				}
				r, err := bind()
				if err != nil {
					return nil, err
				}
				r.outer, r.with = outer, w
				if len(c.Columns) > 0 {
					if err := b.applyAlias(r, sqlparse.Alias{Name: &c.Name, Columns: c.Columns}, ""); err != nil {
						return nil, err
					}
				}
				return r, b.applyAlias(r, t.Alias, c.Name.Text)
			}
		}
	}
	if len(t.Name) > 1 {
		if catalogue := strings.ToLower(t.Name[len(t.Name)-2].Text); catalogue == "information_schema" || catalogue == "pg_catalog" {
			alias := last
			if t.Alias.Name != nil {
				alias = *t.Alias.Name
			}
			r, err := b.catalogueTable(last, alias, catalogue, outer, w)
			if err != nil {
				return nil, err
			}
			return r, b.applyAlias(r, t.Alias, last.Text)
		}
	}
	if b.opened++; b.opened > maxTables {
		return nil, invalid(last.At, "the statement names more than %d tables, each counted as often as it is read", maxTables)
	}
	from, err := openTables(b.tables, t.Name)
	if err != nil {
		return nil, err
	}
	b.keyless = b.keyless || from.Key == nil
	name := from.Name[strings.LastIndexByte(from.Name, '.')+1:]
	r := b.table(from, name, outer, w)
	return r, b.applyAlias(r, t.Alias, name)
}

// applyAlias sets the name of the FROM item for the columns of r.
func (b *binder) applyAlias(r *rel, a sqlparse.Alias, name string) error {
	r.depends = nil // they refer to the columns of the inner query
	if a.Name != nil {
		name = a.Name.Text
	}
	if name == "" {
		b.alias++
		name = fmt.Sprintf("query %d", b.alias)
	}
	if len(a.Columns) > len(r.cols) {
		return invalid(a.Columns[0].At, "%s has %d columns, and %d names are given", name, len(r.cols), len(a.Columns))
	}
	for i := range r.cols {
		r.cols[i].table = name
		if a.Hidden {
			r.cols[i].hidden, r.cols[i].unlisted = true, true
		}
		if i < len(a.Columns) {
			r.cols[i].name = a.Columns[i].Text
		}
	}
	return nil
}

// fromFunction binds a function in FROM.
func (b *binder) fromFunction(f *sqlparse.Function, outer *rel, w *with) (*rel, error) {
	c := f.Call
	if listFunction(f) != nil {
		r := b.fromRows([]value.Row{{}}, nil, outer, w)
		return r, r.unwind(f, false)
	}
	if c.Name != "generate_series" {
		return nil, unsupportedError(c.At, "functions in FROM are generate_series, jsonb_array_elements, jsonb_array_elements_text and unnest", "%s can't be in FROM", c.Name)
	}
	if f.Ordinality {
		return nil, unsupportedError(c.At, "number the records with row_number() OVER (…)", "generate_series takes no WITH ORDINALITY")
	}
	rows, t, days, err := (&rel{binder: b}).exprs().Series(c)
	if err != nil {
		return nil, err
	}
	none := len(rows) == 0
	if none {
		rows = []value.Row{{{}}}
	}
	r := b.fromRows(rows, []schema.Type{t}, outer, w)
	r.nameColumn(0, "generate_series")
	r.cols[0].Day = days
	if none {
		r.add(&plan.Filter{If: constantly(false), Shape: *r.shape})
	}
	if f.Alias.Name != nil && f.Alias.Columns == nil { // generate_series(…) AS n also names the column
		f.Alias.Columns = []sqlparse.Ident{*f.Alias.Name}
	}
	return r, b.applyAlias(r, f.Alias, "generate_series")
}
