package policy_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
)

// divided returns a policy over two classes of a source with the schemas acme, "glo""bex" and public.
func divided(t *testing.T, rule string) *policy.Policy {
	t.Helper()
	spaces := schema.Spaces{"acme": "acme", `glo"bex`: `glo"bex`, "public": ""}
	fields := []schema.Field{{Name: "id", Type: schema.Integer, Native: "int8", NotNull: true}, {Name: "user_id", Type: schema.Integer, Native: "int8"}}
	p, err := policy.New(policy.Rules{Unlisted: true, Schemas: map[string]string{"app": rule}}, []schema.Class{
		{Source: "app", Name: "issues", Table: "issues", Space: schema.Unbound, Spaces: spaces, Fields: fields, Key: []string{"id"},
			Relations: []schema.Relation{{Fields: []string{"user_id"}, Target: "users", TargetFields: []string{"id"}}}},
		{Source: "app", Name: "users", Table: "users", Space: schema.Unbound, Spaces: spaces, Fields: fields, Key: []string{"id"}},
		{Source: "other", Name: "plans", Table: "plans", Fields: fields, Key: []string{"id"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func who(tenant string) identity.Principal {
	return identity.Principal{ID: "p", Tenant: tenant, Scopes: []identity.Scope{identity.Read}}
}

// TestSchemaOfStatement expects each name of a table in a statement to have the schema of the caller, also behind pointers and in SQL.
func TestSchemaOfStatement(t *testing.T) {
	p := divided(t, "principal.tenant")
	for tenant, want := range map[string]string{"acme": `"acme"`, `glo"bex`: `"glo""bex"`, "public": `"public"`} {
		for _, q := range []query.Query{
			&query.Find{Class: "issues", Include: []query.Path{{"user_id"}}, Limit: 1},
			&query.Count{Class: "issues", Where: query.Compare{Path: query.Path{"user_id", "user_id"}, Op: query.Eq}},
		} {
			permit, err := p.Read(who(tenant), q)
			if err != nil {
				t.Fatal(err)
			}
			st, err := sqlgen.SQL(permit, postgres.Dialect())
			if err != nil {
				t.Fatal(err)
			}
			for _, table := range []string{`"issues" AS`, `"users" AS`} {
				if n := strings.Count(st.Text, table); n == 0 || strings.Count(st.Text, want+"."+table) != n {
					t.Errorf("%s: %s", tenant, st.Text)
				}
			}
		}
	}
}

// TestSchemaMissing checks principals without a schema. They get the refusal of a class that doesn't exist, with the
// true kind for the audit.
func TestSchemaMissing(t *testing.T) {
	derived, err := identity.Derive(who("acme"), identity.Derivation{Name: "sub", Depth: 3})
	if err != nil {
		t.Fatal(err)
	}
	other := derived
	other.Tenant = `glo"bex`
	for _, tt := range []struct {
		rule string
		who  identity.Principal
		kind string
	}{
		{"principal.tenant", who(""), "schema_missing"},
		{"principal.tenant", who("zen"), "schema_unknown"},
		{"principal.tenant", who("ACME"), "schema_unknown"},
		{"principal.tenant", who(schema.Unbound), "schema_unknown"},
		{"principal.claims.schema", who("acme"), "schema_missing"},
		{"1", who("acme"), "schema_missing"},
		{"true", who("acme"), "schema_missing"},
		{`[1][2] == 1`, who("acme"), "schema_missing"},
		{"principal.tenant", derived, ""},
		{"principal.tenant", other, "schema_missing"},
		{`"acme"`, who(""), ""},
	} {
		p := divided(t, tt.rule)
		_, err := p.View(tt.who, "issues", "", false)
		_, absent := p.View(tt.who, "isues_", "", false)
		got := problem.Of(err)
		switch {
		case tt.kind == "":
			if err != nil {
				t.Errorf("%s: %v", tt.rule, err)
			}
		case got == nil || got.Kind != tt.kind:
			t.Errorf("%s of %q: %v", tt.rule, tt.who.Tenant, err)
		case strings.ReplaceAll(got.Text(), "issues", "") != strings.ReplaceAll(problem.Of(absent).Text(), "isues_", ""):
			t.Errorf("%s and %s", got.Text(), problem.Of(absent).Text())
		}
		if n := len(p.Views(tt.who)); (n == 3) != (tt.kind == "") {
			t.Errorf("%s: %d views", tt.rule, n)
		}
	}
}

// TestSchemaUnbound expects a class that no view has bound to be one that no statement can read.
func TestSchemaUnbound(t *testing.T) {
	p := divided(t, "principal.tenant")
	c, _, _, err := p.VisibleClass("app.issues")
	if err != nil || c.Space != "\x00" {
		t.Error(c.Space, err)
	}
	v, err := p.InAnySchema().View(who(""), "issues", "", false)
	if err != nil || v.Class().Space != "acme" {
		t.Error(v, err)
	}
	a, errA := p.View(who("acme"), "issues", "", false)
	b, errB := p.View(who("acme"), "issues", "", true)
	if errA != nil || errB != nil || a.Class() != b.Class() {
		t.Error("two views of one table have two classes")
	}
}
