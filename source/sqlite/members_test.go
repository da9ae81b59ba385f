package sqlite_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
)

// TestMembers checks how a member of a list of pointers is compared with the key of the record that it points to. A
// text is compared only with a text key, and a number only with a key of whole numbers.
func TestMembers(t *testing.T) {
	for typ, want := range map[schema.Type][2]string{
		schema.String:  {"CASE n1.type WHEN 'text' THEN n1.value END", `+q1."k" COLLATE BINARY`},
		schema.UUID:    {"CASE n1.type WHEN 'text' THEN n1.value END", `lower(q1."k")`},
		schema.Integer: {"CASE WHEN n1.type IN ('integer', 'real') THEN n1.value END", `+q1."k"`},
	} {
		node, key := sqlite.Dialect().Members(sqlgen.Operand{Text: "n1"}, `q1."k"`, &schema.Field{Name: "k", Type: typ, Native: "TEXT"})
		if node != want[0] || key != want[1] {
			t.Errorf("%s: %s, %s; want %s, %s", typ, node, key, want[0], want[1])
		}
	}
}
