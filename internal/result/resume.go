package result

import (
	"hash/fnv"
	"iter"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ErrMoved is the error of a read that continues after a record that has moved since the preceding page. If the query
// is repeated with Wide, it searches for the record near its old position.
var ErrMoved = &problem.Error{Code: problem.InvalidArgument, Pointer: "/cursor",
	Detail:     "records were added, changed or removed since the page before, and its last record can't be found again",
	Suggestion: "start again without a cursor, or go on by the key: ORDER BY id and WHERE id > the last one"}

// longestPlace is the maximum size in bytes of a place in the order that a cursor can contain.
const longestPlace = 512

// resumeRows returns the rows after the last row of the preceding page. It counts the rows that it skips in b.skipped.
// It yields ErrMoved if it doesn't find that last row.
func (b *builder) resumeRows(rows iter.Seq2[redact.Row, error]) iter.Seq2[redact.Row, error] {
	r := b.plan.Resume
	if r == nil {
		return rows
	}
	return func(yield func(redact.Row, error) bool) {
		s := seeker{Resume: r, first: b.plan.Skip == 0}
		for row, err := range rows {
			if err == nil && !s.done {
				s.done, err = s.next(b.digest(row.Values, row.Place))
				if err == nil && (!s.done || s.last) {
					b.skipped++
					continue
				}
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
		if !s.done && s.equal == 0 {
			yield(redact.Row{}, ErrMoved)
		}
	}
}

// A seeker searches for the last record of the preceding page. There may be equal records next to it.
type seeker struct {
	*policy.Resume
	first bool // the read begins with the first record of the order
	read  int
	equal int  // the number of consecutive equal records found
	last  bool // the current row is the last of them
	done  bool
}

// next receives the digest of the next row. It reports whether the preceding page ends here: with this row if last is
// set, otherwise before it.
func (s *seeker) next(digest uint64) (done bool, err error) {
	s.read++
	if !s.Wide {
		if same := s.read > s.Head-s.Run; same != (digest == s.Last) {
			return false, ErrMoved
		}
		s.equal++
		s.last = s.read == s.Head
		return s.last, nil
	}
	switch {
	case digest == s.Last && s.read == 1 && !s.first:
		return false, ErrMoved // there may be equal records before it that were not read
	case digest != s.Last && s.equal == 0 && s.read >= s.Extra():
		return false, ErrMoved // the record isn't near its old position
	case digest == s.Last:
		s.equal++
		s.last = s.equal == s.Run
		return s.last, nil
	}
	s.last = false
	return s.equal > 0, nil
}

// digest returns a digest of the values of a row and its place. It is never 0.
func (b *builder) digest(row, place value.Row) uint64 {
	h := fnv.New64a()
	for _, part := range []value.Row{row, place} {
		for _, v := range part {
			b.scratch = append(b.scratch[:0], byte(v.Kind()))
			if v.Kind() == value.Float {
				b.scratch = appendFloat(b.scratch, v)
			} else {
				b.scratch = v.AppendJSON(b.scratch)
			}
			_, _ = h.Write(append(b.scratch, 0))
		}
	}
	const bits = 1<<40 - 1 // the number of bits for which a short cursor has room
	return h.Sum64()&bits | 1
}

// appendFloat appends a float for a digest: with nine digits, because later digits of a sum may differ between two
// runs.
func appendFloat(dst []byte, v value.Value) []byte {
	return strconv.AppendFloat(dst, v.Float(), 'g', 9, 64)
}

// note records the facts about the last row of this page that the next page requires. It is called for each row before
// fields are dropped.
func (b *builder) note(row redact.Row) {
	b.last = append(b.last[:0], row.Place...)
	if b.hasUniquePlace() || b.plan.Program != nil && b.plan.Now.IsZero() { // a pipeline has no further pages
		b.end = nil
		return
	}
	switch r := b.plan.Resume; {
	case b.end != nil && slices.EqualFunc(b.end, row.Values, alike):
		b.run++
	case b.page.Count == 1 && r != nil && b.digest(row.Values, row.Place) == r.Last:
		b.run = r.Run + 1
	default:
		b.run = 1
	}
	b.end = append(b.end[:0], row.Values...)
}

// alike reports whether two values are the same in a digest.
func alike(v, w value.Value) bool {
	if v.Kind() == value.Float && w.Kind() == value.Float {
		return string(appendFloat(nil, v)) == string(appendFloat(nil, w))
	}
	return v.Kind() == w.Kind() && value.Equal(v, w)
}

// next returns the position of the next page: the place of the last record, if a cursor can contain it. Otherwise it is
// a number of records to skip.
func (b *builder) next() policy.Position {
	if b.hasUniquePlace() {
		return policy.Position{After: b.last}
	}
	at := policy.Position{After: b.plan.After, Skip: b.plan.Skip + b.skipped + b.page.Count, Now: b.plan.Now} // relative to the position of this page
	if b.end != nil {
		at.Last, at.Run = b.digest(b.end, b.last), b.run
	}
	return at
}

// hasUniquePlace reports whether the last record's place in the order is unique and short enough for a cursor. SQLite
// allows null in a key, even in several records. These records share a place, and continuing after one would skip the
// others.
func (b *builder) hasUniquePlace() bool {
	if !b.plan.Unique {
		return false
	}
	key := b.plan.View.Key()
	bytes := 0
	for i, v := range b.last {
		if bytes += len(v.Text()); bytes > longestPlace || v.Kind() == value.Cut {
			return false
		}
		if o := b.plan.Order[i]; v.IsNull() && o.Join < 0 && slices.Contains(key, o.Field.Name) {
			return false
		}
	}
	return true
}
