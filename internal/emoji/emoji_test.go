package emoji

import (
	"strings"
	"testing"
)

// TestJoins writes ^ for each invisible character that is part of a picture, and ! for one that hides.
func TestJoins(t *testing.T) {
	for text, want := range map[string]string{
		"👩\u200D🚀":                     "👩^🚀",
		"👩🏽\u200D🚀":                    "👩🏽^🚀",
		"🏳\uFE0F\u200D🌈":               "🏳^^🌈",
		"❤\uFE0F":                      "❤^",
		"👨\u200D👩\u200D👧":              "👨^👩^👧",
		"👩\u200D":                      "👩!",
		"👩\u200D\u200D🚀":               "👩!!🚀",
		"a\u200Db":                     "a!b",
		"\u200D🚀":                      "!🚀",
		"👩\u200Da":                     "👩!a",
		"a\uFE0F":                      "a!",
		"❤\uFE0F\uFE0F":                "❤^!",
		"a\uFE0F\u200D🚀":               "a!!🚀",
		"1\uFE0F":                      "1!",
		"🏽\u200D🚀 is a tone by itself": "🏽^🚀 is a tone by itself",
	} {
		var b strings.Builder
		for i, r := range text {
			switch {
			case r != '\u200D' && r != '\uFE0F':
				b.WriteRune(r)
			case Joins(text, i):
				b.WriteByte('^')
			default:
				b.WriteByte('!')
			}
		}
		if b.String() != want {
			t.Errorf("%+q: %s, want %s", text, b.String(), want)
		}
	}
}
