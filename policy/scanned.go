package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// An Access describes how a source finds the first records of a query.
type Access struct {
	Class   string   // as the principal addresses it
	Indexed []string // fields of the first filter whose conditions an index or the key serves
	Others  []string // the other fields of that filter
	Leading []string // the first fields of all indexes and keys without hidden or masked fields, in the order of the class
	Scan    bool     // the source must read every record
	Refused bool     // the rules refuse this scan
}

// Refusal returns the refusal of a query that would read every record.
func (a Access) Refusal() error {
	refusal := &problem.Error{Code: problem.InvalidQuery, Kind: "scan", Pointer: "/class_name",
		Detail:     fmt.Sprintf("this would read every record of %s: it begins with no condition that an index serves", a.Class),
		Suggestion: "ask for records by their id"}
	if len(a.Leading) > 0 {
		refusal.Suggestion = "narrow it by one of " + strings.Join(a.Leading[:min(len(a.Leading), 20)], ", ")
	}
	return refusal
}

// A scannedClass is a class as one principal sees it.
type scannedClass struct {
	Name   string
	Class  *schema.Class
	Fields []*schema.Field            // the visible ones
	Field  func(string) *schema.Field // returns a visible field by its name, or nil
	Open   func(*schema.Field) bool   // whether a condition may name it
	Found  bool                       // a text index finds the records
	Where  []query.Filter             // filters that all records satisfy
	Bounds []query.Filter             // the filters of the view, which aren't shown but which an index can serve
	Order  *schema.Field              // the source reads records in the order of this field until it has enough, or nil for any order
}

// accessOf returns how a source can find the requested records of a class.
func accessOf(c scannedClass) Access {
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
	// These are the first fields of indexes. Indexes with hidden or masked fields don't count, because the caller must
	// not learn about them.
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
	// The conditions of the rules may narrow as well, but their fields aren't shown.
	own := &reach{leads: r.leads, named: map[string]bool{}, serves: map[string]bool{}, field: c.Field}
	for _, f := range c.Bounds {
		a.Scan = a.Scan && !own.narrows(f)
	}
	if c.Order != nil && len(c.Where) == 0 && c.Order.Stored == nil && r.leads[c.Order.Name] && (c.Order.NotNull || slices.Contains(c.Class.Key, c.Order.Name)) { // the index may not have nulls in its order
		a.Scan = false
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

// A reach collects which fields of a filter an index serves.
type reach struct {
	field  func(string) *schema.Field
	leads  map[string]bool // first fields of an index or of the key
	named  map[string]bool // fields that the filter names
	serves map[string]bool // those narrowed by an index
}

// narrows reports whether an index finds the records that f can match.
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

// at records one condition and reports whether an index serves it. equal means that the condition requires certain
// values, and ordered that it requires a range.
func (r *reach) at(path query.Path, equal, ordered bool) bool {
	if len(path) == 0 {
		return false
	}
	name := path[0]
	r.named[name] = true
	f := r.field(name)
	// An index with another sort order than the values serves only equality. No index serves a converted value, unless
	// the stored value is compared.
	if f == nil || f.Type.IsStructured() || f.Stored != nil && f.Unit() == 0 || !r.leads[name] || !equal && (!ordered || f.Unordered) {
		return false
	}
	r.serves[name] = true
	return true
}

// narrowless records the fields of conditions that no index serves.
func (r *reach) narrowless(f query.Filter) {
	FilterFields(f, func(name string) { r.named[name] = true })
}
