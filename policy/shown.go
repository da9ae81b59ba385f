package policy

import (
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A visibleRule is the part of a ClassRule that is about fields. The zero visibleRule shows every field that the
// built-in denylist doesn't deny.
type visibleRule struct {
	Visible, Denied, Lift, Large, Join, Permitted []string
	Withheld                                      []string // hidden regardless of the rest. The rest may still name them
	Version                                       string   // may be ""
	VersionMasked                                 bool
	Documented                                    map[string]FieldRule
}

// A FieldRule documents a field for agents.
type FieldRule struct {
	Description string
	Values      []FieldValue // its possible values and their meanings, in the written order
}

// A FieldValue is one value of a field and its meaning.
type FieldValue struct{ Value, Meaning string }

// A visibleFields is the visible fields of a class. The zero visibleFields shows nothing.
type visibleFields struct {
	Visible  []*schema.Field // in the order of the class
	Seen     map[string]*schema.Field
	Large    map[string]bool // by name, visible or not
	Included []*schema.Field // the fields returned when a record is included through a pointer
	Dropped  []string        // the visible fields that are not included then
}

// visibleSet returns the fields of c that r shows. It calls fail for each field in r that doesn't exist or that doesn't
// fit its part of r.
func visibleSet(c *schema.Class, r visibleRule, fail func(string, ...any)) visibleFields {
	names := []struct {
		key   string
		named []string
	}{{"visible", r.Visible}, {"denied", r.Denied}, {"large", r.Large}, {"join", r.Join}, {"lift", r.Lift}, {"permitted", r.Permitted},
		{"stale.version", []string{r.Version}}, {"fields", slices.Sorted(maps.Keys(r.Documented))}}
	for _, list := range names {
		for _, n := range list.named {
			if c.Field(n) == nil && (n != "" || list.key != "stale.version") {
				fail("%s: there is no field %q%s", list.key, n, problem.DidYouMean(problem.Nearest(n, c.FieldNames(), 2)))
			}
		}
	}
	r.checkDocumentedValues(c, fail)
	s := visibleFields{Seen: map[string]*schema.Field{}, Large: map[string]bool{}}
	for i := range c.Fields {
		if f := &c.Fields[i]; r.shows(c, f, fail) {
			s.Visible = append(s.Visible, f)
			s.Seen[f.Name] = f
		}
	}
	for _, n := range r.Lift {
		if c.Field(n) != nil && s.Seen[n] == nil && !slices.Contains(r.Withheld, n) {
			fail("lift: %s is not in visible", n)
		}
	}
	for _, n := range r.Large {
		s.Large[n] = true
	}
	if c.Field(r.Version) != nil && (r.VersionMasked || s.Seen[r.Version] == nil) {
		fail("stale.version: %s can't be seen whole, so it can't be compared", r.Version)
	}
	s.include(c, r, fail)
	return s
}

// shows reports whether f of c is visible.
func (r visibleRule) shows(c *schema.Class, f *schema.Field, fail func(string, ...any)) bool {
	named, lifted := slices.Contains(r.Visible, f.Name), slices.Contains(r.Lift, f.Name)
	why := ""
	switch {
	case slices.Contains(r.Withheld, f.Name):
		return false
	case secretnames.Internal(f.Name):
		why = "visible: %s belongs to the source itself and can't be shown"
	case slices.Contains(r.Denied, f.Name):
		why = "visible: %s is also denied"
	case !c.Recordless && secretnames.Column(f.Name, secretnames.FormOf(f.Type)) && !(named && lifted): // a description has no values, so no credentials
		why = "visible: %s looks like a credential by its name. To show it, name it in lift as well"
	default:
		return named || r.Visible == nil
	}
	if named {
		fail(why, f.Name)
	}
	return false
}

// hiddenColumn reports whether a column of unknown type is denied because of its name.
func hiddenColumn(column string) bool {
	return secretnames.Internal(column) || secretnames.Credential(column)
}

// checkDocumentedValues checks that fields can have their documented values.
func (r visibleRule) checkDocumentedValues(c *schema.Class, fail func(string, ...any)) {
	for _, n := range slices.Sorted(maps.Keys(r.Documented)) {
		for _, v := range r.Documented[n].Values {
			if f := c.Field(n); f != nil && !f.Holds(v.Value) {
				fail("fields.%s.values: the field can't hold %q%s", n, v.Value, problem.DidYouMean(problem.Nearest(v.Value, f.AllowedValues(), 2)))
			}
		}
	}
}

// include finds the fields that are returned if a record is included through a pointer. These are the fields of Join,
// or otherwise all fields that aren't large. The key and the timestamps are always returned.
func (s *visibleFields) include(c *schema.Class, r visibleRule, fail func(string, ...any)) {
	join := r.Join
	for _, n := range join {
		if c.Field(n) != nil && s.Seen[n] == nil && !slices.Contains(r.Withheld, n) {
			fail("join: %s can't be seen at all. Take it out", n)
		}
	}
	for _, f := range s.Visible {
		leaves := !s.Large[f.Name]
		if join != nil {
			leaves = slices.Contains(join, f.Name)
		}
		if leaves || slices.Contains(c.Key, f.Name) || isTimestamp(f) {
			s.Included = append(s.Included, f)
		} else {
			s.Dropped = append(s.Dropped, f.Name)
		}
	}
}

// Without returns s without the fields called names. changed reports whether it had any of them.
func (s visibleFields) Without(names []string) (less visibleFields, changed bool) {
	hidden := func(f *schema.Field) bool { return slices.Contains(names, f.Name) }
	if !slices.ContainsFunc(s.Visible, hidden) {
		return s, false
	}
	less = visibleFields{Seen: map[string]*schema.Field{}, Large: s.Large}
	less.Visible = slices.DeleteFunc(slices.Clone(s.Visible), hidden)
	less.Included = slices.DeleteFunc(slices.Clone(s.Included), hidden)
	less.Dropped = slices.DeleteFunc(slices.Clone(s.Dropped), func(n string) bool { return slices.Contains(names, n) })
	for _, f := range less.Visible {
		less.Seen[f.Name] = f
	}
	return less, true
}
