package dialecttest

import (
	"fmt"
	"regexp"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// long is the text of an operand that isn't a name.
const long = "x y"

// Conversions shows how a dialect converts and widens values.
func (b *Sheet) Conversions(d sqlgen.Dialect) {
	b.Part("conversions")
	for _, from := range []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.Day, schema.UUID, schema.Bytes, schema.JSON} {
		for _, to := range []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date} {
			b.Line(fmt.Sprintf("%s to %s", from, to), d.Convert(b, long, from, to))
		}
	}
	b.Part("wider")
	for _, pair := range [][2]schema.Type{{schema.Integer, schema.Decimal}, {schema.Integer, schema.Double}, {schema.Decimal, schema.Double},
		{schema.Double, schema.Decimal}, {schema.Day, schema.Date}, {schema.UUID, schema.String}} {
		b.Line(fmt.Sprintf("%s as %s", pair[0], pair[1]), d.Widen(b, long, pair[0], pair[1]))
	}
}

// offsets are zones by their offset, and texts that are none.
var offsets = []string{"+05:30", "+1:000", "05:300", "*05:30", "+05-30", "+x5:30", "+05:x0", "-x5:30", "-05:3x", "005:30", "UTC", "Europe/Oslo"}

// Dates shows the operators on dates of a dialect, in UTC and in the local time of an offset and of a zone.
func (b *Sheet) Dates(d sqlgen.Dialect, zone string) {
	b.Part("dates")
	for _, zone := range []string{"", "-05:30", zone} {
		at := " " + zone
		b.Line("year"+at, d.DatePart(b, long, "year", zone))
		for _, unit := range []string{"year", "day", "hour"} {
			b.Line("trunc "+unit+at, d.DateTrunc(b, long, plan.DateTrunc{Unit: unit, Zone: zone}))
		}
		b.Line("trunc week"+at, d.DateTrunc(b, long, plan.DateTrunc{Unit: "week", Zone: zone, WeekStart: 1}))
		b.Line("text"+at, d.DateText(b, long, "%Y", zone))
		for _, unit := range []string{"month", "week", "hour", "millisecond"} {
			b.Line("shift "+unit+at, d.DateShift(b, long, "y z", unit, zone))
			b.Line("diff "+unit+at, d.DateDiff(b, long, "y z", plan.DateDiff{Unit: unit, Zone: zone, WeekStart: 1}))
		}
	}
	for _, part := range []string{"second", "millisecond", "dayOfWeek", "isoDayOfWeek", "isoWeek", "isoWeekYear"} {
		b.Line(part, d.DatePart(b, "x", part, ""))
	}
	for _, zone := range offsets {
		// Of a zone with many changes only the form is shown: tables of zones differ between systems.
		b.Line("hour "+zone, regexp.MustCompile("(, -?[0-9]+){5,}").ReplaceAllString(d.DatePart(b, "x", "hour", zone), ", …"))
	}
	for _, unit := range []string{"quarter", "month", "minute", "second", "millisecond"} {
		b.Line("trunc "+unit, d.DateTrunc(b, "x", plan.DateTrunc{Unit: unit}))
	}
	for _, format := range []string{"", "%", "a%", "%Y-%m", `a"\b%Q%%%Lz%u%L`} {
		b.Line("as "+format, d.DateText(b, "x", format, ""))
	}
	for _, unit := range []string{"year", "quarter", "minute", "second", "day"} {
		b.Line("diff "+unit, d.DateDiff(b, "x", "y", plan.DateDiff{Unit: unit}))
		b.Line("shift "+unit, d.DateShift(b, "x", "y", unit, ""))
	}
}
