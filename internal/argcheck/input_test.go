package argcheck

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

const issue = `{"type": "object", "additionalProperties": false, "required": ["projectId", "title"], "properties": {
	"projectId": {"type": "string", "format": "uuid"}, "title": {"type": "string", "minLength": 1, "maxLength": 5},
	"type": {"type": "string", "enum": ["Epic", "Story"]}, "hours": {"type": "number", "minimum": 0, "maximum": 9},
	"tags": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}}, "due": {"type": "string", "pattern": "^20"},
	"columns": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "string"}}]}}}}`

// TestCheck checks the pointer, the rule and the sentence of faults in arguments.
func TestCheck(t *testing.T) {
	s, err := Compile([]byte(issue), false)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Names(), " "); got != "projectId title type hours tags due columns" {
		t.Error("names", got)
	}
	const id = `"projectId": "0b0b0b0b-0000-4000-8000-000000000001"`
	for _, tt := range []struct{ args, want string }{
		{`{` + id + `, "title": "A", "hours": 2.5, "tags": ["x"]}`, ""},
		{`{}`, "/projectId required the argument \"projectId\" is missing\n/title required the argument \"title\" is missing"},
		{`{"projectId": "7", "title": "A"}`, "/projectId format projectId must be a UUID, such as 3fa85f64-5717-4562-b3fc-2c963f66afa6, not \"7\""},
		{`{` + id + `, "title": ""}`, "/title minLength title must have at least 1 character, not 0"},
		{`{` + id + `, "title": "ÄÖÜäöü"}`, "/title maxLength title must have at most 5 characters, not 6"},
		{`{` + id + `, "title": "A", "type": "Bug"}`, "/type enum type must be one of Epic, Story, not \"Bug\""},
		{`{` + id + `, "title": "A", "hours": -0.5}`, "/hours minimum hours must be at least 0, not -0.5"},
		{`{` + id + `, "title": "A", "hours": 10}`, "/hours maximum hours must be at most 9, not 10"},
		{`{` + id + `, "title": 7}`, "/title type title must be a text, not 7"},
		{`{` + id + `, "title": "A", "tags": []}`, "/tags minItems tags must have at least 1 item, not 0"},
		{`{` + id + `, "title": "A", "tags": ["a", "b", "c"]}`, "/tags maxItems tags must have at most 2 items, not 3"},
		{`{` + id + `, "title": "A", "tags": [1]}`, "/tags/0 type tags/0 must be a text, not 1"},
		{`{` + id + `, "title": "A", "due": "1999"}`, "/due pattern due must match ^20"},
		{`{` + id + `, "title": "A", "titel": "B"}`, `/titel unknown unknown argument "titel". Did you mean title?`},
		{`{` + id + `, "title": "A", "columns": [{"id": "Id", "title": "Title"}]}`, `/columns/0 maxProperties columns/0 must have at most 1 field, not 2. Write one object for each: {"id":"Id"}, {"title":"Title"} (by the nearest of 2 alternatives)`},
		{`{"id": "7", "titel": "A"}`, "/id unknown unknown argument \"id\". Did you mean projectId?\n/titel unknown unknown argument \"titel\". Did you mean title?"},
		{`{` + id + `, "title": "A", "approved_by": "me"}`, `/approved_by unknown unknown argument "approved_by". It takes columns, due, hours, projectId, tags, title, type`},
	} {
		args, err := value.Read([]byte(tt.args), 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := s.Check(args); err != nil {
			p := problem.Of(err)
			for _, f := range p.Faults {
				got = append(got, f.Pointer+" "+f.Rule+" "+f.Message)
			}
			if p.Code != problem.InvalidArgument || p.Pointer != p.Faults[0].Pointer {
				t.Error(tt.args, p)
			}
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.args, strings.Join(got, "\n"), tt.want)
		}
	}
}

// TestCompile checks each kind of schema that some clients can't load.
func TestCompile(t *testing.T) {
	for schema, want := range map[string]string{
		`[`:                  "its input schema: invalid_argument: not valid JSON: it ends too early",
		`{"type": "array"}`:  "its input schema is not of type object",
		`{"type": "object"}`: "its input schema is not closed (additionalProperties: false)",
		`{"type": "object", "additionalProperties": false, "anyOf": []}`:                                       "its input schema has anyOf at the top",
		`{"type": "object", "additionalProperties": false, "$defs": {}}`:                                       "its input schema uses $defs",
		`{"type": "object", "additionalProperties": false, "properties": {"a": {"$ref": "#"}}}`:                "its input schema uses $ref",
		`{"type": "object", "additionalProperties": false, "properties": {"a": {"type": ["string", "null"]}}}`: "its input schema has a list of types",
	} {
		if _, err := Compile([]byte(schema), false); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", schema, err, want)
		}
	}
}

