package visible

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// Closes reports whether r describes objects that have a hidden field, itself or in a part of it. They take no undeclared names, whatever
// the document says: the hidden one would be among these, and refusing it alone would tell that it is there.
func (v *View) Closes(r spec.Raw) bool { return v.closes("", r, map[string]bool{}) }

// closes is Closes for a part of the named schema of; past has the texts of the schemas that were read.
func (v *View) closes(of string, r spec.Raw, past map[string]bool) bool {
	if r.Kind() != '{' || past[of+"\x00"+string(r)] {
		return false
	}
	past[of+"\x00"+string(r)] = true
	s := v.d.Schema(r)
	if s.Name != "" {
		if of = s.Name; !v.names(of) {
			return true
		}
	}
	if slices.ContainsFunc(s.Properties, func(p spec.Property) bool { return !v.Field(of, p.Name) }) {
		return true
	}
	parts := s.AllOf
	if inner, _ := wrapped(&s); inner != nil {
		parts = []spec.Raw{inner}
	}
	return slices.ContainsFunc(parts, func(part spec.Raw) bool { return v.closes(of, part, past) })
}

// Undeclared reports whether a body may have a field of that name which no schema declares.
func (v *View) Undeclared(name string) bool { return v.f.Undeclared == nil || v.f.Undeclared(name) }
