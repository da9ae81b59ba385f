package writes_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"path/filepath"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

var catalogue = []schema.Class{
	{Source: "app", Name: "issues", Key: []string{"id"}, Fields: []schema.Field{
		{Name: "id", Type: schema.Integer, NotNull: true}, {Name: "org", Type: schema.String, NotNull: true, Required: true},
		{Name: "title", Type: schema.String, NotNull: true, Required: true, Length: 5}, {Name: "status", Type: schema.String, Values: []value.Value{value.OfString("Todo"), value.OfString("Done")}},
		{Name: "n", Type: schema.Integer}, {Name: "price", Type: schema.Decimal}, {Name: "open", Type: schema.Boolean}, {Name: "at", Type: schema.Date}, {Name: "due", Type: schema.Day},
		{Name: "ref", Type: schema.UUID}, {Name: "raw", Type: schema.Bytes}, {Name: "doc", Type: schema.JSON}, {Name: "tags", Type: schema.Array}, {Name: "any", Type: schema.Any},
		{Name: "box", Type: schema.Opaque}, {Name: "made", Type: schema.Date, Generated: true, Required: true}, {Name: "phone", Type: schema.String, Required: true}, {Name: "note", Type: schema.String, Required: true},
		{Name: "boss_id", Type: schema.Integer}},
		Relations: []schema.Relation{{Fields: []string{"boss_id"}, Target: "issues", TargetFields: []string{"id"}}}},
	{Source: "app", Name: "parts", Key: []string{"a", "b"}, Fields: []schema.Field{{Name: "a", Type: schema.String}, {Name: "b", Type: schema.Integer}, {Name: "n", Type: schema.Integer}}},
	{Source: "app", Name: "log", Fields: []schema.Field{{Name: "line", Type: schema.String}}},
	{Source: "app", Name: "report", View: true, Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}},
	{Source: "app", Name: "fixed", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "n", Type: schema.Integer}}},
	{Source: "app", Name: "vault", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}},
	{Source: "org", Name: "Account", Recordless: true, Fields: []schema.Field{{Name: "Name", Type: schema.String, NotNull: true, Required: true}}},
	{Source: "org", Name: "Secret__c", Recordless: true, Fields: []schema.Field{{Name: "Name", Type: schema.String}}},
	{Source: "crm", Name: "people", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "name", Type: schema.String}}},
}

func rules() policy.Rules {
	return policy.Rules{Version: "v1", Gates: policy.Gates{RawWrites: policy.Review}, Classes: map[string]policy.ClassRule{
		"issues": {Tenant: &policy.TenantRule{Field: "org"}, Large: []string{"doc"}, Denied: []string{"note"}, Mask: map[string]policy.Mask{"phone": policy.Partial}},
		"parts":  {Permitted: []string{"n"}}, "log": {}, "report": {}, "people": {}, "vault": {Hidden: true}, "Secret__c": {Hidden: true},
		"fixed": {Write: map[write.Op]write.Mode{write.OpDelete: write.Deny, write.OpUpdate: write.Allow}},
	}}
}

func compiled(t *testing.T, edit func(*policy.Rules)) *policy.Policy {
	t.Helper()
	r := rules()
	if edit != nil {
		edit(&r)
	}
	p, err := policy.New(r, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var principal = identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete}}

