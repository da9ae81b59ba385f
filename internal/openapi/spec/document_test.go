package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/google/go-cmp/cmp"
)

func load(t testing.TB, text string) *Document {
	t.Helper()
	d, err := Load([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return d
}

// tell formats an operation for the tables.
func tell(op *Operation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s\n", op.ID, op.Name())
	for _, p := range op.Parameters {
		fmt.Fprintf(&b, "  %s %s %s explode=%v required=%v %s\n", p.In, p.Name, p.Style, p.Explode, p.Required, p.Schema.Compact())
	}
	if op.Body != nil {
		fmt.Fprintf(&b, "  body required=%v\n", op.Body.Required)
		for _, c := range op.Body.Contents {
			fmt.Fprintf(&b, "    %s %s\n", c.MediaType, c.Schema.Compact())
		}
	}
	for _, r := range op.Responses {
		fmt.Fprintf(&b, "  %s", r.Status)
		for _, c := range r.Contents {
			fmt.Fprintf(&b, " %s %s", c.MediaType, c.Schema.Compact())
		}
		b.WriteString("\n")
	}
	return b.String()
}

func tellAll(d *Document) string {
	var b strings.Builder
	for _, op := range d.Operations {
		b.WriteString(tell(op))
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(&b, "! %s\n", w)
	}
	return b.String()
}

const head30 = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},`

// TestOperations checks the operations and warnings of each document.
func TestOperations(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"parameters of the path, overridden", head30 + `"paths":{"/teams/{teamId}":{
			"parameters":[{"name":"teamId","in":"path","required":true,"schema":{"type":"string"}},{"name":"trace","in":"header","schema":{"type":"string"}}],
			"get":{"operationId":"getTeam","parameters":[{"name":"teamId","in":"path","schema":{"type":"integer"}},{"name":"q","in":"query","style":"deepObject"}],
			"responses":{"default":{},"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Team"}}}}}}}},
			"components":{"schemas":{"Team":{"type":"object"}}}}`,
			`getTeam = GET /teams/{teamId}
  path teamId simple explode=false required=true {"type":"integer"}
  query q deepObject explode=true required=false 
  header trace simple explode=false required=false {"type":"string"}
  default
  200 application/json {"$ref":"#/components/schemas/Team"}
`},
		{"ids from method and path", head30 + `"paths":{"/api/v1/teams/{teamId}/applications":{"get":{},"post":{}},"/":{"get":{}},"/api/v1/":{"put":{}},"/a-b.c/":{"delete":{}}}}`,
			`get_teams_teamId_applications = GET /api/v1/teams/{teamId}/applications
  path teamId simple explode=false required=true {"type":"string"}
post_teams_teamId_applications = POST /api/v1/teams/{teamId}/applications
  path teamId simple explode=false required=true {"type":"string"}
get = GET /
put_api_v1 = PUT /api/v1/
delete_a-b_c = DELETE /a-b.c/
! GET /api/v1/teams/{teamId}/applications: the path parameter teamId is not declared. It is taken for text
! POST /api/v1/teams/{teamId}/applications: the path parameter teamId is not declared. It is taken for text
`},
		{"ids that would be alike", head30 + `"paths":{"/api/v1/teams":{"get":{}},"/api/v2/teams":{"get":{}},"/x":{"get":{}},"/x/":{"get":{}},
			"/p":{"get":{"operationId":"twice"}},"/q":{"get":{"operationId":"twice"}},"/r":{"get":{"operationId":" bad"}}}}`,
			`get_api_v1_teams = GET /api/v1/teams
get_api_v2_teams = GET /api/v2/teams
get_x_b3d1db31 = GET /x
get_x_85c374be = GET /x/
twice = GET /p
get_q = GET /q
get_r = GET /r
! GET /q: its operationId "twice" is GET /p's too. The id is made from method and path
! GET /r: its operationId is no name. The id is made from method and path
`},
		{"what is broken is left out", head30 + `"paths":{
			"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/gone"}]},"post":{"operationId":"ok"}},
			"/b":{"get":{"requestBody":{"$ref":"other.yaml#/x"}},"put":7},
			"/c":{"get":{"responses":{"200":{"$ref":"#/components/responses/loop"}}}},
			"/d{":{"get":{}},"/e/{x}/{x}":{"get":{}},"no":{"get":{}},"/f":[],"/g":{"$ref":"#/paths/~1g"},
			"/h":{"get":{"parameters":[{"in":"query"}]}},"/i":{"get":{"parameters":[{"in":"body","name":"x"}]}},
			"/j":{"post":{"requestBody":{"content":{"a/b":{"schema":{"$ref":"#/nowhere"}}}}}},
			"/k/{a}":{"get":{"parameters":[{"in":"path","name":"a"},{"in":"path","name":"b"}]}}},
			"components":{"responses":{"loop":{"$ref":"#/components/responses/loop"}}}}`,
			`ok = POST /a
