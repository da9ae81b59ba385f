package sqlite

import (
	"github.com/bailiwick-dev/bailiwick/schema"
)

// byPoints returns a text so that it is ordered by code points, whatever the collation of its column.
func byPoints(x string, wide bool) string {
	if wide {
		return x + " COLLATE " + fnPoints
	}
	return x + " COLLATE BINARY"
}

// textByPoints returns byPoints of a text without a collation of its own, and any other operand unchanged.
func (d dialect) textByPoints(x string, t schema.Type) string {
	if d.wide && (t == schema.String || t == schema.UUID || t == schema.Any) {
		return byPoints(x, true)
	}
	return x
}
