package policy

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A View is a class as one principal may see it: its visible fields and a predicate that every record satisfies. Only
// package policy can make a usable View.
type View struct {
	class  *class
	table  *schema.Class // the class in the principal's schema, or nil until scope has found it
	schema string        // the name of that schema, in a source with one schema per tenant
	name   string        // the name by which this principal addresses the class
	who    identity.Principal
	policy *Policy
	raw    bool                  // the canonical filters are switched off
	op     schema.Operation      // the operation for which the view is made, if its source grants operations
	layers []Layer               // every record satisfies all of them
	masks  map[string]*plan.Mask // by field, or nil

	told query.Filter // the canonical filter, in the form in which the principal could write it

	pointers []pointer // set once by followAll
}

// pointer is a relation that the principal can follow, and the view of its target.
type pointer struct {
	Relation
	target *View
}

// A Layer is one part of a view's predicate, kept separate so that it can be explained. It is a filter over the whole
// class, hidden fields included, or a pointer whose target must be in another view.
type Layer struct {
	Name     string // "source", "tenant", "principal" or "canonical"
	Filter   query.Filter
	Through  *Through
	Contains bool // of a tenant: the field is a list, and the record belongs to each of its elements
}

// Through is the condition that the value of Field is the Key of a record in View.
type Through struct {
	Field, Key string
	View       *View
}

// A Relation is a pointer field of a view, or a list of pointers, whose target the principal can see as well.
type Relation struct {
	Field     string // the pointer
	Target    string // the target class, as the principal addresses it
	TargetKey string // the field of the target whose value the pointer has
	List      bool   // it has a list of such values
}

// view returns the principal's view of c, or the kind of refusal. If raw is set, it leaves out the canonical filters of
// c and of the classes that scope it. The caller must check visibleTo before.
func (p *Policy) view(c *class, principal identity.Principal, raw bool) (*View, string) {
	return p.viewFor(c, principal, raw, schema.Find)
}

// viewFor is like view, for an operation of the class's source.
func (p *Policy) viewFor(c *class, principal identity.Principal, raw bool, op schema.Operation) (*View, string) {
	v := &View{class: c, who: principal, policy: p, raw: raw, op: op, masks: c.masksFor(principal)}
	if kind := v.scope(); kind != "" {
		return nil, kind
	}
	v.name = p.address(c, principal)
	return v, ""
}

// scope adds the layers, or returns the kind of refusal.
func (v *View) scope() string {
	if kind := v.bind(); kind != "" {
		return kind
	}
	if v.class.Recordless {
		return "" // there are no records to filter
	}
	if kind := v.narrowToGrants(); kind != "" {
		return kind
	}
	if kind := v.tenant(); kind != "" {
		return kind
	}
	for g := range v.who.Line() {
		if kind := v.filtersOf(g); kind != "" {
			return kind
		}
	}
	return v.canonicalLayers()
}

// address returns the shortest name by which the principal can address c. This is the bare name if it is unique among
// the classes that the principal sees, or otherwise the full name.
func (p *Policy) address(c *class, principal identity.Principal) string {
	for _, other := range p.byName[c.Name] {
		if other == c {
			continue
		}
		if _, ok := other.visibleTo(principal); !ok {
			continue
		}
		if (&View{class: other, who: principal, policy: p}).scope() == "" {
			return c.FullName()
		}
	}
	return c.Name
}

// View returns the principal's view of the class called name. The refusal of a class that is hidden, filtered or scoped
// away has the same bytes as for one that doesn't exist (problem.NotFound), unless the rules disclose. at is the JSON
// pointer of the name. With raw, the canonical filters are left out.
func (p *Policy) View(principal identity.Principal, name, at string, raw bool) (*View, error) {
	candidates := p.byName[name]
	if c := p.byFull[name]; c != nil {
		candidates = []*class{c}
	}
	kind := "unknown_class"
	var found []*View
	for _, c := range candidates {
		why, ok := c.visibleTo(principal)
		if !ok {
			kind = why
			continue
		}
		v, why := p.anyView(c, principal, raw)
		if why != "" {
			kind = why
			continue
		}
		found = append(found, v)
	}
	for _, v := range found {
		p.uses.names(v.class)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if err := p.directoryFails(principal); err != nil {
			return nil, err
		}
		for _, c := range candidates {
			p.uses.names(c)
		}
		return nil, p.denyClass(&problem.Error{Code: problem.NotFound, Pointer: at,
			Detail: fmt.Sprintf("there is no class %q", problem.Cut(name)), Near: p.nearest(name, principal),
			Suggestion: "get_all_schemas lists the classes"}, kind, name)
	}
	near := make([]string, len(found))
	for i, v := range found {
		near[i] = v.class.FullName()
	}
	return nil, &problem.Error{Code: problem.InvalidArgument, Kind: ambiguousSource, Pointer: at, Near: near,
		Detail: fmt.Sprintf("several sources have a class %q: write source.Class", problem.Cut(name))}
}

