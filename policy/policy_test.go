package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

func catalogue() []schema.Class {
	field := func(name string, typ schema.Type) schema.Field { return schema.Field{Name: name, Type: typ} }
	return []schema.Class{
		{Source: "app", Name: "users", Table: "users", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("org", schema.Integer),
			field("name", schema.String), field("password_hash", schema.String), field("_rperm", schema.String)}},
		{Source: "app", Name: "issues", Table: "issues", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.UUID), field("org", schema.Integer),
			field("title", schema.String), field("owner", schema.Integer), field("due", schema.Date), field("meta", schema.JSON), field("area", schema.Opaque), field("deleted", schema.Boolean),
			{Name: "state", Type: schema.String, Values: []value.Value{value.OfString("open"), value.OfString("done")}}},
			Relations: []schema.Relation{{Fields: []string{"owner"}, Target: "users", TargetFields: []string{"id"}}}},
		{Source: "app", Name: "comments", Table: "comments", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("issue", schema.UUID), field("body", schema.String)},
			Relations: []schema.Relation{{Fields: []string{"issue"}, Target: "issues", TargetFields: []string{"id"}}}},
		{Source: "app", Name: "nodes", Table: "nodes", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("parent", schema.Integer)},
			Relations: []schema.Relation{{Fields: []string{"parent"}, Target: "nodes", TargetFields: []string{"id"}}}},
		{Source: "other", Name: "users", Table: "users", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer)}},
	}
}

func agent() identity.Principal {
	return identity.Principal{ID: "a", Owner: "ann", Tenant: "7", Scopes: []identity.Scope{identity.Read}}
}

