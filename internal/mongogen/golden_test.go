package mongogen

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

var update = flag.Bool("update", false, "rewrite the golden commands")

// classes are orders of organisations and notes about the orders.
var classes = []schema.Class{
	{Source: "shop", Name: "notes", Table: "notes", Key: []string{"_id"}, Relations: []schema.Relation{{Fields: []string{"order"}, Target: "orders", TargetFields: []string{"_id"}}},
		Fields: []schema.Field{{Name: "_id", Type: schema.String, Native: "objectId"}, {Name: "order", Type: schema.String, Native: "objectId"}, {Name: "text", Type: schema.String, Native: "string"}}},
	{Source: "shop", Name: "orders", Table: "orders", Key: []string{"_id"},
		Fields: []schema.Field{{Name: "_id", Type: schema.String, Native: "objectId"}, {Name: "org", Type: schema.String}, {Name: "status", Type: schema.String}, {Name: "total", Type: schema.Double},
			{Name: "n", Type: schema.Integer}, {Name: "at", Type: schema.Date}, {Name: "lines", Type: schema.Array}, {Name: "address", Type: schema.JSON}, {Name: "secretNote", Type: schema.String}, {Name: "gone", Type: schema.Boolean}}},
}

// asked are the queries of the golden commands. Each has a class, and a where object or stages.
var asked = []struct{ class, text string }{
	{"orders", `{"status": "paid", "total": {"$gt": 10.5}}`},
	{"orders", `{"address.city": "Oslo", "$or": [{"n": null}, {"at": {"$lt": "2026-01-31T08:00:00Z"}}]}`},
	{"orders", `{"_id": {"$in": ["65f0a1b2c3d4e5f60718293a", "no id"]}}`},
	{"orders", `{"status": {"$regex": "^p"}}`},
	{"notes", `{"text": {"$startsWith": "a.b"}}`},
	{"orders", `[{"$match": {"status": "paid"}}, {"$group": {"_id": "$address.city", "n": {"$sum": 1}, "sum": {"$sum": "$total"}}}, {"$sort": {"n": -1}}, {"$limit": 3}]`},
	{"orders", `[{"$group": {"_id": {"year": {"$year": "$at"}}, "avg": {"$avg": "$n"}, "last": {"$last": "$status"}}}]`},
	{"orders", `[{"$project": {"share": {"$divide": ["$total", "$n"]}, "late": {"$gt": ["$n", 5]}}}]`},
	{"orders", `[{"$match": {"$expr": {"$ne": [{"$bitAnd": ["$n", 4]}, 0]}}}]`},
	{"orders", `[{"$unwind": "$lines"}, {"$project": {"sku": "$lines.sku"}}]`},
	{"orders", `[{"$lookup": {"from": "notes", "localField": "_id", "foreignField": "order", "as": "notes"}}]`},
	{"orders", `[{"$count": "n"}]`},
	{"orders", `[{"$facet": {"a": [{"$count": "n"}]}}]`},
}

// TestGolden compares the commands with the readable commands in testdata.
func TestGolden(t *testing.T) {
	var out strings.Builder
	for _, level := range []Level{MongoDB, FerretDB} {
		for _, q := range asked {
			permit := permitOf(t, q.class, q.text)
			planned, err := permit.Plan()
			if err != nil {
				t.Fatal(err)
			}
			w := &Writer{Level: level, Plan: &planned, Keys: func(*policy.Through) (bson.A, error) { return bson.A{"key"}, nil }}
			c, rest := Command{}, ""
			if planned.Program != nil {
				c, err = w.Program()
				rest = fmt.Sprint(len(planned.Program.Stages)-c.Stages, " stages")
			} else {
				c, rest, err = w.Find()
			}
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "# %s: %s %s\n%s\n# done here: %s\n\n", level, q.class, q.text, c.Text(), rest)
			if text := c.Text(); strings.Contains(text, "secretNote") || strings.Contains(text, "Oslo") || strings.Contains(text, "acme") {
				t.Errorf("%s shows what is hidden, or a value", text)
			}
		}
	}
	const file = "testdata/commands.txt"
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != out.String() {
		t.Errorf("the commands differ from %s; run with -update and read the change:\n%s", file, out.String())
	}
}

func permitOf(t *testing.T, class, text string) policy.Permit {
	t.Helper()
	gone := query.Compare{Path: query.Path{"gone"}, Op: query.Ne, Value: value.OfBool(true)}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
		"orders": {Tenant: &policy.TenantRule{Field: "org"}, Canonical: gone, Denied: []string{"secretNote"}},
		"notes":  {Tenant: &policy.TenantRule{Through: "order"}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "test", Kind: identity.Agent, Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	var q query.Query
	if v.Kind() == value.Array {
		stages, err := query.ParsePipeline(v, "")
		if err != nil {
			t.Fatal(err)
		}
		q = &query.Pipeline{Class: class, Stages: stages, Limit: 100}
	} else {
		where, err := query.ParseWhere(v, "")
		if err != nil {
			t.Fatal(err)
		}
		q = &query.Find{Class: class, Where: where, Limit: 10}
	}
	permit, err := p.Read(who, q)
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

// TestInexactRule checks that a class is refused, and not read, if the server can't evaluate its rule exactly.
func TestInexactRule(t *testing.T) {
	regex, err := query.ParseWhere(value.OfObject([]value.Member{{Name: "status", Value: value.OfObject([]value.Member{{Name: "$regex", Value: value.OfString("x")}})}}), "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"orders": {Canonical: regex}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "t", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "orders", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	planned, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	_, err = (&Writer{Level: MongoDB, Plan: &planned}).Records(interpret.Need{View: planned.View})
	if problem.CodeOf(err) != problem.Unsupported {
		t.Errorf("a rule with a regular expression: %v", err)
	}
}
