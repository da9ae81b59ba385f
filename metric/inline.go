package metric

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// viewsOf returns the caller's views of the classes for which keep returns true.
type viewsOf = func(keep func(*schema.Class) bool) iter.Seq[*policy.View]

// inline is Set.Inline for the metrics and the views of the caller.
func inline(q *query.SQL, usable []Usable, views viewsOf) (*query.SQL, []string, error) {
	in := &inliner{usable: usable, views: views, source: q.Source, params: maps.Clone(q.Params)}
	if in.params == nil {
		in.params = map[string]value.Value{}
	}
	changed := sqlparse.Copy(q.Statement())
	in.query(changed, nil)
	if in.err != nil {
		return nil, nil, sqlparse.WithPlace(in.err)
	}
	if !in.found {
		return q, nil, nil
	}
	return q.With(changed, in.params, strings.Join(slices.Concat(in.definitions, in.listed), "\n")), in.definitions, nil
}

// An inliner changes one statement.
type inliner struct {
	usable      []Usable
	views       viewsOf
	source      string // of the statement, or ""
	params      map[string]value.Value
	selects     int
	found       bool
	definitions []string
	listed      []string // the definitions of the metrics in information_schema.metrics
	err         error    // the first one
}

// fail keeps the first error.
func (in *inliner) fail(err error) {
	if in.err == nil {
		in.err = err
	}
}

// refuse returns an error at a place of the statement.
func refuse(p sqlparse.Pos, instead, format string, args ...any) *problem.Error {
	return &problem.Error{Code: problem.InvalidQuery, Pointer: placeOf(p), Detail: fmt.Sprintf(format, args...), Suggestion: instead}
}

// of returns a refusal with another code and a kind.
func of(code problem.Code, kind string, refusal *problem.Error) error {
	refusal.Code, refusal.Kind = code, kind
	return refusal
}

func placeOf(p sqlparse.Pos) string { return fmt.Sprintf("line %d, column %d", p.Line, p.Column) }

// query changes q. ctes are the names of the queries that q can name instead of classes.
func (in *inliner) query(q *sqlparse.Query, ctes []string) {
	for i := range q.With {
		c := &q.With[i]
		scope := ctes
		ctes = append(slices.Clone(ctes), strings.ToLower(c.Name.Text))
		if c.Recursive {
			scope = ctes
		}
		in.query(c.Query, scope)
	}
	if s, ok := q.Body.(*sqlparse.Select); ok {
		in.selected(s, &q.Order, ctes)
	} else {
		in.body(q.Body, ctes)
		in.forbid(&q.Order, "in ORDER BY of several SELECTs", "name its column", ctes)
	}
	in.forbid(&q.Limit, "in LIMIT", "write a number", ctes)
	in.forbid(&q.Offset, "in OFFSET", "write a number", ctes)
}

// body changes a part of a set operation.
func (in *inliner) body(b sqlparse.Body, ctes []string) {
	switch b := b.(type) {
	case *sqlparse.Select:
		in.selected(b, nil, ctes)
	case *sqlparse.SetOp:
		in.body(b.Left, ctes)
		in.body(b.Right, ctes)
	case *sqlparse.Query:
		in.query(b, ctes)
	case *sqlparse.Values:
		in.forbid(&b.Rows, "in VALUES", "write SELECT … FROM the class of the metric", ctes)
	}
}

// forbid refuses MEASURE in x, and changes the queries in x.
func (in *inliner) forbid(x any, where, instead string, ctes []string) {
	sqlparse.Change(x, func(c *sqlparse.Call) sqlparse.Expr {
		if c.Name == "measure" {
			in.fail(refuse(c.At, instead, "MEASURE is the value of a group, so it can't be %s", where))
		}
		return nil
	}, func(q *sqlparse.Query) { in.query(q, ctes) })
}

// selected changes a SELECT with its order, which is nil for a part of a set operation.
func (in *inliner) selected(s *sqlparse.Select, order *[]sqlparse.Order, ctes []string) {
	in.selects++
	sc := &scope{inliner: in, selected: s, number: in.selects, ctes: ctes}
	for i := range s.From {
		sc.collect(&s.From[i], false, ctes)
	}
	in.forbid(&s.Where, "in WHERE", "write HAVING, which tests groups", ctes)
	in.forbid(&s.Group, "in GROUP BY", "group by fields", ctes)
	in.forbid(&s.On, "in DISTINCT ON", "name fields", ctes)
	for i := range s.Items {
		in.title(&s.Items[i])
	}
	parts := []any{&s.Items, &s.Having, &s.Qualify, &s.Windows}
	if order != nil {
		parts = append(parts, order)
	}
	for _, part := range parts {
		sqlparse.Change(part, sc.measure, func(q *sqlparse.Query) { in.query(q, ctes) })
	}
	for _, t := range sc.items {
		if t.statement != nil {
			*t.slot = t.statement.from
		}
	}
}

