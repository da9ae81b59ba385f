package postgres

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/condition"
	"github.com/bailiwick-dev/bailiwick/query"
)

// Matches implements condition.Dialect with an advanced regular expression.
func (p conditions) Matches(w *condition.Writer, x condition.Operand, r query.Regex) error {
	pattern, err := p.pattern(r)
	if err != nil {
		return err
	}
	w.Write("(", p.string(x), " ~ ")
	w.Put(pattern, "text")
	w.Write(")")
	return nil
}

func (p conditions) Begins(w *condition.Writer, x condition.Operand, prefix string) {
	w.Write("starts_with(", p.string(x), ", ")
	w.Put(prefix, "text")
	w.Write(")")
}

// string returns the text that x holds, null if it holds none, compared by its bytes.
func (p conditions) string(x condition.Operand) string {
	if x.Node() {
		return "CASE jsonb_typeof(" + x.Text + ") WHEN 'string' THEN " + x.Text + ` #>> '{}' END COLLATE "C"`
	}
	return p.text(x.Text, x.Field) + ` COLLATE "C"`
}
