package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// mostTies is the maximum number of records after the last one that are compared with it.
const mostTies = 50

// beside adds notes about data that the answer to a SELECT statement doesn't show. shown is the number of its records.
func beside(ctx context.Context, c *bailiwick.Call, s *query.SQL, shown int) {
	ties(ctx, c, s, shown)
	nulls(ctx, c, s)
	noteRepeats(ctx, c, s)
	few(ctx, c, s)
}

// statement returns a statement and its SELECT, which must not be changed. It returns false if it isn't a single SELECT, or
// for a later page.
func statement(s *query.SQL) (*sqlparse.Query, *sqlparse.Select, bool) {
	q := s.Statement()
	body, ok := q.Body.(*sqlparse.Select)
	return q, body, ok && s.Cursor == ""
}

// again returns a copy of what statement returns, which can be changed.
func again(s *query.SQL) (*sqlparse.Query, *sqlparse.Select, bool) {
	if _, _, ok := statement(s); !ok {
		return nil, nil, false
	}
	q := sqlparse.Copy(s.Statement())
	body, ok := q.Body.(*sqlparse.Select)
	return q, body, ok
}

// look runs a changed statement for at most limit records.
func look(ctx context.Context, c *bailiwick.Call, s *query.SQL, q *sqlparse.Query, limit int) ([]value.Value, error) {
	changed := s.As(q)
	changed.Limit, changed.Most = limit, limit
	return c.Look(ctx, changed)
}

// one runs a statement with only aggregates over the records of body, and returns the values of its single record.
func one(ctx context.Context, c *bailiwick.Call, s *query.SQL, q *sqlparse.Query, body *sqlparse.Select) (value.Value, bool) {
	rows, err := look(ctx, c, s, &sqlparse.Query{With: q.With, Body: body, At: q.At}, 1)
	if err != nil || len(rows) != 1 {
		return value.Value{}, false
	}
	return rows[0], true
}

func counting(name string) sqlparse.Item {
	return sqlparse.Item{X: &sqlparse.Call{Name: "count", Star: true}, Alias: &sqlparse.Ident{Text: name, Quoted: true}}
}

// ties notes how many records after the LIMIT have the same values in ORDER BY as the last shown record.
func ties(ctx context.Context, c *bailiwick.Call, s *query.SQL, shown int) {
	n, ok := s.LimitValue()
	q, body, single := statement(s)
	if !ok || !single || n != shown || n < 1 || q.Offset != nil || len(q.Order) == 0 || body.On != nil {
		return
	}
	q, body, _ = again(s)
	var keys []string
	for i, o := range q.Order {
		name, found := titleOf(body, o.X)
		if !found {
			if body.Distinct {
				return
			}
			name = fmt.Sprintf("tie %d", i)
			body.Items = append(body.Items, sqlparse.Item{X: o.X, Alias: &sqlparse.Ident{Text: name, Quoted: true}})
		}
		keys = append(keys, name)
	}
	q.Limit = &sqlparse.Number{Text: fmt.Sprint(n + mostTies + 1), At: q.At}
	if rows, err := look(ctx, c, s, q, n+mostTies+1); err == nil {
		noteTies(c, rows, n, keys, orderText(q.Order))
	}
}

// noteTies notes how many records after the first n have the same values in keys as the n-th record. keys are the
// columns of the order.
func noteTies(c *bailiwick.Call, rows []value.Value, n int, keys []string, order string) {
	more := 0
	for more < len(rows)-n && same(rows[n-1], rows[n+more], keys) {
		more++
	}
	switch {
	case more > mostTies:
		c.Note(fmt.Sprintf("more than %d more records have the same %s as the last one shown", mostTies, order))
	case more > 1:
		c.Note(fmt.Sprintf("%d more records have the same %s as the last one shown", more, order))
	case more == 1:
		c.Note(fmt.Sprintf("1 more record has the same %s as the last one shown", order))
	}
}

