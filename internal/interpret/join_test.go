package interpret

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A world is the views of some classes, by number.
type world struct {
	*reading
	classes []schema.Class
}

// worldOf makes classes from shapes. The records of each are lines of JSON.
func worldOf(t *testing.T, names []string, shapes []plan.Shape, rows [][]value.Row) world {
	t.Helper()
	w := world{reading: &reading{ctx: t.Context(), plan: &policy.Plan{Program: &plan.Program{}}}}
	held := map[string][]value.Row{}
	for i, name := range names {
		w.classes = append(w.classes, schema.Class{Source: "memory", Name: name, Table: name, Key: []string{"id"}, Fields: fieldsOf(shapes[i].Columns)})
		held[name] = rows[i]
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, w.classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		v, err := p.View(reader, name, "", false)
		if err != nil {
			t.Fatal(err)
		}
		w.plan.Views = append(w.plan.Views, v)
	}
	w.records = func(_ context.Context, n Need) ([]value.Row, error) { return held[n.View.Class().Name], nil }
	return w
}

func fieldsOf(columns []plan.Column) []schema.Field {
	var out []schema.Field
	for _, c := range columns {
		out = append(out, schema.Field{Name: c.Key(), Type: c.Type})
	}
	return out
}

// over returns a Program over a view.
func (w world) over(view int, stages ...plan.Stage) *plan.Program {
	p := &plan.Program{From: view, Stages: stages, Base: plan.Shape{Order: []plan.Place{{Column: 0}}}}
	c := w.plan.Views[view].Class()
	for i := range c.Fields {
		p.Base.Columns = append(p.Base.Columns, plan.Column{Path: query.Path{c.Fields[i].Name}, Type: c.Fields[i].Type, Field: &c.Fields[i]})
	}
	return p
}

func (w world) gives(t *testing.T, p *plan.Program, want string) {
	t.Helper()
	w.err = nil
	if got := table(w.program(p, given{})); w.err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", w.err, got, want)
	}
}

// people refer to each other: boss is the id of another person, who may be missing.
func people(t *testing.T) world {
	people := columns([]int{1}, "id integer", "name string", "boss integer")
	pets := columns([]int{1}, "id integer", "owner integer", "born date")
	return worldOf(t, []string{"people", "pets"}, []plan.Shape{people, pets}, [][]value.Row{
		rowsOf(people, `
			[4, "Dag", 3]
			[1, "Ann", null]
			[2, "Bob", 1]
			[3, "Cid", 4]
			[5, "Eva", 9]`),
		rowsOf(pets, `
			[12, 2, "2026-01-31T08:00:00Z"]
			[10, 2, null]
			[11, null, null]`)})
}

func TestJoin(t *testing.T) {
	w := people(t)
	shape := columns([]int{1, 4}, "id integer", "name string", "boss integer", "pet.id integer", "pet.owner integer", "pet.born date")
	on := []plan.Pair{{Left: plan.Ref{Column: 0, T: schema.Integer}, Right: plan.Ref{Column: 1, T: schema.Integer}}}
	join := &plan.Join{Right: w.over(1), On: on, Shape: shape}
	w.gives(t, w.over(0, join), `2 "Bob" 1 10 2 null
2 "Bob" 1 12 2 2026-01-31T08:00:00Z`)
	keep := *join
	keep.Keep = true
	w.gives(t, w.over(0, &keep), `1 "Ann" null null null null
2 "Bob" 1 10 2 null
2 "Bob" 1 12 2 2026-01-31T08:00:00Z
3 "Cid" 4 null null null
4 "Dag" 3 null null null
5 "Eva" 9 null null null`)
	// Null doesn't equal anything, not even null.
	keep.On = []plan.Pair{{Left: plan.Ref{Column: 2, T: schema.Integer}, Right: plan.Ref{Column: 1, T: schema.Integer}}}
	keep.Keep = false
	w.gives(t, w.over(0, &keep), "")
}

// TestJoinOfEverything joins all records with each other. The join is refused before its records use much memory.
func TestJoinOfEverything(t *testing.T) {
	shape := columns([]int{0}, "id integer", "name string")
	rows := make([]value.Row, 4000)
	for i := range rows {
		rows[i] = value.Row{value.OfInt(int64(i)), value.OfString("x")}
	}
	w := worldOf(t, []string{"people"}, []plan.Shape{shape}, [][]value.Row{rows})
	join := &plan.Join{Right: w.over(0), Shape: columns([]int{0, 2}, "id integer", "name string", "other.id integer", "other.name string")}
	if got := w.program(w.over(0, join), given{}); got != nil || problem.CodeOf(w.err) != problem.Unsupported {
		t.Errorf("%d records, %v; want an error", len(got), w.err)
	}
}

