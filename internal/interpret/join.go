package interpret

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A pairing is the records of the right side of a join, with the values by which they are compared.
type pairing struct {
	rows   []value.Row
	keys   [][]value.Value // by row: the right sides of the pairs
	byKeys directory
}

// right evaluates a Program and the right sides of pairs over its records. Records that g doesn't require may be
// missing.
func (r *reading) right(p *plan.Program, on []plan.Pair, g given) pairing {
	out := pairing{rows: r.program(p, g)}
	in := records{reading: r, shape: new(p.Out()), given: given{outer: g.outer}}
	for i, row := range out.rows {
		at := in.at(row)
		keys := make([]value.Value, len(on))
		for i, pair := range on {
			keys[i] = at.eval(pair.Right)
		}
		out.keys = append(out.keys, keys)
		out.byKeys.add(digests(keys), i)
	}
	return out
}

// joinKeys returns the keys by which a Program can find the records that match left. The key is a field in one of the
// pairs, and its values are from the records of left. This requires that the Program reads a view, and that its stages
// are only filters.
func joinKeys(p *plan.Program, on []plan.Pair, left records) given {
	if p.From == plan.Input || slices.ContainsFunc(p.Stages, func(s plan.Stage) bool { _, ok := s.(*plan.Filter); return !ok }) {
		return given{}
	}
	for _, pair := range on {
		ref, ok := pair.Right.(plan.Ref)
		if !ok || ref.T != schema.String && ref.T != schema.Integer || p.Base.Columns[ref.Column].Field == nil {
			continue
		}
		in := make([]value.Value, len(left.rows))
		for i, row := range left.rows {
			in[i] = left.at(row).eval(pair.Left)
		}
		return given{key: p.Base.Columns[ref.Column].Field.Name, in: distinct(in)}
	}
	return given{}
}

// matching returns the rows for which all pairs are equal. Null doesn't equal anything.
func (p pairing) matching(on []plan.Pair, at *place) []value.Row {
	left := make([]value.Value, len(on))
	for i, pair := range on {
		left[i] = at.eval(pair.Left)
	}
	var out []value.Row
	for _, i := range p.byKeys[digests(left)] {
		if slices.EqualFunc(left, p.keys[i], same) {
			out = append(out, p.rows[i])
		}
	}
	return out
}

// join evaluates a Join. It pairs each record with each record of the right side for which all pairs are equal and s.If
// holds. The result is in the order of the left side, then of the right side. With s.Keep, a record without a match is
// paired with nulls.
func (r *reading) join(s *plan.Join, in records) []value.Row {
	g := joinKeys(s.Right, s.On, in)
	g.outer = in.outer
	right := r.right(s.Right, s.On, g)
	width := len(s.Right.Out().Columns)
	pairs := records{reading: r, shape: &s.Shape, given: in.given}
	return r.each(in, func(at *place) []value.Row {
		var out []value.Row
		for _, row := range right.matching(s.On, at) {
			both := slices.Concat(at.row, row)
			if s.If == nil || pairs.at(both).eval(s.If).Bool() {
				out = append(out, both)
			}
		}
		if out == nil && s.Keep {
			out = append(out, slices.Concat(at.row, make(value.Row, width)))
		}
		return out
	})
}

// probe evaluates a sub-query for each record. The result is whether the sub-query has a record, or the value of its
// one visible column, which is null without a record. More than one record fails the reading, because SQL requires at
// most one. A sub-query that reads no value of the outer record has the same result for all records, so it runs only
// once.
func (r *reading) probe(s *plan.Probe, in records) []value.Row {
	shape := s.Right.Out()
	column := slices.IndexFunc(shape.Columns, func(c plan.Column) bool { return c.Path != nil })
	var rows []value.Row
	again := true
	return r.each(in, func(at *place) []value.Row {
		if again {
			rows = r.program(s.Right, given{outer: at})
			again = at.used
		}
		var v value.Value
		switch {
		case s.Exists:
			v = value.OfBool(len(rows) > 0)
		case len(rows) > 1:
			r.fail("a sub-query for one value has %d records", len(rows))
		case len(rows) == 1:
			v = columnValue(&shape.Columns[column], rows[0][column])
		}
		return []value.Row{append(slices.Clone(at.row), v)}
	})
}

