// Package redact turns the rows of a source into rows that may leave.
//
// It stands between source and shape, and is the last to hold a Permit: a row that isn't of the form the permit
// promised goes no further. Ids become text here, so that no client rounds them, and masked fields what may be seen of
// them: compile and source give them raw, and this is the one place where rows leave.
package redact

import (
	"fmt"
	"iter"

	"github.com/bailiwick-dev/bailiwick/internal/result/mask"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Rows are rows that may leave. Only this package makes ones that hold anything.
type Rows struct {
	plan *policy.Plan
	seq  iter.Seq2[Row, error]
}

// A Row is a record that may leave: the values of the plan's columns, and its place in the plan's order (nil when
// the order isn't unique). It is good until the next one.
type Row struct{ Values, Place value.Row }

// Plan returns what the rows were read by; nil for the zero Rows.
func (r Rows) Plan() *policy.Plan { return r.plan }

// All yields the rows, or nothing for the zero Rows.
func (r Rows) All() iter.Seq2[Row, error] {
	if r.seq == nil {
		return func(func(Row, error) bool) {}
	}
	return r.seq
}

// A veil is a column that leaves masked.
type veil struct {
	column int
	mask   func(value.Value) value.Value
}

// veils are the masks of a plan's columns under key.
func veils(plan *policy.Plan, key mask.Key) ([]veil, error) {
	var out []veil
	for i, c := range plan.Columns {
		if c.Mask == nil {
			continue
		}
		apply, err := c.Mask.Under(key)
		if err != nil {
			return nil, err
		}
		out = append(out, veil{i, apply})
	}
	return out, nil
}

// Apply makes rows that p allows to leave. key is what masks hash under; rows that need none take the zero Key.
func Apply(p policy.Permit, key mask.Key, rows iter.Seq2[value.Row, error]) (Rows, error) {
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
	return Rows{&plan, func(yield func(Row, error) bool) {
		for row, err := range rows {
			if err == nil && len(row) != width+places {
				err = problem.New(problem.Internal, fmt.Sprintf("a row of %d values, want %d", len(row), width+places))
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
				if row[m.column].Kind() == value.Cut { // its size would tell of it
					row[m.column] = value.OfCut(0)
					continue
				}
				row[m.column] = m.mask(row[m.column])
			}
			if !yield(Row{row[:width], row[width:]}, nil) {
				return
			}
		}
	}}, nil
}