func TestNest(t *testing.T) {
	w := people(t)
	pets := w.over(1)
	pets.Base.Columns[0].ID = true
	shape := columns([]int{1}, "id integer", "name string", "boss integer", "pets json")
	shape.Columns[3].List = true
	on := []plan.Pair{{Left: plan.Ref{Column: 0, T: schema.Integer}, Right: plan.Ref{Column: 1, T: schema.Integer}}}
	first := &plan.Slice{Limit: 2, Shape: w.over(0).Base}
	w.gives(t, w.over(0, first, &plan.Nest{Right: pets, On: on, Shape: shape}), `1 "Ann" null []
2 "Bob" 1 [{"id":"10","owner":2,"born":null},{"id":"12","owner":2,"born":"2026-01-31T08:00:00Z"}]`)

	// At most one pet of each person. It contains the name of the outer record, which is two lists away.
	newest := w.over(1)
	newest.Base.Order = []plan.Place{{Column: 0, Desc: true}}
	eq := plan.Apply{Op: plan.Eq, T: schema.Boolean, Args: []plan.Expr{plan.Ref{Column: 1, T: schema.Integer}, plan.Outer{Up: 1, Column: 0, T: schema.Integer}}}
	inner := w.over(0, &plan.Slice{Limit: 1, Shape: w.over(0).Base}, &plan.Map{
		Columns: []plan.Expr{plan.Outer{Up: 2, Column: 1, T: schema.String}, plan.Outer{Up: 1, Column: 0, T: schema.Integer}},
		Shape:   columns([]int{2}, "of string", "pet integer")})
	newest.Stages = []plan.Stage{&plan.Filter{If: eq, Shape: newest.Base}, &plan.Slice{Limit: 1, Shape: newest.Base},
		&plan.Map{Columns: []plan.Expr{plan.Ref{Column: 0, T: schema.Integer}}, Shape: columns([]int{1}, "id integer")},
		&plan.Nest{Right: inner, Correlated: true, Shape: columns([]int{1}, "id integer", "names json")}}
	w.gives(t, w.over(0, &plan.Slice{Skip: 1, Limit: 1, Shape: first.Shape}, &plan.Nest{Right: newest, Correlated: true, Shape: shape}),
		`2 "Bob" 1 [{"id":12,"names":[{"of":"Bob","pet":12}]}]`)
}

func TestObjects(t *testing.T) {
	base := columns([]int{1}, "- integer", "_id.y integer", "a json", "_id.m integer", "o.p string", "o.q.r string")
	base.Optional = []query.Path{{"o"}}
	branch := &plan.Program{From: plan.Input, Base: base}
	stages(t, base, `[1,2026,[1],5,null,null]
		[2,2026,null,null,null,"x"]`, `[{"_id":{"y":2026,"m":5},"a":[1],"o":null},{"_id":{"y":2026,"m":null},"a":null,"o":{"p":null,"q":{"r":"x"}}}]`,
		&plan.Facet{Branches: []*plan.Program{branch}, Shape: columns(nil, "all json")})
}

func TestClosure(t *testing.T) {
	w := people(t)
	closure := func(depth int64, name string) *plan.Program {
		c := &plan.Closure{Right: w.over(0, &plan.Map{Columns: []plan.Expr{plan.Ref{Column: 0, T: schema.Integer}, plan.Ref{Column: 2, T: schema.Integer}},
			Shape: columns([]int{-1}, "id integer", "- integer")}),
			Start: plan.Ref{Column: 2, T: schema.Integer}, From: 1, To: 0, Depth: depth, DepthName: name, Shape: columns([]int{1}, "id integer", "name string", "boss integer", "above json")}
		return w.over(0, c)
	}
	w.gives(t, closure(9, "steps"), `1 "Ann" null []
2 "Bob" 1 [{"id":1,"steps":0}]
3 "Cid" 4 [{"id":4,"steps":0},{"id":3,"steps":1}]
4 "Dag" 3 [{"id":3,"steps":0},{"id":4,"steps":1}]
5 "Eva" 9 []`)
	w.gives(t, closure(0, ""), `1 "Ann" null []
2 "Bob" 1 [{"id":1}]
3 "Cid" 4 [{"id":4}]
4 "Dag" 3 [{"id":3}]
5 "Eva" 9 []`)
	// Down the tree, one step reaches several records. They are in Right's order, here descending.
	down := &plan.Closure{Right: w.over(0), Start: lit("3", schema.Integer), From: 0, To: 2, Depth: 5, DepthName: "n", Shape: columns(nil, "id integer", "below json")}
	down.Right.Base.Order = []plan.Place{{Column: 0, Desc: true}}
	one := &plan.Map{Columns: []plan.Expr{plan.Ref{Column: 0, T: schema.Integer}}, Shape: columns([]int{1}, "id integer")}
	w.gives(t, w.over(0, &plan.Slice{Limit: 1, Shape: w.over(0).Base}, one, down),
		`1 [{"id":4,"name":"Dag","boss":3,"n":0},{"id":3,"name":"Cid","boss":4,"n":1}]`)
}

