package sqlite_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

const (
	oslo    = "Europe/Oslo"
	newYork = "America/New_York"
	havana  = "America/Havana" // clocks go back from 1:00 to 0:00
	apia    = "Pacific/Apia"   // had no 30 December 2011
)

// back converts a date to text, so that the expected values below are readable.
func back(e plan.Expr) plan.Expr { return plan.Convert{X: e, T: schema.String} }

func TestSQLiteDatePart(t *testing.T) {
	part := func(x, part, zone string) plan.Expr { return plan.DatePart{X: date(x), Part: part, Zone: zone} }
	check(t, []answer{
		{part("2026-01-01", "year", ""), "2026"},
		{part("2026-01-01", "year", newYork), "2025"},
		{part("2026-01-01", "dayOfYear", newYork), "365"},
		{part("2024-12-31", "dayOfYear", ""), "366"},
		{part("2026-11-22", "dayOfWeek", ""), "1"},
		{part("2026-11-22", "isoDayOfWeek", ""), "7"},
		{part("2026-12-31", "isoWeek", ""), "53"},
		{part("2027-01-03", "isoWeek", ""), "53"},
		{part("2027-01-03", "isoWeekYear", ""), "2026"},
		{part("2024-12-30", "isoWeek", ""), "1"},
		{part("2024-12-30", "isoWeekYear", ""), "2025"},
		{part("2026-03-29T00:59:59.999Z", "hour", oslo), "1"},
		{part("2026-03-29T01:00:00Z", "hour", oslo), "3"},
		{part("2026-03-29T01:00:00Z", "minute", "+05:30"), "30"},
		{part("2026-03-29T01:00:00Z", "dayOfMonth", "-05:30"), "28"},
		{part("2026-03-29T01:02:03.456Z", "second", ""), "3"},
		{part("2026-03-29T01:02:03.4567Z", "millisecond", ""), "456"},
		{part("1969-12-31T23:59:59.999Z", "millisecond", ""), "999"},
		{part("0001-01-01", "month", ""), "1"},
		{part("0001-01-01", "year", newYork), "null"},
		{part("9999-12-31T23:00:00Z", "year", oslo), "null"},
		{plan.DatePart{X: null(schema.Date), Part: "year"}, "null"},
	})
}

func TestSQLiteDateTrunc(t *testing.T) {
	trunc := func(x, unit, zone string, first int) plan.Expr {
		return back(plan.DateTrunc{X: date(x), Unit: unit, Zone: zone, WeekStart: first})
	}
	check(t, []answer{
		{trunc("2026-05-17T12:34:56.789Z", "year", "", 0), "'2026-01-01T00:00:00Z'"},
		{trunc("2026-05-17T12:34:56.789Z", "quarter", "", 0), "'2026-04-01T00:00:00Z'"},
		{trunc("2026-05-17T12:34:56.789Z", "month", "", 0), "'2026-05-01T00:00:00Z'"},
		{trunc("2026-05-17T12:34:56.789Z", "week", "", 0), "'2026-05-17T00:00:00Z'"},
		{trunc("2026-05-17T12:34:56.789Z", "week", "", 1), "'2026-05-11T00:00:00Z'"},
		{trunc("2026-05-17T12:34:56.789Z", "week", "", 6), "'2026-05-16T00:00:00Z'"},
		{trunc("2026-05-17T12:34:56.789Z", "day", oslo, 0), "'2026-05-16T22:00:00Z'"},
		{trunc("2026-05-17T12:34:56.789Z", "hour", "", 0), "'2026-05-17T12:00:00Z'"},
		{trunc("2026-05-17T12:34:56.789Z", "minute", "", 0), "'2026-05-17T12:34:00Z'"},
		{trunc("2026-05-17T12:34:56.789Z", "second", "", 0), "'2026-05-17T12:34:56Z'"},
		{trunc("1969-12-31T23:59:59.999Z", "second", "", 0), "'1969-12-31T23:59:59Z'"},
		{trunc("1969-12-31T23:59:59.999Z", "hour", "+05:30", 0), "'1969-12-31T23:30:00Z'"},
		{trunc("2026-03-29T05:00:00Z", "day", oslo, 0), "'2026-03-28T23:00:00Z'"},     // the day has 23 hours
		{trunc("2026-10-25T23:30:00Z", "day", oslo, 0), "'2026-10-25T23:00:00Z'"},     // the previous day had 25 hours
		{trunc("2026-10-25T01:30:00Z", "hour", oslo, 0), "'2026-10-25T01:00:00Z'"},    // the second 2:30
		{trunc("2026-11-01T06:30:00Z", "hour", newYork, 0), "'2026-11-01T06:00:00Z'"}, // the second 1:30
		{trunc("2026-11-01T10:00:00Z", "day", havana, 0), "'2026-11-01T04:00:00Z'"},   // midnight occurs twice, and this is the first
		{trunc("2026-03-08T10:00:00Z", "day", havana, 0), "'2026-03-08T05:00:00Z'"},   // midnight is skipped
		{trunc("2011-12-31T12:00:00Z", "day", apia, 0), "'2011-12-31T10:00:00Z'"},
		{trunc("0001-01-01T00:00:00Z", "week", "", 0), "null"},
		{trunc("0001-01-01T00:00:00Z", "year", "", 0), "'0001-01-01T00:00:00Z'"},
		{trunc("2026-01-01", "year", "Nowhere/Land", 0), "null"},
		{trunc("2026-01-01", "year", "Local", 0), "null"},
	})
}

