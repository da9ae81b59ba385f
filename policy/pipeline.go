package policy

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// MaxRelations is the maximum number of views that one query reads. It fits SQLite's limit of 64 joined tables.
const MaxRelations = 24

// relations opens the other classes in a query, each as a view of the same principal, and adds them to the plan.
type relations struct {
	plan *Plan
	raw  bool
}

// Open implements typecheck.Relations.
func (r *relations) Open(name, at string) (*typecheck.Relation, error) {
	asked := r.plan.View
	v, err := asked.policy.within(asked.Source(), asked.who, name, at, r.raw)
	if err == nil {
		err = v.canOpen(r.raw)
	}
	if err == nil {
		v, err = v.to(schema.Find, at)
	}
	if err != nil {
		return nil, err
	}
	return r.open(v, at)
}

// open adds a view of the source that the query reads.
func (r *relations) open(v *View, at string) (*typecheck.Relation, error) {
	asked := r.plan.View
	if v.Source() != asked.Source() {
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: at,
			Detail: v.name + " is in another source than " + asked.name + ". Query each source by itself"}
	}
	return r.add(v, at)
}

// add adds a view to the plan, once for each class.
func (r *relations) add(v *View, at string) (*typecheck.Relation, error) {
	n := slices.IndexFunc(r.plan.Views, func(have *View) bool { return have.class.full == v.class.full })
	if n < 0 {
		if n = len(r.plan.Views); n == MaxRelations {
			return nil, &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: "the query names too many classes"}
		}
		r.plan.Views = append(r.plan.Views, v)
	}
	return &typecheck.Relation{Number: n, Name: v.name, Scope: viewScope{v}, Fields: v.Fields(), Key: v.Key(), Masks: v.masks}, nil
}

// pipeline narrows every class in a pipeline to a view, and limits the result.
func (p *Policy) pipeline(principal identity.Principal, q *query.Pipeline) (Permit, error) {
	v, err := p.readable(principal, q.Class, q.Raw, schema.Find)
	if err != nil {
		return Permit{}, err
	}
	most, _, err := p.boundsOf(principal)
	if err != nil {
		return Permit{}, err
	}
	planned := &Plan{View: v, Version: p.version}
	views := &relations{plan: planned, raw: q.Raw}
	from, err := views.add(v, "/class_name")
	if err != nil {
		return Permit{}, err
	}
	if planned.Program, planned.Notes, err = typecheck.Pipeline(q, from, views, most); err != nil {
		return Permit{}, err
	}
	if planned.Limit, planned.Auto, err = pipelineLimit(q); err != nil {
		return Permit{}, err
	}
	return planned.programPermit()
}

// columnsOf returns the columns that a program returns.
func columnsOf(p *plan.Program) []Column {
	var out []Column
	for _, c := range p.Out().Columns {
		if c.Path != nil {
			f := c.Field
			if f == nil { // a computed column
				f = &schema.Field{Name: c.Key(), Type: c.Type}
			}
			out = append(out, Column{Path: c.Path, Join: -1, Field: f, ID: c.ID, Mask: c.Mask, Leads: -1, Tally: c.Tally})
		}
	}
	return out
}

// pipelineLimit returns the maximum number of records. auto reports whether that is the default limit, not the pipeline's own.
func pipelineLimit(q *query.Pipeline) (limit int, auto bool, err error) {
	if len(q.Stages) == 0 {
		return q.Limit, true, nil
	}
	switch last := q.Stages[len(q.Stages)-1].(type) {
	case query.CountStage, query.Facet:
		return 1, false, nil
	case query.Limit:
		if q.Most > 0 && last.N > int64(q.Most) {
			return 0, false, &problem.Error{Code: problem.InvalidQuery, Pointer: last.At, Detail: fmt.Sprintf("a closing $limit is at most %d here", q.Most),
				Suggestion: "export_data takes more"}
		}
		return int(last.N), false, nil
	}
	return q.Limit, true, nil
}
