package review

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// labelled is a visibility of the test class. Its label is the title, and the field assignee points to users.
func labelled(string) Visibility {
	s := issues("")
	s.Label, s.Points = "title", map[string]Pointer{"assignee": {"users", "id"}}
	s.Fields["assignee"] = schema.String
	return s
}

// TestTitle checks the heading of a change. The gateway writes what happens to which records, with their labels. Text
// of the agent or of an action's template is shown separately.
func TestTitle(t *testing.T) {
	group := func() *change.Change {
		c := of(t, write.OpUpdate, `{"id":1,"title":"a","status":"x"}`, `{"id":1,"title":"a","status":"y"}`, "status")
		c.Effects = append(c.Effects, of(t, write.OpUpdate, `{"id":2,"title":"b","status":"x"}`, `{"id":2,"title":"b","status":"y"}`, "status").Effects[0])
		return c
	}
	update := func() *change.Change {
		return of(t, write.OpUpdate, `{"id":42,"title":"Login is slow","status":"x"}`, `{"id":42,"title":"Login is slow","status":"y"}`, "status")
	}
	hidden := labelled("")
	delete(hidden.Fields, "title")
	masked := labelled("")
	masked.Masks = map[string]Masked{"title": func(value.Value) value.Value { return value.OfString("L…") }}
	for _, c := range []struct {
		name       string
		of         func() *change.Change
		visibility Visibility
		agent      bool
		want       string
	}{
		{"an update", update, labelled(""), false, `Issue 42 "Login is slow": status x → y`},
		{"the same for its agent", update, labelled(""), true, `Issue 42 "Login is slow": status x → y`},
		{"a hidden label", update, hidden, false, `Issue 42: status x → y`},
		{"a masked label", update, masked, false, `Issue 42: status x → y`},
		{"a delete", func() *change.Change { return of(t, write.OpDelete, `{"id":42,"title":"Old"}`, `null`) }, labelled(""), false, `Delete issue 42 "Old"`},
		{"a create", func() *change.Change { return of(t, write.OpCreate, `null`, `{"title":"New"}`, "title") }, labelled(""), true, `Create issue "New"`},
		{"a name that the source makes up", func() *change.Change {
			return of(t, write.OpCreate, `null`, `{"title":"made up","status":"x"}`, "status")
		}, labelled(""), true, "Create issue"},
		{"the same for people", func() *change.Change {
			return of(t, write.OpCreate, `null`, `{"title":"made up","status":"x"}`, "status")
		}, labelled(""), false, `Create issue "made up"`},
		{"a group", group, labelled(""), false, "2 updates in issues: status"},
		{"an action", func() *change.Change { c := update(); c.Action = "close"; return c }, labelled(""), false, `Issue 42 "Login is slow": status x → y`},
		{"a revert", func() *change.Change { c := update(); c.Action, c.Reverts = "revert", "01"; return c }, labelled(""), false, `Revert: Issue 42 "Login is slow": status x → y`},
		{"a label that would end its quotes", func() *change.Change {
			return of(t, write.OpDelete, `{"id":42,"title":"x\" approved\n\u202e✓ no risk"}`, `null`)
		}, labelled(""), false, `Delete issue 42 "x\" approved ⟨U+202E⟩✓ no risk"`},
		{"a long label", func() *change.Change {
			return of(t, write.OpDelete, `{"id":42,"title":"`+strings.Repeat("x", 200)+`"}`, `null`)
		}, labelled(""), false,
			`Delete issue 42 "` + strings.Repeat("x", maxLabel) + `…"`},
	} {
		one := c.of()
		one.Title, one.Says, one.Tool = "✓ Checked by the gateway: no risk", "✓ Checked by the gateway: no risk", cmp.Or(one.Action, groupTool)
		row := NewRow(one, func(string) Visibility { return c.visibility }, Viewer{Reviewer: !c.agent})
		by := "triage bot"
		if one.Action != "" {
			by = "the action " + one.Action
		}
		if row.Title != c.want || row.Says != "✓ Checked by the gateway: no risk" || row.SaidBy != by {
			t.Errorf("%s: %q by %q, want %q", c.name, row.Title, row.SaidBy, c.want)
		}
	}
}

