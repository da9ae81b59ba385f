package tool

import (
	"context"
	"fmt"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// distinctRows is the default limit for the number of values.
const distinctRows = 1000

// distinct returns the tool that lists the values of a field.
func distinct() Tool {
	return Tool{
		Name:        "distinct",
		Title:       "Distinct values",
		Description: "The different values of a field, in order. Of a list field, its elements.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name", "field"], "properties": {
			"class_name": {"type": "string"},
			"field": {"type": "string"},
			"where": {"type": "object"},
			"sort": {"type": "string", "enum": ["asc", "desc"]},
			"limit": {"type": "integer", "minimum": 1, "maximum": 5000, "description": "default 1000"},
			"dry_run": {"type": "boolean"}}}`),
		Output: compact(`{"type": "object", "required": ["class_name"], "properties": {
			"class_name": {"type": "string"},
			"values": {"type": "array"},
			"count": {"type": "integer"},
			"truncated": {"type": "boolean"},
			"pointer_class": {"type": "string"},
			"pipeline": {"type": "array"}}}`),
		Annotations: reads(),
		Category:    Aggregate,
		Timeout:     aggregateTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			g, err := newGrouping(in, distinctRows)
			if err != nil {
				return Result{}, err
			}
			v, err := c.View(g.class)
			if err != nil {
				return Result{}, err
			}
			var unwind []query.Stage
			if f := v.Field(g.field[0]); f != nil && f.Type.IsStructured() {
				unwind = append(unwind, query.Unwind{Path: g.field, At: "/field"})
			}
			q := g.query(query.FieldRef{Path: g.field, At: "/field"}, nil, g.args.text("sort"), unwind...)
			return g.run(ctx, c, q, g.values)
		},
	}
}

// values returns the keys of a page as a result.
func (g *grouping) values(page *result.Page) (Result, error) {
	values := make([]value.Value, page.Count)
	for i := range values {
		values[i] = page.Values(i)[0]
	}
	doc := append([]byte(`{"class_name":`), value.AppendQuote(nil, g.class)...)
	doc = value.OfArray(values).AppendJSON(append(doc, `,"values":`...))
	doc = fmt.Appendf(doc, `,"count":%d`, page.Count)
	said := value.OfArray(values).AppendJSON(nil)
	said = append(append(said, '\n'), many(page.Count, "value", "values")...)
	return g.closing(doc, said, page), nil
}