// ambiguousSource is the kind of error for a name that classes of several sources have. Near of the error has their
// full names.
const ambiguousSource = "ambiguous_source"

// within returns the view for a name in a query over a class of source. It prefers the class with this name in source
// to classes of other sources. Without a source it has no preference.
func (p *Policy) within(source string, principal identity.Principal, name, at string, raw bool) (*View, error) {
	own := source + "." + name
	if p.byFull[own] != nil {
		if v, err := p.View(principal, own, at, raw); err == nil {
			return v, nil
		}
	}
	v, err := p.View(principal, name, at, raw)
	if err != nil && source != "" && problem.Of(err).Kind == ambiguousSource { // none of them is in this source
		return p.View(principal, own, at, raw)
	}
	return v, err
}

// Views returns every view visible to the principal, sorted by full name.
func (p *Policy) Views(principal identity.Principal) []*View {
	return slices.Collect(p.viewsOf(principal, func(*class) bool { return true }))
}

// ViewsOf returns the views visible to the principal of the classes for which keep returns true, sorted by full name. A
// view costs a microsecond or more, so keep should leave out what the caller doesn't need.
func (p *Policy) ViewsOf(principal identity.Principal, keep func(*schema.Class) bool) iter.Seq[*View] {
	return p.viewsOf(principal, func(c *class) bool { return keep(c.Class) })
}

func (p *Policy) viewsOf(principal identity.Principal, keep func(*class) bool) iter.Seq[*View] {
	return p.viewsIn(p.classes, principal, keep)
}

// viewsIn is viewsOf for some of the classes.
func (p *Policy) viewsIn(classes []*class, principal identity.Principal, keep func(*class) bool) iter.Seq[*View] {
	return func(yield func(*View) bool) {
		for _, c := range classes {
			if !keep(c) {
				continue
			}
			if v := p.visibleView(c, principal); v != nil && !yield(v) {
				return
			}
		}
	}
}

// visibleView returns the principal's view of c, or nil.
func (p *Policy) visibleView(c *class, principal identity.Principal) *View {
	if _, ok := c.visibleTo(principal); !ok {
		return nil
	}
	if v, kind := p.anyView(c, principal, false); kind == "" {
		return v
	}
	return nil
}

// nearest returns the classes with similar names. name may have a source in front that doesn't exist.
func (p *Policy) nearest(name string, principal identity.Principal) []string {
	source, bare, _ := strings.Cut(name, ".")
	if slices.Contains([]string{"information_schema", "pg_catalog"}, strings.ToLower(source)) {
		return nil // notes beside a statement look up its tables, which are not classes here
	}
	similar, bareSimilar := problem.Similar(name), problem.Similar(bare)
	var names []string
	for v := range p.viewsOf(principal, func(c *class) bool {
		return similar(c.Name) || similar(c.full) || bare != "" && (bareSimilar(c.Name) || bareSimilar(c.full))
	}) {
		names = append(names, v.name)
	}
	near := problem.Nearest(name, names, 3)
	if _, class, ok := strings.Cut(name, "."); ok && len(near) == 0 {
		near = problem.Nearest(class, names, 3)
	}
	return near
}

// Layers returns the parts of the predicate that every record satisfies.
func (v *View) Layers() []Layer { return slices.Clone(v.layers) }

// Name returns the name by which the principal addresses the class.
func (v *View) Name() string { return v.name }

// Source returns the name of the class's source.
func (v *View) Source() string { return v.class.Source }

// Principal returns the principal of the view.
func (v *View) Principal() identity.Principal { return v.who }

