package endtoend

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestFound checks that a reviewer finds a change by what is on the screen: names, values, agents, people and states.
// A reviewer who doesn't see a class doesn't find the values in it, and finds nothing of another tenant.
func TestFound(t *testing.T) {
	o := newOffice(t, nil)
	s, err := o.propose(o.bot(), `{"op": "update", "class": "issues", "id": "1", "data": {"title": "Zürich deposit"}}`)
	if err != nil {
		t.Fatal(err)
	}
	ben := o.person("ben")
	if _, err := ben.Comment(t.Context(), s.ID, "Ask the treasurer"); err != nil {
		t.Fatal(err)
	}
	operator := identity.Principal{ID: "cli", Kind: identity.Human, Scopes: []identity.Scope{identity.Operator}}
	kept, _, err := o.tokens.Create(t.Context(), operator, identity.Token{Name: "cleo", Kind: identity.Human, Owner: "cleo", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Review},
		Classes: identity.List{Except: []string{"issues"}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := kept.Principal()
	if err != nil {
		t.Fatal(err)
	}
	cleo := o.gateway.Reviewer(p, "visit")
	other := o.gateway.Reviewer(o.token(identity.Human, "gil", "globex", identity.Read, identity.Review), "visit")
	for _, tt := range []struct {
		text              string
		ben, cleo, globex int
	}{
		{"zurich", 1, 0, 0}, {"DEPOSIT one", 1, 0, 0}, {"title", 1, 0, 0}, {"issues", 1, 0, 0}, {"treasurer", 1, 1, 0}, {"because", 1, 1, 0}, {"pending", 1, 1, 0}, {"ana", 1, 1, 0},
		{"treasurer zurich", 1, 0, 0}, {"eposit", 0, 0, 0}, {"psst", 0, 0, 0}, {"rejected", 0, 0, 0}, {s.ID, 1, 1, 0}, {"...", 0, 0, 0},
	} {
		for name, c := range map[string]struct {
			r    bailiwick.Reviewer
			want int
		}{"ben": {ben, tt.ben}, "cleo": {cleo, tt.cleo}, "globex": {other, tt.globex}} {
			rows, _, err := c.r.Queue(t.Context(), change.Filter{Text: tt.text})
			counts, _, failed := c.r.Counts(t.Context(), change.Filter{Text: tt.text})
			if len(rows) != c.want || counts[change.Pending] != c.want || err != nil || failed != nil {
				t.Errorf("%s finds %d, counts %v for %q, want %d; %v, %v", name, len(rows), counts, tt.text, c.want, err, failed)
			}
		}
	}
	words := strings.Repeat("pending ", 16)
	if rows, _, err := ben.Queue(t.Context(), change.Filter{Text: words}); len(rows) != 1 || err != nil {
		t.Errorf("16 words: %d changes, %v", len(rows), err)
	}
	_, _, listed := ben.Queue(t.Context(), change.Filter{Text: words + "more"})
	_, _, counted := ben.Counts(t.Context(), change.Filter{Text: words + "more"})
	for _, err := range []error{listed, counted} {
		if p, ok := errors.AsType[*problem.Error](err); !ok || p.Kind != "search_words" || !strings.Contains(p.Detail, "17 words. At most 16") {
			t.Errorf("17 words: %v", err)
		}
	}
}
