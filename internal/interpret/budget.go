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
// views show, so that a refusal depends on nothing else. It isn't safe for concurrent use.
type Budget struct {
	Rows  int   // the most records. 0 means DefaultRows
	Bytes int64 // the most bytes of the values that are kept. 0 means DefaultBytes

	rows  int
	bytes int64
}

// Take counts a record of the view called name. Its error is problem.Unsupported, and says how to go on.
func (b *Budget) Take(name string, row value.Row) error {
	if err := b.met(name); err != nil {
		return err
	}
	return b.keep(name, row)
}

// met counts a record that is read.
func (b *Budget) met(name string) error {
	rows := cmp.Or(max(b.Rows, 0), DefaultRows)
	if b.rows++; b.rows > rows {
		return beyond(fmt.Sprintf("more than %d records", rows), name)
	}
	return nil
}

// keep counts the values of a record that are kept.
func (b *Budget) keep(name string, row value.Row) error {
	for _, v := range row {
		b.bytes += size(v)
	}
	return b.Room(name, 0)
}

// Release subtracts the bytes of records that are no longer kept.
func (b *Budget) Release() { b.bytes = 0 }

// Room returns an error if fewer than bytes are left of the budget. Call it before you create the value.
func (b *Budget) Room(name string, bytes int64) error {
	if most := cmp.Or(max(b.Bytes, 0), DefaultBytes); b.bytes+bytes > most {
		return beyond(fmt.Sprintf("values of more than %d MB", most/1e6), name)
	}
	return nil
}

// beyond returns the refusal of a query that reads too much.
func beyond(what, name string) error {
	return &problem.Error{Code: problem.Unsupported,
		Detail:     fmt.Sprintf("the source can't run all of this query, and what is left would be computed over %s, of %q the last", what, problem.Cut(name)),
		Suggestion: "begin with a $match (or where) on fields by equality or range that keeps fewer records, or a $project of the fields that are needed; explain_query shows which part the source runs"}
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
