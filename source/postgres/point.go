package postgres

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// On implements sqlgen.Dialect.
func (dialect) On(w *sqlgen.Writer, x sqlgen.Operand, f query.GeoWithin) error {
	w.Write(pgPointExpr(w, x, func(p sqlgen.Point) string { return p.On(w, f, pgDistance(w, f.Area.From, p.Lng, p.Lat)) }))
	return nil
}

// Distance implements sqlgen.Dialect.
func (dialect) Distance(w *sqlgen.Writer, x sqlgen.Operand, near query.GeoWithin) (string, error) {
	return pgPointExpr(w, x, func(p sqlgen.Point) string {
		return "round((" + pgDistance(w, near.Area.From, p.Lng, p.Lat) + ") * 1e9)::int8"
	}), nil
}

// argumentOf returns a column of points as PostgreSQL's type point. PostGIS can cast its type geometry to point, and
// geography to geometry.
func argumentOf(x string, f *schema.Field) string {
	i := strings.LastIndexByte(f.Native, '.')
	if i < 0 {
		return x
	}
	if f.Native[i:] == ".geography" {
		x += "::" + dialect{}.Quote(f.Native[:i]) + ".geometry"
	}
	return x + "::point"
}

// pgDistance writes the distance between two points in radians. The server fails if a product is too small for a
// double. So numbers that are closer to 0 than any place on the earth count as 0.
func pgDistance(w *sqlgen.Writer, from [2]float64, lng, lat string) string {
	const degree = " * (pi() / 180)"
	put := func(n float64) string { return w.Arg(n, "float8") }
	half := func(coordinate string, of float64) string {
		return "sin(CASE WHEN abs(" + coordinate + " - " + put(of) + ") > 1e-100 THEN (" + coordinate + " - " + put(of) + ")" + degree + " / 2 ELSE 0 END)"
	}
	return "2 * asin(least(1, sqrt(power(" + half(lat, from[1]) + ", 2) + cos(" + put(from[1]) + degree + ") * cos(CASE WHEN abs(" + lat + ") > 1e-100 THEN " + lat +
		degree + " ELSE 0 END) * power(" + half(lng, from[0]) + ", 2))))"
}

// pgPointExpr writes the expression that the function of returns if x is a point. The result is null for other
// values.
func pgPointExpr(w *sqlgen.Writer, x sqlgen.Operand, of func(sqlgen.Point) string) string {
	list, at := w.Alias("p"), w.Alias("p")
	number := func(i string) string {
		n := list + ".v -> " + i
		return "(CASE jsonb_typeof(" + n + ") WHEN 'number' THEN " + pgDouble("("+n+")::numeric") + " END)"
	}
	p := sqlgen.Point{Lng: at + ".x", Lat: at + ".y", Double: "float8"}
	text := "(SELECT " + p.Valid(of(p)) + " FROM "
	if !x.Node() {
		point := "(" + argumentOf(x.Text, x.Field) + ")"
		return text + "(SELECT " + point + "[0] AS x, " + point + "[1] AS y) AS " + at + ")"
	}
	return text + "(SELECT " + number("0") + " AS x, " + number("1") + " AS y FROM (SELECT " + pgPair(x.Text) + " AS v) AS " + list + ") AS " + at + ")"
}

// pgPair writes the list of longitude and latitude of a point in one of its stored forms, or null.
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
