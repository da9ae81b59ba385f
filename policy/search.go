package policy

import (
	"github.com/bailiwick-dev/bailiwick/internal/literals"
)

// SearchFields returns the visible, unmasked fields with full-text search, in the order of the class.
func (v *View) SearchFields() []string { return v.searchableClass().Searchable() }

func (v *View) searchableClass() searchedClass {
	return searchedClass{Name: v.name, Fields: v.Fields(), Text: v.class.Text,
		Hidden: func(name string) bool { return v.Field(name) == nil || v.Mask(name) != nil }}
}

// search narrows q to the fields in it, or to all searchable fields.
func (v *View) search(q *literals.Search) (*Search, error) {
	if q == nil {
		return nil, nil
	}
	return v.searchableClass().Narrow(q, func(name, at string) error {
		if v.Field(name) == nil {
			return v.unknownFieldError(name, at)
		}
		v.policy.uses.reads(v.Field(name))
		if m := v.Mask(name); m != nil {
			return m.Refuse(name, at)
		}
		return nil
	})
}
