package endtoend_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A sentinel reads views through the tools of a gateway. It reports values that no agent may see.
type sentinel struct {
	*testing.T
	*rand.Rand
	tools    *tool.Set
	canaries map[string]string // by "table.column"
	seed     uint64
}

// ask makes a call. It returns everything that the agent receives, and whether the call was refused.
func (s *sentinel) ask(name, arguments string) (shown string, refused bool) {
	s.Helper()
	args, err := value.Read([]byte(arguments), 0)
	if err != nil {
		s.Fatal(err, arguments)
	}
	res, err := s.tools.Call(s.Context(), identity.Principal{ID: "a", Owner: "ann", Scopes: []identity.Scope{identity.Read}}, tool.Request{Name: name, Arguments: args})
	shown = string(res.Structured) + res.Text
	if err != nil {
		p := problem.Of(err)
		shown += fmt.Sprint(p.Code, p.Detail, p.Near, p.Suggestion)
	}
	for column, canary := range s.canaries {
		if strings.Contains(strings.ToLower(shown), canary) {
			s.Errorf("seed %d: %s %s shows a value of %s: %s", s.seed, name, arguments, column, shown)
		}
	}
	return shown, err != nil
}

// look reads a whole table or view, and uses one of its columns in each way that could reveal values. Conditions,
// orders and groups on a column that is derived from denied or masked columns must be refused.
func (s *sentinel) look(v derivedTable, total *derivedTally) {
	shown, _ := s.ask("query_class", fmt.Sprintf(`{"class_name": %q, "limit": 5, "format": "json"}`, v.name))
	s.ask("get_schema", fmt.Sprintf(`{"class_name": %q}`, v.name))
	s.ask("query_sql", fmt.Sprintf(`{"sql": "SELECT * FROM %s LIMIT 5"}`, v.name))
	for _, c := range v.columns {
		guarded := false
		for f := range c.from {
			guarded = guarded || s.canaries[f] != ""
		}
		switch {
		case strings.HasPrefix(v.name, "t"):
			continue
		case guarded:
			total.guarded++
		default:
			if total.free++; !strings.Contains(shown, `"`+c.name+`"`) {
				total.strict++
			}
		}
		if s.IntN(2) == 0 {
			continue
		}
		for _, q := range [][2]string{
			{"query_class", `{"class_name": "VIEW", "where": {"COLUMN": {"$contains": "kq"}}}`},
			{"query_class", `{"class_name": "VIEW", "order": "COLUMN", "limit": 1}`},
			{"aggregate", `{"class_name": "VIEW", "pipeline": [{"$group": {"_id": "$COLUMN", "n": {"$sum": 1}}}]}`},
			{"query_sql", `{"sql": "SELECT max(upper(COLUMN)) AS x FROM VIEW"}`},
			{"query_sql", `{"sql": "SELECT k FROM VIEW WHERE COLUMN LIKE '%kq%'"}`},
			{"query_sql", `{"sql": "SELECT substr(COLUMN, 1, 3) AS x, count(*) AS n FROM VIEW GROUP BY substr(COLUMN, 1, 3)"}`},
			{"distinct", `{"class_name": "VIEW", "field": "COLUMN"}`},
		}[s.IntN(4):][:3] {
			shown, refused := s.ask(q[0], strings.NewReplacer("VIEW", v.name, "COLUMN", c.name).Replace(q[1]))
			total.probes++
			if guarded && !refused {
				s.Errorf("seed %d: %s takes %s of %s: %s", s.seed, q, c.name, v.name, shown)
			}
			if !guarded && !refused {
				total.answered++
			}
		}
	}
}
