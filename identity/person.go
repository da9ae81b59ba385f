package identity

import (
	"cmp"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Person returns the one form of a person's name, by which people are compared and counted: two spellings that differ in
// case, width, compatibility forms, spaces or characters that show nothing are one person. It is "" for a name that shows
// nothing at all. Letters of other scripts that look alike stay apart.
func Person(name string) string {
	if plain(name) {
		return strings.ToLower(name)
	}
	for range 2 { // folding and composing can each make work for the other
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

// plain reports whether only the case of name can differ from its one form.
func plain(name string) bool {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Person returns the one form of the name of the human that p is or acts for; "" for none.
func (p Principal) Person() string { return Person(p.Owner) }

// Account returns whose allowances p draws from: its person's, or its origin's where it has none. So neither another
// spelling, another token nor a sub-principal is another allowance.
func (p Principal) Account() string { return cmp.Or(p.Person(), p.Origin()) }
