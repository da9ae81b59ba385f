package tool

import (
	"context"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// getObject reads one record by its id.
func getObject() Tool {
	return Tool{
		Name:        "get_object",
		Title:       "Get a record",
		Description: "One record by its id. A key of several fields is written as a JSON list: [\"a\",\"1\"].",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name", "object_id"], "properties": {
			"class_name": {"type": "string"},
			"object_id": {"type": "string", "minLength": 1, "maxLength": 1024},
			` + keysSchema + `}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "object"], "properties": {
			"class_name": {"type": "string"}, "object": {"type": "object"}, "truncated_include_fields": {"type": "object"}}}`),
		Annotations: reads(),
		Category:    Query,
		Timeout:     getTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			id := args.text("object_id")
			q := &query.Find{Class: args.text("class_name"), IDs: []string{id}, Limit: 1}
			if err := args.projection(q); err != nil {
				return Result{}, err
			}
			page, err := c.Get(ctx, q)
			if err != nil {
				return Result{}, err
			}
			if page.Count == 0 {
				return Result{}, notFound(q.Class, id)
			}
			record := page.Record(0)
			doc := make([]byte, 0, len(record)+len(q.Class)+64)
			doc = value.AppendQuoted(append(doc, `{"class_name":`...), q.Class)
			doc = append(append(doc, `,"object":`...), record...)
			if len(page.Truncated) > 0 {
				doc = truncatedIncludes(page).AppendJSON(append(doc, `,"truncated_include_fields":`...))
			}
			return Result{Structured: append(doc, '}'), Text: string(page.AppendFields(nil, 0))}, nil
		},
	}
}
