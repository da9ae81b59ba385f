package calls

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// spells reports whether an API may read a member of a body as the one called name. Many ignore case; some, and the JSON of protocol
// buffers, take team_id for teamId; PHP takes "team.id" and "team[id" for team_id; forms name parts in brackets or after a dot.
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

// undeclared returns a function that reports whether a body may have a field which the document doesn't declare: none that is hidden by
// its name alone, however it is spelt.
func undeclared(out []Hidden) func(name string) bool {
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
