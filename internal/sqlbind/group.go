package sqlbind

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
)

// key returns a text that is the same for the same expression over r.
func (r *rel) key(e sqlparse.Expr) string {
	return sqlparse.Key(e, func(n *sqlparse.Name) string {
		up, c, err := r.find(n)
		if err != nil {
			return "?" + n.Written()
		}
		return fmt.Sprintf("%d:%s.%s", up, c.table, c.name)
	})
}

// groups adds the groups of a SELECT. Without GROUP BY, an aggregate makes a single group of all records.
func (r *rel) groups(s *sqlparse.Select, outputs []output, order []sqlparse.Order) error {
	over := []any{s.Having, s.Qualify}
	for _, o := range outputs {
		over = append(over, o.x)
	}
	for _, o := range order {
		over = append(over, o.X)
	}
	for _, e := range s.On {
		over = append(over, e)
	}
	by := slices.Clone(s.Group)
	if s.GroupAll {
		by = groupAllKeys(outputs)
	}
	if by == nil && s.Having == nil && !slices.ContainsFunc(over, func(x any) bool { return sqlparse.AggregateIn(x) != nil }) {
		return nil
	}
	for i := range by {
		by[i] = resolveOutput(by[i], outputs, r, false)
	}
	if s.Sets != nil || len(sqlparse.Groupings(over)) > 0 {
		return r.levels(s, by, over)
	}
	g := &grouping{rel: r}
	if err := g.by(by); err != nil {
		return err
	}
	if err := g.namesIn(over); err != nil {
		return err
	}
	for _, x := range over {
		if err := g.aggregatesIn(x); err != nil {
			return err
		}
	}
	for _, x := range over {
		if err := g.addDependentColumns(x); err != nil {
			return err
		}
	}
	g.finish(len(by) == 0)
	return nil
}

// groupAllKeys returns the outputs by which GROUP BY ALL groups: outputs without aggregates and windows that aren't
// constants.
func groupAllKeys(outputs []output) []sqlparse.Expr {
	var by []sqlparse.Expr
	for _, o := range outputs {
		switch o.x.(type) {
		case *sqlparse.Number, *sqlparse.String, *sqlparse.Word:
			continue
		}
		if sqlparse.AggregateIn(o.x) == nil && !sqlparse.HasWindow(o.x) {
			by = append(by, o.x)
		}
	}
	return by
}

// A grouping is a Group under construction.
type grouping struct {
	*rel
	stage  plan.Group
	keys   []string // by index of stage.Keys
	flags  []node   // by index of stage.Keys
	calls  []aggregation
	taken  []taken
	fixed  map[int]bool // the columns with a single value in each group
	set    bool         // one of several grouping sets
	sorted string       // the key of the order in which lists are made
}

// An aggregation is a call with the index of its first accumulator and the function that computes its value.
type aggregation struct {
	key   string
	from  int
	of    Aggregate
	flags node
	at    sqlparse.Pos
}

// A taken is a column whose value is determined by the keys.
type taken struct{ column, accumulator int }

// key adds e to the keys of the group, unless an equivalent expression is already a key. e can't contain an aggregate.
func (g *grouping) key(e sqlparse.Expr) error {
	if c := sqlparse.AggregateIn(e); c != nil {
		return invalid(c.At, "%s(…) can't be in GROUP BY", c.Name)
	}
	k := g.rel.key(e)
	if slices.Contains(g.keys, k) {
		return nil
	}
	x, ok := g.pseudonym(e)
	if !ok {
		var err error
		if x, err = g.value(e); err != nil {
			return err
		}
	}
	g.stage.Keys, g.keys, g.flags = append(g.stage.Keys, x.JSONOr()), append(g.keys, k), append(g.flags, x)
	return nil
}