// TestNewRefuses has a row for each error in a rule.
func TestNewRefuses(t *testing.T) {
	eq := func(field string) query.Filter {
		return query.Compare{Path: query.Path{field}, Op: query.Eq, Value: value.OfInt(1)}
	}
	for _, tt := range []struct {
		name string
		rule ClassRule
		want string
	}{
		{"issue", ClassRule{}, "classes.issue: there is no such class. Did you mean issues?"},
		{"users", ClassRule{}, "classes.users: 2 sources have such a class. Write source.Class"},
		{"issues", ClassRule{Visible: []string{"titel"}}, `classes.issues: visible: there is no field "titel". Did you mean title?`},
		{"issues", ClassRule{Denied: []string{"x"}}, `classes.issues: denied: there is no field "x"`},
		{"issues", ClassRule{Large: []string{"x"}}, `classes.issues: large: there is no field "x"`},
		{"issues", ClassRule{Lift: []string{"x"}}, `classes.issues: lift: there is no field "x"`},
		{"issues", ClassRule{Lift: []string{"title"}, Visible: []string{"id"}}, "classes.issues: lift: title is not in visible"},
		{"issues", ClassRule{Fields: map[string]FieldRule{"x": {}}}, `classes.issues: fields: there is no field "x"`},
		{"issues", ClassRule{Fields: map[string]FieldRule{"state": {Values: []FieldValue{{Value: "open"}, {Value: "opne"}}}}}, `classes.issues: fields.state.values: the field can't hold "opne". Did you mean open?`},
		{"issues", ClassRule{Fields: map[string]FieldRule{"owner": {Values: []FieldValue{{Value: "x"}}}}}, `classes.issues: fields.owner.values: the field can't hold "x"`},
		{"issues", ClassRule{Fields: map[string]FieldRule{"due": {Values: []FieldValue{{Value: "soon"}}}}}, `classes.issues: fields.due.values: the field can't hold "soon"`},
		{"issues", ClassRule{Fields: map[string]FieldRule{"deleted": {Values: []FieldValue{{Value: "yes"}}}}}, `classes.issues: fields.deleted.values: the field can't hold "yes"`},
		{"issues", ClassRule{Visible: []string{"id"}, Denied: []string{"id"}}, "classes.issues: visible: id is also denied"},
		{"app.users", ClassRule{Visible: []string{"password_hash"}}, "classes.app.users: visible: password_hash looks like a credential by its name. To show it, name it in lift as well"},
		{"app.users", ClassRule{Visible: []string{"_rperm"}, Lift: []string{"_rperm"}}, "classes.app.users: visible: _rperm belongs to the source itself and can't be shown\nclasses.app.users: lift: _rperm is not in visible"},
		{"issues", ClassRule{Large: []string{"owner"}}, "classes.issues: large: owner is a pointer. Only plain fields can be large"},
		{"issues", ClassRule{Tenant: &TenantRule{Field: "orgg"}}, `classes.issues: tenant.field: there is no field "orgg". Did you mean org?`},
		{"issues", ClassRule{Tenant: &TenantRule{Field: "org", Is: "principal.tenat"}}, `classes.issues: tenant.is: character 1 of the expression: a principal has no "tenat". Did you mean tenant? It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author`},
		{"issues", ClassRule{Tenant: &TenantRule{Field: "org", Is: "principal.scopes"}}, "classes.issues: tenant.is: it yields a list(string), and has to yield a text, a number or a boolean"},
		{"issues", ClassRule{Tenant: &TenantRule{Field: "org", Bypass: "principal.tenant"}}, "classes.issues: tenant.bypass: it yields a string, and has to yield true or false"},
		{"issues", ClassRule{Canonical: query.Deferred{Path: query.Path{"title"}, CEL: "principal.x"}}, `classes.issues: canonical: character 1 of the expression: a principal has no "x". It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author`},
		{"issues", ClassRule{Canonical: query.Deferred{Path: query.Path{"titel"}, CEL: "principal.id"}}, `classes.issues: canonical: unknown field "titel". Did you mean title?`},
		{"issues", ClassRule{Canonical: query.Deferred{Path: query.Path{"area"}, CEL: "principal.id"}}, "classes.issues: canonical: area can't be filtered: only the database knows its type. $exists works on it"},
		{"issues", ClassRule{Canonical: query.Deferred{Path: query.Path{"title"}, CEL: "principal.id"}, Denied: []string{"title"}}, "classes.issues: canonical: title is denied. Agents are shown what counts as a live record"},
		{"issues", ClassRule{Tenant: &TenantRule{Field: "meta"}}, "classes.issues: tenant.field: meta is of type json. A value can be a list there, and a record would belong to several tenants. " +
			"Name a field that holds one value. If a record does belong to every tenant in its list, write {field: meta, contains: true}"},
		{"issues", ClassRule{Tenant: &TenantRule{Field: "org", Contains: true}}, "classes.issues: tenant.contains: org is of type integer, not a list. Take contains out"},
		{"comments", ClassRule{Tenant: &TenantRule{Through: "issue", Contains: true}}, "classes.comments: tenant: through can't be combined with field, is and contains"},
		{"comments", ClassRule{Tenant: &TenantRule{Through: "issue"}}, "classes.comments: tenant.through: issue leads to app.issues, which has no tenant rule"},
		{"comments", ClassRule{Tenant: &TenantRule{Through: "body"}}, "classes.comments: tenant.through: body is not a pointer to another class"},
		{"comments", ClassRule{Tenant: &TenantRule{Through: "x"}}, `classes.comments: tenant.through: there is no field "x"`},
		{"nodes", ClassRule{Tenant: &TenantRule{Through: "parent"}}, "classes.nodes: tenant.through: parent leads back to the class itself"},
		{"issues", ClassRule{Canonical: eq("x")}, `classes.issues: canonical: unknown field "x"`},
		{"issues", ClassRule{Canonical: eq("title"), Denied: []string{"title"}}, "classes.issues: canonical: title is denied. Agents are shown what counts as a live record"},
		{"app.users", ClassRule{Canonical: eq("password_hash")}, "classes.app.users: canonical: password_hash is denied. Agents are shown what counts as a live record"},
		{"app.users", ClassRule{Canonical: eq("password_hash"), Visible: []string{"password_hash"}, Lift: []string{"password_hash"}}, ""},
		{"issues", ClassRule{Fields: map[string]FieldRule{"deleted": {Values: []FieldValue{{Value: "true"}, {Value: "false"}}}, "owner": {Values: []FieldValue{{Value: "5"}}},
			"due": {Values: []FieldValue{{Value: "2026-01-31"}}}, "title": {Values: []FieldValue{{Value: "x"}}}}}, ""},
		{"app.users", ClassRule{Canonical: eq("_rperm")}, `classes.app.users: canonical: unknown field "_rperm"`},
		{"app.users", ClassRule{Lift: []string{"password_hash"}}, "classes.app.users: lift: password_hash is not in visible"},
		{"issues", ClassRule{Fields: map[string]FieldRule{"x": {Values: []FieldValue{{Value: "a"}}}}}, `classes.issues: fields: there is no field "x"`},
		{"comments", ClassRule{Tenant: &TenantRule{Through: "issue", Is: "principal.id"}}, "classes.comments: tenant: through can't be combined with field, is and contains"},
		{"comments", ClassRule{Tenant: &TenantRule{Through: "issue", Field: "id"}}, "classes.comments: tenant: through can't be combined with field, is and contains"},
	} {
		_, err := New(Rules{Classes: map[string]ClassRule{tt.name: tt.rule}}, catalogue())
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %+v:\n got %v\nwant %s", tt.name, tt.rule, err, tt.want)
		}
	}
	_, err := New(Rules{Classes: map[string]ClassRule{"issues": {}, "app.issues": {}}}, catalogue())
	if err == nil || err.Error() != "classes.issues: the class has another rule already, app.issues" {
		t.Errorf("two rules for one class: %v", err)
	}
}

