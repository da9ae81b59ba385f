package policy

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestLabel checks which field holds what a record is called, and the faults of a configured one.
func TestLabel(t *testing.T) {
	field := func(name string, typ schema.Type) schema.Field { return schema.Field{Name: name, Type: typ} }
	classes := func() []schema.Class {
		return []schema.Class{{Source: "app", Name: "projects", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("number", schema.Integer),
			field("title", schema.String), field("project_name", schema.String), field("name", schema.JSON), field("meta", schema.JSON)}},
			{Source: "app", Name: "employees", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("email", schema.String), field("title", schema.String),
				field("first_name", schema.String), field("LastName", schema.String)}},
			{Source: "app", Name: "app_users", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("email", schema.String), field("title", schema.String), field("full_name", schema.String)}},
			{Source: "app", Name: "mails", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("email", schema.String), field("title", schema.String)}},
			{Source: "app", Name: "codes", Key: []string{"code"}, Fields: []schema.Field{field("code", schema.String), field("note", schema.String)}}}
	}
	operator := agent()
	operator.Scopes = append(operator.Scopes, identity.Operator)
	for _, tt := range []struct {
		name, class string
		rule        ClassRule
		who         identity.Principal
		want        string
	}{
		{"the class's own name", "projects", ClassRule{}, agent(), "project_name"},
		{"the next where it is hidden", "projects", ClassRule{Denied: []string{"project_name"}}, agent(), "title"},
		{"the next where it is masked", "projects", ClassRule{Mask: map[string]Mask{"project_name": Partial}}, agent(), "title"},
		{"but not for those who see it whole", "projects", ClassRule{Mask: map[string]Mask{"project_name": Partial}, MaskBut: map[string]identity.Scope{"project_name": identity.Operator}}, operator, "project_name"},
		{"a large one is no label", "projects", ClassRule{Large: []string{"project_name", "title"}}, agent(), "number"},
		{"as configured", "projects", ClassRule{Label: "number"}, agent(), "number"},
		{"configured and masked for the principal", "projects", ClassRule{Label: "title", Mask: map[string]Mask{"title": Partial}, MaskBut: map[string]identity.Scope{"title": identity.Operator}}, agent(), ""},
		{"people by their fields", "employees", ClassRule{}, agent(), "LastName"},
		{"people whose last name is hidden", "employees", ClassRule{Denied: []string{"LastName"}}, agent(), "first_name"},
		{"people without a name that is seen", "employees", ClassRule{Denied: []string{"LastName", "first_name"}}, agent(), "email"},
		{"people by the name of the class", "app_users", ClassRule{}, agent(), "full_name"},
		{"no people", "mails", ClassRule{}, agent(), "title"},
		{"a key is no label", "codes", ClassRule{}, agent(), ""},
		{"unknown", "projects", ClassRule{Label: "titel"}, agent(), `classes.projects: label: there is no field "titel". Did you mean title?`},
		{"hidden", "projects", ClassRule{Label: "title", Denied: []string{"title"}}, agent(), "classes.projects: label: title can't be seen at all. Take it out"},
		{"masked for all", "projects", ClassRule{Label: "title", Mask: map[string]Mask{"title": Partial}}, agent(), "classes.projects: label: title is masked. Choose a field that is seen whole"},
		{"no text", "projects", ClassRule{Label: "meta"}, agent(), "classes.projects: label: meta is of type json. A label is a text or a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := New(Rules{Classes: map[string]ClassRule{tt.class: tt.rule}}, classes())
			if err != nil {
				if err.Error() != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				return
			}
			v, err := p.View(tt.who, tt.class, "", false)
			if err != nil {
				t.Fatal(err)
			}
			if v.Label() != tt.want {
				t.Errorf("got %q, want %q", v.Label(), tt.want)
			}
		})
	}
}

// TestCode checks the short name of a record: the template of the rule, its faults, and who sees all of its fields.
func TestCode(t *testing.T) {
	field := func(name string, typ schema.Type) schema.Field { return schema.Field{Name: name, Type: typ} }
	classes := []schema.Class{
		{Source: "app", Name: "projects", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("key", schema.String), field("meta", schema.JSON)}},
		{Source: "app", Name: "issues", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), field("number", schema.Integer), {Name: "project_id", Type: schema.Integer, NotNull: true}},
			Relations: []schema.Relation{{Fields: []string{"project_id"}, Target: "projects", TargetFields: []string{"id"}}}},
		{Source: "app", Name: "notes", Key: []string{"id"}, Fields: []schema.Field{field("id", schema.Integer), {Name: "project_id", Type: schema.Integer, NotNull: true}},
			Relations: []schema.Relation{{Fields: []string{"project_id"}, Target: "projects", TargetFields: []string{"id"}}}}}
	for _, tt := range []struct {
		name, class string
		rule        ClassRule
		projects    ClassRule
		want        string
	}{
		{"a field with a typical name", "projects", ClassRule{}, ClassRule{}, "[{ key }]"},
		{"none", "issues", ClassRule{}, ClassRule{}, "[]"},
		{"a template", "issues", ClassRule{Code: "{project_id.key}-{number}"}, ClassRule{}, "[{ project_id key} {-  } { number }]"},
		{"a part is hidden", "issues", ClassRule{Code: "{project_id.key}-{number}"}, ClassRule{Hidden: true}, "[]"},
		{"a part is masked", "issues", ClassRule{Code: "{project_id.key}-{number}"}, ClassRule{Mask: map[string]Mask{"key": Partial}, MaskBut: map[string]identity.Scope{"key": identity.Operator}}, "[]"},
		{"no brace", "issues", ClassRule{Code: "{number"}, ClassRule{}, `classes.issues: code: "{number" has no closing brace`},
		{"no field", "issues", ClassRule{Code: "number"}, ClassRule{}, `classes.issues: code: "number" names no field. Write a field in braces, such as {number}`},
		{"an unknown field", "issues", ClassRule{Code: "{numbr}"}, ClassRule{}, `classes.issues: code: there is no field "numbr". Did you mean number?`},
		{"an unknown field of the target", "issues", ClassRule{Code: "{project_id.kee}"}, ClassRule{}, `classes.issues: code: there is no field "kee". Did you mean key?`},
		{"no pointer", "issues", ClassRule{Code: "{number.key}"}, ClassRule{}, `classes.issues: code: number is not a pointer. Write {number}, or declare the pointer with pointers`},
		{"no text", "projects", ClassRule{Code: "{meta}"}, ClassRule{}, "classes.projects: code: meta is of type json. A label is a text or a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules := map[string]ClassRule{"projects": tt.projects}
			rules[tt.class] = tt.rule
			if tt.class == "issues" {
				rules["projects"] = tt.projects
			}
			p, err := New(Rules{Classes: rules, Unlisted: true}, classes)
			if err != nil {
				if err.Error() != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				return
			}
			v, err := p.View(agent(), tt.class, "", false)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(v.Code()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			note, err := p.View(agent(), "notes", "", false)
			if want := map[bool]string{false: "project_id"}[tt.projects.Hidden]; err != nil || note.Parent() != want || v.Parent() != "" {
				t.Errorf("the parents are %q and %q, want %q and none; %v", note.Parent(), v.Parent(), want, err)
			}
		})
	}
}
