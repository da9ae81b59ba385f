// Package memory is a source that holds its records itself and reads them by the definition of the query language.
//
// It implements source.Source like an adapter of a database, and runs only a Permit. It is the oracle of sourcetest:
// plain rather than fast, and written from docs/query-language.md and the comments of package plan, never from the
// output of sqlgen. It refuses parts of a plan that it doesn't know.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Source holds records in memory. It never changes, so it is safe for concurrent use.
type Source struct {
	classes []schema.Class
	rows    map[string][]value.Row
}

// New returns a Source of these classes. rows holds the records of each class by the class's name; the values of a
// record are in the order of the class's fields. The Source keeps both arguments.
func New(classes []schema.Class, rows map[string][]value.Row) *Source {
	sorted := slices.Clone(classes)
	slices.SortFunc(sorted, func(a, b schema.Class) int { return strings.Compare(a.Name, b.Name) })
	return &Source{sorted, rows}
}

// Describe returns the classes that New was given, sorted by name, and no warnings.
func (s *Source) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	return s.classes, nil, ended(ctx)
}

// Read evaluates the permit's plan over all records of its classes.
func (s *Source) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	r := &reading{ctx: ctx, source: s, plan: &plan}
	if plan.Program != nil {
		records, err := r.leaving()
		if err != nil {
			return nil, err
		}
		return r.inTurn(records, func(row value.Row) value.Row { return row }), nil
	}
	records, err := r.matching()
	if err != nil {
		return nil, err
	}
	if plan.Count {
		return func(yield func(value.Row, error) bool) {
			yield(value.Row{value.OfInt(int64(len(records)))}, nil)
		}, nil
	}
	return r.rows(r.page(records)), nil
}

// A reading is the evaluation of one plan.
type reading struct {
	ctx     context.Context
	source  *Source
	plan    *policy.Plan
	targets [][]value.Row // by join: the records that it may lead to
	err     error         // why a Program can't be evaluated
	zones   map[string]*time.Location
}

// matching returns the records of the plan's view that satisfy its filter.
func (r *reading) matching() ([]value.Row, error) {
	records, err := r.view(r.plan.View)
	if err != nil {
		return nil, err
	}
	r.targets = make([][]value.Row, len(r.plan.Joins))
	for i, j := range r.plan.Joins {
		if r.targets[i], err = r.view(j.View); err != nil {
			return nil, err
		}
	}
	if r.plan.Where != nil {
		records, err = r.keep(records, r.plan.Where, func(row value.Row) rooted { return r.led(row) })
	}
	if err != nil || r.plan.Search == nil {
		return records, err
	}
	return slices.DeleteFunc(slices.Clone(records), func(row value.Row) bool {
		return !found(r.plan.Search, record{r.plan.View.Class(), row})
	}), nil
}

// A led is a record of the plan's class, with the records that its pointers lead to.
type led struct {
	plan *policy.Plan
	own  record
	to   []record // by join
}

func (j led) at(join int) record {
	if join < 0 {
		return j.own
	}
	return j.to[join]
}

func (j led) leaves(path query.Path) []value.Value {
	join, f := j.plan.Column(path[0])
	if f == nil {
		return nil
	}
	return leaves(j.at(join).value(f.Name), path[1:])
}

// led finds the records that the pointers of a record lead to.
func (r *reading) led(row value.Row) led {
	out := led{r.plan, record{r.plan.View.Class(), row}, make([]record, len(r.plan.Joins))}
	for i, j := range r.plan.Joins {
		c := j.View.Class()
		pointer, key := out.at(j.From).value(j.Field), index(c, j.Key)
		out.to[i] = record{class: c}
		if n := slices.IndexFunc(r.targets[i], func(t value.Row) bool { return same(pointer, t[key]) }); n >= 0 {
			out.to[i].row = r.targets[i][n]
		}
	}
	return out
}

// view returns the records of a class for which every layer of the view holds.
func (r *reading) view(v *policy.View) ([]value.Row, error) {
	c := v.Class()
	records, ok := r.source.rows[c.Name]
	if !ok && !slices.ContainsFunc(r.source.classes, func(have schema.Class) bool { return have.Name == c.Name }) {
		return nil, problem.New(problem.Internal, fmt.Sprintf("the plan names %s, which is not in this source", c.Name))
	}
	for _, l := range v.Layers() {
		var err error
		if l.Through != nil {
			records, err = r.through(records, c, l.Through)
		} else {
			records, err = r.keep(records, l.Filter, rootsOf(c))
		}
		if err != nil {
			return nil, err
		}
	}
	return records, nil
}

