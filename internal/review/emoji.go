package review

import (
	"strings"
	"unicode/utf8"
)

const (
	joiner = '\u200D' // ZERO WIDTH JOINER
	dress  = '\uFE0F' // VARIATION SELECTOR-16: show the character as a picture
	keycap = '\u20E3' // COMBINING ENCLOSING KEYCAP
	banner = '\U0001F3F4'
)

// JoinsEmoji reports whether the invisible character at text[i] is part of an emoji. An emoji may contain a joiner
// between two pictures, and one selector directly after a picture or in a keycap. The flags of England, Scotland and
// Wales contain invisible letters. Anywhere else an invisible character may hide text.
func JoinsEmoji(text string, i int) bool {
	r, n := utf8.DecodeRuneInString(text[i:])
	before, m := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+n:])
	switch {
	case r == joiner:
		return picture(after) && (picture(before) || tone(before) || before == dress && JoinsEmoji(text, i-m))
	case r == dress:
		return picture(before) || after == keycap && emojiKey(before)
	case tag(r):
		return inFlag(text, i)
	}
	return false
}

// joinsRunes reports whether two adjacent characters belong to one emoji. A text must not be split between them.
func joinsRunes(before, after rune) bool {
	switch {
	case after == joiner, after == dress:
		return picture(before) || tone(before) || before == dress && after == joiner || emojiKey(before) && after == dress
	case before == joiner, tone(after):
		return picture(after) || picture(before)
	case after == keycap:
		return before == dress
	case tag(after):
		return tag(before) || before == banner
	}
	return half(before) && half(after)
}

// inFlag reports whether the tag character at text[i] is part of a flag.
func inFlag(text string, i int) bool {
	for _, land := range []string{"gbeng", "gbsct", "gbwls"} {
		flag := string(banner)
		for _, r := range land {
			flag += string(0xE0000 + r)
		}
		flag += "\U000E007F"
		for at := i - 4; at >= 0 && at > i-len(flag); at -= 4 { // each tag character has four bytes
			if strings.HasPrefix(text[at:], flag) {
				return true
			}
		}
	}
	return false
}

// tone reports whether r sets the skin colour of the picture before it.
func tone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

// tag reports whether r is an invisible tag letter or the tag that ends a sequence.
func tag(r rune) bool { return r >= 0xE0020 && r <= 0xE007F }

// emojiKey reports whether r can be shown as a keycap.
func emojiKey(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// half reports whether r is one of the two letters of a flag.
func half(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// picture reports whether r is a character that can be shown as an emoji. Skin tones don't count, because they only
// change the emoji before them.
func picture(r rune) bool {
	switch {
	case tone(r):
		return false
	case r >= 0x1F170 && r <= 0x1F1FF, r >= 0x1F200 && r <= 0x1F2FF, r >= 0x1F300 && r <= 0x1FAFF, r >= 0x2600 && r <= 0x27BF, r >= 0x2B05 && r <= 0x2B55,
		r >= 0x2194 && r <= 0x21AA, r >= 0x231A && r <= 0x23FF, r >= 0x25AA && r <= 0x25FE, r >= 0x2934 && r <= 0x2935:
		return true
	}
	return strings.ContainsRune("©®‼⁉™ℹⓂ〰〽㊗㊙🀄", r)
}
