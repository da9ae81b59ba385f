package calls

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// spells reports whether an API may read the member called given as the member called name. Many APIs ignore case.
// Some, and the JSON of protocol buffers, read team_id as teamId. PHP reads "team.id" and "team[id" as team_id. Forms
// name parts in brackets or after a dot.
func spells(given, name string) bool {
	if strings.EqualFold(given, name) {
		return true
	}
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s)
	}
	plain := letters(name)
	if plain == "" {
		return false
	}
	whole := given
	if at := strings.IndexAny(given, "[."); at > 0 {
		whole = given[:at]
	}
	return strings.EqualFold(letters(given), plain) || strings.EqualFold(letters(whole), plain)
}

// undeclaredFieldCheck returns a function that reports whether a body may have a field that the document doesn't declare. The
// function returns false for names that a rule hides in all schemas, in any spelling.
func undeclaredFieldCheck(out []Hidden) func(name string) bool {
	var bare []string
	for _, h := range out {
		for _, f := range h.Fields {
			if schema, field := cutField(f); schema == "" {
				bare = append(bare, field)
			}
		}
	}
	return func(name string) bool {
		return !secretnames.Internal(name) && !slices.ContainsFunc(bare, func(field string) bool { return spells(name, field) })
	}
}