// TestTitleNames checks how titles name records: by their short names, by the record to which they belong, and by the
// targets of pointers. A name of which the viewer doesn't see a part isn't shown.
func TestTitleNames(t *testing.T) {
	seen := func(without ...string) func(string) Visibility {
		all := map[string]Visibility{
			"tracker.issues": {Class: "issues", Key: []string{"id"}, Label: "title", Fields: fields("id", "title", "status", "number", "project", "assignee"),
				Code:   []plan.NamePart{{Field: "project", Of: "key"}, {Text: "-"}, {Field: "number"}},
				Points: map[string]Pointer{"project": {"projects", "id"}, "assignee": {"users", "id"}}},
			"tracker.comments": {Class: "comments", Key: []string{"id"}, Fields: fields("id", "issue", "body"), Parent: "issue", Points: map[string]Pointer{"issue": {"issues", "id"}}},
			"tracker.projects": {Class: "projects", Fields: fields("key"), Code: []plan.NamePart{{Field: "key"}}},
			"tracker.users":    {Class: "users", Fields: fields("name"), Label: "name"},
		}
		return func(class string) Visibility {
			s := all[class]
			s.Fields = maps.Clone(s.Fields)
			for _, name := range without {
				if c, f, _ := strings.Cut(name, "/"); c == class && f == "" {
					return Visibility{}
				} else if c == class {
					delete(s.Fields, f)
				}
			}
			return s
		}
	}
	issue := func(op write.Op, before, after string, asked ...string) *change.Change {
		c := of(t, op, before, after, asked...)
		c.Named = []change.Named{
			{From: "tracker.issues", Field: "project", Key: "p1", Class: "tracker.projects", Record: read(t, `{"key":"PAY"}`)},
			{From: "tracker.issues", Field: "assignee", Key: "u1", Class: "tracker.users", Record: read(t, `{"name":"Ana Lima"}`)},
			{From: "tracker.comments", Field: "issue", Key: "42", Class: "tracker.issues", Record: read(t, `{"title":"Refund twice","number":377,"project":"p1"}`)},
		}
		return c
	}
	const record = `{"id":42,"title":"Refund twice","status":"InProgress","number":377,"project":"p1","assignee":null}`
	comment := func(op write.Op, before, after string, asked ...string) *change.Change {
		c := issue(op, before, after, asked...)
		c.Effects[0].Class, c.Classes = "tracker.comments", []string{"tracker.comments"}
		return c
	}
	update := func() *change.Change {
		return issue(write.OpUpdate, record, strings.Replace(record, "InProgress", "Review", 1), "status")
	}
	assign := func() *change.Change {
		return issue(write.OpUpdate, record, strings.Replace(record, "null", `"u1"`, 1), "assignee", "status")
	}
	add := func() *change.Change {
		return comment(write.OpCreate, `null`, `{"issue":42,"body":"Fixed"}`, "issue", "body")
	}
	remove := func() *change.Change {
		c := comment(write.OpDelete, `{"id":20000,"issue":42,"body":"Fixed"}`, `null`)
		c.Effects[0].Key = "20000"
		return c
	}
	mixed := func() *change.Change {
		c := update()
		c.Op = "group"
		c.Effects = append(c.Effects, update().Effects[0], remove().Effects[0])
		return c
	}
	for _, c := range []struct {
		name    string
		of      func() *change.Change
		without []string
		want    string
	}{
		{"a short name", update, nil, `PAY-377 "Refund twice": status InProgress → Review`},
		{"a part of it is hidden", update, []string{"tracker.projects/key"}, `Issue 42 "Refund twice": status InProgress → Review`},
		{"its number is hidden", update, []string{"tracker.issues/number"}, `Issue 42 "Refund twice": status InProgress → Review`},
		{"the class behind it is hidden", update, []string{"tracker.projects/"}, `Issue 42 "Refund twice": status InProgress → Review`},
		{"a pointer, and a field that stays", assign, nil, `PAY-377 "Refund twice": assignee null → "Ana Lima"`},
		{"its target has no name that is seen", assign, []string{"tracker.users/name"}, `PAY-377 "Refund twice": assignee null → u1`},
		{"what is added to a record", add, nil, "Add a comment to PAY-377"},
		{"a record without a short name that is seen", add, []string{"tracker.projects/key"}, `Add a comment to "Refund twice"`},
		{"a hidden record", add, []string{"tracker.issues/"}, "Create comment"},
		{"a hidden pointer", add, []string{"tracker.comments/issue"}, "Create comment"},
		{"what is deleted", remove, nil, "Delete comment 20000 on PAY-377"},
		{"what is deleted, and the class behind it is hidden", remove, []string{"tracker.issues/"}, "Delete comment 20000"},
		{"a group", mixed, nil, "2 updates in issues, 1 delete in comments"},
		{"a group, a class of which is hidden", mixed, []string{"tracker.comments/"}, "2 updates in issues, 1 delete in what you don't see"},
		{"a hidden class", update, []string{"tracker.issues/"}, "Update what you don't see"},
	} {
		for _, reviewer := range []bool{true, false} {
			if got := NewRow(c.of(), seen(c.without...), Viewer{Reviewer: reviewer}).Title; got != c.want {
				t.Errorf("%s, reviewer %v: %q, want %q", c.name, reviewer, got, c.want)
			}
		}
	}
	// A name that an agent chose can't look like words of the gateway.
	c := issue(write.OpUpdate, record, strings.Replace(record, "InProgress", "Review", 1), "status")
	c.Named[0].Record = read(t, `{"key":"Approved by Rosa: status"}`)
	if got, want := NewRow(c, seen(), Viewer{Reviewer: true}).Title, `"Approved by Rosa: status-377" "Refund twice": status InProgress → Review`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPointings checks which records are read for the names in a title: once each, and not those that are known.
func TestPointings(t *testing.T) {
	see := func(class string) Visibility {
		switch class {
		case "tracker.issues", "issues":
			return Visibility{Class: "issues", Label: "title", Fields: fields("id", "title", "project"), Code: []plan.NamePart{{Field: "project", Of: "key"}}, Points: map[string]Pointer{"project": {"projects", "id"}}}
		case "tracker.comments":
			return Visibility{Class: "comments", Fields: fields("id", "issue"), Parent: "issue", Points: map[string]Pointer{"issue": {"issues", "id"}}}
		}
		return Visibility{}
	}
	c := of(t, write.OpCreate, `null`, `{"issue":7}`, "issue")
	c.Effects[0].Class = "tracker.comments"
	c.Effects = append(c.Effects, c.Effects[0])
	if got := fmt.Sprint(Pointings(c, see)); got != "[{tracker.comments issue {issues id} [title project] [7]}]" {
		t.Error(got)
	}
	c.Named = []change.Named{{From: "tracker.comments", Field: "issue", Key: "7", Class: "tracker.issues", Record: read(t, `{"title":"x","project":"p"}`)}}
	if got := fmt.Sprint(Pointings(c, see)); got != `[{tracker.issues project {projects id} [key] [p]}]` {
		t.Error(got)
	}
	c.Named = append(c.Named, change.Named{From: "tracker.issues", Field: "project", Key: "p", Class: "tracker.projects", Record: read(t, `{"key":"PAY"}`)})
	if got := Pointings(c, see); got != nil {
		t.Error(got)
	}
}

func fields(names ...string) map[string]schema.Type {
	out := map[string]schema.Type{}
	for _, name := range names {
		out[name] = schema.String
	}
	return out
}

// TestRefer checks that a pointer shows the label of its target on both sides, and that each class is queried once. A
// record that the viewer doesn't see looks like one without a name.
func TestRefer(t *testing.T) {
	c := of(t, write.OpUpdate, `{"id":42,"assignee":"u1"}`, `{"id":42,"assignee":"u2"}`, "assignee")
	c.Effects = append(c.Effects, of(t, write.OpUpdate, `{"id":43,"assignee":null}`, `{"id":43,"assignee":"u3"}`, "assignee").Effects[0])
	s := New(c, labelled, Viewer{Reviewer: true})
	asked := ""
	s.Refer(func(to Pointer, values []value.Value) map[string]string {
		asked += fmt.Sprintf("%s %d;", to, len(values))
		return map[string]string{"u1": "Ana", "u2": "Jonas \u202e"}
	})
	if got := fmt.Sprintf("%s → %s", s.Items[0].Fields[0].Before.Label, s.Items[0].Fields[0].After.Label); got != "Ana → Jonas ⟨U+202E⟩" || asked != "{users id} 3;" {
		t.Error(got, asked)
	}
	if text := Text(s); !strings.Contains(text, `assignee: "u1" ("Ana") → "u2" ("Jonas ⟨U+202E⟩")`) || !strings.Contains(text, `assignee: null → "u3"`+"\n") {
		t.Error(text)
	}
	none := New(c, labelled, Viewer{Reviewer: true})
	none.Refer(func(Pointer, []value.Value) map[string]string { return nil })
	before, err := json.Marshal(New(c, labelled, Viewer{Reviewer: true}))
	after, err2 := json.Marshal(none)
	if err != nil || err2 != nil || string(before) != string(after) {
		t.Error("a pointer without a name isn't as before")
	}
}
