package policy

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlbind"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// sql narrows every table in a statement to a view, and limits the result.
func (p *Policy) sql(principal identity.Principal, q *query.SQL) (Permit, error) {
	planned := &Plan{Version: p.version, Now: q.Now}
	t := &tables{relations{plan: planned, raw: q.Raw}, p, principal, q.Source}
	most, _, err := p.boundsOf(principal)
	if err != nil {
		return Permit{}, err
	}
	bound, err := sqlbind.Bind(q.Statement(), t, sqlbind.Options{Now: q.Now, Params: q.Params, Bounds: most})
	if err != nil {
		return p.elsewhere(principal, q, err)
	}
	planned.Catalogue = bound.Catalogue && len(planned.Views) == 0
	if planned.View == nil { // it names no class: it runs in the source of the first class
		for v := range t.views(func(string) bool { return true }, nil) {
			planned.View = v
			break
		}
		if planned.View == nil {
			return Permit{}, &problem.Error{Code: problem.NotFound, Kind: "unknown_class", Detail: "there is nothing that you may read"}
		}
	}
	planned.Program, planned.Notes, planned.Gathered, planned.Limit, planned.Auto = bound.Program, bound.Notes, bound.Gathered, q.Limit, true
	switch {
	case bound.Single:
		planned.Limit, planned.Auto = 1, false
	case bound.Limit >= 0 && (q.Most == 0 || bound.Limit <= int64(q.Most)):
		planned.Limit, planned.Auto = max(1, int(bound.Limit)), false
	case bound.Limit >= 0:
		planned.Limit = q.Most
	}
	if planned.Skip = q.Skip; q.Skip > 0 { // the pages before
		planned.Program.Stages = append(planned.Program.Stages, &plan.Slice{Skip: int64(q.Skip), Limit: -1, Shape: planned.Program.Out()})
	}
	planned.Program.Guard(bound.Guards)
	return planned.programPermit()
}

// elsewhere tries a statement that failed with err again. If the reason is a name that classes of several sources have,
// it tries each of these sources. If the statement is valid in only one of them, it returns this permit. Otherwise it
// returns err.
func (p *Policy) elsewhere(principal identity.Principal, q *query.SQL, err error) (Permit, error) {
	wrong := problem.Of(err)
	if wrong.Kind != ambiguousSource || q.Source != "" {
		return Permit{}, err
	}
	var fits Permit
	for _, full := range wrong.Near {
		there := *q
		there.Source, _, _ = strings.Cut(full, ".")
		permit, other := p.sql(principal, &there)
		switch {
		case other != nil:
		case fits.plan != nil:
			return Permit{}, err
		default:
			permit.plan.Notes = append(permit.plan.Notes, "read in the source "+there.Source+", the only one that the statement fits")
			fits = permit
		}
	}
	if fits.plan == nil {
		return Permit{}, err
	}
	return fits, nil
}

// programPermit returns the permit for a plan with a Program, whose columns it sets.
func (planned *Plan) programPermit() (Permit, error) {
	planned.Notes = append(planned.Notes, planned.Program.Tally()...)
	if slices.ContainsFunc(planned.Views, func(v *View) bool { return v.masks != nil }) {
		if err := plan.CheckMasks(planned.Program); err != nil {
			return Permit{}, fmt.Errorf("bind made what tells of a masked value: %w", err)
		}
	}
	planned.Columns = columnsOf(planned.Program)
	return Permit{planned}, nil
}

// tables opens the classes in a statement, all in the source of the first one.
type tables struct {
	relations
	policy    *Policy
	principal identity.Principal
	source    string
}

// Open implements typecheck.Relations.
func (t *tables) Open(name, at string) (*typecheck.Relation, error) {
	v, err := t.findView(name, at)
	if err == nil {
		v, err = v.read(schema.Find, at)
	}
	if err != nil {
		return nil, err
	}
	if t.plan.View == nil {
		t.plan.View = v
	}
	return t.open(v, at)
}

// findView returns the view for a name in the source of the statement. That is the source in the caller's arguments, or
// the source of the first class.
func (t *tables) findView(name, at string) (*View, error) {
	source := t.source
	if t.plan.View != nil {
		source = t.plan.View.Source()
	}
	v, err := t.policy.within(source, t.principal, name, at, t.raw)
	if err == nil && t.source != "" && v.Source() != t.source {
		return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/source", Near: []string{v.Source()},
			Detail: fmt.Sprintf("%s is in the source %s, not in %s", problem.Cut(name), v.Source(), problem.Cut(t.source)), Suggestion: "leave out source, or name the one of the class"}
	}
	if err == nil {
		err = v.canOpen(t.raw)
	}
	return v, err
}

// All implements sqlbind.Tables.
func (t *tables) All(keep func(name string) bool, among []string) []*typecheck.Relation {
	var out []*typecheck.Relation
	for v := range t.views(keep, among) {
		out = append(out, &typecheck.Relation{Name: v.name, Scope: viewScope{v}, Fields: v.Fields(), Key: v.Key(), Masks: v.masks, Constraints: v.constraints})
	}
	return out
}

// constraints returns the pointers of v to other views of the principal. It also returns the fields of its unique
// indexes besides the key, if they are all visible and have no mask.
func (v *View) constraints() (points []typecheck.Pointer, indexes [][]string) {
	for _, p := range v.Relations() {
		if p.List {
			continue
		}
		unique := p.Target + "_" + p.TargetKey + "_key"
		if slices.Equal(v.Behind(p.Field).Key(), []string{p.TargetKey}) {
			unique = p.Target + "_pkey"
		}
		points = append(points, typecheck.Pointer{Field: p.Field, Target: p.Target, TargetKey: p.TargetKey, Unique: unique})
	}
	for _, x := range v.class.Indexes {
		hidden := slices.ContainsFunc(x.Fields, func(f string) bool { return v.Field(f) == nil || v.Mask(f) != nil })
		if x.Unique && !hidden && !slices.Equal(x.Fields, v.Key()) {
			indexes = append(indexes, x.Fields)
		}
	}
	return points, indexes
}

// views returns the views with records in the statement's source, or in all sources if the source isn't known yet. keep
// must be true for the name of a class, with or without its source, and one of these names must be among, unless that is
// nil.
func (t *tables) views(keep func(name string) bool, among []string) iter.Seq[*View] {
	source := t.source
	if t.plan.View != nil {
		source = t.plan.View.Source()
	}
	return t.policy.viewsIn(t.policy.among(among), t.principal, func(c *class) bool {
		return !c.Recordless && (source == "" || c.Source == source) && (keep(c.Name) || keep(c.full))
	})
}
