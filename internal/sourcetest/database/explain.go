package database

import (
	"context"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// explained are many users of few teams.
var explained = []string{`CREATE TABLE users (id int PRIMARY KEY, team int NOT NULL, name varchar(20), made int)`, `CREATE INDEX by_team ON users (team)`,
	`CREATE INDEX by_made ON users (made)`,
	`INSERT INTO users WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, i % 300, 'u', 1767225600 + i * 86400 FROM n`, `ANALYZE`}

// TestExplain checks that the database's explanation of queries contains parts, in order.
func (d *Database) TestExplain(t *testing.T, tests []Explanation, statements ...string) {
	if statements == nil {
		statements = explained
	}
	src := d.Opened(t, statements...)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"users": {Types: map[string]schema.Form{"made": schema.EpochSeconds}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	var permit policy.Permit
	for _, tt := range tests {
		doc, err := value.Read([]byte(tt.Pipeline), 0)
		if err != nil {
			t.Fatal(err)
		}
		stages, err := query.ParsePipeline(doc, "/pipeline")
		if err != nil {
			t.Fatal(err)
		}
		permit, err = p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Pipeline{Class: "users", Stages: stages, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		got, err := src.Explain(t.Context(), permit)
		if err != nil {
			t.Fatalf("%s: %v, %v", tt.Pipeline, err, problem.Of(err).Err)
		}
		rest := got
		for _, part := range tt.Parts {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("%s: want %q in\n%s", tt.Pipeline, tt.Parts, got)
				break
			}
			rest = after
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := src.Explain(ctx, permit); problem.CodeOf(err) != problem.Cancelled {
		t.Errorf("when its context has ended: %v, want %s", err, problem.Cancelled)
	}
	if _, err := src.Explain(t.Context(), policy.Permit{}); err == nil {
		t.Error("the zero permit was explained")
	}
}

// An Explanation is a pipeline over users, and parts of the text that explains it, in order.
type Explanation struct {
	Pipeline string
	Parts    []string
}

// The pipelines that databases explain.
const (
	ByIndex = `[{"$match": {"team": 7}}, {"$count": "n"}]`
	ByTime  = `[{"$match": {"made": {"$gte": "2026-01-03", "$lt": "2026-01-05"}}}, {"$count": "n"}]`
	ByScan  = `[{"$match": {"name": "u"}}, {"$sortByCount": "$team"}]`
	Joined  = `[{"$match": {"id": 7}}, {"$lookup": {"from": "users", "localField": "team", "foreignField": "team", "as": "mates"}}, {"$limit": 5}]`
)
