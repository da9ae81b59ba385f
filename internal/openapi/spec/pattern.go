package spec

import (
	"regexp"
)

// A headerPattern declares the fields whose names match it (patternProperties).
type headerPattern struct {
	Text   string
	Schema Raw
}

// Match reports whether a name matches. A pattern in another dialect of regular expressions matches every name: the server checks it.
func (p headerPattern) Match(name string) bool {
	is, err := regexp.MatchString(p.Text, name)
	return is || err != nil
}

// hidesPattern is hides for the schemas of patternProperties.
func (v *View) hidesPattern(r Raw, past map[string]bool, deep bool) bool {
	for _, schema := range r.Get("patternProperties").Members() {
		if deep && v.hides("", schema, past, deep) {
			return true
		}
	}
	return false
}
