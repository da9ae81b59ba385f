package config_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/declared"
)

// TestWrongQuery checks the places of faults in queries: a key, a line of a block, and a text on one line.
func TestWrongQuery(t *testing.T) {
	c := parsed(t, `sources: {s: {url: 'sqlite:app.db'}}
queries:
  block:
    sql: |
      SELECT id
      FROM ordres
  line: {sql: SELECT id FROM ordres}
`)
	if len(c.Queries) != 2 || c.Queries[0].Name != "block" {
		t.Errorf("%+v", c.Queries)
	}
	for _, tt := range []struct {
		f    declared.DeclarationFault
		want string
	}{
		{declared.DeclarationFault{Query: "block", Key: []string{"sql"}, Line: 2, Column: 6, Message: "no"}, "f.yaml:6:12: queries.block.sql: no\n    6 |       FROM ordres\n      |            ^"},
		{declared.DeclarationFault{Query: "line", Key: []string{"sql"}, Line: 1, Column: 16, Message: "no"}, "f.yaml:7:10: queries.line.sql: line 1, column 16: no\n    7 |   line: {sql: SELECT id FROM ordres}\n      |          ^"},
		{declared.DeclarationFault{Query: "line", Key: []string{"limit"}, Message: "no"}, "f.yaml:7:3: queries.line.limit: no\n    7 |   line: {sql: SELECT id FROM ordres}\n      |   ^"},
	} {
		if got := c.WrongQuery(&tt.f).String(); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
	if a, b := c.Rules.Version, parsed(t, "sources: {s: {url: 'sqlite:app.db'}}\nqueries: {line: {sql: SELECT id FROM ordres}}\n").Rules.Version; a == b {
		t.Error("other queries have the same version")
	}
}
