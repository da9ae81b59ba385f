package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// runQuery returns the tool that runs a declared query by its name, and lists the queries without a name. A caller
// without queries doesn't have it. It isn't listed for callers whose queries all have tools of their own.
func runQuery() Tool {
	return Tool{
		Name:        declared.RunTool,
		Title:       "Run a query of the owner",
		Description: "Run a query that the owner declared.",
		Input: compact(`{"type": "object", "additionalProperties": false, "properties": {
			"name": {"type": "string", "description": "without it: the queries with their inputs"},
			"input": {"type": "object"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 1000},
			"cursor": {"type": "string"},
			"format": {"type": "string", "enum": ["json", "csv", "markdown", "table"]},
			"dry_run": {"type": "boolean"}}}`),
		Output:      compact(queryOutput),
		Annotations: reads(),
		Category:    Query,
		Timeout:     aggregateTimeout,
		offers:      func(s *Set, p identity.Principal) bool { return len(s.gateway.Queries(p)) > 0 },
		adapt: func(s *Set, p identity.Principal, own *Tool) {
			named := unlistedQueries(s.gateway.Queries(p))
			if own.Unlisted = own.Unlisted || len(named) == 0; len(named) > 0 {
				own.Description = aboutQueries(named)
			}
		},
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			if !args.has("name") {
				return listQueries(c.Queries(ctx)), nil
			}
			q, err := c.FindQuery(ctx, args.text("name"), "/name")
			if err != nil {
				return Result{}, err
			}
			given, _ := in.Get("input")
			return answerQuery(ctx, c, q, queryCall{declared.RunTool, args, given, "/input"})
		},
	}
}

// queryOutput is the output schema of declared queries.
const queryOutput = `{"type": "object", "properties": {
	"queries": {"type": "array", "items": {"type": "object"}},
	"results": {"type": "array", "items": {"type": "object"}},
	"output": {"type": "string"},
	"result_count": {"type": "integer"},
	"has_more": {"type": "boolean"},
	"next_call": {"type": "object"},
	"_truncated": {"type": "object"},
	"statement": {"type": "string"},
	"definitions": {"type": "array", "items": {"type": "string"}},
	"hints": {"type": "array", "items": {"type": "string"}}}}`

// unlistedQueries returns the queries that have no tool of their own.
func unlistedQueries(all []*declared.Query) []*declared.Query {
	return slices.DeleteFunc(slices.Clone(all), func(q *declared.Query) bool { return q.Tool })
}

// The bounds of the description of run_query.
const mostNamedQueries, mostAboutQuery = 24, 100

// aboutQueries returns the description of run_query: the names of the caller's queries with their arguments, one
// sentence each.
func aboutQueries(all []*declared.Query) string {
	var said strings.Builder
	said.WriteString("Run a query that the owner declared, by name:")
	for i, q := range all {
		if i == mostNamedQueries {
			fmt.Fprintf(&said, "\nand %d more", len(all)-i)
			break
		}
		about, _, _ := strings.Cut(strings.TrimSpace(q.Description), "\n")
		if end := strings.Index(about, ". "); end >= 0 {
			about = about[:end+1]
		}
		said.WriteString("\n" + titleLine(q.Signature(), shorten(about, mostAboutQuery)))
	}
	return said.String()
}

// shorten returns at most a number of characters of s.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// QueryTools returns the tools of the queries that have one.
func QueryTools(queries []*declared.Query) []Tool {
	var out []Tool
	for _, q := range queries {
		if q.Tool {
			out = append(out, queryTool(q))
		}
	}
	return out
}

// queryTool returns the tool of a query. Its arguments are those of the query, and those of a page.
func queryTool(q *declared.Query) Tool {
	part := func(name, schema string) value.Member {
		v, _ := value.Read([]byte(schema), 0) // a constant of this function
		return member(name, v)
	}
	page := []value.Member{part(declared.LimitArgument, fmt.Sprintf(`{"type":"integer","minimum":1,"maximum":%d}`, q.Rows()))}
	if q.Pages() {
		page = append(page, part(declared.CursorArgument, `{"type":"string"}`))
	}
	page = append(page, part(declared.FormatArgument, `{"type":"string","enum":["json","csv","markdown","table"]}`))
	name := q.Name
	return Tool{
		Name: name, Title: cmp.Or(q.Title, name), Description: cmp.Or(q.Description, "The query "+name+" of the owner."),
		Input: q.Schema(page...), Output: compact(queryOutput), Annotations: reads(), Category: Custom, Timeout: aggregateTimeout, queries: true,
		takes: q.Schema(append(page, part(declared.DryRunArgument, `{"type":"boolean"}`))...),
		offers: func(s *Set, p identity.Principal) bool {
			return slices.ContainsFunc(s.gateway.Queries(p), func(q *declared.Query) bool { return q.Name == name })
		},
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			now, err := c.FindQuery(ctx, name, "") // as it is in force: classes may have changed since the tool was made
			if err != nil {
				return Result{}, err
			}
			given := slices.DeleteFunc(slices.Clone(in.Members()), func(m value.Member) bool { return !slices.Contains(now.Arguments(), m.Name) })
			return answerQuery(ctx, c, now, queryCall{name, arguments{in}, value.OfObject(given), ""})
		},
	}
}

// A queryCall is a call of a declared query.
type queryCall struct {
	tool string
	args arguments
	in   value.Value // the arguments of the query
	at   string      // the JSON pointer of in
}

// answerQuery answers a call of q.
func answerQuery(ctx context.Context, c *bailiwick.Call, q *declared.Query, call queryCall) (Result, error) {
	args := call.args
	asked, err := c.TakeQuery(q, call.in, declared.Page{Limit: args.number(declared.LimitArgument, 0), Cursor: args.text(declared.CursorArgument)}, call.at)
	if err != nil {
		return Result{}, err
	}
	if args.flag(declared.DryRunArgument, false) {
		out, err := dryStatement(c, asked)
		return out.in(args), q.Explain(err)
	}
	page, err := c.Declared(ctx, q, asked)
	if err != nil {
		return Result{}, err
	}
	return declaredResult(asked, page, call).in(args), nil
}

// declaredResult returns a page of a declared query, with the call for the next one.
func declaredResult(asked query.Query, page *result.Page, call queryCall) Result {
	if s, ok := asked.(*query.SQL); ok {
		return statementResult(call.tool, s, page, call.args)
	}
	var next value.Value
	if page.More && page.Cursor != "" {
		next = nextCall(call.tool, call.args, page.Cursor)
	}
	body, output := lines(page, call.args)
	if page.More && page.Cursor == "" {
		body = append(body, fmt.Sprintf("\n%s, and there are more", many(page.Count, "record", "records"))...)
	} else {
		body = closing(body, page, next, "no more")
	}
	text := string(body)
	doc := members(page, call.args, output, append(body[:0], '{'), next) // in the same memory
	if cut, ok := truncation(page, "fewer records with limit fit"); ok {
		doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
	}
	return Result{Structured: append(doc, '}'), Text: text}
}
