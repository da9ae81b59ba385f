package parse

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Read implements source.Source. Over REST, Parse Server applies the filters as far as it can. The gateway evaluates
// the rest of the query.
func (s *Source) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	if s.direct != nil {
		return s.direct.Read(ctx, p)
	}
	return func(yield func(value.Row, error) bool) {
		rows, err := s.over(ctx, &plan)
		if err != nil {
			yield(nil, err)
			return
		}
		for row, err := range rows {
			if !yield(row, err) || err != nil {
				return
			}
		}
	}, nil
}

// over reads a plan over REST.
func (s *Source) over(ctx context.Context, plan *policy.Plan) (source.Rows, error) {
	if err := interpret.ContextError(ctx); err != nil {
		return nil, err
	}
	r, err := s.reading(ctx, plan)
	if err != nil {
		return nil, err
	}
	switch {
	case plan.Program != nil:
		return r.program(ctx)
	case plan.Count:
		return r.count(ctx)
	}
	return r.find(ctx)
}

// reading starts the evaluation of a plan, with the identity of its principal.
func (s *Source) reading(ctx context.Context, plan *policy.Plan) (*reading, error) {
	who, err := s.person(ctx, plan.View.Principal())
	if err != nil {
		return nil, err
	}
	return &reading{source: s, plan: plan, who: who, sizes: map[string]int{}, budget: interpret.Budget{Rows: s.options.LocalRows}}, nil
}

// A reading is the evaluation of one plan over REST.
type reading struct {
	source *Source
	plan   *policy.Plan // nil for a change
	who    *person
	budget interpret.Budget
	sizes  map[string]int // by class: the size of pages whose answers weren't too large

	checked map[string]bool // the classes that were checked because no records were found
}

// reads returns the fields of a view that a find or a count reads. For other plans it returns all fields.
func (r *reading) reads(v *policy.View) (u uses) {
	u.read, u.whole = interpret.Reads(r.plan, v)
	return u
}

// room returns an error if there is no room for the parts of a record that are read. size is their size in the
// answer, and weight their approximate size in memory, both in bytes.
func (r *reading) room(v *policy.View, size, weight int64) error {
	const heavy = 4 * writes.MostRecord
	switch {
	case r.plan != nil:
		return r.budget.Room(v.Name(), weight)
	case size > writes.MostRecord || weight > heavy:
		return writes.TooLarge(v)
	}
	return nil
}

// bypassesPermissions reports whether requests bypass Parse's permissions. In this case, requests must contain the
// conditions on access lists.
func (r *reading) bypassesPermissions() bool { return r.who.as == r.source.master() }

// class returns the known facts about a view's class.
func (r *reading) class(v *policy.View) (*class, error) {
	r.source.mu.Lock()
	defer r.source.mu.Unlock()
	known := r.source.classes[v.Class().Name]
	if known == nil {
		return nil, problem.New(problem.Internal, "the plan names a class that is not in this source")
	}
	access, _ := policy.GuardAccess(v.Class(), r.who.groups, schema.Find)
	return &class{Class: v.Class(), types: known.types, partly: access.Partly}, nil
}

// viewCondition returns the class of a view and the condition of the view's layers.
func (r *reading) viewCondition(v *policy.View) (*class, condition, error) {
	c, err := r.class(v)
	if err != nil {
		return nil, condition{}, err
	}
	access, _ := policy.GuardAccess(c.Class, r.who.groups, schema.Find)
	out := condition{exact: true}
	var parts []value.Value
	for _, l := range v.Layers() {
		if l.Through != nil {
			out.exact = false
			continue
		}
		if l.Name == "source" && !r.bypassesPermissions() {
			continue // Parse Server itself adds the condition of the operation
		}
		if !r.bypassesPermissions() {
			if err := unreadable(l.Filter, append(access.Hidden, access.Partly...)); err != nil {
				return nil, out, err
			}
		}
		part := c.condition(l.Filter, r.bypassesPermissions())
		out.exact = out.exact && part.exact
		if !part.where.IsNull() {
			parts = append(parts, part.where)
		}
	}
	out.where = joinConditions("$and", parts)
	return c, out, nil
}

// unreadable returns an error if an owner's rule filters by a field that Parse Server doesn't return in this session.
// The gateway couldn't check such a rule.
func unreadable(f query.Filter, protected []string) error {
	var err error
	policy.FilterFields(f, func(name string) {
		if slices.Contains(protected, name) {
			err = &problem.Error{Code: problem.Unsupported, Kind: "unenforceable_scope", Detail: "the owner's rules can't be applied to this class in this session",
				Err: fmt.Errorf("a rule filters by %s, which is a protected field. Read over direct, or act as a role", name)}
		}
	})
	return err
}

