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

// ErrMoved is the error of a read that goes on behind a record which isn't where it was when the page before ended. Repeated with Wide,
// the query looks for it among its neighbours.
var ErrMoved = &problem.Error{Code: problem.InvalidArgument, Pointer: "/cursor",
	Detail:     "records were added, changed or removed since the page before, and its last record can't be found again",
	Suggestion: "start again without a cursor, or go on by the key: ORDER BY id and WHERE id > the last one"}

// longestPlace is the maximum size in bytes of a place in the order that a cursor can hold.
const longestPlace = 512

// resumeRows returns the rows behind the last one of the page before, and counts in b.skipped those that it leaves out. It yields ErrMoved if
// that one isn't found.
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

// A seeker looks for the last record of the page before, which may have equal ones beside it.
type seeker struct {
	*policy.Resume
	first bool // the read begins with the first record of all
	read  int
	equal int  // the equal ones found, one after another
	last  bool // the row given to next is the last of them
	done  bool
}

// next takes the digest of the next row, and reports whether the page before ends there. If last is set it ends with
// this row, or else before it.
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
		return false, ErrMoved // there may be equal ones before it, which were not read
	case digest != s.Last && s.equal == 0 && s.read >= s.Extra():
		return false, ErrMoved // it isn't among the neighbours
	case digest == s.Last:
		s.equal++
		s.last = s.equal == s.Run
		return s.last, nil
	}
	s.last = false
	return s.equal > 0, nil
}

// digest returns a digest of the contents of a row and its place. It is never 0.
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
	const bits = 1<<40 - 1 // as many as a short cursor has room for
	return h.Sum64()&bits | 1
}

// appendFloat appends a float as it counts in a digest: with nine digits, since the sums of two runs may differ after those.
func appendFloat(dst []byte, v value.Value) []byte {
	return strconv.AppendFloat(dst, v.Float(), 'g', 9, 64)
}

// note keeps the facts about the last row of this page that the next page needs. It is called with each row before
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

// alike reports whether two values have the same part in a digest.
func alike(v, w value.Value) bool {
	if v.Kind() == value.Float && w.Kind() == value.Float {
		return string(appendFloat(nil, v)) == string(appendFloat(nil, w))
	}
	return v.Kind() == w.Kind() && value.Equal(v, w)
}

// next returns the position where the next page begins. It is behind the last record's place in the order if a cursor
// can hold that, or else a number of records to skip.
func (b *builder) next() policy.Position {
	if b.hasUniquePlace() {
		return policy.Position{After: b.last}
	}
	at := policy.Position{After: b.plan.After, Skip: b.plan.Skip + b.skipped + b.page.Count, Now: b.plan.Now} // from where this page began
	if b.end != nil {
		at.Last, at.Run = b.digest(b.end, b.last), b.run
	}
	return at
}

// hasUniquePlace reports whether the last record's place in the order is unique, and short enough for a cursor. SQLite allows
// null in a key, even of several records: these share a place, and continuing after one would skip the others.
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
