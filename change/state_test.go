package change

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNext checks the whole table of transitions.
func TestNext(t *testing.T) {
	want := `
pending: answered→pending approved→approved cancelled→cancelled changes_requested→changes_requested commented→pending decided→pending expired→expired previewed→pending rejected→rejected replaced→replaced stale→stale
changes_requested: answered→pending cancelled→cancelled commented→changes_requested expired→expired previewed→pending rejected→rejected replaced→replaced
approved: cancelled→cancelled claimed→applying commented→approved expired→expired rejected→rejected
applying: applied→applied claimed→applying failed→failed sending→applying stale→stale unknown→unknown
applied: commented→applied
rejected: commented→rejected
expired:
cancelled:
replaced:
stale: answered→stale cancelled→cancelled changes_requested→changes_requested commented→stale expired→expired previewed→pending rejected→rejected replaced→replaced
failed: commented→failed
unknown: applied→applied commented→unknown failed→failed settled→unknown
`
	var got strings.Builder
	got.WriteString("\n")
	for _, s := range States() {
		var steps []string
		for event := range transitions[s] {
			to, ok := s.Next(event)
			if !ok {
				t.Error(s, event)
			}
			steps = append(steps, fmt.Sprintf(" %s→%s", event, to))
		}
		slices.Sort(steps)
		fmt.Fprintf(&got, "%s:%s\n", s, strings.Join(steps, ""))
	}
	if got.String() != want {
		t.Errorf("got %s\nwant %s", got.String(), want)
	}
	if to, ok := Applied.Next(EventApproved); ok || to != "" {
		t.Error("an applied change can't be approved", to)
	}
	if State("").IsFinal() || Pending.IsFinal() || !Applied.IsFinal() {
		t.Error("Ended")
	}
}

// TestTransitionsAreDocumented checks that the table in docs/changes.md matches this package.
func TestTransitionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/changes.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[State]map[EventKind]State{}
	step := regexp.MustCompile("`([a-z_]+) → ([a-z_]+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|.*$").FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(States(), State(row[1])) {
			continue
		}
		told[State(row[1])] = map[EventKind]State{}
		for _, s := range step.FindAllStringSubmatch(row[0], -1) {
			told[State(row[1])][EventKind(s[1])] = State(s[2])
		}
	}
	for _, s := range States() {
		if _, there := told[s]; !there || !maps.Equal(told[s], transitions[s]) {
			t.Errorf("%s: documented as %v, is %v", s, told[s], transitions[s])
		}
	}
}