// aggregatesIn binds the aggregates in x.
func (g *grouping) aggregatesIn(x any) error {
	var err error
	sqlparse.Walk(x, func(e sqlparse.Expr) bool {
		c, ok := e.(*sqlparse.Call)
		if err != nil || !ok || c.Over != nil || sqlparse.AggregateIn(c) != c {
			return err == nil
		}
		if inner := sqlparse.AggregateIn(c.Args); inner != nil {
			err = invalid(inner.At, "%s(…) can't be inside of another aggregate", inner.Name)
			return false
		}
		k := g.rel.key(c)
		if !slices.ContainsFunc(g.calls, func(a aggregation) bool { return a.key == k }) {
			err = g.call(c, k)
		}
		return false
	})
	return err
}

// call binds the aggregate c and adds its accumulators to the stage. k is the key of c. An aggregate over only columns
// of an outer query would belong to that query in PostgreSQL, so it is refused.
func (g *grouping) call(c *sqlparse.Call, k string) error {
	if n := g.around(c); n != nil {
		return unsupportedError(n.Pos(), "compute it in the query around this one",
			"%s(…) is over %s, a column of the query around this one: PostgreSQL computes it there", c.Name, n.Written())
	}
	switch {
	case len(c.Order) == 0:
	case c.Distinct:
		if err := g.distinctOrder(c); err != nil {
			return err
		}
	default:
		if err := g.inOrder(c); err != nil {
			return err
		}
	}
	a, flags, err := g.aggregate(c)
	if err != nil {
		return err
	}
	g.calls = append(g.calls, aggregation{k, len(g.stage.Accumulators), a, flags, c.At})
	g.stage.Accumulators = append(g.stage.Accumulators, a.Accumulators...)
	return nil
}

// around returns a column in c if all columns in c belong to outer queries. Otherwise it returns nil.
func (g *grouping) around(c *sqlparse.Call) *sqlparse.Name {
	var out *sqlparse.Name
	own := false
	sqlparse.Walk(c, func(e sqlparse.Expr) bool {
		if n, ok := e.(*sqlparse.Name); ok {
			up, _, err := g.find(n)
			if own = own || err != nil || up == 0; up > 0 {
				out = n
			}
		}
		return true
	})
	if own {
		return nil
	}
	return out
}

// distinctOrder checks the order of distinct values. Only the values' own ascending order, or an order without effect,
// is supported.
func (g *grouping) distinctOrder(c *sqlparse.Call) error {
	if !slices.Contains([]string{"string_agg", "listagg", "group_concat", "array_agg", "json_agg", "jsonb_agg", "json_group_array"}, c.Name) {
		return nil // the result doesn't depend on the order
	}
	first := c.Order[0]
	if len(c.Order) == 1 && len(c.Args) > 0 && g.rel.key(first.X) == g.rel.key(c.Args[0]) && !first.Desc && first.Nulls == "" {
		return nil
	}
	return unsupportedError(first.X.Pos(), "take the different values in a query in FROM: SELECT string_agg(v, ',' ORDER BY v DESC) FROM (SELECT DISTINCT x AS v FROM …) AS d",
		"%s(DISTINCT …) comes in the ascending order of its values, and in no other", c.Name)
}

// inOrder sorts the records for the order of an aggregate. All aggregates must have the same order.
func (g *grouping) inOrder(c *sqlparse.Call) error {
	k := ""
	var terms []term
	for _, o := range c.Order {
		k += g.rel.key(o.X) + fmt.Sprint(o.Desc, o.Nulls)
		x, err := g.value(o.X)
		if err != nil {
			return err
		}
		terms = append(terms, term{X: x, Desc: o.Desc, Nulls: o.Nulls})
	}
	if g.sorted != "" && g.sorted != k {
		return unsupportedError(c.At, "compute one of them in a query in FROM", "two aggregates with different orders can't be in one SELECT")
	}
	g.sorted = k
	return g.sort(terms)
}

