package tool

import (
	"context"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// querySQL returns the tool that runs a SELECT over the caller's views.
func querySQL() Tool {
	return Tool{
		Name:  "query_sql",
		Title: "Run a SELECT",
		Description: "Run a SELECT of PostgreSQL over classes as tables: joins, sub-queries, WITH, groups, windows. " +
			"information_schema lists all.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["sql"], "properties": {
			"sql": {"type": "string"},
			"params": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]}},
			"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "default 200"},
			"cursor": {"type": "string"},
			"format": {"type": "string", "enum": ["json", "csv", "markdown", "table"]},
			"source": {"type": "string"},
			"dry_run": {"type": "boolean"}}}`),
		Output: compact(`{"type": "object", "properties": {
			"results": {"type": "array", "items": {"type": "object"}},
			"output": {"type": "string"},
			"result_count": {"type": "integer"},
			"has_more": {"type": "boolean"},
			"next_call": {"type": "object"},
			"_truncated": {"type": "object"},
			"statement": {"type": "string"},
			"definitions": {"type": "array", "items": {"type": "string"}},
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
				out, err := dryStatement(c, q)
				return out.in(args), err
			}
			page, err := c.SQL(ctx, q)
			if err != nil {
				return Result{}, err
			}
			return statementResult("query_sql", q, page, args).in(args), nil
		},
	}
}

// sql parses the arguments of a statement.
func (a arguments) sql() (*query.SQL, error) {
	q, err := query.ParseSQL(a.text("sql"))
	if err != nil {
		return nil, err
	}
	q.Source, q.Cursor, q.Limit, q.Most = a.text("source"), a.text("cursor"), aggregateRows, maxPipelineRows
	if n := a.number("limit", 0); n > 0 {
		q.Limit, q.Most = n, n
	}
	if list, ok := a.Get("params"); ok {
		q.Params = map[string]value.Value{}
		for i, v := range list.List() {
			q.Params[strconv.Itoa(i+1)] = v
		}
	}
	return q, nil
}

// dryStatement describes q without running it.
func dryStatement(c *bailiwick.Call, q query.Query) (Result, error) {
	statement, err := c.Statement(q)
	if err != nil {
		return Result{}, err
	}
	doc := []value.Member{member("results", value.OfArray(nil)), member("result_count", value.OfInt(0))}
	said := "not run. The statement can be run as it is"
	if statement != "" {
		doc = append(doc, text("statement", statement))
		said += ", as\n" + statement
	}
	return Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: said}, nil
}

// statementResult returns a page of a statement's rows as JSON and as text, with the call of tool for the next page.
func statementResult(tool string, q *query.SQL, page *result.Page, args arguments) Result {
	var next value.Value
	if page.More {
		next = nextCall(tool, args, page.Cursor)
	}
	body, output := lines(page, args)
	last := "no more"
	if n, ok := q.LimitValue(); ok && q.Cursor == "" && page.Count == n {
		last = "as many as LIMIT lets through"
	}
	body = closing(body, page, next, last)
	text := string(body)
	doc := members(page, args, output, append(body[:0], '{'), next) // in the same memory
	if cut, ok := truncation(page, "next_call goes on at the first row not shown. Fewer columns fit more rows on a page"); ok {
		doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
	}
	return Result{Structured: append(doc, '}'), Text: text}
}
