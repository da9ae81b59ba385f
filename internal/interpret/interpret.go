// Package interpret evaluates a policy.Plan over records in memory, by the definition of the query language.
//
//	Plan, Records of its views ─Rows→ rows
//	Plan, records of a source's command ─Narrow or Continue→ rows
//
// The tests use it as their oracle, through source/memory. It also runs the part of a query that a source's backend
// can't run, within a Budget of records and bytes. It implements docs/query-language.md and the comments of package
// plan. It never follows the output of a compiler. It refuses unknown parts of a plan.
//
// Holds and Matching evaluate a filter over records of a class. Visible returns the records of a view.
//
// Values are converted between types exactly, as package plan defines it. The result is null if a value has no
// equivalent. A text that an expression makes has at most 4 MiB. A longer text becomes null.
package interpret

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Need describes the records of a view that an evaluation requires. It requires all records if Key is "". Otherwise
// it requires the records whose field Key equals one of In.
type Need struct {
	View *policy.View
	Key  string
	In   []value.Value
}

// Records returns at least the required records of a view, in any order. It returns only records that the view shows. A
// row contains the values of the fields of the view's class, in order. Values of fields that the view hides may be
// null.
type Records func(context.Context, Need) ([]value.Row, error)

// A Prefix is the part of a Plan's Program that the source has already run. Stages is the number of stages. Rows are
// the resulting records, with all columns of their shape.
type Prefix struct {
	Stages int
	Rows   []value.Row
}

// Rows evaluates a plan over the records of its views. It returns rows in the form of source.Source.
func Rows(ctx context.Context, of *policy.Plan, from Records) (iter.Seq2[value.Row, error], error) {
	r := &reading{ctx: ctx, records: from, plan: of}
	if of.Program != nil {
		return r.rest(of.Program, given{})
	}
	records, err := r.matching()
	if err != nil {
		return nil, err
	}
	if of.Count {
		return func(yield func(value.Row, error) bool) {
			yield(value.Row{value.OfInt(int64(len(records)))}, nil)
		}, nil
	}
	return r.rows(r.page(records)), nil
}

// Continue evaluates the stages of a plan's Program after a Prefix.
func Continue(ctx context.Context, of *policy.Plan, from Records, done Prefix) (iter.Seq2[value.Row, error], error) {
	r := &reading{ctx: ctx, records: from, plan: of}
	p := *of.Program
	if done.Stages > 0 {
		p.Base = *p.Stages[done.Stages-1].Out()
	}
	p.From, p.Stages = plan.Input, p.Stages[done.Stages:]
	return r.rest(&p, given{input: done.Rows})
}

// rest yields the records that result from a Program.
func (r *reading) rest(p *plan.Program, g given) (iter.Seq2[value.Row, error], error) {
	records, err := r.leaving(p, g)
	if err != nil {
		return nil, err
	}
	return r.inTurn(records, func(row value.Row) value.Row { return row }), nil
}

// Visible returns the records of a view. The function all returns all records of a class, for the view's class and for
// classes in its predicate.
func Visible(ctx context.Context, v *policy.View, all func(*schema.Class) ([]value.Row, error)) ([]value.Row, error) {
	r := &reading{ctx: ctx, plan: &policy.Plan{}}
	return r.visible(v, all)
}

// Holds reports whether a filter over the fields of a class holds for a record.
func Holds(ctx context.Context, f query.Filter, c *schema.Class, row value.Row) (bool, error) {
	kept, err := (&reading{ctx: ctx, plan: &policy.Plan{}}).keep([]value.Row{row}, f, rootsOf(c))
	return len(kept) == 1, err
}

// Matching returns the records of a class for which a filter over its fields holds, in order.
func Matching(ctx context.Context, f query.Filter, c *schema.Class, rows []value.Row) ([]value.Row, error) {
	return (&reading{ctx: ctx, plan: &policy.Plan{}}).keep(rows, f, rootsOf(c))
}

