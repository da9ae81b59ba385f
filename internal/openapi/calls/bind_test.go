package calls_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// bodies is an API whose operations take bodies in several forms.
const bodies = `{"openapi": "3.0.0", "paths": {
"/m": {"post": {"operationId": "make", "requestBody": {"required": true, "content": {
    "application/json": {"schema": {"$ref": "#/components/schemas/New"}},
    "application/x-www-form-urlencoded": {"schema": {"$ref": "#/components/schemas/New"}},
    "application/xml": {"schema": {"$ref": "#/components/schemas/New"}},
    "application/yaml": {"schema": {"$ref": "#/components/schemas/New"}},
    "text/plain": {"schema": {"type": "string"}},
    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}, "responses": {"200": {"description": "ok"}}},
  "put": {"operationId": "open", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "additionalProperties": true, "properties": {"team": {"type": "string"}}, "nullable": true}}}}, "responses": {"200": {"description": "ok"}}},
  "patch": {"operationId": "change", "requestBody": {"required": true, "content": {
    "application/json-patch+json": {"schema": {"type": "array", "items": {}}},
    "application/merge-patch+json": {"schema": {"$ref": "#/components/schemas/New"}}}}, "responses": {"200": {"description": "ok"}}}},
"/several": {"post": {"operationId": "several", "requestBody": {"content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/New"}}}}}, "responses": {"200": {"description": "ok"}}}},
"/all": {"get": {"operationId": "all", "parameters": [{"name": "filter", "in": "query", "schema": {"type": "object", "properties": {"name": {"type": "string"}, "team": {"type": "string"}}}}],
    "responses": {"200": {"description": "ok"}}},
  "post": {"operationId": "form", "requestBody": {"content": {"application/x-www-form-urlencoded": {"encoding": {"more": {"style": "form", "explode": true}},
    "schema": {"type": "object", "properties": {"team": {"type": "string"}, "more": {"type": "object", "additionalProperties": {"type": "string"}}}}}}}, "responses": {"200": {"description": "ok"}}}},
"/note": {"get": {"operationId": "find", "parameters": [{"name": "team", "in": "query", "schema": {"type": "string"}},
    {"name": "filter", "in": "query", "schema": {"type": "object", "additionalProperties": {"type": "string"}}},
    {"name": "deep", "in": "query", "style": "deepObject", "schema": {"type": "object", "additionalProperties": {"type": "string"}}}], "responses": {"200": {"description": "ok"}}},
  "post": {"operationId": "note", "parameters": [{"name": "team", "in": "query", "schema": {"type": "string"}}],
  "requestBody": {"content": {"text/plain": {"schema": {"type": "string"}}}}, "responses": {"200": {"description": "ok"}}}}},
"components": {"schemas": {"New": {"type": "object", "properties": {"name": {"type": "string"}, "team": {"type": "string"}, "hush": {"type": "string"}}}}}}`

