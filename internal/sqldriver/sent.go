package sqldriver

import (
	"hash/maphash"
	"math/bits"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Sent contains the number of rows of an answer that were already sent, and their hash. The zero Sent is not ready
// for use. See Sending.
type Sent struct {
	seed maphash.Seed
	rows int
	sum  uint64
	text []byte // of the last value, reused
}

// Sending returns a Sent without rows.
func Sending() Sent { return Sent{seed: maphash.MakeSeed()} }

// Add counts and hashes a further row.
func (s *Sent) Add(row value.Row) {
	s.rows++
	for _, v := range row {
		s.sum = (bits.RotateLeft64(s.sum, 7) ^ s.hash(v)) * odd
	}
}

// odd is the multiplier that spreads the lowest bits over all higher bits.
const odd = 0x9e3779b97f4a7c15

// hash returns a hash of v. It avoids JSON for most values, which are short numbers and texts.
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

// Resume computes the answer again and yields the rows after the ones already sent. The order of rows is total, so
// the answer begins with the same rows unless a record was written in between. In that case Resume fails, because the
// answer would mix records of two moments.
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
