package console

import (
	"html"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                                  "plain",
		`<a href="x" id='y'>&</a>`:               "&lt;a href=&#34;x&#34; id=&#39;y&#39;&gt;&amp;&lt;/a&gt;",
		"one\ntwo\tthree":                        "one two three",
		"pay \u202e0001":                         `pay <span class="odd">U+202E</span>0001`,
		"\x1b[31m\x00":                           `<span class="odd">U+001B</span>[31m<span class="odd">U+0000</span>`,
		"⟨U+202E⟩ and ⟨ and ⟨U+zz⟩":              `<span class="odd">U+202E</span> and ⟨ and ⟨U+zz⟩`,
		"\xff":                                   `<span class="odd">U+FFFD</span>`,
		"e\u0301":                                "e\u0301",
		"Z\u0335\u0335\u0335\u0335\u0335\u0335!": "Z\u0335\u0335\u0335\u0335<span class=\"odd\">more marks</span>!",
		"😀 \u00a0\u3000":                         "😀 \u00a0<span class=\"odd\">U+3000</span>",
		"0123456789abcdef":                       `0123456789<span class="cut">… 6 more characters</span>`,
	} {
		if in != "0123456789abcdef" {
			if got := string(safeLine(in, 100)); got != want {
				t.Errorf("%q: %s, want %s", in, got, want)
			}
			continue
		}
		if got := string(safeLine(in, 10)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestBlock(t *testing.T) {
	if got := string(safeBlock("a\r\nb\nc", 10)); got != "a\nb\nc" {
		t.Errorf("%q", got)
	}
	if got := string(safeBlock(strings.Repeat("\n", 100)+"x", 1000)); strings.Count(got, "\n") != lines || !strings.Contains(got, "41 more characters") {
		t.Errorf("%q", got)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567", -1000: "-1\u202f000"} {
		if got := groupedDigits(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// FuzzLine checks the result for any text. It contains only markup of this package, contains no odd characters, and
// has a limited length.
func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "<b>", "\u202e", "⟨U+202E⟩", "a\x00", strings.Repeat("\u0300", 20)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []string{string(safeLine(text, 50)), string(safeBlock(text, 50)), html.EscapeString(plainText(text, 50))} {
			bare := strings.NewReplacer(`<span class="odd">`, "", `<span class="cut">`, "", "</span>", "").Replace(got)
			if strings.ContainsAny(bare, `<>"'`) || !utf8.ValidString(got) || len(got) > 3500 {
				t.Errorf("%q: %q", text, got)
			}
			for _, r := range bare {
				if r != '\n' && r != utf8.RuneError && odd(r) {
					t.Errorf("%q: %q holds U+%04X", text, got, r)
				}
			}
		}
	})
}