get_k_a = GET /k/{a}
  path a simple explode=false required=true 
! other.yaml: can't be read, and what it describes is unknown: other files are not read here
! GET /a: left out: a parameter: "#/components/parameters/gone" is not in the document
! GET /b: left out: its request body: "other.yaml#/x" is not in the document
! PUT /b: left out: must be an object
! GET /c: left out: its answer 200: "#/components/responses/loop" leads through more than 32 references
! GET /d{: left out: its path is not a template
! GET /e/{x}/{x}: left out: its path has {x} twice
! GET no: left out: its path is not a template
! /f: left out: must be an object
! /g: left out: "#/paths/~1g" leads through more than 32 references
! GET /h: left out: a parameter has no name
! GET /i: left out: the parameter x stands in "body"
! POST /j: left out: its request body: the schema of a/b: "#/nowhere" is not in the document
! GET /k/{a}: the path has no {b}. The parameter is left out
`},
		{"references", head30 + `"paths":{"/a":{"$ref":"#/components/pathItems/a"},"/b/{id}":{"get":{"operationId":"b",
			"parameters":[{"$ref":"#/components/parameters/one"},{"$ref":"#/paths/~1b~1{id}/post/parameters/0"}]},
			"post":{"operationId":"c","parameters":[{"name":"x","in":"query","content":{"application/json":{"schema":{"type":"object"}}}}],
			"requestBody":{"$ref":"#/components/requestBodies/B"}}}},
			"components":{"pathItems":{"a":{"head":{"operationId":"a"}}},"parameters":{"one":{"$ref":"#/components/parameters/t%77o"},"two":{"name":"id","in":"path","required":true}},
			"requestBodies":{"B":{"required":true,"content":{"Application/JSON":{"schema":{}}}}}}}`,
			`a = HEAD /a
b = GET /b/{id}
  path id simple explode=false required=true 
  query x form explode=true required=false {"type":"object"}
c = POST /b/{id}
  path id simple explode=false required=true {"type":"string"}
  query x form explode=true required=false {"type":"object"}
  body required=true
    application/json {}
! POST /b/{id}: the path parameter id is not declared. It is taken for text
`},
		{"Swagger 2.0", `{"swagger":"2.0","info":{},"consumes":["application/xml"],"produces":["text/plain"],"paths":{"/pets/{id}":{
			"post":{"operationId":"a","parameters":[{"in":"path","name":"id","type":"integer","required":true},{"in":"query","name":"tags","type":"array","items":{"type":"string"},"collectionFormat":"multi"},
				{"in":"query","name":"ids","type":"array","collectionFormat":"pipes"},{"in":"header","name":"X","type":"array"},{"in":"body","name":"b","required":true,"schema":{"$ref":"#/definitions/Pet"}}],
				"responses":{"200":{"schema":{"$ref":"#/definitions/Pet"}},"204":{}}},
			"put":{"operationId":"b","consumes":["multipart/form-data"],"parameters":[{"in":"path","name":"id","type":"string"},{"in":"formData","name":"f","type":"file","required":true,"description":"a \"file\""},{"in":"formData","name":"n","type":"string"}]}}},
			"definitions":{"Pet":{"type":"object"}}}`,
			`a = POST /pets/{id}
  path id simple explode=false required=true {"in":"path","name":"id","type":"integer","required":true}
  query tags form explode=true required=false {"in":"query","name":"tags","type":"array","items":{"type":"string"},"collectionFormat":"multi"}
  query ids pipeDelimited explode=false required=false {"in":"query","name":"ids","type":"array","collectionFormat":"pipes"}
  header X simple explode=false required=false {"in":"header","name":"X","type":"array"}
  body required=true
    application/xml {"$ref":"#/definitions/Pet"}
  200 text/plain {"$ref":"#/definitions/Pet"}
  204
b = PUT /pets/{id}
  path id simple explode=false required=true {"in":"path","name":"id","type":"string"}
  body required=true
    multipart/form-data {"type":"object","properties":{"f":{"type":"string","format":"binary","description":"a \"file\""},"n":{"in":"formData","name":"n","type":"string"}},"required":["f"]}
