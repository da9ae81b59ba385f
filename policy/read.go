package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Read narrows q to the data that the principal may see. If q is refused, it returns a *problem.Error.
func (p *Policy) Read(principal identity.Principal, q query.Query) (Permit, error) {
	permit, err := p.narrow(principal, q)
	if err == nil && permit.plan.Native == nil { // the owner wrote how it reads
		err = p.scans(permit.plan)
	}
	if err != nil {
		return Permit{}, err
	}
	return permit, nil
}

// narrow is like Read, without the check for scans.
func (p *Policy) narrow(principal identity.Principal, q query.Query) (Permit, error) {
	if !principal.Has(identity.Read) {
		return Permit{}, &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(identity.Read),
			Detail: "reading needs the scope read"}
	}
	switch q := q.(type) {
	case *query.Count:
		return p.count(principal, q)
	case *query.Find:
		return p.find(principal, q)
	case *query.Pipeline:
		return p.pipeline(principal, q)
	case *query.SQL:
		return p.sql(principal, q)
	case *query.Native:
		return p.native(principal, q)
	}
	return Permit{}, problem.New(problem.Internal, fmt.Sprintf("policy can't read %T", q))
}

// readable returns the view of a class for reads. It refuses a visible class without records as Unsupported. raw means
// that the caller switches the canonical filter off. readable refuses that if the rule has CanonicalShut.
func (p *Policy) readable(principal identity.Principal, name string, raw bool, op schema.Operation) (*View, error) {
	v, err := p.View(principal, name, "/class_name", raw || op == schema.Get) // a lookup by id ignores the canonical filter
	if err != nil {
		return nil, err
	}
	if err := v.canOpen(raw); err != nil {
		return nil, err
	}
	return v.read(op, "/class_name")
}

// read returns v for reading its records by op.
func (v *View) read(op schema.Operation, at string) (*View, error) {
	if v.class.Recordless {
		return nil, &problem.Error{Code: problem.Unsupported, Kind: "recordless_class", Pointer: at,
			Detail: v.name + " is a description without records: nothing can be read from it", Suggestion: "get_schema shows its fields"}
	}
	return v.to(op, at)
}

func (p *Policy) count(principal identity.Principal, q *query.Count) (Permit, error) {
	v, err := p.readable(principal, q.Class, q.Raw, schema.Count)
	if err != nil {
		return Permit{}, err
	}
	plan := &Plan{Count: true, View: v, Version: p.version}
	plan.Where, plan.Notes, err = typecheck.Filter(q.Where, reachScope{viewScope{v}, newProjection(plan, false)}, &relations{plan: plan, raw: q.Raw})
	return Permit{plan}, err
}

// find returns the permit for q, narrowed to principal's view of the class. All names are resolved within the view, and
// the errors are the same for hidden and absent names. A lookup by id or with Raw ignores a canonical filter without
// CanonicalShut, but no other layer.
func (p *Policy) find(principal identity.Principal, q *query.Find) (Permit, error) {
	op := schema.Find
	if q.IDs != nil {
		op = schema.Get
	}
	v, err := p.readable(principal, q.Class, q.Raw, op)
	if err != nil {
		return Permit{}, err
	}
	plan := &Plan{View: v, Limit: q.Limit, Skip: q.Skip, Version: p.version}
	leaving := newProjection(plan, q.Sample || q.Lean)
	if plan.Where, plan.Notes, err = typecheck.Filter(q.Where, reachScope{viewScope{v}, leaving}, &relations{plan: plan, raw: q.Raw}); err != nil {
		return Permit{}, err
	}
	if plan.Search, err = v.search(q.Search); err != nil {
		return Permit{}, err
	}
	if q.IDs != nil {
		if err := plan.byID(q.IDs); err != nil {
			return Permit{}, err
		}
	}
	if err := leaving.order(q); err != nil {
		return Permit{}, err
	}
	if q.Part != nil {
		return Permit{plan}, leaving.piece(q.Part)
	}
	err = leaving.project(q.Keys, q.Include)
	if q.Lean && len(leaving.omitted) > 0 {
		plan.Notes = append(plan.Notes, "left out, for they are large: "+strings.Join(leaving.omitted, ", ")+"; keys can name them")
	}
	return Permit{plan}, err
}

// byID narrows the plan to the records with these ids.
func (plan *Plan) byID(ids []string) error {
	key := plan.View.Key()
	if key == nil {
		refusal := &problem.Error{Code: problem.Unsupported, Pointer: "/class_name",
			Detail:     fmt.Sprintf("records of %s have no id", plan.View.name),
			Suggestion: "use query_class with where"}
		for _, k := range plan.View.class.Key {
			if plan.View.Field(k) == nil {
				return plan.View.denyField(refusal, k)
			}
		}
		return refusal
	}
	bound, _, err := typecheck.Filter(idsFilter(key, ids), keyScope{viewScope{plan.View}}, nil)
	plan.Where = bound
	return err
}

// order makes the order total. It begins with the requested terms, or otherwise the distance of a $near. Then come the
// key or, in a class without a key, all unmasked fields. The physical order of records would depend on hidden data.
func (p *projection) order(q *query.Find) error {
	plan, v := p.plan, p.plan.View
	add := func(join int, f *schema.Field, desc bool) {
		if !slices.ContainsFunc(plan.Order, func(o Order) bool { return o.Field == f && o.Join == join && o.Near == nil }) {
			plan.Order = append(plan.Order, Order{Join: join, Field: f, Desc: desc})
		}
	}
	if near := query.Nearest(plan.Where); near != nil && len(q.Order) == 0 && !q.Sample {
		join, f := plan.Column(near.Path[0])
		plan.Order = append(plan.Order, Order{Join: join, Field: f, Near: near})
	}
	for _, s := range q.Order {
		join, n, err := p.reach(s.Path, "/order")
		if err != nil {
			return err
		}
		f, _, _, err := viewScope{p.view(join)}.Field(s.Path[n:], "/order")
		if err != nil {
			return err
		}
		if v := p.view(join); v.list(f.Name) != nil {
			return &problem.Error{Code: problem.Unsupported, Pointer: "/order", Detail: f.Name + " is a list of pointers: $unwind it first, in a pipeline"}
		}
		if len(s.Path) > n+1 || f.Type.IsStructured() || f.Type == schema.Opaque {
			return &problem.Error{Code: problem.Unsupported, Pointer: "/order",
				Detail: fmt.Sprintf("%s can't be ordered by: its type is %s", s.Path, f.Type)}
		}
		add(join, f, s.Desc)
	}
	if q.Sample {
		for _, f := range creationFields(v.Fields()) {
			if v.Mask(f.Name) == nil && !v.policy.sortNeedsScan(v, f) {
				add(-1, f, true)
			}
		}
	}
	if key := v.Key(); key != nil {
		for _, k := range key {
			add(-1, v.Field(k), q.Sample)
		}
		plan.Unique = true
		return nil
	}
	for _, f := range v.Fields() {
		if v.Mask(f.Name) == nil { // without a key, a masked field is null
			add(-1, f, false)
		}
	}
	return nil
}
