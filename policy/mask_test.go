package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// staff returns people with masked fields, a class that points to them, and logs, which have no key.
func staff() []schema.Class {
	fields := func(list ...any) (out []schema.Field) {
		for i := 0; i < len(list); i += 2 {
			out = append(out, schema.Field{Name: list[i].(string), Type: list[i+1].(schema.Type)})
		}
		return out
	}
	points := func(field, target, key string) []schema.Relation {
		return []schema.Relation{{Fields: []string{field}, Target: target, TargetFields: []string{key}}}
	}
	return []schema.Class{
		{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Relations: points("boss", "people", "id"),
			Fields: fields("id", schema.Integer, "name", schema.String, "email", schema.String, "born", schema.Day, "pay", schema.Double, "notes", schema.JSON,
				"created_at", schema.Date, "boss", schema.Integer, "area", schema.Opaque, "code", schema.String, "bio", schema.String, "updatedAt", schema.Date),
			Indexes: []schema.Index{{Name: "by_email", Fields: []string{"email"}}, {Name: "by_name", Fields: []string{"name"}}},
			Text:    []schema.TextIndex{{Name: "texts", Fields: []string{"email", "name"}}}},
		{Source: "app", Name: "badges", Table: "badges", Key: []string{"id"}, Relations: points("code", "people", "code"), Fields: fields("id", schema.Integer, "code", schema.String)},
		{Source: "app", Name: "tickets", Table: "tickets", Key: []string{"id"}, Relations: points("owner", "people", "id"), Fields: fields("id", schema.Integer, "owner", schema.Integer)},
		{Source: "app", Name: "plans", Table: "plans", Key: []string{"id"}, Fields: fields("id", schema.Integer, "code", schema.String)},
		{Source: "app", Name: "logs", Table: "logs", Fields: fields("kind", schema.String, "line", schema.String)},
	}
}

