package tool

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A spelling is the relation of a value to the searched text.
type spelling int

// The spellings, the nearest first.
const (
	exact spelling = iota
	otherSpelling
	beginning
	noSpelling
)

// compare returns the relation of the spelling of found to wanted.
func compare(wanted, found string) spelling {
	if wanted == found {
		return exact
	}
	switch w, f := fold(wanted), fold(found); {
	case w == "":
		return noSpelling
	case w == f:
		return otherSpelling
	case strings.HasPrefix(f, w):
		return beginning
	}
	return noSpelling
}

// letters has groups of letters that count as the same. Each group begins with the plain letter.
var letters = []string{"aàáâãäåāăą", "cçćĉčċ", "dďđð", "eèéêëēĕėęě", "gĝğġģ", "hĥħ", "iìíîïĩīĭįı", "jĵ", "kķ", "lĺļľł", "nñńņň", "oòóôõöøōŏő", "rŕŗř", "sśŝşšș", "tţťŧț",
	"uùúûüũūŭůűų", "wŵ", "yýÿŷ", "zźżž"}

// fold returns a text without case, accents, spaces, hyphens and underscores.
func fold(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(s)) {
		switch {
		case unicode.Is(unicode.Mn, r), unicode.IsSpace(r), r == '-', r == '_':
			continue
		case r == 'ß':
			b.WriteString("ss")
			continue
		}
		for _, group := range letters {
			if strings.ContainsRune(group, r) {
				r, _ = utf8.DecodeRuneInString(group)
				break
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// mostPattern is the maximum length of a pattern of loosely, in characters. The query language accepts 256.
const mostPattern = 200

// loosely returns a regular expression for texts that begin like s or its first letters. It ignores case, accents and
// spaces. It returns "" if no letter of s remains.
func loosely(s string) string {
	const gap = `[\s_-]{0,3}` // MariaDB accepts only few unlimited repetitions
	out := "^" + gap
	folded := []rune(fold(s))
	n := 0
	for ; n < len(folded); n++ {
		part := variants(folded[n])
		if n+1 < len(folded) && folded[n] == 's' && folded[n+1] == 's' {
			part = "(?:" + part + gap + part + "|ß)"
		}
		if len([]rune(out+part+gap)) > mostPattern {
			break
		}
		if out += part + gap; strings.HasSuffix(part, "|ß)") {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return out
}

// variants returns a pattern for the ways to write a letter, or for the sign itself.
func variants(r rune) string {
	for _, group := range letters {
		if first, _ := utf8.DecodeRuneInString(group); first == r {
			return "[" + group + "]"
		}
	}
	if r > unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsDigit(r) {
		return string(r)
	}
	return `\` + string(r)
}
