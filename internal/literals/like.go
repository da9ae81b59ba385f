package literals

import "strings"

// LikePattern returns the regular expression for a LIKE pattern. An escape of -1 means that there is no escape
// character.
func LikePattern(text string, escape rune) string {
	var b strings.Builder
	escaped := false
	for _, c := range text {
		switch {
		case escaped:
			b.WriteString(quoteMeta(c))
			escaped = false
		case c == escape:
			escaped = true
		case c == '%':
			b.WriteString("(?s:.*)")
		case c == '_':
			b.WriteString("(?s:.)")
		default:
			b.WriteString(quoteMeta(c))
		}
	}
	s := b.String()
	if rest, ok := strings.CutSuffix(s, "(?s:.*)"); ok { // the pattern matches a prefix or an inner part
		s = rest
	} else {
		s += `\z`
	}
	if rest, ok := strings.CutPrefix(s, "(?s:.*)"); ok {
		return rest
	}
	return `\A` + s
}

func quoteMeta(c rune) string {
	if strings.ContainsRune(`\.+*?()|[]{}^$`, c) {
		return `\` + string(c)
	}
	return string(c)
}
