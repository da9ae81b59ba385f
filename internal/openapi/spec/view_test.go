package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

const doc = `{"openapi":"3.0.0","paths":{
	"/teams":{"get":{"operationId":"a.TeamService.ListTeams","parameters":[{"in":"header","name":"authorization"},{"in":"cookie","name":"c"},{"in":"header","name":"X-Trace"}],
		"responses":{"200":{"content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/a.Team"}}}}}}}},
	"/keys":{"post":{"operationId":"mint","responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Key"}}}}}}},
	"/secret":{"get":{"operationId":"a.SecretService.GetSecret","responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Secret"}}}}}}},
	"/x":{"get":{"operationId":"a.OtherService.ListTeams","responses":{"200":{"content":{"x/y":{"schema":{"$ref":"#/components/schemas/b.Team"}}}}}}}},
	"components":{"schemas":{
		"a.Team":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"password":{"$ref":"#/components/schemas/Password"},"owner":{"$ref":"#/components/schemas/Person"},"parent":{"$ref":"#/components/schemas/a.Team"}}},
		"b.Team":{"type":"object"},"Person":{"properties":{"team":{"$ref":"#/components/schemas/a.Team"}}},
		"Password":{"type":"string"},"Key":{"type":"string"},"Secret":{"properties":{"v":{"$ref":"#/components/schemas/Vault"}}},"Vault":{}}}}`

func read(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func narrow(t *testing.T) *View {
	t.Helper()
	d := read(t, doc)
	rules, err := NewClassifier(d, ClassOptions{Rules: []ClassRule{{Operations: []string{"mint"}, Class: ClassForbidden, Reason: "it mints a key", Instead: "Settings, Keys"}}})
	if err != nil {
		t.Fatal(err)
	}
	return NewView(d, rules, Filter{
		Operation: func(op *Operation) bool { return op.ID != "a.SecretService.GetSecret" },
		Field:     func(_, field string) bool { return field != "password" },
	})
}

// TestOperation checks the operation or error for each name. A hidden operation gives the same error as a missing one.
func TestOperation(t *testing.T) {
	v := narrow(t)
	for _, tt := range []struct{ name, want string }{
		{"a.TeamService.ListTeams", "a.TeamService.ListTeams"},
		{"GET /teams", "a.TeamService.ListTeams"},
		{"TeamService/ListTeams", "a.TeamService.ListTeams"},
		{"teamservice/LISTTEAMS", "a.TeamService.ListTeams"},
		{"get /Teams", "a.TeamService.ListTeams"},
		{"TeamService/ListTeam", `not_found: unknown operation "TeamService/ListTeam". Did you mean TeamService.ListTeams, a.TeamService.ListTeams or OtherService.ListTeams?`},
		{"GET /temas", `not_found: unknown operation "GET /temas". Did you mean GET /teams?`},
		{"ListTeams", `not_found: unknown operation "ListTeams". Did you mean a.TeamService.ListTeams or a.OtherService.ListTeams?`},
		{"ListTeam", `not_found: unknown operation "ListTeam". Did you mean ListTeams?`},
		{"a.SecretService.GetSecret", `not_found: unknown operation "a.SecretService.GetSecret"`},
		{"a.SicretService.GetSecret", `not_found: unknown operation "a.SicretService.GetSecret"`},
		{"/teams", `not_found: unknown operation "/teams". Did you mean GET /teams?`},
		{"/team", `not_found: unknown operation "/team". Did you mean GET /teams?`},
		{"/secret", `not_found: unknown operation "/secret"`},
		{"GET /secret", `not_found: unknown operation "GET /secret"`},
		{"", `not_found: unknown operation ""`},
		{"mint", "security_blocked: mint is not for agents: it mints a key"},
		{"POST /keys", "security_blocked: mint is not for agents: it mints a key"},
	} {
		op, err := v.Operation(tt.name)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = op.ID
		}
		if got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	if _, err := v.Operation("mint"); problem.Of(err).Suggestion != "Settings, Keys" {
		t.Error(err)
	}
	if ps := v.Parameters(v.Operations()[0]); len(ps) != 2 || ps[0].Name != "X-Trace" || ps[1].In != "cookie" {
		t.Errorf("%+v", ps)
	}
	if len((&View{}).Operations()) != 0 {
		t.Error("the zero view has operations")
	}
}

// TestSchemas checks that exactly the schemas reachable from visible operations are present.
func TestSchemas(t *testing.T) {
	v := narrow(t)
	if want := []string{"a.Team", "b.Team", "Person"}; !slices.Equal(v.Schemas(), want) {
		t.Errorf("%q, want %q", v.Schemas(), want)
	}
	for _, tt := range []struct{ name, want string }{
		{"a.Team", "a.Team"}, {"Person", "Person"}, {"person", "Person"},
		{"Team", `not_found: 2 schemas are called "Team". Did you mean a.Team or b.Team?`},
		{"Persom", `not_found: unknown schema "Persom". Did you mean Person?`}, {"Pers", `not_found: unknown schema "Pers". Did you mean Person?`},
		{"Pe", `not_found: unknown schema "Pe"`}, {"eam", `not_found: unknown schema "eam". Did you mean Team, a.Team or b.Team?`}, {"Vau", `not_found: unknown schema "Vau"`},
		{"Vault", `not_found: unknown schema "Vault"`}, {"Password", `not_found: unknown schema "Password"`}, {"Key", `not_found: unknown schema "Key"`},
	} {
		s, err := v.SchemaByName(tt.name)
		got := s.Name
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.name, got, tt.want)
		}
	}
	hidden := NewView(read(t, doc), nil, Filter{Schema: func(name string) bool { return name != "Person" }})
	if slices.Contains(hidden.Schemas(), "Person") || hidden.Schema(Raw(`{"$ref":"#/components/schemas/Person"}`)).Name != "" {
		t.Error("a hidden schema is there")
	}
}

