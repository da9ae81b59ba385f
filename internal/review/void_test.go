package review

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
)

// TestVoid checks the text of a deletion. The text counts fields that contain nothing, and lists the others.
func TestVoid(t *testing.T) {
	absent, null := Shown{Kind: "absent"}, Shown{Kind: "null"}
	s := &Sheet{Items: []Item{{Op: "delete", Class: "issues", Key: "1", Fields: []Field{
		{Path: "title", Before: Shown{Kind: "text", Text: "x"}, After: absent},
		{Path: "due", Before: null, After: absent},
		{Path: "parent", Before: null, After: absent},
		{Path: "status", Before: null, After: Shown{Kind: "text", Text: "open"}},
	}}}}
	s.State = change.Pending
	text := Text(s)
	for _, want := range []string{"\ntitle: ", "\nstatus: null → ", "\n(2 more, null until now)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "due") {
		t.Error(text)
	}
}
