package writes_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// drafted returns the plan of a draft of these writes.
func drafted(t *testing.T, p *policy.Policy, who identity.Principal, r write.Request) writes.Plan {
	t.Helper()
	d, err := writes.Propose(t.Context(), p, who, r)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := d.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestOnce checks that one request can't write a record twice, even if its id is written in two ways.
func TestOnce(t *testing.T) {
	p := compiled(t, func(r *policy.Rules) {
		r.Gates.SchemaWrites = policy.Review
		r.Classes["fixed"] = policy.ClassRule{}
	})
	admin := principal
	admin.Scopes = append([]identity.Scope{identity.Schema}, admin.Scopes...)
	for _, tt := range []struct{ asked, want string }{
		{`[{"op": "create", "class": "issues", "data": {"title": "x"}}, {"op": "create", "class": "issues", "data": {"title": "x"}}]`, ""},
		{`[{"op": "delete", "class": "issues", "id": "1"}, {"op": "delete", "class": "issues", "id": "2"}]`, ""},
		{`[{"op": "delete", "class": "issues", "id": "1"}, {"op": "delete", "class": "fixed", "id": "1"}]`, ""},
		{`[{"op": "create", "class": "issues", "data": {"title": "x"}}, {"op": "delete", "class": "issues", "id": "1"}]`, ""},
		{`[{"op": "action", "class": "issues", "name": "sweep"}, {"op": "action", "class": "issues", "name": "sweep"}]`, ""},
		{`[{"op": "delete", "class": "parts", "id": "[\"x\",\"7\"]"}, {"op": "delete", "class": "issues", "id": "1"}, {"op": "update", "class": "parts", "id": "[ \"x\", \"7\" ]", "data": {"n": 1}}]`, "/writes/2: it writes the record of /writes/0 again"},
		{`[{"op": "action", "class": "issues", "name": "close", "id": "1"}, {"op": "delete", "class": "app.issues", "id": "1"}]`, "/writes/1: it writes the record of /writes/0 again"},
		{`[{"op": "create_class", "source": "app", "class": "a", "fields": []}, {"op": "create_class", "source": "app", "class": "a", "fields": []}]`, ""}, // the source refuses this
		{`[{"op": "add_fields", "class": "log", "fields": []}, {"op": "delete_class", "class": "app.log"}]`, "/writes/1: it writes the record of /writes/0 again"},
		{`[{"op": "add_fields", "class": "log", "fields": []}, {"op": "create_class", "source": "app", "class": "log", "fields": []}]`, ""},
	} {
		got := outcome(writes.Propose(t.Context(), p, admin, write.Request{Writes: parsed(t, tt.asked)}))
		if _, text, failed := strings.Cut(got, "invalid_argument "); failed && text != tt.want || !failed && tt.want != "" {
			t.Errorf("%s\n got %s\nwant %s", tt.asked, got, tt.want)
		}
	}
}

// TestApart checks that a group is refused if an action is checked with a record that an earlier write changes.
func TestApart(t *testing.T) {
	p := compiled(t, nil)
	const (
		one     = `{"op": "update", "class": "issues", "id": "1", "data": {"n": 1}}`
		two     = `{"op": "update", "class": "issues", "id": "2", "data": {"n": 1}}`
		three   = `{"op": "update", "class": "fixed", "id": "1", "data": {"n": 1}}`
		created = `{"op": "create", "class": "issues", "data": {"title": "x"}}`
		sweep   = `{"op": "action", "class": "fixed", "name": "sweep"}`
		refused = "invalid_argument /writes/1: b is checked with a record that /writes/0 changes before it"
	)
	reads := func(action string, records ...write.Record) write.Origin {
		return write.Origin{Action: action, Reads: records}
	}
	issue := func(id string) write.Record { return write.Record{Class: "app.issues", ID: id} }
	for _, tt := range []struct {
		name    string
		writes  []string
		origins []write.Origin
		want    string // "" if the plan is accepted
	}{
		{"changed before", []string{one, two}, []write.Origin{reads("a"), reads("b", issue("1"))}, refused},
		{"the second of those it was checked with", []string{one, two}, []write.Origin{reads("a"), reads("b", issue("3"), issue("1"))}, refused},
		{"by the write after the first", []string{three, one, two}, []write.Origin{{}, reads("a"), reads("b", issue("1"))}, "invalid_argument /writes/2: b is checked with a record that /writes/1 changes before it"},
		{"its own", []string{one, two}, []write.Origin{reads("a", issue("1")), reads("b", issue("2"))}, ""},
		{"changed after", []string{two, one}, []write.Origin{reads("b", issue("1")), reads("a")}, ""},
		{"of the same id in another class", []string{three, two}, []write.Origin{reads("a"), reads("b", issue("1"))}, ""},
		{"a new record has no id yet", []string{created, two}, []write.Origin{reads("a"), reads("b", issue("1"))}, ""},
		{"what isn't seen was not read", []string{one, two}, []write.Origin{reads("a"), reads("b", write.Record{Class: "app.vault", ID: "1"})}, ""},
		{"what no record has was not read", []string{one, two}, []write.Origin{reads("a"), reads("b", issue("x"))}, ""},
		{"both were checked with it", []string{one, two}, []write.Origin{reads("a", issue("3")), reads("b", issue("3"))}, ""},
		{"an action may change what it was checked with", []string{sweep, two}, []write.Origin{reads("a", issue("3")), reads("b", issue("3"))}, refused},
	} {
		r := write.Request{Writes: parsed(t, "["+strings.Join(tt.writes, ",")+"]"), Origins: tt.origins}
		if got := outcome(writes.Propose(t.Context(), p, principal, r)); got != tt.want && (tt.want != "" || strings.HasPrefix(got, "invalid")) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// TestApartCalls checks that a call counts as a change of the records that its action was checked with.
func TestApartCalls(t *testing.T) {
	const made = `{"op": "call", "source": "flow", "operation": "makeTeam", "request": {"body": {}}}`
	checked := write.Origin{Action: "a", Reads: []write.Record{{Class: "app.issues", ID: "3"}}}
	r := write.Request{Writes: parsed(t, "["+made+","+made+"]"), Origin: checked}
	if got := outcome(writes.Propose(t.Context(), withFlow(t, calls.Rules{}), principal, r)); got != "invalid_argument /writes/1: a is checked with a record that /writes/0 changes before it" {
		t.Error(got)
	}
}

// flow is an API with operations that read, make, set and drop a team.
const flow = `{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {
	"/teams": {"post": {"operationId": "makeTeam", "summary": "Make a team", "requestBody": {"content": {"application/json": {}}},
		"responses": {"201": {"description": "", "content": {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string"}}}}}}}}},
	"/teams/{id}": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
		"put": {"operationId": "setTeam", "requestBody": {"content": {"application/json": {}}}, "responses": {}}, "delete": {"operationId": "dropTeam", "responses": {}}}}}`

// withFlow returns a policy with the API flow under these rules, in addition to the test classes.
func withFlow(t *testing.T, api calls.Rules) *policy.Policy {
	t.Helper()
	d, err := spec.Load([]byte(flow))
	if err != nil {
		t.Fatal(err)
	}
	api.Document = d
	return compiled(t, func(r *policy.Rules) {
		r.Gates.SchemaWrites = policy.Review
		r.APIs = map[string]calls.Rules{"flow": api}
	})
}

// TestSeveralCalls checks calls that depend on each other, and the maximum number of calls of one change.
func TestSeveralCalls(t *testing.T) {
	p := withFlow(t, calls.Rules{})
	const made = `{"op": "call", "source": "flow", "operation": "makeTeam", "request": {"body": {}}}`
	set := func(id string) string {
		return `{"op": "call", "source": "flow", "operation": "setTeam", "request": {"path": {"id": "` + id + `"}, "body": {}}}`
	}
	for _, tt := range []struct {
		name, action string
		asked        []string
		want         string // the beginning of the error
	}{
		{"as many as there may be", "", slices.Repeat([]string{made}, 20), "flow call; flow call"},
		{"one more", "", slices.Repeat([]string{made}, 21), "invalid_argument /writes/20: one change makes at most 20 calls"},
		{"taken from an answer", "", []string{made, set("$1.id")}, "flow call; flow call"},
		{"taken from an answer that hasn't it", "", []string{made, set("$1.ic")}, `invalid_argument /writes/1/call/path/id: $1.ic: call 1, makeTeam, doesn't answer with "ic". Did you mean id?`},
		{"taken from the answer to come", "", []string{made, set("$2.id")}, "invalid_argument /writes/1/call/path/id: $2.id names call 2, and this is call 2"},
		{"an action can't take it", "a", []string{made, set("$1.id")}, "invalid_argument /writes/1: the arguments of an action are checked before anything is sent"},
		{"an action without", "a", []string{made, set("1")}, "flow call; flow call"},
		{"alone it is a text", "a", []string{set("$1.id")}, "flow call"},
		{"a wrong one", "", []string{made, set("..")}, "invalid_argument /writes/1/call/path/id: "},
		{"a wrong one alone", "", []string{set("..")}, "invalid_argument /path/id: "},
	} {
		r := write.Request{Writes: parsed(t, "["+strings.Join(tt.asked, ",")+"]"), Origin: write.Origin{Action: tt.action}}
		if got := outcome(writes.Propose(t.Context(), p, principal, r)); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// TestModeAndTitle checks the mode under which writes run, and the titles of their changes.
func TestModeAndTitle(t *testing.T) {
	admin := principal
	admin.Scopes = append([]identity.Scope{identity.Schema}, admin.Scopes...)
	p := withFlow(t, calls.Rules{Write: map[spec.Class]write.Mode{spec.ClassWrite: write.Allow}})
	const (
		update  = `{"op": "update", "class": "app.fixed", "id": "1", "data": {"n": 1}}` // allowed
		other   = `{"op": "update", "class": "issues", "id": "1", "data": {"title": "x", "n": 2}}`
		created = `{"op": "create", "class": "app.issues", "data": {"title": "x"}}`
		action  = `{"op": "action", "class": "app.issues", "name": "close", "id": "1"}`
		class   = `{"op": "create_class", "source": "app", "class": "x", "fields": []}`
		made    = `{"op": "call", "source": "flow", "operation": "makeTeam", "request": {"body": {}}}`
		drop    = `{"op": "call", "source": "flow", "operation": "dropTeam", "request": {"path": {"id": "1"}}}`
	)
	by := func(modes ...write.Mode) (out []write.Origin) {
		for _, m := range modes {
			out = append(out, write.Origin{Action: "a", Mode: m})
		}
		return out
	}
	for _, tt := range []struct {
		asked   []string
		origins []write.Origin
		want    string // the mode, or "" if review rules may still decide it, and the title
	}{
		{[]string{update}, nil, "allow: update fixed 1: n"},
		{[]string{other}, nil, "unset: update issues 1: title, n"},
		{[]string{created}, nil, "unset: create issues"},
		{[]string{update, other}, nil, "review: 2 writes to app"},
		{[]string{update, strings.Replace(update, `"1"`, `"2"`, 1)}, nil, "allow: 2 writes to app"},
		{[]string{update}, by(write.Review), "review: update fixed 1: n"},
		{[]string{other}, by(write.Allow), "allow: update issues 1: title, n"},
		{[]string{update, other}, by(write.Allow, write.Review), "review: 2 writes to app"},
		{[]string{action}, by(write.Allow), "allow: action issues 1"},
		{[]string{class}, nil, "review: create the class x"},
		{[]string{`{"op": "add_fields", "class": "app.log", "fields": []}`}, nil, "unset: add fields to log"},
		{[]string{`{"op": "delete_class", "class": "app.log"}`}, nil, "unset: delete the class log"},
		{[]string{class, update}, nil, "review: 2 writes to app"},
		{[]string{made}, nil, "allow: Make a team: POST /teams"},
		{[]string{drop}, nil, "review: dropTeam: DELETE /teams/1"},
		{[]string{made, made}, nil, "allow: 2 calls of flow"},
		{[]string{made, drop}, nil, "review: 2 calls of flow"},
	} {
		r := write.Request{Writes: parsed(t, "["+strings.Join(tt.asked, ",")+"]"), Origins: tt.origins}
		plan := drafted(t, p, admin, r)
		if got := fmt.Sprintf("%s: %s", cmp.Or(plan.Mode(r), "unset"), plan.Title()); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.asked, got, tt.want)
		}
	}
}

// TestEffect checks the effect of a write that is known before it runs. Values that the rules add don't count as
// requested.
func TestEffect(t *testing.T) {
	p := compiled(t, func(r *policy.Rules) {
		issues := r.Classes["issues"]
		issues.Version = "n"
		r.Classes["issues"] = issues
	})
	plan := drafted(t, p, principal, write.Request{Writes: parsed(t, `[{"op": "create", "class": "issues", "data": {"title": "x"}}, {"op": "update", "class": "issues", "id": "7", "data": {"due": null, "title": "y"}}]`)})
	for i, want := range []string{"create app.issues  n [title]", "update app.issues 7 n [title due]"} {
		e := plan.Items[i].Effect()
		if got := fmt.Sprint(e.Op, " ", e.Class, " ", e.Key, " ", e.Version, " ", e.Asked); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestMoved checks when a record no longer matches the reviewed record.
func TestMoved(t *testing.T) {
	for _, tt := range []struct {
		before, now string
		want        bool
	}{
		{`{"a": 1, "b": 2}`, `{"a": 1, "b": 2}`, false},
		{`{"a": 1, "b": 2, "c": 3}`, `{"a": 1, "b": 2, "c": 4}`, false}, // the changed field is not relevant
		{`{"a": 1, "b": 2}`, `{"a": 1, "b": 3}`, true},
		{`{"a": 1, "b": null}`, `{"a": 1, "b": null}`, false},
		{`{"a": 1, "b": null}`, `{"a": 1}`, true}, // the field is hidden now
		{`{"a": 1}`, `{"a": 1}`, false},
		{`{"a": 1, "b": 2}`, `null`, true},
		{`null`, `{"a": 1, "b": 2}`, true},
		{`null`, `{}`, true},
		{`{}`, `null`, true},
	} {
		before, now := object(t, tt.before), object(t, tt.now)
		item := writes.Item{Before: before, Concerned: []string{"a", "b"}}
		if got := item.HasChanged(now); got != tt.want {
			t.Errorf("%s, now %s: %v", tt.before, tt.now, got)
		}
	}
}

func object(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// effects returns an effect for each text. The text is the record before the write.
func effects(t *testing.T, before ...string) (out []change.Effect) {
	t.Helper()
	for _, text := range before {
		out = append(out, change.Effect{Before: object(t, text)})
	}
	return out
}
