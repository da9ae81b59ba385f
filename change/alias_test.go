package change_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
)

// TestAliases checks which names are one person for four eyes. Addresses of one mailbox are, and similar names of two
// people aren't.
func TestAliases(t *testing.T) {
	for _, name := range []string{"rita@example.org", "Rita+a@example.org", "rita+a+b@example.org", "rita@example.org.", "rita.@example.org", "rita.+x@EXAMPLE.org.."} {
		if got := (change.Party{Owner: name}).Human(); got != "rita@example.org" {
			t.Errorf("%q is %q", name, got)
		}
	}
	for _, name := range []string{"rita", "rita.", "rita+x", " RITA+y. "} {
		if got := (change.Party{Owner: name}).Human(); got != "rita" {
			t.Errorf("%q is %q", name, got)
		}
	}
	for _, pair := range [][2]string{{"j.doe@a.example", "jdoe@a.example"}, {"rita@a.example", "rita@b.example"}, {"rita", "rita@a.example"}, {"+a", "+b"}, {"...", ""}, {"@a", "@b"}} {
		if a, b := (change.Party{Owner: pair[0]}).Human(), (change.Party{Owner: pair[1]}).Human(); a == b {
			t.Errorf("%q and %q are %q", pair[0], pair[1], a)
		}
	}
	h := newHall(t, change.Options{})
	c := h.propose(2)
	for i, name := range []string{"ben@example.org", "ben+two@example.org", "ben@example.org."} {
		_, err := h.Approve(t.Context(), c.ID, person(name), change.Verdict{Digest: c.Digest})
		if want := map[bool]string{true: "", false: "decided"}[i == 0]; kind(err) != want {
			t.Errorf("%s approves: %v, want %q", name, err, want)
		}
	}
	if got, err := h.Approve(t.Context(), c.ID, person("cleo@example.org"), change.Verdict{Digest: c.Digest}); err != nil || got.State != change.Granted {
		t.Errorf("another person approves: %v", err)
	}
}
