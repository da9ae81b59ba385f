package interpret

import (
	"cmp"
	"iter"
	"slices"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// matching returns the records of the plan's view that satisfy its filter.
func (r *reading) matching() ([]value.Row, error) {
	records, err := r.view(Need{View: r.plan.View})
	if err != nil {
		return nil, err
	}
	if err := r.follow(records); err != nil {
		return nil, err
	}
	if r.plan.Where != nil {
		records, err = r.keep(records, r.plan.Where, func(row value.Row) rooted { return r.followPointers(row) })
	}
	if err != nil || r.plan.Search == nil {
		return records, err
	}
	return slices.DeleteFunc(slices.Clone(records), func(row value.Row) bool {
		return !matchesSearch(r.plan.Search, record{r.plan.View.Class(), row})
	}), nil
}

// follow reads the records to which the pointers of records may lead, join by join.
func (r *reading) follow(records []value.Row) error {
	r.targets = make([]targets, len(r.plan.Joins))
	for i, j := range r.plan.Joins {
		from, holders := r.plan.View.Class(), records
		if j.From >= 0 {
			from, holders = r.plan.Joins[j.From].View.Class(), r.targets[j.From].rows
		}
		need, at := Need{View: j.View, Key: j.Key}, index(from, j.Field)
		for _, row := range holders {
			need.In = append(need.In, row[at])
		}
		need.In = distinct(need.In)
		rows, err := r.view(need)
		if err != nil {
			return err
		}
		key := index(j.View.Class(), j.Key)
		r.targets[i] = targets{rows: rows}
		for n, row := range rows {
			r.targets[i].byKey.add(value.Digest(row[key]), n)
		}
	}
	return nil
}

// A led is a record of the plan's class with the records to which its pointers lead.
type led struct {
	plan *policy.Plan
	own  record
	to   []record // the records behind the pointers, by join
}

func (j led) at(join int) record {
	if join < 0 {
		return j.own
	}
	return j.to[join]
}

func (j led) leaves(path query.Path) []value.Value {
	join, f := j.plan.Column(path[0])
	if f == nil {
		return nil
	}
	return leaves(j.at(join).value(f.Name), path[1:])
}

// followPointers finds the records to which the pointers of a record lead.
func (r *reading) followPointers(row value.Row) led {
	out := led{r.plan, record{r.plan.View.Class(), row}, make([]record, len(r.plan.Joins))}
	for i, j := range r.plan.Joins {
		c, t := j.View.Class(), &r.targets[i]
		pointer, key := out.at(j.From).value(j.Field), index(c, j.Key)
		out.to[i] = record{class: c}
		for _, n := range t.byKey[value.Digest(pointer)] {
			if same(pointer, t.rows[n][key]) {
				out.to[i].row = t.rows[n]
				break
			}
		}
	}
	return out
}

// page returns the records that remain after the plan's order, position, skip and limit are applied.
func (r *reading) page(records []value.Row) []value.Row {
	plan := r.plan
	place := func(row value.Row) []value.Value {
		at, of := make([]value.Value, len(plan.Order)), r.followPointers(row)
		for i, o := range plan.Order {
			at[i] = of.place(o)
		}
		return at
	}
	inOrder := func(a, b []value.Value) int {
		for i, o := range plan.Order {
			if d := value.Order(a[i], b[i]); d != 0 && o.Desc {
				return -d
			} else if d != 0 {
				return d
			}
		}
		return 0
	}
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b value.Row) int { return inOrder(place(a), place(b)) })
	if plan.After != nil {
		records = slices.DeleteFunc(records, func(row value.Row) bool { return inOrder(place(row), plan.After) <= 0 })
	}
	records = records[min(plan.Skip, len(records)):]
	return records[:min(plan.Limit+1, len(records))]
}

// rows yields the columns and the order's values for each record. Columns may be in records to which the pointers lead.
func (r *reading) rows(records []value.Row) iter.Seq2[value.Row, error] {
	return r.inTurn(records, r.columns)
}

// inTurn yields the result of leaves for each record, until yield returns false.
func (r *reading) inTurn(records []value.Row, leaves func(value.Row) value.Row) iter.Seq2[value.Row, error] {
	return func(yield func(value.Row, error) bool) {
		for _, row := range records {
			if err := ContextError(r.ctx); err != nil {
				yield(nil, err)
				return
			}
			if !yield(leaves(row), nil) {
				return
			}
		}
	}
}

// within returns a value of a row. It returns a value.Cut if the value is longer than the plan allows.
func (r *reading) within(v value.Value) value.Value {
	n := len(v.Text()) // the size of bytes is their number
	if v.Kind() != value.Bytes {
		n = len(v.String())
	}
	if n > cmp.Or(r.plan.Most, policy.MostValue) {
		return value.OfCut(int64(n))
	}
	return v
}

// columns returns the plan's columns of a record. If the order is unique, its values follow, for the position of the
// next page.
func (r *reading) columns(row value.Row) value.Row {
	of := r.followPointers(row)
	out := Leaving(r.plan, func(join int, f *schema.Field, p *policy.Piece) value.Value {
		return r.within(Piece(of.at(join).value(f.Name), p))
	})
	for i, o := range r.plan.Order {
		if o.Near != nil && r.plan.Unique {
			out[len(r.plan.Columns)+i] = of.place(o)
		}
	}
	return out
}

// place returns a record's value for one term of the order.
func (j led) place(o policy.Order) value.Value {
	v := j.at(o.Join).value(o.Field.Name)
	if o.Near == nil {
		return v
	}
	for _, at := range leaves(v, o.Near.Path[1:]) { // a single value, because the record satisfies the condition
		return o.Near.Distance(at)
	}
	return value.Value{}
}

// Leaving returns the row of a record of a plan: its columns and, if the order is unique, the values of the order.
// Leaving calls its second argument for the value of a field behind a join, or for a piece of that value. That function
// may return only values that the principal may see.
func Leaving(p *policy.Plan, of func(join int, f *schema.Field, piece *policy.Piece) value.Value) value.Row {
	out := make(value.Row, 0, len(p.Columns)+len(p.Order))
	for _, c := range p.Columns {
		out = append(out, part(of(c.Join, c.Field, c.Piece), c.Part))
	}
	if p.Unique {
		for _, o := range p.Order {
			out = append(out, of(o.Join, o.Field, nil))
		}
	}
	return out
}

// part returns the value at path in v, or null. If v is a list, it returns the list of the values at path in the
// elements.
func part(v value.Value, path query.Path) value.Value {
	if len(path) == 0 || v.Kind() == value.Cut {
		return v
	}
	if v.Kind() == value.Array {
		out := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			out[i] = part(e, path)
		}
		return value.OfArray(out)
	}
	inner, ok := v.Get(path[0])
	if !ok {
		return value.Value{}
	}
	return part(inner, path[1:])
}

// targets are the records to which a pointer may lead.
type targets struct {
	rows  []value.Row
	byKey directory
}
