package agentcmd

import (
	"strings"
	"testing"
)

// TestWidths checks that wide characters, combining characters and emoji have the width that terminals show.
func TestWidths(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plain", "plain"},
		{"日本語テキスト", "日本語テ…"},                             // two columns for each character
		{"e\u0301galite\u0301s", "e\u0301galite\u0301s"}, // a combining accent has no column
		{"👩 and family", "👩 and f…"},                     // an emoji has two columns
	} {
		if got := Line(tt.text, 9); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	lines := strings.Split(Table([][]string{{"name", "n"}, {"日本", "1"}, {"abc", "2"}}), "\n")
	if lines[2] != "日本 │ 1" || lines[3] != "abc  │ 2" {
		t.Errorf("%q", lines)
	}
}
