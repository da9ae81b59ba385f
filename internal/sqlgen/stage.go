package sqlgen

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A programStatement is the statement to which stages are written.
type programStatement interface {
	// Arg and Alias are as in Scope.
	Arg(v any, cast string) string
	Alias(prefix string) string
	// View writes relation n of the plan as a FROM item called alias.
	View(n int, alias string) (string, error)
	// Name writes the column of a view for a field.
	Name(alias, field string) string
	// Filter writes a filter. columns returns the column for a key. The condition is false or null if the filter
	// doesn't hold.
	Filter(f query.Filter, columns func(key string) (x string, f *schema.Field)) (string, error)
	// ComputedField returns a field that describes a computed value of type t.
	ComputedField(t schema.Type) *schema.Field
	// OrderTerm writes the term that orders by a column of a class.
	OrderTerm(x string, f *schema.Field, desc bool) string
	// Long reports whether values of a field may have any length. The text of a long column occurs twice in the SELECT.
	Long(f *schema.Field) bool
	// SelectTerms writes the terms that select columns. A computed field with NotNull is a list, which is null only if
	// it is too large.
	SelectTerms(xs []string, fields []*schema.Field) []string
	// Limit returns the text of a limit or an offset.
	Limit(n int64) string
}

// writeProgram writes p into s: at most limit records, in order. It selects the visible columns of p.Out in turn, or
// all columns if whole is set. If there are none, a row still has one column.
func writeProgram(s programStatement, d Dialect, p *plan.Program, limit int64, whole bool) (string, error) {
	b := &builder{s, d, plan.ListBytes(p)}
	r, err := b.program(p, nil, nil)
	if err != nil {
		return "", err
	}
	var columns []int
	var fields []*schema.Field
	repeats := false
	for i, c := range r.shape.Columns {
		if c.Path == nil && !whole {
			continue
		}
		f := c.Field
		if f == nil {
			f = s.ComputedField(c.Type)
			f.NotNull = c.NotNull // see SelectTerms
		}
		columns, fields = append(columns, i), append(fields, f)
		repeats = repeats || s.Long(f) && (r.grouped || !short(r.columns[i]))
	}
	r = b.slice(r, 0, limit)
	if repeats { // compute it only once
		r = b.slice(b.wrap(r), 0, all)
	}
	xs := make([]string, len(columns))
	for n, i := range columns {
		xs[n] = r.columns[i]
	}
	return b.selectQuery(r, s.SelectTerms(xs, fields)), nil
}

// A builder writes the stages of one program.
type builder struct {
	s    programStatement
	d    Dialect
	most int // the maximum size of a list that a group collects
}

// program writes p. input is the relation for plan.Input. outer is the surrounding record, for which a list is made.
func (b *builder) program(p *plan.Program, input *relation, outer *scope) (*relation, error) {
	r, err := b.start(p, input)
	if err != nil {
		return nil, err
	}
	return b.stages(r, p.Stages, place{input, outer})
}

// start returns the relation at the beginning of p, before its stages.
func (b *builder) start(p *plan.Program, input *relation) (*relation, error) {
	switch {
	case len(p.Rows) > 0:
		return b.constantRecords(p), nil
	case p.From != plan.Input:
		alias := b.s.Alias("v")
		from, err := b.s.View(p.From, alias)
		if err != nil {
			return nil, err
		}
		r := &relation{shape: p.Base, from: from, alias: alias, plain: true}
		for _, c := range p.Base.Columns {
			r.columns = append(r.columns, b.s.Name(alias, c.Field.Name))
			r.names = append(r.names, c.Field.Name)
		}
		return r, nil
	case input != nil:
		alias := b.s.Alias("t")
		return &relation{shape: input.shape, from: input.alias + " AS " + alias, alias: alias, columns: positions(alias, len(input.columns))}, nil
	}
	return nil, problem.New(problem.Internal, "a program reads the records of no facet")
}

