package duckdb

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
)

// On implements sqlgen.Dialect.
func (dialect) On(w *sqlgen.Writer, x sqlgen.Operand, f query.GeoWithin) error {
	w.Write(located(w, x, func(p sqlgen.Point) string { return p.On(w, f, p.Angle(w, f)) }))
	return nil
}

// Distance implements sqlgen.Dialect.
func (dialect) Distance(w *sqlgen.Writer, x sqlgen.Operand, near query.GeoWithin) (string, error) {
	return located(w, x, func(p sqlgen.Point) string { return "round(" + p.Angle(w, near) + " * 1e9)::BIGINT" }), nil
}

// located writes the expression that the function of returns if x is a point. The result is null for other values.
// Lists with one element contain the point and its two numbers, so neither is extracted again where it is used.
func located(w *sqlgen.Writer, x sqlgen.Operand, of func(sqlgen.Point) string) string {
	v, at := w.Alias("p"), w.Alias("p")
	number := func(i string) string {
		return "(CASE WHEN json_type(" + v + ", '$[" + i + "]') IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN TRY_CAST(json_extract(" + v + ", '$[" + i + "]')::VARCHAR AS DOUBLE) END)"
	}
	p := sqlgen.Point{Lng: at + "[1]", Lat: at + "[2]", Double: "DOUBLE"}
	return "(list_transform(list_transform([" + pair(x.Text) + "], lambda " + v + ": [" + number("0") + ", " + number("1") + "]), lambda " + at + ": " + p.Valid(of(p)) + ")[1])"
}

// pair writes the list of longitude and latitude of a point in one of its stored forms, or null.
func pair(x string) string {
	part := func(name string) string { return "json_extract(" + x + ", '/" + name + "')" }
	at := part("coordinates")
	text := "(CASE json_type(" + x + ") WHEN 'ARRAY' THEN CASE json_array_length(" + x + ") WHEN 2 THEN " + x + " END WHEN 'OBJECT' THEN CASE WHEN json_type(" + x +
		", '/type') = 'VARCHAR' AND json_extract_string(" + x + ", '/type') = 'Point' THEN CASE WHEN json_type(" + at + ") = 'ARRAY' AND json_array_length(" + at +
		") IN (2, 3) THEN " + at + "::VARCHAR END"
	for _, names := range [][2]string{{"longitude", "latitude"}, {"lng", "lat"}, {"lon", "lat"}} {
		a, b := part(names[0]), part(names[1])
		text += " WHEN " + a + " IS NOT NULL AND " + b + " IS NOT NULL THEN '[' || " + a + "::VARCHAR || ',' || " + b + "::VARCHAR || ']'"
	}
	return text + " END END)"
}
