package pipelines

import "github.com/bailiwick-dev/bailiwick/value"

func (g *generator) unit(fine bool) string {
	units := []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second"}
	if fine {
		units = append(units, "millisecond")
	}
	return pick(g, "unit", units...)
}

// withZone adds a time zone to some of the objects that accept one.
func (g *generator) withZone(m value.Value) value.Value {
	if g.chance("zone", 3) {
		return value.OfObject(append(m.Members(), value.Member{Name: "timezone", Value: value.OfString(pick(g, "zone", zoneNames...))}))
	}
	return m
}

func (g *generator) week(m value.Value) value.Value {
	if g.chance("week", 4) {
		return value.OfObject(append(m.Members(), value.Member{Name: "startOfWeek", Value: value.OfString(pick(g, "first day", "monday", "thu", "sunday"))}))
	}
	return m
}
