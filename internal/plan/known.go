package plan

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Known describes the known contents of a JSON value, as determined by the stages that made it. For example, the list
// of a $lookup contains the records of a class. A nil Known means that nothing is known. Exactly one of Members, List
// and Type is set: for an object, a list, or a single value.
type Known struct {
	Members []KnownMember // the known members of an object
	List    bool
	Element *Known      // the contents of each element of a list
	Type    schema.Type // the type of a single value before it became JSON
	ID      bool        // the value is an id, so an Integer is text in JSON
	Class   string      // the class to which the value points, or ""
}

// A KnownMember is a known member of an object.
type KnownMember struct {
	Name  string
	Value *Known // nil if the contents are unknown
}

// ListOf returns the Known of a list whose elements are described by element.
func ListOf(element *Known) *Known {
	if element == nil {
		return nil
	}
	return &Known{List: true, Element: element}
}

// Of returns the Known of a list's elements, or nil if k isn't a list.
func (k *Known) Of() *Known {
	if k == nil || !k.List {
		return nil
	}
	return k.Element
}

// At returns the Known of the value at path. If k is a list, the path continues in each element. If there can't be such
// a value, ok is false. n is then the number of parts before the value that lacks the member.
func (k *Known) At(path query.Path) (at *Known, n int, ok bool) {
	for i, part := range path {
		for k != nil && k.List {
			k = k.Element
		}
		if k == nil {
			return nil, len(path), true
		}
		m := slices.IndexFunc(k.Members, func(m KnownMember) bool { return m.Name == part })
		if m < 0 {
			return k, i, k.Members == nil && Open(k.Type) && k.Class == ""
		}
		k = k.Members[m].Value
	}
	return k, len(path), true
}

// Open reports whether a value of type t may have parts about which nothing is known.
func Open(t schema.Type) bool { return t == schema.JSON || t == schema.Any || t == schema.Array }

// Names returns the names of the members of an object.
func (k *Known) Names() []string {
	names := make([]string, len(k.Members))
	for i, m := range k.Members {
		names[i] = m.Name
	}
	return names
}

// Leading returns the conditions of the filters at the beginning of p.
func (p *Program) Leading() []query.Filter {
	var out []query.Filter
	for _, s := range p.Stages {
		f, ok := s.(*Filter)
		if !ok {
			break
		}
		out = append(out, f.Where)
	}
	return out
}