// titleOf returns the name of the column to which an expression of ORDER BY refers by name or number.
func titleOf(body *sqlparse.Select, e sqlparse.Expr) (string, bool) {
	for i, it := range body.Items {
		if _, star := it.X.(*sqlparse.Star); star {
			return "", false // the numbers and names of columns aren't known
		}
		title, _ := it.Title()
		switch e := e.(type) {
		case *sqlparse.Number:
			if fmt.Sprint(i+1) == e.Text {
				return title, true
			}
		case *sqlparse.Name:
			if len(e.Parts) == 1 && it.Alias != nil && strings.EqualFold(e.Parts[0].Text, it.Alias.Text) {
				return title, true
			}
		}
	}
	return "", false
}

// orderText describes the order of a statement, for a note.
func orderText(order []sqlparse.Order) string {
	var names []string
	for _, o := range order {
		n, ok := o.X.(*sqlparse.Name)
		if !ok {
			return "place in the order"
		}
		names = append(names, n.Written())
	}
	return strings.Join(names, " and ")
}

// same reports whether two records have equal values under all keys. A key that is missing makes them different.
func same(a, b value.Value, keys []string) bool {
	for _, k := range keys {
		x, okX := a.Get(k)
		y, okY := b.Get(k)
		if !okX || !okY || x.String() != y.String() || x.Kind() != y.Kind() {
			return false
		}
	}
	return true
}

// mostNulls is the maximum number of conditions in a statement that are checked for omitted records.
const mostNulls = 3

// nulls notes how many records the conditions of a statement leave out only because a column is null.
func nulls(ctx context.Context, c *bailiwick.Call, s *query.SQL) {
	_, body, ok := statement(s)
	if !ok || body.Where == nil {
		return
	}
	n := 0
	for i, part := range sqlparse.Conjuncts(body.Where) {
		column, how := unequal(part)
		if column == nil || n == mostNulls {
			continue
		}
		n++
		q, body, _ := again(s)
		parts := sqlparse.Conjuncts(body.Where)
		parts[i] = &sqlparse.Is{X: column, What: "null", At: column.Pos()}
		where := parts[0]
		for _, p := range parts[1:] {
			where = &sqlparse.Binary{Op: "and", L: where, R: p, At: p.Pos()}
		}
		row, ok := one(ctx, c, s, q, &sqlparse.Select{Items: []sqlparse.Item{counting("n")}, From: body.From, Where: where, At: body.At})
		if left, _ := row.Get("n"); ok && left.Int() > 0 {
			c.Note(fmt.Sprintf("%s %s leaves out %s: add OR %s IS NULL to have them", column.Written(), how, absentWithout(left.Int(), column.Written()), column.Written()))
		}
	}
}

func absentWithout(n int64, field string) string {
	if n == 1 {
		return "1 record without " + field
	}
	return fmt.Sprintf("%d records without %s", n, field)
}

// unequal returns the column and the operator of a condition that excludes a value, or nil for other conditions.
func unequal(e sqlparse.Expr) (*sqlparse.Name, string) {
	var x sqlparse.Expr
	how := ""
	switch e := e.(type) {
	case *sqlparse.Binary:
		if x, how = e.L, e.Op; how != "<>" {
			return nil, ""
		}
		if w, null := e.R.(*sqlparse.Word); null && w.Text == "null" {
			return nil, ""
		}
	case *sqlparse.In:
		if x, how = e.X, "NOT IN"; !e.Not {
			return nil, ""
		}
	case *sqlparse.Like:
		if x, how = e.X, "NOT LIKE"; !e.Not {
			return nil, ""
		}
	case *sqlparse.Unary:
		switch inner := e.X.(type) {
		case *sqlparse.Binary:
			if x, how = inner.L, "NOT … ="; inner.Op != "=" {
				return nil, ""
			}
		case *sqlparse.In:
			x, how = inner.X, "NOT IN"
		case *sqlparse.Like:
			x, how = inner.X, "NOT LIKE"
		}
		if e.Op != "not" {
			return nil, ""
		}
	}
	n, ok := x.(*sqlparse.Name)
	if !ok {
		return nil, ""
	}
	return n, how
}

