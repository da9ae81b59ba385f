package tool

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// aggregateRows is the default limit of a pipeline's result.
const aggregateRows = 200

// aggregate returns the tool that runs a pipeline.
func aggregate() Tool {
	return Tool{
		Name:        "aggregate",
		Title:       "Run a pipeline",
		Description: "Run a MongoDB aggregation pipeline over a class. End it with $limit or $count, else it gives 200 rows.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name", "pipeline"], "properties": {
			"class_name": {"type": "string"},
			"pipeline": {"type": "array", "minItems": 1, "items": {"type": "object"}},
			"compact_pointers": {"type": "boolean", "description": "false writes pointers whole"},
			"apply_canonical_filter": {"type": "boolean"}}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "results", "result_count"], "properties": {
			"class_name": {"type": "string"},
			"results": {"type": "array", "items": {"type": "object"}},
			"result_count": {"type": "integer"},
			"auto_limited": {"type": "object"},
			"pointer_classes": {"type": "object"},
			"_truncated": {"type": "object"},
			"hints": {"type": "array", "items": {"type": "string"}}}}`),
		Annotations: reads(),
		Category:    Aggregate,
		Timeout:     aggregateTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			stages, err := args.pipeline()
			if err != nil {
				return Result{}, err
			}
			q := &query.Pipeline{Class: args.text("class_name"), Stages: stages, Raw: args.raw(), Limit: aggregateRows, Most: maxPipelineRows}
			page, err := c.Aggregate(ctx, q)
			if err != nil {
				return Result{}, err
			}
			whole := !args.flag("compact_pointers", true)
			if whole {
				page.WholePointers()
			}
			return aggregateResult(page, q, whole), nil
		},
	}
}

// aggregateResult returns a page of a pipeline's records as JSON and as lines of text. It says which records are beyond
// the limit or the budget and how to get them. whole means that pointers are written with their classes, so that no
// list of the classes is needed.
func aggregateResult(page *result.Page, q *query.Pipeline, whole bool) Result {
	doc := append([]byte(`{"class_name":`), value.AppendQuote(nil, q.Class)...)
	doc = page.AppendJSON(append(doc, `,"results":`...))
	doc = fmt.Appendf(doc, `,"result_count":%d`, page.Count)
	said := append(page.AppendLines(nil), '\n')
	said = append(said, many(page.Count, "record", "records")...)
	if page.More {
		hint := `add {"$limit": n} at the end, n up to 1000, or count with {"$count": "n"}`
		limited := value.OfObject([]value.Member{member("limit", value.OfInt(int64(q.Limit))), text("hint", hint)})
		doc = limited.AppendJSON(append(doc, `,"auto_limited":`...))
		said = append(append(said, ", more: "...), hint...)
	}
	if len(page.Pointers) > 0 && !whole {
		doc = pointerClasses(page).AppendJSON(append(doc, `,"pointer_classes":`...))
	}
	if cut, ok := truncation(page, "narrow the pipeline, or $project fewer fields"); ok {
		doc = cut.AppendJSON(append(doc, `,"_truncated":`...))
		said = append(said, ", cut: "...)
		if page.Full > 0 {
			said = strconv.AppendInt(said, int64(page.Full-page.Count), 10)
		} else {
			said = append(said, "the rest"...)
		}
		said = append(said, " did not fit"...)
	}
	return Result{Structured: append(doc, '}'), Text: string(said)}
}