// addDependentColumns adds columns outside of aggregates that the keys determine, because the key of the columns' table
// is among the keys.
func (g *grouping) addDependentColumns(x any) error {
	var err error
	sqlparse.Walk(x, func(e sqlparse.Expr) bool {
		if err != nil {
			return false
		}
		if slices.Contains(g.keys, g.rel.key(e)) {
			return false
		}
		if c, ok := e.(*sqlparse.Call); ok && sqlparse.AggregateIn(c) == c {
			return false
		}
		n, ok := e.(*sqlparse.Name)
		if !ok {
			return true
		}
		err = g.take(n)
		return false
	})
	return err
}

// take allows n outside of aggregates if the keys determine it, for example because a primary key is among them
// (PostgreSQL's functional dependency). All values of n in a group are equal, so the stage computes the least. For a
// masked column, whose values can't be compared, it is the first. Another function reports an unknown name.
func (g *grouping) take(n *sqlparse.Name) error {
	up, c, err := g.find(n)
	if err != nil || up > 0 || c.at < 0 {
		return nil // a later step returns the error
	}
	if slices.ContainsFunc(g.taken, func(t taken) bool { return t.column == c.at }) {
		return nil
	}
	if !g.fixes(c.at) {
		return nil
	}
	if g.shape.Columns[c.at].Mask.Hides() {
		x, err := g.PassColumn(n)
		if err != nil {
			return err
		}
		g.taken = append(g.taken, taken{c.at, len(g.stage.Accumulators)})
		g.stage.Accumulators = append(g.stage.Accumulators, plan.Accumulator{Op: plan.First, X: x.Expr, T: x.Expr.Type()})
		return nil
	}
	x, err := g.Column(n)
	if err != nil {
		return err
	}
	e := x.JSONOr()
	g.taken = append(g.taken, taken{c.at, len(g.stage.Accumulators)})
	g.stage.Accumulators = append(g.stage.Accumulators, plan.Accumulator{Op: plan.Min, X: e, T: e.Type()})
	return nil
}

// fixes reports whether the keys determine a column.
func (g *grouping) fixes(column int) bool {
	if g.fixed == nil {
		tables := map[string][]plan.Keyed{}
		for _, c := range g.cols {
			tables[c.table] = append(tables[c.table], plan.Keyed{Column: c.at, Key: c.key})
		}
		g.fixed = g.depends.FixedColumns(g.stage.Keys, tables)
	}
	return g.fixed[column]
}

// finish adds the Group. After it, only keys, aggregates and the columns that the keys determine have values.
func (g *grouping) finish(always bool) {
	g.stage.Always = always
	group(&g.stage, g.shape.Columns)
	width := len(g.stage.Keys)
	g.rel.add(&g.stage)
	g.columns(width)
	g.values(width)
	g.rel.single = g.rel.single || always
}

// columns finds the columns that keep a value after the group.
func (g *grouping) columns(width int) {
	r := g.rel
	for i := range r.cols {
		c := &r.cols[i]
		was := c.at
		c.at = -1
		if k := slices.Index(g.keys, fmt.Sprintf("0:%s.%s", c.table, c.name)); k >= 0 {
			c.at = k
			continue
		}
		for _, t := range g.taken {
			if t.column == was {
				c.at = width + t.accumulator
			}
		}
	}
}

// values sets the computed values of keys and aggregates.
func (g *grouping) values(width int) {
	r := g.rel
	r.computed = map[string]node{}
	for i, k := range g.keys {
		x := g.flags[i]
		x.Node = r.column(i, sqlparse.Pos{})
		r.computed[k] = x
	}
	for _, a := range g.calls {
		refs := make([]plan.Expr, len(a.of.Accumulators))
		for i := range refs {
			refs[i] = plan.Ref{Column: width + a.from + i, T: a.of.Accumulators[i].T}
		}
		x := a.flags
		x.Node.Elsewhere(a.of.Value(refs))
		x.Node.At = At(a.at)
		if ref, ok := x.Expr.(plan.Ref); ok {
			x.Column = &r.shape.Columns[ref.Column]
		}
		x.List = a.of.List
		r.computed[a.key] = x
	}
}
