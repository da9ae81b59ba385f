package tool

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result/shape"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// querySQL returns the tool that runs a SELECT over the caller's views.
func querySQL() Tool {
	return Tool{
		Name:  "query_sql",
		Title: "Run a SELECT",
		Description: "Run one SELECT in PostgreSQL's SQL over the classes as tables: joins, sub-queries, WITH, groups, windows. " +
			"information_schema.columns lists what there is. Without LIMIT: 200 rows.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["sql"], "properties": {
			"sql": {"type": "string"},
			"params": {"type": "array", "description": "values of $1, $2, …"},
			"source": {"type": "string"},
			"dry_run": {"type": "boolean", "description": "compile, don't run"}}}`),
		Output: compact(`{"type": "object", "properties": {
			"results": {"type": "array", "items": {"type": "object"}},
			"result_count": {"type": "integer"},
			"auto_limited": {"type": "object"},
			"_truncated": {"type": "object"},
			"statement": {"type": "string"},
			"hints": {"type": "array", "items": {"type": "string"}}}}`),
		Annotations: reads(),
		Category:    Query,
		Timeout:     aggregateTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			q, err := args.sql()
			if err != nil {
				return Result{}, err
			}
			if args.flag("dry_run", false) {
				return dryStatement(c, q)
			}
			page, err := c.SQL(ctx, q)
			if err != nil {
				return Result{}, err
			}
			return sqlResult(page, q), nil
		},
	}
}

// sql parses the arguments of a statement.
func (a arguments) sql() (*query.SQL, error) {
	q, err := query.ParseSQL(a.text("sql"))
	if err != nil {
		return nil, err
	}
	q.Source, q.Limit, q.Most = a.text("source"), aggregateRows, maxPipelineRows
	if list, ok := a.Get("params"); ok {
		q.Params = map[string]value.Value{}
		for i, v := range list.List() {
			q.Params[strconv.Itoa(i+1)] = v
		}
	}
	return q, nil
}

// dryStatement describes q without running it.
func dryStatement(c *bailiwick.Call, q *query.SQL) (Result, error) {
	statement, err := c.Statement(q)
	if err != nil {
		return Result{}, err
	}
	doc := []value.Member{member("results", value.OfArray(nil)), member("result_count", value.OfInt(0))}
	said := "not run; the statement can be run as it is"
	if statement != "" {
		doc = append(doc, text("statement", statement))
		said += ", as\n" + statement
	}
	return Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: said}, nil
}

func sqlResult(page *shape.Page, q *query.SQL) Result {
	doc := page.AppendJSON([]byte(`{"results":`))
	doc = fmt.Appendf(doc, `,"result_count":%d`, page.Count)
	said := append(page.AppendLines(nil), '\n')
	said = append(said, many(page.Count, "row", "rows")...)
	if page.More {
		hint := fmt.Sprintf("end with LIMIT n, up to %d, and OFFSET for the rows after; or count them", maxPipelineRows)
		limited := value.OfObject([]value.Member{member("limit", value.OfInt(int64(q.Limit))), text("hint", hint)})
		doc = limited.AppendJSON(append(doc, `,"auto_limited":`...))
		said = append(append(said, ", more: "...), hint...)
	}
	if cut, ok := truncation(page, "select fewer columns, or add a LIMIT"); ok {
		doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
		said = append(said, ", cut: the rest did not fit"...)
	}
	return Result{Structured: append(doc, '}'), Text: string(said)}
}