// TestBodies checks that neither the form of a body nor the spelling of its names leads around a parameter rule, or to a hidden field.
func TestBodies(t *testing.T) {
	d, err := spec.Load([]byte(bodies))
	if err != nil {
		t.Fatal(err)
	}
	rules := calls.Rules{Document: d, Parameters: []calls.Parameter{{Name: "team", Is: "principal.tenant"}}, Hidden: []calls.Hidden{{Fields: []string{"hush"}}}}
	all, err := calls.New(map[string]calls.Rules{"flow": rules}, expression.NewCompiler())
	if err != nil {
		t.Fatal(err)
	}
	p := agent("t1", identity.Read, identity.Write)
	const chosen = "permission_denied parameter_rule /body the body is an object here: its team is not one that you choose"
	change := func(at string) string {
		return "permission_denied parameter_rule " + at + " this would change team, which is not one that you choose"
	}
	not := func(at string) string {
		return "permission_denied parameter_rule " + at + " this team is not one that you may use"
	}
	for _, row := range []struct{ operation, args, want string }{
		{"make", `{"body": {"name": "a"}}`, `POST /m {"name":"a","team":"t1"}`},
		{"make", `{"body": {"name": "a"}, "media": "application/x-www-form-urlencoded"}`, `POST /m name=a&team=t1`},
		{"make", `{"body": {"name": "a"}, "media": "application/yaml"}`, `POST /m {"name":"a","team":"t1"}`},
		{"make", `{"body": {"name": "a"}, "media": "application/xml"}`, "invalid_argument schema /body the body must be a text, not an object"},
		{"make", `{"body": "<New><team>t2</team></New>", "media": "application/xml"}`, chosen},
		{"make", `{"body": "team: t2", "media": "application/yaml"}`, chosen},
		{"make", `{"body": "{\"team\": \"t2\"}", "media": "text/plain"}`, chosen},
		{"make", `{"body": "{\"team\": \"t2\"}"}`, chosen},
		{"make", `{"body": "eyJ0ZWFtIjoidDIifQ==", "media": "application/octet-stream"}`, chosen},
		{"make", `{"body": 5}`, chosen},
		{"make", `{"body": {"team": "t2"}, "media": "application/yaml"}`, not("/body/team")},
		{"make", `{"body": {"name": "a", "hush": "x"}}`, `invalid_argument schema /body/hush unknown field "hush". It takes name, team`},
		{"make", `{"body": {"name": "a", "hush": "x"}, "media": "application/yaml"}`, `invalid_argument schema /body/hush unknown field "hush". It takes name, team`},
		{"make", `{"body": {"name": "a", "none": "x"}, "media": "application/yaml"}`, `invalid_argument schema /body/none unknown field "none". It takes name, team`},
		{"open", `{"body": {"Team": "t2"}}`, not("/body/Team")},
		{"open", `{"body": {"team[0]": "t2"}}`, not("/body/team[0]")},
		{"open", `{"body": {"TEAM": "t1"}}`, `PUT /m {"TEAM":"t1","team":"t1"}`},
		{"open", `{"body": {"teams": "t2"}}`, `PUT /m {"teams":"t2","team":"t1"}`},
		{"open", `{"body": null}`, `PUT /m {"team":"t1"}`},
		{"open", `{}`, `PUT /m {"team":"t1"}`},
		{"several", `{"body": [{"name": "a"}, {"name": "b", "team": "t1"}]}`, `POST /several [{"name":"a","team":"t1"},{"name":"b","team":"t1"}]`},
		{"several", `{"body": [{"team": "t2"}]}`, not("/body/0/team")},
		{"change", `{"body": {"name": "a"}}`, `PATCH /m {"name":"a","team":"t1"}`},
		{"change", `{"body": [{"op": "replace", "path": "/name", "value": "a"}, {"op": "add", "path": "/team", "value": "t1"}, {"op": "remove", "path": "/names/team"}]}`,
			`PATCH /m [{"op":"replace","path":"/name","value":"a"},{"op":"add","path":"/team","value":"t1"},{"op":"remove","path":"/names/team"}]`},
		{"change", `{"body": [{"op": "replace", "path": "/team", "value": "t2"}]}`, not("/body/0/value")},
		{"change", `{"body": [{"op": "test", "path": "/team", "value": "t2"}]}`, not("/body/0/value")},
		{"change", `{"body": [{"op": "remove", "path": "/team"}]}`, change("/body/0/path")},
		{"change", `{"body": [{"op": "add", "path": "/team/id", "value": "t1"}]}`, change("/body/0/path")},
		{"change", `{"body": [{"op": "add", "path": "/TEAM", "value": "t2"}]}`, change("/body/0/path")},
		{"change", `{"body": [{"op": "replace", "path": "", "value": {"team": "t2"}}]}`, change("/body/0/path")},
		{"change", `{"body": [{"op": "move", "from": "/team", "path": "/name"}]}`, change("/body/0/from")},
		{"change", `{"body": [{"op": "copy", "from": "/name", "path": "/team"}]}`, change("/body/0/path")},
		{"change", `{"body": [{"op": "copy", "from": "/name", "path": "/team", "value": "t1"}]}`, change("/body/0/path")},
		{"change", `{"body": ["x"]}`, change("/body/0/path")},
		{"change", `{"body": [{"op": "add", "path": "/", "value": {"team": "t2"}}]}`, change("/body/0/path")},
		{"change", `{"body": [{"op": "add", "path": "//team", "value": "t1"}]}`, change("/body/0/path")},
		{"change", `{"body": [{"op": "add", "path": "/0/team", "value": "t2"}]}`, not("/body/0/value")},
		{"change", `{"body": [{"op": "add", "path": "/-", "value": {"Team": "t2"}}]}`, not("/body/0/value/Team")},
		{"change", `{"body": [{"op": "add", "path": "/name", "Path": "/team", "value": "t2"}]}`,
			`invalid_argument schema /body/0/Path unknown member of an operation "Path". Did you mean path?`},
		{"change", `{"body": {"op": "add", "path": "/team", "value": "t2"}, "media": "application/json-patch+json"}`,
			`invalid_argument schema /body a JSON Patch must be a list of operations: [{"op", "path", "value"}], not an object`},
		{"open", `{"body": {"te_am": "t2"}}`, not("/body/te_am")},
		{"open", `{"body": {" team": "t2"}}`, not("/body/ team")},
		{"open", `{"body": {"team.id": "t2"}}`, not("/body/team.id")},
		{"open", `{"body": {"_": "t2"}}`, `PUT /m {"_":"t2","team":"t1"}`},
		{"note", `{"body": "a text"}`, `POST /note?team=t1 a text`},
		// Members of an object that are sent under their own names.
		{"find", `{"query": {"filter": {"team": "t2"}}}`, not("/query/filter/team")},
		{"find", `{"query": {"filter": {"Team": "t2"}}}`, not("/query/filter/Team")},
		{"find", `{"query": {"filter": {"name": "a"}}}`, `GET /note?team=t1&name=a`},
		{"find", `{"query": {"deep": {"team": "t2"}}}`, `GET /note?team=t1&deep[team]=t2`},
		{"all", `{}`, `GET /all?team=t1`},
		{"all", `{"query": {"filter": {"team": "t2"}}}`, not("/query/filter/team")},
		{"all", `{"query": {"filter": {"name": "a"}}}`, `GET /all?name=a&team=t1`},
		{"form", `{"body": {"more": {"team": "t2"}}}`, not("/body/more/team")},
		{"form", `{"body": {"more": {"name": "a"}}}`, `POST /all name=a&team=t1`},
	} {
		if got := tried(all, p, calls.Request{Operation: row.operation, Writes: row.operation != "find" && row.operation != "all"}, object(t, row.args)); got != row.want {
			t.Errorf("%s %s\n got %s\nwant %s", row.operation, row.args, got, row.want)
		}
	}
}

