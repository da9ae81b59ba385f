package policy

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

func rule(t testing.TB, text string) query.Filter {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.ParseRule(v, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func claims(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestTenantExpressions checks, by rule and claims, the whole predicate or the kind of refusal. org is a number.
func TestTenantExpressions(t *testing.T) {
	const org, title = "org", "title"
	for _, tt := range []struct {
		field, is, bypass, claims string
		want                      string
	}{
		{org, "", "", `{}`, `tenant {"org":{"$eq":7}}`},
		{org, "principal.claims.org", "", `{"org": 9}`, `tenant {"org":{"$eq":9}}`},
		{org, "principal.claims.org", "", `{"org": "9"}`, `tenant {"org":{"$eq":9}}`},
		{org, "principal.claims.org", "", `{"org": "x"}`, "refused: tenant_mismatch"},
		{org, "principal.claims.org", "", `{"org": true}`, "refused: tenant_mismatch"},
		{org, "principal.claims.org", "", `{"org": null}`, "refused: tenant_missing"},
		{org, "principal.claims.org", "", `{"org": ""}`, "refused: tenant_missing"},
		{org, "principal.claims.org", "", `{"org": [7]}`, "refused: tenant_missing"},
		{org, "principal.claims.org", "", `{"org": {"id": 7}}`, "refused: tenant_missing"},
		{org, "principal.claims.org.id", "", `{"org": {"id": 7}}`, `tenant {"org":{"$eq":7}}`},
		{org, "principal.claims.org", "", `{}`, "refused: tenant_missing"},
		{org, "int(principal.tenant) + 1", "", `{}`, `tenant {"org":{"$eq":8}}`},
		{org, "int(principal.owner)", "", `{}`, "refused: tenant_missing"},
		{org, "principal.claims.orgs[0]", "", `{"orgs": [7, 8]}`, `tenant {"org":{"$eq":7}}`},
		{org, "principal.claims.orgs[0]", "", `{"orgs": []}`, "refused: tenant_missing"},
		{title, `"org-" + principal.tenant`, "", `{}`, `tenant {"title":{"$eq":"org-7"}}`},
		{title, `has(principal.claims.org) ? principal.claims.org : principal.owner`, "", `{}`, `tenant {"title":{"$eq":"ann"}}`},
		{"area", "", "", `{}`, "refused: tenant_mismatch"},
		{title, "principal.depth", "", `{}`, "refused: tenant_mismatch"},

		{org, "", `"read" in principal.scopes`, `{}`, ""},
		{org, "", `"operator" in principal.scopes`, `{}`, `tenant {"org":{"$eq":7}}`},
		{org, "", "principal.claims.staff", `{"staff": true}`, ""},
		{org, "", "principal.claims.staff", `{"staff": false}`, `tenant {"org":{"$eq":7}}`},
		{org, "", "principal.claims.staff", `{"staff": "true"}`, `tenant {"org":{"$eq":7}}`},
		{org, "", "principal.claims.staff", `{"staff": 1}`, `tenant {"org":{"$eq":7}}`},
		{org, "", "principal.claims.staff", `{}`, `tenant {"org":{"$eq":7}}`},
		{org, "", "principal.claims.level > 3", `{"level": 4}`, ""},
		{org, "", "principal.claims.level > 3", `{"level": "4"}`, `tenant {"org":{"$eq":7}}`},
		{org, "principal.claims.org", "principal.claims.staff", `{"staff": true}`, ""},
		{org, "principal.claims.org", "principal.claims.staff", `{}`, "refused: tenant_missing"},
	} {
		p, err := New(Rules{Classes: map[string]ClassRule{
			"issues":   {Tenant: &TenantRule{Field: tt.field, Is: tt.is, Bypass: tt.bypass}},
			"comments": {Tenant: &TenantRule{Through: "issue"}},
		}}, catalogue())
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
			continue
		}
		principal := agent()
		principal.Claims = claims(t, tt.claims)
		if got := viewed(p, principal, "issues"); got != tt.want {
			t.Errorf("%s: %q, bypass %q of %s:\n got %s\nwant %s", tt.field, tt.is, tt.bypass, tt.claims, got, tt.want)
		}
		want := "tenant issue in (" + tt.want + ")"
		if len(tt.want) > 8 && tt.want[:8] == "refused:" {
			want = tt.want
		}
		if got := viewed(p, principal, "comments"); got != want {
			t.Errorf("the child, %q, bypass %q of %s:\n got %s\nwant %s", tt.is, tt.bypass, tt.claims, got, want)
		}
	}
}

// viewed formats the predicate of the principal's view, or the kind of refusal.
func viewed(p *Policy, principal identity.Principal, class string) string {
	v, err := p.View(principal, class, "/class_name", false)
	if err != nil {
		return "refused: " + problem.Of(err).Kind
	}
	return layers(v)
}

// TestBypassOfChild checks a child class whose own layer is bypassed.
func TestBypassOfChild(t *testing.T) {
	p, err := New(Rules{Classes: map[string]ClassRule{
		"issues":   {Tenant: &TenantRule{Field: "org"}, Canonical: rule(t, `{"deleted": {"$ne": true}}`)},
		"comments": {Tenant: &TenantRule{Through: "issue", Bypass: "principal.claims.staff"}, Canonical: rule(t, `{"body": {"$exists": true}}`)},
	}}, catalogue())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"staff": true}`: `canonical {"body":{"$exists":true}}`,
		`{"staff": 1}`:    `tenant issue in (tenant {"org":{"$eq":7}}; canonical {"deleted":{"$ne":true}}); canonical {"body":{"$exists":true}}`,
	} {
		principal := agent()
		principal.Claims = claims(t, text)
		if got := viewed(p, principal, "comments"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestRuleValues checks the filters that expressions give for claims, as canonical and as principal filter.
func TestRuleValues(t *testing.T) {
	for _, tt := range []struct{ filter, claims, want string }{
		{`{"title": {"$cel": "principal.claims.region"}}`, `{"region": "eu"}`, `{"title":{"$eq":"eu"}}`},
		{`{"title": {"$cel": "principal.claims.region"}}`, `{}`, "refused: rule_value"},
		{`{"title": {"$cel": "principal.claims.region"}}`, `{"region": ""}`, "refused: rule_value"},
		{`{"title": {"$cel": "principal.claims.region"}}`, `{"region": null}`, "refused: rule_value"},
		{`{"title": {"$cel": "principal.claims.region"}}`, `{"region": ["eu"]}`, "refused: rule_value"},
		{`{"title": {"$cel": "principal.claims.region"}}`, `{"region": {"a": 1}}`, "refused: rule_value"},
		// $ne of a value that the field can't hold would match everything
		{`{"title": {"$ne": {"$cel": "principal.claims.region"}}}`, `{"region": 7}`, "refused: rule_value"},
		{`{"title": {"$ne": {"$cel": "principal.claims.region"}}}`, `{"region": "eu"}`, `{"title":{"$ne":"eu"}}`},
		{`{"title": {"$nin": {"$cel": "principal.claims.regions"}}}`, `{"regions": ["eu", 7]}`, "refused: rule_value"},
		{`{"title": {"$nin": {"$cel": "principal.claims.regions"}}}`, `{"regions": ["eu", null]}`, "refused: rule_value"},
		{`{"title": {"$nin": {"$cel": "principal.claims.regions"}}}`, `{"regions": []}`, "refused: rule_value"},
		{`{"title": {"$nin": {"$cel": "principal.claims.regions"}}}`, `{"regions": "eu"}`, "refused: rule_value"},
		{`{"title": {"$nin": {"$cel": "principal.claims.regions"}}}`, `{"regions": ["eu"]}`, `{"title":{"$nin":["eu"]}}`},
		{`{"title": {"$in": {"$cel": "principal.claims.regions.filter(r, r != 'us')"}}}`, `{"regions": ["eu", "us", "apac"]}`, `{"title":{"$in":["eu","apac"]}}`},
		{`{"due": {"$gte": {"$cel": "principal.claims.since"}}}`, `{"since": "2026-01-31"}`, `{"due":{"$gte":{"__type":"Date","iso":"2026-01-31"}}}`},
		{`{"due": {"$gte": {"$cel": "timestamp(principal.claims.since) - duration('24h')"}}}`, `{"since": "2026-01-31T12:00:00+01:00"}`,
			`{"due":{"$gte":{"__type":"Date","iso":"2026-01-30T11:00:00Z"}}}`},
		{`{"due": {"$gte": {"$cel": "principal.claims.since"}}}`, `{"since": "soon"}`, "refused: rule_value"},
		{`{"org": {"$lt": {"$cel": "principal.claims.level"}}}`, `{"level": 9007199254740993}`, `{"org":{"$lt":9007199254740993}}`},
		{`{"deleted": {"$cel": "principal.claims.all == true"}}`, `{"all": false}`, `{"deleted":{"$eq":false}}`},
		{`{"owner": {"$cel": "principal.claims.uid"}}`, `{"uid": "5"}`, `{"owner":{"$eq":5}}`}, // ids are written as text
		{`{"meta.tags": {"$elemMatch": {"$eq": {"$cel": "principal.claims.tag"}}}}`, `{"tag": "x"}`, `{"meta.tags":{"$elemMatch":{"$eq":"x"}}}`},
		{`{"$or": [{"title": {"$cel": "principal.owner"}}, {"$nor": [{"org": {"$cel": "principal.claims.org"}}]}]}`, `{"org": 1}`,
			`{"$or":[{"title":{"$eq":"ann"}},{"$nor":[{"org":{"$eq":1}}]}]}`},
		{`{"$or": [{"title": {"$cel": "principal.owner"}}, {"org": {"$cel": "principal.claims.org"}}]}`, `{}`, "refused: rule_value"},
	} {
		f := rule(t, tt.filter)
		p := agent()
		p.Claims = claims(t, tt.claims)
		canonical, err := New(Rules{Classes: map[string]ClassRule{"issues": {Canonical: f}}}, catalogue())
		if err != nil {
			t.Errorf("%s: %v", tt.filter, err)
			continue
		}
		want, refused := "canonical "+tt.want, tt.want == "refused: rule_value"
		if refused {
			want = tt.want
		}
		if got := viewed(canonical, p, "issues"); got != want {
			t.Errorf("canonical %s of %s:\n got %s\nwant %s", tt.filter, tt.claims, got, want)
		}
		// A refused class is refused either way, or else agents see a filter that they can send.
		if v, err := canonical.View(p, "issues", "", true); refused != (err != nil) {
			t.Errorf("%s of %s, switched off: %v", tt.filter, tt.claims, err)
		} else if err == nil {
			if _, err := query.ParseWhere(query.Print(v.Canonical()), "/where"); err != nil || len(v.Layers()) != 0 {
				t.Errorf("told %s: %v", query.Print(v.Canonical()), err)
			}
		}

		for _, key := range []string{"issues", "app.issues", "default"} {
			plain, err := New(Rules{Unlisted: true}, catalogue())
			if err != nil {
				t.Fatal(err)
			}
			p.Filters = map[string]query.Filter{key: f}
			if !refused {
				want = "principal " + tt.want
			}
			if got := viewed(plain, p, "issues"); got != want {
				t.Errorf("%s %s of %s:\n got %s\nwant %s", key, tt.filter, tt.claims, got, want)
			}
		}
	}
}

// TestPrincipalExpressions checks errors in the filters of a principal, which loading the rules doesn't find.
func TestPrincipalExpressions(t *testing.T) {
	p, err := New(Rules{Unlisted: true}, catalogue())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"title": {"$cel": "principal.x"}}`:    "refused: rule_value",
		`{"title": {"$cel": "("}}`:              "refused: rule_value",
		`{"nothing": {"$cel": "principal.id"}}`: "refused: principal_filter",
		`{"area": {"$cel": "principal.id"}}`:    "refused: principal_filter",
		`{"title": {"$cel": "principal.id"}}`:   `principal {"title":{"$eq":"a"}}`,
	} {
		principal := agent()
		principal.Filters = map[string]query.Filter{"issues": rule(t, text)}
		if got := viewed(p, principal, "issues"); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	principal := agent()
	principal.Filters = map[string]query.Filter{"issues": rule(t, `{"title": {"$cel": "principal.id"}}`), "default": rule(t, `{"title": {"$cel": "principal.owner"}, "org": {"$cel": "principal.claims.org"}}`)}
	principal.Claims = claims(t, `{"org": 3}`)
	if got, want := viewed(p, principal, "issues"), `principal {"title":{"$eq":"a"}}; principal {"org":{"$eq":3}}`; got != want {
		t.Errorf("the class's own filter wins on its field: got %s, want %s", got, want)
	}
}

// BenchmarkView compares rules with and without expressions.
func BenchmarkView(b *testing.B) {
	for _, bb := range []struct {
		name string
		rule ClassRule
	}{
		{"path", ClassRule{Tenant: &TenantRule{Field: "org"}}},
		{"tenant", ClassRule{Tenant: &TenantRule{Field: "org", Is: "has(principal.claims.org) ? principal.claims.org : 7"}}},
		{"bypass", ClassRule{Tenant: &TenantRule{Field: "org", Bypass: `"operator" in principal.scopes`}}},
		{"canonical", ClassRule{Tenant: &TenantRule{Field: "org"}, Canonical: rule(b, `{"title": {"$cel": "principal.claims.region"}}`)}},
	} {
		p, err := New(Rules{Classes: map[string]ClassRule{"issues": bb.rule}}, catalogue())
		if err != nil {
			b.Fatal(err)
		}
		principal := agent()
		principal.Claims = claims(b, `{"org": 7, "region": "eu"}`)
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.View(principal, "issues", "", false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
