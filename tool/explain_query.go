package tool

import (
	"context"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// explainQuery returns the tool that explains how a query finds its records, without running it.
func explainQuery() Tool {
	return Tool{
		Name:        "explain_query",
		Title:       "Explain a query",
		Description: "Whether indexes serve a where or a pipeline, and how it was understood. Runs nothing. Use it when a query is slow, or refused as a scan.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name"], "properties": {
			"class_name": {"type": "string"},
			"where": {"type": "object"},
			"pipeline": {"type": "array", "minItems": 1, "items": {"type": "object"}}}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "access"], "properties": {
			"class_name": {"type": "string"},
			"access": {"type": "object"},
			"where": {"type": "object"},
			"pipeline": {"type": "array"},
			"statement": {"type": "string"},
			"plan": {"type": "string"}}}`),
		Annotations: reads(),
		Category:    Query,
		Timeout:     explainTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			q, understood, err := parseExplainQuery(args)
			if err != nil {
				return Result{}, err
			}
			access, err := c.Access(q)
			if err != nil {
				return Result{}, err
			}
			doc := []value.Member{text("class_name", access.Class), member("access", accessOf(access)), understood}
			said := accessText(access) + "\n" + understood.Name + ": " + understood.Value.String()
			if !access.Refused {
				more, err := beneath(ctx, c, q)
				if err != nil {
					return Result{}, err
				}
				for _, m := range more {
					doc = append(doc, m)
					said += "\n" + m.Value.Text()
				}
			}
			return Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: said}, nil
		},
	}
}

// beneath returns the source's statement and the database's plan for it, if the caller may see them.
func beneath(ctx context.Context, c *bailiwick.Call, q query.Query) ([]value.Member, error) {
	statement, err := c.Statement(q)
	if err != nil {
		return nil, err
	}
	plan, err := c.Explain(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []value.Member
	if statement != "" {
		out = append(out, text("statement", statement))
	}
	if plan != "" {
		out = append(out, text("plan", plan))
	}
	return out, nil
}

// parseExplainQuery parses the query to explain, and prints it as parsed.
func parseExplainQuery(args arguments) (query.Query, value.Member, error) {
	class := args.text("class_name")
	stages, err := args.pipeline()
	if err != nil {
		return nil, value.Member{}, err
	}
	where, err := args.where()
	if err != nil {
		return nil, value.Member{}, err
	}
	if stages == nil {
		return &query.Find{Class: class, Where: where, Limit: 1}, member("where", query.Print(where)), nil
	}
	if where != nil {
		return nil, value.Member{}, invalid("/where", "where and pipeline exclude each other: begin the pipeline with a $match")
	}
	return &query.Pipeline{Class: class, Stages: stages, Limit: aggregateRows, Most: maxPipelineRows}, member("pipeline", query.PrintPipeline(stages)), nil
}

func accessOf(a policy.Access) value.Value {
	return value.OfObject([]value.Member{member("indexed", list(a.Indexed)), member("not_indexed", list(a.Others)),
		member("indexed_fields", list(a.Leading)), member("scan", value.OfBool(a.Scan)), member("refused", value.OfBool(a.Refused))})
}

// accessText describes a in one line.
func accessText(a policy.Access) string {
	said := "an index serves " + strings.Join(a.Indexed, ", ")
	if a.Indexed == nil {
		said = "an index serves the order, or what the view leaves of " + a.Class
	}
	if a.Scan {
		said = "every record of " + a.Class + " is read"
		if a.Refused {
			said += ", which is refused here"
		}
		if len(a.Leading) > 0 {
			said += "; indexes lead with " + strings.Join(a.Leading, ", ")
		}
	}
	if len(a.Others) > 0 {
		said += "; none serves " + strings.Join(a.Others, ", ")
	}
	return said
}
