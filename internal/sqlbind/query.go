package sqlbind

import (
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/query"
)

// query binds a query. outer is the outer query, or nil.
func (b *binder) query(q *sqlparse.Query, outer *rel, w *with) (*rel, error) {
	if b.asked++; b.asked > maxQueries {
		return nil, invalid(q.At, "the statement has more than %d queries, each counted as often as it is named", maxQueries)
	}
	for _, c := range q.With {
		w = &with{CTE: c, around: w, scope: w}
	}
	r, err := b.body(q, outer, w)
	if err != nil {
		return nil, err
	}
	if _, is := q.Body.(*sqlparse.Select); !is && q.Order != nil {
		if err := r.orderBy(q.Order); err != nil {
			return nil, err
		}
	}
	return r, r.limit(q)
}

// body binds the body of q. Only the ORDER BY of a SELECT may use columns that aren't selected.
func (b *binder) body(q *sqlparse.Query, outer *rel, w *with) (*rel, error) {
	switch body := q.Body.(type) {
	case *sqlparse.Select:
		return b.bindSelect(body, q.Order, outer, w)
	case *sqlparse.SetOp:
		return b.bindSetOp(body, outer, w)
	case *sqlparse.Values:
		return b.values(body, outer, w)
	case *sqlparse.Query:
		return b.query(body, outer, w)
	}
	return nil, unsupportedError(q.At, "", "this query can't be read")
}

// values binds a VALUES list of constants.
func (b *binder) values(v *sqlparse.Values, outer *rel, w *with) (*rel, error) {
	rows, types, err := constants((&rel{binder: b}).exprs().Alone(), v)
	if err != nil {
		return nil, err
	}
	r := b.fromRows(rows, types, outer, w)
	for i := range types {
		r.nameColumn(i, "column"+strconv.Itoa(i+1))
	}
	return r, nil
}

// nameColumn gives hidden column i a name.
func (r *rel) nameColumn(i int, name string) {
	r.cols = append(r.cols, col{name: name, at: i})
	r.shape.Columns[i].Path = query.Path{name}
}

// limit adds the LIMIT and the OFFSET of q.
func (r *rel) limit(q *sqlparse.Query) error {
	s, err := r.bounds(q)
	if err == nil && (s.Limit >= 0 || s.Skip > 0) {
		s.Shape = *r.shape
		r.add(s)
		r.single = r.single || s.Limit == 1
	}
	return err
}

// bounds reads the LIMIT and the OFFSET of q. Without a LIMIT, it returns -1.
func (r *rel) bounds(q *sqlparse.Query) (*plan.Slice, error) {
	s := &plan.Slice{Limit: -1}
	for _, part := range []struct {
		x  sqlparse.Expr
		to *int64
	}{{q.Limit, &s.Limit}, {q.Offset, &s.Skip}} {
		if part.x == nil {
			continue
		}
		n, err := r.constant(part.x)
		if err != nil {
			return nil, err
		}
		if n.IsNull() {
			continue
		}
		whole, ok := n.AsInt()
		if !ok || whole < 0 {
			return nil, invalid(part.x.Pos(), "LIMIT and OFFSET take a whole number of 0 or more")
		}
		*part.to = whole
	}
	return s, nil
}

// orderBy sorts records by their columns.
func (r *rel) orderBy(list []sqlparse.Order) error {
	var terms []term
	for _, o := range list {
		x, err := r.ordinal(o.X)
		if err != nil {
			return err
		}
		if x == nil {
			n, err := r.value(o.X)
			if err != nil {
				return err
			}
			x = &n
		}
		terms = append(terms, term{X: *x, Desc: o.Desc, Nulls: o.Nulls})
	}
	return r.sort(terms)
}

// ordinal returns the column for a number in ORDER BY, or nil if e is not a number.
func (r *rel) ordinal(e sqlparse.Expr) (*node, error) {
	n, ok := e.(*sqlparse.Number)
	if !ok {
		return nil, nil
	}
	i, err := strconv.Atoi(n.Text)
	if err != nil || i < 1 || i > len(r.cols) {
		return nil, invalid(n.At, "there is no column %s: there are %d", n.Text, len(r.cols))
	}
	x, err := r.Column(&sqlparse.Name{Parts: []sqlparse.Ident{{Text: r.cols[i-1].name, At: n.At}}})
	return &x, err
}

// sort orders the records by terms, then by the previous order.
func (r *rel) sort(terms []term) error {
	m := r.same()
	m.Order(r.shape, terms)
	r.add(&m.Map)
	return nil
}

// same returns a mapping that keeps all columns.
func (r *rel) same() *mapping { return Same(r.shape) }
