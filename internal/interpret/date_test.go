package interpret

import (
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

const (
	oslo    = "Europe/Oslo"
	newYork = "America/New_York"
)

func at(text string) plan.Expr {
	if text == "null" {
		return lit(text, schema.Date)
	}
	return lit(`"`+text+`"`, schema.Date)
}

func TestDatePart(t *testing.T) {
	var tests []evaluation
	for _, tt := range []struct{ date, part, zone, want string }{
		{"2026-01-01", "isoWeek", "", "1"}, {"2026-01-01", "isoWeekYear", "", "2026"}, {"2026-01-01", "isoDayOfWeek", "", "4"},
		{"2027-01-01", "isoWeek", "", "53"}, {"2027-01-01", "isoWeekYear", "", "2026"}, {"2027-01-03", "isoDayOfWeek", "", "7"},
		{"2024-12-30", "isoWeek", "", "1"}, {"2024-12-30", "isoWeekYear", "", "2025"}, {"2024-12-30", "year", "", "2024"},
		{"2024-12-29", "dayOfWeek", "", "1"}, {"2024-12-28", "dayOfWeek", "", "7"}, {"2024-12-31", "dayOfYear", "", "366"},
		{"2024-02-29", "dayOfMonth", "", "29"}, {"2024-02-29T23:30:00Z", "month", "+05:30", "3"}, {"2024-02-29T23:30:00Z", "minute", "+05:30", "0"},
		{"2024-03-01T02:00:00Z", "dayOfMonth", "-02:30", "29"}, {"2026-07-01T12:34:56.789999Z", "millisecond", "", "789"},
		{"1969-12-31T23:59:59.9999Z", "millisecond", "", "999"}, {"1969-12-31T23:59:59.9999Z", "second", "", "59"},
		{"2026-03-29T00:59:59Z", "hour", oslo, "1"}, {"2026-03-29T01:00:00Z", "hour", oslo, "3"}, {"2026-10-25T00:30:00Z", "hour", oslo, "2"},
		{"2026-10-25T01:30:00Z", "hour", oslo, "2"}, {"2026-03-08T06:59:59Z", "hour", newYork, "1"}, {"2026-03-08T07:00:00Z", "hour", newYork, "3"},
		{"0001-01-01", "year", "", "1"}, {"0001-01-01", "year", newYork, "null"}, {"9999-12-31T23:59:59Z", "year", "", "9999"},
		{"9999-12-31T23:59:59Z", "year", "+01:00", "null"}, {"null", "year", oslo, "null"},
	} {
		tests = append(tests, evaluation{plan.DatePart{X: at(tt.date), Part: tt.part, Zone: tt.zone}, tt.want})
	}
	evaluate(t, tests)
}

func TestDateTrunc(t *testing.T) {
	var tests []evaluation
	for _, tt := range []struct {
		date, unit, zone string
		weekStart        int
		want             string
	}{
		{"2026-08-15T12:34:56.789Z", "year", "", 0, "2026-01-01T00:00:00Z"}, {"2026-08-15T12:34:56.789Z", "quarter", "", 0, "2026-07-01T00:00:00Z"},
		{"2026-08-15T12:34:56.789Z", "month", "", 0, "2026-08-01T00:00:00Z"}, {"2026-08-15T12:34:56.789Z", "week", "", 0, "2026-08-09T00:00:00Z"},
		{"2026-08-15T12:34:56.789Z", "week", "", 1, "2026-08-10T00:00:00Z"}, {"2026-08-15T12:34:56.789Z", "week", "", 6, "2026-08-15T00:00:00Z"},
		{"2026-08-15T12:34:56.789Z", "day", "", 0, "2026-08-15T00:00:00Z"}, {"2026-08-15T12:34:56.789Z", "minute", "", 0, "2026-08-15T12:34:00Z"},
		{"2026-08-15T12:34:56.789Z", "second", "", 0, "2026-08-15T12:34:56Z"}, {"1969-12-31T23:59:59.5Z", "second", "", 0, "1969-12-31T23:59:59Z"},
		{"2026-08-15T12:34:56Z", "hour", "+05:30", 0, "2026-08-15T12:30:00Z"}, {"2026-08-15T12:34:56Z", "day", "-08:00", 0, "2026-08-15T08:00:00Z"},
		{"2026-08-15T12:34:56Z", "year", oslo, 0, "2025-12-31T23:00:00Z"}, {"2026-03-29T12:00:00Z", "day", oslo, 0, "2026-03-28T23:00:00Z"},
		{"2026-10-25T12:00:00Z", "day", oslo, 0, "2026-10-24T22:00:00Z"}, {"2026-10-25T00:30:00Z", "hour", oslo, 0, "2026-10-25T00:00:00Z"},
		{"2026-10-25T01:30:00Z", "hour", oslo, 0, "2026-10-25T01:00:00Z"}, {"2026-11-01T12:00:00Z", "month", newYork, 0, "2026-11-01T04:00:00Z"},
		// The clock goes from midnight to one o'clock, and from one o'clock back to midnight.
		{"2018-11-04T12:00:00Z", "day", "America/Sao_Paulo", 0, "2018-11-04T03:00:00Z"}, {"2026-11-01T12:00:00Z", "day", "America/Havana", 0, "2026-11-01T04:00:00Z"},
		{"0001-01-01", "week", "", 0, "null"}, {"0001-01-01", "week", "", 1, "0001-01-01T00:00:00Z"}, {"0001-01-01T12:00:00Z", "day", "+05:30", 0, "null"},
		{"null", "day", "", 0, "null"},
	} {
		tests = append(tests, evaluation{plan.DateTrunc{X: at(tt.date), Unit: tt.unit, Zone: tt.zone, WeekStart: tt.weekStart}, tt.want})
	}
	evaluate(t, tests)
}

func TestDateText(t *testing.T) {
	var tests []evaluation
	for _, tt := range []struct{ date, format, zone, want string }{
		{"2026-01-02T03:04:05.006Z", "%Y-%m-%dT%H:%M:%S.%LZ", "", `"2026-01-02T03:04:05.006Z"`},
		{"2027-01-01T00:00:00Z", "%G-W%V-%u %j 100%%é", "", `"2026-W53-5 001 100%é"`},
		{"0042-01-01T00:00:00Z", "%Y/%G", "", `"0042/0042"`},
		{"2026-03-29T01:00:00Z", "%H:%M", oslo, `"03:00"`},
		{"2026-01-01T00:00:00Z", "", "", `""`},
		{"null", "%Y", "", "null"},
	} {
		tests = append(tests, evaluation{plan.DateText{X: at(tt.date), Format: tt.format, Zone: tt.zone}, tt.want})
	}
	evaluate(t, tests)
}

func TestDateShift(t *testing.T) {
	var tests []evaluation
	for _, tt := range []struct{ date, amount, unit, zone, want string }{
		{"2024-02-29", "1", "year", "", "2025-02-28T00:00:00Z"}, {"2024-02-29", "4", "year", "", "2028-02-29T00:00:00Z"},
		{"2026-01-31", "1", "month", "", "2026-02-28T00:00:00Z"}, {"2026-03-31", "-1", "month", "", "2026-02-28T00:00:00Z"},
		{"2026-12-31", "-10", "month", "", "2026-02-28T00:00:00Z"}, {"2025-11-30", "1", "quarter", "", "2026-02-28T00:00:00Z"},
		{"2026-01-31T12:00:00.000001Z", "-2", "week", "", "2026-01-17T12:00:00.000001Z"}, {"2026-02-28", "1", "day", "", "2026-03-01T00:00:00Z"},
		{"2026-01-01", "-1", "hour", "", "2025-12-31T23:00:00Z"}, {"2026-01-01", "90", "minute", oslo, "2026-01-01T01:30:00Z"},
		{"2026-01-01", "1", "second", "", "2026-01-01T00:00:01Z"}, {"2026-01-01", "1", "millisecond", "", "2026-01-01T00:00:00.001Z"},
		// In Oslo, 02:30 is skipped on 2026-03-29 and occurs twice on 2026-10-25.
		{"2026-03-28T01:30:00Z", "1", "day", oslo, "2026-03-29T01:30:00Z"}, {"2026-03-28T01:30:00Z", "24", "hour", oslo, "2026-03-29T01:30:00Z"},
		{"2026-03-28T11:00:00Z", "1", "day", oslo, "2026-03-29T10:00:00Z"}, {"2026-10-24T00:30:00Z", "1", "day", oslo, "2026-10-25T00:30:00Z"},
		{"2026-10-26T01:30:00Z", "-1", "day", oslo, "2026-10-25T00:30:00Z"}, {"2026-09-25T00:30:00Z", "1", "month", oslo, "2026-10-25T00:30:00Z"},
		{"2026-03-07T07:30:00Z", "1", "day", newYork, "2026-03-08T07:30:00Z"}, {"2026-10-31T05:30:00Z", "1", "day", newYork, "2026-11-01T05:30:00Z"},
		{"9999-12-31", "1", "day", "", "null"}, {"0001-01-01", "-1", "millisecond", "", "null"}, {"2026-01-01", "9223372036854775807", "year", "", "null"},
		{"2026-01-01", "-9223372036854775808", "millisecond", "", "null"}, {"2026-01-01", "-9223372036854775808", "month", "", "null"},
		{"2026-01-01", "7973", "year", "", "9999-01-01T00:00:00Z"}, {"2026-01-01", "7974", "year", "", "null"}, {"2026-01-01", "-2025", "year", "", "0001-01-01T00:00:00Z"},
		{"2026-01-01", "-2026", "year", "", "null"}, {"0001-01-01", "119987", "month", "", "9999-12-01T00:00:00Z"},
		{"2026-01-01", "null", "day", "", "null"}, {"null", "1", "day", "", "null"},
	} {
		tests = append(tests, evaluation{plan.DateShift{X: at(tt.date), Amount: lit(tt.amount, schema.Integer), Unit: tt.unit, Zone: tt.zone}, tt.want})
	}
	evaluate(t, tests)
}

func TestDateDiff(t *testing.T) {
	var tests []evaluation
	for _, tt := range []struct {
		from, to, unit, zone string
		weekStart            int
		want                 string
	}{
		{"2025-12-31T23:59:59Z", "2026-01-01", "year", "", 0, "1"}, {"2026-01-01", "2025-12-31T23:59:59Z", "year", "", 0, "-1"},
		{"2026-01-01", "2026-12-31", "year", "", 0, "0"}, {"2025-12-31", "2026-04-01", "quarter", "", 0, "2"}, {"2026-03-31", "2026-04-01", "month", "", 0, "1"},
		{"2026-08-15", "2026-08-16", "week", "", 0, "1"}, {"2026-08-15", "2026-08-16", "week", "", 1, "0"}, {"2026-08-16", "2026-08-17", "week", "", 1, "1"},
		{"1969-12-28", "1970-01-04", "week", "", 0, "1"}, {"1969-12-31", "1970-01-01", "week", "", 4, "1"}, {"0001-01-01", "0001-01-08", "week", "", 1, "1"},
		{"2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "day", oslo, 0, "1"}, {"2026-03-28T23:00:00Z", "2026-03-29T21:59:59Z", "day", oslo, 0, "0"},
		{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "hour", oslo, 0, "1"}, {"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "hour", oslo, 0, "1"},
		{"2026-01-01T00:15:00Z", "2026-01-01T00:30:00Z", "hour", "+05:30", 0, "1"}, {"2026-01-01T00:59:59Z", "2026-01-01T01:00:00Z", "minute", "", 0, "1"},
		{"2026-01-01T00:00:00.9Z", "2026-01-01T00:00:01Z", "second", "", 0, "1"}, {"2026-01-01", "2025-12-31T23:59:59.999999Z", "millisecond", "", 0, "-1"},
		{"0001-01-01", "9999-12-31", "day", "", 0, "3652058"}, {"null", "2026-01-01", "day", "", 0, "null"}, {"2026-01-01", "null", "day", "", 0, "null"},
	} {
		tests = append(tests, evaluation{plan.DateDiff{From: at(tt.from), To: at(tt.to), Unit: tt.unit, Zone: tt.zone, WeekStart: tt.weekStart}, tt.want})
	}
	millis := func(x, y string) plan.Expr {
		return plan.Apply{Op: plan.Millis, T: schema.Integer, Args: []plan.Expr{at(x), at(y)}}
	}
	evaluate(t, append(tests, evaluation{millis("1970-01-01T00:00:00.0015Z", "1970-01-01"), "1"},
		evaluation{millis("1969-12-31T23:59:59.9985Z", "1970-01-01"), "-1"}, evaluation{millis("null", "1970-01-01"), "null"}))
}

// TestUnits checks that the operators are consistent. A unit begins at or before each date in it and ends after it. The
// difference of two dates is the number of units between the beginnings of their units.
func TestUnits(t *testing.T) {
	first, last := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	zones := []string{"", "+05:30", "-11:00", oslo, newYork, "America/Havana", "America/Sao_Paulo", "Asia/Kathmandu"}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		unit := rapid.SampledFrom([]string{"year", "quarter", "month", "week", "day", "hour", "minute", "second"}).Draw(t, "unit")
		start := rapid.IntRange(0, 6).Draw(t, "start of the week")
		date := func(name string) plan.Expr {
			return plan.Const{Value: value.OfDate(rapid.Int64Range(first, last).Draw(t, name)), T: schema.Date}
		}
		trunc := func(x plan.Expr) plan.Expr {
			return plan.DateTrunc{X: x, Unit: unit, Zone: zone, WeekStart: start}
		}
		shift := func(x, n plan.Expr) plan.Expr {
			return plan.DateShift{X: x, Amount: n, Unit: unit, Zone: zone}
		}
		at := &place{reading: &reading{ctx: t.Context()}}
		from, to := date("from"), date("to")
		begins, ends := at.eval(trunc(from)), at.eval(trunc(shift(trunc(from), lit("1", schema.Integer))))
		if x := at.eval(from); begins.Micros() > x.Micros() || ends.Micros() <= x.Micros() {
			t.Errorf("%s is in the %s from %s to %s in %s", x, unit, begins, ends, zone)
		}
		n := plan.DateDiff{From: from, To: to, Unit: unit, Zone: zone, WeekStart: start}
		if got, want := at.eval(trunc(shift(trunc(from), n))), at.eval(trunc(to)); got != want {
			t.Errorf("%s and %s %ss later, %s, is %s, not %s in %s", at.eval(from), at.eval(n), unit, at.eval(to), got, want, zone)
		}
	})
}
