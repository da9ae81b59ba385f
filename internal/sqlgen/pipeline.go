package sqlgen

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/condition"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/stage"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// pipeline writes the plan's program.
func (w *writer) pipeline() error {
	d := w.Expressions()
	w.viewOf = map[string]*policy.View{}
	text, err := stage.Write(statement{w}, d, w.plan.Program, int64(w.plan.Limit)+1, w.whole)
	if refuser, ok := d.(expr.Refuser); ok && err == nil {
		err = refuser.Refused()
	}
	w.Write(text)
	return err
}

// A statement is a writer as sqlgen/stage uses it.
type statement struct{ *writer }

// View implements stage.Statement.
func (s statement) View(n int, alias string) (string, error) {
	if n < 0 || n >= len(s.plan.Views) {
		return "", problem.New(problem.Internal, fmt.Sprintf("the plan has no view %d", n))
	}
	s.viewOf[alias] = s.plan.Views[n]
	return s.Captured(func() error { return s.derived(s.plan.Views[n], alias) })
}

// Name implements stage.Statement.
func (s statement) Name(alias, field string) string { return s.column(alias, field) }

// Filter implements stage.Statement.
func (s statement) Filter(f query.Filter, columns func(string) (string, *schema.Field)) (string, error) {
	return s.Captured(func() error {
		return s.filter(f, func(name string) condition.Operand {
			x, field := columns(name)
			alias, _, _ := strings.Cut(x, ".")
			if field != nil && x == s.column(alias, field.Name) { // a column of a view: no other is quoted
				return s.operandOf(s.viewOf[alias].Class(), alias, field)
			}
			return condition.Operand{Text: x, Field: field}
		})
	})
}

// Long implements stage.Statement.
func (s statement) Long(f *schema.Field) bool { return s.long(f) }

// Selected implements stage.Statement.
func (s statement) Selected(xs []string, fields []*schema.Field) []string {
	for _, f := range fields {
		s.columns = append(s.columns, ColumnOf(f))
	}
	return s.selected(xs)
}
