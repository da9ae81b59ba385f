package review

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestViewedItems checks that a mark belongs to one person, one record and one digest.
func TestViewedItems(t *testing.T) {
	c := of(t, write.OpUpdate, `{"id":1,"status":"x"}`, `{"id":1,"status":"y"}`, "status")
	c.Effects = append(c.Effects, of(t, write.OpUpdate, `{"id":2,"status":"x"}`, `{"id":2,"status":"y"}`, "status").Effects[0])
	sheet := func(digest string) *Sheet {
		s := New(c, issues, Viewer{Reviewer: true})
		s.Digest = digest
		return s
	}
	var used once.Memory
	if err := ViewItem(t.Context(), &used, "rita", sheet("d1"), 1); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		person, digest string
		want           [2]bool
	}{{"rita", "d1", [2]bool{false, true}}, {"tom", "d1", [2]bool{}}, {"rita", "d2", [2]bool{}}} {
		s := sheet(tt.digest)
		if err := ViewedItems(t.Context(), &used, tt.person, s); err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{s.Items[0].Viewed, s.Items[1].Viewed}; got != tt.want {
			t.Errorf("%s, %s: got %v, want %v", tt.person, tt.digest, got, tt.want)
		}
	}
}
