package metric

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A scope is the FROM of one SELECT, in which MEASURE finds the classes of metrics.
type scope struct {
	*inliner
	selected *sqlparse.Select
	number   int      // of the SELECT
	ctes     []string // as for inliner.query
	items    []*item
	edges    []edge
}

// An item is one table or query of a FROM.
type item struct {
	alias     string
	view      *policy.View    // of a class, or nil
	table     *sqlparse.Table // of a class, or nil
	slot      *sqlparse.From  // where it stands
	padded    bool            // an outer join can add a record of nulls
	statement *statement      // of the metrics over it, or nil
	filters   map[string]sqlparse.Expr
}

// collect adds the items in f, and the equalities of its joins. padded reports whether a join around f can add nulls for
// it. It returns the indexes of the items.
func (sc *scope) collect(slot *sqlparse.From, padded bool, ctes []string) []int {
	it := &item{slot: slot, padded: padded}
	switch f := (*slot).(type) {
	case *sqlparse.Join:
		left := sc.collect(&f.Left, padded || f.Kind == "right" || f.Kind == "full", ctes)
		right := sc.collect(&f.Right, padded || f.Kind == "left" || f.Kind == "full", ctes)
		sc.forbid(&f.On, "in ON", "join the classes, and write HAVING", ctes)
		sc.join(f, left, right)
		return append(left, right...)
	case *sqlparse.Table:
		if isList(f) {
			*slot = sc.list(f)
			break
		}
		it.alias = f.Name[len(f.Name)-1].Text
		if f.Alias.Name != nil {
			it.alias = f.Alias.Name.Text
		}
		if it.view = sc.class(f, ctes); it.view != nil {
			it.table = f
		}
	case *sqlparse.Derived:
		if f.Alias.Name != nil {
			it.alias = f.Alias.Name.Text
		}
		sc.query(f.Query, ctes)
	case *sqlparse.Function:
		sc.forbid(&f.Call, "in FROM", "write it in SELECT", ctes)
	}
	sc.items = append(sc.items, it)
	return []int{len(sc.items) - 1}
}

// class returns the caller's view of the class that t names. It is nil if t names another table, or several classes.
func (sc *scope) class(t *sqlparse.Table, ctes []string) *policy.View {
	if len(t.Name) == 1 && slices.Contains(ctes, strings.ToLower(t.Name[0].Text)) || t.Alias.Columns != nil {
		return nil
	}
	parts := make([]string, len(t.Name))
	for i, p := range t.Name {
		parts[i] = p.Text
	}
	name := strings.Join(parts, ".")
	if len(parts) > 1 && (strings.EqualFold(parts[0], "information_schema") || strings.EqualFold(parts[0], "pg_catalog")) {
		return nil // a table about classes
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		var found []*policy.View
		for v := range sc.views(func(c *schema.Class) bool {
			return (sc.source == "" || c.Source == sc.source) && (same(c.FullName(), name) || same(c.Name, name))
		}) {
			found = append(found, v)
		}
		if len(found) == 1 {
			return found[0]
		}
		if found != nil {
			return nil
		}
	}
	return nil
}

// measure returns the expression for a call of MEASURE, and nil for another call.
func (sc *scope) measure(c *sqlparse.Call) sqlparse.Expr {
	switch {
	case c.Over == nil && sqlparse.Aggregates[c.Name] && (measures(c.Args) || measures(c.Filter)):
		sc.fail(refuse(c.At, "compute MEASURE in a query in FROM, and aggregate its column", "MEASURE is the value of a group, so it can't be inside of %s(…)", c.Name))
		return nil
	case c.Name != "measure":
		return nil
	}
	sc.found = true
	sc.forbid(&c.Filter, "in FILTER", "write HAVING, which tests groups", sc.ctes)
	u, alias, ok := sc.find(c)
	if !ok || sc.err != nil {
		return nil
	}
	sc.define(u.Metric)
	if u.Ratio == nil {
		return sc.aggregate(u, alias, c)
	}
	double := func(u Usable) sqlparse.Expr {
		sc.define(u.Metric)
		return &sqlparse.Cast{X: sc.aggregate(u, alias, c), Type: "double", At: c.At}
	}
	above, below := double(u.parts[0]), double(u.parts[1])
	none := &sqlparse.Call{Name: "nullif", Args: []sqlparse.Expr{below, &sqlparse.Number{Text: "0", At: c.At}}, At: c.At}
	return &sqlparse.Binary{Op: "/", L: above, R: none, At: c.At}
}

