package policy_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/value"
)

// shop returns the classes of the property test. Two sources have a class of the same name, and pointers form a cycle.
func shop() []schema.Class {
	class := func(source, name string, relations []schema.Relation, fields ...string) schema.Class {
		c := schema.Class{Source: source, Name: name, Table: name, Key: []string{"id"}, Relations: relations,
			Fields: []schema.Field{{Name: "id", Type: schema.Integer, NotNull: true}}}
		for _, f := range fields {
			c.Fields = append(c.Fields, schema.Field{Name: f, Type: schema.Integer})
		}
		return c
	}
	to := func(field, target string) schema.Relation {
		return schema.Relation{Fields: []string{field}, Target: target, TargetFields: []string{"id"}}
	}
	return []schema.Class{
		class("app", "users", []schema.Relation{to("boss", "users"), to("post", "posts")}, "org", "role", "boss", "post"),
		class("app", "posts", []schema.Relation{to("author", "users")}, "org", "author", "stars"),
		class("app", "notes", []schema.Relation{to("post", "posts")}, "post", "role"),
		class("crm", "users", nil, "org", "role", "stars"),
	}
}

var (
	small      = rapid.IntRange(0, 3)
	ofClass    = []string{"users", "app.users", "posts", "app.posts", "notes", "app.notes", "crm.users", "crm.posts"}
	ofTool     = []string{"query_class", "count_objects", "archive", "nothing"}
	ofAction   = []string{"archive", "users.archive", "app.users.archive", "posts.archive", "ban"}
	allScopes  = []identity.Scope{"read", "write", "delete", "schema", "review", "audit", "operator", "explain"}
	fieldNames = []string{"id", "org", "role", "stars", "author", "post", "boss", "nowhere"}
)

func some[T any](t *rapid.T, label string, from []T) []T {
	var out []T
	for i, v := range from {
		if rapid.Bool().Draw(t, fmt.Sprint(label, " ", i)) {
			out = append(out, v)
		}
	}
	return out
}

func drawList(t *rapid.T, label string, names []string) (l identity.List) {
	if small.Draw(t, label+" only?") == 0 {
		l.Only = append([]string{}, some(t, label+" only", names)...)
	}
	if small.Draw(t, label+" except?") == 0 {
		l.Except = some(t, label+" except", names)
	}
	return l
}

func drawFilter(t *rapid.T, label string, depth int) query.Filter {
	path := query.Path{rapid.SampledFrom(fieldNames).Draw(t, label+" field")}
	n := value.OfInt(int64(small.Draw(t, label+" n")))
	kind := small.Draw(t, label+" kind")
	if depth > 0 && kind == 3 {
		a, b := drawFilter(t, label+" a", depth-1), drawFilter(t, label+" b", depth-1)
		switch small.Draw(t, label+" join") {
		case 0:
			return query.Or{a, b}
		case 1:
			return query.Not{Part: a}
		}
		return query.And{a, b}
	}
	op := []query.Op{query.Eq, query.Ne, query.Gte, query.Lt}[kind]
	if rapid.IntRange(0, 9).Draw(t, label+" $cel") == 0 {
		return query.Deferred{Path: path, Op: op, CEL: rapid.SampledFrom([]string{"principal.depth", "principal.claims.region", "size(principal.name)"}).Draw(t, label+" cel")}
	}
	return query.Compare{Path: path, Op: op, Value: n}
}

func drawFilters(t *rapid.T, label string) map[string]query.Filter {
	var out map[string]query.Filter
	for _, key := range append([]string{"default"}, ofClass...) {
		if small.Draw(t, label+" "+key+"?") == 0 && small.Draw(t, label+" "+key+"??") < 2 {
			if out == nil {
				out = map[string]query.Filter{}
			}
			out[key] = drawFilter(t, label+" "+key, 2)
		}
	}
	return out
}

func drawRules(t *rapid.T, classes []schema.Class) policy.Rules {
	r := policy.Rules{Unlisted: small.Draw(t, "unlisted") > 0, Classes: map[string]policy.ClassRule{}}
	for _, c := range classes {
		name := c.FullName()
		if small.Draw(t, name+" rule?") == 0 {
			continue
		}
		var rule policy.ClassRule
		if small.Draw(t, name+" hidden?") == 0 {
			rule.Hidden, rule.HiddenBut = true, rapid.SampledFrom(append(allScopes, "")).Draw(t, name+" but")
		}
		for _, f := range c.Fields[1:] {
			if small.Draw(t, name+" denied "+f.Name) == 0 {
				rule.Denied = append(rule.Denied, f.Name)
			}
		}
		is := rapid.SampledFrom([]string{"", "principal.id", "principal.owner", "principal.claims.region", "", "", `principal.name == "c0" ? 1 : 2`}).Draw(t, name+" is")
		bypass := rapid.SampledFrom([]string{"", "", `"operator" in principal.scopes`, "principal.depth > 0", `principal.claims.region == 2 && principal.name != "c1"`}).Draw(t, name+" bypass")
		switch {
		case c.Field("org") != nil && small.Draw(t, name+" tenant?") < 2:
			rule.Tenant = &policy.TenantRule{Field: "org", Is: is, Bypass: bypass}
		case c.Name == "notes" && r.Classes["app.posts"].Tenant != nil:
			rule.Tenant = &policy.TenantRule{Through: "post", Bypass: bypass}
		}
		if f := c.Fields[len(c.Fields)-1].Name; small.Draw(t, name+" canonical?") == 0 && !slices.Contains(rule.Denied, f) {
			plain := query.Compare{Path: query.Path{f}, Op: query.Ne, Value: value.OfInt(1)}
			rule.Canonical = rapid.SampledFrom([]query.Filter{plain, plain, plain,
				query.Deferred{Path: query.Path{f}, Op: query.Ne, CEL: "principal.depth"}, query.Deferred{Path: query.Path{f}, Op: query.Ne, CEL: "principal.claims.region"}}).Draw(t, name+" canonical")
		}
		r.Classes[name] = rule
	}
	return r
}

