package edge_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// TestBounded checks that all refusals are counted, whatever their kinds and sources, and logged in few lines.
func TestBounded(t *testing.T) {
	var out bytes.Buffer
	counted := 0
	l := edge.NewRefusalLog(slog.New(slog.NewTextHandler(&out, nil)), func(string, string) { counted++ })
	for i := range 100_000 {
		l.Note(t.Context(), edge.Refusal{Door: "mcp", Kind: "no_credential", Remote: netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})})
	}
	l.Note(t.Context(), edge.Refusal{Door: "http", Kind: "body_late"})
	l.Close()
	l.Close()
	if lines := strings.Count(out.String(), "\n"); lines > 41 || counted != 100_001 {
		t.Errorf("%d lines, %d counted", lines, counted)
	}
	if sum := strings.Count(out.String(), "times="); sum == 0 {
		t.Error("no sums")
	}
	var none *edge.RefusalLog
	none.Note(t.Context(), edge.Refusal{})
	none.Close()
}

// TestFirst checks that the first refusal of a kind from a source is logged individually, with its cause. Further
// refusals must be logged as a sum.
func TestFirst(t *testing.T) {
	var out bytes.Buffer
	l := edge.NewRefusalLog(slog.New(slog.NewTextHandler(&out, nil)), nil)
	at := netip.MustParseAddr("2001:db8::1")
	for i := range 3 {
		for _, r := range []edge.Refusal{{Door: "api", Kind: "not_a_reviewer", Principal: "token:a", Correlation: "c1"}, {Door: "mcp", Kind: "no_credential", Remote: at.Next()}} {
			if first := l.Note(t.Context(), r); first != (i == 0) {
				t.Errorf("%v: first is %v", r, first)
			}
		}
		at = at.Next() // an address in the same network
	}
	l.Close()
	got := out.String()
	for _, want := range []string{"msg=refused door=api kind=not_a_reviewer from=token:a correlation_id=c1\n", "msg=refused door=mcp kind=no_credential from=2001:db8::/64\n",
		`msg="refused further" door=api kind=not_a_reviewer from=token:a times=2`, `msg="refused further" door=mcp kind=no_credential from=2001:db8::/64 times=2`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n != 4 {
		t.Errorf("%d lines:\n%s", n, got)
	}
}