// TestObject checks the fields of each schema and whether other fields are accepted. The expected text shows names of
// required fields in capitals.
func TestObject(t *testing.T) {
	d := read(t, `{"openapi":"3.1.0","components":{"schemas":{
		"A":{"type":"object","required":["x","p"],"properties":{"x":{},"secret":{}},"allOf":[{"$ref":"#/components/schemas/B"},{"properties":{"i":{}},"required":["y"]}]},
		"B":{"description":"b","properties":{"y":{},"x":{"type":"string"}},"allOf":[{"$ref":"#/components/schemas/A"}],"oneOf":[{},{}]},
		"W":{"allOf":[{"$ref":"#/components/schemas/B"}],"description":"wrapped"},"N":{"anyOf":[{"$ref":"#/components/schemas/B"},{"type":"null"}]},
		"M":{"type":"object","additionalProperties":{"type":"integer"}},"F":{"type":"object"},"C":{"type":"object","additionalProperties":false}}}}`)
	v := NewView(d, nil, Filter{Field: func(_, f string) bool { return f != "secret" }})
	for _, tt := range []struct{ schema, want string }{
		{"A", "A:  X/A Y/B i/A choices=2 open=false further= null=false"},
		{"W", "B: wrapped Y/B X/B i/A choices=2 open=false further= null=false"},
		{"N", "B: b Y/B X/B i/A choices=2 open=false further= null=true"},
		{"M", "M:  choices=0 open=true further={\"type\":\"integer\"} null=false"},
		{"F", "F:  choices=0 open=true further= null=false"},
		{"C", "C:  choices=0 open=false further= null=false"},
		{"gone", ":  choices=0 open=true further= null=false"},
	} {
		o := v.Object(v.Schema(Raw(`{"$ref":"#/components/schemas/` + tt.schema + `"}`)))
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s ", o.Name, o.Description)
		for _, f := range o.Fields {
			name := f.Name
			if f.Required {
				name = strings.ToUpper(name)
			}
			fmt.Fprintf(&b, "%s/%s ", name, f.Of)
		}
		fmt.Fprintf(&b, "choices=%d open=%v further=%s null=%v", len(o.Choices), o.Open, o.Further, o.Nullable)
		if b.String() != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.schema, b.String(), tt.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for header, want := range map[string]bool{"Authorization": true, "COOKIE": true, "host": true, "X-Forwarded-For": true, "x-forwarded-anything": true, "Content-Length": true,
		"Proxy-Authorization": true, "X-Request-Id": false, "If-Match": false, "Idempotency-Key": false} {
		if RefusedHeader(header) != want {
			t.Errorf("%s: %v", header, !want)
		}
	}
}
