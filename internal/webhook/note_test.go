package webhook

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// TestLoudSubject checks that the subject of a letter mentions break glass.
func TestLoudSubject(t *testing.T) {
	sheet := &review.Sheet{Row: review.Row{Title: "delete issues 1"}}
	for broken, want := range map[bool]string{true: "[Bailiwick] BREAK GLASS, approved: delete issues 1", false: "[Bailiwick] approved: delete issues 1"} {
		l, err := letterOf([]note{{Data: Data{Event: change.EventApproved, Broken: broken}, Sheet: sheet}}, "1")
		if err != nil || l.Subject != want {
			t.Errorf("subject %q, %v; want %q", l.Subject, err, want)
		}
	}
}

// TestSays checks which text a notification shows: the sentence about the change, or else the agent's reason. The
// text must be on one line.
func TestSays(t *testing.T) {
	for _, c := range []struct {
		row  review.Row
		want string
	}{
		{review.Row{}, ""},
		{review.Row{Agent: "bot", Reason: "it is\n<!channel> late"}, "bot says, not checked: “it is <!channel> late”"},
		{review.Row{Agent: "bot", Reason: "late", Says: "Close it", SaidBy: "the action close"}, "the action close says, not checked: “Close it”"},
		{review.Row{Agent: "bot", Reason: strings.Repeat("é", 300)}, "bot says, not checked: “" + strings.Repeat("é", 200) + "…”"},
	} {
		if got := (&note{Sheet: &review.Sheet{Row: c.row}}).says(); got != c.want {
			t.Errorf("says %q, want %q", got, c.want)
		}
	}
	if got := (&note{}).says(); got != "" {
		t.Errorf("without a sheet it says %q", got)
	}
}
