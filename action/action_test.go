package action

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

func texts(names ...string) []value.Value {
	var out []value.Value
	for _, n := range names {
		out = append(out, value.OfString(n))
	}
	return out
}

// catalogue is a tracker with issues that have parents, notes on issues, and a view.
var catalogue = []schema.Class{
	{Source: "app", Name: "issues", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.UUID}, {Name: "project_id", Type: schema.UUID},
		{Name: "type", Type: schema.String, Values: texts("Epic", "Story", "Task")}, {Name: "status", Type: schema.String, Values: texts("Todo", "Doing", "Done")},
		{Name: "title", Type: schema.String, Length: 200}, {Name: "parent_id", Type: schema.UUID}, {Name: "hours", Type: schema.Double}, {Name: "custom", Type: schema.JSON},
		{Name: "author", Type: schema.String}, {Name: "changed_at", Type: schema.Date}, {Name: "number", Type: schema.Integer, Generated: true},
		{Name: "phone", Type: schema.String}, {Name: "secret", Type: schema.String}}},
	{Source: "app", Name: "notes", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "issue_id", Type: schema.UUID}, {Name: "text", Type: schema.String}}},
	{Source: "app", Name: "board", View: true, Fields: []schema.Field{{Name: "title", Type: schema.String}}},
	{Source: "app", Name: "log", Fields: []schema.Field{{Name: "line", Type: schema.String}}},
	{Source: "org", Name: "Account", Recordless: true, Fields: []schema.Field{{Name: "Name", Type: schema.String, NotNull: true, Required: true, Length: 5},
		{Name: "Kind", Type: schema.String, Values: texts("Big", "Small")}, {Name: "Tax", Type: schema.String, Length: 2}}},
}

func rules(t *testing.T) *policy.Policy {
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
		"issues": {Mask: map[string]policy.Mask{"phone": policy.Partial}, Denied: []string{"secret"}}}}, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// object parses JSON.
func object(t testing.TB, text string) value.Value {
	if text == "" {
		return value.Value{}
	}
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

const (
	a1 = "0b0b0b0b-0000-4000-8000-000000000001" // an epic
	a2 = "0b0b0b0b-0000-4000-8000-000000000002" // a story with status Todo
	a3 = "0b0b0b0b-0000-4000-8000-000000000003" // the reader hides it from the caller
)

// records contains the records that the caller sees.
type records map[string]string

func (r records) Record(_ context.Context, class, id string) (value.Value, error) {
	text, ok := r[class+" "+id]
	if !ok {
		return value.Value{}, nil
	}
	return value.Read([]byte(text), 0)
}

// DescribeClass returns an account whose name has become longer since the catalogue was created.
func (r records) DescribeClass(_ context.Context, class string) (writes.Described, error) {
	if class != "org.Account" {
		return writes.Described{}, fmt.Errorf("%s is asked for", class)
	}
	now := catalogue[len(catalogue)-1]
	now.Fields = slices.Clone(now.Fields)
	now.Fields[0].Length = 8
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"Account": {Denied: []string{"Tax"}}}}, catalogue[len(catalogue)-1:])
	if err != nil {
		return writes.Described{}, err
	}
	return writes.Described{Class: &now, View: p.Fresh(identity.Principal{}, &now)}, nil
}

var seen = records{
	"app.issues " + a1: `{"id": "` + a1 + `", "type": "Epic", "status": "Done", "title": "All", "project_id": "p1"}`,
	"app.issues " + a2: `{"id": "` + a2 + `", "type": "Story", "status": "Todo", "title": "One", "project_id": "p1"}`,
}