func drawRecords(t *rapid.T, classes []schema.Class, source string) *memory.Source {
	rows := map[string][]value.Row{}
	var of []schema.Class
	for _, c := range classes {
		if c.Source != source {
			continue
		}
		of = append(of, c)
		for id := range 4 {
			row := value.Row{value.OfInt(int64(id))}
			for _, f := range c.Fields[1:] {
				n := rapid.IntRange(-1, 3).Draw(t, fmt.Sprint(c.Name, id, f.Name))
				v := value.OfInt(int64(n))
				if n < 0 {
					v = value.Value{}
				}
				row = append(row, v)
			}
			rows[c.Name] = append(rows[c.Name], row)
		}
	}
	return memory.New(of, rows)
}

func drawParent(t *rapid.T) identity.Principal {
	p := identity.Principal{
		ID: "3", Kind: rapid.SampledFrom([]identity.Kind{identity.Agent, identity.Human, identity.Service}).Draw(t, "kind"),
		Owner: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "owner"), Tenant: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "tenant"),
		Scopes: some(t, "scopes", allScopes), Tools: drawList(t, "tools", ofTool), Actions: drawList(t, "actions", ofAction),
		Classes: drawList(t, "classes", ofClass), Filters: drawFilters(t, "filters"),
	}
	if rapid.Bool().Draw(t, "claims") {
		p.Claims = value.OfObject([]value.Member{{Name: "region", Value: value.OfInt(2)}})
	}
	return p
}

func drawDerivation(t *rapid.T, n int) identity.Derivation {
	label := fmt.Sprint("child ", n)
	d := identity.Derivation{Name: fmt.Sprint("c", n), Tools: drawList(t, label+" tools", ofTool), Actions: drawList(t, label+" actions", ofAction),
		Classes: drawList(t, label+" classes", ofClass), Filters: drawFilters(t, label+" filters")}
	if rapid.Bool().Draw(t, label+" scopes?") {
		d.Scopes = some(t, label+" scopes", allScopes)
	}
	return d
}

// TestSubPrincipalIsWithin checks that a sub-principal never sees or does anything that its parent can't, whatever the
// rules and the query.
func TestSubPrincipalIsWithin(t *testing.T) {
	classes := shop()
	seen, fewer := 0, 0 // to ensure that the property isn't vacuously true
	rapid.Check(t, func(t *rapid.T) {
		p, err := policy.New(drawRules(t, classes), classes)
		if err != nil {
			t.Fatal(err)
		}
		data := map[string]*memory.Source{"app": drawRecords(t, classes, "app"), "crm": drawRecords(t, classes, "crm")}
		parent := drawParent(t)
		for n := range rapid.IntRange(1, identity.MaxDepth).Draw(t, "generations") {
			child, err := identity.Derive(parent, drawDerivation(t, n))
			if err != nil {
				t.Fatal(err)
			}
			within(t, p, child, parent)
			for _, c := range classes {
				for _, raw := range []bool{false, true} {
					his, hers := records(t, p, data, child, &c, raw), records(t, p, data, parent, &c, raw)
					for row := range his {
						if !hers[row] {
							t.Fatalf("%s: the child alone sees %s", c.FullName(), row)
						}
					}
					seen += len(his)
					fewer += len(hers) - len(his)
				}
			}
			parent = child
		}
	})
	if !testing.Short() && (seen < 20 || fewer < 20) { // a short run draws a fifth
		t.Errorf("children saw %d records, and %d of their parents' they didn't: too few to tell", seen, fewer)
	}
}

