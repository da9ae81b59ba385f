package sourcetest

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
)

// whole tests that a rule compares the whole value. A list isn't equal to one of its elements, and a path doesn't go
// through a list. A rule that excludes records still checks list elements, and so does a tenant rule with contains.
func (s *subject) whole(t *testing.T) {
	canonical := func(text string) policy.ClassRule { return policy.ClassRule{Canonical: where(t, text)} }
	tenant := reader
	tenant.Tenant = "a"
	filtered := func(class, text string) identity.Principal {
		p := reader
		p.Filters = map[string]query.Filter{class: where(t, text)}
		return p
	}
	for _, tt := range []struct {
		name, class string
		rule        policy.ClassRule
		who         identity.Principal
		where, want string
	}{
		{"a scalar", "docs", canonical(`{"doc":"scalar"}`), reader, "", "11"},
		{"one of several", "docs", canonical(`{"doc":{"$in":["x","scalar"]}}`), reader, "", "11"},
		{"a member", "docs", canonical(`{"doc.a":1}`), reader, "", "1"},
		{"a member in a list", "docs", policy.ClassRule{}, filtered("docs", `{"doc.a.b":1}`), "", ""},
		{"a list", "lists", policy.ClassRule{}, filtered("lists", `{"tags":"a"}`), "", ""},
		{"one of several, a list", "lists", policy.ClassRule{}, filtered("lists", `{"tags":{"$in":["a","b"]}}`), "", ""},
		{"an element of a list", "lists", policy.ClassRule{}, filtered("lists", `{"tags":{"$elemMatch":{"$eq":"a"}}}`), "", "1 4"},
		{"an element, one of several", "lists", canonical(`{"tags":{"$elemMatch":{"$in":["b","ß"]}}}`), reader, "", "1 6"},
		{"a caller finds elements", "docs", policy.ClassRule{}, reader, `{"doc.a":1}`, "1 3 28"},
		{"what isn't", "docs", canonical(`{"doc.a":{"$ne":1}}`), reader, `{"id":{"$lte":4}}`, "2 4"},
		{"not", "docs", canonical(`{"$not":{"doc.a":1}}`), reader, `{"id":{"$lte":4}}`, "2 4"},
		{"none of", "docs", canonical(`{"doc.a":{"$nin":[1,7]}}`), reader, `{"id":{"$lte":4}}`, "2 4"},
		{"not what isn't", "docs", canonical(`{"$not":{"doc.a":{"$ne":1}}}`), reader, "", "1"},
		{"contains", "lists", policy.ClassRule{Tenant: &policy.TenantRule{Field: "tags", Contains: true}}, tenant, "", "1 4"},
		{"contains and a condition", "lists", policy.ClassRule{Tenant: &policy.TenantRule{Field: "tags", Contains: true}}, tenant, `{"id":{"$gte":2}}`, "4"},
	} {
		p := s.rules(t, map[string]policy.ClassRule{tt.class: tt.rule})
		q := &query.Find{Class: tt.class, Where: where(t, tt.where), Limit: 100}
		plan, rows, err := s.read(t.Context(), p, tt.who, q)
		if want := s.storableIDs(t, tt.class, tt.want); err != nil || ids(plan, rows) != want {
			t.Errorf("%s: %v, %v; want %s", tt.name, ids(plan, rows), err, want)
		}
		_, count, err := s.read(t.Context(), p, tt.who, &query.Count{Class: tt.class, Where: q.Where})
		if err != nil || len(count) != 1 || int(count[0][0].Int()) != len(rows) {
			t.Errorf("%s: count %v, %v; want %d", tt.name, count, err, len(rows))
		}
		if got, err := s.countByPipeline(t, p, tt.who, tt.class, tt.where); err != nil || got != len(rows) {
			t.Errorf("%s: a pipeline counts %d, %v; want %d", tt.name, got, err, len(rows))
		}
	}
}

// countByPipeline returns the number of matching records of a class, counted by a pipeline.
func (s *subject) countByPipeline(t *testing.T, p *policy.Policy, who identity.Principal, class, condition string) (int, error) {
	t.Helper()
	f := where(t, condition)
	if f == nil {
		f = where(t, `{"id":{"$exists":true}}`)
	}
	_, rows, err := s.read(t.Context(), p, who, &query.Pipeline{Class: class, Stages: []query.Stage{query.Match{Where: f}}, Limit: 100})
	return len(rows), err
}