func sample() Rules {
	return Rules{Version: "v", Classes: map[string]ClassRule{
		"app.users": {Tenant: &TenantRule{Field: "org"}},
		"issues":    {Tenant: &TenantRule{Field: "org"}, Canonical: query.Compare{Path: query.Path{"deleted"}, Op: query.Ne, Value: value.OfBool(true)}},
		"comments":  {Tenant: &TenantRule{Through: "issue"}},
	}}
}

// TestViews checks, for a principal and a class, the whole predicate or the kind of refusal.
func TestViews(t *testing.T) {
	p, err := New(sample(), catalogue())
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*identity.Principal)) identity.Principal {
		principal := agent()
		change(&principal)
		return principal
	}
	title := query.Compare{Path: query.Path{"title"}, Op: query.Eq, Value: value.OfString("x")}
	mine := query.Compare{Path: query.Path{"owner"}, Op: query.Eq, Value: value.OfInt(5)}
	for _, tt := range []struct {
		name, class string
		who         identity.Principal
		raw         bool
		want        string
	}{
		{"tenant and canonical", "issues", agent(), false, `issues: tenant {"org":{"$eq":7}}; canonical {"deleted":{"$ne":true}}`},
		{"without canonical", "issues", agent(), true, `issues: tenant {"org":{"$eq":7}}`},
		{"through the parent", "comments", agent(), false, `comments: tenant issue in (tenant {"org":{"$eq":7}}; canonical {"deleted":{"$ne":true}})`},
		{"a bare name that only one visible class has", "users", agent(), false, `users: tenant {"org":{"$eq":7}}`},
		{"a full name", "app.users", agent(), false, `users: tenant {"org":{"$eq":7}}`},
		{"principal filter", "issues", with(func(w *identity.Principal) { w.Filters = map[string]query.Filter{"issues": title} }), true,
			`issues: tenant {"org":{"$eq":7}}; principal {"title":{"$eq":"x"}}`},
		{"the class's own filter wins over default on its field", "issues",
			with(func(w *identity.Principal) {
				w.Filters = map[string]query.Filter{"app.issues": title, "default": query.And{query.Compare{Path: query.Path{"title"}, Op: query.Ne, Value: value.OfString("y")}, mine}}
			}), true, `issues: tenant {"org":{"$eq":7}}; principal {"title":{"$eq":"x"}}; principal {"owner":{"$eq":5}}`},
		{"both of the class's own filters hold", "issues",
			with(func(w *identity.Principal) {
				w.Filters = map[string]query.Filter{"app.issues": title, "issues": query.Compare{Path: query.Path{"title"}, Op: query.Ne, Value: value.OfString("y")}, "default": nil}
			}), true, `issues: tenant {"org":{"$eq":7}}; principal {"title":{"$eq":"x"}}; principal {"title":{"$ne":"y"}}`},
		{"and over default on each of several", "issues",
			with(func(w *identity.Principal) {
				w.Filters = map[string]query.Filter{"issues": query.And{title, mine}, "default": query.And{query.Compare{Path: query.Path{"owner"}, Op: query.Ne, Value: value.OfInt(1)}}}
			}), true, `issues: tenant {"org":{"$eq":7}}; principal {"$and":[{"title":{"$eq":"x"}},{"owner":{"$eq":5}}]}`},
		{"a default filter on what the class hasn't got", "comments", with(func(w *identity.Principal) { w.Filters = map[string]query.Filter{"default": mine} }), true, "refused: principal_filter"},
		{"no tenant", "issues", with(func(w *identity.Principal) { w.Tenant = "" }), false, "refused: tenant_missing"},
		{"a tenant that the field can't hold", "issues", with(func(w *identity.Principal) { w.Tenant = "7 OR 1=1" }), false, "refused: tenant_mismatch"},
		{"a tenant in other digits", "issues", with(func(w *identity.Principal) { w.Tenant = "07" }), false, "refused: tenant_mismatch"},
		{"no tenant, through", "comments", with(func(w *identity.Principal) { w.Tenant = "" }), false, "refused: tenant_missing"},
		{"classes except", "issues", with(func(w *identity.Principal) { w.Classes.Except = []string{"app.issues"} }), false, "refused: class_filter"},
		{"classes only", "issues", with(func(w *identity.Principal) { w.Classes.Only = []string{"comments"} }), false, "refused: class_filter"},
		{"classes only nothing", "issues", with(func(w *identity.Principal) { w.Classes.Only = []string{} }), false, "refused: class_filter"},
		{"unlisted", "nodes", agent(), false, "refused: unlisted_class"},
		{"unlisted, full name", "other.users", agent(), false, "refused: unlisted_class"},
		{"unknown", "nothing", agent(), false, "refused: unknown_class"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := p.View(tt.who, tt.class, "/class_name", tt.raw)
			got := ""
			if err != nil {
				got = "refused: " + problem.Of(err).Kind
			} else {
				got = v.Name() + ": " + layers(v)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func layers(v *View) string {
	parts := make([]string, len(v.layers))
	for i, l := range v.layers {
		if l.Through != nil {
			parts[i] = fmt.Sprintf("%s %s in (%s)", l.Name, l.Through.Field, layers(l.Through.View))
		} else {
			parts[i] = l.Name + " " + query.Print(l.Filter).String()
		}
	}
	return strings.Join(parts, "; ")
}

// TestBind checks how a caller's condition is converted for its field.
func TestBind(t *testing.T) {
	rules := sample()
	rules.Unlisted = true
	p, err := New(rules, catalogue())
	if err != nil {
		t.Fatal(err)
	}
	const id = "6f1c1f60-0000-4000-8000-00000000000a"
	for _, tt := range []struct{ where, want string }{
		{`{"id":"` + strings.ToUpper(id) + `"}`, `{"id":{"$eq":"` + id + `"}}`},
		{`{"id":"5"}`, `{"$never":true} (1 note)`},
		{`{"id":{"$ne":"5"}}`, `{"$not":{"$never":true}} (1 note)`},
		{`{"owner":"5"}`, `{"owner":{"$eq":5}}`},
		{`{"owner":"05"}`, `{"$never":true} (1 note)`},
		{`{"owner":{"__type":"Pointer","className":"app.users","objectId":"5"}}`, `{"owner":{"$eq":5}}`},
		{`{"owner":{"__type":"Pointer","className":"comments","objectId":"5"}}`, `{"$never":true} (1 note)`},
		{`{"due":{"__type":"Date","iso":"2026-01-31"}}`, `{"due":{"$eq":{"__type":"Date","iso":"2026-01-31"}}}`},
		{`{"due":"2026-01-31"}`, `{"$and":[{"due":{"$gte":{"__type":"Date","iso":"2026-01-31T00:00:00Z"}}},{"due":{"$lt":{"__type":"Date","iso":"2026-02-01T00:00:00Z"}}}]} (1 note)`},
		{`{"due":"soon"}`, `{"$never":true} (1 note)`},
		{`{"title":5}`, `{"$never":true} (1 note)`},
		{`{"title":{"$in":["a",5,null]}}`, `{"title":{"$in":["a",null]}} (1 note)`},
		{`{"title":{"$gt":null}}`, `{"$never":true}`},
		{`{"title":{"$gte":null}}`, `{"title":{"$eq":null}}`},
		{`{"title":{"$size":1}}`, `{"$never":true} (1 note)`},
		{`{"due":{"$regex":"x"}}`, `{"$never":true} (1 note)`},
		{`{"meta.a":{"$elemMatch":{"b":{"__type":"Date","iso":"2026-01-31"}}}}`, `{"meta.a":{"$elemMatch":{"$never":true}}}`},
		{`{"area":{"$exists":true}}`, `{"area":{"$exists":true}}`},
		{`{"area":"x"}`, `unsupported_by_source: area can't be filtered: only the database knows its type. $exists works on it`},
		{`{"title.x":"x"}`, `invalid_query: "title.x": title is of type string and has no parts`},
	} {
		doc, err := value.Read([]byte(tt.where), 0)
		if err != nil {
			t.Fatal(err)
		}
		where, err := query.ParseWhere(doc, "/where")
		if err != nil {
			t.Fatal(err)
		}
		permit, err := p.Read(agent(), &query.Count{Class: "issues", Where: where})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			plan, _ := permit.Plan()
			got = query.Print(plan.Where).String()
			if n := len(plan.Notes); n > 0 {
				got += fmt.Sprintf(" (%d note)", n)
			}
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.where, got, tt.want)
		}
	}
}

func TestMay(t *testing.T) {
	with := func(change func(*identity.Principal)) identity.Principal {
		principal := agent()
		change(&principal)
		return principal
	}
	p, err := New(sample(), catalogue())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		who     identity.Principal
		needs   identity.Scope
		through []string
		want    problem.Code
	}{
		{"read", agent(), identity.Read, nil, ""},
		{"write", agent(), identity.Write, nil, problem.PermissionDenied},
		{"a write by whom the list leaves out", with(func(w *identity.Principal) { w.Tools.Only = []string{"x"} }), identity.Write, nil, problem.UnknownTool},
		{"no need at all is no right", agent(), "", nil, problem.PermissionDenied},
		{"the zero principal", identity.Principal{}, identity.Read, nil, problem.PermissionDenied},
		{"tools only others", with(func(w *identity.Principal) { w.Tools.Only = []string{"x"} }), identity.Read, nil, problem.UnknownTool},
		{"tools except", with(func(w *identity.Principal) { w.Tools.Except = []string{"query_class"} }), identity.Read, nil, problem.UnknownTool},
		{"through a tool that the list has", with(func(w *identity.Principal) { w.Tools.Only = []string{"x"} }), identity.Read, []string{"x"}, ""},
		{"through tools that the list hasn't all", with(func(w *identity.Principal) { w.Tools.Only = []string{"x"} }), identity.Read, []string{"x", "y"}, problem.UnknownTool},
		{"the scope before what it leads to", with(func(w *identity.Principal) { w.Tools.Only = []string{"x"} }), identity.Explain, []string{"y"}, problem.PermissionDenied},
	} {
		if got := problem.CodeOf(p.May(tt.who, Use{Tool: "query_class", Needs: tt.needs, Through: tt.through})); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if _, err := p.Read(identity.Principal{Tenant: "7"}, &query.Count{Class: "issues"}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("reading without the scope: %v", err)
	}
	if _, err := (Permit{}).Plan(); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("the zero Permit: %v", err)
	}
}

