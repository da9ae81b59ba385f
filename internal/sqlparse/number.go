package sqlparse

import "strings"

// JSON returns the number in JSON syntax.
func (e *Number) JSON() string {
	s := strings.TrimLeft(e.Text, "0")
	if s == "" || s[0] == '.' || s[0] == 'e' || s[0] == 'E' {
		s = "0" + s
	}
	return strings.NewReplacer(".e", "e", ".E", "E").Replace(strings.TrimSuffix(s, "."))
}
