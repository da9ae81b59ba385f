package expression

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
)

var facts = Facts{Op: "update", Class: "tracker.issues", Classes: []string{"tracker.issues", "tracker.labels"}, Fields: []string{"assignee", "labels"},
	Rows: 51, Action: "triage", Tool: "propose_changes", Source: "tracker", Risk: "medium"}

// TestConditions evaluates conditions on changes. The result is true, false or an error.
func TestConditions(t *testing.T) {
	c := NewCompiler()
	for _, tt := range []struct{ text, want string }{
		{`change.op == "delete" || change.rows > 50`, "true"},
		{`change.op == "delete" || change.rows > 51`, "false"},
		{`change.fields.all(f, f in ["assignee", "labels"])`, "true"},
		{`change.fields.all(f, f in ["assignee"])`, "false"},
		{`"tracker.labels" in change.classes && change.class == "tracker.issues"`, "true"},
		{`change.action == "triage" && change.tool == "propose_changes" && change.source == "tracker" && change.risk == "medium"`, "true"},
		{`change.class.startsWith("tracker.") && principal.owner == "ann"`, "true"},
		{`principal.claims.vip`, "true"},
		{`principal.claims.absent && change.rows > 1`, errNothing.Error()},
		{`principal.claims.region == "eu" && size(change.fields) == 2`, "true"},
		{`change.rows / 0 == 1`, errFailed.Error()},
		{"true", "true"},
	} {
		condition, err := c.CompileChange(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		holds, err := condition.Holds(facts, principal(t, `{"vip": true, "region": "eu"}`))
		got := fmt.Sprint(holds)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || condition.String() != tt.text {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
	if holds, err := new(Condition).Holds(facts, principal(t, "")); holds || !errors.Is(err, errNothing) {
		t.Error("the zero condition", holds, err)
	}
	none, err := c.CompileChange(`change.classes == [] && change.fields == [] && change.class == "" && change.rows == 0`)
	if err != nil {
		t.Fatal(err)
	}
	if holds, err := none.Holds(Facts{}, identity.Principal{}); !holds || err != nil {
		t.Error("a change of nothing", holds, err)
	}
}

// TestConditionsRefused checks each error in the text of a condition.
func TestConditionsRefused(t *testing.T) {
	c := NewCompiler()
	const has = "It has op, class, classes, fields, rows, action, tool, source, risk"
	for text, want := range map[string]string{
		"":                                "the expression is empty",
		"change":                          "character 1 of the expression: change is followed by a field, such as change.op or change.rows",
		`change["op"] == "x"`:             "character 1 of the expression: change is followed by a field, such as change.op or change.rows",
		`change.ops == "x"`:               `character 1 of the expression: a change has no "ops". Did you mean op? ` + has,
		`change.reason == "x"`:            `character 1 of the expression: a change has no "reason". ` + has,
		"has(change.op)":                  "character 5 of the expression: has() asks for what can be missing: a change always has op",
		"change.op":                       "it yields a string, and has to yield true or false",
		"change.rows":                     "it yields an int, and has to yield true or false",
		"change.rows == true":             "character 13 of the expression: found no matching overload for '_==_' applied to '(int, bool)'",
		`change.op + 1 == "x"`:            "character 11 of the expression: found no matching overload for '_+_' applied to '(string, int)'",
		"change.fields.all(change, true)": "character 18 of the expression: change can't be the name of a variable",
		`input.x == 1`:                    "character 1 of the expression: undeclared reference to 'input'",
		`change.op.matches(change.class)`: "character 18 of the expression: the pattern of matches is written out, in quotes",
	} {
		if _, err := c.CompileChange(text); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
	if _, err := c.Compile("change.rows", Scalar); err == nil || err.Error() != "character 1 of the expression: undeclared reference to 'change'" {
		t.Error("a rule of a class asks for a change:", err)
	}
}

// TestFacts checks that each fact of conditions has a value and is documented.
func TestFacts(t *testing.T) {
	pages := map[string]string{}
	for _, page := range []string{"docs/actions.md", "internal/config/writes.go"} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		pages[page] = string(text)
	}
	names := []string{}
	for _, f := range changeRoot().fields {
		names = append(names, f.name)
		if _, ok := facts.object().Get(f.name); !ok {
			t.Errorf("a change has no value of %s", f.name)
		}
		if !strings.Contains(pages["docs/actions.md"], "`change."+f.name+"`") {
			t.Errorf("docs/actions.md does not name change.%s", f.name)
		}
	}
	if list := "change (" + strings.Join(names, ", ") + ")"; !strings.Contains(pages["internal/config/writes.go"], list) {
		t.Errorf("internal/config/writes.go does not say of when: %s", list)
	}
	if n := len(facts.object().Members()); n != len(names) {
		t.Errorf("%d values for %d facts", n, len(names))
	}
}

// TestOver checks the exact values of expressions with variables.
func TestOver(t *testing.T) {
	read := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	c := NewCompiler().Over(Variable{Name: "input", What: "the input", Members: []string{"title", "hours", "tags", "note", "deep", "long", "none"}},
		Variable{Name: "parent", What: "the parent"}, Variable{Name: "gone", What: "nothing"}, Variable{Name: "now", What: "the time", Instant: true})
	variables := map[string]value.Value{"input": read(`{"title": "A", "hours": 2.5, "tags": ["x", null], "deep": {"b": 1, "a": [true]}, "long": 0.1000000000000000000001, "none": null}`),
		"parent": read(`{"type": "Story", "id": 9007199254740993}`), "gone": {}, "now": value.OfDate(1_769_864_400_000_000)}
	for _, tt := range []struct {
		text  string
		yield Yield
		want  string
	}{
		{"input.title", Any, `"A"`},
		{"input.long", Any, "decimal 0.1000000000000000000001"},
		{"input.none", Any, "null"},
		{"input.note", Any, errNothing.Error()},
		{"input.deep", Any, `{"b":1,"a":[true]}`},
		{"input.deep.a", Any, "[true]"},
		{`input["title"]`, Any, `"A"`},
		{"input", Any, `{"title":"A","hours":2.5,"tags":["x",null],"deep":{"b":1,"a":[true]},"long":0.1000000000000000000001,"none":null}`},
		{`input.title + "!"`, Any, `"A!"`},
		{`input.note + "!"`, Any, errNothing.Error()},
		{`has(input.note) ? input.note : null`, Any, "null"},
		{"input.hours * 2.0", Any, "double 5"},
		{"input.long * 2.0", Any, errInexact.Error()},
		{"input.tags.map(t, t)", Any, `["x",null]`},
		{`{"b": input.title, "a": 1}`, Any, `{"a":1,"b":"A"}`},
		{`{1: 2}`, Any, errKind.Error()},
		{"null", Any, "null"},
		{"parent.id", Any, "9007199254740993"},
		{"parent.id + 1", Any, "9007199254740994"},
		{`parent.type in ["Story", "Epic"]`, Bool, "true"},
		{"parent != null", Bool, "true"},
		{"gone == null", Bool, "true"},
		{"gone.type", Any, errNothing.Error()},
		{`gone.type == "x"`, Bool, errNothing.Error()},
		{"now", Any, `"2026-01-31T13:00:00Z"`},
		{`now + duration("1h")`, Any, `"2026-01-31T14:00:00Z"`},
		{"principal.tenant", Any, `"acme"`},
		{"principal.claims.x", Any, errNothing.Error()},
		{"principal.claims.blank", Any, errNothing.Error()},
	} {
		e, err := c.Compile(tt.text, tt.yield)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		v, err := e.EvalOver(principal(t, `{"blank": ""}`), variables)
		got := written(v)
		if v.Kind() == value.Date {
			got = `"` + v.String() + `"`
		}
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
	for text, want := range map[string]string{
		"input.titel":           `character 1 of the expression: the input has no "titel". Did you mean title? It has title, hours, tags, note, deep, long, none`,
		"has(input.x)":          `character 5 of the expression: the input has no "x". It has title, hours, tags, note, deep, long, none`,
		`"x" in input`:          `character 8 of the expression: the input has no "x". It has title, hours, tags, note, deep, long, none`,
		"now.year":              "character 4 of the expression: type 'timestamp' does not support field selection",
		"record.x":              "character 1 of the expression: undeclared reference to 'record'",
		"[1].map(input, 1)":     "character 8 of the expression: input can't be the name of a variable",
		`duration("1h")`:        "it yields a duration, and has to yield a value",
		`{"a": duration("1h")}`: "it yields a map(string, duration), and has to yield a value",
	} {
		if _, err := c.Compile(text, Any); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
	e, err := c.Compile("parent.a.b", Any)
	if err != nil {
		t.Fatal(err)
	}
	if of, path := e.Path(); of != "parent" || fmt.Sprint(path) != "[a b]" {
		t.Error("a path", of, path)
	}
	if e, _ = c.Compile("parent.a == 1", Any); e != nil {
		if of, path := e.Path(); of != "" || path != nil {
			t.Error("no path", of, path)
		}
	}
}
