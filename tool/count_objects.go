package tool

import (
	"context"
	"fmt"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// countObjects returns the tool that counts records.
func countObjects() Tool {
	return Tool{
		Name:        "count_objects",
		Title:       "Count records",
		Description: "How many records of a class match where. All without it. where is as in query_class.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name"], "properties": {
			"class_name": {"type": "string"},
			"where": {"type": "object"},
			"apply_canonical_filter": {"type": "boolean"}}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "count"], "properties": {
			"class_name": {"type": "string"}, "count": {"type": "integer"}, "hints": {"type": "array", "items": {"type": "string"}}}}`),
		Annotations: reads(),
		Category:    Query,
		Timeout:     countTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			where, err := args.where()
			if err != nil {
				return Result{}, err
			}
			q := &query.Count{Class: args.text("class_name"), Where: where, Raw: args.raw()}
			n, _, err := c.Count(ctx, q)
			if err != nil {
				return Result{}, err
			}
			doc := value.AppendQuote([]byte(`{"class_name":`), q.Class)
			doc = fmt.Appendf(doc, `,"count":%d`, n)
			return Result{Structured: append(doc, '}'), Text: fmt.Sprintf("%d", n)}, nil
		},
	}
}
