package database

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// explained creates many users in a few teams.
var explained = []string{`CREATE TABLE users (id int PRIMARY KEY, team int NOT NULL, name varchar(20), made int)`, `CREATE INDEX by_team ON users (team)`,
	`CREATE INDEX by_made ON users (made)`,
	`INSERT INTO users WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, i % 300, 'u', 1767225600 + i * 86400 FROM n`, `ANALYZE`}

// TestExplain checks that the database's explanations of queries contain the expected parts in order.
func (d *Database) TestExplain(t *testing.T, tests []Explanation, statements ...string) {
	if statements == nil {
		statements = explained
	}
	src := d.OpenWith(t, statements...)
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

// indexed creates the table orders with an index for each kind of column.
var indexed = []string{`CREATE TABLE orders (id int PRIMARY KEY, org varchar(20) NOT NULL, number bigint NOT NULL, code varchar(20) NOT NULL, placed timestamp NOT NULL, amount decimal(10,2) NOT NULL)`,
	`CREATE INDEX by_org ON orders (org, id)`, `CREATE INDEX by_number ON orders (number)`, `CREATE INDEX by_code ON orders (code)`,
	`CREATE INDEX by_placed ON orders (placed)`, `CREATE INDEX by_amount ON orders (amount)`}

// TestIndexes checks that the conditions, casts and guards in statements allow the database to use indexes. It tests
// single values, ranges, and the tenant of the view. key is the name of the primary key's index in explanations.
// times is the name of the index on a time, or "" if the database can't use one for a range of times. The statements
// fill insert and analyse records. Ten of the records match each condition.
func (d *Database) TestIndexes(t *testing.T, key, times string, fill ...string) {
	src := d.OpenWith(t, slices.Concat(indexed, fill)...)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	open, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	tenants, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"orders": {Tenant: &policy.TenantRule{Field: "org"}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rules *policy.Policy
		where string
		want  []string
	}{
		{open, `{"id": 7}`, []string{key}},
		{open, `{"id": {"$in": [7, 8]}}`, []string{key}},
		{open, `{"id": {"$gte": 7, "$lt": 9}}`, []string{key}},
		{open, `{"number": 7}`, []string{"by_number"}},
		{open, `{"number": {"$gt": 7, "$lte": 9}}`, []string{"by_number"}},
		{open, `{"amount": {"$gte": 7.50, "$lt": 9}}`, []string{"by_amount"}},
		{open, `{"code": "c7"}`, []string{"by_code"}},
		{open, `{"code": {"$in": ["c7", "c8"]}}`, []string{"by_code"}},
		{open, `{"placed": {"$gte": "2026-01-01T00:07:00Z", "$lt": "2026-01-01T00:09:00Z"}}`, []string{times}},
		{tenants, `{}`, []string{"by_org"}},
		{tenants, `{"id": 7}`, []string{key, "by_org"}},
		{tenants, `{"number": {"$gt": 7, "$lte": 9}}`, []string{"by_number", "by_org"}},
		{tenants, `{"code": "c7"}`, []string{"by_code", "by_org"}},
	} {
		if tt.want[0] == "" {
			t.Log("LEFT OUT: no index of this database serves", tt.where)
			continue
		}
		doc, err := value.Read([]byte(tt.where), 0)
		if err != nil {
			t.Fatal(err)
		}
		where, err := query.ParseWhere(doc, "/where")
		if err != nil {
			t.Fatal(err)
		}
		permit, err := tt.rules.Read(identity.Principal{ID: "t", Tenant: "org7", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "orders", Where: where, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		got, err := src.Explain(t.Context(), permit)
		if err != nil {
			t.Fatal(tt.where, err)
		}
		if !slices.ContainsFunc(tt.want, func(name string) bool { return strings.Contains(got, name) }) {
			t.Errorf("%s uses none of the indexes %q:\n%s", tt.where, tt.want, got)
		}
	}
}

// An Explanation is a pipeline on users with the expected parts of its explanation, in order.
type Explanation struct {
	Pipeline string
	Parts    []string
}

// The pipelines to explain.
const (
	ByIndex = `[{"$match": {"team": 7}}, {"$count": "n"}]`
	ByTime  = `[{"$match": {"made": {"$gte": "2026-01-03", "$lt": "2026-01-05"}}}, {"$count": "n"}]`
	ByScan  = `[{"$match": {"name": "u"}}, {"$sortByCount": "$team"}]`
	Joined  = `[{"$match": {"id": 7}}, {"$lookup": {"from": "users", "localField": "team", "foreignField": "team", "as": "mates"}}, {"$limit": 5}]`
)
