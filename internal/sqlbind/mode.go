package sqlbind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// aggregate binds an aggregate. A mode has two steps. A window counts how often each value of a group occurs. Then the
// aggregate selects the first value, in descending order of these counts.
func (g *grouping) aggregate(c *sqlparse.Call) (Aggregate, node, error) {
	none := Aggregate{}
	if c.Name == "count" && len(c.Args) == 1 && c.Filter == nil {
		if x, ok := g.pseudonym(c.Args[0]); ok { // each pseudonym represents the key of a record
			count := plan.Accumulator{Op: plan.Count, X: x.Expr, T: schema.Integer}
			if c.Distinct {
				count.Op = plan.CountDistinct
			}
			first := func(refs []plan.Expr) plan.Expr { return refs[0] }
			return Aggregate{Accumulators: []plan.Accumulator{count}, Value: first}, node{}, nil
		}
	}
	if c.Name != "mode" {
		return bindAggregate(g.exprs(), c)
	}
	of := c.Mode()
	if of.X == nil {
		return none, node{}, invalid(c.At, "write mode() WITHIN GROUP (ORDER BY x)")
	}
	x, err := g.value(of.X)
	if err != nil {
		return none, x, err
	}
	if x.JSONOr().Type() == schema.JSON {
		return none, x, unsupportedError(c.At, "CAST the value", "mode takes a value of a known type")
	}
	if err := g.meter.Add(plan.CostlyWindow, 1, At(c.At)); err != nil {
		return none, x, err
	}
	k := "mode " + g.rel.key(c)
	if g.sorted != "" && g.sorted != k {
		return none, x, unsupportedError(c.At, "compute one of them in a query in FROM", "two aggregates with different orders can't be in one SELECT")
	}
	g.sorted = k
	at := g.ensureColumns(append(slices.Clone(g.flags), x))
	ref := plan.Ref{Column: at[len(at)-1], T: g.shape.Columns[at[len(at)-1]].Type}
	w := &windowing{rel: g.rel, stage: &plan.Windows{By: at}}
	w.stage.Functions = []plan.Window{{Accumulator: plan.Accumulator{Op: plan.Count, X: ref, T: schema.Integer}, Frame: plan.Frame{First: true, Last: true}}}
	w.finish()
	often := g.column(len(g.shape.Columns)-1, c.At)
	value := x
	value.Elsewhere(ref)
	value.Column = &g.shape.Columns[ref.Column]
	kept := WithoutExpr(&x)
	err = g.sort([]term{{X: node{Node: often}, Desc: true}, {X: value, Desc: of.Desc}})
	first := func(refs []plan.Expr) plan.Expr { return refs[0] }
	return Aggregate{Accumulators: []plan.Accumulator{{Op: plan.First, X: ref, T: ref.T}}, Value: first, List: x.List}, kept, err
}
