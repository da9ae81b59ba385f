package spec

import (
	"regexp"
)

// A headerPattern is an entry of patternProperties. It declares the fields whose names match the pattern.
type headerPattern struct {
	Text   string
	Schema Raw
}

// Match reports whether a name matches. A pattern in another dialect of regular expressions matches every name,
// because the server checks the name anyway.
func (p headerPattern) Match(name string) bool {
	is, err := regexp.MatchString(p.Text, name)
	return is || err != nil
}

// hidesPattern reports the same as hides for the schemas in patternProperties.
func (v *View) hidesPattern(r Raw, past map[string]bool, deep bool) bool {
	for _, schema := range r.Get("patternProperties").Members() {
		if deep && v.hides("", schema, past, deep) {
			return true
		}
	}
	return false
}
