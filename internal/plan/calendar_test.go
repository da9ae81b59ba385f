package plan

import (
	"strings"
	"testing"
)

func TestBetween(t *testing.T) {
	for _, tt := range []struct {
		interval, zone, from, to string
		most                     int
		down                     bool
		want                     string
	}{
		{"year", "", "2023", "2026", 9, false, "2024 2025"},
		{"year", "", "2023", "2026", 1, false, "2024"},
		{"year", "", "2023", "2026", 1, true, "2025"},
		{"quarter", "", "2025-Q3", "2026-Q2", 9, false, "2025-Q4 2026-Q1"},
		{"quarter", "", "2025-Q3", "2026-Q2", 9, true, "2026-Q1 2025-Q4"},
		{"month", "", "2025-11", "2026-02", 9, false, "2025-12 2026-01"},
		{"month", "", "2025-11", "2026-02", 9, true, "2026-01 2025-12"},
		{"month", "", "2025-11", "2025-12", 9, false, ""},
		// 2020 has 53 ISO weeks. 2026 begins in its own week 1, and 2027 in the last week of 2026.
		{"week", "", "2020-W52", "2021-W02", 9, false, "2020-W53 2021-W01"},
		{"week", "", "2026-W52", "2027-W02", 9, false, "2026-W53 2027-W01"},
		{"week", "", "2025-W51", "2026-W02", 9, true, "2026-W01 2025-W52"},
		{"day", "", "2024-02-28", "2024-03-02", 9, false, "2024-02-29 2024-03-01"},
		{"day", "America/New_York", "2026-03-07", "2026-03-10", 9, false, "2026-03-08 2026-03-09"},
		// In Samoa there was no 30 December 2011.
		{"day", "Pacific/Apia", "2011-12-28", "2012-01-01", 9, false, "2011-12-29 2011-12-31"},
		{"hour", "", "2026-01-31 22:00", "2026-02-01 01:00", 9, false, "2026-01-31 23:00|2026-02-01 00:00"},
		// Clocks go forward at 2:00, and back at 2:00.
		{"hour", "America/New_York", "2026-03-08 00:00", "2026-03-08 05:00", 9, false, "2026-03-08 01:00|2026-03-08 03:00|2026-03-08 04:00"},
		{"hour", "America/New_York", "2026-11-01 00:00", "2026-11-01 03:00", 9, false, "2026-11-01 01:00|2026-11-01 02:00"},
		{"hour", "America/New_York", "2026-03-08 00:00", "2026-03-08 05:00", 9, true, "2026-03-08 04:00|2026-03-08 03:00|2026-03-08 01:00"},
		// On Lord Howe Island, clocks go forward by half an hour: 2:30 to 2:59 exist.
		{"hour", "Australia/Lord_Howe", "2026-10-04 01:00", "2026-10-04 04:00", 9, false, "2026-10-04 02:00|2026-10-04 03:00"},
		{"minute", "Australia/Lord_Howe", "2026-10-04 01:58", "2026-10-04 02:32", 9, false, "2026-10-04 01:59|2026-10-04 02:30|2026-10-04 02:31"},
		{"minute", "+05:30", "2026-01-01 00:58", "2026-01-01 01:01", 9, false, "2026-01-01 00:59|2026-01-01 01:00"},
		{"second", "", "2026-01-01 00:00:58", "2026-01-01 00:01:01", 9, false, "2026-01-01 00:00:59|2026-01-01 00:01:00"},
	} {
		k := &Calendar{Interval: tt.interval, Zone: Zone(tt.zone)}
		separator := " "
		if strings.Contains(tt.from, " ") {
			separator = "|"
		}
		if got := strings.Join(k.Between(tt.from, tt.to, tt.most, tt.down), separator); got != tt.want {
			t.Errorf("%s %s: between %s and %s: %s, want %s", tt.interval, tt.zone, tt.from, tt.to, got, tt.want)
		}
	}
}
