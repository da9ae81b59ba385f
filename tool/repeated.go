package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A source is a class in a FROM, with the name that qualifies its columns.
type source struct {
	name string
	view *policy.View
}

// noteRepeats adds notes about sums and averages over one class of a join that repeats the records of the class. The notes
// have the values that count each record once.
func noteRepeats(ctx context.Context, c *bailiwick.Call, s *query.SQL) {
	_, body, ok := statement(s)
	if !ok {
		return
	}
	sources := joinedSources(c, body.From)
	_, _ = c.View(s.From()) // the audit record names this class
	if len(sources) < 2 {
		return
	}
	noted := 0
	for _, it := range body.Items {
		call := sqlparse.AggregateIn(it.X)
		if call == nil || call.Name != "sum" && call.Name != "avg" || call.Distinct || call.Filter != nil || len(call.Args) != 1 || noted == 2 {
			continue
		}
		of := sourceOf(call.Args[0], sources)
		if of == nil || len(of.view.Key()) != 1 {
			continue
		}
		noted++
		title, _ := it.Title()
		if note := repeats(ctx, c, s, call, of); note != "" {
			c.Note(title + note)
		}
	}
}

// repeats returns the note if the join repeats the records under an aggregate over a class. Otherwise it returns "".
func repeats(ctx context.Context, c *bailiwick.Call, s *query.SQL, call *sqlparse.Call, of *source) string {
	q, body, _ := again(s)
	key := &sqlparse.Name{Parts: []sqlparse.Ident{{Text: of.name, At: q.At}, {Text: of.view.Key()[0], Quoted: true, At: q.At}}}
	alias := func(n string) *sqlparse.Ident { return &sqlparse.Ident{Text: n, Quoted: true, At: q.At} }
	name := func(n string) sqlparse.Expr { return &sqlparse.Name{Parts: []sqlparse.Ident{*alias(n)}} }
	aggregate := func(f string, distinct bool, x sqlparse.Expr) sqlparse.Expr {
		return &sqlparse.Call{Name: f, Distinct: distinct, Args: []sqlparse.Expr{x}, At: q.At}
	}
	all, ok := one(ctx, c, s, q, &sqlparse.Select{Items: []sqlparse.Item{
		{X: aggregate("count", false, key), Alias: alias("n")}, {X: aggregate("count", true, key), Alias: alias("d")}, {X: aggregate(call.Name, false, call.Args[0]), Alias: alias("v")},
	}, From: body.From, Where: body.Where, At: body.At})
	n, _ := all.Get("n")
	d, _ := all.Get("d")
	if !ok || n.Int() <= d.Int() {
		return ""
	}
	q, body, _ = again(s)
	once := &sqlparse.Select{Distinct: true, Items: []sqlparse.Item{{X: key, Alias: alias("k")}, {X: call.Args[0], Alias: alias("x")}}, From: body.From, Where: body.Where, At: body.At}
	each, ok := one(ctx, c, s, q, &sqlparse.Select{Items: []sqlparse.Item{{X: aggregate(call.Name, false, name("x")), Alias: alias("v")}},
		From: []sqlparse.From{&sqlparse.Derived{Query: &sqlparse.Query{Body: once, At: q.At}, Alias: sqlparse.Alias{Name: alias("once")}, At: q.At}}, At: q.At})
	all, _ = all.Get("v")
	each, _ = each.Get("v")
	if !ok || all.IsNull() || each.IsNull() || all.String() == each.String() {
		return ""
	}
	where := ""
	if body.Group != nil {
		where = " over all groups"
	}
	return fmt.Sprintf(" counts a record of %s as often as the join repeats it: %s%s. With each record once: %s", of.view.Name(), shownNumber(all), where, shownNumber(each))
}

// shownNumber formats a number with at most two decimal places.
func shownNumber(v value.Value) string {
	if f, ok := v.AsFloat(); ok && v.Kind() != value.Int {
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", f), "0"), ".")
	}
	return v.String()
}

// joinedSources returns the classes of a FROM, or nil if it has anything else than classes.
func joinedSources(c *bailiwick.Call, list []sqlparse.From) []source {
	var out []source
	known := true
	var add func(sqlparse.From)
	add = func(f sqlparse.From) {
		switch f := f.(type) {
		case *sqlparse.Table:
			var parts []string
			for _, p := range f.Name {
				parts = append(parts, p.Text)
			}
			v, err := c.View(strings.Join(parts, "."))
			if err != nil {
				known = false
				return
			}
			name := parts[len(parts)-1]
			if f.Alias.Name != nil {
				name = f.Alias.Name.Text
			}
			out = append(out, source{name, v})
		case *sqlparse.Join:
			add(f.Left)
			add(f.Right)
		default:
			known = false
		}
	}
	for _, f := range list {
		add(f)
	}
	if !known {
		return nil
	}
	return out
}

// sourceOf returns the class whose columns an expression names. It returns nil if there are several or none.
func sourceOf(x sqlparse.Expr, sources []source) *source {
	var of *source
	single := true
	sqlparse.Walk(x, func(e sqlparse.Expr) bool {
		n, ok := e.(*sqlparse.Name)
		if !ok {
			return true
		}
		var found *source
		for i := range sources {
			src := &sources[i]
			column := findField(src.view, n.Parts[len(n.Parts)-1])
			if len(n.Parts) == 2 && strings.EqualFold(n.Parts[0].Text, src.name) || len(n.Parts) == 1 && column != nil {
				single = single && (found == nil || found == src)
				found = src
			}
		}
		single = single && found != nil && (of == nil || of == found)
		of = found
		return true
	})
	if !single {
		return nil
	}
	return of
}
