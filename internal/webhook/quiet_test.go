package webhook

import (
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
)

func TestDue(t *testing.T) {
	night := &Quiet{From: 22 * 60, To: 7 * 60, Zone: "Europe/Berlin"} // in summer, two hours ahead of UTC
	early := &Quiet{From: 60, To: 150, Zone: "Europe/Berlin"}         // its end doesn't occur in spring and occurs twice in autumn
	hills := &Quiet{From: 22 * 60, To: 7 * 60, Zone: "Asia/Kathmandu"}
	coast := &Quiet{From: 22 * 60, To: 7 * 60, Zone: "America/Los_Angeles"}
	twice := &Quiet{From: 30, To: 90, Zone: "America/Los_Angeles"}
	noon := &Quiet{From: 12 * 60, To: 13 * 60}
	for _, c := range []struct {
		hook    Hook
		broken  bool
		at, due string // "" means at once
	}{
		{Hook{}, false, "2026-07-01T03:00:00Z", ""},
		{Hook{Quiet: night}, false, "2026-07-01T19:59:59Z", ""},
		{Hook{Quiet: night}, false, "2026-07-01T20:00:00Z", "2026-07-02T05:00:00Z"},
		{Hook{Quiet: night}, false, "2026-07-02T04:59:59Z", "2026-07-02T05:00:00Z"},
		{Hook{Quiet: night}, false, "2026-07-02T05:00:00Z", ""},
		{Hook{Quiet: night}, false, "2026-10-24T21:00:00Z", "2026-10-25T06:00:00Z"}, // the clock is set back in this night
		{Hook{Quiet: night}, false, "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"}, // the clock is set forward in this night
		{Hook{Quiet: early}, false, "2026-03-29T00:15:00Z", "2026-03-29T01:30:00Z"},
		{Hook{Quiet: early}, false, "2026-10-25T00:15:00Z", "2026-10-25T01:30:00Z"},
		{Hook{Quiet: early}, false, "2026-10-25T00:45:00Z", ""},
		{Hook{Quiet: early}, false, "2026-10-25T01:15:00Z", "2026-10-25T01:30:00Z"},
		{Hook{Quiet: hills}, false, "2026-07-01T16:15:00Z", "2026-07-02T01:15:00Z"},
		{Hook{Quiet: hills}, false, "2026-07-01T16:14:59Z", ""},
		{Hook{Quiet: twice}, false, "2026-11-01T07:45:00Z", "2026-11-01T08:30:00Z"},
		{Hook{Quiet: twice}, false, "2026-11-01T08:45:00Z", ""},
		{Hook{Quiet: twice}, false, "2026-11-01T09:10:00Z", "2026-11-01T09:30:00Z"},
		{Hook{Quiet: coast}, false, "2026-12-31T06:00:00Z", "2026-12-31T15:00:00Z"}, // it is still the previous day there
		{Hook{Quiet: night}, true, "2026-07-01T20:00:00Z", ""},
		{Hook{Quiet: noon}, false, "2026-07-01T12:30:00Z", "2026-07-01T13:00:00Z"},
		{Hook{Quiet: noon}, false, "2026-07-01T13:00:00Z", ""},
		{Hook{Digest: time.Hour}, false, "2026-07-01T12:30:00Z", "2026-07-01T13:00:00Z"},
		{Hook{Digest: time.Hour, Quiet: noon}, false, "2026-07-01T11:30:00Z", "2026-07-01T13:00:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if due := c.hook.due(change.Event{Broken: c.broken}, at); !due.IsZero() {
			got = due.UTC().Format(time.RFC3339)
		}
		if got != c.due {
			t.Errorf("%+v at %s: %q, want %q", c.hook, c.at, got, c.due)
		}
	}
	for text, want := range map[string]string{"22:00-07:00": "", "24:00-07:00": "must be hours such as 22:00-07:00", "22:00-22:00": "begins when it ends, so nothing would ever be sent",
		"22:00-07:00x": "must be hours such as 22:00-07:00", "22-7": "must be hours such as 22:00-07:00", "": "must be hours such as 22:00-07:00"} {
		if _, err := ParseQuiet(text); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
