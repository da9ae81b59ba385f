package agentcmd

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// bare removes the styles that the package itself writes.
func bare(text string) string {
	return regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(text, "")
}

// TestMarkdown checks that the output is the same for any division of the text into pieces.
func TestMarkdown(t *testing.T) {
	const text = "# Open *work*\n\nThe **most** is with `wanjiru_k`, 2 * 3 = 6.\n- one\n  * two **bold**\n\n| name | issues |\n|---|---:|\n| **Wanjiru** | 26 |\n| Ines Marques | 7 |\nand on\n```sql\nSELECT * FROM `x` -- **no**\n```\nend"
	const want = "Open *work*\n\nThe most is with wanjiru_k, 2 * 3 = 6.\n• one\n  • two bold\n\nname         │ issues\n─────────────┼───────\nWanjiru      │ 26\nInes Marques │ 7\nand on\nSELECT * FROM `x` -- **no**\nend\n"
	for _, size := range []int{1, 2, 3, 5, 1000} {
		var b strings.Builder
		m := Markdown{Out: &b}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			m.Write(rest[:n])
			rest = rest[n:]
		}
		m.Close()
		if got := bare(b.String()); got != want {
			t.Errorf("in pieces of %d:\n%s\nwant\n%s", size, got, want)
		}
		if !strings.Contains(b.String(), "\x1b[1mmost\x1b[0m") && size == 1000 || !strings.Contains(b.String(), "\x1b[36mw") {
			t.Error("no style for bold text or code")
		}
	}
}

// TestSanitize checks that control sequences in data don't reach the terminal.
func TestSanitize(t *testing.T) {
	hostile := "a\x1b[2J\x1b]0;title\x07b\x9b31mc\u202ed\u200be\r\nf\tg\x00h\x7fi\rj\u2028k\xff"
	got := sanitize(hostile)
	if want := "a\ufffd[2J\ufffd]0;title\ufffdb\ufffd31mc\ufffdd\ufffde\nf g\ufffdh\ufffdi j k\ufffd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var b strings.Builder
	m := Markdown{Out: &b}
	m.Write(hostile + "\n| \x1b[2J | \u202e |\n")
	m.Close()
	if rest := bare(b.String() + Table([][]string{{hostile}}) + Line(hostile, 80)); strings.ContainsAny(rest, "\x1b\x07\x00\x7f\r\u202e\u2028") || !utf8.ValidString(rest) {
		t.Errorf("%q", rest)
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("#######\n#\n#")
	f.Add("# a\n| b |\n```\n* **c\x1b[0m")
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		m := Markdown{Out: &b}
		m.Write(text)
		m.Close()
		if got := bare(b.String()); strings.ContainsFunc(got, func(c rune) bool { return c < ' ' && c != '\n' || c == 0x7f || c >= 0x80 && c < 0xa0 }) {
			t.Errorf("%q", got)
		}
	})
}
