package mariadb

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
)

// On implements sqlgen.Dialect. It computes the position itself, because MariaDB's geometry functions use a plane.
func (dialect) On(w *sqlgen.Writer, x sqlgen.Operand, f query.GeoWithin) error {
	w.Write(pointExpr(w, x, func(p sqlgen.Point) string { return p.On(w, f, p.Angle(w, f)) }))
	return nil
}

// Distance implements sqlgen.Dialect.
func (dialect) Distance(w *sqlgen.Writer, x sqlgen.Operand, near query.GeoWithin) (string, error) {
	return pointExpr(w, x, func(p sqlgen.Point) string { return "CAST(ROUND(" + p.Angle(w, near) + " * 1e9) AS SIGNED)" }), nil
}

// pointExpr writes the expression that the function of returns if x is a point. The result is null for other values.
// JSON tables contain the node and its two numbers, so neither is extracted again where it is used.
func pointExpr(w *sqlgen.Writer, x sqlgen.Operand, of func(sqlgen.Point) string) string {
	if !x.Node() {
		p := sqlgen.Point{Lng: "ST_X(" + x.Text + ")", Lat: "ST_Y(" + x.Text + ")"}
		return "(" + p.Valid(of(p)) + ")"
	}
	node, at := w.Alias("p"), w.Alias("p")
	number := func(x string) string {
		return "(CASE WHEN JSON_TYPE(" + x + ") IN ('INTEGER', 'DOUBLE') THEN CAST(" + x + " AS DOUBLE) END)"
	}
	p := sqlgen.Point{Lng: number(at + ".x"), Lat: number(at + ".y")}
	return "(SELECT " + p.Valid(of(p)) + " FROM JSON_TABLE(" + x.Text + ", '$' COLUMNS (v JSON PATH '$')) AS " + node +
		", JSON_TABLE(" + pair(node+".v") + ", '$' COLUMNS (x JSON PATH '$[0]', y JSON PATH '$[1]')) AS " + at + ")"
}

// pair writes the list of longitude and latitude of a point in one of its stored forms, or null.
func pair(x string) string {
	part := func(name string) string { return "JSON_EXTRACT(" + x + ", '$." + name + "')" }
	at := part("coordinates")
	text := "CASE JSON_TYPE(" + x + ") WHEN 'ARRAY' THEN CASE JSON_LENGTH(" + x + ") WHEN 2 THEN " + x + " END WHEN 'OBJECT' THEN CASE WHEN " + nodeText(part("type")) +
		" = 'Point' THEN CASE WHEN JSON_TYPE(" + at + ") = 'ARRAY' AND JSON_LENGTH(" + at + ") IN (2, 3) THEN " + at + " END"
	for _, names := range [][2]string{{"longitude", "latitude"}, {"lng", "lat"}, {"lon", "lat"}} {
		a, b := part(names[0]), part(names[1])
		text += " WHEN " + a + " IS NOT NULL AND " + b + " IS NOT NULL THEN CONCAT('[', " + a + ", ',', " + b + ", ']')"
	}
	return text + " END END"
}
