package sourcetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A question is a where object and the ids of the matching records, ordered by key. "1 3" lists ids, "*" means all,
// and "* but 1 3" means all others.
type question struct {
	class, where, ids string
	needs             Ability
}

func (s *subject) where(t *testing.T) {
	for _, list := range [][]question{textQuestions, numberQuestions, timeQuestions, kindQuestions, docQuestions, deepQuestions, pointQuestions, otherQuestions, manyQuestions()} {
		for _, q := range list {
			if s.has(q.class) {
				s.ask(t, q)
			}
		}
	}
}

// has reports whether the source has a class. If it can't have the class, its limits say so.
func (s *subject) has(class string) bool {
	return slices.ContainsFunc(s.data.Tables, func(t Table) bool { return t.Name == class })
}

// ask reads the matching records and counts them.
func (s *subject) ask(t *testing.T, q question) {
	t.Helper()
	want := s.expand(t, q)
	find := &query.Find{Class: q.class, Where: where(t, q.where), Limit: 1000}
	plan, rows, err := s.read(t.Context(), s.policy, reader, find)
	got := ""
	if err == nil {
		got = ids(plan, rows)
	}
	if why, lacks := s.limits[q.needs]; lacks {
		s.met[q.needs] = true
		if err == nil && got == want && !s.left[q.class] || err != nil && problem.CodeOf(err) != problem.Unsupported {
			t.Errorf("%s %s = %s, %v, yet the source is said to have no %s (%s)", q.class, q.where, got, err, q.needs, why)
		}
		return
	}
	if err != nil || got != want {
		t.Errorf("%s %s = %s, %v\nwant %s", q.class, q.where, got, err, want)
		return
	}
	_, count, err := s.read(t.Context(), s.policy, reader, &query.Count{Class: q.class, Where: find.Where})
	if n := len(strings.Fields(want)); err != nil || len(count) != 1 || count[0][0].Int() != int64(n) {
		t.Errorf("count %s %s = %v, %v; want %d", q.class, q.where, count, err, n)
	}
}

// expand replaces "*" in a question by the ids.
func (s *subject) expand(t *testing.T, q question) string {
	t.Helper()
	if !strings.HasPrefix(q.ids, "*") {
		return s.storableIDs(t, q.class, q.ids)
	}
	var out []string
	but := strings.Fields(strings.TrimPrefix(q.ids, "*"))
	for _, id := range s.keysOf(t, q.class) {
		if !slices.Contains(but, id) {
			out = append(out, id)
		}
	}
	return strings.Join(out, " ")
}

// storableIDs returns the ids of records that the source can store.
func (s *subject) storableIDs(t *testing.T, class, ids string) string {
	t.Helper()
	keys := s.keysOf(t, class)
	return strings.Join(slices.DeleteFunc(strings.Fields(ids), func(id string) bool { return !slices.Contains(keys, id) }), " ")
}

// keysOf returns the keys of a class, ordered by their first fields. The key fields are the first fields of the
// table.
func (s *subject) keysOf(t *testing.T, class string) []string {
	t.Helper()
	rows := slices.Clone(s.data.Rows(t, s.classes)[class])
	slices.SortStableFunc(rows, func(a, b value.Row) int { return value.Order(a[0], b[0]) })
	out := make([]string, len(rows))
	for i, row := range rows {
		parts := make([]string, len(s.class(class).Key))
		for k := range parts {
			parts[k] = row[k].String()
		}
		out[i] = strings.Join(parts, "/")
	}
	return out
}
