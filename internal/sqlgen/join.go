package sqlgen

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

func commaList(texts []string) string { return strings.Join(texts, ", ") }

// openAlone opens r, and wraps it in a subquery if it has its own conditions.
func (b *builder) openAlone(r *relation) *relation {
	if r = b.open(r); len(r.where) > 0 {
		return b.wrap(r)
	}
	return r
}

// hasOnlyItemColumns reports whether all columns of r come directly from its only FROM item, so that none is computed.
func (r *relation) hasOnlyItemColumns() bool {
	return !slices.ContainsFunc(r.columns, func(x string) bool { return !strings.HasPrefix(x, r.alias+".") || !short(x) })
}

// join writes a Join as JOIN, or as LEFT JOIN if records without a match stay. ON begins with the pairs of equal
// values, where the database can use an index. join opens or wraps both sides first, so that their own conditions apply
// before the join.
func (b *builder) join(r *relation, st *plan.Join, at place) (*relation, error) {
	right, err := b.program(st.Right, at.input, at.outer)
	if err != nil {
		return nil, err
	}
	r, right = b.open(r), b.openAlone(right)
	if st.Keep && !right.hasOnlyItemColumns() {
		right = b.wrap(right) // otherwise a value computed from a missing record would remain
	}
	same := Same
	if st.Keep && strings.Contains(r.from, " LEFT JOIN ") {
		same = sameOptional
	}
	on, err := b.pairs(&scope{b: b, r: r, outer: at.outer, lets: true}, &scope{b: b, r: right, outer: at.outer, lets: true}, st.On, same)
	if err != nil {
		return nil, err
	}
	if len(on) == 0 {
		on = []string{"TRUE"}
	}
	if st.If != nil {
		both := &relation{shape: st.Shape, columns: append(r.columns[:len(r.columns):len(r.columns)], right.columns...)}
		s := &scope{b: b, r: both, outer: at.outer, closed: true}
		text, err := WriteCondition(b.d, s, st.If)
		if err != nil {
			return nil, err
		}
		on = append(on, text)
	}
	kind := " JOIN "
	if st.Keep {
		kind = " LEFT JOIN "
	}
	return &relation{
		shape: st.Shape, where: r.where, part: r.part, from: r.item() + kind + right.item() + " ON " + strings.Join(on, " AND "),
		columns: append(r.columns[:len(r.columns):len(r.columns)], right.columns...),
	}, nil
}

// An equality writes the condition that x equals y. The arguments at and in are the scopes of x and y.
type equality func(d Dialect, at Scope, x plan.Expr, in Scope, y plan.Expr) (string, error)

