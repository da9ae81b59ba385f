package tool

import (
	"context"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// getSampleObjects returns the tool that shows sample records. rows is the default limit.
func getSampleObjects(rows int) Tool {
	return Tool{
		Name:        "get_sample_objects",
		Title:       "Sample records",
		Description: "A few of the newest records of a class, without its large fields: what values look like.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name"], "properties": {
			"class_name": {"type": "string"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "default ` + strconv.Itoa(rows) + `"}}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "results", "result_count"], "properties": {
			"class_name": {"type": "string"}, "results": {"type": "array", "items": {"type": "object"}}, "result_count": {"type": "integer"},
			"_truncated": {"type": "object"}}}`),
		Annotations: reads(),
		Category:    Query,
		Timeout:     schemaTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			q := &query.Find{Class: args.text("class_name"), Limit: args.number("limit", rows), Sample: true}
			page, err := c.Read(ctx, q)
			if err != nil {
				return Result{}, err
			}
			page.More = false // a sample has no next page
			doc := value.AppendQuote([]byte(`{"class_name":`), q.Class)
			doc = page.AppendJSON(append(doc, `,"results":`...))
			doc = value.OfInt(int64(page.Count)).AppendJSON(append(doc, `,"result_count":`...))
			if cut, said := truncation(page, advice(c, "query_class with fewer keys shows more records")); said {
				doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
			}
			return Result{Structured: append(doc, '}'), Text: string(page.AppendLines(nil))}, nil
		},
	}
}
