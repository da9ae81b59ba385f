package policy

import (
	"cmp"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Directory returns the groups of a principal in a source whose classes have a schema.Guard. Its errors are errors of
// the source. The caller may see them.
type Directory func(p identity.Principal, source string) (Groups, error)

// Under returns a copy of p that asks d for groups. Without a Directory, classes with a guard are hidden.
func (p *Policy) Under(d Directory) *Policy {
	if len(p.guarded) == 0 {
		return p
	}
	under := *p
	under.directory = d
	return &under
}

// AtMost returns a copy of p for a principal to which the sources grant everything, so that only the owner's rules
// apply. It is for operators, who look at rules without a principal of a source.
func (p *Policy) AtMost() *Policy {
	return p.Under(func(identity.Principal, string) (Groups, error) { return Groups{All: true}, nil })
}

// narrowToGrants narrows v to the part that the source grants to the principal and to all its ancestors, or returns the kind
// of refusal.
func (v *View) narrowToGrants() string {
	if v.class.Guard == nil {
		return ""
	}
	if v.policy.directory == nil {
		return "unenforceable_scope"
	}
	for _, field := range v.class.Guard.Through {
		r := v.class.relation(field)
		if r == nil {
			return "unenforceable_scope"
		}
		if kind, ok := r.target.visibleTo(v.who); !ok {
			return kind
		}
		if kind := v.addPointerLayer("source", r); kind != "" {
			return kind
		}
	}
	user := ""
	for g := range v.who.Line() {
		groups, err := v.policy.directory(g, v.class.Source)
		if err != nil {
			return "unenforceable_scope"
		}
		access, ok := GuardAccess(v.class.Class, groups, cmp.Or(v.op, schema.Find))
		if !ok {
			return "clp_denied"
		}
		for _, f := range access.Filters {
			v.narrow(Layer{Name: "source", Filter: f})
		}
		if user = cmp.Or(user, groups.User); groups.User != user { // one user may see fields that are hidden from the other
			access.Hidden = append(access.Hidden, access.Partly...)
		}
		if less, changed := v.class.Without(access.Hidden); changed {
			class := *v.class
			class.visibleFields, v.class = less, &class
		}
		if len(v.class.Visible) == 0 {
			return "no_visible_field"
		}
	}
	return ""
}

// anyView is like view, for the first read operation that the source grants.
func (p *Policy) anyView(c *class, principal identity.Principal, raw bool) (*View, string) {
	v, kind := p.view(c, principal, raw)
	if kind == "" || c.Guard == nil {
		return v, kind
	}
	for _, op := range []schema.Operation{schema.Get, schema.Count} {
		if v, also := p.viewFor(c, principal, raw, op); also == "" {
			return v, ""
		}
	}
	return nil, kind
}

// to returns v for an operation, or a refusal if the source grants the principal only other operations.
func (v *View) to(op schema.Operation, at string) (*View, error) {
	if v.class.Guard == nil || v.op == op {
		return v, nil
	}
	if other, kind := v.policy.viewFor(v.policy.byFull[v.class.full], v.who, v.raw, op); kind == "" {
		return other, nil
	}
	return nil, &problem.Error{Code: problem.PermissionDenied, Kind: "clp_denied", Pointer: at,
		Detail:     fmt.Sprintf("the class-level permissions of %s don't grant %s", v.name, op),
		Suggestion: "they grant " + string(v.op) + ": find is query_class and pipelines, get is get_object, count is count_objects"}
}

// directoryFails returns the error if the groups of a principal in one of the sources can't be read. Without them, a
// hidden class looks like a class that doesn't exist.
func (p *Policy) directoryFails(principal identity.Principal) error {
	if p.directory == nil {
		return nil
	}
	for _, source := range p.guarded {
		if _, err := p.directory(principal, source); err != nil {
			return err
		}
	}
	return nil
}
