package interpret

import (
	"cmp"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The defaults of a Budget.
const (
	DefaultRows  = 10_000
	DefaultBytes = 16 << 20
)

// A Budget limits the records that one evaluation reads into memory, over all of its views. It counts only records that
// the views show, so that a refusal reveals nothing about hidden records. It isn't safe for concurrent use.
type Budget struct {
	Rows  int   // the maximum number of records. 0 means DefaultRows
	Bytes int64 // the maximum size of the kept values in bytes. 0 means DefaultBytes

	rows  int
	bytes int64
}

// Take counts a record of the view called name. Its error is problem.Unsupported and contains a suggestion.
func (b *Budget) Take(name string, row value.Row) error {
	if err := b.met(name); err != nil {
		return err
	}
	return b.keep(name, row)
}

// met counts a record that was read.
func (b *Budget) met(name string) error {
	rows := cmp.Or(max(b.Rows, 0), DefaultRows)
	if b.rows++; b.rows > rows {
		return beyond(fmt.Sprintf("more than %d records", rows), name)
	}
	return nil
}

// keep counts the values of a record that stay in memory.
func (b *Budget) keep(name string, row value.Row) error {
	for _, v := range row {
		b.bytes += size(v)
	}
	return b.Room(name, 0)
}

// Release resets the counted bytes, because the records are no longer in memory.
func (b *Budget) Release() { b.bytes = 0 }

// Room returns an error if the budget has less than this number of bytes left. Call it before you create the value.
func (b *Budget) Room(name string, bytes int64) error {
	if most := cmp.Or(max(b.Bytes, 0), DefaultBytes); b.bytes+bytes > most {
		return beyond(fmt.Sprintf("values of more than %d MB", most/1e6), name)
	}
	return nil
}

// beyond returns the error for a query that reads too much.
func beyond(what, name string) error {
	return &problem.Error{Code: problem.Unsupported,
		Detail:     fmt.Sprintf("the source can't run all of this query, and what is left would be computed over %s, of %q the last", what, problem.Cut(name)),
		Suggestion: "begin with a $match (or where) that keeps fewer records by equality or range, or with a $project of the fields that you need. explain_query shows which part the source runs"}
}

// size estimates the memory that a value uses, in bytes.
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