`},
		{"duplicate names", head30 + `"paths":{"/a":{"get":{"operationId":"first"},"get":{"operationId":"last"}}}}`,
			"last = GET /a\n! /paths/~1a/get: appears twice. The last one counts\n"},
		{"YAML", "openapi: 3.1.0\npaths:\n  /a/{n}:\n    parameters: &p\n      - {name: n, in: path, required: true, schema: {type: integer, maximum: 9223372036854775807}}\n" +
			"    get: &g\n      operationId: one\n      responses: {200: {description: ok}, default: {}}\n    put:\n      <<: *g\n      operationId: two\n      parameters: *p\n",
			`one = GET /a/{n}
  path n simple explode=false required=true {"type":"integer","maximum":9223372036854775807}
  200
  default
two = PUT /a/{n}
  path n simple explode=false required=true {"type":"integer","maximum":9223372036854775807}
  200
  default
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tellAll(load(t, tt.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLoadRefuses checks that an invalid document is refused with the reason.
func TestLoadRefuses(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "the document is empty: unexpected EOF"},
		{"{}", `not an OpenAPI document: it needs "openapi": "3.0…" or "3.1…", or "swagger": "2.0"`},
		{`{"openapi":"4.0.0"}`, "not an OpenAPI document"},
		{`{"swagger":"1.2"}`, "not an OpenAPI document"},
		{`{"openapi":"3.0.0","paths":[]}`, "/paths must be an object"},
		{`{"openapi":"3.0.0"`, "unexpected EOF"},
		{`{"openapi":"3.0.0"} {}`, "more text after the document, at byte 19"},
		{strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600), "nested deeper than 500 at byte 2500"},
		{"a: b\n c: d", "not a JSON or YAML document"},
		{"openapi: 3.0.0\nx: &a [*a, *a]", "line 2: nested deeper than 500"},
		{"? [1]\n: 2", "line 1: a name must be text"},
		{"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
			"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f]", "its aliases make it too large"},
	} {
		_, err := Load([]byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) || problem.CodeOf(err) != problem.InvalidArgument {
			t.Errorf("%.60q: %v, want %s", tt.in, err, tt.want)
		}
	}
}

// TestServers checks the base URLs in every dialect.
func TestServers(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{`{"openapi":"3.0.0","servers":[{"url":"https://{region}.x.test:{port}/v2","variables":{"region":{"default":"eu"},"port":{"default":8443}}},{"url":"/api"}]}`,
			[]string{"https://eu.x.test:8443/v2", "/api"}},
		{`{"swagger":"2.0","host":"x.test","basePath":"/v1/","schemes":["http","ws","https"]}`, []string{"https://x.test/v1", "http://x.test/v1"}},
		{`{"swagger":"2.0","host":"x.test"}`, []string{"https://x.test"}},
		{`{"swagger":"2.0","basePath":"/v1"}`, []string{"/v1"}},
		{`{"openapi":"3.1.0"}`, nil},
	} {
		if got := load(t, tt.in).Servers; !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestNames checks the names of schemas and the targets of references.
func TestNames(t *testing.T) {
	d := load(t, head30+`"components":{"schemas":{"def-0":{"title":"Team","type":"object"},"def-1":{"title":"Twin"},"def-2":{"title":"Twin"},
		"def-3":{"title":"a.B"},"a.B":{"title":"ignored","properties":{"t":{"$ref":"#/components/schemas/def-0","description":"beside"},"x":{"$ref":"#/gone"}}},"def-4":{}}}}`)
	if want := []string{"Team", "def-1", "def-2", "def-3", "a.B", "def-4"}; !slices.Equal(d.Names(), want) {
		t.Errorf("%q, want %q", d.Names(), want)
	}
	s := d.Schema(Raw(`{"$ref":"#/components/schemas/a.B"}`))
	team, gone := d.Schema(s.Properties[0].Schema), d.Schema(s.Properties[1].Schema)
	if s.Name != "a.B" || team.Name != "Team" || team.Description != "beside" || !gone.Missing || ShortName(s.Name) != "B" {
		t.Errorf("%+v %+v %+v", s, team, gone)
	}
	if got := d.NameOf("#/components/schemas/def-0"); got != "Team" || d.SchemaRef("Team") == nil || d.SchemaRef("def-0") != nil {
		t.Errorf("%q", got)
	}
}

// TestYAMLNumbers checks that numbers keep their value.
func TestYAMLNumbers(t *testing.T) {
	raw, err := readYAML([]byte("[12345678901234567890123, 0x1F, 1_000, .5, 1e3, 1.10, -0.0, +7, 0o17, .inf, ~, true, 'no', yes, 2020-01-01, !!str 5, \"\\u00e9\"]"))
	want := `[12345678901234567890123,31,1000,0.5,1e3,1.10,-0.0,7,15,".inf",null,true,"no","yes","2020-01-01","5","é"]`
	if string(raw) != want || err != nil {
		t.Errorf("%s %v\nwant %s", raw, err, want)
	}
}
