package secretnames

import (
	"slices"
	"strings"
	"unicode"
)

// parseInternal lists Parse Server's internal columns. No rule lifts them.
var parseInternal = []string{"_hashed_password", "_session_token", "_sessionToken", "_perishable_token", "_email_verify_token",
	"_rperm", "_wperm", "_tombstone", "_failed_login_count", "_account_lockout_expires_at", "_password_history"}

// Internal reports whether a field is internal to its source and never shown.
func Internal(name string) bool {
	return slices.Contains(parseInternal, name) || strings.HasPrefix(name, "_auth_data")
}

// Words splits an identifier at separators and at changes of case. Both apiKey and API_KEY give "api" and "key".
func Words(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		hump := unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) ||
			i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1]))
		if hump {
			flush()
		}
		word = append(word, r)
	}
	flush()
	if len(words) == 0 {
		return []string{""}
	}
	return words
}

// Singular returns a word without its plural ending. Words of at most three letters and words that end in ss stay
// unchanged.
func Singular(word string) string {
	stem, ies := strings.CutSuffix(word, "ies")
	switch {
	case len(word) <= 3, strings.HasSuffix(word, "ss"), word == "series", word == "species":
		return word
	case ies && len(stem) > 2 && !slices.Contains(endInIE, stem+"ie"):
		return stem + "y"
	}
	return strings.TrimSuffix(word, "s")
}

// endInIE lists words whose singular ends in ie.
var endInIE = []string{"cookie", "movie", "calorie", "selfie", "zombie", "rookie", "hoodie", "smoothie", "prairie", "newbie", "birdie"}

// First returns the first word of a name, or "".
func First(name string) string {
	if words := Words(name); len(words) > 0 {
		return words[0]
	}
	return ""
}
