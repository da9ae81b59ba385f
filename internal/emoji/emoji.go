// Package emoji distinguishes the invisible characters that make one picture of several from those that hide something.
package emoji

import "unicode/utf8"

const (
	joiner = '\u200D' // ZERO WIDTH JOINER
	dress  = '\uFE0F' // VARIATION SELECTOR-16: as a picture
)

// Joins reports whether the invisible character at text[i] is part of an emoji: a joiner between two pictures, or one
// selector right behind a picture. Anywhere else such a character hides.
func Joins(text string, i int) bool {
	r, n := utf8.DecodeRuneInString(text[i:])
	before, m := utf8.DecodeLastRuneInString(text[:i])
	switch r {
	case joiner:
		after, _ := utf8.DecodeRuneInString(text[i+n:])
		return picture(after) && (picture(before) || before >= 0x1F3FB && before <= 0x1F3FF || before == dress && Joins(text, i-m))
	case dress:
		return picture(before)
	}
	return false
}

// picture reports whether r is a character that has a form as a picture; those of skin tones have none of their own.
func picture(r rune) bool {
	switch {
	case r >= 0x1F3FB && r <= 0x1F3FF:
		return false
	case r >= 0x1F170 && r <= 0x1F1FF, r >= 0x1F300 && r <= 0x1FAFF, r >= 0x2600 && r <= 0x27BF, r >= 0x2B05 && r <= 0x2B55:
		return true
	}
	return false
}