// foldedIn reports whether the statement finds a record with ILIKE pattern instead of the comparison with text in its
// WHERE. pattern is a text, or a text between two %.
func foldedIn(ctx context.Context, c *bailiwick.Call, s *query.SQL, text *sqlparse.String, pattern string) bool {
	q, body, ok := again(s)
	if !ok {
		return false
	}
	changed := false
	written, within := strings.CutPrefix(strings.ToLower(pattern), "%")
	written = strings.TrimSuffix(written, "%")
	sqlparse.Walk(body.Where, func(e sqlparse.Expr) bool {
		switch e := e.(type) {
		case *sqlparse.Binary:
			if t, is := e.R.(*sqlparse.String); is && t.At == text.At && e.Op == "=" {
				e.L, e.R, changed = &sqlparse.Call{Name: "lower", Args: []sqlparse.Expr{e.L}, At: e.At}, &sqlparse.String{Text: written, At: e.At}, true
				if within {
					e.Op, e.L, e.R = ">", &sqlparse.Call{Name: "strpos", Args: []sqlparse.Expr{e.L, e.R}, At: e.At}, &sqlparse.Number{Text: "0", At: e.At}
				}
				return false
			}
		case *sqlparse.Like:
			if t, is := e.Pattern.(*sqlparse.String); is && t.At == text.At {
				e.Op, e.Pattern, changed = "ilike", &sqlparse.String{Text: pattern, At: e.At}, true
			}
		}
		return !changed
	})
	if !changed {
		return false
	}
	row, ok := one(ctx, c, s, q, &sqlparse.Select{Items: []sqlparse.Item{counting("n")}, From: body.From, Where: body.Where, At: body.At})
	n, _ := row.Get("n")
	return ok && n.Int() > 0
}

// fewRecords is the number of records below which a share gets a note.
const fewRecords = 10

// few notes how many rows of an answer have a percentage or a share of few records.
func few(ctx context.Context, c *bailiwick.Call, s *query.SQL) {
	q, body, ok := statement(s)
	if !ok || body.Distinct || body.On != nil || body.Sets != nil || q.Limit == nil && body.Group != nil && len(body.Group) > 8 {
		return
	}
	i := slices.IndexFunc(body.Items, share)
	if i < 0 {
		return
	}
	title, _ := body.Items[i].Title()
	q, body, _ = again(s)
	body.Items = append(body.Items, counting("of how many"))
	rows, err := look(ctx, c, s, q, max(1, s.Limit))
	if err != nil {
		return
	}
	small, least := 0, int64(fewRecords)
	for _, r := range rows {
		n, ok := r.Get("of how many")
		if ok && n.Int() < fewRecords && n.Int() > 0 {
			small, least = small+1, min(least, n.Int())
		}
	}
	switch {
	case small == 0:
	case len(rows) == 1:
		c.Note(fmt.Sprintf("%s is over %s only", title, records(least)))
	default:
		c.Note(fmt.Sprintf("%s is over fewer than %d records in %d of %d rows. The fewest are %d", title, fewRecords, small, len(rows), least))
	}
}

func records(n int64) string {
	if n == 1 {
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}

// share reports whether an item is a percentage or a share. That is a quotient of aggregates with 100 in it or with a
// typical name.
func share(it sqlparse.Item) bool {
	if sqlparse.AggregateIn(it.X) == nil || sqlparse.HasWindow(it.X) {
		return false
	}
	title, _ := it.Title()
	named := slices.ContainsFunc([]string{"pct", "percent", "rate", "share", "ratio"}, func(w string) bool { return strings.Contains(strings.ToLower(title), w) })
	hundred, quotient, average := false, false, false
	sqlparse.Walk(it.X, func(e sqlparse.Expr) bool {
		switch e := e.(type) {
		case *sqlparse.Number:
			hundred = hundred || e.Text == "100" || e.Text == "100.0"
		case *sqlparse.Binary:
			quotient = quotient || e.Op == "/"
		case *sqlparse.Call:
			if e.Name == "avg" && len(e.Args) == 1 {
				_, cases := e.Args[0].(*sqlparse.Case)
				average = average || cases
			}
		}
		return true
	})
	return (quotient || average) && (hundred || named)
}
