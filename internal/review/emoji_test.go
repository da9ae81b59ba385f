package review

import (
	"strings"
	"testing"
)

// TestJoins writes ^ for each invisible character that is part of a picture, and ! for each one that could hide text.
func TestJoins(t *testing.T) {
	for text, want := range map[string]string{
		"👩\u200D🚀":                    "👩^🚀",
		"👩🏽\u200D🚀":                   "👩🏽^🚀",
		"🏳\uFE0F\u200D🌈":              "🏳^^🌈",
		"❤\uFE0F":                     "❤^",
		"👨\u200D👩\u200D👧":             "👨^👩^👧",
		"👩\u200D":                     "👩!",
		"👩\u200D\u200D🚀":              "👩!!🚀",
		"a\u200Db":                    "a!b",
		"\u200D🚀":                     "!🚀",
		"👩\u200Da":                    "👩!a",
		"a\uFE0F":                     "a!",
		"❤\uFE0F\uFE0F":               "❤^!",
		"a\uFE0F\u200D🚀":              "a!!🚀",
		"1\uFE0F":                     "1!",
		"1\uFE0F\u20E3 #\uFE0F\u20E3": "1^\u20E3 #^\u20E3",
		"a\uFE0F\u20E3":               "a!\u20E3",
		"ℹ\uFE0F ▶\uFE0F ©\uFE0F ↔\uFE0F ⏱\uFE0F":                       "ℹ^ ▶^ ©^ ↔^ ⏱^",
		"🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F": "🏴^^^^^^",
		"🏴\U000E0067\U000E0062\U000E0065\U000E0065\U000E0067\U000E007F": "🏴!!!!!!",
		"🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074":           "🏴!!!!!",
		"pay\U000E0067\U000E0062":                                       "pay!!",
		"🏽\u200D🚀 is a tone by itself":                                  "🏽^🚀 is a tone by itself",
	} {
		var b strings.Builder
		for i, r := range text {
			switch {
			case r != '\u200D' && r != '\uFE0F' && r < 0xE0000:
				b.WriteRune(r)
			case JoinsEmoji(text, i):
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

// TestTogether checks where a text may be divided.
func TestTogether(t *testing.T) {
	for text, want := range map[string]string{
		"👩\u200D👩\u200D👧 go":     "👩\u200D👩\u200D👧| |g|o",
		"👍🏽👍":                    "👍🏽|👍",
		"🏳\uFE0F\u200D🌈1":        "🏳\uFE0F\u200D🌈|1",
		"2\uFE0F\u20E3a":         "2\uFE0F\u20E3|a",
		"x🇩🇪":                    "x|🇩🇪",
		"a\u200Db":               "a|\u200D|b",
		"🏴\U000E0067\U000E007F!": "🏴\U000E0067\U000E007F|!",
	} {
		var b strings.Builder
		var last rune
		for i, r := range text {
			if i > 0 && !joinsRunes(last, r) {
				b.WriteByte('|')
			}
			b.WriteRune(r)
			last = r
		}
		if b.String() != want {
			t.Errorf("%+q: %+q, want %+q", text, b.String(), want)
		}
	}
}