func declarations(t *testing.T) []Declaration {
	return []Declaration{
		{Name: "create_issue", On: "app.issues", Do: Create, Tool: true, Review: write.Review,
			Input: object(t, `{"required": ["title", "type"], "properties": {"title": {"type": "string", "minLength": 1}, "type": {"type": "string", "enum": ["Epic", "Story", "Task"]},
				"status": {"type": "string", "enum": ["Todo", "Doing"], "default": "Todo"}, "parentId": {"type": "string", "format": "uuid"}, "hours": {"type": "number", "minimum": 0}}}`),
			Lookup: map[string]Lookup{"parent": {Class: "issues", ID: object(t, `{"$cel": "input.parentId"}`)}},
			Set: object(t, `{"title": {"$cel": "input.title"}, "type": {"$cel": "input.type"}, "status": {"$cel": "input.status"}, "parent_id": {"$cel": "input.parentId"},
				"hours": {"$cel": "input.hours"}, "author": {"$cel": "principal.id"}, "project_id": {"$cel": "parent.project_id"}, "custom": {"made": {"by": "agent", "size": {"$cel": "size(input.title)"}}, "tags": ["x", {"$cel": "input.hours"}]}}`),
			Summary: object(t, `{"$cel": "\"Create \" + input.type + \": \" + input.title"}`),
			Require: []Requirement{
				{That: `input.type != "Task" || parent != null`, Message: "a Task needs a parent", Field: "parentId"},
				{That: `parent == null || input.type != "Epic"`, Message: "an Epic stands under nothing", Field: "parentId"},
				{That: `parent == null || parent.type == "Epic" || input.type == "Task"`, Message: "a Story stands under an Epic"},
			}},
		{Name: "update_status", On: "issues", Do: Update, Tool: true,
			Input:       object(t, `{"required": ["issueId", "newStatus"], "properties": {"issueId": {"type": "string"}, "newStatus": {"type": "string"}}}`),
			Record:      object(t, `{"$cel": "input.issueId"}`),
			Set:         object(t, `{"status": {"$cel": "input.newStatus"}, "changed_at": {"$cel": "now"}}`),
			Transitions: map[string]map[string][]string{"status": {"Todo": {"Doing"}, "Doing": {"Done", "Todo"}, "Done": {}}}},
		{Name: "edit", On: "issues", Do: Update, Permitted: []string{"title", "custom"}, Set: object(t, `{"author": {"$cel": "principal.claims.person"}}`)},
		{Name: "drop", On: "issues", Do: Delete, Require: []Requirement{{That: `record.status == "Done"`, Message: "only what is done can go"}}},
		{Name: "recount", On: "issues", Do: SQL, Permission: identity.Schema, Statement: "UPDATE issues SET hours = :hours WHERE project_id = :project",
			Input: object(t, `{"properties": {"hours": {"type": "number"}}}`), Set: object(t, `{"hours": {"$cel": "input.hours"}, "project": "p1"}`)},
		{Name: "ask", On: "notes", Do: Create, CheckAgainst: writes.Declaration{Class: "Account", Fields: map[string]string{"title": "Name"}},
			Input: object(t, `{"properties": {"title": {"type": "string"}, "Kind": {"type": "string", "default": "Big"}, "Tax": {"type": "string"}}}`), Set: object(t, `{"text": {"$cel": "input.title"}}`)},
		{Name: "change", On: "notes", Do: Update, CheckAgainst: writes.Declaration{Class: "Account"}, Input: object(t, `{"properties": {"Kind": {}}}`), Set: object(t, `{"text": {"$cel": "input.Kind"}}`)},
		{Name: "send", On: "Account", Do: HTTP, API: "billing", Operation: "send", CheckAgainst: writes.Declaration{Class: "Account", Record: writes.CheckNew},
			Input: object(t, `{"properties": {"Name": {}}}`), Set: object(t, `{"body": {"$cel": "input.Name"}}`)},
		{Name: "notify", On: "notes", Do: Go, Set: object(t, `{"what": {"$cel": "record == null ? \"all\" : record.text"}}`)},
		{Name: "refund", On: "notes", Do: HTTP, API: "billing", Operation: "refund", Set: object(t, `{"body": {"why": "x"}}`)},
	}
}