// TestMaskRules has a row for each error in mask and join.
func TestMaskRules(t *testing.T) {
	masked := func(field string, as Mask) ClassRule { return ClassRule{Mask: map[string]Mask{field: as}} }
	eq := query.Compare{Path: query.Path{"email"}, Op: query.Eq, Value: value.OfString("x")}
	for _, tt := range []struct {
		class string
		rule  ClassRule
		want  string
	}{
		{"people", masked("email", Partial), ""},
		{"people", masked("born", Hash), ""},
		{"people", masked("notes", Null), ""},
		{"people", masked("area", Null), ""},
		{"people", masked("created_at", Null), ""},
		{"people", masked("emial", Hash), "mask.emial: there is no such field. Did you mean email?"},
		{"people", ClassRule{Visible: []string{"id"}, Mask: map[string]Mask{"email": Hash}}, "mask.email: the field can't be seen at all. Take it out"},
		{"people", masked("email", "half"), `mask.email: there is no mask "half". Write partial, pseudonym, hash, null or {pattern: [email, phone]}`},
		{"people", ClassRule{MaskBut: map[string]identity.Scope{"email": identity.Operator}}, "mask.email: an exception from a mask that isn't there"},
		{"people", ClassRule{Mask: map[string]Mask{"email": Hash}, MaskBut: map[string]identity.Scope{"email": ""}}, "mask.email: except needs a scope"},
		{"people", masked("email", ""), `mask.email: there is no mask "". Write partial, pseudonym, hash, null or {pattern: [email, phone]}`},
		{"people", masked("id", Hash), "mask.id: it is of the key, by which records are asked for"},
		{"people", masked("boss", Null), "mask.boss: it is a pointer to app.people, whose key it shows. Leave it out of visible instead"},
		{"people", masked("code", Hash), "mask.code: app.badges.code points to it and would show it"},
		{"people", masked("born", Partial), "mask.born: partial can't mask a field of type day. null masks any"},
		{"people", masked("pay", Hash), "mask.pay: hash can't mask a field of type double. null masks any"},
		{"people", masked("notes", Hash), "mask.notes: hash can't mask a field of type json. null masks any"},
		{"people", ClassRule{Mask: map[string]Mask{"notes": Inside}, MaskInside: map[string][]Pattern{"notes": {"email"}}}, ""},
		{"people", masked("notes", Inside), "mask.notes: pattern needs a list of email, phone, iban, card, ip, ssn"},
		{"people", ClassRule{Mask: map[string]Mask{"notes": Inside}, MaskInside: map[string][]Pattern{"notes": {"mail"}}}, "mask.notes: pattern needs a list of email, phone, iban, card, ip, ssn"},
		{"people", ClassRule{Mask: map[string]Mask{"born": Inside}, MaskInside: map[string][]Pattern{"born": {"email"}}}, "mask.born: pattern can't mask a field of type day. null masks any"},
		{"people", ClassRule{MaskTexts: []Pattern{"email"}}, ""},
		{"people", ClassRule{MaskTexts: []Pattern{"mail"}}, "mask_texts: write a list of email, phone, iban, card, ip, ssn"},
		{"people", ClassRule{MaskTexts: []Pattern{"email"}, MaskNot: []string{"nmae"}}, "mask_texts.except: there is no field nmae. Did you mean name?"},
		{"people", ClassRule{MaskNot: []string{"name"}}, "mask_texts: an exception from a mask that isn't there"},
		{"people", ClassRule{MaskTexts: []Pattern{"email"}, Label: "name"}, "label: name is masked. Choose a field that is seen whole"},
		{"tickets", ClassRule{MaskTexts: []Pattern{"email"}}, "mask_texts: the class has no long text that can be seen. Take it out"},
		{"people", masked("name", Pseudonym), ""},
		{"people", masked("born", Pseudonym), "mask.born: pseudonym can't mask a field of type day. null masks any"},
		{"logs", masked("line", Pseudonym), "mask.line: the class has no key that can be seen, so its records are ordered by all that can be, which line would have to be left out of. Write null"},
		{"plans", masked("code", Hash), ""},
		{"logs", masked("line", Null), ""},
		{"logs", masked("line", Hash), "mask.line: the class has no key that can be seen, so its records are ordered by all that can be, which line would have to be left out of. Write null"},
		{"people", ClassRule{Denied: []string{"id"}, Mask: map[string]Mask{"email": Partial}}, "mask.email: the class has no key that can be seen, so its records are ordered by all that can be, which email would have to be left out of. Write null"},
		{"people", ClassRule{Canonical: eq, Mask: map[string]Mask{"email": Hash}}, "canonical: email is masked. Agents are shown what counts as a live record"},
		{"people", ClassRule{Join: []string{"id", "email"}, Mask: map[string]Mask{"email": Hash}}, ""},
		{"people", ClassRule{Join: []string{"nmae"}}, `join: there is no field "nmae". Did you mean name?`},
		{"people", ClassRule{Visible: []string{"id"}, Join: []string{"name"}}, "join: name can't be seen at all. Take it out"},
	} {
		_, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{tt.class: tt.rule}}, staff())
		got, want := "", ""
		if err != nil {
			got = err.Error()
		}
		if tt.want != "" {
			want = "classes." + tt.class + ": " + tt.want
		}
		if got != want {
			t.Errorf("%+v\ngot  %s\nwant %s", tt.rule, got, want)
		}
	}
	// Without a visible field that points to it, it may be masked.
	rules := Rules{Classes: map[string]ClassRule{"people": masked("code", Hash), "badges": {Denied: []string{"code"}}}}
	if _, err := New(rules, staff()); err != nil {
		t.Error(err)
	}
}

