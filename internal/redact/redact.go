// Package redact turns rows of a source into rows that may be returned.
//
//	raw rows of a source, Permit ─Apply: masks, ids as text→ Rows → result
//
// The package runs between source and result. It is the last step with access to a Permit. Only this package makes
// non-empty Rows, so an answer can't contain values that didn't pass through it. It refuses a row without the width
// that the permit promises.
//
// Sources return raw values. Apply masks them with the masks of package plan. Masks come last, because no earlier step
// may depend on the raw values. Apply also converts ids to text, so that no client rounds them.
package redact

import (
	"fmt"
	"iter"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Rows are rows that may be returned. Only this package makes non-empty Rows.
type Rows struct {
	plan    *policy.Plan
	tallies []policy.Column
	seq     iter.Seq2[Row, error]
}

// A Row is a record that may be returned. Values are the values of the plan's columns. Place is the position in the
// plan's order, or nil if the order isn't unique. Counts are the numbers for Tallies. A Row is valid until the next Row
// is read.
type Row struct{ Values, Place, Counts value.Row }

// Tallies returns the columns of Row.Counts. Each has a Tally. They aren't columns of the plan.
func (r Rows) Tallies() []policy.Column { return r.tallies }

// Plan returns the plan of the read, or nil for the zero Rows. Its columns are the returned columns.
func (r Rows) Plan() *policy.Plan { return r.plan }

// All yields the rows. It yields none for the zero Rows.
func (r Rows) All() iter.Seq2[Row, error] {
	if r.seq == nil {
		return func(func(Row, error) bool) {}
	}
	return r.seq
}

// A veil is the mask of a column.
type veil struct {
	column int
	mask   func(value.Value) value.Value
	piece  *policy.Piece // the piece of the masked value to return, or nil for the whole value
}

// apply returns the masked form of v.
func (m veil) apply(v value.Value) value.Value {
	if v.Kind() == value.Cut {
		return value.OfCut(0) // the size would reveal something about the value
	}
	v = m.mask(v)
	switch {
	case m.piece == nil:
		return v
	case m.piece.Size:
		return plan.MaskCharacters(v)
	}
	return plan.CutMaskedText(v, m.piece.Offset, m.piece.Length)
}

// veils returns the masks of a plan's columns. key is the key of masks.
func veils(plan *policy.Plan, key plan.MaskKey) ([]veil, error) {
	var out []veil
	for i, c := range plan.Columns {
		if c.Mask == nil {
			continue
		}
		apply, err := c.Mask.Under(key)
		if err != nil {
			return nil, err
		}
		out = append(out, veil{i, apply, c.After})
	}
	return out, nil
}

// Apply returns the rows that p permits. key is the key of masks. It may be zero if no column has a hash or a
// pseudonym.
func Apply(p policy.Permit, key plan.MaskKey, rows iter.Seq2[value.Row, error]) (Rows, error) {
	plan, err := p.Plan()
	if err != nil {
		return Rows{}, err
	}
	masked, err := veils(&plan, key)
	if err != nil {
		return Rows{}, err
	}
	width, places := len(plan.Columns), 0
	if plan.Count {
		width = 1
	} else if plan.Unique {
		places = len(plan.Order)
	}
	shown := width
	var tallies []policy.Column
	whole := plan
	if columns := plan.ReturnedColumns(); len(columns) < len(plan.Columns) {
		shown, tallies = len(columns), plan.Columns[len(columns):]
		plan.Columns = columns
	}
	// Keys become text, like the ids of an answer. Masks come last, over raw values, because no earlier step depends on
	// the values.
	return Rows{&plan, tallies, func(yield func(Row, error) bool) {
		for row, err := range rows {
			if err == nil && len(row) != width+places {
				err = problem.New(problem.Internal, fmt.Sprintf("a row of %d values, want %d", len(row), width+places))
			}
			if err == nil && tallies != nil {
				err = whole.Refuse(row)
			}
			if err != nil {
				yield(Row{}, err)
				return
			}
			for i := range plan.Columns {
				if plan.Columns[i].ID && !row[i].IsNull() && row[i].Kind() != value.Cut {
					row[i] = value.OfString(row[i].String())
				}
			}
			for _, m := range masked {
				row[m.column] = m.apply(row[m.column])
			}
			if !yield(Row{row[:shown], row[width:], row[shown:width]}, nil) {
				return
			}
		}
	}}, nil
}
