package sqlite

import "github.com/bailiwick-dev/bailiwick/internal/sqlgen"

// Apart returns the dialect with views that are computed before what the caller asks for, and without an index. wide is as for Wide.
// An index holds values of records that aren't in the view, and SQLite reads those whole that it compares with.
func Apart(wide bool) sqlgen.Dialect { return dialect{apart: true, wide: wide} }

// What a condition of a view may copy and read. A connection may take 40 MiB: a value that is longer has ended the
// statement before it was written apart.
const (
	mostCopied = 4 << 20
	mostRead   = 40 << 20
)

// Bounds implements sqlgen.Dialect.
func (d dialect) Bounds() (copied, read int) {
	if d.apart {
		return mostCopied, mostRead
	}
	return mostCopied, 0
}
