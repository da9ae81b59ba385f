package sqlite

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/condition"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/query"
)

// On implements condition.Dialect.
func (conditions) On(w *condition.Writer, x condition.Operand, f query.GeoWithin) error {
	w.Write("(", x.Text, ".type IN ('array', 'object') AND ", expr.SQLiteOn, "(", x.Text, ".value, ")
	w.Put(f.Area.String(), "")
	w.Write("))")
	return nil
}

// Distance implements condition.Dialect.
func (conditions) Distance(w *condition.Writer, x condition.Operand, near query.GeoWithin) (string, error) {
	return "CASE WHEN " + x.Text + ".type IN ('array', 'object') THEN " + expr.SQLiteDistance + "(" + x.Text + ".value, " + w.Arg(near.Area.String(), "") + ") END", nil
}
