package sqlgen

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	myexpr "github.com/bailiwick-dev/bailiwick/internal/sqlgen/mariadb"
	pgexpr "github.com/bailiwick-dev/bailiwick/internal/sqlgen/postgres"
	liteexpr "github.com/bailiwick-dev/bailiwick/internal/sqlgen/sqlite"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/stage"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// pipeline writes the plan's program.
func (w *writer) pipeline() error {
	text, err := stage.Write(statement{w}, w.expressions(), w.plan.Program, int64(w.plan.Limit)+1)
	if err == nil {
		w.write(text)
	}
	return err
}

func (sqlite) expressions() expr.Dialect   { return liteexpr.Dialect() }
func (postgres) expressions() expr.Dialect { return pgexpr.Dialect() }
func (mysql) expressions() expr.Dialect    { return myexpr.Dialect() }

// A statement is a writer as sqlgen/stage uses it.
type statement struct{ *writer }

// Alias implements expr.Scope.
func (s statement) Alias(prefix string) string { return s.alias(prefix) }

// View implements stage.Statement.
func (s statement) View(n int, alias string) (string, error) {
	if n < 0 || n >= len(s.plan.Views) {
		return "", problem.New(problem.Internal, fmt.Sprintf("the plan has no view %d", n))
	}
	if s.viewOf == nil {
		s.viewOf = map[string]*policy.View{}
	}
	s.viewOf[alias] = s.plan.Views[n]
	return s.captured(func() error { return s.derived(s.plan.Views[n], alias) })
}

// Name implements stage.Statement.
func (s statement) Name(alias, field string) string { return s.column(alias, field) }

// Filter implements stage.Statement.
func (s statement) Filter(f query.Filter, columns func(string) (string, *schema.Field)) (string, error) {
	return s.captured(func() error {
		return s.filter(f, func(name string) operand {
			x, field := columns(name)
			alias, _, _ := strings.Cut(x, ".")
			if v := s.viewOf[alias]; v != nil && field != nil && x == s.column(alias, field.Name) {
				return s.operandOf(v.Class(), alias, field)
			}
			return operand{text: x, field: field}
		})
	})
}

// Computed implements stage.Statement.
func (s statement) Computed(t schema.Type) *schema.Field { return s.computed(t) }

// Long implements stage.Statement.
func (s statement) Long(f *schema.Field) bool { return s.long(f) }

// Selected implements stage.Statement.
func (s statement) Selected(xs []string, fields []*schema.Field) []string {
	for _, f := range fields {
		s.columns = append(s.columns, ColumnOf(f))
	}
	return s.selected(xs)
}
