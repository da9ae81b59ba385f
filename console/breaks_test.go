package console_test

import (
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// TestLineBreaks sends a text as a browser does. Line breaks must arrive as "\n", without U+000D.
func TestLineBreaks(t *testing.T) {
	for _, deed := range []string{"comment", "ask", "reject"} {
		d := newDrawers(samples()...)
		b := newWorld(t, d, nil).signedIn(t, "ines")
		if got := b.post("/console/changes/"+id(11)+"/"+deed, url.Values{"text": {"one\r\ntwo\rthree\nfour"}}); got.status != 303 {
			t.Fatalf("%s: %d\n%s", deed, got.status, got.body)
		}
		s, err := d.findSheet(id(11))
		if err != nil {
			t.Fatal(err)
		}
		if said := s.Thread[len(s.Thread)-1].Text; said != "one\ntwo\nthree\nfour" {
			t.Errorf("%s: %q", deed, said)
		}
	}
}

// findSheet returns the change with an ID, as nobody in particular sees it.
func (d *drawers) findSheet(id string) (*review.Sheet, error) { return desk{drawers: d}.find(id) }

// TestClassNames checks two kinds of classes that are easily used twice by mistake. A page makes the first kind of data.
// The rule of the second kind writes words into the page. The names of both have two parts.
func TestClassNames(t *testing.T) {
	made, writes := regexp.MustCompile(`[" ]([a-z-]*)\{\{(?:word \.|\$v\.Class)`), regexp.MustCompile(`\.([a-z]+)::(?:before|after) *\{ content: "[A-Za-z]`)
	pages, err := fs.Glob(os.DirFS("pages"), "*.html")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile("pages/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range made.FindAllStringSubmatch(string(text), -1) {
			if found++; !strings.HasSuffix(m[1], "-") {
				t.Errorf("%s: a class is made of data without a word in front of it: %s", page, m[0])
			}
		}
	}
	css, err := os.ReadFile("assets/console.css")
	if err != nil || found == 0 {
		t.Fatal(found, err)
	}
	for _, m := range writes.FindAllStringSubmatch(string(css), -1) {
		t.Errorf("the class %s writes words. Give it a name of two parts, so that nothing else has it", m[1])
	}
}
