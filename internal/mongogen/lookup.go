package mongogen

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// right writes the pipeline of a $lookup: the view of the joined class, its stages, and equalities with variables. It
// also returns the variables, which contain the values of the record.
func (f *flow) right(p *plan.Program, on []plan.Pair) (*flow, bson.D, bool) {
	if f.w.Level != MongoDB || p.From < 0 || p.From >= len(f.w.Plan.Views) || len(on) == 0 {
		return nil, nil, false
	}
	stages, err := f.w.view(f.w.Plan.Views[p.From], nil, nil)
	if err != nil {
		return nil, nil, false
	}
	r := &flow{w: f.w, stages: stages, shape: &p.Base}
	for i := range p.Base.Columns {
		r.names = append(r.names, p.Base.Columns[i].Field.Name)
	}
	for _, s := range p.Stages {
		if !r.stage(s) {
			return nil, nil, false
		}
		r.shape = s.Out()
	}
	vars, tests := bson.D{}, []any{}
	for i, pair := range on {
		left, ok := f.expr(pair.Left)
		x, also := r.expr(pair.Right)
		if !ok || !also || !hasSameOrder(pair.Left.Type()) {
			return nil, nil, false
		}
		name := "v" + strconv.Itoa(i)
		vars = append(vars, bson.E{Key: name, Value: left})
		tests = append(tests, op("$ne", "$$"+name, nil), op("$eq", x, "$$"+name))
	}
	r.add("$match", bson.D{{Key: "$expr", Value: op("$and", tests...)}})
	return r, vars, true
}

// lookup writes a $lookup with the pipeline of r. The result is in the member as.
func (f *flow) lookup(p *plan.Program, r *flow, vars bson.D, as string) {
	f.add("$lookup", bson.D{{Key: "from", Value: f.w.Plan.Views[p.From].Class().Table}, {Key: "let", Value: vars}, {Key: "pipeline", Value: r.stages}, {Key: "as", Value: as}})
}

// nest writes the list of the records of another view that match each record.
func (f *flow) nest(s *plan.Nest) bool {
	if s.Correlated || len(s.Right.Out().Optional) > 0 {
		return false
	}
	r, vars, ok := f.right(s.Right, s.On)
	if !ok {
		return false
	}
	by, ok := r.order(r.shape)
	doc, also := r.document()
	if !ok || !also {
		return false
	}
	r.add("$sort", by)
	r.add("$replaceWith", doc)
	f.lookup(s.Right, r, vars, "~"+strconv.Itoa(len(f.names)))
	f.names = append(slices.Clone(f.names), "~"+strconv.Itoa(len(f.names)))
	return true
}

// document writes a record as an object of its visible columns.
func (f *flow) document() (any, bool) {
	root := &member{}
	for i, c := range f.shape.Columns {
		if c.Path == nil {
			continue
		}
		x, ok := f.columnExpression(i)
		if !ok {
			return nil, false
		}
		if c.ID && (c.Type == schema.Integer || c.Type == schema.Double) {
			x = to(x, "string")
		}
		if c.ID && c.Type == schema.Double || !root.set(c.Path, x) {
			return nil, false
		}
	}
	return root.doc()
}

// A member is a value in an object. It may itself be an object.
type member struct {
	names []string
	of    map[string]*member
	x     any
}

// set sets the value at path. It returns false if a name isn't Nameable, or if path is at or below another value.
func (m *member) set(path query.Path, x any) bool {
	for _, name := range path {
		if !Nameable(name) || m.x != nil {
			return false
		}
		if m.of == nil {
			m.of = map[string]*member{}
		}
		if m.of[name] == nil {
			m.of[name] = &member{}
			m.names = append(m.names, name)
		}
		m = m.of[name]
	}
	m.x = x
	return m.of == nil
}

// doc returns the expression of the member. It returns false for an object without members.
func (m *member) doc() (any, bool) {
	if m.x != nil {
		return m.x, true
	}
	out := bson.D{}
	for _, name := range m.names {
		x, ok := m.of[name].doc()
		if !ok {
			return nil, false
		}
		out = append(out, bson.E{Key: name, Value: x})
	}
	return out, len(out) > 0
}

// join writes a record for each matching pair of records.
func (f *flow) join(s *plan.Join) bool {
	if s.If != nil {
		return false
	}
	r, vars, ok := f.right(s.Right, s.On)
	if !ok || slices.ContainsFunc(append(slices.Clone(f.names), r.names...), func(n string) bool { return !Nameable(n) }) {
		return false
	}
	f.lookup(s.Right, r, vars, "~joined")
	f.add("$unwind", bson.D{{Key: "path", Value: "$~joined"}, {Key: "preserveNullAndEmptyArrays", Value: s.Keep}})
	var values []any
	for _, n := range f.names {
		values = append(values, "$"+n)
	}
	for _, n := range r.names {
		values = append(values, "$~joined."+n)
	}
	f.project(memberNames(&s.Shape), values)
	return true
}
