package sqlgen

import "github.com/bailiwick-dev/bailiwick/query"

// A Point is a point as text: its longitude, its latitude, and the dialect's type of a double.
type Point struct{ Lng, Lat, Double string }

// On returns a condition that is true if the point is in the area of f. angle is the expression for the distance from
// the center.
func (p Point) On(w *Writer, f query.GeoWithin, angle string) string {
	put := func(n float64) string { return w.Arg(n, p.Double) }
	switch a := f.Area; {
	case a.Round && a.Least > 0:
		return angle + " BETWEEN " + put(a.Least) + " AND " + put(a.Radius)
	case a.Round:
		return angle + " <= " + put(a.Radius)
	default:
		return p.Lng + " BETWEEN " + put(a.From[0]) + " AND " + put(a.To[0]) + " AND " + p.Lat + " BETWEEN " + put(a.From[1]) + " AND " + put(a.To[1])
	}
}

// Valid returns text if the coordinates are valid on the earth, and otherwise null.
func (p Point) Valid(text string) string {
	return "CASE WHEN " + p.Lng + " BETWEEN -180 AND 180 AND " + p.Lat + " BETWEEN -90 AND 90 THEN " + text + " END"
}

// Angle returns the distance in radians from the center of f, by the formula of literals.Area. The database's functions
// must accept numbers of any size.
func (p Point) Angle(w *Writer, f query.GeoWithin) string {
	put := func(n float64) string { return w.Arg(n, p.Double) }
	half := func(coordinate string, from float64) string {
		return "pow(sin(radians(" + coordinate + " - " + put(from) + ") / 2), 2)"
	}
	from := f.Area.From
	return "2 * asin(least(1e0, sqrt(" + half(p.Lat, from[1]) + " + cos(radians(" + put(from[1]) + ")) * cos(radians(" + p.Lat + ")) * " + half(p.Lng, from[0]) + ")))"
}
