package parse

import (
	"context"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// find returns the records of a page. If they are ordered by a date or a number, which every database orders alike, only
// as many are read as decide the page.
func (r *reading) find(ctx context.Context) (source.Rows, error) {
	if len(r.plan.Order) == 0 { // every visible field is masked
		return interpret.Rows(ctx, r.plan, r.records)
	}
	first := r.plan.Order[0]
	if first.Join < 0 && first.Field.Name == "objectId" && !first.Desc && r.plan.Search == nil {
		if in, ok := r.plan.Where.(query.In); !ok || in.Path.String() != "objectId" {
			return r.byID(ctx)
		}
	}
	c, err := r.class(r.plan.View)
	if err != nil {
		return nil, err
	}
	if first.Join >= 0 || !c.whole(query.Path{first.Field.Name}) || first.Field.Type != schema.Date && first.Field.Type != schema.Double || r.plan.Search != nil {
		return interpret.Rows(ctx, r.plan, r.records)
	}
	var have []value.Row
	for _, ph := range phases(first.Field.Name, first.Desc, r.plan.After) {
		done, err := r.phase(ctx, ph, &have)
		if err != nil || done != nil {
			return done, err
		}
	}
	rows, _, err := r.page(ctx, have)
	return rows, err
}

// A phase is a part of the records in the order of a find: those with a value in its first field, or those without one.
type phase struct {
	where   query.Filter
	by      string // "" for the records without a value
	desc    bool
	ordered bool
}

// phases returns the parts from a position on, in order. Null comes first when ascending.
func phases(field string, desc bool, after []value.Value) []phase {
	path := query.Path{field}
	empty := phase{where: query.Exists{Path: path}}
	valued := phase{where: query.Exists{Path: path, Want: true}, by: field, desc: desc, ordered: true}
	if after != nil && !after[0].IsNull() {
		op := query.Gte
		if desc {
			op = query.Lte
		}
		valued.where = query.Compare{Path: path, Op: op, Value: after[0]}
		if !desc {
			return []phase{valued}
		}
	}
	switch {
	case after != nil && after[0].IsNull() && desc:
		return []phase{empty}
	case desc:
		return []phase{valued, empty}
	}
	return []phase{empty, valued}
}

// phase adds the records of a phase to have until they decide the page, which it then returns; else nil.
func (r *reading) phase(ctx context.Context, ph phase, have *[]value.Row) (source.Rows, error) {
	where := query.Filter(query.And{ph.where})
	if r.plan.Where != nil {
		where = query.And{r.plan.Where, ph.where}
	}
	w, err := r.walk(r.plan.View, where)
	if err != nil {
		return nil, err
	}
	w.by, w.desc = ph.by, ph.desc
	for tried := len(*have); !w.ended; {
		rows, err := w.next(ctx)
		if err != nil {
			return nil, err
		}
		*have = append(*have, rows...)
		// Evaluating all again for each page would take time quadratic in them.
		if !ph.ordered || w.ended || len(*have)-tried < tried {
			continue
		}
		tried = len(*have)
		done, enough, err := r.page(ctx, w.decided(*have))
		if err != nil || enough {
			return done, err
		}
	}
	return nil, nil
}

// decided returns the records without the last ones that are equal in the field: more of these may follow.
func (w *walk) decided(rows []value.Row) []value.Row {
	if len(rows) == 0 {
		return nil
	}
	last := w.value(rows[len(rows)-1], w.by)
	n := len(rows)
	for n > 0 && value.Equal(w.value(rows[n-1], w.by), last) {
		n--
	}
	return rows[:n]
}

// page evaluates the plan over some of its records, and reports whether they fill the page.
func (r *reading) page(ctx context.Context, have []value.Row) (source.Rows, bool, error) {
	before := r.budget
	rows, err := interpret.Rows(ctx, r.plan, func(ctx context.Context, n interpret.Need) ([]value.Row, error) {
		if n.View == r.plan.View {
			return have, nil
		}
		return r.records(ctx, n)
	})
	if err != nil {
		return nil, false, err
	}
	var out []value.Row
	for row, err := range rows {
		if err != nil {
			return nil, false, err
		}
		out = append(out, slices.Clone(row))
	}
	if len(out) <= r.plan.Limit {
		r.budget = before // the next attempt reads the same records of other classes again
	}
	return func(yield func(value.Row, error) bool) {
		for _, row := range out {
			if !yield(row, nil) {
				return
			}
		}
	}, len(out) > r.plan.Limit, nil
}
