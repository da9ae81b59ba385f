package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("runbook", false, "write the runbook's table into docs/operating.md")

// TestRunbook checks that the table of faults in docs/operating.md lists the faults of TestFaults and
// TestStartFaults. With -runbook it writes the table.
func TestRunbook(t *testing.T) {
	rows := []string{"| what | agents get | `/readyz` | log | what to do |", "|---|---|---|---|---|"}
	var last fault
	for _, f := range faults() {
		if f.what == last.what && f.log == last.log {
			continue
		}
		answer, ready := f.answer, f.ready
		if answer == last.answer {
			answer = "the same"
		}
		if ready == last.ready {
			ready = "the same"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |", f.what, answer, ready, f.log, f.do))
		last = f
	}
	for _, f := range startFaults() {
		if f.what != "" {
			rows = append(rows, fmt.Sprintf("| %s | nothing: the server doesn't start | – | `%s` | %s |", f.what, f.want, f.do))
		}
	}
	const name, begin, end = "../../docs/operating.md", "<!-- faults -->\n", "<!-- /faults -->\n"
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	now, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table of faults", name)
	}
	want := strings.Join(rows, "\n") + "\n"
	switch {
	case now == want:
	case *update:
		if err := os.WriteFile(name, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of faults in %s is not the one of the tests: go test ./cmd/bailiwick -run TestRunbook -runbook", name)
	}
}
