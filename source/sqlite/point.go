package sqlite

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
)

// On implements sqlgen.Dialect.
func (dialect) On(w *sqlgen.Writer, x sqlgen.Operand, f query.GeoWithin) error {
	w.Write("(", x.Text, ".type IN ('array', 'object') AND ", fnOn, "(", x.Text, ".value, ")
	w.Put(f.Area.String(), "")
	w.Write("))")
	return nil
}

// Distance implements sqlgen.Dialect.
func (dialect) Distance(w *sqlgen.Writer, x sqlgen.Operand, near query.GeoWithin) (string, error) {
	return "CASE WHEN " + x.Text + ".type IN ('array', 'object') THEN " + fnDistance + "(" + x.Text + ".value, " + w.Arg(near.Area.String(), "") + ") END", nil
}
