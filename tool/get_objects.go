package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// getObjects returns the tool that reads several records by their IDs, in one statement.
func getObjects() Tool {
	return Tool{
		Name:        "get_objects",
		Title:       "Get records",
		Description: "Up to 50 records of one class by their ids, in one call: use it to resolve pointers.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name", "ids"], "properties": {
			"class_name": {"type": "string"},
			"ids": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "string", "minLength": 1, "maxLength": 1024}, "description": "at most 50 different ones"},
			` + keysSchema + `}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "objects", "missing", "requested", "found"], "properties": {
			"class_name": {"type": "string"},
			"objects": {"type": "object", "description": "records by id"},
			"missing": {"type": "array", "items": {"type": "string"}},
			"requested": {"type": "integer"}, "found": {"type": "integer"},
			"truncated_include_fields": {"type": "object"}, "_truncated": {"type": "object"}}}`),
		Annotations: reads(),
		Category:    Query,
		Timeout:     getTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			var ids []string
			for _, id := range args.texts("ids") {
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			if len(ids) > maxIDs {
				return Result{}, invalid("/ids", fmt.Sprintf("at most %d different ids, got %d", maxIDs, len(ids)))
			}
			q := &query.Find{Class: args.text("class_name"), IDs: ids, Limit: len(ids)}
			if err := args.projection(q); err != nil {
				return Result{}, err
			}
			page, err := c.Get(ctx, q)
			if err != nil {
				return Result{}, err
			}
			return objectsResult(page, q), nil
		},
	}
}

// objectsResult returns records by ID, in the requested order, and the IDs without a record.
func objectsResult(page *result.Page, q *query.Find) Result {
	at := map[string]int{}
	for i := range page.Count {
		at[page.ID(i)] = i
	}
	doc := append([]byte(`{"class_name":`), value.AppendQuote(nil, q.Class)...)
	doc = append(doc, `,"objects":{`...)
	var missing []string
	found := 0
	for _, id := range q.IDs {
		i, ok := at[canonicalID(id, at)]
		if !ok {
			missing = append(missing, id)
			continue
		}
		if found++; found > 1 {
			doc = append(doc, ',')
		}
		doc = append(append(value.AppendQuote(doc, id), ':'), page.Record(i)...)
	}
	doc = list(missing).AppendJSON(append(doc, `},"missing":`...))
	doc = fmt.Appendf(doc, `,"requested":%d,"found":%d`, len(q.IDs), found)
	if len(page.Truncated) > 0 {
		doc = truncatedIncludes(page).AppendJSON(append(doc, `,"truncated_include_fields":`...))
	}
	lines := fmt.Appendf(append(page.AppendLines(nil), '\n'), "%d of %d found", found, len(q.IDs))
	if cut, is := truncation(page, ""); is {
		doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
		lines = withoutFields(append(lines, ", "...), page)
	}
	if missing != nil {
		lines = list(missing).AppendJSON(append(lines, ", missing "...))
	}
	return Result{Structured: append(doc, '}'), Text: string(lines)}
}

// canonicalID returns the ID in the form of the record, if the caller wrote it differently, such as a UUID in capitals
// or a list with spaces.
func canonicalID(id string, at map[string]int) string {
	if _, ok := at[id]; ok {
		return id
	}
	if lower := strings.ToLower(id); len(id) == 36 {
		return lower
	}
	if v, err := value.Read([]byte(id), 2); err == nil && v.Kind() == value.Array {
		parts := make([]string, len(v.List()))
		for i, p := range v.List() {
			parts[i] = p.String()
		}
		return list(parts).String()
	}
	return id
}