// aggregate returns the aggregate of a metric in the place of c. A sum of no records is 0, as in query_metrics.
func (sc *scope) aggregate(u Usable, alias string, c *sqlparse.Call) sqlparse.Expr {
	null := &sqlparse.Word{Text: "null", At: c.At}
	i, err := sc.itemOf(u, alias, c)
	if err == nil {
		err = sc.check(u, i, c)
	}
	if err != nil {
		sc.fail(err)
		return null
	}
	filter, err := sc.filter(u, sc.items[i], c)
	if err != nil {
		sc.fail(err)
		return null
	}
	call, err := u.measure.call(sc.items[i].alias, both("and", filter, sqlparse.Copy(c.Filter)))
	if err != nil {
		sc.fail(err)
		return null
	}
	if call.At = c.At; u.measure.function != "sum" {
		return call
	}
	return &sqlparse.Call{Name: "coalesce", Args: []sqlparse.Expr{call, &sqlparse.Number{Text: "0", At: c.At}}, At: c.At}
}

// itemOf returns the item of the class of a metric.
func (sc *scope) itemOf(u Usable, alias string, c *sqlparse.Call) (int, error) {
	var found []int
	var aliases []string
	for i, it := range sc.items {
		if it.view != nil && it.view.Class().FullName() == u.Class.FullName() {
			found, aliases = append(found, i), append(aliases, it.alias)
		}
	}
	if alias != "" {
		found = slices.DeleteFunc(found, func(i int) bool { return !strings.EqualFold(sc.items[i].alias, alias) })
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return 0, of(problem.InvalidQuery, "ambiguous_class", refuse(c.At, "name one by its alias: MEASURE("+aliases[0]+"."+u.Name+")",
			"%s is measured on %s, which is in FROM as %s", u.Name, u.View.Name(), strings.Join(aliases, " and ")))
	case len(aliases) > 0:
		return 0, refuse(c.At, "write MEASURE("+aliases[0]+"."+u.Name+")", "%s is measured on %s, and %s is not an alias of it here", u.Name, u.View.Name(), problem.Cut(alias))
	}
	return 0, refuse(c.At, "write FROM "+u.View.Class().FullName()+" without names for its columns, or ask query_metrics", "%s is measured on %s, which is not in FROM here", u.Name, u.View.Name())
}

// check refuses a metric whose records the FROM multiplies, and groups that its definition doesn't allow.
func (sc *scope) check(u Usable, at int, c *sqlparse.Call) error {
	reached := sc.reach(at)
	for i, it := range sc.items {
		if _, ok := reached[i]; ok {
			continue
		}
		instead := "compute it in a query in FROM that groups " + u.View.Name() + ", and join its groups"
		return of(problem.Unsupported, "fan_out", refuse(c.At, instead, "a record of %s can meet several of %s, so that %s would count it several times", u.View.Name(), it.named(), u.Name))
	}
	if u.Dimensions == nil {
		return nil
	}
	keys, err := sc.keys(), error(nil)
	for _, key := range keys {
		sqlparse.Walk(key, func(e sqlparse.Expr) bool {
			n, ok := e.(*sqlparse.Name)
			if !ok {
				return err == nil
			}
			i, field := sc.field(n)
			if i < 0 {
				return false // the binder says what is wrong with the name
			}
			if path := reached[i] + field; !slices.Contains(u.Dimensions, path) && err == nil {
				err = of(problem.InvalidQuery, "dimension", refuse(n.Pos(), "its dimensions are "+strings.Join(u.Dimensions, ", "), "%s is not grouped by %s", u.Name, n.Written()))
			}
			return false
		})
	}
	return err
}

