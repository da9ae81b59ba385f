package tool

import (
	"context"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxPipelineRows is the maximum number of records in a pipeline's result.
const maxPipelineRows = 1000

// pipeline parses the argument pipeline, or nil if there is none.
func (a arguments) pipeline() ([]query.Stage, error) {
	v, ok := a.Get("pipeline")
	if !ok {
		return nil, nil
	}
	return query.ParsePipeline(v, "/pipeline")
}

// flag returns a boolean argument, or the default in otherwise if it is missing.
func (a arguments) flag(name string, otherwise bool) bool {
	v, ok := a.Get(name)
	if !ok {
		return otherwise
	}
	return v.Bool()
}

// path parses a dotted path.
func (a arguments) path(name string) (query.Path, error) {
	return query.CheckPath(a.text(name), "/"+name)
}

// pointerClasses returns the target classes of the pointers in a page.
func pointerClasses(page *result.Page) value.Value {
	var out []value.Member
	for _, c := range page.Columns {
		if class, ok := page.Pointers[c]; ok {
			out = append(out, text(c, class))
		}
	}
	return value.OfObject(out)
}

// dryRun describes q without running it.
func dryRun(c *bailiwick.Call, q *query.Pipeline) (Result, error) {
	statement, err := c.Statement(q)
	if err != nil {
		return Result{}, err
	}
	stages := append(q.Stages[:len(q.Stages):len(q.Stages)], query.Limit{N: int64(q.Limit)})
	doc := []value.Member{text("class_name", q.Class), member("dry_run", value.OfBool(true)), member("pipeline", query.PrintPipeline(stages))}
	said := "not run. aggregate takes this pipeline: " + doc[2].Value.String()
	if statement != "" {
		doc = append(doc, text("statement", statement))
		said += "\n" + statement
	}
	return Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: said}, nil
}

// A grouping is the common part of group_by, group_by_date and distinct: a pipeline with an automatic limit on the
// groups.
type grouping struct {
	args  arguments
	class string
	field query.Path
	limit int
	where query.Filter
}

// newGrouping parses the shared arguments. limit is the default limit.
func newGrouping(in value.Value, limit int) (*grouping, error) {
	g := &grouping{args: arguments{in}}
	g.class, g.limit = g.args.text("class_name"), g.args.number("limit", limit)
	var err error
	if g.field, err = g.args.path("field"); err != nil {
		return nil, err
	}
	g.where, err = g.args.where()
	return g, err
}

// query returns a pipeline that groups by key after the stages in between. It sorts first by the column called sort,
// then by the key.
func (g *grouping) query(key query.Expr, accumulators []query.Accumulator, sort string, between ...query.Stage) *query.Pipeline {
	q := &query.Pipeline{Class: g.class, Limit: g.limit}
	if g.where != nil {
		q.Stages = append(q.Stages, query.Match{Where: g.where, At: "/where"})
	}
	q.Stages = append(append(q.Stages, between...), query.Group{Key: key, Accumulators: accumulators, At: "/field"})
	byKey := query.Sort{Path: query.Path{"_id"}}
	order := []query.Sort{byKey}
	switch sort {
	case "key_desc", "desc":
		order[0].Desc = true
	case "value_asc", "value_desc":
		order = []query.Sort{{Path: query.Path{"value"}, Desc: sort == "value_desc"}, byKey}
	}
	q.Stages = append(q.Stages, query.SortStage{Order: order, At: "/sort"})
	return q
}

// run runs q and calls answer for the result. For a dry run it only describes q.
func (g *grouping) run(ctx context.Context, c *bailiwick.Call, q *query.Pipeline, answer func(*result.Page) (Result, error)) (Result, error) {
	if g.args.flag("dry_run", false) {
		return dryRun(c, q)
	}
	page, err := c.Aggregate(ctx, q)
	if err != nil {
		return Result{}, err
	}
	return answer(page)
}

// accumulator parses operation and value_field.
func (g *grouping) accumulator() ([]query.Accumulator, error) {
	operation := g.args.text("operation")
	_, given := g.args.Get("value_field")
	if operation == "" || operation == "count" {
		if given {
			return nil, invalid("/value_field", "count counts records. Leave value_field out, or name another operation")
		}
		return []query.Accumulator{{Name: "value", Op: "$count", At: "/operation"}}, nil
	}
	if !given {
		return nil, invalid("/value_field", operation+" needs value_field: the field whose values it takes")
	}
	path, err := g.args.path("value_field")
	if err != nil {
		return nil, err
	}
	return []query.Accumulator{{Name: "value", Op: "$" + operation, X: query.FieldRef{Path: path, At: "/value_field"}, At: "/value_field"}}, nil
}
