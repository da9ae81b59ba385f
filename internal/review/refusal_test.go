package review

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
)

// TestRefusal checks that a source's refusal is shown to reviewers, and not to the agent.
func TestRefusal(t *testing.T) {
	const why = "another record has the same code. Nothing was written"
	c := &change.Change{State: change.Failed, Outcome: &change.Outcome{Detail: why, Code: "conflict"},
		History: []change.Step{{By: "bot", Comment: "hm"}, {Event: change.EventFailed, Comment: why}}}
	none := func(string) Visibility { return Visibility{} }
	for _, tt := range []struct {
		viewer           Viewer
		outcome, history string
	}{
		{Viewer{Reviewer: true}, why, "hm|" + why},
		{Viewer{}, "The source refused it. Nothing was written. People see why: ask one of them, or propose something else.", "hm|"},
	} {
		s := New(c, none, tt.viewer)
		if got := s.History[0].Comment + "|" + s.History[1].Comment; s.Outcome != tt.outcome || got != tt.history {
			t.Errorf("%+v: %s, %s", tt.viewer, s.Outcome, got)
		}
		if !tt.viewer.Reviewer && strings.Contains(Text(s), "same code") {
			t.Error(Text(s))
		}
	}
	c.Outcome.Code, c.Outcome.Detail = "permission_denied", "the class is gone"
	if s := New(c, none, Viewer{}); s.Outcome != "the class is gone" {
		t.Error(s.Outcome)
	}
}
