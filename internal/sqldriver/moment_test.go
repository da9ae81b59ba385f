package sqldriver_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestMoment compares Moment with package time, for texts of the right form and for texts with one changed character.
func TestMoment(t *testing.T) {
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(19|20|00)[0-9][0-9]-(0[0-9]|1[0-3])-([0-2][0-9]|3[0-2])[ T]([01][0-9]|2[0-4]):[0-6][0-9]:[0-6][0-9]Z?`).Draw(t, "text")
		if at := rapid.IntRange(-20, len(text)-1).Draw(t, "at"); at >= 0 {
			text = text[:at] + rapid.StringMatching(`[0-9:TZ .+-]?`).Draw(t, "changed") + text[at+1:]
		}
		got, ok := sqldriver.Moment(text)
		if !ok {
			return
		}
		read++
		if want, is := value.OfDateText(text); !is || !value.Equal(got, want) {
			t.Fatalf("%q is %v, and package time says %v (%v)", text, got, want, is)
		}
	})
	for _, text := range []string{"2026-02-28 23:59:59", "2024-02-29T00:00:00Z", "0000-01-01 00:00:00"} {
		if _, ok := sqldriver.Moment(text); !ok {
			t.Errorf("%q isn't read", text)
		}
	}
	for _, text := range []string{"", "2026-02-29 00:00:00", "0000-00-00 00:00:00", "2026-02-28 24:00:00", "2026-02-28 00:00:00.5", "2026-02-28 00:00:00+01:00"} {
		if _, ok := sqldriver.Moment(text); ok {
			t.Errorf("%q is read", text)
		}
	}
	if read == 0 {
		t.Errorf("none of the random texts is read")
	}
}