func TestSQLiteDateText(t *testing.T) {
	write := func(x, format, zone string) plan.Expr {
		return plan.DateText{X: date(x), Format: format, Zone: zone}
	}
	check(t, []answer{
		{write("2026-01-02T03:04:05.006Z", "%Y-%m-%d %H:%M:%S.%L %j %G-W%V-%u %% é", ""), "'2026-01-02 03:04:05.006 002 2026-W01-5 % é'"},
		{write("2026-01-02T03:04:05.006Z", "%H", "+09:45"), "'12'"},
		{write("0033-01-02", "%Y %G", ""), "'0033 0032'"},
		{write("2026-01-02", "", ""), "''"},
		{plan.DateText{X: null(schema.Date), Format: "%Y"}, "null"},
	})
}

func TestSQLiteDateShift(t *testing.T) {
	shift := func(x string, n int64, unit, zone string) plan.Expr {
		return back(plan.DateShift{X: date(x), Amount: number(n), Unit: unit, Zone: zone})
	}
	check(t, []answer{
		{shift("2026-01-31", 1, "month", ""), "'2026-02-28T00:00:00Z'"},
		{shift("2024-01-31", 1, "month", ""), "'2024-02-29T00:00:00Z'"},
		{shift("2024-02-29", -1, "year", ""), "'2023-02-28T00:00:00Z'"},
		{shift("2026-03-31", -1, "month", ""), "'2026-02-28T00:00:00Z'"},
		{shift("2026-11-30", 1, "quarter", ""), "'2027-02-28T00:00:00Z'"},
		{shift("2026-01-31", -14, "month", ""), "'2024-11-30T00:00:00Z'"},
		{shift("2026-03-28T01:30:00Z", 1, "day", oslo), "'2026-03-29T01:30:00Z'"}, // 2:30 is skipped, so it is 3:30
		{shift("2026-03-28T12:00:00Z", 1, "day", oslo), "'2026-03-29T11:00:00Z'"},
		{shift("2026-03-28T12:00:00Z", 24, "hour", oslo), "'2026-03-29T12:00:00Z'"},
		{shift("2026-10-24T00:30:00Z", 1, "day", oslo), "'2026-10-25T00:30:00Z'"},    // 2:30 occurs twice, and this is the first
		{shift("2026-03-07T07:30:00Z", 1, "day", newYork), "'2026-03-08T07:30:00Z'"}, // 2:30 is skipped
		{shift("2026-10-31T05:30:00Z", 1, "day", newYork), "'2026-11-01T05:30:00Z'"},
		{shift("2026-03-22T12:00:00Z", 1, "week", oslo), "'2026-03-29T11:00:00Z'"},
		{shift("2026-01-01", -1, "millisecond", ""), "'2025-12-31T23:59:59.999Z'"},
		{shift("2026-01-01", 90, "second", ""), "'2026-01-01T00:01:30Z'"},
		{shift("2026-01-01", biggest, "year", ""), "null"},
		{shift("2026-01-01", smallest, "millisecond", ""), "null"},
		{shift("2026-01-01", 100_000, "year", ""), "null"},
		{shift("2026-01-01", -2026, "year", ""), "null"},
		{shift("0001-01-01", 9998, "year", ""), "'9999-01-01T00:00:00Z'"},
		{shift("0001-01-01", 315537897599999, "millisecond", ""), "'9999-12-31T23:59:59.999Z'"},
		{plan.DateShift{X: date("2026-01-01"), Amount: null(schema.Integer), Unit: "day"}, "null"},
		{op(plan.Millis, schema.Integer, date("2026-01-02"), date("2026-01-01")), "86400000"},
		{op(plan.Millis, schema.Integer, null(schema.Date), date("2026-01-01")), "null"},
	})
}

func TestSQLiteDateDiff(t *testing.T) {
	diff := func(from, to, unit, zone string, first int) plan.Expr {
		return plan.DateDiff{From: date(from), To: date(to), Unit: unit, Zone: zone, WeekStart: first}
	}
	check(t, []answer{
		{diff("2025-12-31T23:59:59Z", "2026-01-01", "year", "", 0), "1"},
		{diff("2026-01-01", "2025-12-31T23:59:59Z", "year", "", 0), "-1"},
		{diff("2025-12-31T23:59:59Z", "2026-01-01", "year", newYork, 0), "0"},
		{diff("2026-03-31", "2026-04-01", "quarter", "", 0), "1"},
		{diff("2026-01-31", "2027-03-01", "month", "", 0), "14"},
		{diff("2026-11-21", "2026-11-22", "week", "", 0), "1"},
		{diff("2026-11-21", "2026-11-22", "week", "", 1), "0"},
		{diff("2026-11-22", "2026-11-21", "week", "", 0), "-1"},
		{diff("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "day", oslo, 0), "1"},
		{diff("2026-03-28T23:30:00Z", "2026-03-29T02:30:00Z", "hour", oslo, 0), "3"},
		{diff("2026-01-01T00:59:59Z", "2026-01-01T01:00:00Z", "hour", "", 0), "1"},
		{diff("2026-01-01T00:59:59Z", "2026-01-01T01:00:00Z", "minute", "", 0), "1"},
		{diff("2026-01-01T00:00:00.999Z", "2026-01-01T00:00:01Z", "second", "", 0), "1"},
		{diff("0001-01-01", "9999-12-31T23:59:59.999Z", "millisecond", "", 0), "315537897599999"},
		{plan.DateDiff{From: null(schema.Date), To: date("2026-01-01"), Unit: "day"}, "null"},
	})
}
