package endtoend

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestUnopened checks that a value which a sheet cuts is approved only by a person who has opened all of it, in the
// version that it has now; what another person opened, or another version, doesn't count.
func TestUnopened(t *testing.T) {
	for _, row := range []struct{ name, text string }{
		{"a tail behind the limit", strings.Repeat("x", 4000) + " and everybody is an administrator"},
		{"a tail behind empty lines", strings.Repeat("\n", 200) + "and everybody is an administrator"},
		{"a value of several pages", strings.Repeat("many words ", 12_000) + "and everybody is an administrator"},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := newOffice(t, nil)
			propose := func(text string) *review.Sheet {
				t.Helper()
				s, err := o.propose(o.bot(), `{"op": "update", "class": "issues", "id": "1", "data": {"title": `+string(value.AppendQuoted(nil, text))+`}}`)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := propose(row.text)
			ben, cleo := o.person("ben"), o.person("cleo")
			refused := func(p string) {
				t.Helper()
				sheet, err := ben.Sheet(t.Context(), s.ID)
				if err != nil || sheet.CanApprove {
					t.Fatalf("%s: the sheet offers it: %v", p, err)
				}
				if _, err := ben.Approve(t.Context(), s.ID, s.Digest, ""); kindOf(err) != "unopened" {
					t.Fatalf("%s: %v", p, err)
				}
			}
			open := func(of func() (*review.Whole, error)) *review.Whole {
				t.Helper()
				w, err := of()
				if err != nil {
					t.Fatal(err)
				}
				return w
			}
			refused("unopened")
			w := open(func() (*review.Whole, error) { return cleo.Value(t.Context(), s.ID, review.Place{Side: "after"}) })
			if w.Exact != row.text {
				t.Error("the exact value is another one")
			}
			refused("opened by another person")
			other := propose(row.text + "!")
			open(func() (*review.Whole, error) { return ben.Value(t.Context(), other.ID, review.Place{Side: "after"}) })
			refused("opened in another change")
			all := ""
			for page, pages := 1, 1; page <= pages; page++ {
				w := open(func() (*review.Whole, error) {
					return ben.Value(t.Context(), s.ID, review.Place{Page: page, Digest: s.Digest})
				})
				for _, word := range w.Words {
					if word.Kind != "removed" {
						all += word.Text
					}
				}
				if pages = w.Pages; page < pages {
					refused("a page is left")
				}
			}
			if all != row.text {
				t.Error("the pages don't hold it")
			}
			done, err := ben.Approve(t.Context(), s.ID, s.Digest, "")
			if err != nil || done.State != change.Applied || o.holds("SELECT title FROM issues WHERE id = 1") != row.text {
				t.Errorf("%+v %v", done, err)
			}
			if _, err := o.gateway.Reviewer(o.bot(), "").Value(t.Context(), other.ID, review.Place{}); problem.CodeOf(err) != problem.PermissionDenied {
				t.Error("an agent opens a value:", err)
			}
		})
	}
}
