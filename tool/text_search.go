package tool

import (
	"context"
	"fmt"
	"github.com/bailiwick-dev/bailiwick/schema"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxSearchRows is the maximum and the default number of records in one text_search.
const maxSearchRows = 20

// textSearch returns the tool that finds records by words in their texts.
func textSearch() Tool {
	return Tool{
		Name:        "text_search",
		Title:       "Search texts",
		Description: `Find records by words in their text_fields (get_schema), newest first. All must match: crash "out of memory" -windows`,
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name", "query"], "properties": {
			"class_name": {"type": "string"},
			"query": {"type": "string"},
			"fields": {"type": "array", "items": {"type": "string"}},
			"where": {"type": "object"},
			"keys": {"type": "array", "maxItems": 64, "items": {"type": "string"}},
			"limit": {"type": "integer", "minimum": 1, "maximum": 20}}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "results"], "properties": {
			"class_name": {"type": "string"}, "results": {"type": "array"}, "has_more": {"type": "boolean"}}}`),
		Annotations: reads(),
		Category:    Query,
		offers:      canSearch,
		Timeout:     queryTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			words, err := literals.ParseSearch(args.text("query"), "/query")
			if err != nil {
				return Result{}, err
			}
			words.Fields = args.texts("fields")
			q := &query.Find{Class: args.text("class_name"), Search: words, Limit: args.number("limit", maxSearchRows), Sample: true}
			if q.Where, err = args.where(); err != nil {
				return Result{}, err
			}
			if q.Keys, err = args.paths("keys"); err != nil {
				return Result{}, err
			}
			page, err := c.Read(ctx, q)
			if err != nil {
				return Result{}, err
			}
			v, err := c.View(q.Class)
			if err != nil {
				return Result{}, err
			}
			searched := slices.DeleteFunc(v.SearchFields(), func(f string) bool { return len(words.Fields) > 0 && !slices.Contains(words.Fields, f) })
			doc := value.AppendQuote([]byte(`{"class_name":`), q.Class)
			doc = list(searched).AppendJSON(append(doc, `,"fields":`...))
			doc = page.AppendJSON(append(doc, `,"results":`...))
			doc = fmt.Appendf(doc, `,"result_count":%d,"has_more":%t`, page.Count, page.More)
			if cut, said := truncation(page, advice(c, "query_class by id, with fewer keys, shows more")); said {
				doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
			}
			said := fmt.Appendf(page.AppendLines(nil), "\n%s, searched %s", many(page.Count, "record", "records"), list(searched))
			if page.More {
				said = append(said, ", more: add a word"...)
			}
			return Result{Structured: append(doc, '}'), Text: string(said)}, nil
		},
	}
}

// canSearch reports whether p sees a class with a full-text index that it can use.
func canSearch(s *Set, p identity.Principal) bool {
	for v := range s.gateway.ViewsOf(p, func(c *schema.Class) bool { return len(c.Text) > 0 }) {
		if v.SearchFields() != nil {
			return true
		}
	}
	return false
}
