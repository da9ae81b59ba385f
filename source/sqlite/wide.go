package sqlite

import (
	"github.com/bailiwick-dev/bailiwick/schema"
)

// byPoints returns a text in a form that is ordered by code points, regardless of its column's collation.
func byPoints(x string, wide bool) string {
	if wide {
		return x + " COLLATE " + fnPoints
	}
	return x + " COLLATE BINARY"
}

// textByPoints returns byPoints of an operand that is a text without its own collation. It returns any other operand
// unchanged.
func (d dialect) textByPoints(x string, t schema.Type) string {
	if d.wide && (t == schema.String || t == schema.UUID || t == schema.Any) {
		return byPoints(x, true)
	}
	return x
}
