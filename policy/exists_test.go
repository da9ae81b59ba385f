package policy_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestExistsOverMasks checks that EXISTS takes a query that selects a masked field, since what it selects is never read: such a statement
// failed as an internal error.
func TestExistsOverMasks(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"s.people": {Mask: map[string]policy.Mask{"email": policy.Partial}}}},
		[]schema.Class{{Source: "s", Name: "people", Table: "people", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "email", Type: schema.String}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SELECT id FROM people AS p WHERE EXISTS (SELECT q.email FROM people AS q WHERE q.id = p.id)",
		"SELECT id FROM people AS p WHERE EXISTS (SELECT * FROM people AS q WHERE q.id > p.id)",
		"SELECT count(*) FILTER (WHERE NOT EXISTS (SELECT q.id AS c1, q.email AS c2 FROM people AS q WHERE q.id > 3)) AS n FROM people",
	} {
		q, err := query.ParseSQL(text)
		if err != nil {
			t.Fatal(text, err)
		}
		q.Limit = 10
		permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, q)
		if err == nil {
			_, err = permit.Plan()
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