// TestHiddenInBodies checks that neither a text nor a JSON Patch reaches a field that is hidden, and that both are taken where none is.
func TestHiddenInBodies(t *testing.T) {
	const api = `{"openapi": "3.0.0", "paths": {
"/m": {"get": {"operationId": "read", "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/New"}}}}}},
  "post": {"operationId": "make", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/New"}},
    "application/xml": {"schema": {"$ref": "#/components/schemas/New"}}, "text/plain": {"schema": {"type": "string"}}, "application/octet-stream": {}}}, "responses": {"200": {"description": "ok"}}},
  "patch": {"operationId": "change", "requestBody": {"content": {"application/json-patch+json": {"schema": {"type": "array", "items": {}}}}}, "responses": {"200": {"description": "ok"}}}},
"/o": {"post": {"operationId": "open", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Open"}}, "multipart/form-data": {"schema": {"$ref": "#/components/schemas/Open"}}}},
  "responses": {"200": {"description": "ok"}}}},
"/f": {"post": {"operationId": "free", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "additionalProperties": true}}}}, "responses": {"200": {"description": "ok"}}}},
"/p": {"patch": {"operationId": "other", "requestBody": {"content": {"application/json-patch+json": {"schema": {}}, "application/merge-patch+json": {"schema": {"$ref": "#/components/schemas/New"}}}}, "responses": {"200": {"description": "ok"}}}},
"/n": {"get": {"operationId": "find", "parameters": [{"name": "filter", "in": "query", "schema": {"type": "object", "additionalProperties": {"type": "string"}}}], "responses": {"200": {"description": "ok"}}},
  "patch": {"operationId": "blind", "requestBody": {"content": {"application/json-patch+json": {"schema": {"type": "array", "items": {}}}}}, "responses": {"200": {"description": "ok"}}}}},
"components": {"schemas": {"Open": {"type": "object", "additionalProperties": true, "properties": {"name": {"type": "string"}, "hush": {"type": "string"}}},
  "New": {"type": "object", "properties": {"name": {"type": "string"}, "hush": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}}},
  "Part": {"type": "object", "properties": {"n": {"type": "string"}, "sly": {"type": "string"}}}}}}`
	d, err := spec.Load([]byte(api))
	if err != nil {
		t.Fatal(err)
	}
	p := agent("t1", identity.Read, identity.Write)
	unknown := func(at, name, has string) string {
		return "invalid_argument schema " + at + "/" + name + ` unknown field "` + name + `". It takes ` + has
	}
	parts := func(key string) string {
		return "invalid_argument schema /body/0/" + key + " this can only be copied, moved or tested in parts: name each field"
	}
	const text = "invalid_argument schema /body the body must be an object, by field name, because a text can't be checked"
	for _, row := range []struct{ operation, args, hidden, open string }{ // what is answered where fields are hidden, and where none is
		{"make", `{"body": "<New/>", "media": "application/xml"}`, text, "POST /m <New/>"},
		{"make", `{"body": "{}", "media": "text/plain"}`, text + "; this is JSON in a text: give the value itself", "POST /m {}"},
		{"make", `{"body": "a text", "media": "text/plain"}`, "POST /m a text", "POST /m a text"},
		{"make", `{"body": "{hush: 1}", "media": "text/plain"}`, text, "POST /m {hush: 1}"},
		{"make", `{"body": "\ufeff {}", "media": "text/plain"}`, text, "POST /m \ufeff {}"},
		{"make", `{"body": "/**/{}", "media": "text/plain"}`, text, "POST /m /**/{}"},
		{"make", `{"body": "e30=", "media": "application/octet-stream"}`, text, "POST /m {}"},                   // bytes that are JSON
		{"make", `{"body": "aGVsbG8=", "media": "application/octet-stream"}`, "POST /m hello", "POST /m hello"}, // bytes of no schema: a file
		{"open", `{"body": {"hush": "x"}}`, unknown("/body", "hush", "name"), `POST /o {"hush":"x"}`},
		{"open", `{"body": {"none": "x"}}`, unknown("/body", "none", "name"), `POST /o {"none":"x"}`}, // hidden and absent alike
		{"open", `{"body": {"Hush[0]": "x"}}`, unknown("/body", "Hush[0]", "name"), `POST /o {"Hush[0]":"x"}`},
		{"open", `{"body": {"none": "x"}, "media": "multipart/form-data"}`, unknown("/body", "none", "name"), ""},
		{"free", `{"body": {"a": [{"HUSH": "x"}]}}`, `invalid_argument schema /body/a/0/HUSH unknown field "HUSH". It takes none`, `POST /f {"a":[{"HUSH":"x"}]}`},
		{"free", `{"body": {"a": [{"sly": "x"}]}}`, `POST /f {"a":[{"sly":"x"}]}`, `POST /f {"a":[{"sly":"x"}]}`}, // hidden only in Part
		{"change", `{"body": [{"op": "add", "path": "", "value": {"hush": "x"}}]}`, unknown("/body/0/path", "hush", "name, parts"), ""},
		{"change", `{"body": [{"op": "add", "path": "", "value": {"name": "x"}}]}`, `PATCH /m [{"op":"add","path":"","value":{"name":"x"}}]`, ""},
		{"change", `{"body": [{"op": "add", "path": "hush", "value": "x"}]}`, `invalid_argument schema /body/0/path a JSON pointer must be a text that is empty or begins with "/", not the text "hush"`, ""},
		{"change", `{"body": [{"op": "add", "path": ["/hush"], "value": "x"}]}`, `invalid_argument schema /body/0/path a JSON pointer must be a text that is empty or begins with "/", not a list`, ""},
		{"change", `{"body": [{"op": "copy", "from": "", "path": "/name"}]}`, parts("from"), `PATCH /m [{"op":"copy","from":"","path":"/name"}]`},
		{"change", `{"body": [{"op": "move", "from": "/parts/0", "path": "/name"}]}`, parts("from"), `PATCH /m [{"op":"move","from":"/parts/0","path":"/name"}]`},
		{"change", `{"body": [{"op": "test", "path": "/parts/0", "value": {"n": "a"}}]}`, parts("path"), `PATCH /m [{"op":"test","path":"/parts/0","value":{"n":"a"}}]`},
		{"change", `{"body": [{"op": "copy", "from": "/parts/0/n", "path": "/name"}]}`, `PATCH /m [{"op":"copy","from":"/parts/0/n","path":"/name"}]`, ""},
		{"other", `{"body": [{"op": "add", "path": "/hush", "value": "x"}]}`, unknown("/body/0/path", "hush", "name, parts"), `PATCH /p [{"op":"add","path":"/hush","value":"x"}]`},
		{"blind", `{"body": [{"op": "add", "path": "/hush", "value": "x"}]}`, `invalid_argument schema /body/0/path/hush unknown field "hush". It takes none`, `PATCH /n [{"op":"add","path":"/hush","value":"x"}]`},
		{"make", `{"body": {"name": "a"}}`, `POST /m {"name":"a"}`, `POST /m {"name":"a"}`},
		{"find", `{"query": {"filter": {"hush": "guess"}}}`, `invalid_argument schema /query/filter/hush unknown field "hush". It takes none`, `GET /n?hush=guess`},
		{"find", `{"query": {"filter": {"none": "guess"}}}`, `GET /n?none=guess`, `GET /n?none=guess`},
		{"change", `{"body": [{"op": "test", "path": "/hush", "value": "guess"}]}`, unknown("/body/0/path", "hush", "name, parts"), `PATCH /m [{"op":"test","path":"/hush","value":"guess"}]`},
		{"change", `{"body": [{"op": "copy", "from": "/hush", "path": "/name"}]}`, unknown("/body/0/from", "hush", "name, parts"), `PATCH /m [{"op":"copy","from":"/hush","path":"/name"}]`},
		{"change", `{"body": [{"op": "add", "path": "/parts/0/sly", "value": "x"}]}`, unknown("/body/0/path/parts/0", "sly", "n"), `PATCH /m [{"op":"add","path":"/parts/0/sly","value":"x"}]`},
		{"change", `{"body": [{"op": "add", "path": "/parts/-", "value": {"sly": "x"}}]}`, unknown("/body/0/path/parts/0", "sly", "n"), `PATCH /m [{"op":"add","path":"/parts/-","value":{"sly":"x"}}]`},
		{"change", `{"body": [{"op": "add", "path": "/none", "value": "x"}]}`, unknown("/body/0/path", "none", "name, parts"), ""},
		{"change", `{"body": [{"op": "replace", "path": "/name", "value": "x"}]}`, `PATCH /m [{"op":"replace","path":"/name","value":"x"}]`, `PATCH /m [{"op":"replace","path":"/name","value":"x"}]`},
		{"blind", `{"body": [{"op": "replace", "path": "/any", "value": "x"}]}`, `PATCH /n [{"op":"replace","path":"/any","value":"x"}]`, `PATCH /n [{"op":"replace","path":"/any","value":"x"}]`},
	} {
		for _, hidden := range [][]calls.Hidden{{{Fields: []string{"hush", "Part.sly"}}}, nil} {
			want := row.hidden
			if hidden == nil {
				want = row.open
			}
			all, err := calls.New(map[string]calls.Rules{"flow": {Document: d, Hidden: hidden}}, expression.NewCompiler())
			if err != nil {
				t.Fatal(err)
			}
			if got := tried(all, p, calls.Request{Operation: row.operation, Writes: row.operation != "find"}, object(t, row.args)); got != want && want != "" {
				t.Errorf("%s %s, %v hidden\n got %s\nwant %s", row.operation, row.args, hidden, got, want)
			}
		}
	}
}