const group = `{"type": "object", "additionalProperties": false, "required": ["writes"], "properties": {"writes": {"type": "array", "items": {
	"type": "object", "additionalProperties": false, "required": ["op"], "properties": {"op": {"type": "string", "enum": ["create", "update", "delete"]},
	"class_name": {"type": "string"}, "object_id": {"type": "string"}, "data": {"type": "object"}, "rank": {"type": "integer", "maximum": 9}}}}}}`

// TestTakeWithin checks that members of objects in a list are converted like top-level arguments. A fault in them
// must list the allowed members of the object.
func TestTakeWithin(t *testing.T) {
	s, err := Compile([]byte(group), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want, faults string }{
		{`{"changes":[{"action":"PATCH","table":"issues","id":7,"set":{"a":1},"rank":"3"}]}`, `{"writes":[{"op":"update","class_name":"issues","object_id":"7","data":{"a":1},"rank":3}]}`, ""},
		{`{"writes":{"type":"remove","class":"issues","id":"7"}}`, `{"writes":[{"op":"delete","class_name":"issues","object_id":"7"}]}`, ""},
		{`{"writes":"[{\"op\":\"insert\",\"fields\":{}}]"}`, `{"writes":[{"op":"create","data":{}}]}`, ""},
		{`{"writes":[{"op":"update","object_id":"7","id":"8"}]}`, `{"writes":[{"op":"update","object_id":"7","id":"8"}]}`, `/writes/0/id: unknown argument "id". Did you mean object_id?`},
		{`{"writes":[{"op":"update","where":{}}]}`, `{"writes":[{"op":"update","where":{}}]}`, `/writes/0/where: unknown argument "where". It takes class_name, data, object_id, op, rank`},
		{`{"writes":[{"op":"create"},{"op":"create","rank":10}]}`, `{"writes":[{"op":"create"},{"op":"create","rank":9}]}`, ""},
	} {
		args, err := value.Read([]byte(tt.args), 0)
		if err != nil {
			t.Fatal(err)
		}
		taken, notes := s.Take(args, true)
		if got := taken.String(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.args, got, tt.want)
		}
		if clamped := strings.Contains(tt.args, "10"); clamped != (len(notes) == 1) || clamped && !strings.HasPrefix(notes[0], "/writes/1/rank: 10 is over") {
			t.Errorf("%s: notes %q", tt.args, notes)
		}
		var faults []string
		if err := s.Check(taken); err != nil {
			for _, f := range problem.Of(err).Faults {
				faults = append(faults, f.Pointer+": "+f.Message)
			}
		}
		if got := strings.Join(faults, "\n"); got != tt.faults {
			t.Errorf("%s:\n got %s\nwant %s", tt.args, got, tt.faults)
		}
	}
}

// TestRefuse checks that three faults are described and the others are counted, sorted by position. A missing name is
// not reported if an unknown name is similar to it.
func TestRefuse(t *testing.T) {
	unknown := func(name string) Fault { return UnknownName("/data", "field", name, []string{"Name", "Stage"}) }
	for _, tt := range []struct {
		faults       []Fault
		detail, near string
	}{
		{[]Fault{unknown("xxx2"), unknown("xxx1")}, `unknown field "xxx1". It takes Name, Stage. Unknown field "xxx2". It takes Name, Stage`, ""},
		{[]Fault{unknown("Nam"), unknown("Stag"), Missing("/data", "field", "Name"), Missing("/data", "field", "Owner")},
			`unknown field "Nam". Did you mean Name? The field "Owner" is missing. Unknown field "Stag". Did you mean Stage?`, "Name Stage"},
		{[]Fault{Missing("", "field", "a"), Missing("", "field", "b"), Missing("", "field", "c"), Missing("", "field", "d")},
			`the field "a" is missing. The field "b" is missing. The field "c" is missing. Further faults: 1`, ""},
		{[]Fault{OneOf("/a", "a", value.OfInt(3), nil), Must("/a", RuleType, "a", "be a text", Found(value.Value{}))}, "a must have no value, not 3. a must be a text, not null", ""},
		{[]Fault{{Fault: problem.Fault{Pointer: "/a", Message: "unknown"}}, {Fault: problem.Fault{Pointer: "/a", Message: "unknown, too"}}}, "unknown, too", ""},
	} {
		p := problem.Of(Refuse("schema", tt.faults, "look"))
		if p.Detail != tt.detail || strings.Join(p.Near, " ") != tt.near || p.Suggestion != "look" || p.Pointer != p.Faults[0].Pointer {
			t.Errorf("got %s %v, want %s [%s]", p.Detail, p.Near, tt.detail, tt.near)
		}
	}
	if err := Refuse("schema", nil, ""); err != nil {
		t.Error(err)
	}
	if got := At("/a", strings.Repeat("x", 1000)); len(got) > 400 || !strings.HasPrefix(got, "/a/xxx") {
		t.Error("a long name is cut:", len(got))
	}
}