// countCondition returns the condition with which Parse Server can count, and whether its count is exact.
func (r *reading) countCondition() (c *class, where value.Value, exact bool, err error) {
	c, viewed, err := r.viewCondition(r.plan.View)
	if err != nil {
		return nil, where, false, err
	}
	asked := c.condition(r.plan.Where, r.bypassesPermissions())
	// Without a condition, Parse Server returns an estimate.
	where = conjunction(restObject("objectId", restObject("$exists", value.OfBool(true))), viewed.where, asked.where)
	return c, where, viewed.exact && asked.exact && len(r.plan.Joins) == 0 && r.plan.Search == nil, nil
}

// count lets Parse Server count if its count is exact.
func (r *reading) count(ctx context.Context) (source.Rows, error) {
	c, where, exact, err := r.countCondition()
	if err != nil {
		return nil, err
	}
	if !exact {
		return interpret.Rows(ctx, r.plan, r.records)
	}
	answer, err := r.source.ask(ctx, request{method: http.MethodGet, path: "/classes/" + c.Table, as: r.who.as,
		query: url.Values{"where": {string(where.AppendJSON(nil))}, "count": {"1"}, "limit": {"0"}}})
	if err != nil {
		return nil, err
	}
	n, ok := answer.Get("count")
	if !ok || n.Kind() != value.Int {
		return nil, unexpectedAnswerError(&refusal{status: http.StatusOK}, "an answer without a count")
	}
	if n.Int() == 0 {
		if err := r.source.checkClass(ctx, c); err != nil {
			return nil, err
		}
	}
	return func(yield func(value.Row, error) bool) { yield(value.Row{n}, nil) }, nil
}

// program evaluates a pipeline over the records that pass its first stages.
func (r *reading) program(ctx context.Context) (source.Rows, error) {
	p := r.plan.Program
	if p.From < 0 { // it begins without a class
		return interpret.Rows(ctx, r.plan, r.records)
	}
	v := r.plan.Views[p.From]
	narrow, err := interpret.Narrow(ctx, r.plan, 0, r.records, &r.budget)
	if err != nil {
		return nil, err
	}
	w, err := r.walk(v, query.And(p.Leading()), r.begins())
	if err != nil {
		return nil, err
	}
	w.passing = true
	for !w.ended {
		records, err := w.next(ctx)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			row := make(value.Row, len(p.Base.Columns))
			for i, c := range p.Base.Columns {
				row[i] = w.value(record, c.Field.Name)
			}
			if err := narrow.Take(row); err != nil {
				return nil, err
			}
		}
	}
	return narrow.Rows()
}

// begins returns the fields that are read of the class with which a pipeline begins.
func (r *reading) begins() uses {
	live := r.plan.Program.Live()
	return uses{whole: everything.whole, read: func(name string) bool {
		for i, c := range r.plan.Program.Base.Columns {
			if c.Field.Name == name && live[i] {
				return true
			}
		}
		return false
	}}
}

// records implements interpret.Records.
func (r *reading) records(ctx context.Context, n interpret.Need) ([]value.Row, error) {
	u := r.reads(n.View)
	if n.Key == "" {
		var where query.Filter
		if n.View == r.plan.View && r.plan.Program == nil {
			where = r.plan.Where
		}
		return r.fetch(ctx, n.View, where, u)
	}
	in := slices.DeleteFunc(slices.Clone(n.In), value.Value.IsNull)
	c, err := r.class(n.View)
	if err != nil {
		return nil, err
	}
	var chunks []query.In
	for some := range slices.Chunk(in, mostEqual) {
		chunks = append(chunks, query.In{Path: query.Path{n.Key}, Values: some})
		if len(in) > mostEqual && !c.condition(chunks[len(chunks)-1], r.bypassesPermissions()).exact {
			return r.fetch(ctx, n.View, nil, u) // the chunks would find some records more than once
		}
	}
	var out []value.Row
	for _, some := range chunks {
		rows, err := r.fetch(ctx, n.View, some, u)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// fetch returns the records of a view that may match where. It may omit records that don't match.
func (r *reading) fetch(ctx context.Context, v *policy.View, where query.Filter, u uses) ([]value.Row, error) {
	in, ok := where.(query.In)
	if !ok || in.Not || in.Path.String() != "objectId" {
		return r.all(ctx, v, where, u, 0)
	}
	// For Parse Server, a request for one id is a get, and one for several ids is a find. Find may not be granted.
	size := mostEqual
	if _, may := policy.GuardAccess(v.Class(), r.who.groups, schema.Find); !may {
		size = 1
	}
	var out []value.Row
	for some := range slices.Chunk(in.Values, size) {
		rows, err := r.all(ctx, v, query.In{Path: in.Path, Values: some}, u, len(some))
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// all returns the records of a view that may match where. It may omit records that don't match. most is the maximum
// number of records, or 0 if unknown.
func (r *reading) all(ctx context.Context, v *policy.View, where query.Filter, u uses, most int) ([]value.Row, error) {
	w, err := r.walk(v, where, u)
	if err != nil {
		return nil, err
	}
	w.most = most
	var out []value.Row
	for !w.ended {
		rows, err := w.next(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}
