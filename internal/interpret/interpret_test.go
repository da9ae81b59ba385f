package interpret

import (
	"context"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestDigest checks that equal values have equal digests, and that different values rarely do.
func TestDigest(t *testing.T) {
	object := func(names ...string) value.Value {
		var members []value.Member
		for i := 0; i < len(names); i += 2 {
			members = append(members, value.Member{Name: names[i], Value: value.OfString(names[i+1])})
		}
		return value.OfObject(members)
	}
	groups := [][]value.Value{
		{value.OfInt(1), value.OfFloat(1), value.OfDecimal("1.0"), value.OfDecimal("10e-1")},
		{value.OfInt(1 << 53), value.OfFloat(1 << 53)},
		{value.OfFloat(0), value.OfInt(0), value.OfDecimal("-0.0")},
		{object("a", "1", "b", "2"), object("b", "2", "a", "1")},
		{object("a", "2", "b", "1")},
		{value.OfDate(86400e6), value.OfDay(86400e6)},
		{value.OfString("x")}, {value.OfString("")}, {value.Value{}}, {value.OfBool(true)}, {value.OfBool(false)},
		{value.OfArray(nil)}, {value.OfArray([]value.Value{{}})}, {value.OfArray([]value.Value{value.OfInt(1), value.OfInt(2)})},
		{value.OfArray([]value.Value{value.OfInt(2), value.OfInt(1)})},
	}
	seen := map[uint64]int{}
	for i, g := range groups {
		for _, v := range g {
			if !value.Equal(v, g[0]) {
				t.Fatalf("%v and %v aren't equal", v, g[0])
			}
			if value.Digest(v) != value.Digest(g[0]) {
				t.Errorf("%v and %v are equal and have different digests", v, g[0])
			}
		}
		if other, ok := seen[value.Digest(g[0])]; ok {
			t.Errorf("%v and %v have the same digest", g[0], groups[other][0])
		}
		seen[value.Digest(g[0])] = i
	}
}

// TestContinue evaluates a Program from each of its stages on. The resulting records are the same.
func TestContinue(t *testing.T) {
	base := columns([]int{1}, "id integer", "x integer")
	at := func(n string) query.Filter {
		v, _ := value.Read([]byte(n), 0)
		return query.Compare{Path: query.Path{"x"}, Op: query.Gt, Value: v}
	}
	p := &plan.Program{From: plan.Input, Base: base, Stages: []plan.Stage{
		&plan.Filter{Where: at("1"), Shape: base}, &plan.Slice{Skip: 1, Limit: 2, Shape: base}, &plan.Filter{Where: at("3"), Shape: base}}}
	results := []string{"[3,3]\n[1,1]\n[2,2]\n[4,4]\n[5,5]", "[4,4]\n[5,5]\n[2,2]\n[3,3]", "[4,4]\n[3,3]", "[4,4]"}
	for done, rows := range results {
		of := &policy.Plan{Program: p, Limit: 100}
		got, err := Continue(t.Context(), of, nil, Prefix{done, rowsOf(base, rows)})
		if err != nil {
			t.Fatal(err)
		}
		var out []value.Row
		for row, err := range got {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, row)
		}
		if table(out) != "4 4" {
			t.Errorf("after %d stages: %s", done, table(out))
		}
	}
}

// TestNeeds checks that a join requests only records that it can match.
func TestNeeds(t *testing.T) {
	s, p := shop(t)
	for _, tt := range []struct{ class, stages, want string }{
		{"orders", `[{"$lookup": {"from": "customers", "localField": "customer", "foreignField": "id", "as": "c"}}]`, "orders all; customers id in [1 2 9]"},
		{"orders", `[{"$match": {"id": 3}}, {"$lookup": {"from": "customers", "localField": "customer", "foreignField": "id", "as": "c"}}]`, "orders all; customers id in [2]"},
		{"orders", `[{"$lookup": {"from": "customers", "localField": "customer", "foreignField": "id", "pipeline": [{"$limit": 1}], "as": "c"}}]`, "orders all; customers all"},
	} {
		v, err := value.Read([]byte(tt.stages), 0)
		if err != nil {
			t.Fatal(err)
		}
		stages, err := query.ParsePipeline(v, "")
		if err != nil {
			t.Fatal(err)
		}
		permit, err := p.Read(reader, &query.Pipeline{Class: tt.class, Stages: stages, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		of, err := permit.Plan()
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		_, err = Rows(t.Context(), &of, func(ctx context.Context, n Need) ([]value.Row, error) {
			text := n.View.Class().Name + " all"
			if n.Key != "" {
				var in []string
				for _, v := range n.In {
					in = append(in, v.String())
				}
				text = n.View.Class().Name + " " + n.Key + " in [" + strings.Join(in, " ") + "]"
			}
			asked = append(asked, text)
			return s.rows[n.View.Class().Name], nil
		})
		if got := strings.Join(asked, "; "); err != nil || got != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.stages, err, got, tt.want)
		}
	}
}

func TestBudget(t *testing.T) {
	b := Budget{Rows: 2}
	row := value.Row{value.OfString("x")}
	for range 2 {
		if err := b.Take("notes", row); err != nil {
			t.Fatal(err)
		}
	}
	err := problem.Of(b.Take("notes", row))
	if err == nil || err.Code != problem.Unsupported || !strings.Contains(err.Detail, "more than 2 records") || err.Suggestion == "" {
		t.Errorf("a third record: %v", err)
	}
	large := Budget{Bytes: 1000}
	if err := problem.Of(large.Take("notes", value.Row{value.OfString(strings.Repeat("x", 1001))})); err == nil || err.Code != problem.Unsupported {
		t.Errorf("a large record: %v", err)
	}
	if err := new(Budget).Take("notes", row); err != nil {
		t.Errorf("the zero Budget: %v", err)
	}
}
