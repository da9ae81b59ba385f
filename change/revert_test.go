package change_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestInverse checks the writes that revert a change, and which changes can't be reverted.
func TestInverse(t *testing.T) {
	applied := func(keys []string, effects ...change.Effect) *change.Change {
		return &change.Change{State: change.Applied, Effects: effects, Outcome: &change.Outcome{Receipt: &change.Receipt{Keys: keys}}}
	}
	create := change.Effect{Op: write.OpCreate, Class: "app.issues", After: doc(t, `{"id": 7, "n": 1}`)}
	update := change.Effect{Op: write.OpUpdate, Class: "app.issues", Key: "1", Before: doc(t, `{"id": 1, "n": 9007199254740993, "m": null, "k": 1}`), Asked: []string{"n", "m"}}
	remove := change.Effect{Op: write.OpDelete, Class: "app.issues", Key: "2", Before: doc(t, `{"id": 2, "n": 5, "m": null}`)}
	cascading := applied([]string{"2"}, remove)
	cascading.Cascades = []change.Cascade{{Class: "app.comments"}}
	pending := applied([]string{"2"}, remove)
	pending.State = change.Pending
	for _, tt := range []struct {
		name string
		c    *change.Change
		want string
	}{
		{"a new record goes", applied([]string{"7"}, create), `{"op":"delete","class":"app.issues","id":"7"}`},
		{"fields have what they had", applied([]string{"1"}, update), `{"op":"update","class":"app.issues","id":"1","data":{"n":9007199254740993,"m":null}}`},
		{"a record comes again, nulls left out", applied([]string{"2"}, remove), `{"op":"create","class":"app.issues","data":{"id":2,"n":5}}`},
		{"the last first", applied([]string{"7", "1"}, create, update), `{"op":"update","class":"app.issues","id":"1","data":{"n":9007199254740993,"m":null}}{"op":"delete","class":"app.issues","id":"7"}`},
		{"with others gone", cascading, "error: cascades"},
		{"not applied", pending, "error: state"},
		{"without an outcome", &change.Change{State: change.Applied}, "error: state"},
		{"without a receipt", &change.Change{State: change.Applied, Outcome: &change.Outcome{}}, "error: state"},
		{"without a key", applied(nil, create), "error: receipt"},
		{"an action", applied([]string{""}, change.Effect{Op: write.OpAction}), "error: op"},
	} {
		list, err := tt.c.Inverse()
		var got strings.Builder
		for _, w := range list {
			got.Write(write.Print(w).AppendJSON(nil))
		}
		if err != nil {
			got.WriteString("error: " + kind(err))
		}
		if got.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.String(), tt.want)
		}
	}
}

