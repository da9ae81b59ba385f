package console

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// A stageText is one step in a change's life. At is "done", "now", "bad", or "" for a future step.
type stageText struct{ Label, At, Note string }

// A sumText contains the number of records of a class that an operation writes.
type sumText struct {
	Op, Class string
	Records   int
	Fields    int // the distinct fields that the change asks for, as the queue counts them
	Hidden    int

	names []string
}

// sumTexts counts the effects of a change, by operation and class. A field that several records set counts once.
func sumTexts(s *review.Sheet) []sumText {
	var out []sumText
	for _, item := range s.Items {
		i := slices.IndexFunc(out, func(n sumText) bool { return n.Op == item.Op && n.Class == item.Class })
		if i < 0 {
			i, out = len(out), append(out, sumText{Op: item.Op, Class: item.Class})
		}
		out[i].Records++
		out[i].Hidden += item.Hidden + item.Denied
		for _, f := range item.Fields {
			name, _, _ := strings.Cut(f.Path, "/")
			if !slices.Contains(out[i].names, name) && slices.Contains(s.Fields, name) {
				out[i].names = append(out[i].names, name)
			}
		}
	}
	for i := range out {
		out[i].Fields = len(out[i].names)
	}
	return out
}

// stageList returns the steps of a change's life, with the progress of the change.
func stageList(s *review.Sheet) []stageText {
	out := []stageText{{"Proposed", "done", ""}, {"Review", "", ""}, {"Approved", "", ""}, {"Applied", "", ""}}
	reached := func(n int, at, label string) {
		for i := range out[:n] {
			out[i].At = "done"
		}
		out[n].At = at
		if label != "" {
			out[n].Label = label
			if at == "bad" {
				out = out[:n+1]
			}
		}
	}
	switch s.State {
	case change.Pending:
		reached(1, "now", "")
	case change.Stale:
		reached(1, "now", "Stale")
	case change.Returned:
		reached(1, "now", "Returned")
	case change.Replaced:
		reached(1, "bad", "Replaced")
	case change.Granted:
		reached(2, "now", "")
	case change.Applying:
		reached(3, "now", "Running")
	case change.Applied:
		reached(3, "done", "")
	case change.Failed:
		reached(3, "bad", "Failed")
	case change.Unknown:
		reached(3, "bad", "Unknown")
	case change.Rejected:
		reached(1, "bad", "Rejected")
	case change.Expired:
		reached(1, "bad", "Expired")
	case change.Cancelled:
		reached(1, "bad", "Cancelled")
	}
	if s.Need > 0 && s.State == change.Pending {
		out[1].Note = countText(s.Approvals) + " of " + countText(s.Need)
	}
	return out
}

// doneText returns the notice for an operation. The texts are fixed, so the address can't inject a text.
func doneText(deed string) string {
	return map[string]string{
		"approve":     "Your approval is recorded.",
		"break-glass": "Approved past the rules. It is recorded as that.",
		"reject":      "Rejected. The agent reads your reason.",
		"comment":     "Your comment is there.",
		"renew":       "Previewed again. Approvals begin anew.",
		"ask":         "Returned to the agent with your words. It answers, or proposes another version.",
		"edit":        "Your version is in the place of the other. Another person decides about it.",
		"revert":      "This change takes the other one back. It waits for review like any other.",
		"settle":      "Settled. It is recorded that you said so.",
	}[deed]
}
