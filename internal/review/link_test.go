package review

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestLinks checks the address of a record in its application. A value can't lead to another host or page.
func TestLinks(t *testing.T) {
	linked := func(parts ...plan.NamePart) func(string) Visibility {
		s := issues("")
		s.Link = append([]plan.NamePart{{Text: "https://app/issues/"}}, parts...)
		return func(string) Visibility { return s }
	}
	id, title := plan.NamePart{Field: "id"}, plan.NamePart{Field: "title"}
	masked := linked(title)("")
	masked.Masks = map[string]Masked{"title": func(value.Value) value.Value { return value.OfString("L…") }}
	pointed := linked(plan.NamePart{Field: "assignee", Of: "name"})("")
	pointed.Fields["assignee"], pointed.Points = schema.Integer, map[string]Pointer{"assignee": {"users", "id"}}
	users := Visibility{Class: "users", Fields: map[string]schema.Type{"name": schema.String}}
	update := func(title string) *change.Change {
		return of(t, write.OpUpdate, `{"id":42,"title":`+title+`,"status":"x","assignee":7}`, `{"id":42,"title":`+title+`,"status":"y","assignee":7}`, "status")
	}
	named := update(`"a"`)
	named.Named = []change.Named{{From: named.Effects[0].Class, Field: "assignee", Key: "7", Class: "app.users", Record: value.OfObject([]value.Member{{Name: "name", Value: value.OfString("ada")}})}}
	applied := func(c *change.Change) *change.Change {
		c.State, c.Outcome = change.Applied, &change.Outcome{Receipt: &change.Receipt{Keys: []string{"77"}, After: []value.Value{{}}}}
		return c
	}
	created := func() *change.Change { return of(t, write.OpCreate, `null`, `{"id":9,"title":"New"}`, "title") }
	for _, c := range []struct {
		name  string
		of    *change.Change
		sees  func(string) Visibility
		agent bool
		want  string
	}{
		{"an update", update(`"a"`), linked(id), false, "https://app/issues/42"},
		{"its agent is not told", update(`"a"`), linked(id), true, ""},
		{"a path", update(`"../admin?x=1#y"`), linked(title), false, "https://app/issues/..%2Fadmin%3Fx=1%23y"},
		{"a query", update(`"a&admin=1"`), linked(plan.NamePart{Text: "?q="}, title), false, "https://app/issues/?q=a%26admin%3D1"},
		{"the folder above", update(`".."`), linked(title), false, ""},
		{"an empty value", update(`""`), linked(title), false, ""},
		{"null", update(`null`), linked(title), false, ""},
		{"a masked field", update(`"a"`), func(string) Visibility { return masked }, false, ""},
		{"a field of the record behind a pointer", named, func(class string) Visibility {
			if class == "app.users" {
				return users
			}
			return pointed
		}, false, "https://app/issues/ada"},
		{"before it is created", created(), linked(id), false, ""},
		{"after it is created", applied(created()), linked(id), false, "https://app/issues/77"},
		{"before it is deleted", of(t, write.OpDelete, `{"id":42}`, `null`), linked(id), false, "https://app/issues/42"},
		{"after it is deleted", applied(of(t, write.OpDelete, `{"id":42}`, `null`)), linked(id), false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := New(c.of, c.sees, Viewer{Reviewer: !c.agent}).Items[0].Link; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
