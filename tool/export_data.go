package tool

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The default of row_cap, and its maximum.
const exportRows, exportMost = 1000, 10_000

// exportData returns the tool that exports records as one text for people and spreadsheets.
func exportData() Tool {
	return Tool{
		Name:  ExportTool,
		Title: "Export records",
		Description: "Records as one text to hand on: csv, markdown, table or jsonl, from where, from a pipeline or from a query of the owner. " +
			`columns chooses and renames: ["number", {"assignee_id.name": "Assignee"}].`,
		Input: compact(`{"type": "object", "additionalProperties": false, "properties": {
			"class_name": {"type": "string"},
			"query": {"type": "string", "description": "a query of the owner, with its input. Instead of class_name to pipeline"},
			"input": {"type": "object"},
			"where": {"type": "object"},
			"keys": {"type": "array", "maxItems": 64, "items": {"type": "string"}},
			"include": {"type": "array", "maxItems": 20, "items": {"type": "string"}},
			"order": {"type": "string"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 10000},
			"skip": {"type": "integer", "minimum": 0},
			"pipeline": {"type": "array", "minItems": 1, "items": {"type": "object"}, "description": "instead of where to limit"},
			"columns": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"type": "string"}}]}},
			"format": {"type": "string", "enum": ["csv", "markdown", "table", "jsonl"], "description": "default csv"},
			"row_cap": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "default 1000"}}}`),
		Output: compact(`{"type": "object", "required": ["format", "headers", "row_count", "output"], "properties": {
			"class_name": {"type": "string"},
			"query": {"type": "string"},
			"format": {"type": "string"},
			"headers": {"type": "array", "items": {"type": "string"}},
			"row_count": {"type": "integer"},
			"row_cap": {"type": "integer"},
			"output": {"type": "string"},
			"truncated": {"type": "boolean"},
			"uri": {"type": "string"},
			"available_rows": {"type": "integer"},
			"hint": {"type": "string"}}}`),
		Annotations: reads(),
		Category:    Export,
		Timeout:     exportTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			x, err := newExport(ctx, c, in)
			if err != nil {
				return Result{}, err
			}
			res, err := x.run(ctx, c)
			if problem.CodeOf(err) == problem.BudgetExceeded {
				return x.large(ctx, c, in, err)
			}
			return res, err
		},
	}
}

// An export is the request in the arguments: records, the result of a pipeline, or the answer of a declared query.
type export struct {
	class    string
	find     *query.Find
	pipeline *query.Pipeline // nil for records
	declared *declared.Query // nil for the others
	asked    query.Query     // of declared
	last     []query.Stage   // the pipeline's last $limit if it exceeds row_cap
	options  result.ExportOptions
	derived  bool // the keys come from the columns
	cap      int  // row_cap
	capped   bool // row_cap limits the export, not the caller's limit
}

// newExport parses the arguments. row_cap limits the records in both forms. It refuses where together with pipeline,
// which has a stage for it. Without keys it only reads the fields in columns.
func newExport(ctx context.Context, c *bailiwick.Call, in value.Value) (*export, error) {
	args := arguments{in}
	most := args.number("row_cap", exportRows)
	x := &export{class: args.text("class_name"), cap: most}
	x.options.Format = cmp.Or(result.Format(args.text("format")), result.CSV)
	var err error
	if x.options.Columns, err = args.columns(); err != nil {
		return nil, err
	}
	if args.has("query") {
		return x.ofQuery(ctx, c, args)
	}
	if !args.has("class_name") {
		return nil, invalid("/class_name", "class_name is missing: the class, or query for a query of the owner")
	}
	if args.has("input") {
		return nil, invalid("/input", "input has the arguments of a query of the owner: name it in query")
	}
	stages, err := args.pipeline()
	if err != nil {
		return nil, err
	}
	if stages != nil {
		for _, name := range []string{"where", "keys", "include", "order", "limit", "skip"} {
			if _, given := args.Get(name); given {
				return nil, invalid("/"+name, name+" and pipeline exclude each other: write it as a stage")
			}
		}
		x.pipeline, x.capped = &query.Pipeline{Class: x.class, Stages: stages, Limit: most}, true
		if last, ok := stages[len(stages)-1].(query.Limit); ok && last.N > int64(most) {
			x.pipeline.Stages, x.last = stages[:len(stages)-1], stages[len(stages)-1:] // row_cap ends the pipeline earlier
		}
		return x, nil
	}
	limit := args.number("limit", most)
	x.find = &query.Find{Class: x.class, Limit: min(limit, most), Skip: args.number("skip", 0)}
	_, limited := args.Get("limit")
	x.capped = !limited || limit > most
	if x.find.Where, err = args.where(); err != nil {
		return nil, err
	}
	if x.find.Order, err = query.ParseOrder(args.text("order"), "/order"); err != nil {
		return nil, err
	}
	if err := args.projection(x.find); err != nil {
		return nil, err
	}
	if x.find.Keys == nil && x.find.Include == nil {
		x.derived = true
		for _, c := range x.options.Columns {
			x.find.Keys = append(x.find.Keys, c.Path)
		}
	}
	return x, nil
}