// readers compiles the rules for the tests of refusals by masks.
func readers(t *testing.T) *Policy {
	t.Helper()
	p, err := New(Rules{Unlisted: true, RefuseScans: true, Classes: map[string]ClassRule{
		"people":  {AllowScan: true, Mask: map[string]Mask{"email": Partial, "born": Hash, "notes": Null, "created_at": Null}},
		"tickets": {AllowScan: true},
		"logs":    {AllowScan: true, Mask: map[string]Mask{"line": Null}},
	}}, staff())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMasked has a row for each use of a masked field: the columns with their masks, or the refusal.
func TestMasked(t *testing.T) {
	where := func(text string) query.Filter {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.ParseWhere(v, "/where")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	paths := func(names ...string) (out []query.Path) {
		for _, n := range names {
			out = append(out, query.ParsePath(n))
		}
		return out
	}
	refused := func(at, field string) string {
		return "invalid_query field_masked " + at + ": " + field + " is masked: it is shown and can't be filtered, sorted, grouped or joined on"
	}
	whole := "id name email as partial born as hash pay notes as null created_at as null boss area code bio updatedAt"
	for _, tt := range []struct {
		name string
		ask  query.Query
		want string
	}{
		{"all fields", &query.Find{Class: "people"}, whole + " by id"},
		{"by id", &query.Find{Class: "people", IDs: []string{"1"}}, whole + " by id"},
		{"named", &query.Find{Class: "people", Keys: paths("email")}, "id email as partial by id"},
		{"a part of JSON", &query.Find{Class: "people", Keys: paths("notes.a")}, "id notes.a as null by id"},
		{"a sample, newest first", &query.Find{Class: "people", Sample: true}, whole + " by id"},
		{"included", &query.Find{Class: "tickets", Keys: paths("owner.email")}, "id owner owner.id owner.email as partial by id"},
		{"without a key", &query.Find{Class: "logs"}, "kind line as null by kind"},
		{"where", &query.Find{Class: "people", Where: where(`{"name": "x", "email": "x"}`)}, refused("/where/email", "email")},
		{"is null", &query.Find{Class: "people", Where: where(`{"born": null}`)}, refused("/where/born", "born")},
		{"counted", &query.Count{Class: "people", Where: where(`{"$or": [{"name": "x"}, {"notes.a": 1}]}`)}, refused("/where/$or/1/notes.a", "notes")},
		{"compared with another class", &query.Count{Class: "people", Where: where(`{"email": {"$select": {"query": {"className": "badges"}, "key": "code"}}}`)}, refused("/where/email/$select", "email")},
		{"what another class is compared with", &query.Count{Class: "badges", Where: where(`{"code": {"$select": {"query": {"className": "people"}, "key": "email"}}}`)}, refused("/where/code/$select/key", "email")},
		{"a condition on another class", &query.Count{Class: "tickets", Where: where(`{"owner": {"$inQuery": {"className": "people", "where": {"email": "x"}}}}`)}, refused("/where/owner/$inQuery/where/email", "email")},
		{"order", &query.Find{Class: "people", Order: []query.Sort{{Path: query.Path{"name"}}, {Path: query.Path{"email"}}}}, refused("/order", "email")},
		{"order by a part", &query.Find{Class: "people", Order: []query.Sort{{Path: query.Path{"notes", "a"}}}}, refused("/order", "notes")},
		{"include", &query.Find{Class: "people", Include: paths("email")}, refused("/include/0", "email")},
		{"a key behind it", &query.Find{Class: "people", Keys: paths("email.x")}, refused("/keys/0", "email")},
		{"searched", &query.Find{Class: "people", Search: &literals.Search{Terms: []string{"x"}, Fields: []string{"name", "email"}}}, refused("/fields/1", "email")},
		{"what can be searched", &query.Find{Class: "people", Keys: paths("id"), Search: &literals.Search{Terms: []string{"x"}}}, "id by id in [name]"},
		{"SQL, by the key", parsedSQL(t, "SELECT id, email, notes, count(*) AS n FROM people GROUP BY email, id, notes"), "id email as partial notes as null n by"},
		{"SQL, beside the key", parsedSQL(t, "SELECT email, count(*) AS n FROM people GROUP BY id"), "email as partial n by"},
		{"SQL, by it alone", parsedSQL(t, "SELECT email, count(*) AS n FROM people GROUP BY email"), sqlRefused("50", "email")},
		{"SQL, by it and a field that is no key", parsedSQL(t, "SELECT count(*) AS n FROM people GROUP BY email, name"), sqlRefused("43", "email")},
		{"SQL, tested after it is grouped", parsedSQL(t, "SELECT id FROM people GROUP BY id, email HAVING email > 'm'"), sqlRefused("49", "email")},
		{"SQL, sorted after it is grouped", parsedSQL(t, "SELECT id FROM people GROUP BY id, email ORDER BY email"), sqlRefused("51", "email")},
		{"SQL, computed after it is grouped", parsedSQL(t, "SELECT upper(email) AS e FROM people GROUP BY id, email"), sqlRefused("14", "email")},
		{"SQL, in a set of groups", parsedSQL(t, "SELECT id, count(*) AS n FROM people GROUP BY ROLLUP (id, email)"), sqlRefused("59", "email")},
	} {
		permit, err := readers(t).Read(agent(), tt.ask)
		if got := shownOf(permit, err); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func parsedSQL(t *testing.T, text string) query.Query {
	t.Helper()
	q, err := query.ParseSQL(text)
	if err != nil {
		t.Fatal(err)
	}
	q.Limit = 10
	return q
}

// sqlRefused is the refusal of a masked field at a column of the first line of a statement.
func sqlRefused(column, field string) string {
	return "invalid_query field_masked /sql: line 1, column " + column + ": " + field + " is masked: it is shown and can't be filtered, sorted, grouped or joined on"
}

// shownOf formats the columns with their masks, the order, and the search, or the refusal.
func shownOf(permit Permit, err error) string {
	if err != nil {
		e := problem.Of(err)
		return fmt.Sprintf("%s %s %s: %s", e.Code, e.Kind, e.Pointer, e.Detail)
	}
	var out []string
	for _, c := range permit.plan.Columns {
		out = append(out, c.Path.String())
		if c.Mask != nil {
			out = append(out, "as", string(c.Mask.Kind))
		}
	}
	out = append(out, "by")
	for _, o := range permit.plan.Order {
		out = append(out, o.Field.Name)
	}
	if permit.plan.Search != nil {
		for _, in := range permit.plan.Search.In {
			out = append(out, "in", fmt.Sprint(in.Fields))
		}
	}
	return strings.Join(out, " ")
}

// TestMaskedCatalogue checks that the catalogue offers nothing that a masked field, or a partly visible source, can't
// serve.
func TestMaskedCatalogue(t *testing.T) {
	p := readers(t)
	a, err := p.Access(agent(), &query.Find{Class: "people"})
	if err != nil || fmt.Sprint(a.Leading) != "[id name]" {
		t.Errorf("leading %v, %v", a.Leading, err)
	}
	if p.SeesAll(agent(), "app") {
		t.Error("who sees masked values sees all")
	}
	open, err := New(Rules{Unlisted: true}, staff())
	if err != nil || !open.SeesAll(agent(), "app") {
		t.Error("nobody sees all", err)
	}
}

// TestIncluded checks the fields of an included record, and the report of those left out.
func TestIncluded(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule ClassRule
		keys string
		want string
	}{
		{"all", ClassRule{}, "", "id owner owner.id owner.name owner.email owner.born owner.pay owner.notes owner.created_at owner.boss owner.area owner.code owner.bio owner.updatedAt []"},
		{"but the large", ClassRule{Large: []string{"bio", "notes"}}, "", "id owner owner.id owner.name owner.email owner.born owner.pay owner.created_at owner.boss owner.area owner.code owner.updatedAt [notes bio]"},
		{"timestamps always", ClassRule{Visible: []string{"id", "name", "bio", "updatedAt"}, Large: []string{"bio", "updatedAt"}}, "", "id owner owner.id owner.name owner.updatedAt [bio]"},
		{"join", ClassRule{Join: []string{"name"}}, "", "id owner owner.id owner.name owner.created_at owner.updatedAt [email born pay notes boss area code bio]"},
		{"join before large", ClassRule{Join: []string{"bio", "name"}, Large: []string{"bio"}, Visible: []string{"id", "name", "bio", "code"}}, "", "id owner owner.id owner.name owner.bio [code]"},
		{"an empty join", ClassRule{Join: []string{}, Visible: []string{"id", "name"}}, "", "id owner owner.id [name]"},
		{"the pointer in keys", ClassRule{Join: []string{"name"}, Visible: []string{"id", "name", "bio"}}, "owner", "id owner owner.id owner.name [bio]"},
		{"a path in keys", ClassRule{Join: []string{"name"}, Visible: []string{"id", "name", "bio"}}, "owner.bio", "id owner owner.id owner.bio []"},
	} {
		p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"people": tt.rule}}, staff())
		if err != nil {
			t.Fatal(err)
		}
		find := &query.Find{Class: "tickets", Include: []query.Path{{"owner"}}}
		if tt.keys != "" {
			find.Keys = []query.Path{query.ParsePath(tt.keys)}
		}
		permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, find)
		if err != nil {
			t.Fatal(err)
		}
		columns, _, _ := strings.Cut(shownOf(permit, nil), " by ")
		if strings.HasSuffix(tt.want, "[]") && permit.plan.Truncated != nil {
			t.Errorf("%s: what is whole is cut: %v", tt.name, permit.plan.Truncated)
		}
		if got := fmt.Sprint(columns, " ", permit.plan.Truncated["owner"]); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestMaskBut checks that a mask with an exception applies to principals without its scope, in every part of a query.
func TestMaskBut(t *testing.T) {
	p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"people": {Mask: map[string]Mask{"email": Hash, "name": Partial},
		MaskBut: map[string]identity.Scope{"email": identity.Operator}}}}, staff())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := value.Read([]byte(`[{"$group": {"_id": "$email"}}]`), 0)
	if err != nil {
		t.Fatal(err)
	}
	stages, err := query.ParsePipeline(doc, "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	by := query.Compare{Path: query.Path{"email"}, Op: query.Eq, Value: value.OfString("x")}
	queries := map[string]query.Query{
		"where":    &query.Find{Class: "people", Where: by, Limit: 1},
		"order":    &query.Find{Class: "people", Order: []query.Sort{{Path: query.Path{"email"}}}, Limit: 1},
		"pipeline": &query.Pipeline{Class: "people", Stages: stages, Limit: 1},
	}
	for _, tt := range []struct {
		scopes []identity.Scope
		email  string // the mask
		asks   string // the result of each query
	}{
		{[]identity.Scope{identity.Read}, "hash", "invalid_query: email is masked"},
		{[]identity.Scope{identity.Read, identity.Explain}, "hash", "invalid_query: email is masked"},
		{[]identity.Scope{identity.Read, identity.Operator}, "", ""},
	} {
		principal := identity.Principal{ID: "p", Scopes: tt.scopes}
		v, err := p.View(principal, "people", "", false)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if m := v.Mask("email"); m != nil {
			got = string(m.Kind)
		}
		if got != tt.email || v.Mask("name") == nil {
			t.Errorf("%v: the mask of email is %q, want %q; that of name %v", tt.scopes, got, tt.email, v.Mask("name"))
		}
		for what, q := range queries {
			_, err := p.Read(principal, q)
			if tt.asks == "" && err != nil || tt.asks != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.asks)) {
				t.Errorf("%v: %s: %v, want %q", tt.scopes, what, err, tt.asks)
			}
		}
	}
}