// TestRequest checks the proposed writes of calls, or the refusals.
func TestRequest(t *testing.T) {
	set, err := Compile(declarations(t), rules(t))
	if err != nil {
		t.Fatal(err)
	}
	principal := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ann"}
	for _, tt := range []struct{ name, record, in, want string }{
		{"create_issue", "", `{"title": "A", "type": "Epic"}`, `{"op":"create","class":"app.issues","data":{"title":"A","type":"Epic","status":"Todo","author":"token:1","custom":{"made":{"by":"agent","size":1},"tags":["x",null]}}} says Create Epic: A mode review`},
		{"create_issue", "", `{"title": "A", "type": "Story", "parentId": "` + a1 + `", "hours": 0.1}`, `{"op":"create","class":"app.issues","data":{"title":"A","type":"Story","status":"Todo","parent_id":"` + a1 + `","hours":0.1,"author":"token:1","project_id":"p1","custom":{"made":{"by":"agent","size":1},"tags":["x",0.1]}}} says Create Story: A mode review`},
		{"create_issue", "", `{"title": "A", "type": "Task"}`, `invalid_argument /parentId: a Task needs a parent [/parentId require]`},
		{"create_issue", "", `{"title": "A", "type": "Epic", "parentId": "` + a1 + `"}`, `invalid_argument /parentId: an Epic stands under nothing [/parentId require]`},
		{"create_issue", "", `{"title": "A", "type": "Story", "parentId": "` + a2 + `"}`, `invalid_argument : a Story stands under an Epic [ require]`},
		{"create_issue", "", `{"title": "A", "type": "Task", "parentId": "` + a3 + `"}`, `not_found /parentId: issues has no record "` + a3 + `"`},
		{"create_issue", "", `{"title": "", "type": "Bug", "status": "Done", "parentId": "7", "hours": -1, "auto_approve": true}`, `invalid_argument /auto_approve: unknown argument "auto_approve". It takes hours, parentId, status, title, type. hours must be at least 0, not -1. parentId must be a UUID, such as 3fa85f64-5717-4562-b3fc-2c963f66afa6, not "7". Further faults: 3 [/auto_approve unknown] [/hours minimum] [/parentId format] [/status enum] [/title minLength] [/type enum]`},
		{"create_issue", a1, `{"title": "A", "type": "Epic"}`, `invalid_argument /object_id: create_issue makes a new record. Leave object_id out`},
		{"update_status", "", `{"issueId": "` + a2 + `", "newStatus": "Doing"}`, `{"op":"update","class":"app.issues","id":"` + a2 + `","data":{"status":"Doing","changed_at":"2026-01-31T13:00:00Z"}}`},
		{"update_status", "", `{"issueId": "` + a2 + `", "newStatus": "Done"}`, `invalid_argument /newStatus: newStatus can't go from Todo to Done; from Todo it can go to Doing [/newStatus transitions]`},
		{"update_status", "", `{"issueId": "` + a2 + `", "newStatus": "Todo"}`, `invalid_argument /newStatus: newStatus is Todo already; from Todo it can go to Doing [/newStatus transitions]`},
		{"update_status", "", `{"issueId": "` + a1 + `", "newStatus": "Todo"}`, `invalid_argument /newStatus: newStatus can't go from Done to Todo; nothing may follow Done [/newStatus transitions]`},
		{"update_status", "", `{"issueId": "` + a3 + `", "newStatus": "Todo"}`, `not_found /issueId: issues has no record "` + a3 + `"`},
		{"update_status", "", `{"issueId": "", "newStatus": "Todo"}`, `invalid_argument /issueId: update_status needs the id of a record`},
		{"update_status", a2, `{"issueId": "` + a2 + `", "newStatus": "Doing"}`, `invalid_argument /object_id: update_status finds its record by its own arguments. Leave object_id out`},
		{"edit", a2, `{"title": "B", "custom": {"x": 1}}`, `permission_denied : it needs principal.claims.person, which you don't have`},
		{"edit", "", `{"title": "B"}`, `invalid_argument /object_id: edit needs the id of a record`},
		{"edit", a2, `{"status": "B"}`, `invalid_argument /status: unknown argument "status". It takes custom, title [/status unknown]`},
		{"drop", a1, `{}`, `{"op":"delete","class":"app.issues","id":"` + a1 + `"}`},
		{"drop", a2, `{}`, `invalid_argument : only what is done can go [ require]`},
		{"drop", a3, `{}`, `not_found /object_id: issues has no record "` + a3 + `"`},
		{"recount", "", `{"hours": 2}`, `{"op":"action","class":"app.issues","name":"recount","id":"","input":{"statement":"90fdc7e3b2b7b1f2","parameters":{"hours":2,"project":"p1"}},"source":"app"}`},
		{"recount", "", `{}`, `{"op":"action","class":"app.issues","name":"recount","id":"","input":{"statement":"90fdc7e3b2b7b1f2","parameters":{"project":"p1","hours":null}},"source":"app"}`},
		{"ask", "", `{"title": "Acme Ltd", "Tax": "7"}`, `{"op":"create","class":"app.notes","data":{"text":"Acme Ltd"}}`},
		{"ask", "", `{"title": "Acme Ltd", "Tax": "777"}`, `{"op":"create","class":"app.notes","data":{"text":"Acme Ltd"}} doubt Tax: Tax must have at most 2 characters, not 3`},
		{"ask", "", `{"title": "Acme Limited", "Kind": "big", "Tax": "777"}`, `invalid_argument /Kind: Kind must be one of Big, Small, not "big". Did you mean Big? Name must have at most 8 characters, not 12 [/Kind enum] [/title length]`},
		{"ask", "", `{}`, `invalid_argument /title: the field "Name" is missing [/title required]`},
		{"ask", "", `{"title": 5}`, `invalid_argument /title: title must be a text, not 5 [/title type]`},
		{"change", "7", `{"Kind": "Huge"}`, `invalid_argument /Kind: Kind must be one of Big, Small, not "Huge" [/Kind enum]`},
		{"change", "7", `{"Kind": "Big"}`, `not_found /object_id: notes has no record "7"`},
		{"send", "", `{}`, `invalid_argument /Name: the field "Name" is missing [/Name required]`},
		{"send", "", `{"Name": "A"}`, `{"op":"call","source":"billing","operation":"send","request":{"body":"A"}}`},
		{"notify", "", `{}`, `{"op":"action","class":"app.notes","name":"notify","id":"","input":{"what":"all"},"source":"app"}`},
		{"refund", "", `{}`, `{"op":"call","source":"billing","operation":"refund","request":{"body":{"why":"x"}}}`},
	} {
		a := called(set, tt.name)
		r, err := a.Request(t.Context(), Call{Who: principal, Record: tt.record, Input: object(t, tt.in), Now: time.Date(2026, 1, 31, 13, 0, 0, 1, time.UTC), Reader: seen})
		got := ""
		if err != nil {
			p := problem.Of(err)
			got = fmt.Sprintf("%s %s: %s", p.Code, p.Pointer, p.Detail)
			for _, f := range p.Faults {
				got += fmt.Sprintf(" [%s %s]", f.Pointer, f.Rule)
			}
		} else {
			got = write.Print(r.Writes[0]).String()
			if r.Says != "" {
				got += " says " + r.Says
			}
			if r.Mode != "" {
				got += " mode " + string(r.Mode)
			}
			for _, d := range r.Doubts {
				got += " doubt " + d.Field + ": " + d.Text
			}
		}
		if i := strings.Index(got, `"statement":"`); i >= 0 {
			got = got[:i+13] + "90fdc7e3b2b7b1f2" + got[i+13+64:]
		}
		if got != tt.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tt.name, tt.in, got, tt.want)
		}
	}
}

