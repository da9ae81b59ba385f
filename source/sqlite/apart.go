package sqlite

// The most bytes that a condition of a view may copy and read. A connection may take 40 MiB: a value that is longer has
// ended the statement before it was written apart.
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