func (b *builder) stages(r *relation, stages []plan.Stage, at place) (*relation, error) {
	for _, st := range stages {
		var err error
		if r, err = b.stage(r, st, at); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// stage writes st over the relation r. It returns the new relation, which later stages may still extend. If records are
// divided into parts, only stages that support parts are possible.
func (b *builder) stage(r *relation, st plan.Stage, at place) (*relation, error) {
	outer := at.outer
	if r.part != nil && !apart(st) {
		return nil, notApart()
	}
	switch st := st.(type) {
	case *plan.Filter:
		return b.filter(r, st, outer)
	case *plan.Map:
		return b.mapColumns(r, st, outer)
	case *plan.Group:
		return b.group(r, st, outer)
	case *plan.Buckets:
		return b.buckets(r, st, outer)
	case *plan.Windows:
		return b.windows(r, st, outer)
	case *plan.Slice:
		limit := st.Limit
		if limit < 0 {
			limit = all
		}
		r := b.slice(r, st.Skip, limit)
		r.inOrder = slices.Equal(r.shape.Order, st.Shape.Order)
		r.shape = st.Shape
		return r, nil
	case *plan.Unwind:
		return b.unwind(r, st, outer)
	case *plan.Join:
		return b.join(r, st, at)
	case *plan.Probe:
		return b.probe(r, st, at)
	case *plan.Nest:
		return b.nest(r, st, at)
	case *plan.Closure:
		return b.closure(r, st, at)
	case *plan.Union:
		return b.union(r, st, at)
	case *plan.Facet:
		return b.facet(r, st, outer)
	case *plan.Sample:
		return b.sample(r, st, outer)
	}
	return nil, problem.New(problem.Internal, fmt.Sprintf("sqlgen can't write %T", st))
}

// A place contains the scopes to which a program inside a stage may refer.
type place struct {
	input *relation
	outer *scope
}

// filter adds the conditions to the WHERE of r. A stored field is compared in its stored form, so that the database can
// use an index. A computed column is compared by its type.
func (b *builder) filter(r *relation, st *plan.Filter, outer *scope) (*relation, error) {
	r = b.open(r)
	s := &scope{b: b, r: r, outer: outer, lets: true}
	if st.Where != nil {
		text, err := b.s.Filter(st.Where, func(key string) (string, *schema.Field) {
			i := r.shape.Find(key)
			switch {
			case i < 0:
				return "", nil
			case r.shape.Columns[i].Field != nil:
				return r.columns[i], r.field(i)
			}
			return s.raw(i), b.s.ComputedField(r.shape.Columns[i].Type)
		})
		if err != nil {
			return nil, err
		}
		r.where = append(r.where, text)
	}
	if st.If != nil {
		text, err := WriteCondition(b.d, s, st.If)
		if err != nil {
			return nil, err
		}
		r.where = append(r.where, text)
	}
	r.shape = st.Shape
	return r, nil
}

// mapColumns computes columns. If all columns are passed on unchanged, a group or a cut relation stays open for further
// stages.
func (b *builder) mapColumns(r *relation, st *plan.Map, outer *scope) (*relation, error) {
	for i, e := range st.Columns {
		if _, ok := passedColumn(r, e, &st.Shape.Columns[i]); !ok {
			r = b.open(r)
			break
		}
	}
	counted := counting(b, r, outer)
	if _, err := b.columns(counted, st.Columns, st.Shape.Columns); err != nil {
		return nil, err
	}
	columns, err := b.columns(&scope{b: b, r: r, outer: outer, uses: counted.count}, st.Columns, st.Shape.Columns)
	next := *r
	next.columns, next.shape = columns, st.Shape
	next.inOrder = r.inOrder && sameOrder(r, st)
	return &next, err
}

// sameOrder reports whether st keeps the order of r.
func sameOrder(r *relation, st *plan.Map) bool {
	return slices.EqualFunc(r.shape.Order, st.Shape.Order, func(from, to plan.Place) bool {
		ref, ok := st.Columns[to.Column].(plan.Ref)
		return ok && ref.Column == from.Column && from.Desc == to.Desc
	})
}

// columns writes the expressions of columns.
func (b *builder) columns(s *scope, es []plan.Expr, to []plan.Column) ([]string, error) {
	columns := make([]string, len(es))
	for i, e := range es {
		if from, ok := passedColumn(s.r, e, &to[i]); ok {
			columns[i] = s.raw(from)
			continue
		}
		var err error
		if columns[i], err = WriteExpr(b.d, s, e); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// passedColumn returns the number of the column of r that e passes on unchanged, and whether e does so.
func passedColumn(r *relation, e plan.Expr, to *plan.Column) (int, bool) {
	ref, ok := e.(plan.Ref)
	return ref.Column, ok && (r.shape.Columns[ref.Column].Field == nil || to.Field != nil)
}

// slice keeps limit records after the first skip, in the order of r's shape.
func (b *builder) slice(r *relation, skip, limit int64) *relation {
	if r.part != nil {
		return b.sliceParts(r, skip, limit)
	}
	if r.inOrder {
		next := *r
		next.skip, next.limit = next.skip+skip, min(max(0, next.limit-skip), limit)
		return &next
	}
	if r.cut {
		r = b.wrap(r)
	}
	terms := b.order(r)
	if terms == nil { // over a group, the terms would require columns below it
		r = b.wrap(r)
		terms = b.order(r)
	}
	next := *r
	next.order, next.skip, next.limit, next.cut, next.inOrder = terms, skip, limit, true, true
	return &next
}

// order writes the terms of the order of r's shape. It returns nil if r is a group and the terms require columns below
// it.
func (b *builder) order(r *relation) []string {
	s := &scope{b: b, r: r, closed: r.grouped || r.alias == ""}
	terms := []string{}
	for _, p := range r.shape.Order {
		terms = append(terms, b.term(s, p)...)
	}
	terms = append(terms, b.ties(s, r.shape.Order)...)
	if s.refused {
		return nil
	}
	return terms
}

// term writes one part of an order. JSON is not ordered in its stored form.
func (b *builder) term(s *scope, p plan.Place) []string {
	if f := s.r.field(p.Column); f != nil && !f.Type.IsStructured() {
		return []string{b.s.OrderTerm(s.raw(p.Column), f, p.Desc)}
	}
	return b.d.Order(s, s.Column(p.Column), s.r.shape.Columns[p.Column].Type, p.Desc)
}

func (b *builder) terms(s *scope, order []plan.Place) []string {
	var terms []string
	for _, p := range order {
		terms = append(terms, b.term(s, p)...)
	}
	return append(terms, b.ties(s, order)...)
}

// ties orders objects and lists by their texts if they are equal in the order of JSON.
func (b *builder) ties(s *scope, order []plan.Place) []string {
	var terms []string
	for _, p := range order {
		if t := s.r.shape.Columns[p.Column].Type; t == schema.JSON {
			terms = append(terms, b.d.Order(s, b.d.Written(s.Column(p.Column)), schema.String, false)...)
		}
	}
	return terms
}

// unwind joins each record with the elements of its list.
func (b *builder) unwind(r *relation, st *plan.Unwind, outer *scope) (*relation, error) {
	r = b.open(r)
	x, err := WriteExpr(b.d, &scope{b: b, r: r, outer: outer}, st.List)
	if err != nil {
		return nil, err
	}
	item, element, position := b.d.Elements(&scope{b: b, r: r, outer: outer}, x)
	next := &relation{shape: st.Shape, where: r.where, part: r.part, columns: append(r.columns[:len(r.columns):len(r.columns)], element, position)}
	next.from = r.item() + " CROSS JOIN " + item
	if st.Keep {
		next.from = r.item() + " LEFT JOIN " + item + " ON TRUE"
	}
	return next, nil
}

// sample keeps the records with the least digests.
func (b *builder) sample(r *relation, st *plan.Sample, outer *scope) (*relation, error) {
	r = b.open(r)
	s := &scope{b: b, r: r, outer: outer}
	var xs []string
	var types []schema.Type
	for _, p := range r.shape.Order {
		xs = append(xs, s.Column(p.Column))
		types = append(types, r.shape.Columns[p.Column].Type)
	}
	order := append([]string{b.d.Digest(s, st.Seed, xs, types)}, b.terms(s, r.shape.Order)...) // records with equal digests stay in their order
	next := *r
	next.order, next.skip, next.limit, next.cut, next.inOrder = order, 0, st.N, true, false
	next.shape = st.Shape
	return &next, nil
}
