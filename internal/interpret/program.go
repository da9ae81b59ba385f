package interpret

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A given is the input of a Program, in addition to the plan's views.
type given struct {
	input []value.Row // the records that a Facet passes to its branches
	outer *place      // the record for which a Nest makes its list

	// If key isn't "", the Program requires only some records of its first view. In these records, the field key has
	// one of the values in.
	key string
	in  []value.Value
}

// fail records the first reason to stop. A reading with such a reason yields nothing.
func (r *reading) fail(format string, args ...any) {
	if r.err == nil {
		r.err = problem.New(problem.Internal, fmt.Sprintf(format, args...))
	}
}

// shouldStop reports whether there is a reason to stop, or whether the caller's context has ended.
func (r *reading) shouldStop() bool {
	if r.err == nil {
		r.err = ContextError(r.ctx)
	}
	return r.err != nil
}

// leaving returns the visible columns of a Program's records, at most limit + 1 records.
func (r *reading) leaving(p *plan.Program, g given) ([]value.Row, error) {
	rows := r.program(p, g)
	if r.err != nil {
		return nil, r.err
	}
	shape := p.Out()
	rows = rows[:min(r.plan.Limit+1, len(rows))]
	out := make([]value.Row, len(rows))
	for i, row := range rows {
		for c := range shape.Columns {
			if shape.Columns[c].Path != nil {
				v := r.within(row[c])
				if column := &shape.Columns[c]; v.IsNull() && column.List && column.NotNull { // the list was too large
					v = value.OfCut(value.Unmeasured)
				}
				out[i] = append(out[i], v)
			}
		}
	}
	return out, nil
}

// program returns the records of p, in order.
func (r *reading) program(p *plan.Program, g given) []value.Row {
	shape := &p.Base
	rows := sortRows(shape, r.from(p, g))
	for _, s := range p.Stages {
		if r.shouldStop() {
			return nil
		}
		rows = sortRows(s.Out(), r.stage(s, records{r, shape, rows, g}))
		shape = s.Out()
	}
	if r.shouldStop() {
		return nil
	}
	return rows
}

// from returns the records at the beginning of p.
func (r *reading) from(p *plan.Program, g given) []value.Row {
	if p.From == plan.Input {
		return g.input
	}
	if p.From == plan.Listed {
		return p.Rows
	}
	if p.From < 0 || p.From >= len(r.plan.Views) {
		r.fail("the plan has no view %d", p.From)
		return nil
	}
	v := r.plan.Views[p.From]
	all, err := r.view(Need{v, g.key, g.in})
	if err != nil {
		r.err = cmp.Or(r.err, err)
		return nil
	}
	fields := make([]int, len(p.Base.Columns))
	for c := range p.Base.Columns {
		fields[c] = index(v.Class(), p.Base.Columns[c].Field.Name)
	}
	rows := make([]value.Row, len(all))
	for i, record := range all {
		rows[i] = make(value.Row, len(fields))
		for c, f := range fields {
			rows[i][c] = record[f]
		}
	}
	return rows
}

// sortRows sorts rows in the order of their shape.
func sortRows(shape *plan.Shape, rows []value.Row) []value.Row {
	compare := func(a, b value.Row) int {
		for _, p := range shape.Order {
			order := value.Order
			if shape.Columns[p.Column].Type == schema.JSON {
				order = orderJSON
			}
			if d := order(a[p.Column], b[p.Column]); d != 0 && p.Desc {
				return -d
			} else if d != 0 {
				return d
			}
		}
		return 0
	}
	if slices.IsSortedFunc(rows, compare) {
		return slices.Clip(rows)
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, compare)
	return rows
}

// orderJSON compares JSON values. All objects are equal, and all lists are equal.
func orderJSON(a, b value.Value) int {
	if k := a.Kind(); k == b.Kind() && (k == value.Object || k == value.Array) {
		return 0
	}
	return value.Order(a, b)
}

// A records is the input of a stage.
type records struct {
	*reading
	shape *plan.Shape
	rows  []value.Row // in the shape's order
	given
}

// at returns the place for expressions over one of the records.
func (in *records) at(row value.Row) *place {
	return &place{reading: in.reading, shape: in.shape, row: row, outer: in.outer}
}

// stage returns the records that a stage makes from its input.
func (r *reading) stage(s plan.Stage, in records) []value.Row {
	switch s := s.(type) {
	case *plan.Filter:
		return r.filter(s, in)
	case *plan.Map:
		return r.each(in, func(at *place) []value.Row { return []value.Row{at.columns(s.Columns, &s.Shape)} })
	case *plan.Slice:
		return slice(s, in.rows)
	case *plan.Unwind:
		return r.each(in, func(at *place) []value.Row { return unwind(s, at) })
	case *plan.Union:
		return r.union(s, in)
	case *plan.Facet:
		return r.facet(s, in)
	case *plan.Sample:
		return sample(s, in)
	case *plan.Group:
		return r.group(s, in)
	case *plan.Buckets:
		return r.buckets(s, in)
	case *plan.Windows:
		return r.windows(s, in)
	case *plan.Join:
		return r.join(s, in)
	case *plan.Probe:
		return r.probe(s, in)
	case *plan.Nest:
		return r.nest(s, in)
	case *plan.Closure:
		return r.closure(s, in)
	}
	r.fail("interpret: there is no stage %T", s)
	return nil
}

// maxStageValues is the maximum number of values that a stage makes. A Budget limits the records that are read, but a
// join multiplies them.
const maxStageValues = 4_000_000

