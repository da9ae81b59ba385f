package policy

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// vaults returns two classes. The parts of a rule for the class vaults can name its field data.
func vaults() []schema.Class {
	text := func(name string, from ...string) schema.Field {
		return schema.Field{Name: name, Type: schema.String, From: from}
	}
	return []schema.Class{
		{Source: "app", Name: "vaults", Table: "vaults", Key: []string{"id"}, Fields: []schema.Field{text("id"), text("name"), text("data"), text("upper", "data"), text("org")},
			Relations: []schema.Relation{{Fields: []string{"data"}, Target: "others", TargetFields: []string{"id"}}}},
		{Source: "app", Name: "others", Table: "others", Key: []string{"id"}, Fields: []schema.Field{text("id"), text("vault")},
			Relations: []schema.Relation{{Fields: []string{"vault"}, Target: "vaults", TargetFields: []string{"id"}}}},
	}
}

// TestWithheld checks that a withheld field is hidden whatever part of a rule names it, that no part is a fault for it, and
// that lift shows it.
func TestWithheld(t *testing.T) {
	type want struct {
		fields []string
		unseen bool // the class
	}
	hidden := want{fields: []string{"id", "name", "org"}}
	for name, tt := range map[string]struct {
		rule     ClassRule
		withheld []string
		want     want
	}{
		"no part":      {ClassRule{}, []string{"data"}, hidden},
		"visible":      {ClassRule{Visible: []string{"id", "name", "data", "org"}}, []string{"data"}, hidden},
		"only visible": {ClassRule{Visible: []string{"data"}}, []string{"data"}, want{unseen: true}},
		"denied":       {ClassRule{Denied: []string{"data"}}, []string{"data"}, hidden},
		"large":        {ClassRule{Large: []string{"name"}}, []string{"data", "name"}, want{fields: []string{"id", "org"}}},
		"join":         {ClassRule{Join: []string{"name", "data"}}, []string{"data"}, hidden},
		"mask":         {ClassRule{Mask: map[string]Mask{"upper": Partial, "name": Partial}}, []string{"data"}, hidden},
		"key":          {ClassRule{Mask: map[string]Mask{"name": Partial}}, []string{"id"}, want{fields: []string{"name", "data", "upper", "org"}}},
		"label":        {ClassRule{Label: "upper"}, []string{"data"}, hidden},
		"documented":   {ClassRule{Fields: map[string]FieldRule{"data": {Description: "x"}}}, []string{"data"}, hidden},
		"permitted":    {ClassRule{Permitted: []string{"data"}}, []string{"data"}, hidden},
		"tenant":       {ClassRule{Tenant: &TenantRule{Field: "data"}}, []string{"data"}, hidden},
		"version":      {ClassRule{Version: "data"}, []string{"data"}, want{unseen: true}},
		"canonical":    {ClassRule{Canonical: query.Compare{Path: query.Path{"data"}, Op: query.Eq, Value: value.OfString("x")}}, []string{"data"}, want{unseen: true}},
		"lifted":       {ClassRule{Lift: []string{"data", "upper"}}, []string{"data"}, want{fields: []string{"id", "name", "data", "upper", "org"}}},
		"half lifted":  {ClassRule{Lift: []string{"data"}}, []string{"data", "name"}, want{fields: []string{"id", "data", "upper", "org"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New(Rules{Classes: map[string]ClassRule{"vaults": tt.rule, "others": {}}, Withheld: map[string][]string{"app.vaults": tt.withheld}}, vaults())
			if err != nil {
				t.Fatal(err)
			}
			who := identity.Principal{ID: "a", Tenant: "t", Scopes: []identity.Scope{identity.Read}}
			v, err := p.View(who, "vaults", "", false)
			if tt.want.unseen {
				if err == nil {
					t.Fatal("the class can be seen")
				}
				_, absent := p.View(who, "vaulds", "", false)
				if err.Error() == "" || absent == nil {
					t.Error(err, absent)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range v.Fields() {
				got = append(got, f.Name)
			}
			if !slices.Equal(got, tt.want.fields) {
				t.Errorf("got %v, want %v", got, tt.want.fields)
			}
			if slices.Contains(tt.withheld, "id") {
				others, err := p.View(who, "others", "", false)
				if err != nil || len(others.Relations()) != 0 {
					t.Error("a pointer leads to a withheld key", err)
				}
				if m := v.Mask("name"); m == nil || m.Kind != Null {
					t.Errorf("mask %+v, want null: the class has no key that can be seen", m)
				}
			}
		})
	}
}

func statement(t *testing.T, text string) *query.SQL {
	t.Helper()
	q, err := query.ParseSQL(text)
	if err != nil {
		t.Fatal(err)
	}
	q.Limit = 1
	return q
}

// TestWithheldAbsent compares two worlds: in one the field is withheld, in the other it doesn't exist. A principal gets the
// same answers.
func TestWithheldAbsent(t *testing.T) {
	who := identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read}}
	absent := vaults()
	absent[0].Fields = slices.DeleteFunc(absent[0].Fields, func(f schema.Field) bool { return f.Name == "data" || f.Name == "upper" })
	absent[0].Relations = nil
	var worlds [2][]string
	for i, world := range []struct {
		rules   Rules
		classes []schema.Class
	}{{Rules{Unlisted: true, Withheld: map[string][]string{"app.vaults": {"data"}}}, vaults()}, {Rules{Unlisted: true}, absent}} {
		p, err := New(world.rules, world.classes)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []query.Query{
			&query.Find{Class: "vaults", Limit: 1}, &query.Find{Class: "vaults", Limit: 1, Keys: []query.Path{{"data"}}}, &query.Find{Class: "vaults", Limit: 1, Keys: []query.Path{{"uper"}}},
			&query.Find{Class: "vaults", Limit: 1, Include: []query.Path{{"data"}}}, &query.Find{Class: "vaults", Limit: 1, Order: []query.Sort{{Path: query.Path{"data"}}}},
			&query.Count{Class: "vaults", Where: query.Exists{Path: query.Path{"upper"}, Want: true}}, &query.Find{Class: "vaults", Limit: 1, Part: &query.Part{Field: "data", Length: 1}},
			statement(t, "SELECT data FROM vaults"), statement(t, "SELECT * FROM vaults"),
		} {
			permit, err := p.Read(who, q)
			said := ""
			if err != nil {
				said = err.Error()
			} else if plan, err := permit.Plan(); err == nil {
				for _, c := range plan.Columns {
					said += c.Path.String() + " "
				}
			}
			worlds[i] = append(worlds[i], said)
		}
	}
	if !reflect.DeepEqual(worlds[0], worlds[1]) {
		t.Errorf("withheld %q\nabsent   %q", worlds[0], worlds[1])
	}
}