func TestUnion(t *testing.T) {
	w := people(t)
	shape := columns([]int{3, 4}, "id integer", "name string", "- integer", "- integer")
	id, name := plan.Ref{Column: 0, T: schema.Integer}, plan.Ref{Column: 1, T: schema.String}
	right := w.over(1)
	right.Base.Order = []plan.Place{{Column: 0, Desc: true}}
	u := &plan.Union{Right: right, Left: []plan.Expr{id, name}, Added: []plan.Expr{id, lit("null", schema.String)}, Shape: shape}
	w.gives(t, w.over(0, &plan.Slice{Skip: 3, Limit: -1, Shape: w.over(0).Base}, u), `4 "Dag" 0 1
5 "Eva" 0 2
12 null 1 1
11 null 1 2
10 null 1 3`)
}

// TestStored tests columns that contain values of another type than the column.
func TestStored(t *testing.T) {
	shape := columns([]int{1}, "id integer", "i integer", "x double", "s string", "b boolean", "at date", "on day", "u uuid", "j json")
	at := time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC).UnixMicro()
	midnight := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC).UnixMicro()
	str, in := value.OfString, value.OfInt
	w := worldOf(t, []string{"any"}, []plan.Shape{shape}, [][]value.Row{{
		{in(1), str("x"), in(9007199254740993), in(5), in(7), str("soon"), value.OfDate(at), str("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"), value.OfBytes("\x00")},
		{in(2), value.OfFloat(2.5), str("1"), value.OfBytes("s"), str("true"), value.OfDay(midnight), value.OfDate(midnight), str("no id"), value.OfFloat(0.5)},
		{in(3), in(3), value.OfFloat(math.Copysign(0, -1)), str(""), value.OfBool(true), value.OfDate(math.MaxInt64), value.OfDay(midnight), in(1), value.OfFloat(1e15)},
	}})
	p := w.over(0)
	w.gives(t, p, `1 "x" 9007199254740993 5 7 "soon" 2026-01-31T08:00:00Z "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11" bytes "AA=="
2 2.5f "1" bytes "cw==" "true" 2026-01-31 2026-01-31T00:00:00Z "no id" 0.5f
3 3 -0f "" true 294247-01-10T04:00:54.775807Z 2026-01-31 1 1000000000000000f`)
	seen := &plan.Map{Shape: columns([]int{1}, "id integer", "i integer", "x double", "s string", "b boolean", "at date", "on day", "u uuid", "j json")}
	passed := &plan.Map{Shape: p.Base}
	for i, c := range shape.Columns {
		seen.Columns = append(seen.Columns, plan.Ref{Column: i, T: c.Type})
		passed.Columns = append(passed.Columns, plan.Ref{Column: i, T: c.Type})
	}
	w.gives(t, w.over(0, passed), table(w.program(p, given{})))
	w.gives(t, w.over(0, passed, seen), `1 null 9007199254740992f null null null null "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11" "AA=="
2 null null null null 2026-01-31T00:00:00Z 2026-01-31 null 0.5d
3 3 0f "" true null 2026-01-31 null 1000000000000000`)
}

func TestInQuery(t *testing.T) {
	w := people(t)
	pets := query.InQuery{Path: query.Path{"id"}, Key: query.Path{"owner"}, View: 2}
	bosses := query.InQuery{Path: query.Path{"boss"}, Key: query.Path{"id"}, View: 1, Where: query.Compare{Path: query.Path{"name"}, Op: query.Gt, Value: value.OfString("B")}}
	for _, tt := range []struct {
		f    query.Filter
		want string
	}{
		{pets, `2 "Bob" 1`},
		{bosses, "3 \"Cid\" 4\n4 \"Dag\" 3"},
		{query.InQuery{Path: bosses.Path, Key: bosses.Key, View: 1, Where: bosses.Where, Not: true}, "1 \"Ann\" null\n2 \"Bob\" 1\n5 \"Eva\" 9"},
		{query.And{bosses, query.Not{Part: query.InQuery{Path: query.Path{"boss"}, Key: query.Path{"id"}, View: 1, Where: query.Compare{Path: query.Path{"id"}, Value: value.OfInt(3)}}}}, `3 "Cid" 4`},
	} {
		w.gives(t, w.over(0, &plan.Filter{Where: tt.f, Shape: w.over(0).Base}), tt.want)
	}
	if _, err := w.predicate(query.InQuery{Path: pets.Path, Key: pets.Key}); err == nil {
		t.Error("a query whose view nobody named is run")
	}
}