func parsed(t *testing.T, text string) []write.Write {
	t.Helper()
	doc, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	list := doc.List()
	if doc.Kind() == value.Object {
		list = []value.Value{doc}
	}
	var out []write.Write
	for _, v := range list {
		w, err := write.Parse(v, "")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// shown formats a plan: the operation, the key, and the fields set.
func shown(plan writes.Plan) string {
	var out []string
	for _, it := range plan.Items {
		text := fmt.Sprint(plan.Source, " ", it.Op)
		if it.View != nil {
			text += " " + it.View.Name()
		}
		if it.ID != nil {
			text += " " + writes.KeyText(it.ID)
		}
		for _, s := range it.Sets {
			text += fmt.Sprintf(" %s=%s", s.Field.Name, s.Value.AppendJSON(nil))
			if s.Forced {
				text += " (forced)"
			}
			if s.Points.Target != "" {
				text += " → " + s.Points.Target
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func outcome(d writes.Draft, err error) string {
	if err != nil {
		p := problem.Of(err)
		return strings.TrimSpace(fmt.Sprintf("%s %s: %s", p.Code, p.Pointer, p.Detail))
	}
	plan, err := d.Plan()
	if err != nil {
		return err.Error()
	}
	return shown(plan)
}

// TestPropose checks requests against the resulting plans or errors.
func TestPropose(t *testing.T) {
	p := compiled(t, nil)
	for _, tt := range []struct{ asked, want string }{
		{`{"op": "update", "class": "issues", "id": "1", "data": {"n": 9007199254740993, "title": "x"}}`, `app update issues 1 title="x" n=9007199254740993`},
		{`{"op": "create", "class": "app.issues", "data": {"title": "x"}}`, `app create issues org="acme" (forced) title="x"`},
		{`{"op": "create", "class": "issues", "data": {"title": "x", "org": "globex"}}`, `app create issues org="globex" title="x"`}, // the new tenant is outside the view
		{`{"op": "delete", "class": "issues", "id": "1"}`, `app delete issues 1`},
		{`{"op": "update", "class": "parts", "id": "[\"x\",\"7\"]", "data": {"n": null}}`, `app update parts ["x","7"] n=null`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"boss_id": "2"}}`, `app update issues 1 boss_id=2 → issues`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"boss_id": null}}`, `app update issues 1 boss_id=null`},
		{`[{"op": "delete", "class": "issues", "id": "1"}, {"op": "update", "class": "fixed", "id": "2", "data": {"n": 1}}]`, `app delete issues 1; app update fixed 2 n=1`},
		{`{"op": "action", "class": "issues", "name": "close", "id": "1"}`, `app action issues 1`},
		{`{"op": "action", "class": "issues", "name": "sweep"}`, `app action issues`},
		// values
		{`{"op": "update", "class": "issues", "id": "1", "data": {"price": 12.50, "open": true, "ref": "0B0E7A4C-8F5B-4E39-9D7F-3C0C5D1C2A11"}}`, `app update issues 1 price=12.50 open=true ref="0b0e7a4c-8f5b-4e39-9d7f-3c0c5d1c2a11"`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"at": "2026-01-31T10:00:00+01:00", "due": "2026-01-31", "raw": "aGk="}}`, `app update issues 1 at="2026-01-31T09:00:00Z" due="2026-01-31" raw="aGk="`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"doc": {"a": [1]}, "tags": ["x"], "any": 1, "status": "Done"}}`, `app update issues 1 status="Done" doc={"a":[1]} tags=["x"] any=1`},
		// invalid values. check_test.go has the full table
		{`{"op": "update", "class": "issues", "id": "1", "data": {"n": "1"}}`, `app update issues 1 n=1`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"n": "one"}}`, `invalid_argument /data/n: n must be a whole number of at most 64 bits, not the text "one"`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"boss_id": "01"}}`, `invalid_argument /data/boss_id: boss_id must be a whole number of at most 64 bits, not the text "01"`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"title": "längere"}}`, `invalid_argument /data/title: title must have at most 5 characters, not 7`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"title": "länge"}}`, `app update issues 1 title="länge"`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"title": null}}`, `invalid_argument /data/title: title must have a value, not null`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"any": {}}}`, `invalid_argument /data/any: any must be a text, a number or a boolean, not an object`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"status": "Dne", "n": 1.5}}`, `invalid_argument /data/n: n must be a whole number of at most 64 bits, not 1.5. status must be one of Todo, Done, not "Dne". Did you mean Done?`},
		{`[{"op": "delete", "class": "issues", "id": "1"}, {"op": "update", "class": "issues", "id": "1", "data": {"n": null, "open": 1}}]`, `invalid_argument /writes/1/data/open: open must be true or false, not 1`},
		{`{"op": "create", "class": "issues", "data": {"n": 1}}`, `invalid_argument /data/title: the field "title" is missing`}, // note is also required, but hidden
		{`{"op": "create", "class": "issues", "data": {"n": "x"}}`, `invalid_argument /data/n: n must be a whole number of at most 64 bits, not the text "x". The field "title" is missing`},
		{`{"op": "create", "class": "issues", "data": {"title": 5}}`, `invalid_argument /data/title: title must be a text, not 5`}, // not reported as missing
		{`{"op": "update", "class": "issues", "id": "1", "data": {"n": "x", "nope": 1}}`, `invalid_query /data/nope: unknown field "nope" of issues`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"box": "x"}}`, `unsupported_by_source /data/box: box is of a type that can only be read`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"made": "2026-01-31"}}`, `invalid_argument /data/made: made is filled in by the source`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"id": 2}}`, `invalid_argument /data/id: id identifies the record and stays as it is`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {}}`, `invalid_argument /data: there is nothing to set`},
		{`{"op": "update", "class": "log", "id": "1", "data": {"line": "x"}}`, `unsupported_by_source /class_name: records of log have no id: they can't be written one by one`},
		// a class without records
		{`{"op": "create", "class": "Account", "data": {"Name": "x"}}`, `unsupported_by_source /class_name: Account is a description without records: nothing can be written to it`},
		{`{"op": "update", "class": "Account", "id": "1", "data": {"Name": "x"}}`, `unsupported_by_source /class_name: Account is a description without records: nothing can be written to it`},
		{`{"op": "delete", "class": "org.Account", "id": "1"}`, `unsupported_by_source /class_name: Account is a description without records: nothing can be written to it`},
		{`[{"op": "delete", "class": "issues", "id": "1"}, {"op": "delete", "class": "Account", "id": "1"}]`, `unsupported_by_source /writes/1/class_name: Account is a description without records: nothing can be written to it`},
		{`{"op": "create", "class": "Secret__c", "data": {"Name": "x"}}`, `not_found /class_name: there is no class "Secret__c"`},
		// not visible to the principal
		{`{"op": "update", "class": "issues", "id": "1", "data": {"note": "x"}}`, `invalid_query /data/note: unknown field "note" of issues`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"nope": "x"}}`, `invalid_query /data/nope: unknown field "nope" of issues`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"a/b~c": "x"}}`, `invalid_query /data/a~1b~0c: unknown field "a/b~c" of issues`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"phone": "x"}}`, `permission_denied /data/phone: phone is masked: who doesn't see it whole can't set it`},
		{`{"op": "delete", "class": "vault", "id": "1"}`, `not_found /class_name: there is no class "vault"`},
		{`{"op": "delete", "class": "vaults", "id": "1"}`, `not_found /class_name: there is no class "vaults"`},
		{`{"op": "action", "class": "vault", "name": "open"}`, `not_found /class_name: there is no class "vault"`},
		{`{"op": "delete", "class": "issues", "id": "x"}`, `not_found /object_id: there is no record "x" in issues`},
		{`{"op": "delete", "class": "parts", "id": "x"}`, `not_found /object_id: there is no record "x" in parts`},
		{`{"op": "action", "class": "issues", "name": "close", "id": "x"}`, `not_found /object_id: there is no record "x" in issues`},
		// not writable
		{`{"op": "update", "class": "parts", "id": "[\"x\",\"7\"]", "data": {"n": 1, "a": "y"}}`, `permission_denied /data/a: a of parts can't be set. Those that can are n`},
		{`{"op": "delete", "class": "fixed", "id": "1"}`, `permission_denied /class_name: records of fixed can't be deleted by an agent`},
		{`{"op": "delete", "class": "log", "id": "1"}`, `unsupported_by_source /class_name: records of log have no id: they can't be written one by one`},
		{`{"op": "delete", "class": "report", "id": "1"}`, `unsupported_by_source /class_name: report is a view of the database: its records can't be written`},
		{`{"op": "delete_class", "class": "log"}`, `permission_denied : changes of classes and fields are switched off for all agents here`},
		{`[]`, `invalid_argument : there is nothing to write`},
		{`[{"op": "delete", "class": "issues", "id": "1"}, {"op": "update", "class": "people", "id": "2", "data": {"name": "x"}}]`, `invalid_argument /writes/1: one change writes to one source: this is of another than the first`},
		{`[{"op": "delete", "class": "issues", "id": "1"}, {"op": "update", "class": "fixed", "id": "2", "data": {"m": 1}}]`, `invalid_query /writes/1/data/m: unknown field "m" of fixed`},
	} {
		if got := outcome(writes.Propose(t.Context(), p, principal, write.Request{Writes: parsed(t, tt.asked)})); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.asked, got, tt.want)
		}
	}
	d, err := writes.Propose(t.Context(), p, principal, write.Request{Writes: parsed(t, `{"op": "update", "class": "issues", "id": "1", "data": {"raw": "aGk="}}`)})
	if plan, _ := d.Plan(); err != nil || plan.Items[0].Sets[0].Value.Kind() != value.Bytes || plan.Items[0].Sets[0].Value.Text() != "hi" {
		t.Error("bytes", err)
	}
	_, err = writes.Propose(t.Context(), p, principal, write.Request{Writes: parsed(t, `{"op": "update", "class": "issues", "id": "1", "data": {"status": "Don"}}`)})
	if p := problem.Of(err); len(p.Near) != 1 || p.Near[0] != "Done" || len(p.Faults) != 1 || p.Faults[0].Rule != "enum" || p.Faults[0].Pointer != "/data/status" {
		t.Errorf("near %+v", p)
	}
	_, err = writes.Propose(t.Context(), p, principal, write.Request{Writes: parsed(t, `{"op": "update", "class": "issues", "id": "1", "data": {"n": "Don"}}`)})
	if near := problem.Of(err).Near; near != nil {
		t.Error("near", near)
	}
	narrowed := principal
	narrowed.Filters = map[string]query.Filter{"issues": query.Compare{Path: query.Path{"status"}, Op: query.Eq, Value: value.OfString("Todo")}}
	if got := outcome(writes.Propose(t.Context(), p, narrowed, write.Request{Writes: parsed(t, `{"op": "create", "class": "issues", "data": {"title": "x"}}`)})); got != `app create issues org="acme" (forced) title="x"` {
		t.Error("a filter sets a field:", got)
	}
	many := make([]write.Write, write.MaxWrites+1)
	for i := range many {
		many[i] = parsed(t, fmt.Sprintf(`{"op": "delete", "class": "issues", "id": "%d"}`, i+1))[0]
	}
	if got := outcome(writes.Propose(t.Context(), p, principal, write.Request{Writes: many})); got != "invalid_argument : 101 writes: one change holds at most 100" {
		t.Error(got)
	}
	if got := outcome(writes.Propose(t.Context(), p, principal, write.Request{Writes: many[1:]})); !strings.HasPrefix(got, "app delete") {
		t.Error(got)
	}
	if got := outcome(writes.Propose(t.Context(), p, principal, write.Request{Writes: []write.Write{many[0], many[1], many[0]}})); got != "invalid_argument /writes/2: it writes the record of /writes/0 again" {
		t.Error(got)
	}
}