// pairs writes the condition that both sides of each pair are equal. Null doesn't equal anything.
func (b *builder) pairs(left, right *scope, on []plan.Pair, same equality) ([]string, error) {
	var tests []string
	for _, p := range on {
		test, err := same(b.d, right, p.Right, left, p.Left)
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	return tests, nil
}

// probe adds a column that a subquery computes for each record.
func (b *builder) probe(r *relation, st *plan.Probe, at place) (*relation, error) {
	outer := b.around(r, at)
	right, err := b.program(st.Right, at.input, outer)
	if err != nil {
		return nil, err
	}
	var text string
	if st.Exists {
		if right.grouped || right.cut {
			right = b.wrap(right)
		}
		text = exists + b.selectQuery(right, []string{"1"}) + ")"
	} else {
		i := slices.IndexFunc(right.shape.Columns, func(c plan.Column) bool { return c.Path != nil })
		text = "(" + b.selectQuery(right, []string{(&scope{b: b, r: right, outer: outer, closed: true}).Column(i)}) + ")"
	}
	if !b.d.Correlates() && mentionsOuter(outer, right.item()) {
		return nil, UnsupportedForm("this source can't refer to the surrounding record from within a query in FROM, a group or a limit inside of a sub-query", "write it as a join with a grouped query")
	}
	next := *outer.r
	next.columns = append(next.columns[:len(next.columns):len(next.columns)], text)
	next.shape, next.plain = st.Shape, false
	return &next, nil
}

// nest adds a list as a subquery for each record. In some dialects a derived table can't refer to the surrounding
// record. If the subquery needs that, nest makes the lists for all records at once, provided that it can keep their
// records apart.
func (b *builder) nest(r *relation, st *plan.Nest, at place) (*relation, error) {
	next, err := b.nestEach(r, st, at)
	if l, ok := leads(st.Right); ok && problem.CodeOf(err) == problem.Unsupported && !b.d.Correlates() {
		return b.nestParts(r, st, l, at)
	}
	return next, err
}

// around opens r for a list: its records are the surrounding records.
func (b *builder) around(r *relation, at place) *scope {
	return &scope{b: b, r: b.open(r), outer: at.outer, lets: true, atoms: !b.d.Correlates()}
}

func (b *builder) nestEach(r *relation, st *plan.Nest, at place) (*relation, error) {
	outer := b.around(r, at)
	right, err := b.program(st.Right, at.input, outer)
	if err != nil {
		return nil, err
	}
	return b.nestRecords(st, outer, right, func(s *scope) ([]string, error) { return b.pairs(outer, s, st.On, Same) })
}

// nestRecords adds the list of the right records that satisfy the conditions from the function test.
func (b *builder) nestRecords(st *plan.Nest, outer *scope, right *relation, test func(*scope) ([]string, error)) (*relation, error) {
	s := &scope{b: b, r: b.open(right), outer: outer, lets: true}
	objects := b.objects(s) // before the tests, which must not be part of the columns that objects computes below
	tests, err := test(s)
	if err != nil {
		return nil, err
	}
	s.r.where = append(s.r.where, tests...)
	collected := b.collectList(s, nil, objects)
	list := b.selectQuery(s.r, []string{collected})
	if !b.d.Correlates() && mentionsOuter(outer, s.r.item()) {
		return nil, notApart()
	}
	next := *outer.r
	next.columns = append(next.columns[:len(next.columns):len(next.columns)], "("+list+")")
	next.shape, next.plain = st.Shape, false
	return &next, nil
}

// list writes a SELECT of one value: the list of the records of s as objects, in their order.
func (b *builder) list(s *scope) string {
	collected := b.collectList(s, nil, b.objects(s))
	return b.selectQuery(s.r, []string{collected})
}

// objects returns the description of a list: the records of s as objects, in their order.
func (b *builder) objects(s *scope) Gathered {
	return Gathered{X: b.object(s), Terms: b.terms(s, s.r.shape.Order)}
}

// mentionsOuter reports whether text refers to a surrounding record for which a list is made.
func mentionsOuter(outer *scope, text string) bool {
	for ; outer != nil; outer = outer.outer {
		if mentions(text, outer.r.alias) {
			return true
		}
	}
	return false
}

// object writes a record as a JSON object of its visible columns. The argument more contains the name and the value of
// an additional member, or nothing.
func (b *builder) object(s *scope, more ...string) string {
	var visible []int
	for i, c := range s.r.shape.Columns {
		if c.Path != nil {
			visible = append(visible, i)
		}
	}
	names, values := b.members(s, visible, nil)
	if len(more) == 2 {
		names, values = append(names, more[0]), append(values, more[1])
	}
	return b.d.Object(s, names, values)
}

// members returns the names and values of the object at prefix that contains the columns.
func (b *builder) members(s *scope, columns []int, prefix query.Path) (names, values []string) {
	shape := &s.r.shape
	for len(columns) > 0 {
		path := shape.Columns[columns[0]].Path
		name := path[len(prefix)]
		if len(path) == len(prefix)+1 {
			names, values = append(names, name), append(values, b.leaf(s, columns[0]))
			columns = columns[1:]
			continue
		}
		var inside, rest []int
		for _, i := range columns {
			if shape.Columns[i].Path[len(prefix)] == name {
				inside = append(inside, i)
			} else {
				rest = append(rest, i)
			}
		}
		columns = rest
		at := path[:len(prefix)+1]
		n, v := b.members(s, inside, at)
		object := b.d.Object(s, n, v)
		if slices.ContainsFunc(shape.Optional, func(o query.Path) bool { return slices.Equal(o, at) }) {
			there := make([]string, len(inside))
			for j, i := range inside {
				there[j] = s.Column(i) + " IS NOT NULL"
			}
			object = b.d.Case(s, []string{"(" + strings.Join(there, " OR ") + ")"}, []string{object}, "", schema.JSON)
		}
		names, values = append(names, name), append(values, object)
	}
	return names, values
}

// leaf writes column i as JSON. An id is written as text.
func (b *builder) leaf(s *scope, i int) string {
	c := &s.r.shape.Columns[i]
	x, t := s.Column(i), c.Type
	switch {
	case t == schema.JSON || t == schema.Array:
		return x
	case t == schema.Opaque:
		t = schema.String
	case c.ID && (t == schema.Integer || t == schema.Decimal || t == schema.Double):
		x, t = b.d.Convert(s, x, t, schema.String), schema.String
	}
	return b.d.ToJSON(s, x, t)
}
