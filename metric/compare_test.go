package metric

import (
	"testing"
	"time"
)

// TestStep checks which time is compared with another.
func TestStep(t *testing.T) {
	for _, tt := range []struct {
		compare, period, from, to, at, want string // want is "" if the earlier month or year has no such time
	}{
		{previousPeriod, "", "2026-Q3", "2026-Q3", "2026-07-01", "2026-04-01"},
		{previousPeriod, "", "2026-07-03", "2026-07-04", "2026-07-03", "2026-07-01"},
		{previousPeriod, "", "2024-02", "2024-02", "2024-02-29", "2024-01-29"},
		{previousPeriod, "month", "2026-03", "2026-03", "2026-03-30", ""},
		{previousPeriod, "week", "2026", "2026", "2026-01-05", "2025-12-29"},
		{previousPeriod, "day", "2026", "2026", "2026-03-01", "2026-02-28"},
		{previousPeriod, "quarter", "2026", "2026", "2026-01-01", "2025-10-01"},
		{previousPeriod, "year", "2026", "2026", "2026-01-01", "2025-01-01"},
		{previousYear, "day", "2024", "2024", "2024-02-29", ""},
		{previousYear, "", "2026", "2026", "2026-12-31", "2025-12-31"},
		{previousYear, "week", "2026", "2026", "2026-07-06", "2025-07-07"},
		{previousYear, "week", "2026", "2026", "2026-12-28", ""}, // week 53
	} {
		p := &Plan{request: Request{Compare: tt.compare}}
		p.span.from, _, _ = parseEnd(tt.from, "", time.UTC)
		_, p.span.to, _ = parseEnd(tt.to, "", time.UTC)
		at := -1
		if tt.period != "" {
			p.by, at = []dimension{{period: tt.period}}, 0
		}
		moment, _ := time.Parse(time.DateOnly, tt.at)
		got := ""
		if earlier, same := p.step(at)(moment); same {
			got = earlier.Format(time.DateOnly)
		}
		if got != tt.want {
			t.Errorf("%s by %q of %s: %s is compared with %q, want %q", tt.compare, tt.period, tt.from, tt.at, got, tt.want)
		}
	}
}