// nest evaluates a Nest. It adds to each record the list of the right side's matching records. The right side is
// computed for each record if it is correlated, otherwise only once.
func (r *reading) nest(s *plan.Nest, in records) []value.Row {
	shape := new(s.Right.Out())
	var right pairing
	g := joinKeys(s.Right, s.On, in)
	if !s.Correlated {
		// It doesn't refer to the outer record, so a place without a record is enough.
		g.outer = &place{reading: r, shape: in.shape, outer: in.outer}
		right = r.right(s.Right, s.On, g)
	}
	return r.each(in, func(at *place) []value.Row {
		if s.Correlated {
			g.outer = at
			right = r.right(s.Right, s.On, g)
		}
		return []value.Row{append(slices.Clone(at.row), r.objects(shape, right.matching(s.On, at)))}
	})
}

// closure evaluates $graphLookup breadth first. Each step adds the records whose To equals a value of the preceding
// step. There are at most s.Depth steps after the first. No record is added twice, so a cycle ends.
func (r *reading) closure(s *plan.Closure, in records) []value.Row {
	shape := s.Right.Out()
	rows := r.program(s.Right, given{outer: in.outer})
	from, to := make([]value.Value, len(rows)), make([]value.Value, len(rows))
	for i, row := range rows {
		from[i], to[i] = columnValue(&shape.Columns[s.From], row[s.From]), columnValue(&shape.Columns[s.To], row[s.To])
	}
	return r.each(in, func(at *place) []value.Row {
		list := []value.Value{}
		reached := make([]bool, len(rows))
		ends := []value.Value{at.eval(s.Start)}
		for steps := int64(0); steps <= s.Depth && len(ends) > 0 && !r.shouldStop(); steps++ {
			var next []value.Value
			for i, row := range rows {
				if reached[i] || !slices.ContainsFunc(ends, func(end value.Value) bool { return same(end, to[i]) }) {
					continue
				}
				reached[i] = true
				next = append(next, from[i])
				list = append(list, withDepth(object(&shape, row), s.DepthName, steps))
			}
			ends = next
		}
		return []value.Row{append(slices.Clone(at.row), r.listOrNull(list))}
	})
}

func withDepth(o value.Value, name string, steps int64) value.Value {
	if name == "" {
		return o
	}
	return value.OfObject(append(slices.Clone(o.Members()), value.Member{Name: name, Value: value.OfInt(steps)}))
}

// objects returns records as a list of objects.
func (r *reading) objects(shape *plan.Shape, rows []value.Row) value.Value {
	list := make([]value.Value, len(rows))
	for i, row := range rows {
		list[i] = object(shape, row)
	}
	return r.listOrNull(list)
}

// object returns a record as an object of its visible columns, each at its path.
func object(shape *plan.Shape, row value.Row) value.Value {
	var places []columnAt
	for i := range shape.Columns {
		c := &shape.Columns[i]
		if c.Path == nil {
			continue
		}
		v := columnValue(c, row[i])
		if c.ID && (c.Type == schema.Integer || c.Type == schema.Decimal || c.Type == schema.Double) {
			v = convert(v, schema.String)
		}
		places = append(places, columnAt{c.Path, JSON(v)})
	}
	return nestColumns(places, nil, shape.Optional)
}

// A columnAt is a value with the rest of its path.
type columnAt struct {
	path query.Path
	v    value.Value
}

// nestColumns returns the object of the columns below a path.
func nestColumns(columns []columnAt, at query.Path, optional []query.Path) value.Value {
	isAt := func(p query.Path) bool { return slices.Equal(p, at) }
	if slices.ContainsFunc(optional, isAt) && !slices.ContainsFunc(columns, func(c columnAt) bool { return !c.v.IsNull() }) {
		return value.Value{}
	}
	var members []value.Member
	for i, c := range columns {
		name := c.path[0]
		if slices.ContainsFunc(columns[:i], func(before columnAt) bool { return before.path[0] == name }) {
			continue
		}
		v := c.v
		if len(c.path) > 1 {
			var inner []columnAt
			for _, other := range columns {
				if other.path[0] == name {
					inner = append(inner, columnAt{other.path[1:], other.v})
				}
			}
			v = nestColumns(inner, append(slices.Clone(at), name), optional)
		}
		members = append(members, value.Member{Name: name, Value: v})
	}
	return value.OfObject(members)
}
