package identity

import (
	"cmp"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Person returns the canonical form of a person's name, for comparison and counting. Names that differ only in case,
// width, compatibility forms, spaces or invisible characters have the same form. It is "" for a name without visible
// characters. Similar letters of different scripts stay different.
func Person(name string) string {
	if plain(name) {
		return strings.ToLower(name)
	}
	for range 2 { // folding and normalizing can affect each other
		name = strings.ToLower(cases.Fold().String(norm.NFKC.String(name))) // Fold swaps the two cases of Cherokee
	}
	shown := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, name)
	return norm.NFKC.String(strings.Join(strings.Fields(shown), " "))
}

// plain reports whether name can differ from its canonical form only in case.
func plain(name string) bool {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Person returns the canonical name of the human that p is or acts for, or "".
func (p Principal) Person() string { return Person(p.Owner) }

// Account returns the key of the allowances that p uses: its person, or its origin if it has none. Other spellings of
// the name, other tokens of the person and sub-principals share the allowance.
func (p Principal) Account() string { return cmp.Or(p.Person(), p.Origin()) }

// Author returns a name of p for people, as the author of a record: its name and its owner, such as "triage-bot
// (maria)".
func (p Principal) Author() string {
	name := cmp.Or(p.Name, p.Owner, p.Origin())
	if owner := p.Person(); owner != "" && owner != Person(name) {
		name += " (" + p.Owner + ")"
	}
	return name
}
