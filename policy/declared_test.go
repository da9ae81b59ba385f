package policy

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestDeclaredFaults has a row for each fault of a declared pointer.
func TestDeclaredFaults(t *testing.T) {
	classes := func() []schema.Class {
		out := catalogue()
		out[4].Fields = append(out[4].Fields, schema.Field{Name: "org", Type: schema.Integer})
		out[3].Fields = append(out[3].Fields, schema.Field{Name: "orgs", Type: schema.JSON})
		out[1].Indexes = []schema.Index{{Name: "u", Fields: []string{"org"}, Unique: true}, {Name: "part", Fields: []string{"title"}, Unique: true, More: true}}
		out = append(out, schema.Class{Source: "app", Name: "money", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Decimal}}})
		return append(out, schema.Class{Source: "app", Name: "pairs", Key: []string{"a", "b"}, Fields: []schema.Field{{Name: "a"}, {Name: "b"}, {Name: "n", Type: schema.Integer}}})
	}
	for _, tt := range []struct {
		class, field string
		to           Pointer
		want         string
	}{
		{"nodes", "id", Pointer{Class: "issues", Key: "org"}, ""},
		{"issues", "org", Pointer{Class: "users"}, ""}, // other has users as well
		{"issues", "owner", Pointer{Class: "app.users", Key: "id"}, ""},
		{"issues", "owners", Pointer{Class: "users"}, "there is no such field. Did you mean owner?"},
		{"issues", "org", Pointer{Class: "user"}, "user: there is no such class. Did you mean users?"},
		{"issues", "org", Pointer{Class: "other.users"}, "other.users is in another source. A pointer leads to a class of its own"},
		{"issues", "org", Pointer{Class: "pairs"}, "app.pairs has no key of one field. Write {class: pairs, key: …}"},
		{"issues", "org", Pointer{Class: "pairs", Key: "m"}, `app.pairs has no field "m"`},
		{"issues", "org", Pointer{Class: "pairs", Key: "n"}, "n of app.pairs isn't unique by a key or an index, so it could lead to several records"},
		{"comments", "body", Pointer{Class: "issues", Key: "title"}, "title of app.issues isn't unique by a key or an index, so it could lead to several records"},
		{"comments", "body", Pointer{Class: "issues"}, "it is of type string, and id of app.issues is of type uuid"},
		{"nodes", "orgs", Pointer{Class: "users"}, ""},
		{"nodes", "orgs", Pointer{Class: "money"}, "id of app.money is of type decimal. A list of pointers holds whole numbers, texts or UUIDs"},
		{"issues", "owner", Pointer{Class: "nodes"}, "the source says that it points to id of users"},
	} {
		rules := Rules{Classes: map[string]ClassRule{"app." + tt.class: {Pointers: map[string]Pointer{tt.field: tt.to}}}}
		_, err := New(rules, classes())
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "classes.app."+tt.class+": pointers."+tt.field+": ")
		}
		if got != tt.want {
			t.Errorf("%s.%s to %+v:\n got %s\nwant %s", tt.class, tt.field, tt.to, got, tt.want)
		}
	}
}

// TestTypeFaults has a row for each fault of a declared type.
func TestTypeFaults(t *testing.T) {
	classes := func(converts bool) []schema.Class {
		return []schema.Class{
			{Source: "app", Name: "users", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}, Converts: converts},
			{Source: "app", Name: "t", Key: []string{"id"}, Converts: converts, Relations: []schema.Relation{{Fields: []string{"user"}, Target: "users", TargetFields: []string{"id"}}},
				Text: []schema.TextIndex{{Fields: []string{"body"}}}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "made", Type: schema.Integer}, {Name: "at", Type: schema.Date},
					{Name: "user", Type: schema.Integer}, {Name: "body", Type: schema.String}, {Name: "price", Type: schema.Double}, {Name: "meta", Type: schema.String}}},
		}
	}
	for _, tt := range []struct {
		field string
		form  schema.Form
		plain bool
		want  string
	}{
		{field: "made", form: schema.EpochMillis},
		{field: "meta", form: schema.JSONText},
		{field: "price", form: schema.DecimalForm},
		{field: "mode", form: schema.EpochMillis, want: "there is no such field. Did you mean made?"},
		{field: "made", form: schema.EpochMillis, plain: true, want: "the source app has types of its own. Only SQL databases and Parse Server can be read in another"},
		{field: "at", form: schema.EpochMillis, want: "it is of type date already. Take it out"},
		{field: "id", form: schema.EpochMillis, want: "it is in the key of the class, whose values are compared as they are stored"},
		{field: "user", form: schema.Truth, want: "the source says that it is a pointer, whose values are compared as they are stored"},
		{field: "body", form: schema.JSONText, want: "a full-text index searches it as text"},
		{field: "made", form: schema.JSONText, want: "it is of type integer. json is held in a field of type string"},
		{field: "made", form: schema.DecimalForm, want: "it is of type integer. decimal is held in a field of type string or double"},
	} {
		given := classes(!tt.plain)
		p, err := New(Rules{Classes: map[string]ClassRule{"t": {Types: map[string]schema.Form{tt.field: tt.form}}}}, given)
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "classes.t: types."+tt.field+": ")
		}
		if got != tt.want {
			t.Errorf("%s in %s:\n got %s\nwant %s", tt.field, tt.form, got, tt.want)
		}
		if given[1].Field(tt.field) != nil && given[1].Field(tt.field).Stored != nil {
			t.Errorf("%s in %s: the caller's catalogue has changed", tt.field, tt.form)
		}
		if err != nil {
			continue
		}
		if p, err = New(Rules{Unlisted: true}, p.Catalogue()); err != nil || p.byFull["app.t"].Field(tt.field).Stored != nil {
			t.Errorf("%s in %s: later rules, which don't declare it, leave it so: %v", tt.field, tt.form, err)
		}
	}
}

// TestDeclared checks that a declared pointer counts as a foreign key does, and no longer than the rules declare it.
func TestDeclared(t *testing.T) {
	classes := catalogue()
	classes[2].Relations = nil
	through := Rules{Classes: map[string]ClassRule{"app.users": {Tenant: &TenantRule{Field: "org"}}, "issues": {Tenant: &TenantRule{Field: "org"}},
		"comments": {Tenant: &TenantRule{Through: "issue"}, Pointers: map[string]Pointer{"issue": {Class: "issues"}}}}}
	p, err := New(through, classes)
	if err != nil {
		t.Fatal(err)
	}
	if classes[2].Relations != nil {
		t.Error("the caller's catalogue has changed")
	}
	v, err := p.View(agent(), "comments", "", false)
	if err != nil {
		t.Fatal(err)
	}
	if got := layers(v); got != `tenant issue in (tenant {"org":{"$eq":7}})` {
		t.Error(got)
	}
	permit, err := p.Read(agent(), &query.Find{Class: "comments", Keys: []query.Path{{"issue", "owner", "name"}}, Limit: 1})
	if plan, _ := permit.Plan(); err != nil || len(plan.Joins) != 2 {
		t.Errorf("%v, %+v", err, plan.Joins)
	}
	without := through.Classes["comments"]
	without.Pointers, without.Tenant = nil, nil
	through.Classes["comments"] = without
	if p, err = New(through, p.Catalogue()); err != nil {
		t.Fatal(err)
	}
	if v, err = p.View(agent(), "comments", "", false); err != nil || len(v.Relations()) != 0 {
		t.Errorf("%v, %v", err, v.Relations())
	}
}