// title names an item that is only a metric like the metric.
func (in *inliner) title(it *sqlparse.Item) {
	c, ok := it.X.(*sqlparse.Call)
	if !ok || c.Name != "measure" || it.Alias != nil {
		return
	}
	if u, _, ok := in.find(c); ok {
		it.Alias = &sqlparse.Ident{Text: u.Name, Quoted: true, At: c.At}
	}
}

// find returns the metric that a call of MEASURE names, and the alias before its name.
func (in *inliner) find(c *sqlparse.Call) (u Usable, alias string, ok bool) {
	var name *sqlparse.Name
	if len(c.Args) == 1 {
		name, _ = c.Args[0].(*sqlparse.Name)
	}
	switch {
	case name == nil || len(name.Parts) > 2 || c.Star:
		in.fail(refuse(c.At, "write MEASURE(revenue) with the name of a metric", "MEASURE takes the name of one metric"))
		return u, "", false
	case c.Over != nil:
		in.fail(of(problem.Unsupported, "", refuse(c.At, "write the window around it: sum(MEASURE("+name.Written()+")) OVER (…)", "MEASURE can't be a window function")))
		return u, "", false
	case c.Distinct || c.Order != nil || c.Within != nil || c.Limit != nil:
		in.fail(refuse(c.At, "write MEASURE("+name.Written()+")", "MEASURE takes no DISTINCT, ORDER BY and LIMIT"))
		return u, "", false
	}
	last := name.Parts[len(name.Parts)-1]
	i := slices.IndexFunc(in.usable, func(u Usable) bool { return u.Name == last.Text })
	if i < 0 && !last.Quoted {
		i = slices.IndexFunc(in.usable, func(u Usable) bool { return strings.EqualFold(u.Name, last.Text) })
	}
	if i < 0 {
		in.fail(Unknown(last.Text, placeOf(last.At), in.usable))
		return u, "", false
	}
	if len(name.Parts) == 2 {
		alias = name.Parts[0].Text
	}
	return in.usable[i], alias, true
}

// define adds the definition of a metric to those of the answer.
func (in *inliner) define(m *Metric) {
	if text := m.Definition(); !slices.Contains(in.definitions, text) {
		in.definitions = append(in.definitions, text)
	}
}

// listColumns are the columns of information_schema.metrics.
var listColumns = []string{"name", "unit", "description", "definition", "class", "dimensions"}

// list returns the caller's metrics as a table in the place of t.
func (in *inliner) list(t *sqlparse.Table) sqlparse.From {
	in.found = true
	last := t.Name[len(t.Name)-1]
	cell := func(text string) sqlparse.Expr {
		if text == "" {
			return &sqlparse.Cast{X: &sqlparse.Word{Text: "null", At: last.At}, Type: "text", At: last.At}
		}
		return &sqlparse.String{Text: text, At: last.At}
	}
	var body sqlparse.Body
	list := &sqlparse.Values{At: last.At}
	for _, u := range in.usable {
		in.listed = append(in.listed, u.Definition())
		list.Rows = append(list.Rows, []sqlparse.Expr{cell(u.Name), cell(u.Unit), cell(u.Description), cell(u.Meaning()), cell(u.View.Name()), cell(strings.Join(u.Dimensions, ", "))})
	}
	if body = list; list.Rows == nil {
		none := &sqlparse.Select{Where: &sqlparse.Word{Text: "false", At: last.At}, At: last.At}
		for range listColumns {
			none.Items = append(none.Items, sqlparse.Item{X: cell("")})
		}
		body = none
	}
	alias := t.Alias
	if alias.Name == nil {
		alias.Name = &last
	}
	for i, name := range listColumns {
		if i >= len(alias.Columns) {
			alias.Columns = append(alias.Columns, sqlparse.Ident{Text: name, Quoted: true, At: last.At})
		}
	}
	return &sqlparse.Derived{Query: &sqlparse.Query{Body: body, At: last.At}, Alias: alias, At: last.At}
}

// isList reports whether t is information_schema.metrics.
func isList(t *sqlparse.Table) bool {
	n := len(t.Name)
	return n > 1 && strings.EqualFold(t.Name[n-1].Text, "metrics") && strings.EqualFold(t.Name[n-2].Text, "information_schema")
}
