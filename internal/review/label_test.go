package review

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
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
		{"an update", update, labelled(""), false, `update issues 42 "Login is slow": status "x" → "y"`},
		{"the same for its agent", update, labelled(""), true, `update issues 42 "Login is slow": status`},
		{"a hidden label", update, hidden, false, `update issues 42: status "x" → "y"`},
		{"a masked label", update, masked, false, `update issues 42: status "x" → "y"`},
		{"a delete", func() *change.Change { return of(t, write.OpDelete, `{"id":42,"title":"Old"}`, `null`) }, labelled(""), false, `delete issues 42 "Old"`},
		{"a create", func() *change.Change { return of(t, write.OpCreate, `null`, `{"title":"New"}`, "title") }, labelled(""), true, `create issues "New"`},
		{"a name that the source makes up", func() *change.Change {
			return of(t, write.OpCreate, `null`, `{"title":"made up","status":"x"}`, "status")
		}, labelled(""), true, "create issues"},
		{"the same for people", func() *change.Change {
			return of(t, write.OpCreate, `null`, `{"title":"made up","status":"x"}`, "status")
		}, labelled(""), false, `create issues "made up"`},
		{"a group", group, labelled(""), false, "update 2 records of issues: status"},
		{"an action", func() *change.Change { c := update(); c.Action = "close"; return c }, labelled(""), false, `close: update issues 42 "Login is slow": status "x" → "y"`},
		{"a revert", func() *change.Change { c := update(); c.Action, c.Reverts = "revert", "01"; return c }, labelled(""), false, `revert 01: update issues 42 "Login is slow": status "x" → "y"`},
		{"a label that would end its quotes", func() *change.Change {
			return of(t, write.OpDelete, `{"id":42,"title":"x\" approved\n\u202e✓ no risk"}`, `null`)
		}, labelled(""), false, `delete issues 42 "x\" approved ⟨U+202E⟩✓ no risk"`},
		{"a long label", func() *change.Change {
			return of(t, write.OpDelete, `{"id":42,"title":"`+strings.Repeat("x", 200)+`"}`, `null`)
		}, labelled(""), false,
			`delete issues 42 "` + strings.Repeat("x", maxLabel) + `…"`},
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
