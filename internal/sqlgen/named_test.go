package sqlgen_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestNamed shows which queries name a single record.
func TestNamed(t *testing.T) {
	text := func(names ...string) (fields []schema.Field) {
		for _, name := range names {
			fields = append(fields, schema.Field{Name: name, Type: schema.String})
		}
		return fields
	}
	orgs := schema.Class{Source: "app", Name: "orgs", Table: "orgs", Key: []string{"id"}, Fields: text("id", "name")}
	parts := schema.Class{Source: "app", Name: "parts", Table: "parts", Key: []string{"doc", "line"}, Fields: text("doc", "line", "org")}
	docs := schema.Class{Source: "app", Name: "docs", Table: "docs", Key: []string{"id"}, Fields: text("id", "org", "title")}
	docs.Relations = []schema.Relation{{Fields: []string{"org"}, Target: "orgs", TargetFields: []string{"id"}}}
	pages := schema.Class{Source: "app", Name: "pages", Table: "pages", Key: []string{"id"}, Fields: text("id", "doc")}
	pages.Relations = []schema.Relation{{Fields: []string{"doc"}, Target: "docs", TargetFields: []string{"id"}}}
	within := query.Compare{Path: query.Path{"org"}, Op: query.Eq, Value: value.OfString("a")}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
		"docs": {Canonical: within, Tenant: &policy.TenantRule{Field: "org"}}, "orgs": {}, "parts": {Tenant: &policy.TenantRule{Field: "org"}}, "pages": {Tenant: &policy.TenantRule{Through: "doc"}}}}, []schema.Class{orgs, docs, parts, pages})
	if err != nil {
		t.Fatal(err)
	}
	id := func(is string) query.Filter {
		return query.Compare{Path: query.Path{"id"}, Op: query.Eq, Value: value.OfString(is)}
	}
	for _, tt := range []struct {
		name string
		find query.Find
		want bool
	}{
		{"an id", query.Find{Class: "docs", IDs: []string{"a"}}, true},
		{"an id of two fields", query.Find{Class: "parts", IDs: []string{`["a","b"]`}}, true},
		{"a condition as well", query.Find{Class: "docs", IDs: []string{"a"}, Where: query.Exists{Path: query.Path{"title"}, Want: true}}, true},
		{"the key in a filter", query.Find{Class: "docs", Where: id("a")}, true},
		{"all", query.Find{Class: "docs"}, false},
		{"two ids", query.Find{Class: "docs", IDs: []string{"a", "b"}}, false},
		{"another field", query.Find{Class: "docs", Where: query.Compare{Path: query.Path{"title"}, Op: query.Eq, Value: value.OfString("a")}}, false},
		{"a greater key", query.Find{Class: "docs", Where: query.Compare{Path: query.Path{"id"}, Op: query.Gt, Value: value.OfString("a")}}, false},
		{"any key but one", query.Find{Class: "docs", Where: query.In{Path: query.Path{"id"}, Values: []value.Value{value.OfString("a")}, Not: true}}, false},
		{"one key or another", query.Find{Class: "docs", Where: query.Or{id("a"), id("b")}}, false},
		{"half of a key", query.Find{Class: "parts", Where: query.Compare{Path: query.Path{"doc"}, Op: query.Eq, Value: value.OfString("a")}}, false},
		{"within a record of another class", query.Find{Class: "pages", IDs: []string{"a"}}, false},
		{"another class", query.Find{Class: "docs", IDs: []string{"a"}, Where: query.Compare{Path: query.Path{"org", "name"}, Op: query.Eq, Value: value.OfString("a")}}, false},
	} {
		tt.find.Limit = 1
		permit, err := p.Read(identity.Principal{ID: "a", Tenant: "a", Scopes: []identity.Scope{identity.Read}}, &tt.find)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		plan, err := permit.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if got := sqlgen.ReadsByKey(&plan); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