// through keeps the records whose pointer leads into a view.
func (r *reading) through(records []value.Row, c *schema.Class, t *policy.Through) ([]value.Row, error) {
	targets, err := r.view(t.View)
	if err != nil {
		return nil, err
	}
	from, key := index(c, t.Field), index(t.View.Class(), t.Key)
	var kept []value.Row
	for _, row := range records {
		if err := ended(r.ctx); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(targets, func(target value.Row) bool { return same(row[from], target[key]) }) {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

// rootsOf returns a function that makes a record of a class the root of paths.
func rootsOf(c *schema.Class) func(value.Row) rooted {
	return func(row value.Row) rooted { return record{c, row} }
}

func (r *reading) keep(records []value.Row, f query.Filter, root func(value.Row) rooted) ([]value.Row, error) {
	test, err := r.predicate(f)
	if err != nil {
		return nil, err
	}
	var kept []value.Row
	for _, row := range records {
		if err := ended(r.ctx); err != nil {
			return nil, err
		}
		if test(root(row)) {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

// page returns the records that remain after the plan's order, position, skip and limit.
func (r *reading) page(records []value.Row) []value.Row {
	plan := r.plan
	place := func(row value.Row) []value.Value {
		at, of := make([]value.Value, len(plan.Order)), r.led(row)
		for i, o := range plan.Order {
			at[i] = of.at(o.Join).value(o.Field.Name)
		}
		return at
	}
	inOrder := func(a, b []value.Value) int {
		for i, o := range plan.Order {
			if d := value.Order(a[i], b[i]); d != 0 && o.Desc {
				return -d
			} else if d != 0 {
				return d
			}
		}
		return 0
	}
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b value.Row) int { return inOrder(place(a), place(b)) })
	if plan.After != nil {
		records = slices.DeleteFunc(records, func(row value.Row) bool { return inOrder(place(row), plan.After) <= 0 })
	}
	records = records[min(plan.Skip, len(records)):]
	return records[:min(plan.Limit+1, len(records))]
}

// rows yields the columns and the order's values of records, each with the records that its pointers lead to.
func (r *reading) rows(records []value.Row) source.Rows {
	return r.inTurn(records, r.columns)
}

// inTurn yields the row that leaves returns for each record, until yield returns false.
func (r *reading) inTurn(records []value.Row, leaves func(value.Row) value.Row) source.Rows {
	return func(yield func(value.Row, error) bool) {
		for _, row := range records {
			if err := ended(r.ctx); err != nil {
				yield(nil, err)
				return
			}
			if !yield(leaves(row), nil) {
				return
			}
		}
	}
}

// within returns a value of a row, cut if it is longer than the plan allows.
func (r *reading) within(v value.Value) value.Value {
	n := len(v.Text()) // of bytes as they are
	if v.Kind() != value.Bytes {
		n = len(v.String())
	}
	if n > cmp.Or(r.plan.Most, policy.MostValue) {
		return value.OfCut(int64(n))
	}
	return v
}

func (r *reading) columns(row value.Row) value.Row {
	plan, of := r.plan, r.led(row)
	out := make(value.Row, 0, len(plan.Columns)+len(plan.Order))
	for _, c := range plan.Columns {
		out = append(out, part(r.within(piece(of.at(c.Join).value(c.Field.Name), c.Piece)), c.Part))
	}
	if plan.Unique {
		for _, o := range plan.Order {
			out = append(out, r.within(of.at(o.Join).value(o.Field.Name)))
		}
	}
	return out
}

// part returns the value at path in v: null if there is none, and for a list the list of the values at path in its
// elements.
func part(v value.Value, path query.Path) value.Value {
	if len(path) == 0 || v.Kind() == value.Cut {
		return v
	}
	if v.Kind() == value.Array {
		out := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			out[i] = part(e, path)
		}
		return value.OfArray(out)
	}
	inner, ok := v.Get(path[0])
	if !ok {
		return value.Value{}
	}
	return part(inner, path[1:])
}

// A record is the values of one record of a class; a nil row is the missing record of a pointer that leads nowhere.
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

// ended returns why a reading must stop, or nil.
func ended(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &problem.Error{Code: problem.Timeout, Detail: "the query took too long", Err: err}
	default:
		return &problem.Error{Code: problem.Cancelled, Detail: "the query was cancelled", Err: err}
	}
}