// columns parses the columns of an export: names, or objects with a name and a header.
func (a arguments) columns() ([]result.Selection, error) {
	v, _ := a.Get("columns")
	var out []result.Selection
	for i, c := range v.List() {
		s := result.Selection{At: fmt.Sprintf("/columns/%d", i)}
		name := c.Text()
		if c.Kind() == value.Object {
			name, s.Header = c.Members()[0].Name, c.Members()[0].Value.Text()
		}
		path, err := query.CheckPath(name, s.At)
		if err != nil {
			return nil, err
		}
		s.Path = path
		out = append(out, s)
	}
	return out, nil
}

// run exports into memory and returns the output as one text. If row_cap ended the export, it counts the records to
// report their number. It stops counting at the largest possible row_cap, because a full count may take longer than the
// export.
func (x *export) run(ctx context.Context, c *bailiwick.Call) (Result, error) {
	var out bytes.Buffer
	done, err := c.Export(ctx, x.query(), &out, x.options)
	if err != nil {
		return Result{}, x.correctPointer(err)
	}
	doc := []value.Member{x.subject(), text("format", string(x.options.Format)), member("headers", list(done.Headers)),
		member("row_count", value.OfInt(int64(done.Count))), member("row_cap", value.OfInt(int64(x.cap))), text("output", out.String())}
	said := strings.TrimSuffix(out.String(), "\n") + "\n" + many(done.Count, "row", "rows")
	if done.More && x.declared != nil {
		hint := fmt.Sprintf("and there are more. Raise row_cap (at most %d), or narrow the input", exportMost)
		doc = append(doc, member("truncated", value.OfBool(true)), text("hint", hint))
		said += ", " + hint
	} else if done.More && x.capped {
		available, err := x.available(ctx, c, int64(done.Count)+1)
		if err != nil {
			return Result{}, err
		}
		hint := fmt.Sprintf("the first %d of %d rows. Raise row_cap (at most %d), or narrow it", done.Count, available, exportMost)
		doc = append(doc, member("truncated", value.OfBool(true)))
		if available > exportMost {
			hint = fmt.Sprintf("the first %d of more than %d rows, the most that row_cap takes. Narrow it, or ask for the others by another where", done.Count, exportMost)
		} else {
			doc = append(doc, member("available_rows", value.OfInt(available)))
		}
		doc = append(doc, text("hint", hint))
		said += ": " + hint
	}
	return Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: said}, nil
}

func (x *export) query() query.Query {
	if x.declared != nil {
		return x.asked
	}
	if x.pipeline != nil {
		return x.pipeline
	}
	return x.find
}

// correctPointer corrects the pointer of an error if the keys come from the columns.
func (x *export) correctPointer(err error) error {
	if x.declared != nil && !strings.HasPrefix(problem.Of(err).Pointer, "/columns") {
		return x.declared.Explain(err)
	}
	if p := problem.Of(err); x.derived && strings.HasPrefix(p.Pointer, "/keys/") {
		again := *p
		again.Pointer = "/columns/" + strings.TrimPrefix(p.Pointer, "/keys/")
		return &again
	}
	return err
}

// available counts the records without row_cap, up to one more than the largest row_cap. least is a known lower bound.
func (x *export) available(ctx context.Context, c *bailiwick.Call, least int64) (int64, error) {
	if least > exportMost {
		return least, nil
	}
	q := query.Pipeline{Class: x.class}
	if x.pipeline != nil {
		q = *x.pipeline
	} else if x.find.Where != nil {
		q.Stages = []query.Stage{query.Match{Where: x.find.Where}}
	}
	q.Stages = append(slices.Concat(q.Stages, x.last), query.Limit{N: exportMost + 1}, query.CountStage{Name: "n"})
	page, err := c.Aggregate(ctx, &q)
	if err != nil || page.Count == 0 {
		return 0, err
	}
	return page.Values(0)[0].Int(), nil
}
