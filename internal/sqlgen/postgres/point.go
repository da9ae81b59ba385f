package postgres

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/condition"
	"github.com/bailiwick-dev/bailiwick/query"
)

// On implements condition.Dialect, by the formula of area.Holds.
func (conditions) On(w *condition.Writer, x condition.Operand, f query.GeoWithin) error {
	put := func(n float64) string { return w.Arg(n, "float8") }
	w.Write(pgLocated(w, x, func(lng, lat string) string {
		switch a := f.Area; {
		case a.Round && a.Least > 0:
			return pgDistance(w, a.From, lng, lat) + " BETWEEN " + put(a.Least) + " AND " + put(a.Radius)
		case a.Round:
			return pgDistance(w, a.From, lng, lat) + " <= " + put(a.Radius)
		default:
			return lng + " BETWEEN " + put(a.From[0]) + " AND " + put(a.To[0]) + " AND " + lat + " BETWEEN " + put(a.From[1]) + " AND " + put(a.To[1])
		}
	}))
	return nil
}

// Distance implements condition.Dialect.
func (conditions) Distance(w *condition.Writer, x condition.Operand, near query.GeoWithin) (string, error) {
	return pgLocated(w, x, func(lng, lat string) string {
		return "round((" + pgDistance(w, near.Area.From, lng, lat) + ") * 1e9)::int8"
	}), nil
}

// pgDistance writes the distance in radians of a point from another. The server fails where a product is too small for a
// double, so that what is nearer to 0 than any place on the earth counts as 0.
func pgDistance(w *condition.Writer, from [2]float64, lng, lat string) string {
	const degree = " * (pi() / 180)"
	put := func(n float64) string { return w.Arg(n, "float8") }
	half := func(coordinate string, of float64) string {
		return "sin(CASE WHEN abs(" + coordinate + " - " + put(of) + ") > 1e-100 THEN (" + coordinate + " - " + put(of) + ")" + degree + " / 2 ELSE 0 END)"
	}
	return "2 * asin(least(1, sqrt(power(" + half(lat, from[1]) + ", 2) + cos(" + put(from[1]) + degree + ") * cos(CASE WHEN abs(" + lat + ") > 1e-100 THEN " + lat +
		degree + " ELSE 0 END) * power(" + half(lng, from[0]) + ", 2))))"
}

// pgLocated writes what of returns for the longitude and the latitude of a point, null for what isn't a point.
func pgLocated(w *condition.Writer, x condition.Operand, of func(lng, lat string) string) string {
	list, at := w.Alias("p"), w.Alias("p")
	number := func(i string) string {
		n := list + ".v -> " + i
		return "(CASE jsonb_typeof(" + n + ") WHEN 'number' THEN " + pgDouble("("+n+")::numeric") + " END)"
	}
	lng, lat := at+".x", at+".y"
	text := "(SELECT CASE WHEN " + lng + " BETWEEN -180 AND 180 AND " + lat + " BETWEEN -90 AND 90 THEN " + of(lng, lat) + " END FROM "
	if !x.Node() {
		return text + "(SELECT " + x.Text + "[0] AS x, " + x.Text + "[1] AS y) AS " + at + ")"
	}
	return text + "(SELECT " + number("0") + " AS x, " + number("1") + " AS y FROM (SELECT " + pgPair(x.Text) + " AS v) AS " + list + ") AS " + at + ")"
}

// pgPair writes the list of the longitude and the latitude of a point in one of the forms that are stored, null for none.
func pgPair(x string) string {
	at := "(" + x + " -> 'coordinates')"
	text := "CASE jsonb_typeof(" + x + ") WHEN 'array' THEN CASE jsonb_array_length(" + x + ") WHEN 2 THEN " + x + " END WHEN 'object' THEN CASE WHEN " + x +
		" -> 'type' = '\"Point\"' THEN CASE jsonb_typeof(" + at + ") WHEN 'array' THEN CASE WHEN jsonb_array_length(" + at + ") IN (2, 3) THEN " + at + " END END"
	for _, names := range [][2]string{{"longitude", "latitude"}, {"lng", "lat"}, {"lon", "lat"}} {
		a, b := x+" -> '"+names[0]+"'", x+" -> '"+names[1]+"'"
		text += " WHEN " + a + " IS NOT NULL AND " + b + " IS NOT NULL THEN jsonb_build_array(" + a + ", " + b + ")"
	}
	return text + " END END"
}
