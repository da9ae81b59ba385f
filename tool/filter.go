package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// countRecords returns how many records of a class that the caller sees a filter finds.
func countRecords(ctx context.Context, c *bailiwick.Call, class string, where query.Filter) (int64, error) {
	rows, err := c.Look(ctx, &query.Pipeline{Class: class, Stages: []query.Stage{query.Match{Where: where}, query.CountStage{Name: "n"}}, Limit: 1})
	if err != nil || len(rows) != 1 {
		return 0, err
	}
	n, _ := rows[0].Get("n")
	return n.Int(), nil
}

// besideFilter adds notes about data that the answer to a find, a count or a pipeline doesn't show.
func besideFilter(ctx context.Context, c *bailiwick.Call, q query.Query, shown int) {
	if where, ok := condition(q); ok {
		noteNullMatches(ctx, c, q.From(), where)
	}
	if f, ok := q.(*query.Find); ok {
		tiesOfFind(ctx, c, f, shown)
	}
	p, ok := q.(*query.Pipeline)
	if ok {
		matchedByExpr(ctx, c, p)
	}
	if !ok || len(p.Stages) < 2 || shown < 1 {
		return
	}
	last, limited := p.Stages[len(p.Stages)-1].(query.Limit)
	sorted, is := p.Stages[len(p.Stages)-2].(query.SortStage)
	if !limited || !is || last.N != int64(shown) {
		return
	}
	keys, ok := columns(sorted.Order)
	if !ok {
		return
	}
	more := *p
	more.Limit, more.Most = shown+mostTies+1, 0
	more.Stages = append(slices.Clone(p.Stages[:len(p.Stages)-1]), query.Limit{N: int64(shown + mostTies + 1), At: last.At})
	if rows, err := c.Look(ctx, &more); err == nil {
		noteTies(c, rows, shown, keys, strings.Join(keys, " and "))
	}
}

// columns returns the columns in an order. It returns false if the order has a part of a column, or a field of another
// record.
func columns(order []query.Sort) ([]string, bool) {
	var out []string
	for _, o := range order {
		if len(o.Path) != 1 {
			return nil, false
		}
		out = append(out, o.Path[0])
	}
	return out, true
}

// mostShort is the largest limit of a find whose last record is compared with the following ones. With a larger limit
// the caller reads pages.
const mostShort = 20

// tiesOfFind notes how many records after a short list have the same values in its order as the last one.
func tiesOfFind(ctx context.Context, c *bailiwick.Call, f *query.Find, shown int) {
	if len(f.Order) == 0 || shown < 1 || shown != f.Limit || shown > mostShort || f.Cursor != "" || f.Search != nil || f.IDs != nil {
		return
	}
	keys, ok := columns(f.Order)
	if !ok {
		return
	}
	more := *f
	more.Limit, more.Keys, more.Include, more.Lean = shown+mostTies+1, nil, nil, false
	for _, o := range f.Order {
		more.Keys = append(more.Keys, o.Path)
	}
	if rows, err := c.Look(ctx, &more); err == nil {
		noteTies(c, rows, shown, keys, strings.Join(keys, " and "))
	}
}

// noteNullMatches notes how many records a filter finds only because a field is null, and null differs from the values of $ne
// or $nin.
func noteNullMatches(ctx context.Context, c *bailiwick.Call, class string, where query.Filter) {
	parts, ok := where.(query.And)
	if !ok {
		parts = query.And{where}
	}
	looked := 0
	for i, part := range parts {
		var path query.Path
		at := ""
		switch f := part.(type) {
		case query.Compare:
			if f.Op == query.Ne && !f.Value.IsNull() {
				path, at = f.Path, f.At
			}
		case query.In:
			if f.Not && !slices.ContainsFunc(f.Values, value.Value.IsNull) {
				path, at = f.Path, f.At
			}
		}
		if len(path) != 1 || looked == mostNulls {
			continue
		}
		looked++
		other := slices.Clone(parts)
		other[i] = query.Exists{Path: path}
		if n, err := countRecords(ctx, c, class, other); err == nil && n > 0 {
			noteExtraRecords(c, at, n, path)
		}
	}
}

// matchedByExpr notes how many records the $expr of a pipeline's first stage finds only because a field is null. Null
// is not equal to a value, and comes before all numbers and texts.
func matchedByExpr(ctx context.Context, c *bailiwick.Call, p *query.Pipeline) {
	if len(p.Stages) == 0 {
		return
	}
	first, ok := p.Stages[0].(query.Match)
	if !ok || first.If == nil {
		return
	}
	looked := 0
	for _, part := range conjuncts(first.If) {
		field, at := compares(part)
		if field == nil || looked == mostNulls {
			continue
		}
		looked++
		missing := query.Match{Where: query.Exists{Path: field}}
		rows, err := c.Look(ctx, &query.Pipeline{Class: p.Class, Raw: p.Raw, Stages: []query.Stage{missing, first, query.CountStage{Name: "n"}}, Limit: 1})
		if err != nil || len(rows) != 1 {
			continue
		}
		if n, _ := rows[0].Get("n"); n.Int() > 0 {
			noteExtraRecords(c, at, n.Int(), field)
		}
	}
}

// conjuncts returns the parts of an expression that must all be true.
func conjuncts(e query.Expr) []query.Expr {
	if and, ok := e.(query.Call); ok && and.Op == "$and" {
		return and.Args
	}
	return []query.Expr{e}
}

// compares returns the field that an expression compares with a constant, and the place of the comparison, if null
// satisfies it. Otherwise it returns nil.
func compares(e query.Expr) (field query.Path, at string) {
	call, ok := e.(query.Call)
	if !ok || len(call.Args) != 2 {
		return nil, ""
	}
	left, right := call.Args[0], call.Args[1]
	switch call.Op {
	case "$ne", "$lt", "$lte":
	case "$gt", "$gte":
		left, right = right, left
	default:
		return nil, ""
	}
	ref, isField := left.(query.FieldRef)
	constant, isConstant := right.(query.Literal)
	if call.Op == "$ne" && !isField {
		ref, isField = right.(query.FieldRef)
		constant, isConstant = left.(query.Literal)
	}
	if !isField || !isConstant || constant.Value.IsNull() || len(ref.Path) != 1 {
		return nil, ""
	}
	return ref.Path, call.At
}

// noteExtraRecords notes that a condition also finds n records without a field.
func noteExtraRecords(c *bailiwick.Call, at string, n int64, field query.Path) {
	c.Note(fmt.Sprintf(`%s: it also finds %s; {%q: {"$ne": null}} leaves them out`, at, absentWithout(n, field.String()), field.String()))
}