// TestMoved checks what has changed since a preview, and since a change was applied.
func TestMoved(t *testing.T) {
	one := func(op write.Op, before string, asked ...string) []change.Effect {
		e := change.Effect{Op: op, Class: "app.issues", Key: "1", Asked: asked}
		if before != "" {
			e.Before = doc(t, before)
		}
		return []change.Effect{e}
	}
	versioned := func(before string) []change.Effect {
		e := one("update", before, "n")
		e[0].Version = "v"
		return e
	}
	for _, tt := range []struct {
		name     string
		was, now []change.Effect
		want     string
	}{
		{"nothing", one("update", `{"n": 1, "m": 2}`, "n"), one("update", `{"n": 1, "m": 2}`, "n"), ""},
		{"another field", one("update", `{"n": 1, "m": 2}`, "n"), one("update", `{"n": 1, "m": 3}`, "n"), ""},
		{"the field, in its last digit", one("update", `{"n": 9007199254740993}`, "n"), one("update", `{"n": 9007199254740992}`, "n"), "n of app.issues 1"},
		{"moved and came back", versioned(`{"n": 1, "v": 1}`), versioned(`{"n": 1, "v": 3}`), "v of app.issues 1"},
		{"the record is gone", one("update", `{"n": 1}`, "n"), one("update", "", "n"), "the record 1 of app.issues is there no more, or again"},
		{"any field of what goes", one("delete", `{"n": 1, "m": 2}`), one("delete", `{"n": 1, "m": 3}`), "m of app.issues 1"},
		{"any field of what an action is about", one("action", `{"n": 1, "m": 2}`), one("action", `{"n": 1, "m": 3}`), "m of app.issues 1"},
		{"any field of what is read back of a call", one("call", `{"n": 1, "m": 2}`), one("call", `{"n": 1, "m": 3}`), "m of app.issues 1"},
		{"a new record", one("create", "", "n"), one("create", "", "n"), ""},
		{"fewer records", one("update", `{"n": 1}`, "n"), nil, "there are fewer records"},
	} {
		if got := (&change.Change{Effects: tt.was}).Difference(tt.now); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	left := func(after ...string) *change.Outcome {
		r := &change.Receipt{}
		for _, a := range after {
			r.After = append(r.After, doc(t, a))
		}
		return &change.Outcome{Receipt: r}
	}
	update, create := one("update", `{"n": 1}`, "n")[0], one("create", "", "n")[0]
	for _, tt := range []struct {
		name string
		c    change.Change
		now  []change.Effect // in the order of reverting: the last first
		want string
	}{
		{"as it was left", change.Change{Effects: []change.Effect{update}, Outcome: left(`{"n": 2, "m": 1}`)}, one("update", `{"n": 2, "m": 9}`), ""},
		{"written over", change.Change{Effects: []change.Effect{update}, Outcome: left(`{"n": 2}`)}, one("update", `{"n": 3}`), "moved_on"},
		{"a new record, written to", change.Change{Effects: []change.Effect{create}, Outcome: left(`{"n": 2, "m": 1}`)}, one("delete", `{"n": 2, "m": 9}`), "moved_on"},
		{"two, the first written over", change.Change{Effects: []change.Effect{update, create}, Outcome: left(`{"n": 2}`, `{"n": 5}`)},
			append(one("delete", `{"n": 5}`), one("update", `{"n": 3}`)...), "moved_on"},
		{"two as they were left", change.Change{Effects: []change.Effect{update, create}, Outcome: left(`{"n": 2}`, `{"n": 5}`)},
			append(one("delete", `{"n": 5}`), one("update", `{"n": 2}`)...), ""},
		{"it isn't known what was left", change.Change{Effects: []change.Effect{update}, Outcome: left()}, one("update", `{"n": 2}`), "receipt"},
		{"it isn't known what is", change.Change{Effects: []change.Effect{update}, Outcome: left(`{"n": 2}`)}, nil, "receipt"},
		{"what went has nothing to move", change.Change{Effects: one("delete", `{"n": 1}`), Outcome: left(`null`)}, one("create", ""), ""},
	} {
		if got := kind(tt.c.CheckRevertible(tt.now)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestSum checks that the digest covers what would run and the reviewed records, and nothing else.
func TestSum(t *testing.T) {
	make := func(edit func(*change.Change)) string {
		c := &change.Change{Source: "app", Action: "a", Writes: []value.Value{doc(t, `{"op": "delete", "class": "issues", "id": "1"}`)}, Effects: []change.Effect{{Before: doc(t, `{"a": 1, "b": [1, 2]}`)}}}
		edit(c)
		return c.Sum()
	}
	base := make(func(*change.Change) {})
	for _, tt := range []struct {
		name string
		edit func(*change.Change)
		same bool
	}{
		{"the order of members", func(c *change.Change) {
			c.Writes[0] = doc(t, `{"id": "1", "class": "issues", "op": "delete"}`)
			c.Effects[0].Before = doc(t, `{"b": [1, 2], "a": 1}`)
		}, true},
		{"what the source adds", func(c *change.Change) { c.Effects[0].After = doc(t, `{"a": 2}`); c.Refusal = "x" }, true},
		{"the words of the agent", func(c *change.Change) { c.Reason, c.Title = "x", "y" }, true},
		{"the source", func(c *change.Change) { c.Source = "b" }, false},
		{"the action", func(c *change.Change) { c.Action = "b" }, false},
		{"a write", func(c *change.Change) { c.Writes[0] = doc(t, `{"op": "delete", "class": "issues", "id": "2"}`) }, false},
		{"one more write", func(c *change.Change) { c.Writes = append(c.Writes, c.Writes[0]) }, false},
		{"a value before", func(c *change.Change) { c.Effects[0].Before = doc(t, `{"a": 1.0, "b": [1, 2]}`) }, false},
		{"the order of a list", func(c *change.Change) { c.Effects[0].Before = doc(t, `{"a": 1, "b": [2, 1]}`) }, false},
	} {
		if got := make(tt.edit); (got == base) != tt.same {
			t.Errorf("%s: the digest is the same: %v", tt.name, got == base)
		}
	}
	c := &change.Change{Writes: []value.Value{doc(t, `{"op": "delete", "class": "issues", "id": "1"}`)}}
	if list, err := c.ParseWrites(); err != nil || len(list) != 1 || list[0].Target() != "issues" {
		t.Error(list, err)
	}
	c.Writes[0] = doc(t, `{"op": "drop"}`)
	if _, err := c.ParseWrites(); err == nil {
		t.Error("what is kept is read loosely")
	}
}
