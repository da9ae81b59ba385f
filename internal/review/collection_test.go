package review

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
)

// TestUnreadCollection checks the note on a sheet whose collection was only partly read.
func TestUnreadCollection(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	for _, row := range []struct {
		listed *change.Listed
		want   string
	}{
		{nil, ""},
		{&change.Listed{Rows: 2}, "This call changes a collection. Records read before it: 2. There may be more than are shown."},
		{&change.Listed{Rows: 2, Total: n(57)}, "This call changes a collection. Records read before it: 2 of 57. The others are not shown."},
		{&change.Listed{Rows: 2, Total: n(2)}, "This call changes a collection. Records read before it: 2. There may be more than are shown."},
	} {
		c := change.Change{Effects: []change.Effect{{Listed: row.listed}}}
		if got := unread(c.Effects[0]); got != row.want {
			t.Errorf("%+v: %q, want %q", row.listed, got, row.want)
		}
		if c.HasUnknownEffects() != (row.listed != nil) {
			t.Errorf("%+v: a person decides: %t", row.listed, c.HasUnknownEffects())
		}
	}
}