// TestCalls checks the requests or errors for API calls, and that an approved call sends exactly the approved request.
func TestCalls(t *testing.T) {
	d, err := spec.Load([]byte(`{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {
		"/teams/{id}": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
			"put": {"operationId": "setTeam", "requestBody": {"content": {"application/json": {}}}, "responses": {}}, "delete": {"operationId": "dropTeam", "responses": {}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	with := func(rules calls.Rules, gates policy.Gates) *policy.Policy {
		rules.Document = d
		p, err := policy.New(policy.Rules{Version: "v", Gates: gates, APIs: map[string]calls.Rules{"flow": rules}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	principal := identity.Principal{ID: "token:1", Owner: "ana", Scopes: []identity.Scope{identity.Read, identity.Write}}
	reader, dropper := principal, principal
	reader.Scopes, dropper.Scopes = []identity.Scope{identity.Read}, []identity.Scope{identity.Read, identity.Delete}
	call := func(operation, request string) write.Request {
		return write.Request{Writes: parsed(t, `{"op": "call", "source": "flow", "operation": "`+operation+`", "request": `+request+`}`)}
	}
	sent := func(draft writes.Draft, err error) string {
		plan, perr := draft.Plan()
		if err != nil || perr != nil {
			p := problem.Of(cmp.Or(err, perr))
			return fmt.Sprintf("%s %s %s: %s", p.Code, p.Kind, p.Pointer, p.Detail)
		}
		return plan.Source + " " + plan.Items[0].Key + " " + plan.Items[0].Write.(*write.Call).Sends.String()
	}
	open, denied := with(calls.Rules{}, policy.Gates{}), with(calls.Rules{Write: map[spec.Class]write.Mode{spec.ClassWrite: write.Deny}}, policy.Gates{})
	put := call("setTeam", `{"path": {"id": "a/b"}, "body": {"n": 9007199254740993}}`)
	two := put
	two.Writes = append(two.Writes[:1:1], put.Writes[0])
	for _, row := range []struct{ got, want string }{
		{sent(writes.Propose(t.Context(), open, principal, put)), `flow PUT /teams/a%2Fb {"method":"PUT","target":"/teams/a%2Fb","headers":{"Accept":"application/json, */*;q=0.5","Content-Type":"application/json"},"body":"{\"n\":9007199254740993}"}`},
		{sent(writes.Propose(t.Context(), open, principal, two)), `flow PUT /teams/a%2Fb {"method":"PUT"`},
		{sent(writes.Propose(t.Context(), open, reader, put)), "permission_denied scope /operationId: setTeam is a write operation: it needs the scope write"},
		{sent(writes.Propose(t.Context(), open, dropper, call("dropTeam", `{"path": {"id": "1"}}`))), "flow DELETE /teams/1 "},
		{sent(writes.Propose(t.Context(), open, principal, write.Request{Writes: []write.Write{&write.Call{Source: "flew", Operation: "setTeam", Request: value.OfObject(nil)}}})), "not_found"},
		{sent(writes.Propose(t.Context(), denied, principal, put)), "permission_denied write_denied /operationId: setTeam can't be called by an agent"},
		{sent(writes.Propose(t.Context(), with(calls.Rules{}, policy.Gates{Writes: policy.Off}), principal, put)), "permission_denied gate : writes are switched off for all agents here"},
		{sent(writes.Propose(t.Context(), open, principal, call("dropTeam", `{"path": {"id": "1"}}`))), "permission_denied scope /operationId: dropTeam is a destructive operation: it needs the scope delete"},
		{sent(writes.Propose(t.Context(), open, principal, call("setTeam", `{"path": {"id": ".."}}`))), "invalid_argument request /path/id: "},
		{sent(writes.Propose(t.Context(), open, principal, call("setTeam", `{"pth": {}}`))), `invalid_argument  /request/pth: a call has no "pth". Did you mean path?`},
		{sent(writes.Propose(t.Context(), open, principal, write.Request{Writes: []write.Write{&write.Call{Source: "flow", Operation: "setTeam", Request: value.OfObject(nil), Sends: value.OfInt(1)}}})), "invalid_argument "},
	} {
		if !strings.HasPrefix(row.got, row.want) {
			t.Errorf("got  %s\nwant %s", row.got, row.want)
		}
	}
	draft, err := writes.Propose(t.Context(), open, principal, put)
	if err != nil {
		t.Fatal(err)
	}
	plan, _ := draft.Plan()
	again := *plan.Items[0].Write.(*write.Call)
	if _, err := writes.Propose(t.Context(), open, principal, write.Request{Writes: []write.Write{&again}}); err != nil {
		t.Error("what was approved isn't let through:", err)
	}
	bound := with(calls.Rules{Parameters: []calls.Parameter{{Name: "id", Is: "principal.owner"}}}, policy.Gates{})
	again.Request, _ = value.Read([]byte(`{"body": {"n": 9007199254740993}}`), 0)
	if _, err := writes.Propose(t.Context(), bound, principal, write.Request{Writes: []write.Write{&again}}); problem.Of(err).Kind != "sends" {
		t.Error("something else than was approved would be sent:", err)
	}
}

// TestMay checks the gate and the scope of each kind of write.
func TestMay(t *testing.T) {
	full := append([]identity.Scope{identity.Schema}, principal.Scopes...)
	for _, tt := range []struct {
		asked, action string
		gates         policy.Gates
		scopes        []identity.Scope
		want          string
	}{
		{`{"op": "update", "class": "fixed", "id": "1", "data": {"n": 1}}`, "", policy.Gates{RawWrites: policy.Review}, principal.Scopes, "app update fixed 1 n=1"},
		{`{"op": "update", "class": "fixed", "id": "1", "data": {"n": 1}}`, "", policy.Gates{}, principal.Scopes, "permission_denied : direct writes of records (create, update, delete) are switched off for all agents here"},
		{`{"op": "update", "class": "fixed", "id": "1", "data": {"n": 1}}`, "bump", policy.Gates{}, principal.Scopes, "app update fixed 1 n=1"},
		{`{"op": "update", "class": "fixed", "id": "1", "data": {"n": 1}}`, "bump", policy.Gates{Writes: policy.Off}, principal.Scopes, "permission_denied : writes are switched off for all agents here"},
		{`{"op": "create", "class": "fixed", "data": {"n": 1}}`, "", policy.Gates{}, principal.Scopes, "permission_denied : direct writes of records (create, update, delete) are switched off for all agents here"},
		{`{"op": "delete", "class": "issues", "id": "1"}`, "", policy.Gates{}, principal.Scopes, "permission_denied : direct writes of records (create, update, delete) are switched off for all agents here"},
		{`{"op": "action", "class": "issues", "name": "close", "id": "1"}`, "", policy.Gates{}, principal.Scopes, "app action issues 1"},
		{`{"op": "create", "class": "fixed", "data": {"n": 1}}`, "", policy.Gates{RawWrites: policy.On}, full[1:2], "permission_denied : a create needs the scope write"},
		{`{"op": "delete", "class": "issues", "id": "1"}`, "", policy.Gates{RawWrites: policy.On}, principal.Scopes[:2], "permission_denied : a delete needs the scope delete"},
		{`{"op": "delete", "class": "issues", "id": "1"}`, "close", policy.Gates{}, principal.Scopes[:2], "app delete issues 1"},
		{`{"op": "action", "class": "issues", "name": "close", "id": "1"}`, "close", policy.Gates{}, principal.Scopes[:1], "permission_denied : an action needs the scope write"},
		{`{"op": "create_class", "source": "app", "class": "x", "fields": []}`, "", policy.Gates{SchemaWrites: policy.Review}, full, "app schema"},
		{`{"op": "create_class", "source": "app", "class": "x", "fields": []}`, "", policy.Gates{SchemaWrites: policy.Review}, principal.Scopes, "permission_denied : a change of the schema needs the scope schema"},
		{`{"op": "delete_class", "class": "log"}`, "", policy.Gates{SchemaWrites: policy.On}, full, "app schema log"},
		{`{"op": "delete_class", "class": "Account"}`, "", policy.Gates{SchemaWrites: policy.On}, full, "unsupported_by_source /class_name: Account is a description without records: nothing can be written to it"},
		{`{"op": "delete_class", "class": "vault"}`, "", policy.Gates{SchemaWrites: policy.On}, full, `not_found /class_name: there is no class "vault"`},
	} {
		p := compiled(t, func(r *policy.Rules) { r.Gates = tt.gates })
		asker := principal
		asker.Scopes = tt.scopes
		if got := outcome(writes.Propose(t.Context(), p, asker, write.Request{Writes: parsed(t, tt.asked), Origin: write.Origin{Action: tt.action}})); got != tt.want {
			t.Errorf("%s by %q\n got %s\nwant %s", tt.asked, tt.action, got, tt.want)
		}
	}
}

// TestRevertSets checks the fields that a revert sets. They include fields that an agent may not set, but not those
// that the source generates again.
func TestRevertSets(t *testing.T) {
	p, err := policy.New(policy.Rules{Version: "v", Gates: policy.Gates{Writes: policy.Review}, Classes: map[string]policy.ClassRule{"counted": {Permitted: []string{"n"}}, "documents": {}, "random": {},
		"issues": {Tenant: &policy.TenantRule{Field: "org"}, Mask: map[string]policy.Mask{"phone": policy.Partial}}}}, append([]schema.Class{
		{Source: "app", Name: "counted", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer, Generated: true}, {Name: "n", Type: schema.Integer, Generated: true}, {Name: "m", Type: schema.Integer}}},
		{Source: "app", Name: "documents", Key: []string{"_id"}, Fields: []schema.Field{{Name: "_id", Type: schema.String, Native: "objectId", Generated: true}, {Name: "ref", Type: schema.String, Native: "objectId", Generated: true}}},
		{Source: "app", Name: "random", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.UUID, Generated: true}, {Name: "m", Type: schema.Integer}}},
	}, catalogue[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ asked, want string }{
		{`{"op": "create", "class": "counted", "data": {"id": 1, "n": 2, "m": 3}}`, "app create counted id=1 m=3"},
		{`{"op": "update", "class": "counted", "id": "1", "data": {"id": 2, "n": 2, "m": 3}}`, "app update counted 1 m=3"},
		{`{"op": "create", "class": "documents", "data": {"_id": "65a1b2c3d4e5f60718293a4b", "ref": "65a1b2c3d4e5f60718293a4c"}}`, `app create documents _id="65a1b2c3d4e5f60718293a4b"`},
		{`{"op": "create", "class": "random", "data": {"id": "` + ada + `", "m": 3}}`, "app create random m=3"},
		{`{"op": "create", "class": "random", "data": {"mm": 3}}`, `invalid_query /data/mm: unknown field "mm" of random`},
		{`{"op": "create", "class": "issues", "data": {"title": "x", "phone": "5"}}`, "permission_denied /data/phone: phone is masked: who doesn't see it whole can't set it"},
		{`{"op": "create", "class": "issues", "data": {"title": "x", "note": "y", "made": "2026-01-31"}}`, `app create issues org="acme" (forced) title="x" note="y"`},
	} {
		if got := outcome(writes.Propose(t.Context(), p, principal, write.Request{Writes: parsed(t, tt.asked), Origin: write.Origin{Action: writes.Revert}})); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.asked, got, tt.want)
		}
	}
}

// approval sends writes through a queue and returns the Approved change.
func approval(t *testing.T, edit func(*change.Change), asked string, effects ...change.Effect) (change.Approved, error) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "b.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := &change.Change{Source: "app", Mode: write.Allow, Effects: effects, Agent: change.PartyOf(principal)}
	for _, w := range parsed(t, asked) {
		c.Writes = append(c.Writes, write.Print(w))
	}
	q := change.NewQueue(change.Options{Store: s})
	kept, err := q.Propose(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(kept)
		kept.History = append(kept.History, change.Step{State: kept.State, Event: change.EventCommented, At: time.Now(), Actor: kept.History[0].Actor})
		if err := s.Swap(t.Context(), kept, change.Guard{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := q.Record(ctx, kept.ID, s); err != nil {
		t.Fatal(err)
	}
	return q.Claim(ctx, kept.ID, "here")
}

// TestAllow checks that an approved change produces a permit for exactly its content, under the current rules.
func TestAllow(t *testing.T) {
	before := value.OfObject([]value.Member{{Name: "id", Value: value.OfInt(1)}, {Name: "n", Value: value.OfInt(5)}})
	update := `{"op": "update", "class": "fixed", "id": "1", "data": {"n": 6}}`
	for _, tt := range []struct {
		name, asked string
		edit        func(*change.Change)
		rules       func(*policy.Rules)
		op          write.Op
		want        string // the plan, then the concerned fields
	}{
		{"an update", update, nil, nil, "update", "app update fixed 1 n=6 [n]"},
		{"an update of a class with versions", update, nil, func(r *policy.Rules) { r.Classes["fixed"] = policy.ClassRule{Version: "id"} }, "update", "app update fixed 1 n=6 [n id]"},
		{"a delete", `{"op": "delete", "class": "issues", "id": "1"}`, nil, nil, "delete", "app delete issues 1 [id n]"},
		{"an action", `{"op": "action", "class": "fixed", "name": "x", "id": "1"}`, nil, nil, "action", "app action fixed 1 [id n]"},
		{"a write was edited", update, func(c *change.Change) { c.Writes[0] = write.Print(parsed(t, strings.Replace(update, "6", "7", 1))[0]) }, nil, "update", "digest"},
		{"what it was reviewed over was edited", update, func(c *change.Change) { c.Effects[0].Before = value.Value{} }, nil, "update", "digest"},
		{"a write can't be read", update, func(c *change.Change) { c.Writes[0] = value.OfString("x"); c.Digest = c.Sum() }, nil, "update", "invalid_argument"},
		{"another source", update, func(c *change.Change) { c.Source = "crm"; c.Digest = c.Sum() }, nil, "update", "plan"},
		{"fewer effects", update, func(c *change.Change) { c.Effects = nil; c.Digest = c.Sum() }, nil, "update", "plan"},
		{"the class is hidden now", update, nil, func(r *policy.Rules) { r.Classes["fixed"] = policy.ClassRule{Hidden: true} }, "update", "hidden_class"},
		{"the write is denied now", update, nil, func(r *policy.Rules) {
			r.Classes["fixed"] = policy.ClassRule{Write: map[write.Op]write.Mode{write.OpUpdate: write.Deny}}
		}, "update", "write_denied"},
	} {
		a, err := approval(t, tt.edit, tt.asked, change.Effect{Op: tt.op, Class: "app.x", Key: "1", Before: before, Asked: []string{"n"}})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		permit, err := writes.Allow(t.Context(), compiled(t, tt.rules), principal, a)
		got := ""
		if err != nil {
			if got = problem.Of(err).Kind; got == "" {
				got = string(problem.CodeOf(err))
			}
		} else {
			plan, err := permit.Plan()
			if err != nil {
				t.Fatal(err)
			}
			c, _ := a.Change()
			got = fmt.Sprint(shown(plan), " ", plan.Items[0].Concerned)
			if plan.Change != c.ID || plan.Digest != c.Digest || plan.Fence != 1 || plan.Version != "v1" || plan.Items[0].Before.String() != before.String() {
				t.Errorf("%s: %+v", tt.name, plan)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if _, err := writes.Allow(t.Context(), compiled(t, nil), principal, change.Approved{}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("nobody approved:", err)
	}
	if _, err := (writes.Draft{}).Plan(); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("the zero Draft", err)
	}
	if _, err := (writes.Permit{}).Plan(); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("the zero Permit", err)
	}
}

// TestRecorded checks that a permit receives the function that records its calls, and that the zero permit still
// refuses.
func TestRecorded(t *testing.T) {
	a, err := approval(t, nil, `{"op": "update", "class": "fixed", "id": "1", "data": {"n": 6}}`, change.Effect{Op: "update", Class: "app.x", Key: "1"})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := writes.Allow(t.Context(), compiled(t, nil), principal, a)
	if err != nil {
		t.Fatal(err)
	}
	told := errors.New("told")
	reached := func(context.Context, change.Receipt, []int) error { return told }
	if plan, err := permit.WithRecorder(reached).Plan(); err != nil || plan.Reached == nil || !errors.Is(plan.Reached(t.Context(), change.Receipt{}, nil), told) {
		t.Errorf("%+v, %v", plan, err)
	}
	if plan, err := permit.Plan(); err != nil || plan.Reached != nil {
		t.Error("the permit itself has changed")
	}
	if _, err := (writes.Permit{}).WithRecorder(reached).Plan(); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("the zero Permit", err)
	}
}

// TestReading checks that a record is read back as the principal sees it, by its key and with all visible fields.
func TestReading(t *testing.T) {
	d, err := writes.Propose(t.Context(), compiled(t, nil), principal, write.Request{Writes: parsed(t, `{"op": "delete", "class": "issues", "id": "1"}`)})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := d.Plan()
	if err != nil {
		t.Fatal(err)
	}
	permit, err := plan.Items[0].Reading(plan.Items[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	read, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if in, ok := read.Where.(query.In); !ok || len(in.Values) != 1 || in.Values[0].Int() != 1 || len(read.Columns) != len(read.View.Fields()) || read.Limit != 1 {
		t.Errorf("%+v", read)
	}
}
