package sqlite

import "github.com/bailiwick-dev/bailiwick/internal/sqlgen/condition"

// Apart returns SQLite's conditions with views that are computed before what the caller asks for, and without an index.
// An index holds values of records that aren't in the view, and SQLite reads those whole that it compares with.
func Apart() condition.Dialect { return apart{} }

// WideApart is Apart for a file whose texts are in UTF-16.
func WideApart() condition.Dialect { return apart{conditions{wide: true}} }

type apart struct{ conditions }

// What a condition of a view may copy and read. A connection may take 40 MiB: a value that is longer has ended the
// statement before it was written apart.
const (
	mostCopied = 4 << 20
	mostRead   = 40 << 20
)

// Bounds implements condition.Dialect.
func (conditions) Bounds() (copied, read int) { return mostCopied, 0 }

// Bounds implements condition.Dialect.
func (apart) Bounds() (copied, read int) { return mostCopied, mostRead }