// named returns the name of an item for an error.
func (it *item) named() string {
	switch {
	case it.view != nil:
		return it.view.Name()
	case it.alias != "":
		return problem.Cut(it.alias)
	}
	return "the other part of FROM"
}

// measures reports whether x contains a call of MEASURE.
func measures(x any) bool {
	found := false
	sqlparse.Walk(x, func(e sqlparse.Expr) bool {
		c, ok := e.(*sqlparse.Call)
		found = found || ok && c.Name == "measure"
		return !found
	})
	return found
}

// keys returns the expressions by which the SELECT groups. Positions and names of its items mean the items.
func (sc *scope) keys() []sqlparse.Expr {
	var out []sqlparse.Expr
	if sc.selected.GroupAll {
		for _, it := range sc.selected.Items {
			if sqlparse.AggregateIn(it.X) == nil && !measures(it.X) {
				out = append(out, it.X)
			}
		}
	}
	for _, key := range sc.selected.Group {
		switch k := key.(type) {
		case *sqlparse.Number:
			for i, it := range sc.selected.Items {
				if k.Text == strconv.Itoa(i+1) {
					key = it.X
				}
			}
		case *sqlparse.Name:
			if i, _ := sc.field(k); i >= 0 || len(k.Parts) > 1 {
				break
			}
			for _, it := range sc.selected.Items {
				if it.Alias != nil && strings.EqualFold(it.Alias.Text, k.Parts[0].Text) {
					key = it.X
				}
			}
		}
		out = append(out, key)
	}
	return out
}

// filter returns the condition on the records of a metric, or nil.
func (sc *scope) filter(u Usable, it *item, c *sqlparse.Call) (sqlparse.Expr, error) {
	if it.statement == nil {
		sc.pin(it)
		it.filters = map[string]sqlparse.Expr{}
	}
	if have, ok := it.filters[u.Name]; ok {
		return sqlparse.Copy(have), nil
	}
	var out sqlparse.Expr
	if u.Where != nil {
		var err error
		if out, err = it.statement.condition(u.Where); err != nil {
			return nil, err
		}
	}
	if it.padded {
		field := certain(it.view)
		if field == "" {
			return nil, of(problem.Unsupported, "", refuse(c.At, "write an inner join", "an outer join can add a record of nulls to %s, and no key that you see would tell", u.View.Name()))
		}
		out = both("and", &sqlparse.Is{X: named(it.alias, field), Not: true, What: "null"}, out)
	}
	it.filters[u.Name] = out
	return sqlparse.Copy(out), nil
}

// pin makes the table of an item name its class exactly, and begins the statement of its metrics.
func (sc *scope) pin(it *item) {
	it.statement = newStatement(it.view, "", sc.views)
	it.statement.alias, it.statement.params, it.statement.from = it.alias, sc.params, it.table
	it.statement.prefix = fmt.Sprintf("metric %d %d ", sc.number, slices.Index(sc.items, it)+1)
	alias := it.table.Alias
	if alias.Name == nil {
		alias.Name = &sqlparse.Ident{Text: it.alias, Quoted: true, At: it.table.Name[0].At}
	}
	it.table.Name, it.table.Alias = []sqlparse.Ident{{Text: it.view.Class().FullName(), Quoted: true, At: it.table.Name[0].At}}, alias
}

// certain returns a field of v that is never null and that has no mask, or "".
func certain(v *policy.View) string {
	out := ""
	for _, f := range v.Fields() {
		switch {
		case v.Mask(f.Name) != nil || f.Type.IsStructured():
		case f.NotNull:
			return f.Name
		case out == "" && slices.Contains(v.Class().Key, f.Name):
			out = f.Name
		}
	}
	return out
}