// TestPointers checks that a pointer is one only if the principal sees the target class and field.
func TestPointers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		users ClassRule
		want  string
	}{
		{"seen", ClassRule{}, "[{owner app.users id false}]"},
		{"class hidden", ClassRule{Hidden: true}, "[]"},
		{"its key hidden", ClassRule{Visible: []string{"name"}}, "[]"},
		{"scoped to a tenant that the asker hasn't got", ClassRule{Tenant: &TenantRule{Field: "org", Is: "principal.claims.x"}}, "[]"},
	} {
		p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"app.users": tt.users}}, catalogue())
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.View(agent(), "issues", "", false)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(v.Relations()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if tt.want == "[]" == v.ID("owner") {
			t.Errorf("%s: the pointer is an id: %v", tt.name, v.ID("owner"))
		}
		_, err = p.Read(agent(), &query.Find{Class: "issues", Include: []query.Path{{"owner"}}, Limit: 1})
		if (err != nil) != (tt.want == "[]") {
			t.Errorf("%s: include: %v", tt.name, err)
		}
	}
}

// TestProjectionLimits checks that queries beyond the limits of databases are refused.
func TestProjectionLimits(t *testing.T) {
	wide := schema.Class{Source: "app", Name: "wide", Table: "wide", Key: []string{"f0"}}
	for i := range 600 {
		wide.Fields = append(wide.Fields, schema.Field{Name: fmt.Sprintf("f%d", i), Type: schema.Integer})
		wide.Relations = append(wide.Relations, schema.Relation{Fields: []string{fmt.Sprintf("f%d", i)}, Target: "wide", TargetFields: []string{"f0"}})
	}
	p, err := New(Rules{Unlisted: true}, []schema.Class{wide})
	if err != nil {
		t.Fatal(err)
	}
	read := func(keys, include []query.Path) string {
		_, err := p.Read(agent(), &query.Find{Class: "wide", Keys: keys, Include: include, Limit: 1})
		if err != nil {
			return err.Error()
		}
		return ""
	}
	var many []query.Path
	for i := range 41 {
		many = append(many, query.Path{fmt.Sprintf("f%d", i+1), "f1"})
	}
	columns := func(more int) (out []query.Path) { // 604 and more
		for i := range 599 {
			out = append(out, query.Path{"f1", fmt.Sprintf("f%d", i+1)})
		}
		for i := range more {
			out = append(out, query.Path{"f2", fmt.Sprintf("f%d", i+1)})
		}
		return out
	}
	for _, tt := range []struct {
		name          string
		keys, include []query.Path
		want          string
	}{
		{"600 fields", nil, nil, ""},
		{"twice 600 fields", nil, []query.Path{{"f1"}}, "invalid_query: a record would have 1200 fields with those of the records it includes. At most 1000 are supported"},
		{"few of them", []query.Path{{"f1", "f2"}}, []query.Path{{"f1"}}, ""},
		{"few of one, and two others whole", []query.Path{{"f1", "f2"}}, []query.Path{{"f1"}, {"f3"}, {"f4"}}, "invalid_query: a record would have 1206 fields with those of the records it includes. At most 1000 are supported"},
		{"1000 fields", columns(396), nil, ""},
		{"1001 fields", columns(397), nil, "invalid_query: a record would have 1001 fields with those of the records it includes. At most 1000 are supported"},
		{"4 hops", []query.Path{{"f1", "f1", "f1", "f1", "f2"}}, nil, ""},
		{"40 pointers", many[:40], nil, ""},
		{"41 pointers", many, nil, "invalid_query: a query follows at most 40 pointers in all"},
		{"5 hops", nil, []query.Path{{"f1", "f1", "f1", "f1", "f1"}}, "invalid_query: a path follows at most 4 pointers"},
	} {
		if got := read(tt.keys, tt.include); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestForeign checks which filters name another tenant.
func TestForeign(t *testing.T) {
	p, err := New(sample(), catalogue())
	if err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]bool{
		`{"org":7}`: false, `{"org":8}`: true, `{"org":{"$in":[7,8]}}`: true, `{"org":{"$nin":[8]}}`: false, `{"org":{"$ne":8}}`: false, `{"org":null}`: false,
		`{"$or":[{"title":"x"},{"org":8}]}`: true, `{"owner":8}`: false, `{"title":"8"}`: false,
	} {
		doc, err := value.Read([]byte(where), 0)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := query.ParseWhere(doc, "/where")
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []query.Query{&query.Count{Class: "issues", Where: filter}, &query.Pipeline{Class: "issues", Limit: 1, Stages: []query.Stage{query.Match{Where: filter}}}} {
			permit, err := p.Read(agent(), q)
			if plan, _ := permit.Plan(); err != nil || plan.Foreign() != want {
				t.Errorf("%T %s: %v, %v", q, where, plan.Foreign(), err)
			}
		}
	}
}