// within compares what child and parent may name and do.
func within(t *rapid.T, p *policy.Policy, child, parent identity.Principal) {
	for _, s := range allScopes {
		if child.Has(s) && (!parent.Has(s) || s == identity.Review || s == identity.Audit || s == identity.Operator) {
			t.Fatalf("the child has the scope %s", s)
		}
		for _, name := range ofTool {
			use := policy.Use{Tool: name, Needs: s}
			if p.May(child, use) == nil && p.May(parent, use) != nil {
				t.Fatalf("the child alone may call %s with %s", name, s)
			}
		}
	}
	for _, name := range ofAction {
		if child.Actions.Allows(name) && !parent.Actions.Allows(name) {
			t.Fatalf("the child alone may do %s", name)
		}
	}
	for _, v := range p.Views(child) {
		full := v.Class().FullName()
		above, err := p.View(parent, full, "", false)
		if err != nil {
			t.Fatalf("the child alone sees %s: %v", full, err)
		}
		for _, f := range v.Fields() {
			if above.Field(f.Name) == nil {
				t.Fatalf("the child alone sees %s of %s", f.Name, full)
			}
		}
		for _, r := range v.Relations() {
			if _, ok := above.Pointer(r.Field); !ok {
				t.Fatalf("the child alone follows %s of %s", r.Field, full)
			}
		}
	}
	if child.Owner != parent.Owner || child.Tenant != parent.Tenant || child.TokenID != parent.TokenID || child.Origin() != parent.Origin() {
		t.Fatalf("%+v is not on behalf of %+v", child, parent)
	}
}

// records returns the records of a class that a principal sees, each as text, or nil if it may not read the class.
func records(t *rapid.T, p *policy.Policy, data map[string]*memory.Source, principal identity.Principal, c *schema.Class, raw bool) map[string]bool {
	permit, err := p.Read(principal, &query.Find{Class: c.FullName(), Limit: 100, Raw: raw})
	if code := problem.CodeOf(err); err != nil && (code == problem.NotFound || code == problem.PermissionDenied) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	rows, err := data[c.Source].Read(t.Context(), permit)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprint(row)] = true
	}
	return out
}

// TestSubPrincipalFilters checks the layers of a sub-principal's view.
func TestSubPrincipalFilters(t *testing.T) {
	is := func(field string, n int64) query.Filter {
		return query.Compare{Path: query.Path{field}, Op: query.Eq, Value: value.OfInt(n)}
	}
	rules := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
		"app.users": {Denied: []string{"role"}}, "app.posts": {Tenant: &policy.TenantRule{Field: "author", Is: "principal.id"}},
		"crm.users": {Mask: map[string]policy.Mask{"stars": policy.Null}}}}
	p, err := policy.New(rules, shop())
	if err != nil {
		t.Fatal(err)
	}
	parent := identity.Principal{ID: "1", Tenant: "2", Scopes: []identity.Scope{"read"},
		Filters: map[string]query.Filter{"default": query.And{is("org", 1), is("stars", 2)}, "app.users": is("org", 3)}}
	type filters = map[string]query.Filter
	for _, tt := range []struct {
		name, class string
		parent      filters
		child       []filters
		want        string // "" if the class doesn't exist for it
	}{
		{"the same rule once", "posts", nil, []filters{{}, {}}, "tenant author=1"},
		{"the child's own key doesn't displace its parent's default", "posts", filters{"default": is("org", 1)}, []filters{{"posts": is("org", 2)}}, "tenant author=1, principal org=2, principal org=1"},
		{"it displaces its own default", "posts", filters{"default": is("org", 1)}, []filters{{"posts": is("org", 2), "default": is("org", 3)}}, "tenant author=1, principal org=2, principal org=1"},
		{"nor does the parent's own key displace the child's default", "posts", filters{"posts": is("org", 1), "default": is("org", 5)}, []filters{{"default": is("org", 2)}}, "tenant author=1, principal org=2, principal org=1"},
		{"three generations", "posts", filters{"app.posts": is("org", 1)}, []filters{{"default": is("org", 2)}, {"posts": is("org", 3)}}, "tenant author=1, principal org=3, principal org=2, principal org=1"},
		{"the same filter once", "posts", filters{"app.posts": is("org", 1)}, []filters{{"posts": is("org", 1)}}, "tenant author=1, principal org=1"},
		{"another class", "posts", nil, []filters{{"app.users": is("org", 2)}}, "tenant author=1"},
		{"a parent's filter may name what it doesn't see", "app.users", filters{"app.users": is("role", 1)}, []filters{{}}, "principal role=1"},
		{"a child's may not", "app.users", nil, []filters{{"app.users": is("role", 1)}}, ""},
		{"nor what is masked", "crm.users", nil, []filters{{"crm.users": is("stars", 1)}}, ""},
		{"nor inside of another", "app.users", nil, []filters{{"app.users": query.Not{Part: query.Or{is("org", 1), is("role", 1)}}}}, ""},
		{"nor before another", "app.users", nil, []filters{{"app.users": query.And{is("role", 1), is("org", 1)}}}, ""},
		{"nor what nobody has", "posts", nil, []filters{{"posts": is("role", 1)}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			principal := parent
			principal.Filters = tt.parent
			for _, f := range tt.child {
				if principal, err = identity.Derive(principal, identity.Derivation{Name: "c", Filters: f}); err != nil {
					t.Fatal(err)
				}
			}
			v, err := p.View(principal, tt.class, "", false)
			got := ""
			if err == nil {
				for i, l := range v.Layers() {
					if i > 0 {
						got += ", "
					}
					c := l.Filter.(query.Compare)
					got += l.Name + " " + c.Path.String() + "=" + c.Value.String()
				}
			}
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
