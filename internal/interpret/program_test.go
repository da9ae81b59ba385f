package interpret

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

var typeNames = map[string]schema.Type{"any": schema.Any, "string": schema.String, "integer": schema.Integer, "double": schema.Double,
	"decimal": schema.Decimal, "boolean": schema.Boolean, "date": schema.Date, "day": schema.Day, "uuid": schema.UUID, "bytes": schema.Bytes, "json": schema.JSON}

// columns makes a shape of columns "name type". The name "-" makes a hidden column. order lists the columns to sort by:
// 1 is the first column, -1 the first in descending order.
func columns(order []int, of ...string) plan.Shape {
	var s plan.Shape
	for _, c := range of {
		name, is, _ := strings.Cut(c, " ")
		column := plan.Column{Path: query.ParsePath(name), Type: typeNames[is]}
		if name == "-" {
			column.Path = nil
		}
		s.Columns = append(s.Columns, column)
	}
	for _, o := range order {
		s.Order = append(s.Order, plan.Place{Column: max(o, -o) - 1, Desc: o < 0})
	}
	return s
}

func ref(s plan.Shape, column int) plan.Expr {
	return plan.Ref{Column: column - 1, T: s.Columns[column-1].Type}
}

// rowsOf reads records from lines of JSON.
func rowsOf(s plan.Shape, lines string) []value.Row {
	var out []value.Row
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		v, err := value.Read([]byte(line), 0)
		if err != nil {
			panic(err)
		}
		row := slices.Clone(v.List())
		for i, v := range row {
			if t := s.Columns[i].Type; !v.IsNull() && t != schema.JSON && t != schema.Any {
				row[i] = typed(v, t)
			}
		}
		out = append(out, row)
	}
	return out
}

func table(rows []value.Row) string {
	var out []string
	for _, row := range rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, shown(v))
		}
		out = append(out, strings.Join(cells, " "))
	}
	return strings.Join(out, "\n")
}

// stages evaluates stages over records and compares the result.
func stages(t *testing.T, base plan.Shape, lines, want string, of ...plan.Stage) {
	t.Helper()
	r := &reading{ctx: t.Context(), plan: &policy.Plan{Program: &plan.Program{}}}
	rows := r.program(&plan.Program{From: plan.Input, Base: base, Stages: of}, given{input: rowsOf(base, lines)})
	want = strings.ReplaceAll(strings.TrimSpace(want), "\t", "")
	if got := table(rows); r.err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", r.err, got, want)
	}
}

var (
	sales     = columns([]int{1}, "id integer", "shop string", "n integer", "x double", "d decimal", "j json")
	salesRows = `
		[5, "b", 2, 0.3, 0.10, {"k":1}]
		[1, "a", 1, 0.1, 0.1, 1]
		[3, null, null, null, null, null]
		[2, "a", 9223372036854775807, 0.2, 123456789012345678901234567890, 1.0]
		[4, null, 4, 1e308, 5, [2]]
		[6, "b", 2, 1e308, 1, "x"]`
)

func accumulators(base plan.Shape, of ...any) []plan.Accumulator {
	var out []plan.Accumulator
	for i := 0; i < len(of); i += 2 {
		a := plan.Accumulator{Op: of[i].(plan.Accumulate)}
		if column := of[i+1].(int); column > 0 {
			a.X = ref(base, column)
			a.T = a.X.Type()
		}
		out = append(out, a)
	}
	return out
}

func TestGroup(t *testing.T) {
	group := func(of ...any) *plan.Group {
		g := &plan.Group{Keys: []plan.Expr{ref(sales, 2)}, Accumulators: accumulators(sales, of...)}
		g.Shape = columns([]int{1}, append([]string{"_id string"}, slices.Repeat([]string{"- json"}, len(g.Accumulators))...)...)
		return g
	}
	stages(t, sales, salesRows, `
		null 2 4 4 4
		"a" 2 null 1 9223372036854775807
		"b" 2 4 2 2`,
		group(plan.Count, 0, plan.Sum, 3, plan.Min, 3, plan.Max, 3))
	stages(t, sales, salesRows, `
		null 4f 1e+308f 1e+308f 5d
		"a" 4611686018427388000f 0.3f 0.15f 123456789012345678901234567890.1d
		"b" 2f 1e+308f 5e+307f 1.1d`,
		group(plan.Avg, 3, plan.Sum, 4, plan.Avg, 4, plan.Sum, 5))
	stages(t, sales, "", "", group(plan.Avg, 3))
	// The values are in the order of the records, by id.
	stages(t, sales, salesRows, `
		null null 5d [null,[2]] [null,[2]]
		"a" 0.1d 123456789012345678901234567890d [1,1.0] [1]
		"b" 0.10d 1d [{"k":1},"x"] ["x",{"k":1}]`,
		group(plan.First, 5, plan.Last, 5, plan.Push, 6, plan.AddToSet, 6))

	descending := sales
	descending.Order = []plan.Place{{Column: 0, Desc: true}}
	stages(t, descending, salesRows, `
		null 4
		"a" 2
		"b" 6`, group(plan.First, 1))
}