// each returns the rows that the function of makes from each record in turn.
func (r *reading) each(in records, of func(*place) []value.Row) []value.Row {
	var out []value.Row
	values := 0
	for _, row := range in.rows {
		if r.shouldStop() {
			return nil
		}
		made := of(in.at(row))
		for _, m := range made {
			values += len(m)
		}
		if values > maxStageValues {
			r.err = &problem.Error{Code: problem.Unsupported, Detail: fmt.Sprintf("the query makes more than %d values of the records, and the source can't run it by itself", maxStageValues),
				Suggestion: "join on equal fields, and narrow the records before they are joined"}
			return nil
		}
		out = append(out, made...)
	}
	return out
}

// filter evaluates a Filter.
func (r *reading) filter(s *plan.Filter, in records) []value.Row {
	holds, ok := r.condition(s)
	if !ok {
		return nil
	}
	return r.each(in, func(at *place) []value.Row {
		if !holds(at) {
			return nil
		}
		return []value.Row{at.row}
	})
}

// condition returns a function that reports whether Where and If of a Filter hold for a record. A condition that is
// null doesn't hold. The bool is false if the condition can't be evaluated.
func (r *reading) condition(s *plan.Filter) (func(*place) bool, bool) {
	where := func(rooted) bool { return true }
	if s.Where != nil {
		var err error
		if where, err = r.predicate(s.Where); err != nil {
			r.err = cmp.Or(r.err, err) // the first error is the reason
			return nil, false
		}
	}
	return func(at *place) bool { return where(at) && (s.If == nil || at.eval(s.If).Bool()) }, true
}

// columns computes the columns of a shape. For a column with a Field, a Ref passes on the stored value.
func (at *place) columns(es []plan.Expr, shape *plan.Shape) value.Row {
	out := make(value.Row, len(es))
	for i, e := range es {
		if ref, ok := e.(plan.Ref); ok && shape.Columns[i].Field != nil {
			out[i] = at.row[ref.Column]
		} else {
			out[i] = at.eval(e)
		}
	}
	return out
}

func slice(s *plan.Slice, rows []value.Row) []value.Row {
	rows = rows[min(s.Skip, int64(len(rows))):]
	if s.Limit >= 0 {
		rows = rows[:min(s.Limit, int64(len(rows)))]
	}
	return rows
}

// unwind returns a record for each element of the list of at's record, with the element and its index. As in MongoDB, a
// value that isn't a list is itself an element. With s.Keep, a record without elements stays, with nulls.
func unwind(s *plan.Unwind, at *place) []value.Row {
	list := at.eval(s.List)
	elements := list.List()
	if list.Kind() != value.Array && !list.IsNull() {
		elements = []value.Value{list}
	}
	if len(elements) == 0 && s.Keep {
		return []value.Row{append(slices.Clone(at.row), value.Value{}, value.Value{})}
	}
	var out []value.Row
	for i, e := range elements {
		out = append(out, append(slices.Clone(at.row), e, value.OfInt(int64(i))))
	}
	return out
}

// union evaluates a Union. The columns of each side are followed by the number of the side and the position in that
// side, which order the result.
func (r *reading) union(s *plan.Union, in records) []value.Row {
	right := records{reading: r, shape: new(s.Right.Out()), rows: r.program(s.Right, given{outer: in.outer}), given: in.given}
	var out []value.Row
	for side, of := range []struct {
		records
		es []plan.Expr
	}{{in, s.Left}, {right, s.Added}} {
		for i, row := range of.rows {
			if r.shouldStop() {
				return nil
			}
			out = append(out, append(of.at(row).columns(of.es, &s.Shape), value.OfInt(int64(side)), value.OfInt(int64(i+1))))
		}
	}
	return out
}

func (r *reading) facet(s *plan.Facet, in records) []value.Row {
	row := make(value.Row, len(s.Branches))
	for i, b := range s.Branches {
		rows := r.program(b, given{input: in.rows, outer: in.outer})
		row[i] = r.objects(new(b.Out()), rows)
	}
	return []value.Row{row}
}

// sample selects records by a digest, so that the same records give the same sample in every source.
func sample(s *plan.Sample, in records) []value.Row {
	type drawn struct {
		digest string
		i      int
	}
	all := make([]drawn, len(in.rows))
	for i, row := range in.rows {
		var texts []string
		for _, p := range in.shape.Order {
			texts = append(texts, digestText(&in.shape.Columns[p.Column], row[p.Column]))
		}
		sum := md5.Sum([]byte(s.Seed + strings.Join(texts, "\x1f")))
		all[i] = drawn{hex.EncodeToString(sum[:]), i}
	}
	slices.SortStableFunc(all, func(a, b drawn) int { return strings.Compare(a.digest, b.digest) })
	all = all[:min(s.N, int64(len(all)))]
	slices.SortFunc(all, func(a, b drawn) int { return a.i - b.i })
	out := make([]value.Row, len(all))
	for i, d := range all {
		out[i] = in.rows[d.i]
	}
	return out
}

// digestText returns the text of a column for a digest.
func digestText(c *plan.Column, v value.Value) string {
	switch v = columnValue(c, v); {
	case c.Type == schema.Any || c.Type == schema.Opaque:
		return ""
	case c.Type == schema.Bytes:
		return v.String()
	}
	if c.Type == schema.JSON {
		v = converting(v, schema.String)
	}
	return convert(v, schema.String).Text()
}
