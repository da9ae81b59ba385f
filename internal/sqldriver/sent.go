package sqldriver

import (
	"hash/maphash"
	"math/bits"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Sent is how many rows of an answer have left, and a hash of them. The zero Sent is not ready. See Sending.
type Sent struct {
	seed maphash.Seed
	rows int
	sum  uint64
	text []byte // of the last value, reused
}

// Sending returns a Sent of no rows.
func Sending() Sent { return Sent{seed: maphash.MakeSeed()} }

// Add notes a further row.
func (s *Sent) Add(row value.Row) {
	s.rows++
	for _, v := range row {
		s.sum = (bits.RotateLeft64(s.sum, 7) ^ s.hash(v)) * odd
	}
}

// odd spreads the lowest bits over all that are higher.
const odd = 0x9e3779b97f4a7c15

// hash returns a hash of v. Most values are short numbers and texts, whose JSON would cost more than their reading.
func (s *Sent) hash(v value.Value) uint64 {
	n := uint64(0)
	switch v.Kind() {
	case value.Null:
	case value.Int:
		n = uint64(v.Int())
	case value.Date, value.Day:
		n = uint64(v.Micros())
	case value.Cut:
		n = uint64(v.Size())
	case value.String:
		n = maphash.String(s.seed, v.Text())
	default:
		s.text = v.AppendJSON(s.text[:0])
		n = maphash.Bytes(s.seed, s.text)
	}
	n = (n ^ uint64(v.Kind())<<59) * odd
	return n ^ n>>32
}

// Resume yields the rows of an answer that is made anew, after those that have left. It begins with the same ones, since the order
// of rows is total, unless a record was written in between. Then it is refused: it would have records of two moments, some
// twice or not at all.
func (s *Sent) Resume(rows source.Rows, yield func(value.Row, error) bool) {
	now := Sent{seed: s.seed}
	moved := func() bool {
		if now.sum == s.sum {
			return false
		}
		yield(nil, &problem.Error{Code: problem.Conflict, Kind: "changed_while_read", Detail: "records were changed while they were read", Suggestion: "Ask again"})
		return true
	}
	for row, err := range rows {
		if err == nil && now.rows < s.rows {
			if now.Add(row); now.rows == s.rows && moved() {
				return
			}
			continue
		}
		if !yield(row, err) || err != nil {
			return
		}
	}
	if now.rows < s.rows {
		moved()
	}
}
