package tool

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// groupRows is the default limit for the number of groups.
const groupRows = 200

// groupSchema is the part of the input schema shared by group_by and group_by_date.
const groupSchema = `"operation": {"type": "string", "enum": ["count", "sum", "avg", "min", "max"]},
	"value_field": {"type": "string", "description": "not for count"},
	"where": {"type": "object"},
	"sort": {"type": "string", "enum": ["value_desc", "value_asc", "key_desc", "key_asc"]},
	"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "default 200"},
	"dry_run": {"type": "boolean"}`

// groupOutput is the output schema of both tools.
const groupOutput = `{"type": "object", "required": ["class_name"], "properties": {
	"class_name": {"type": "string"},
	"groups": {"type": "array", "items": {"type": "object"}},
	"truncated": {"type": "boolean"},
	"pointer_class": {"type": "string"},
	"pipeline": {"type": "array"}}}`

// groupBy returns the tool that counts records, or aggregates them, by the values of a field.
func groupBy() Tool {
	return Tool{
		Name:        "group_by",
		Title:       "Group records",
		Description: `Count records (or sum, avg, min, max of value_field) for each value of a field: "how many issues per status". Largest first.`,
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name", "field"], "properties": {
			"class_name": {"type": "string"},
			"field": {"type": "string"},
			"flatten_arrays": {"type": "boolean", "description": "each element of a list counts"},
			` + groupSchema + `}}`),
		Output:      compact(groupOutput),
		Annotations: reads(),
		Category:    Aggregate,
		Timeout:     aggregateTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			g, err := newGrouping(in, groupRows)
			if err != nil {
				return Result{}, err
			}
			accumulators, err := g.accumulator()
			if err != nil {
				return Result{}, err
			}
			var unwind []query.Stage
			if g.args.flag("flatten_arrays", false) {
				unwind = append(unwind, query.Unwind{Path: g.field, At: "/field"})
			}
			sort := g.args.text("sort")
			if sort == "" {
				sort = "value_desc"
			}
			q := g.query(query.FieldRef{Path: g.field, At: "/field"}, accumulators, sort, unwind...)
			return g.run(ctx, c, q, func(page *result.Page) (Result, error) {
				groups := pageGroups(page)
				err := g.label(ctx, c, groups)
				return g.result(page, groups), err
			})
		},
	}
}

// A bucket is one key and its value. If the key is a pointer, label is the label of its record, or "".
type bucket struct {
	key, value value.Value
	label      string
}

// label adds the labels of groups by a pointer.
func (g *grouping) label(ctx context.Context, c *bailiwick.Call, groups []bucket) error {
	v, err := c.View(g.class)
	if err != nil {
		return err
	}
	for _, name := range g.field[:len(g.field)-1] {
		if v = v.Behind(name); v == nil {
			return nil
		}
	}
	to, ok := v.Pointer(g.field[len(g.field)-1])
	if !ok {
		return nil
	}
	of := bailiwick.Labelled{Class: to.Target, Key: to.TargetKey}
	for _, one := range groups {
		if !one.key.IsNull() {
			of.Values = append(of.Values, one.key)
		}
	}
	labels, err := c.Labels(ctx, of)
	for i := range groups {
		groups[i].label = labels[groups[i].key.String()]
	}
	return err
}

func pageGroups(page *result.Page) []bucket {
	out := make([]bucket, page.Count)
	for i := range out {
		row := page.Values(i)
		out[i] = bucket{key: row[0], value: row[1]}
	}
	return out
}

// result returns groups, which may be more than those on the page.
func (g *grouping) result(page *result.Page, groups []bucket) Result {
	doc := append([]byte(`{"class_name":`), value.AppendQuote(nil, g.class)...)
	doc = append(doc, `,"groups":[`...)
	labelled := slices.ContainsFunc(groups, func(b bucket) bool { return b.label != "" })
	said := []byte("key,value\n")
	if labelled {
		said = []byte("key,label,value\n")
	}
	for i, one := range groups {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = one.key.AppendJSON(append(doc, `{"key":`...))
		if one.label != "" {
			doc = value.AppendQuote(append(doc, `,"label":`...), one.label)
		}
		doc = append(one.value.AppendJSON(append(doc, `,"value":`...)), '}')
		said = append(one.key.AppendJSON(said), ',')
		if labelled {
			said = append(value.AppendQuote(said, one.label), ',')
		}
		said = append(one.value.AppendJSON(said), '\n')
	}
	doc = append(doc, ']')
	return g.closing(doc, append(said, many(len(groups), "group", "groups")...), page)
}

// closing appends the end of a result with groups or values.
func (g *grouping) closing(doc, said []byte, page *result.Page) Result {
	truncated := page.More || page.Cut
	doc = fmt.Appendf(doc, `,"truncated":%t`, truncated)
	if truncated {
		said = append(said, ", there are more: raise limit, or narrow where"...)
	}
	if class := page.Pointers["_id"]; class != "" {
		doc = value.AppendQuote(append(doc, `,"pointer_class":`...), class)
		said = append(append(said, "; ids of "...), class...)
	}
	if cut, ok := truncation(page, "narrow where"); ok {
		doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
	}
	return Result{Structured: append(doc, '}'), Text: string(said)}
}
