package policy_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestEnumOrder checks that a SELECT that orders an enum says in which order its values come, and no other one does.
func TestEnumOrder(t *testing.T) {
	values := func(all ...string) []value.Value {
		var out []value.Value
		for _, s := range all {
			out = append(out, value.OfString(s))
		}
		return out
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "s", Name: "deals", Table: "deals", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer},
		{Name: "stage", Type: schema.String, Native: "enum", Values: values("lead", "won", "lost")}, {Name: "level", Type: schema.String, Native: "enum", Values: values("a", "b")},
		{Name: "kind", Type: schema.String, Native: "text", Values: values("y", "x")}}}})
	if err != nil {
		t.Fatal(err)
	}
	for text, noted := range map[string]bool{
		"SELECT id FROM deals ORDER BY stage":                                         true,
		"SELECT stage, count(*) FROM deals GROUP BY stage ORDER BY 1":                 true,
		"SELECT max(stage) FROM deals":                                                true,
		"SELECT id FROM deals WHERE stage > 'lead'":                                   true,
		"SELECT rank() OVER (ORDER BY stage) FROM deals":                              true,
		"SELECT array_agg(id ORDER BY stage) FROM deals":                              true,
		"SELECT n FROM (SELECT max(stage) AS n FROM deals) AS t":                      true,
		"SELECT stage FROM deals WHERE stage = 'won' ORDER BY id":                     false,
		"SELECT max(level), max(kind) FROM deals":                                     false,
		"SELECT CASE stage WHEN 'lead' THEN 1 ELSE 2 END AS n FROM deals ORDER BY n":  false,
		"SELECT count(stage), stage FROM deals GROUP BY stage ORDER BY count(*) DESC": false,
	} {
		q, err := query.ParseSQL(text)
		if err != nil {
			t.Fatal(text, err)
		}
		q.Limit = 10
		permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, q)
		if err != nil {
			t.Fatal(text, err)
		}
		plan, err := permit.Plan()
		if err != nil {
			t.Fatal(text, err)
		}
		if got := strings.Contains(strings.Join(plan.Notes, "|"), "stage is an enum"); got != noted || len(plan.Notes) > 1 {
			t.Errorf("%s: %q, noted should be %t", text, plan.Notes, noted)
		}
	}
}