// A reading is the evaluation of one plan.
type reading struct {
	ctx     context.Context
	records Records
	plan    *policy.Plan
	targets []targets // by join: the records to which it may lead
	fetched map[fetched][]value.Row
	err     error // the reason why a Program can't be evaluated
	zones   map[string]*time.Location
	written []byte   // the result so far of a Reduce, to measure its size
	joined  textJoin // memory for the next Reduce that joins texts
}

// A fetched identifies a Need whose records have been read. The field in is the first of its values.
type fetched struct {
	view *policy.View
	key  string
	in   *value.Value
}

// view returns the records of a view. It reads them once for each Need, because a list that is made for each record
// requires the same records each time.
func (r *reading) view(n Need) ([]value.Row, error) {
	name := fetched{view: n.View, key: n.Key}
	if n.Key != "" {
		if len(n.In) == 0 {
			return nil, nil
		}
		name.in = &n.In[0]
	}
	if rows, ok := r.fetched[name]; ok {
		return rows, nil
	}
	rows, err := r.records(r.ctx, n)
	if err == nil {
		err = ContextError(r.ctx)
	}
	if r.fetched == nil {
		r.fetched = map[fetched][]value.Row{}
	}
	r.fetched[name] = rows
	return rows, err
}

// visible returns the records of a class that satisfy all layers of a view.
func (r *reading) visible(v *policy.View, all func(*schema.Class) ([]value.Row, error)) ([]value.Row, error) {
	c := v.Class()
	records, err := all(c)
	if err != nil {
		return nil, err
	}
	for _, l := range v.Layers() {
		if l.Through == nil {
			records, err = r.keep(records, l.Filter, rootsOf(c))
		} else {
			var targets []value.Row
			if targets, err = r.visible(l.Through.View, all); err == nil {
				records, err = r.through(records, c, l.Through, targets)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return records, nil
}

// through keeps the records whose pointer leads to one of the targets.
func (r *reading) through(records []value.Row, c *schema.Class, t *policy.Through, targets []value.Row) ([]value.Row, error) {
	from, key := index(c, t.Field), index(t.View.Class(), t.Key)
	return r.only(records, func(row value.Row) bool {
		return slices.ContainsFunc(targets, func(target value.Row) bool { return same(row[from], target[key]) })
	})
}

// rootsOf returns a function that makes the root of paths from a record of a class.
func rootsOf(c *schema.Class) func(value.Row) rooted {
	return func(row value.Row) rooted { return record{c, row} }
}

func (r *reading) keep(records []value.Row, f query.Filter, root func(value.Row) rooted) ([]value.Row, error) {
	test, err := r.predicate(f)
	if err != nil {
		return nil, err
	}
	return r.only(records, func(row value.Row) bool { return test(root(row)) })
}

// only returns the records for which the function holds returns true.
func (r *reading) only(records []value.Row, holds func(value.Row) bool) (kept []value.Row, err error) {
	for _, row := range records {
		if err := ContextError(r.ctx); err != nil {
			return nil, err
		}
		if holds(row) {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

// A record is the values of one record of a class. Its row is nil if a pointer leads to no record.
type record struct {
	class *schema.Class
	row   value.Row
}

func (r record) value(field string) value.Value {
	if r.row == nil {
		return value.Value{}
	}
	return r.row[index(r.class, field)]
}

func index(c *schema.Class, field string) int {
	return slices.IndexFunc(c.Fields, func(f schema.Field) bool { return f.Name == field })
}

func same(a, b value.Value) bool {
	c, alike := value.Compare(a, b)
	return alike && c == 0
}

// ContextError returns an error if the context has ended, otherwise nil.
func ContextError(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &problem.Error{Code: problem.Timeout, Detail: "the query took too long", Err: err}
	default:
		return &problem.Error{Code: problem.Cancelled, Detail: "the query was cancelled", Err: err}
	}
}
