package interpret

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The defaults of a Budget.
const (
	DefaultRows  = 10_000
	DefaultBytes = 64 << 20
)

// A Budget bounds what one evaluation reads into memory, over all of its views. It counts only records that views show,
// so that a refusal depends on nothing else. It isn't safe for concurrent use.
type Budget struct {
	Rows  int   // the most records; 0 means DefaultRows
	Bytes int64 // the most bytes of their values; 0 means DefaultBytes

	rows  int
	bytes int64
}

// Take counts a record of the view called name. Its error is problem.Unsupported, and says how to go on.
func (b *Budget) Take(name string, row value.Row) error {
	rows, most := b.Rows, b.Bytes
	if rows <= 0 {
		rows = DefaultRows
	}
	if most <= 0 {
		most = DefaultBytes
	}
	b.rows++
	for _, v := range row {
		b.bytes += size(v)
	}
	over := ""
	switch {
	case b.rows > rows:
		over = fmt.Sprintf("more than %d records", rows)
	case b.bytes > most:
		over = fmt.Sprintf("records of more than %d MB", most/1e6)
	default:
		return nil
	}
	return &problem.Error{Code: problem.Unsupported,
		Detail:     fmt.Sprintf("the source can't run all of this query, and what is left would be computed over %s, of %q the last", over, problem.Cut(name)),
		Suggestion: "begin with a $match (or where) on fields by equality or range that keeps fewer records; explain_query shows which part the source runs"}
}

// size estimates the bytes that a value takes in memory.
func size(v value.Value) int64 {
	n := int64(48 + len(v.Text()))
	for _, e := range v.List() {
		n += size(e)
	}
	for _, m := range v.Members() {
		n += int64(len(m.Name)) + size(m.Value)
	}
	return n
}
