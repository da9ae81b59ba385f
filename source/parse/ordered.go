package parse

import (
	"context"
	"errors"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// find returns the records of a page. Every database orders dates and numbers in the same way. So if the records are
// ordered by such a field, find reads only as many records as it needs to decide the page.
func (r *reading) find(ctx context.Context) (source.Rows, error) {
	if len(r.plan.Order) == 0 { // every visible field is masked
		return interpret.Rows(ctx, r.plan, r.records)
	}
	first := r.plan.Order[0]
	if first.Join < 0 && first.Field.Name == "objectId" && !first.Desc && r.plan.Search == nil {
		if in, ok := r.plan.Where.(query.In); !ok || in.Path.String() != "objectId" {
			return r.byID(ctx), nil
		}
	}
	c, err := r.class(r.plan.View)
	if err != nil {
		return nil, err
	}
	if first.Join >= 0 || first.Near != nil || !c.whole(query.Path{first.Field.Name}) || first.Field.Type != schema.Date && first.Field.Type != schema.Double || r.plan.Search != nil {
		return interpret.Rows(ctx, r.plan, r.records)
	}
	return r.parts(func(out *parts) error {
		for _, ph := range phases(first.Field.Name, first.Desc, r.plan.After) {
			if err := r.phase(ctx, ph, out); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// parts yields the rows of a find part by part. Records of a later part never come before records of an earlier part.
type parts struct {
	*reading
	skip, left int // the number of records to skip, and of rows to yield
	yield      func(value.Row, error) bool
}

// errEnough ends the reading when the reader wants no more records.
var errEnough = errors.New("parse: the reader wants no more records")

// parts yields the rows that read produces.
func (r *reading) parts(read func(*parts) error) source.Rows {
	return func(yield func(value.Row, error) bool) {
		err := read(&parts{reading: r, skip: r.plan.Skip, left: r.plan.Limit + 1, yield: yield})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// give yields the rows of a part of the records, and releases the records.
func (p *parts) give(ctx context.Context, part []value.Row) error {
	if len(part) == 0 {
		return nil
	}
	plan := *p.plan
	plan.Skip, plan.Limit = 0, len(part)
	rows, err := interpret.Rows(ctx, &plan, func(ctx context.Context, n interpret.Need) ([]value.Row, error) {
		if n.View == plan.View {
			return part, nil
		}
		return p.records(ctx, n)
	})
	if err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if p.skip--; p.skip >= 0 {
			continue
		}
		if p.left--; !p.yield(row, nil) || p.left <= 0 {
			return errEnough
		}
	}
	p.budget.Release()
	return nil
}

// A phase is a part of the records in the order of a find. It contains either the records with a value in the first
// order field, or the records without one.
type phase struct {
	where   query.Filter
	by      string // the field, or "" for the records without a value
	desc    bool
	ordered bool
}

// phases returns the phases from a position on, in order. Null comes first in ascending order.
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

// phase yields the rows of a phase that are already decided, until it ends.
func (r *reading) phase(ctx context.Context, ph phase, out *parts) error {
	where := query.Filter(query.And{ph.where})
	if r.plan.Where != nil {
		where = query.And{r.plan.Where, ph.where}
	}
	w, err := r.walk(r.plan.View, where, r.reads(r.plan.View))
	if err != nil {
		return err
	}
	w.by, w.desc = ph.by, ph.desc
	var have []value.Row
	for !w.ended {
		rows, err := w.next(ctx)
		if err != nil {
			return err
		}
		have = append(have, rows...)
		if ph.ordered && !w.ended {
			decided := w.dropLastTies(have)
			have = have[len(decided):]
			if err := out.give(ctx, decided); err != nil {
				return err
			}
		}
	}
	return out.give(ctx, have)
}

// dropLastTies returns the records without the last ones that have the same value in the field, because more of them
// may follow.
func (w *walk) dropLastTies(rows []value.Row) []value.Row {
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
