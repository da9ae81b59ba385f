package sqlite

// The maximum number of bytes that a condition of a view may copy and read. A connection may use 40 MiB. A longer
// value would already have ended the statement before it ran again with its views apart.
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
