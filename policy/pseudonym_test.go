package policy

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPseudonymsInQueries checks which uses of a pseudonym are taken, and that a refusal names the form that works.
func TestPseudonymsInQueries(t *testing.T) {
	p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"people": {Mask: map[string]Mask{"name": Pseudonym, "email": Partial}}}}, staff())
	if err != nil {
		t.Fatal(err)
	}
	const uses, key = "is a pseudonym, a name made of the key of its record: it can be shown, grouped and counted as a plain column", "use the key of the record in its place"
	for _, tt := range []struct{ ask, want, instead string }{
		{`SELECT id, name, count(*) FROM people GROUP BY id`, "", ""},
		{`SELECT o.name, t.owner, count(*) FROM tickets t JOIN people o ON o.id = t.owner GROUP BY t.owner`, "", ""},
		{`SELECT name FROM people GROUP BY id ORDER BY id`, "", ""},
		{`SELECT name, pay FROM people UNION SELECT name, 0 FROM people`, "", ""},
		{`SELECT count(DISTINCT name) FROM people`, "", ""},
		{`SELECT name FROM people GROUP BY pay`, "name is neither in GROUP BY nor inside of an aggregate", "add it to GROUP BY"},
		{`SELECT email, count(*) FROM people GROUP BY email`, "email is masked", "use fields of which get_schema doesn't say masked"},
		{`SELECT name FROM people UNION SELECT code FROM people`, "UNION can't combine the pseudonym name with another column", "the key of the record on each"},
		{`SELECT code FROM people UNION ALL SELECT name FROM people`, "UNION can't combine the pseudonym code with another column", "the key of the record on each"},
		{`SELECT email FROM people UNION ALL SELECT email FROM people`, "UNION can't combine the masked column email", "read each side by itself"},
		{`SELECT id FROM people WHERE name = 'Person 2345'`, uses, key},
		{`SELECT id FROM people ORDER BY name`, uses, key},
		{`SELECT upper(name) FROM people`, uses, key},
		{`SELECT max(name) FROM people`, uses, key},
		{`SELECT id, name FROM people GROUP BY id HAVING name = 'x'`, uses, key},
		{`SELECT a.id FROM people a JOIN people b ON a.name = b.name`, uses, key},
		{`{"name": "x"}`, uses, key},
		{`[{"$group": {"_id": "$name"}}]`, "", ""},
		{`[{"$match": {"name": "x"}}]`, uses, key},
		{`[{"$project": {"x": {"$toUpper": "$name"}}}]`, uses, key},
	} {
		var q query.Query
		if strings.HasPrefix(tt.ask, "SELECT") {
			sql, err := query.ParseSQL(tt.ask)
			if err != nil {
				t.Fatal(err)
			}
			sql.Limit, q = 10, sql
		} else {
			v, err := value.Read([]byte(tt.ask), 0)
			if err != nil {
				t.Fatal(err)
			}
			if v.Kind() == value.Array {
				stages, err := query.ParsePipeline(v, "/pipeline")
				if err != nil {
					t.Fatal(err)
				}
				q = &query.Pipeline{Class: "people", Stages: stages, Limit: 10}
			} else {
				where, err := query.ParseWhere(v, "/where")
				if err != nil {
					t.Fatal(err)
				}
				q = &query.Find{Class: "people", Where: where, Limit: 10}
			}
		}
		_, err := p.Read(agent(), q)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.ask, err)
		case tt.want != "" && err == nil:
			t.Errorf("%s is taken", tt.ask)
		case tt.want != "":
			if e := problem.Of(err); !strings.Contains(e.Detail, tt.want) || !strings.Contains(e.Suggestion, tt.instead) {
				t.Errorf("%s: %s → %s", tt.ask, e.Detail, e.Suggestion)
			}
		}
	}
}
