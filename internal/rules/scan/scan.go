// Package scan works out whether an index serves what a query begins with.
//
// It stands inside of policy, which tells it the class as one principal sees it. It looks at the catalogue and the asker's
// own filter, never at statistics or at what the rules add: it tells nothing of what is hidden.
package scan

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/rules/filterfields"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// An Access is how a source can get at the records that a query begins with.
type Access struct {
	Class   string   // as the asker addresses it
	Indexed []string // fields of the leading filter with conditions that an index or the key serves
	Others  []string // the other fields of that filter
	Leading []string // all fields that lead an index or the key of which nothing is hidden or masked, in the order of the class
	Scan    bool     // every record has to be read
	Refused bool     // and the rules refuse that
}

// A Class is a class as one principal sees it.
type Class struct {
	Name   string
	Class  *schema.Class
	Fields []*schema.Field            // the visible ones
	Field  func(string) *schema.Field // a visible field by its name; nil for none
	Open   func(*schema.Field) bool   // whether a condition may name it
	Found  bool                       // a text index finds the records that are asked for
	Where  []query.Filter             // what all of them satisfy
}

// Of tells how a source can get at the records of a class that are asked for.
func Of(c Class) Access {
	r := &reach{leads: map[string]bool{}, named: map[string]bool{}, serves: map[string]bool{}, field: c.Field}
	hidden := func(name string) bool {
		f := c.Field(name)
		return f == nil || !c.Open(f)
	}
	lead := func(x schema.Index) {
		if len(x.Fields) > 0 && !slices.ContainsFunc(x.Fields, hidden) && !x.More {
			r.leads[x.Fields[0]] = true
		}
	}
	lead(schema.Index{Fields: c.Class.Key})
	for _, x := range c.Class.Indexes {
		lead(x)
	}
	a := Access{Class: c.Name, Scan: !c.Found}
	for _, f := range c.Where {
		if r.narrows(f) {
			a.Scan = false
		}
	}
	for _, f := range c.Fields {
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
	return a
}

// A reach is what a filter's fields tell of access paths.
type reach struct {
	field  func(string) *schema.Field
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
		return r.at(f.Path, f.Op == query.Eq, f.Op != query.Ne)
	case query.In:
		return r.at(f.Path, !f.Not, false)
	case query.StartsWith:
		return r.at(f.Path, false, true)
	case query.InQuery:
		return r.at(f.Path, !f.Not, false)
	}
	r.narrowless(f)
	return false
}

// field notes one condition: equal tells that it asks for values, ordered that it asks for a range of them.
func (r *reach) at(path query.Path, equal, ordered bool) bool {
	if len(path) == 0 {
		return false
	}
	name := path[0]
	r.named[name] = true
	f := r.field(name)
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
