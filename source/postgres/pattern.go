package postgres

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
)

// MatchText implements sqlgen.Dialect with an advanced regular expression.
func (p dialect) MatchText(w *sqlgen.Writer, x sqlgen.Operand, r query.Regex) error {
	pattern, err := p.pattern(r)
	if err != nil {
		return err
	}
	w.Write("(", p.string(x), " ~ ")
	w.Put(pattern, "text")
	w.Write(")")
	return nil
}

func (p dialect) Begins(w *sqlgen.Writer, x sqlgen.Operand, prefix string) {
	w.Write("starts_with(", p.string(x), ", ")
	w.Put(prefix, "text")
	w.Write(")")
}

// string returns the text in x, or null if x isn't a text. The text is compared by its bytes.
func (p dialect) string(x sqlgen.Operand) string {
	if x.Node() {
		return "CASE jsonb_typeof(" + x.Text + ") WHEN 'string' THEN " + x.Text + ` #>> '{}' END COLLATE "C"`
	}
	return p.textOf(x.Text, x.Field) + ` COLLATE "C"`
}
