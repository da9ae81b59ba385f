package sqlgen

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// pipeline writes the plan's program.
func (w *writer) pipeline() error {
	w.viewOf = map[string]*policy.View{}
	text, err := writeProgram(statement{w}, w.Dialect, w.plan.Program, int64(w.plan.Limit)+1, w.whole)
	w.Write(text)
	return err
}

// A statement is a writer in the form that the stages of a pipeline use.
type statement struct{ *writer }

// View implements programStatement.
func (s statement) View(n int, alias string) (string, error) {
	if n < 0 || n >= len(s.plan.Views) {
		return "", problem.New(problem.Internal, fmt.Sprintf("the plan has no view %d", n))
	}
	s.viewOf[alias] = s.plan.Views[n]
	return s.Capture(func() error { return s.writeDerivedTable(s.plan.Views[n], alias) })
}

// Name implements programStatement.
func (s statement) Name(alias, field string) string { return s.column(alias, field) }

// Filter implements programStatement.
func (s statement) Filter(f query.Filter, columns func(string) (string, *schema.Field)) (string, error) {
	return s.Capture(func() error {
		return s.filter(f, func(name string) Operand {
			x, field := columns(name)
			alias, _, _ := strings.Cut(x, ".")
			if field != nil && x == s.column(alias, field.Name) { // only columns of a view have quoted names
				return s.operandOf(s.viewOf[alias].Class(), alias, field)
			}
			return Operand{Text: x, Field: field}
		})
	})
}

// Long implements programStatement.
func (s statement) Long(f *schema.Field) bool { return s.long(f) }

// SelectTerms implements programStatement.
func (s statement) SelectTerms(xs []string, fields []*schema.Field) []string {
	for _, f := range fields {
		s.columns = append(s.columns, ColumnOf(f))
	}
	return s.selectTerms(xs)
}
