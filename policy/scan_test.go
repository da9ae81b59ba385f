package policy_test

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestScans checks, for each kind of condition, whether an index serves it.
func TestScans(t *testing.T) {
	classes := []schema.Class{
		{Source: "s", Name: "notes", Table: "notes", Key: []string{"id"},
			Fields: []schema.Field{{Name: "id", Type: schema.Integer, NotNull: true}, {Name: "a", Type: schema.Integer}, {Name: "b", Type: schema.Integer}, {Name: "c", Type: schema.String},
				{Name: "u", Type: schema.String, Unordered: true}, {Name: "j", Type: schema.JSON}, {Name: "hidden", Type: schema.Integer}, {Name: "p", Type: schema.Integer}, {Name: "x", Type: schema.Integer}, {Name: "m", Type: schema.String}},
			Relations: []schema.Relation{{Fields: []string{"p"}, Target: "small", TargetFields: []string{"id"}}},
			Indexes:   []schema.Index{{Fields: []string{"a", "b"}}, {Fields: []string{"b", "hidden"}}, {Fields: []string{"x", "m"}}, {Fields: []string{"x"}, More: true}, {Fields: []string{"c"}}, {Fields: []string{"u"}}, {Fields: []string{"j"}}, {Fields: []string{"hidden"}}, {Fields: []string{"p"}}, {}}},
		{Source: "s", Name: "small", Table: "small", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}},
		{Source: "s", Name: "bare", Table: "bare", View: true, Fields: []schema.Field{{Name: "x", Type: schema.Integer}}},
	}
	p, err := policy.New(policy.Rules{Unlisted: true, RefuseScans: true, Classes: map[string]policy.ClassRule{"notes": {Denied: []string{"hidden"}, Mask: map[string]policy.Mask{"m": policy.Null}}, "small": {AllowScan: true}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	principal := identity.Principal{Scopes: []identity.Scope{identity.Read}}
	for _, tt := range []struct{ class, where, want string }{
		{"notes", `{}`, "[] [] scan refused"},
		{"notes", `{"id": 1}`, "[id] []"},
		{"notes", `{"a": 1, "b": 2}`, "[a] [b]"},
		{"notes", `{"b": 2}`, "[] [b] scan refused"},
		{"notes", `{"x": 2}`, "[] [x] scan refused"},
		{"notes", `{"a": {"$gt": 1}}`, "[a] []"},
		{"notes", `{"a": {"$ne": 1}}`, "[] [a] scan refused"},
		{"notes", `{"a": {"$in": [1, 2]}}`, "[a] []"},
		{"notes", `{"a": {"$nin": [1, 2]}}`, "[] [a] scan refused"},
		{"notes", `{"a": {"$exists": true}}`, "[] [a] scan refused"},
		{"notes", `{"a": null}`, "[a] []"},
		{"notes", `{"a": "one"}`, "[] []"}, // matches nothing
		{"notes", `{"c": {"$startsWith": "x"}}`, "[c] []"},
		{"notes", `{"c": {"$regex": "^x"}}`, "[] [c] scan refused"},
		{"notes", `{"u": "x"}`, "[u] []"},
		{"notes", `{"u": {"$gt": "x"}}`, "[] [u] scan refused"},
		{"notes", `{"u": {"$startsWith": "x"}}`, "[] [u] scan refused"},
		{"notes", `{"j": 1}`, "[] [j] scan refused"},
		{"notes", `{"j.x": 1}`, "[] [j] scan refused"},
		{"notes", `{"p": {"$inQuery": {"className": "small", "where": {"id": 1}}}}`, "[p] []"},
		{"notes", `{"p": {"$notInQuery": {"className": "small", "where": {"id": 1}}}}`, "[] [p] scan refused"},
		{"notes", `{"$or": [{"id": 1}, {"a": 2}]}`, "[id a] []"},
		{"notes", `{"$or": [{"id": 1}, {"b": 2}]}`, "[id] [b] scan refused"},
		{"notes", `{"$or": [{"b": 2}, {"id": 1}]}`, "[id] [b] scan refused"},
		{"notes", `{"$and": [{"$or": [{"id": 1}, {"b": 2}]}, {"c": "x"}]}`, "[id c] [b]"},
		{"notes", `{"$not": {"id": 1}}`, "[] [id] scan refused"},
		{"small", `{}`, "[] [] scan"},
		{"bare", `{"x": 1}`, "[] [x] scan refused"},
	} {
		doc, err := value.Read([]byte(tt.where), 0)
		if err != nil {
			t.Fatal(err)
		}
		where, err := query.ParseWhere(doc, "")
		if err != nil {
			t.Fatal(err)
		}
		said := func(q query.Query) string {
			a, err := p.Access(principal, q)
			if err != nil {
				return err.Error()
			}
			got := fmt.Sprint(a.Indexed, " ", a.Others)
			if a.Scan {
				got += " scan"
			}
			_, err = p.Read(principal, q)
			if refused := problem.Of(err); refused != nil {
				if refused.Kind != "scan" || refused.Code != problem.InvalidQuery || !a.Refused {
					return err.Error()
				}
				got += " refused"
			}
			return got
		}
		found := tt.want
		if where == nil && tt.class != "bare" { // a page in the order of the key
			found = "[] [] scan"
		}
		if got := said(&query.Find{Class: tt.class, Where: where, Limit: 1}); got != found {
			t.Errorf("%s %s: %s, want %s", tt.class, tt.where, got, tt.want)
		}
		if got := said(&query.Count{Class: tt.class, Where: where}); got != tt.want {
			t.Errorf("count of %s %s: %s, want %s", tt.class, tt.where, got, tt.want)
		}
		if where == nil {
			continue
		}
		if got := said(&query.Pipeline{Class: tt.class, Limit: 1, Stages: []query.Stage{query.Match{Where: where}, query.CountStage{Name: "n"}}}); got != tt.want {
			t.Errorf("pipeline over %s %s: %s, want %s", tt.class, tt.where, got, tt.want)
		}
	}
	if _, err := p.Read(principal, &query.Find{Class: "notes", IDs: []string{"1"}, Limit: 1}); err != nil {
		t.Errorf("by id: %v", err)
	}
	_, err = p.Read(principal, &query.Count{Class: "notes"})
	if _, of := p.Read(principal, &query.Count{Class: "bare"}); problem.Of(of).Suggestion != "ask for records by their id" {
		t.Errorf("without an index: %v", problem.Of(of).Suggestion)
	}
	if a, err := p.Access(principal, &query.Count{Class: "absent"}); problem.CodeOf(err) != problem.NotFound {
		t.Errorf("no class: %+v, %v", a, err)
	}
	patient, of := policy.New(policy.Rules{Unlisted: true}, classes)
	if of != nil {
		t.Fatal(of)
	}
	if a, err := patient.Access(principal, &query.Count{Class: "notes"}); err != nil || !a.Scan || a.Refused {
		t.Errorf("rules that refuse no scan: %+v, %v", a, err)
	}
	if got, want := problem.Of(err).Suggestion, "narrow it by one of id, a, c, u, j, p"; got != want {
		t.Errorf("suggestion %q, want %q", got, want)
	}
}

// TestBounded checks what the view itself bounds, and orders that an index serves.
func TestBounded(t *testing.T) {
	field := func(name string, typ schema.Type) schema.Field {
		return schema.Field{Name: name, Type: typ, NotNull: true}
	}
	classes := []schema.Class{{Source: "s", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("org", schema.String),
		field("area", schema.String), field("created_at", schema.Date), {Name: "due", Type: schema.Date}},
		Indexes: []schema.Index{{Fields: []string{"org"}}, {Fields: []string{"due"}}}}}
	who := identity.Principal{Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
	count, due := &query.Count{Class: "notes"}, &query.Find{Class: "notes", Limit: 1, Order: []query.Sort{{Path: query.Path{"due"}}}}
	for _, tt := range []struct {
		name    string
		rule    policy.ClassRule
		q       query.Query
		refused bool
	}{
		{"a tenant with an index", policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}}, count, false},
		{"a tenant without one", policy.ClassRule{Tenant: &policy.TenantRule{Field: "area"}}, count, true},
		{"a tenant in a hidden field", policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}, Denied: []string{"org"}}, count, true},
		{"live records", policy.ClassRule{Canonical: query.Compare{Path: query.Path{"org"}, Value: value.OfString("x")}}, count, true},
		{"a sample", policy.ClassRule{}, &query.Find{Class: "notes", Sample: true, Limit: 5}, false},
		{"a page by the key", policy.ClassRule{}, &query.Find{Class: "notes", Limit: 5}, false},
		{"a page by a field with nulls", policy.ClassRule{}, due, true},
		{"a page by no index", policy.ClassRule{}, &query.Find{Class: "notes", Limit: 5, Order: []query.Sort{{Path: query.Path{"area"}}}}, true},
	} {
		p, err := policy.New(policy.Rules{RefuseScans: true, Classes: map[string]policy.ClassRule{"notes": tt.rule}}, classes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Read(who, tt.q); (err != nil) != tt.refused || err != nil && problem.Of(err).Kind != "scan" {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestScansOfSQL checks that a SELECT is judged by the conditions that it begins with, as a pipeline is.
func TestScansOfSQL(t *testing.T) {
	classes := []schema.Class{{Source: "s", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer, NotNull: true},
		{Name: "a", Type: schema.Integer}, {Name: "b", Type: schema.Integer}}, Indexes: []schema.Index{{Fields: []string{"a"}}}}}
	p, err := policy.New(policy.Rules{RefuseScans: true, Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{Scopes: []identity.Scope{identity.Read}}
	for text, refused := range map[string]bool{
		"SELECT b FROM notes WHERE a = 1":                                false,
		"SELECT n.b FROM notes AS n WHERE n.a BETWEEN 1 AND 3 AND b > 0": false,
		"SELECT b FROM notes WHERE b = 1":                                true,
		"SELECT count(*) FROM notes":                                     true,
	} {
		q, err := query.ParseSQL(text)
		if err != nil {
			t.Fatal(err)
		}
		q.Limit = 10
		if _, err := p.Read(who, q); (err != nil) != refused {
			t.Errorf("%s: %v, refused %t", text, err, refused)
		}
	}
}
