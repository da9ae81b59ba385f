package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/rules/filterfields"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// An Access is how a source can get at the records that a query begins with. It is worked out from the catalogue and
// the asker's own filter, never from statistics or from what the rules add: it tells nothing of what is hidden.
type Access struct {
	Class   string   // as the asker addresses it
	Indexed []string // fields of the leading filter with conditions that an index or the key serves
	Others  []string // the other fields of that filter
	Leading []string // all fields that lead an index or the key of which nothing is hidden or masked, in the order of the class
	Scan    bool     // every record has to be read
	Refused bool     // and the rules refuse that
}

// Access tells how the records are got at that q begins with, for who. What would refuse q for another reason
// refuses it here.
func (p *Policy) Access(who identity.Principal, q query.Query) (Access, error) {
	permit, err := p.narrow(who, q)
	if err != nil {
		return Access{}, err
	}
	return p.access(permit.plan), nil
}

// scans refuses a plan that reads every record of a class, where the rules say so. Records by id are never refused.
func (p *Policy) scans(planned *Plan) error {
	if !p.refuseScans {
		return nil
	}
	a := p.access(planned)
	if !a.Refused {
		return nil
	}
	refusal := &problem.Error{Code: problem.InvalidQuery, Kind: "scan", Pointer: "/class_name",
		Detail:     fmt.Sprintf("this would read every record of %s: it begins with no condition that an index serves", a.Class),
		Suggestion: "ask for records by their id"}
	if len(a.Leading) > 0 {
		refusal.Suggestion = "narrow it by one of " + strings.Join(a.Leading[:min(len(a.Leading), 20)], ", ")
	}
	return refusal
}

func (p *Policy) access(planned *Plan) Access {
	v, where := planned.View, []query.Filter{planned.Where}
	if planned.Program != nil {
		where = leading(planned.Program)
	}
	r := &reach{leads: map[string]bool{}, named: map[string]bool{}, serves: map[string]bool{}, view: v}
	hidden := func(field string) bool { return v.Field(field) == nil || v.Mask(field) != nil }
	lead := func(x schema.Index) {
		if len(x.Fields) > 0 && !slices.ContainsFunc(x.Fields, hidden) && !x.More {
			r.leads[x.Fields[0]] = true
		}
	}
	lead(schema.Index{Fields: v.Class().Key})
	for _, x := range v.Class().Indexes {
		lead(x)
	}
	a := Access{Class: v.name, Scan: planned.Search == nil}
	for _, f := range where {
		if r.narrows(f) {
			a.Scan = false
		}
	}
	for _, f := range v.Fields() {
		switch {
		case r.serves[f.Name]:
			a.Indexed = append(a.Indexed, f.Name)
		case r.named[f.Name]:
			a.Others = append(a.Others, f.Name)
		}
		if r.leads[f.Name] {
			a.Leading = append(a.Leading, f.Name)
		}
	}
	a.Refused = a.Scan && p.refuseScans && !v.class.rule.AllowScan
	return a
}

// leading returns the filters that a program begins with.
func leading(p *plan.Program) []query.Filter {
	var out []query.Filter
	for _, s := range p.Stages {
		f, ok := s.(*plan.Filter)
		if !ok {
			break
		}
		out = append(out, f.Where)
	}
	return out
}

// A reach is what a filter's fields tell of access paths.
type reach struct {
	view   *View
	leads  map[string]bool // fields that lead an index or the key
	named  map[string]bool // fields that the filter names
	serves map[string]bool // those that narrow by an index
}

// narrows reports whether an index finds the records for which f can hold.
func (r *reach) narrows(f query.Filter) bool {
	switch f := f.(type) {
	case query.And:
		any := false
		for _, part := range f {
			any = r.narrows(part) || any
		}
		return any
	case query.Or:
		all := true
		for _, part := range f {
			all = r.narrows(part) && all
		}
		return all
	case query.Not:
		r.narrowless(f.Part)
		return false
	case query.Never:
		return true
	case query.Compare:
		return r.field(f.Path, f.Op == query.Eq, f.Op != query.Ne)
	case query.In:
		return r.field(f.Path, !f.Not, false)
	case query.StartsWith:
		return r.field(f.Path, false, true)
	case query.InQuery:
		return r.field(f.Path, !f.Not, false)
	}
	r.narrowless(f)
	return false
}

// field notes one condition: equal tells that it asks for values, ordered that it asks for a range of them.
func (r *reach) field(path query.Path, equal, ordered bool) bool {
	if len(path) == 0 {
		return false
	}
	name := path[0]
	r.named[name] = true
	f := r.view.Field(name)
	// An index whose order isn't that of the values finds equal ones alone.
	if f == nil || f.Type.Structured() || !r.leads[name] || !equal && (!ordered || f.Unordered) {
		return false
	}
	r.serves[name] = true
	return true
}

// narrowless notes the fields of conditions that no index serves.
func (r *reach) narrowless(f query.Filter) {
	filterfields.Fields(f, func(name string) { r.named[name] = true })
}
