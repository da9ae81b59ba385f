package sqlgen

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A scope is the columns of a relation, as expressions see them. It implements Scope.
type scope struct {
	b     *builder
	r     *relation
	outer *scope // the surrounding record, for which r is a list
	uses  []int  // how often each column is used, nil for once each. A computed column used twice is computed below
	lets  bool   // all computed columns are computed below
	atoms bool   // stored columns are converted below, because a subquery uses them
	// If not nil, the written text is discarded, and count contains the number of uses of each column.
	count   []int
	closed  bool // no column can be added below
	refused bool // a column should have been added, but the scope is closed
}

// Arg implements Scope.
func (s *scope) Arg(v any, cast string) string { return s.b.s.Arg(v, cast) }

// Alias implements Scope.
func (s *scope) Alias(prefix string) string { return s.b.s.Alias(prefix) }

// Atom implements Scope.
func (s *scope) Atom(x string) string {
	if short(x) {
		return x
	}
	if s.count != nil {
		return "x"
	}
	if s.closed {
		s.refused = true
		return x
	}
	if !s.b.d.Correlates() && (mentionsOuter(s.outer, x) || mentionsOuter(s.outer, conditions(s.r.where))) {
		return x // a column below could not refer to the surrounding record
	}
	return s.b.let(s.r, x)
}

// exists is the beginning of the text of a Probe.
const exists = "EXISTS ("

// short reports whether x is a name, an argument, or a cast of one of these.
func short(x string) bool {
	if inner, ok := strings.CutPrefix(x, "("); ok {
		if name, rest, cast := strings.Cut(inner, "::"); cast && strings.IndexByte(rest, ')') == len(rest)-1 {
			return short(name)
		}
		name, collated := strings.CutSuffix(inner, ` COLLATE "C")`)
		return collated && short(name)
	}
	quoted := false
	for i := range len(x) {
		c := x[i]
		if c == '"' || c == '`' {
			quoted = !quoted
		}
		if !quoted && !word(c) && c != '.' && c != '"' && c != '`' && c != 0 {
			return false
		}
	}
	return len(x) < 160
}

// Column implements Scope.
func (s *scope) Column(i int) string {
	x := s.raw(i)
	f := s.r.shape.Columns[i].Field
	switch {
	case f == nil:
		return x
	case s.atoms:
		return s.Atom(s.b.d.StoredValue(s, x, f))
	}
	return s.b.d.StoredValue(s, x, f)
}

// raw returns column i in its stored form.
func (s *scope) raw(i int) string {
	x := s.r.columns[i]
	if s.count != nil {
		s.count[i]++
	}
	if s.r.shape.Columns[i].Field != nil || s.r.grouped || s.r.alias == "" {
		return x
	}
	if strings.HasPrefix(x, exists) { // the database can turn it into a join if it stays in a condition
		return x
	}
	if s.lets || s.uses != nil && s.uses[i] > 1 {
		s.r.columns[i] = s.Atom(x)
	}
	return s.r.columns[i]
}

// Field implements Scope.
func (s *scope) Field(e plan.Expr) (string, *schema.Field) {
	at, column := s, 0
	switch e := e.(type) {
	case plan.Ref:
		column = e.Column
	case plan.Outer:
		for up := e.Up; up > 0 && at != nil; up-- {
			at = at.outer
		}
		column = e.Column
	default:
		return "", nil
	}
	if at == nil || at.count != nil || at.r.shape.Columns[column].Field == nil {
		return "", nil
	}
	return at.raw(column), at.r.shape.Columns[column].Field
}

// Outer implements Scope.
func (s *scope) Outer(up, i int) (string, error) {
	at := s
	for ; up > 0 && at != nil; up-- {
		at = at.outer
	}
	if at == nil || at == s {
		return "", problem.New(problem.Internal, "an expression refers to a record outside the query")
	}
	return at.Column(i), nil
}

// counting returns a scope over r that only counts the uses of each column.
func counting(b *builder, r *relation, outer *scope) *scope {
	return &scope{b: b, r: r, outer: outer, count: make([]int, len(r.columns))}
}
