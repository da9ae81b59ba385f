package pipelines

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// views tests the classes that a stage names. Each must contain exactly the records that a separate query would find.
func (s *subject) views(t *testing.T) {
	p, principal := s.rules(t, scoped), reader
	principal.Tenant = "acme"
	for _, q := range read(t, "scoped/acme.txt") {
		rows, err := s.ask(t.Context(), asker{p, principal}, parse(t, q.class, q.pipeline))
		if err == nil {
			err = differ(rows, q.rows)
		}
		s.judge(t, &q, err)
	}
	for _, tt := range []struct{ class, hidden, absent string }{
		{"users", `[{"$group":{"_id":"$org"}}]`, `[{"$group":{"_id":"$xyz"}}]`},
		{"orgs", `[{"$lookup":{"from":"users","localField":"id","foreignField":"org","as":"u"}}]`, `[{"$lookup":{"from":"users","localField":"id","foreignField":"xyz","as":"u"}}]`},
		{"orgs", `[{"$unionWith":{"coll":"users","pipeline":[{"$match":{"org":"acme"}}]}}]`, `[{"$unionWith":{"coll":"users","pipeline":[{"$match":{"xyz":"acme"}}]}}]`},
		{"users", `[{"$match":{"$expr":{"$eq":["$org","acme"]}}}]`, `[{"$match":{"$expr":{"$eq":["$xyz","acme"]}}}]`},
		{"users", `[{"$sort":{"org":1}}]`, `[{"$sort":{"xyz":1}}]`},
	} {
		_, hidden := p.Read(principal, parse(t, tt.class, tt.hidden))
		_, absent := p.Read(principal, parse(t, tt.class, tt.absent))
		h, a := problem.Of(hidden), problem.Of(absent)
		if h.Code != problem.InvalidQuery || h.Detail != strings.ReplaceAll(a.Detail, "xyz", "org") {
			t.Errorf("%s %s: %v; of a field that has never been there: %v", tt.class, tt.hidden, hidden, absent)
		}
	}
}