func TestGroupKeys(t *testing.T) {
	base := columns([]int{1}, "id integer", "j json")
	g := &plan.Group{Keys: []plan.Expr{ref(base, 2)}, Accumulators: accumulators(base, plan.Count, 0, plan.Push, 1), Shape: columns([]int{1}, "_id json", "n integer", "ids json")}
	stages(t, base, `
		[1, {"a":1,"b":2}]
		[2, {"b":2.0,"a":1}]
		[3, null]
		[4, 9007199254740993]
		[5, 9007199254740992]
		[6, "1"]
		[7, 1]
		[8, 1.0]
		[9, null]
		[10, [1]]
		[11, true]`, `
		null 2 [3,9]
		1 2 [7,8]
		9007199254740992 1 [5]
		9007199254740993 1 [4]
		"1" 1 [6]
		{"a":1,"b":2} 2 [1,2]
		[1] 1 [10]
		true 1 [11]`, g)

	count := &plan.Group{Always: true, Accumulators: accumulators(base, plan.Count, 0), Shape: columns(nil, "n integer")}
	stages(t, base, "", "0", count)
	all := &plan.Group{Always: true, Accumulators: accumulators(base, plan.Sum, 1, plan.Avg, 1, plan.Min, 1, plan.First, 1, plan.Push, 2, plan.AddToSet, 2, plan.StdDevPop, 1),
		Shape: columns(nil, "a integer", "b double", "c integer", "d integer", "e json", "f json", "g double")}
	stages(t, base, "", "0 null null null [] [] null", all)
}

func TestSums(t *testing.T) {
	base := columns([]int{1}, "id integer", "x double")
	all := &plan.Group{Accumulators: accumulators(base, plan.Sum, 2, plan.StdDevPop, 2, plan.StdDevSamp, 2),
		Shape: columns(nil, "sum double", "pop double", "samp double")}
	for _, tt := range []struct{ lines, want string }{
		{"[1,0.1]\n[2,0.2]\n[3,0.3]\n[4,-0.6]", "0f 0.35355339059327373f 0.408248290463863f"},
		{"[1,1e308]\n[2,1e308]\n[3,-1e308]", "1e+308f null null"},
		{"[1,1e308]\n[2,1e308]", "null null null"},
		{"[1,2]\n[2,4]\n[3,4]\n[4,4]\n[5,5]\n[6,5]\n[7,7]\n[8,9]\n[9,null]", "40f 2f 2.138089935299395f"},
		{"[1,1000000000000001]\n[2,1000000000000002]", "2000000000000003f 0.5f 0.7071067811865476f"},
		{"[1,7]", "7f 0f null"},
		{"[1,1e-160]\n[2,1]", "1f null null"},
		{"[1,null]", "0f null null"},
		{"[1,1e150]\n[2,-1e150]", "0f 1e+150f 1.414213562373095e+150f"},
	} {
		stages(t, base, tt.lines, tt.want, all)
	}
}

func TestBuckets(t *testing.T) {
	base := columns([]int{1}, "id integer", "x integer")
	buckets := func(n int64) *plan.Buckets {
		return &plan.Buckets{By: ref(base, 2), N: n, Accumulators: accumulators(base, plan.Count, 0, plan.Push, 1),
			Shape: columns([]int{1}, "min integer", "max integer", "n integer", "ids json")}
	}
	lines := "[1,5]\n[2,1]\n[3,3]\n[4,2]\n[5,4]"
	stages(t, base, lines, "1 3 2 [2,4]\n3 5 2 [3,5]\n5 5 1 [1]", buckets(3))
	stages(t, base, lines, "1 5 5 [1,2,3,4,5]", buckets(1))
	stages(t, base, lines, "1 2 1 [2]\n2 3 1 [4]\n3 4 1 [3]\n4 5 1 [5]\n5 5 1 [1]", buckets(100))
	// Equal values are in the same range, and ranges without records are omitted.
	stages(t, base, "[1,1]\n[2,1]\n[3,1]\n[4,2]", "1 2 3 [1,2,3]\n2 2 1 [4]", buckets(4))
	stages(t, base, "[1,null]\n[2,7]\n[3,null]", "null 7 2 [1,3]\n7 7 1 [2]", buckets(2))
	stages(t, base, "", "", buckets(2))
}

func TestMapAndSlice(t *testing.T) {
	base := columns([]int{1}, "id integer", "x integer")
	lines := "[1,5]\n[2,null]\n[3,3]\n[4,5]"
	sorted := &plan.Map{Columns: []plan.Expr{ref(base, 1), ref(base, 2)}, Shape: columns([]int{-2, 1}, "id integer", "x integer")}
	stages(t, base, lines, "1 5\n4 5\n3 3\n2 null", sorted)
	stages(t, base, lines, "4 5\n3 3", sorted, &plan.Slice{Skip: 1, Limit: 2, Shape: sorted.Shape})
	stages(t, base, lines, "2 null", sorted, &plan.Slice{Skip: 3, Limit: -1, Shape: sorted.Shape})
	stages(t, base, lines, "", &plan.Slice{Skip: 9, Limit: 2, Shape: base})
	stages(t, base, lines, "", &plan.Slice{Limit: 0, Shape: base})
	swapped := &plan.Map{Columns: []plan.Expr{ref(base, 2), plan.Apply{Op: plan.Add, T: schema.Integer, Args: []plan.Expr{ref(base, 1), ref(base, 2)}}},
		Shape: columns([]int{1, 2}, "x integer", "s integer")}
	stages(t, base, lines, "null null\n3 6\n5 6\n5 9", swapped)
}

