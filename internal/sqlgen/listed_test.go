package sqlgen_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestListed shows that a query's constant records become one union of at most 400, and then unions of unions.
func TestListed(t *testing.T) {
	planned, err := pipelinePermit(t, 0, "users", `[{"$match":{"name":"Ann"}}]`).Plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ rows, unions, inside int }{{1, 0, 0}, {400, 399, 0}, {401, 400, 2}, {800, 799, 2}, {801, 800, 3}} {
		p := planned
		p.Program = &plan.Program{From: plan.Listed, Base: plan.Shape{Columns: []plan.Column{{Path: query.Path{"n"}, Type: schema.Integer}}}}
		for i := range tt.rows {
			p.Program.Rows = append(p.Program.Rows, value.Row{value.OfInt(int64(i))})
		}
		st, err := sqlgen.Planned(p, sqlite.Dialect())
		unions, inside := strings.Count(st.Text, " UNION ALL "), strings.Count(st.Text, "SELECT * FROM (SELECT ")
		if err != nil || unions != tt.unions || inside != tt.inside || len(st.Args) != tt.rows+1 || st.Args[tt.rows-1] != int64(tt.rows-1) {
			t.Errorf("%d rows: %d unions, %d of them of unions, %d arguments, %v", tt.rows, unions, inside, len(st.Args), err)
		}
	}
}

// TestGathered shows that a list omits a text that is too long. Other expressions keep the text.
func TestGathered(t *testing.T) {
	planned, err := pipelinePermit(t, 0, "users", `[{"$match":{"name":"Ann"}}]`).Plan()
	if err != nil {
		t.Fatal(err)
	}
	const long = "THEN x'00' ELSE"
	for _, tt := range []struct {
		op   plan.Accumulate
		x    plan.Expr
		want bool
	}{
		{plan.Push, plan.Ref{Column: 2, T: schema.String}, true}, {plan.AddToSet, plan.Ref{Column: 2, T: schema.String}, true}, {plan.Push, plan.Ref{Column: 3, T: schema.Integer}, false},
		{plan.Max, plan.Ref{Column: 2, T: schema.String}, false}, {plan.First, plan.Ref{Column: 2, T: schema.String}, false},
		{plan.Push, plan.Convert{X: plan.Ref{Column: 3, T: schema.Integer}, T: schema.String}, false},
	} {
		p := planned
		p.Program = &plan.Program{Base: planned.Program.Base, Stages: []plan.Stage{&plan.Group{Shape: plan.Shape{Columns: []plan.Column{{Type: schema.JSON}}},
			Accumulators: []plan.Accumulator{{Op: tt.op, X: plan.ToJSON{X: tt.x}, T: schema.JSON}}}}}
		st, n, err := sqlgen.Prefix(&p, sqlite.Dialect(), 10, 0)
		if err != nil || n != 1 || strings.Contains(st.Text, long) != tt.want {
			t.Errorf("%v of %v: %v\n%s", tt.op, tt.x, err, st.Text)
		}
	}
}
