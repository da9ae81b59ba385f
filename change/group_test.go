package change_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestKinds checks the facts that rules see of a group: first those of the whole group, then those of each kind of
// write in it.
func TestKinds(t *testing.T) {
	set := func(op write.Op, class string, fields ...string) change.Effect {
		return change.Effect{Op: op, Class: "app." + class, Asked: fields}
	}
	for _, tt := range []struct {
		name    string
		effects []change.Effect
		actions []string
		want    string
	}{
		{"one", []change.Effect{set("update", "a", "x")}, nil, "update app.a [x] "},
		{"one kind", []change.Effect{set("update", "a", "y", "x"), set("update", "a", "z", "x")}, nil, "update app.a [x y z] "},
		{"two operations", []change.Effect{set("update", "a", "y"), set("delete", "a"), set("update", "a", "x", "y")}, nil, "group app.a [x y] ; update app.a [x y] ; delete app.a [] "},
		{"two classes", []change.Effect{set("update", "b", "y"), set("update", "a", "x")}, nil, "update app.a [x y] ; update app.b [y] ; update app.a [x] "},
		{"two actions", []change.Effect{set("update", "a", "y"), set("update", "a", "x"), set("update", "a", "z")}, []string{"close", "open", "close"},
			"update app.a [x y z] ; update app.a [y z] close; update app.a [x] open"},
	} {
		c := &change.Change{Effects: tt.effects}
		for _, a := range tt.actions {
			c.Origins = append(c.Origins, write.Origin{Action: a})
		}
		change.Judge(c, nil, identity.Principal{}, "")
		var got []string
		for _, f := range c.Kinds() {
			got = append(got, fmt.Sprintf("%s %s %v %s", f.Op, f.Class, f.Fields, f.Action))
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, text, tt.want)
		}
	}
}

// TestJudgeGroups checks that no write of a group is judged more mildly than by itself.
func TestJudgeGroups(t *testing.T) {
	rule := func(name, text string, r change.Rule) change.Rule {
		r.Name, r.When = name, when(t, text)
		return r
	}
	allow := change.Rule{Mode: write.Allow}
	update := []change.Effect{{Op: "update", Class: "app.a", Asked: []string{"x"}}, {Op: "update", Class: "app.b", Asked: []string{"x"}}}
	for _, tt := range []struct {
		name, when string
		rule       change.Rule
		want       string // the mode, the approvals and the rule
	}{
		{"allowed for all", `change.op == "update"`, allow, "allow 0 r"},
		{"allowed for the whole and the first", `"app.b" in change.classes && change.rows == 2 && change.class == "app.a" || change.class == "app.a"`, allow, "review 1 "},
		{"allowed for the last", `change.class == "app.b"`, allow, "review 1 "},
		{"allowed for the parts", `size(change.classes) == 1`, allow, "review 1 "},
		{"two approvals for the first", `change.classes == ["app.a"]`, change.Rule{Approvals: 2}, "review 2 r"},
		{"two approvals for the last", `change.class == "app.b"`, change.Rule{Approvals: 2}, "review 2 r"},
		{"two approvals for the whole", `size(change.classes) == 2`, change.Rule{Approvals: 2}, "review 2 r"},
		{"two approvals for another", `change.class == "app.c"`, change.Rule{Approvals: 2}, "review 1 "},
		{"denied for the first", `change.classes == ["app.a"]`, change.Rule{Mode: write.Deny}, "deny 1 r"},
		{"what fails allows nothing", `principal.claims.nothing.there == 1`, allow, "review 1 "},
		{"what fails for the whole allows nothing", `size(change.classes) == 1 || principal.claims.nothing.there == 1`, allow, "review 1 "},
		{"what fails with approvals counts, and allows nothing", `principal.claims.nothing.there == 1`, change.Rule{Mode: write.Allow, Approvals: 2}, "review 2 r"},
		{"a risk alone", `change.op == "update"`, change.Rule{Risk: change.High}, "review 1 r"},
		{"allowed for some, with approvals", `change.class == "app.b"`, change.Rule{Mode: write.Allow, Approvals: 3}, "review 3 r"},
	} {
		c := &change.Change{Effects: update}
		change.Judge(c, []change.Rule{rule("r", tt.when, tt.rule)}, identity.Principal{ID: "x"}, "")
		if got := fmt.Sprint(c.Mode, " ", c.Need, " ", c.Rule); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestTargets checks which records a change writes: each once, without those it makes.
func TestTargets(t *testing.T) {
	c := &change.Change{Effects: []change.Effect{{Class: "app.a", Key: "1"}, {Class: "app.b", Key: "1"}, {Class: "app.a"}, {Class: "app.a", Key: "1"}, {Class: "app.a", Key: "2"}}}
	if got := fmt.Sprint(c.Targets()); got != "[{app.a 1} {app.b 1} {app.a 2}]" {
		t.Error(got)
	}
}

// TestActions checks which actions made the writes of a change, and that its digest covers which made which.
func TestActions(t *testing.T) {
	w := doc(t, `{"op": "delete", "class": "issues", "id": "1"}`)
	c := &change.Change{Source: "app", Writes: []value.Value{w, w}, Action: "close"}
	if got := fmt.Sprintf("%q %q", c.Actions(), c.From(1).Action); got != `["close"] "close"` {
		t.Error(got)
	}
	// A change that was approved before writes had origins is still approved.
	if got := c.Sum(); got != "251fd57d6ecc2ce4fc5449b55376a810803bdca76ce24c6e782a3e2415e34047" {
		t.Error(got)
	}
	c.Origins = []write.Origin{{Action: "open"}, {}}
	one := c.Sum()
	if got := fmt.Sprintf("%q", c.Actions()); got != `["" "open"]` {
		t.Error(got)
	}
	c.Origins = []write.Origin{{}, {Action: "open"}}
	if c.Sum() == one {
		t.Error("another write is by the action, and the digest is the same")
	}
}