func called(s *Set, name string) *Action {
	for _, a := range s.All() {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// TestPlaces checks that pointers into the write become pointers to the caller's arguments.
func TestPlaces(t *testing.T) {
	set, err := Compile(declarations(t), rules(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, at, pointer, want string }{
		{"create_issue", "", "/data/parent_id", "/parentId"},
		{"create_issue", "/arguments", "/data/parent_id", "/arguments/parentId"},
		{"create_issue", "/arguments", "/data/author", "/arguments"},
		{"create_issue", "", "/class_name", ""},
		{"edit", "/arguments", "/data/title", "/arguments/title"},
		{"edit", "/arguments", "/object_id", "/object_id"},
		{"update_status", "/arguments", "/object_id", "/arguments/issueId"},
		{"update_status", "/arguments", "/elsewhere", "/elsewhere"},
	} {
		err := called(set, tt.name).Place(&problem.Error{Pointer: tt.pointer}, tt.at)
		if got := problem.Of(err).Pointer; got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.name, tt.pointer, got, tt.want)
		}
	}
	several := &problem.Error{Code: problem.InvalidArgument, Pointer: "/data/title", Faults: []problem.Fault{{Pointer: "/data/title"}, {Pointer: "/data/parent_id"}, {Pointer: "/data"}}}
	if p := problem.Of(called(set, "create_issue").Place(several, "/arguments")); fmt.Sprint(p.Faults[0].Pointer, p.Faults[1].Pointer, p.Faults[2].Pointer) != "/arguments/title/arguments/parentId/arguments" ||
		several.Faults[0].Pointer != "/data/title" {
		t.Error(p.Faults, several.Faults)
	}
	a := called(set, "update_status")
	inner := &problem.Error{Code: problem.InvalidArgument, Pointer: "/x", Faults: []problem.Fault{{Pointer: "/x"}}}
	if p := problem.Of(prefixPointers(inner, "/arguments")); p.Pointer != "/arguments/x" || p.Faults[0].Pointer != "/arguments/x" || inner.Faults[0].Pointer != "/x" {
		t.Error(p, inner)
	}
	if !strings.Contains(strings.Join(a.Names(), " "), "update_status issues.update_status app.issues.update_status") || a.TakesRecord() || a.WantsRecord() || a.Op() != write.OpUpdate {
		t.Error(a.Names())
	}
	var doc map[string]any
	if err := json.Unmarshal(called(set, "edit").Schema(), &doc); err != nil || fmt.Sprint(doc["additionalProperties"], doc["properties"]) != "false map[custom:map[type:object] title:map[maxLength:200 type:string]]" {
		t.Error(doc, err)
	}
	if got := len(set.On("app.issues")); got != 5 {
		t.Error("actions of issues:", got)
	}
}

// TestCompileRefuses checks each possible error of a declaration.
func TestCompileRefuses(t *testing.T) {
	in := object(t, `{"properties": {"a": {"type": "string"}}}`)
	set := object(t, `{"title": {"$cel": "input.a"}}`)
	for _, tt := range []struct {
		d    Declaration
		want string
	}{
		{Declaration{On: "isues", Do: Create}, "classes.isues.actions.x: there is no such class. Did you mean issues?"},
		{Declaration{On: "issues", Do: "make"}, "classes.issues.actions.x.do: must be create, update, delete, sql, http, go or cloud"},
		{Declaration{On: "issues", Do: Create}, "classes.issues.actions.x: needs set, or permitted"},
		{Declaration{On: "board", Do: Create, Set: set, Input: in}, "classes.board.actions.x.do: board is a view of the database: its records can't be written"},
		{Declaration{On: "Account", Do: Delete}, "classes.Account.actions.x.do: Account is a description without records: only do: http can be about it"},
		{Declaration{On: "Account", Do: HTTP, API: "a", Operation: "b", Record: value.OfString("7")}, "classes.Account.actions.x.record: Account is a description without records. Take it out"},
		{Declaration{On: "Account", Do: Go}, "classes.Account.actions.x.do: Account is a description without records: only do: http can be about it"},
		{Declaration{On: "issues", Do: Delete, CheckAgainst: writes.Declaration{Class: "Account"}}, "classes.issues.actions.x.check_against: what deletes has nothing to check. Take it out"},
		{Declaration{On: "issues", Do: Update, Set: set, Input: in, CheckAgainst: writes.Declaration{Class: "Account", Record: writes.CheckNew}},
			"classes.issues.actions.x.check_against.record: what updates changes a record that is there. Take it out"},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, CheckAgainst: writes.Declaration{Class: "Acount"}}, "classes.issues.actions.x.check_against.class: there is no such class. Did you mean Account or org.Account?"},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, CheckAgainst: writes.Declaration{Class: "Account", Fields: map[string]string{"a": "Kind"}}},
			"classes.issues.actions.x.check_against: a new record of org.Account needs Name, and no argument is for it. fields says which is, and record: change asks only for what is right in what is given"},
		{Declaration{On: "log", Do: Delete}, "classes.log.actions.x.do: records of log have no id: they can't be written one by one"},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, Permission: "read"}, "classes.issues.actions.x.scope: must be write, delete or schema"},
		{Declaration{On: "issues", Do: Delete, Permission: identity.Write}, "classes.issues.actions.x.scope: what deletes needs delete or schema"},
		{Declaration{On: "issues", Do: Delete, Set: set, Input: in}, "classes.issues.actions.x.set: what deletes sets nothing. Take it out"},
		{Declaration{On: "issues", Do: SQL}, "classes.issues.actions.x.statement: do: sql needs it"},
		{Declaration{On: "issues", Do: Go, Statement: "x"}, "classes.issues.actions.x.statement: belongs to do: sql alone"},
		{Declaration{On: "issues", Do: HTTP, API: "a"}, "classes.issues.actions.x.operation: do: http needs it"},
		{Declaration{On: "issues", Do: Go, Permitted: []string{"title"}}, "classes.issues.actions.x.permitted: belongs to do: create and do: update alone"},
		{Declaration{On: "issues", Do: Create, Permitted: []string{"titel"}}, `classes.issues.actions.x.permitted.0: issues has no field "titel" that agents see. Did you mean title?`},
		{Declaration{On: "issues", Do: Create, Permitted: []string{"secret"}}, `classes.issues.actions.x.permitted.0: issues has no field "secret" that agents see`},
		{Declaration{On: "issues", Do: Create, Permitted: []string{"phone"}}, `classes.issues.actions.x.permitted.0: issues has no field "phone" that agents see`},
		{Declaration{On: "issues", Do: Create, Set: object(t, `{"titel": 1}`)}, `classes.issues.actions.x.set.titel: issues has no field "titel" that agents see. Did you mean title?`},
		{Declaration{On: "issues", Do: Create, Set: object(t, `{"number": 1}`)}, `classes.issues.actions.x.set.number: number is filled in by the source`},
		{Declaration{On: "issues", Do: Create, Set: object(t, `{"title": "x"}`), Permitted: []string{"title"}}, `classes.issues.actions.x.set.title: title is permitted as well: an argument sets it`},
		{Declaration{On: "issues", Do: Create, Set: object(t, `{"title": {"$cel": "input.b"}}`), Input: in}, `classes.issues.actions.x.set.title.$cel: character 1 of the expression: the input has no "b". It has a`},
		{Declaration{On: "issues", Do: Create, Set: object(t, `{"title": {"$cel": "record.title"}}`), Input: in}, `classes.issues.actions.x.set.title.$cel: character 1 of the expression: undeclared reference to 'record'`},
		{Declaration{On: "issues", Do: Update, Set: object(t, `{"title": {"$cel": "record.phone"}}`), Input: in}, `classes.issues.actions.x.set.title.$cel: character 1 of the expression: a record of issues has no "phone". It has id, project_id, type, status, title, parent_id, hours, custom, author, changed_at, number`},
		{Declaration{On: "issues", Do: Update, Set: object(t, `{"title": {"$cel": "1", "x": 1}}`)}, `classes.issues.actions.x.set.title: an expression is {$cel: text} and nothing else`},
		{Declaration{On: "issues", Do: Update, Set: object(t, `{"custom": {"a": {"$gt": 1}}}`)}, `classes.issues.actions.x.set.custom.a.$gt: only $cel can begin with $ here`},
		{Declaration{On: "issues", Do: Update, Set: value.OfString("x")}, `classes.issues.actions.x.set: must be an object of values by name`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: object(t, `{"additionalProperties": true}`)}, `classes.issues.actions.x.input: its input schema is not closed (additionalProperties: false)`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: object(t, `{"properties": {"a": {"type": "string"}, "reason": {"type": "string"}}}`)}, `classes.issues.actions.x.input.properties.reason: is an argument that the gateway adds. Choose another name`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: object(t, `{"properties": {"a": {"type": "string", "enum": ["x"], "default": "y"}}}`)}, `classes.issues.actions.x.input.properties.a.default: the default breaks the schema: a must be one of x, not "y"`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, Record: object(t, `{"$cel": "input.a"}`)}, `classes.issues.actions.x.record: a new record has no id yet. Take it out`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, Lookup: map[string]Lookup{"p": {Class: "nots"}}}, `classes.issues.actions.x.lookup.p.class: there is no such class. Did you mean notes?`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, Lookup: map[string]Lookup{"record": {Class: "notes"}}}, `classes.issues.actions.x.lookup.record: a name has letters, digits and _, begins with a small letter, and is not one that expressions have already`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, Require: []Requirement{{That: "input.a", Message: "m"}, {That: "1", Message: "m"}}}, `classes.issues.actions.x.require.1.that: it yields an int, and has to yield true or false`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, Require: []Requirement{{That: "true"}}}, `classes.issues.actions.x.require.0.message: must say what the agent is to do`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, Require: []Requirement{{That: "true", Message: "m", Field: "b"}}}, `classes.issues.actions.x.require.0.field: the input has no "b"`},
		{Declaration{On: "issues", Do: Update, Set: set, Input: in, Transitions: map[string]map[string][]string{"status": {}}}, `classes.issues.actions.x.transitions.status: the action doesn't set status`},
		{Declaration{On: "issues", Do: Update, Permitted: []string{"status"}, Transitions: map[string]map[string][]string{"status": {"Todo": {"Dne"}}}}, `classes.issues.actions.x.transitions.status.Todo: status can't be "Dne". Did you mean Done?`},
		{Declaration{On: "issues", Do: Create, Set: set, Input: in, Transitions: map[string]map[string][]string{"title": {}}}, `classes.issues.actions.x.transitions.title: belongs to do: update alone`},
	} {
		tt.d.Name = "x"
		_, err := Compile([]Declaration{tt.d}, rules(t))
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
	two := Declaration{Name: "x", On: "issues", Do: Delete, Tool: true}
	other := Declaration{Name: "x", On: "notes", Do: Delete, Tool: true}
	if _, err := Compile([]Declaration{two, two}, rules(t)); err == nil || err.Error() != "classes.issues.actions.x: the class has another action of the name" {
		t.Error(err)
	}
	if _, err := Compile([]Declaration{two, other}, rules(t)); err == nil || err.Error() != "classes.notes.actions.x.tool: another tool has the name: the action of issues" {
		t.Error(err)
	}
	other.Tool = false
	if _, err := Compile([]Declaration{two, other}, rules(t)); err != nil {
		t.Error(err)
	}
}
