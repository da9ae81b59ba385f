package policy

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestGates checks, for a principal with every scope, how gates refuse a use, and the gate in force.
func TestGates(t *testing.T) {
	principal := identity.Principal{Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete, identity.Schema}}
	const (
		read, write, remove, schema = identity.Read, identity.Write, identity.Delete, identity.Schema
		action, raw, ddl            = WriteAction, WriteRaw, WriteSchema
	)
	for _, row := range []struct {
		gates  Gates
		needs  identity.Scope
		writes Write
		want   string
	}{
		{Gates{}, read, "", ""},
		{Gates{Writes: Off}, read, "", ""},
		{Gates{}, write, "", "writes need the approval of a person here, and put can't wait for it"},
		{Gates{}, remove, "", "writes need the approval of a person here, and put can't wait for it"},
		{Gates{Writes: Off}, write, "", "writes are switched off for all agents here"},
		{Gates{Writes: On}, write, "", ""},
		{Gates{Writes: On}, remove, action, ""},
		{Gates{Writes: Off}, read, action, "writes are switched off for all agents here"},
		{Gates{Writes: On}, write, raw, "direct writes of records (create, update, delete) are switched off for all agents here"},
		{Gates{}, write, raw, "direct writes of records (create, update, delete) are switched off for all agents here"},
		{Gates{Writes: Off, RawWrites: On}, write, raw, "writes are switched off for all agents here"},
		{Gates{Writes: Review, RawWrites: On}, write, raw, "writes need the approval of a person here, and put can't wait for it"},
		{Gates{Writes: On, RawWrites: Review}, write, raw, "direct writes of records (create, update, delete) need the approval of a person here, and put can't wait for it"},
		{Gates{Writes: On, RawWrites: On}, write, raw, ""},
		{Gates{Writes: On, RawWrites: On}, schema, "", "changes of classes and fields are switched off for all agents here"},
		{Gates{Writes: On, SchemaWrites: Review}, write, ddl, "changes of classes and fields need the approval of a person here, and put can't wait for it"},
		{Gates{Writes: On, SchemaWrites: On}, schema, "", ""},
		{Gates{Writes: On, RawWrites: On, SchemaWrites: On}, write, "other", "put makes writes of no known kind"},
	} {
		p, err := New(Rules{Gates: row.gates}, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = p.May(principal, Use{Tool: "put", Needs: row.needs, Writes: row.writes})
		got := ""
		if e := problem.Of(err); e != nil {
			got = e.Detail
			if e.Code != problem.PermissionDenied || e.Kind != "gate" || e.Scope != "" || strings.Contains(e.Detail+e.Suggestion, "gates.") {
				t.Errorf("%+v: %+v", row, e)
			}
		}
		if got != row.want {
			t.Errorf("%+v\n got %q\nwant %q", row, got, row.want)
		}
	}
}

// TestGateOrder checks the order. Tools not in the list are unknown, whatever the gates are. Then gates are checked,
// then scopes.
func TestGateOrder(t *testing.T) {
	p, err := New(Rules{Gates: Gates{Writes: Off}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	use := Use{Tool: "put", Needs: identity.Write}
	if e := problem.Of(p.May(identity.Principal{Tools: identity.List{Except: []string{"put"}}}, use)); e.Code != problem.UnknownTool || e.Detail != "unknown tool" {
		t.Errorf("outside of the list: %v", e)
	}
	if e := problem.Of(p.May(identity.Principal{}, use)); e.Kind != "gate" {
		t.Errorf("without the scope: %v, kind %s", e, e.Kind)
	}
}

// TestGate checks the result for a kind of write: the most restrictive switch, and its key.
func TestGate(t *testing.T) {
	for _, row := range []struct {
		gates Gates
		kind  Write
		want  string
	}{
		{Gates{}, "", "on "},
		{Gates{}, WriteAction, "review gates.writes"},
		{Gates{}, WriteRaw, "off gates.raw_writes"},
		{Gates{}, WriteSchema, "off gates.schema_writes"},
		{Gates{Writes: Off}, WriteRaw, "off gates.writes"},
		{Gates{Writes: Review, RawWrites: Review}, WriteRaw, "review gates.writes"},
		{Gates{Writes: Review, RawWrites: On}, WriteRaw, "review gates.writes"},
		{Gates{Writes: On, RawWrites: Review}, WriteRaw, "review gates.raw_writes"},
		{Gates{Writes: On, RawWrites: On}, WriteRaw, "on gates.writes"},
		{Gates{Writes: On, RawWrites: On}, WriteSchema, "off gates.schema_writes"},
		{Gates{Writes: On, RawWrites: On, SchemaWrites: On}, "other", "off "},
	} {
		p, err := New(Rules{Gates: row.gates}, nil)
		if err != nil {
			t.Fatal(err)
		}
		gate, key := p.Gate(row.kind)
		if got := string(gate) + " " + key; got != row.want {
			t.Errorf("%+v %q: %s, want %s", row.gates, row.kind, got, row.want)
		}
	}
	for text, want := range map[string]string{"off": "", "review": "", "on": "", "": `must be off, review or on, not ""`, "On": `must be off, review or on, not "On"`} {
		gate, err := ParseGate(text)
		if want == "" && (err != nil || string(gate) != text) || want != "" && (err == nil || err.Error() != want || gate != "") {
			t.Errorf("%q: %q %v, want %s", text, gate, err, want)
		}
	}
	if _, err := New(Rules{Gates: Gates{RawWrites: "onn"}}, nil); err == nil || err.Error() != `gates.raw_writes: must be off, review or on, not "onn"` {
		t.Errorf("an unknown gate: %v", err)
	}
}
