package mongodb_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestExplain explains queries over FerretDB. It checks which part the server runs and which part the gateway
// computes. It also checks that the server's plan has no address, and that a query without an index is rejected.
func TestExplain(t *testing.T) {
	url := services.FerretDB(t)
	db := database(t, url)
	for i := range 5 {
		if _, err := db.Collection("tasks").InsertOne(t.Context(), bson.D{{Key: "_id", Value: int32(i)}, {Key: "org", Value: "acme"}, {Key: "n", Value: int32(i)}, {Key: "title", Value: fmt.Sprint("t", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Collection("tasks").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "n", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	s := open(t, url)
	classes, _, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "test", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Explain}}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"tasks": {Tenant: &policy.TenantRule{Field: "org"}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	strict, err := policy.New(policy.Rules{Unlisted: true, RefuseScans: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	where := func(text string) query.Filter {
		f, err := query.ParseWhere(readValue(t, text), "/where")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	stages := func(text string) *query.Pipeline {
		list, err := query.ParsePipeline(readValue(t, text), "")
		if err != nil {
			t.Fatal(err)
		}
		return &query.Pipeline{Class: "tasks", Stages: list, Limit: 10}
	}
	for _, tt := range []struct {
		query query.Query
		here  string // the steps that the gateway computes, or ""
		scan  bool   // whether it fails if scans aren't allowed
	}{
		{&query.Count{Class: "tasks", Where: where(`{"n":{"$gt":1}}`)}, "", false},
		{&query.Count{Class: "tasks", Where: where(`{"title":"t1"}`)}, "", true},
		{&query.Count{Class: "tasks", Where: where(`{"title":{"$regex":"1$"}}`)}, "", true},
		{&query.Find{Class: "tasks", Where: where(`{"n":1}`), Limit: 2}, "", false},
		{&query.Find{Class: "tasks", Limit: 2}, "", false},
		{stages(`[{"$match":{"n":1}},{"$sort":{"title":1}},{"$limit":2}]`), "the last 2 of 3 stages", false},
		{stages(`[{"$match":{"n":1}},{"$group":{"_id":"$title","n":{"$sum":1}}},{"$sort":{"n":-1}}]`), "the last 2 of 3 stages", false},
		{stages(`[{"$group":{"_id":"$title"}}]`), "the last 1 of 1 stages", true},
	} {
		permit, err := p.Read(who, tt.query)
		if err != nil {
			t.Fatal(err)
		}
		sent, err := s.Compile(permit)
		if err != nil {
			t.Errorf("%+v: %v", tt.query, err)
		}
		command, here, _ := strings.Cut(sent, "\n-- done here, over the records that this returns: ")
		if here != tt.here || !strings.Contains(command, `"org"`) || strings.Contains(command, "acme") {
			t.Errorf("%+v: %q; done here %q, want %q", tt.query, command, here, tt.here)
		}
		plan, err := s.Explain(t.Context(), permit)
		if err != nil || !strings.Contains(plan, `"queryPlanner"`) || strings.Contains(plan, "serverInfo") || strings.Contains(plan, "127.0.0.1") {
			t.Errorf("%+v: %v, %s", tt.query, err, plan)
		}
		if got := strings.HasSuffix(plan, "done here, over the records that this returns: "+tt.here); got != (tt.here != "") {
			t.Errorf("%+v: the plan doesn't end with what is done here: %s", tt.query, plan)
		}
		_, err = strict.Read(who, tt.query)
		if refused := err != nil && problem.Of(err).Kind == "scan"; refused != tt.scan {
			t.Errorf("%+v with scans refused: %v", tt.query, err)
		}
	}
}
