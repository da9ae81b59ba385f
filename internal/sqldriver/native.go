package sqldriver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A runner is Database.Run.
type runner func(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error

// nativeRun returns a runner for statements of the owner. The text of such a statement stays as it is. So the runner
// skips the records of earlier pages and ends after the limit. It also checks that each value is of the type that the
// owner declared, because masks depend on the type. A value that is too long becomes a value.Cut.
func nativeRun(db Database) runner {
	return func(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
		most := plan.Most
		if most == 0 {
			most = policy.MostValue
		}
		read := 0
		var wrong error
		err := db.Run(ctx, st, plan, func(row value.Row, err error) bool {
			if err != nil {
				return yield(row, err)
			}
			if read++; read <= plan.Skip {
				return true
			}
			for i := range row {
				if row[i], wrong = declaredValue(plan.Columns[i].Field, row[i], most); wrong != nil {
					return false
				}
			}
			return yield(row, nil) && read <= plan.Skip+plan.Limit
		})
		if wrong != nil {
			return wrong
		}
		return err
	}
}

// declaredValue returns a value of a result in the declared type of its column.
func declaredValue(f *schema.Field, v value.Value, most int) (value.Value, error) {
	if n := len(v.Text()); n > most {
		return value.OfCut(int64(n)), nil
	}
	kinds, ok := kindsOf[f.Type]
	_, notDecimal := strconv.ParseFloat(v.Text(), 64)
	if !ok || v.IsNull() || slices.Contains(kinds, v.Kind()) && (v.Kind() != value.Decimal || !errors.Is(notDecimal, strconv.ErrSyntax)) {
		return v, nil
	}
	if date, ok := value.OfDateText(v.Text()); ok && v.Kind() == value.String && (f.Type == schema.Date || f.Type == schema.Day) {
		v = date
		if slices.Contains(kinds, v.Kind()) {
			return v, nil
		}
	}
	switch n, whole := v.AsInt(); {
	case f.Type == schema.Integer && whole:
		return value.OfInt(n), nil
	case f.Type == schema.Boolean && whole && (n == 0 || n == 1):
		return value.OfBool(n == 1), nil
	case f.Type == schema.Date && v.Kind() == value.Day:
		return value.OfDate(v.Micros()), nil
	case f.Type == schema.Day && v.Kind() == value.Date && v.Micros()%(24*60*60*1e6) == 0:
		return value.OfDay(v.Micros()), nil
	}
	return v, &mismatch{fmt.Sprintf("the column %s has a value of type %s, and returns says %s", f.Name, v.Kind(), f.Type)}
}

// kindsOf are the kinds of values that a declared type allows besides null. A type that isn't here allows all.
var kindsOf = map[schema.Type][]value.Kind{
	schema.String: {value.String}, schema.UUID: {value.String}, schema.Integer: {value.Int},
	schema.Double: {value.Float, value.Int, value.Decimal}, schema.Decimal: {value.Decimal, value.Int, value.Float},
	schema.Boolean: {value.Bool}, schema.Date: {value.Date}, schema.Day: {value.Day}, schema.Bytes: {value.Bytes},
}

// ReturnsColumns checks that the columns of a result are those that the owner declared, in order. A column that isn't
// declared must not be returned.
func ReturnsColumns(names []string, plan *policy.Plan) error {
	var declared []string
	for _, c := range plan.Columns {
		declared = append(declared, c.Field.Name)
	}
	if slices.Equal(names, declared) {
		return nil
	}
	return &mismatch{fmt.Sprintf("the statement returns the columns %s, and returns says %s", strings.Join(names, ", "), strings.Join(declared, ", "))}
}

// A mismatch is a result of an owner's statement that isn't what its owner declared. Its text is for operators.
type mismatch struct{ text string }

// Error implements error.
func (m *mismatch) Error() string { return m.text }
