package plan

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Known describes the contents of a JSON value, as far as the stages that made it say so. The list of a $lookup holds
// the records of a class. A nil Known says nothing. Exactly one of Members, List and Type is set: for an object, a
// list, or a single value.
type Known struct {
	Members []KnownMember // of an object
	List    bool
	Element *Known      // of a list: each of its elements
	Type    schema.Type // of a single value, before it became JSON
	ID      bool        // it is an id: an Integer is a text in JSON
	Class   string      // the class it points to, or ""
}

// A KnownMember is a member of an object.
type KnownMember struct {
	Name  string
	Value *Known // nil if nothing is known of it
}

// ListOf returns the Known of a list of elements.
func ListOf(element *Known) *Known {
	if element == nil {
		return nil
	}
	return &Known{List: true, Element: element}
}

// Of returns the Known of the elements of a list, and nil for anything else.
func (k *Known) Of() *Known {
	if k == nil || !k.List {
		return nil
	}
	return k.Element
}

// At returns the Known of the value at path, which is within each element where k is a list. If there can be none, n is
// the number of parts that lead to the value without such a member, and ok is false.
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

// Open reports whether a value of type t may have parts that nothing is known of.
func Open(t schema.Type) bool { return t == schema.JSON || t == schema.Any || t == schema.Array }

// Names returns the names of the members of an object.
func (k *Known) Names() []string {
	names := make([]string, len(k.Members))
	for i, m := range k.Members {
		names[i] = m.Name
	}
	return names
}