// Class returns the whole class, for predicates and for the names in the source. It includes fields that are not
// visible. In a source with one schema per tenant, it is the class in the schema of the principal.
func (v *View) Class() *schema.Class {
	if v.table != nil {
		return v.table
	}
	return v.class.Class
}

// Fields returns the visible fields in the order of the class.
func (v *View) Fields() []*schema.Field { return v.class.Visible }

// Field returns the visible field called name, or nil.
func (v *View) Field(name string) *schema.Field { return v.class.Seen[name] }

// Large reports whether a field is marked as large.
func (v *View) Large(name string) bool { return v.class.Large[name] }

// Mask returns the mask of a visible field, or nil.
func (v *View) Mask(name string) *plan.Mask { return v.masks[name] }

// Rule returns the owner's rule for the class, for its documentation.
func (v *View) Rule() ClassRule { return v.class.rule }

// Key returns the fields that identify a record, or nil if the principal can't see all of them.
func (v *View) Key() []string {
	for _, k := range v.class.Key {
		if v.class.Seen[k] == nil {
			return nil
		}
	}
	return v.class.Key
}

// Relations returns the pointers, and the lists of pointers, that the principal can follow.
func (v *View) Relations() []Relation {
	v.followAll()
	out := make([]Relation, len(v.pointers))
	for i, p := range v.pointers {
		out[i] = p.Relation
	}
	return out
}

// pointer returns the pointer called field, or nil if there is none that the principal can follow.
func (v *View) pointer(field string) *pointer {
	if p := v.leading(field); p != nil && !p.List {
		return p
	}
	return nil
}

// list returns the list of pointers called field, or nil if there is none that the principal can follow.
func (v *View) list(field string) *pointer {
	if p := v.leading(field); p != nil && p.List {
		return p
	}
	return nil
}

// leading returns the pointer, or the list of pointers, called field, or nil if there is none that the principal can
// follow.
func (v *View) leading(field string) *pointer {
	if v.class.leading(field) == nil {
		return nil // most fields are not pointers, and followAll builds views
	}
	v.followAll()
	for i := range v.pointers {
		if v.pointers[i].Field == field {
			return &v.pointers[i]
		}
	}
	return nil
}

// followAll finds, once, the pointers whose target class and key the principal can see.
func (v *View) followAll() {
	if v.pointers != nil {
		return
	}
	v.pointers = []pointer{}
	for _, r := range v.class.relations {
		if v.class.Seen[r.field] == nil || r.target.Seen[r.key] == nil {
			continue
		}
		if _, ok := r.target.visibleTo(v.who); !ok {
			continue
		}
		if target, kind := v.policy.view(r.target, v.who, v.raw); kind == "" {
			v.pointers = append(v.pointers, pointer{Relation{Field: r.field, List: r.list, Target: target.name, TargetKey: r.key}, target})
		}
	}
}

// ID reports whether a visible field has ids of this class or of the class to which it points. Ids are text in requests
// and answers, regardless of their type in the source.
func (v *View) ID(field string) bool {
	return slices.Contains(v.Key(), field) || v.pointer(field) != nil
}

// SeesAll reports whether the principal sees every class, field and record of a source unmasked. Only such a principal
// may see the source's internal data, such as statistics, because these depend on all its records.
func (p *Policy) SeesAll(principal identity.Principal, source string) bool {
	for _, c := range p.classes {
		if c.Source != source {
			continue
		}
		if _, ok := c.visibleTo(principal); !ok || len(c.Visible) < len(c.Fields) || len(c.masksFor(principal)) > 0 {
			return false
		}
		if v := (&View{class: c, who: principal, policy: p}); v.scope() != "" || len(v.layers) > 0 {
			return false
		}
	}
	return true
}

// Pointer returns the relation of the pointer, or the list of pointers, called field, and whether there is one that the
// principal can follow.
func (v *View) Pointer(field string) (Relation, bool) {
	if p := v.leading(field); p != nil {
		return p.Relation, true
	}
	return Relation{}, false
}

// Behind returns the view of the records that the pointer, or the list of pointers, called field leads to. It returns
// nil if there is none that the principal can follow.
func (v *View) Behind(field string) *View {
	if p := v.leading(field); p != nil {
		return p.target
	}
	return nil
}

// CanName reports whether f names only visible fields.
func (v *View) CanName(f query.Filter) bool {
	_, _, err := typecheck.Filter(f, viewScope{v}, nil)
	return err == nil
}
