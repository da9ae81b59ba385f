package sqlite

import (
	"strings"
	"testing"
)

// TestSameChangeIsLookedUp checks that the search for the same change uses its index, because an agent may have many
// pending changes. Counting the pending changes reads only an index.
func TestSameChangeIsLookedUp(t *testing.T) {
	s, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, ask := range []string{sameSQL, unrecordedSQL, asking.Waiting()} {
		rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+ask, make([]any, strings.Count(ask, "?"))...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		rows.Close()
		if err := rows.Err(); err != nil || len(plan) == 0 || strings.Contains(plan[0], "state=?") ||
			!strings.HasPrefix(plan[0], "SEARCH") && plan[0] != "SCAN change USING COVERING INDEX change_waiting" {
			t.Errorf("%s\n%s %v", ask, plan, err)
		}
	}
}