func TestFilter(t *testing.T) {
	base := columns([]int{1}, "_id.y integer", "j json")
	lines := "[1,{\"a\":1}]\n[2,[{\"a\":1}]]\n[3,null]\n[4,{\"a\":2}]"
	where := func(path ...string) query.Filter {
		return query.Compare{Path: path, Op: query.Eq, Value: value.OfInt(1)}
	}
	stages(t, base, lines, "1 {\"a\":1}", &plan.Filter{Where: where("_id.y"), Shape: base})
	stages(t, base, lines, "1 {\"a\":1}\n2 [{\"a\":1}]", &plan.Filter{Where: where("j", "a"), Shape: base})
	more := plan.Apply{Op: plan.Gt, T: schema.Boolean, Args: []plan.Expr{ref(base, 1), lit("1", schema.Integer)}}
	stages(t, base, lines, "2 [{\"a\":1}]", &plan.Filter{Where: where("j", "a"), If: more, Shape: base})
	stages(t, base, lines, "", &plan.Filter{If: lit("null", schema.Boolean), Shape: base})
	r := &reading{ctx: t.Context(), plan: &policy.Plan{Program: &plan.Program{}}}
	r.program(&plan.Program{From: plan.Input, Base: base, Stages: []plan.Stage{&plan.Filter{Where: where("nope"), Shape: base}}}, given{input: rowsOf(base, lines)})
	if problem.CodeOf(r.err) != problem.Internal {
		t.Errorf("a column that isn't there: %v", r.err)
	}
}

func TestUnwind(t *testing.T) {
	base := columns([]int{1}, "id integer", "j json")
	lines := "[1,[3,null]]\n[2,null]\n[3,7]\n[4,[]]\n[5,{}]"
	unwind := &plan.Unwind{List: ref(base, 2), Shape: columns([]int{1, 4}, "id integer", "j json", "e json", "i integer")}
	stages(t, base, lines, "1 [3,null] 3 0\n1 [3,null] null 1\n3 7 7 0\n5 {} {} 0", unwind)
	keep := *unwind
	keep.Keep = true
	stages(t, base, lines, "1 [3,null] 3 0\n1 [3,null] null 1\n2 null null null\n3 7 7 0\n4 [] null null\n5 {} {} 0", &keep)
}

func TestFacetAndSample(t *testing.T) {
	base := columns([]int{1}, "id integer", "x integer")
	lines := "[3,1]\n[1,2]\n[2,null]"
	first := &plan.Program{From: plan.Input, Base: base, Stages: []plan.Stage{&plan.Slice{Limit: 2, Shape: base}}}
	none := &plan.Program{From: plan.Input, Base: base, Stages: []plan.Stage{&plan.Slice{Limit: 0, Shape: base}}}
	facet := &plan.Facet{Branches: []*plan.Program{first, none}, Shape: columns(nil, "a json", "b json")}
	stages(t, base, lines, `[{"id":1,"x":2},{"id":2,"x":null}] []`, facet)
	stages(t, base, "", "[] []", facet)

	// The md5 of s1, s2 and s3 begins with 8d, fa and c0.
	sample := func(n int64) *plan.Sample { return &plan.Sample{N: n, Seed: "s", Shape: base} }
	stages(t, base, lines, "1 2\n2 null\n3 1", sample(9))
	stages(t, base, lines, "1 2\n3 1", sample(2))
	stages(t, base, lines, "1 2", sample(1))
	stages(t, base, lines, "", sample(0))
	// The md5 of 71.5, U+001F, 1 begins with 6c. The md5 of 7, U+001F, 2 begins with 6d.
	two := columns([]int{2, 1}, "id integer", "d decimal")
	stages(t, two, "[1,1.50]\n[2,null]", "1 1.50d", &plan.Sample{N: 1, Seed: "7", Shape: two})
}

func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	base := columns([]int{1}, "id integer")
	r := &reading{ctx: ctx, plan: &policy.Plan{Program: &plan.Program{From: plan.Input, Base: base}}}
	if _, err := r.leaving(r.plan.Program, given{}); problem.CodeOf(err) != problem.Cancelled {
		t.Errorf("a cancelled query: %v", err)
	}
}

// reader is a principal that may read everything.
var reader = identity.Principal{ID: "test", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}

// TestFirstFailure checks that a condition that can't be evaluated doesn't replace the first reason to stop.
func TestFirstFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &reading{ctx: ctx}
	if !r.shouldStop() {
		t.Fatal("it goes on")
	}
	first := r.err
	if r.filter(&plan.Filter{Where: query.And{}}, records{}); r.err != first {
		t.Errorf("%v in place of %v", r.err, first)
	}
}
