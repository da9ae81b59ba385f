package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/policy"
)

const flow = `{"openapi": "3.0.3", "info": {"title": "Flow", "version": "1"}, "components": {"schemas": {"Team": {"type": "object"}}},
"paths": {"/teams/{teamId}": {"parameters": [{"name": "teamId", "in": "path", "required": true, "schema": {"type": "string"}}],
  "get": {"operationId": "getTeam", "tags": ["Teams"], "responses": {"200": {"description": "ok"}}},
  "put": {"operationId": "setTeam", "responses": {"200": {"description": "ok"}}}}}}`

// withFlow returns a folder that contains flow.json and the given files, as pairs of name and text.
func withFlow(t *testing.T, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(more); i += 2 {
		put(t, filepath.Join(dir, more[i]), more[i+1])
	}
	put(t, filepath.Join(dir, "flow.json"), flow)
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const flowSource = "sources: {flow: {openapi: {document: flow.json, base_url: https://flow.example}}}\n"

// TestAPIFaults checks the faults of each text, without excerpts.
func TestAPIFaults(t *testing.T) {
	dir := withFlow(t, "broken.json", `{"openapi": "3.0.3", "paths": {`, "other.json", `{"a": 1}`)
	source := func(keys string) string {
		return "sources: {flow: {openapi: {document: flow.json, base_url: https://flow.example, " + keys + "}}}\n"
	}
	cred := func(c string) string { return source("credential: " + c) }
	for _, row := range []struct{ text, want string }{
		{"sources: {flow: {openapi: {document: flow.jsn, base_url: https://x.example}}}", "1:38: sources.flow.openapi.document: the document flow.jsn can't be read: no such file or directory"},
		{"sources: {flow: {openapi: {document: ., base_url: https://x.example}}}", "1:38: sources.flow.openapi.document: the document . can't be read: it is not an ordinary file"},
		{"sources: {flow: {openapi: {document: broken.json, base_url: https://x.example}}}", "1:38: sources.flow.openapi.document: the document is not right: not a JSON or YAML document: jsontext: unexpected EOF within \"/paths\" after offset 31"},
		{"sources: {flow: {openapi: {document: other.json, base_url: https://x.example}}}", `1:38: sources.flow.openapi.document: the document is not right: not an OpenAPI document: it needs "openapi": "3.0…" or "3.1…", or "swagger": "2.0"`},
		{"sources: {flow: {openapi: {document: 'http://x.example/a.json', base_url: https://x.example}}}", "1:38: sources.flow.openapi.document: must be a file, or a URL that begins with https://. http:// only on this machine (127.0.0.1, localhost)"},
		{"sources: {flow: {openapi: {document: 'https://u:p@x.example/a.json', base_url: https://x.example}}}", "1:38: sources.flow.openapi.document: must be a URL such as https://app.example/openapi.json, without user and password"},
		{"sources: {flow: {openapi: {document: flow.json}}}", "1:27: sources.flow.openapi: needs the key base_url"},
		{"sources: {flow: {openapi: {document: flow.json, base_url: 'https://u:p@x.example'}}}", "1:59: sources.flow.openapi.base_url: holds a name or a password. Give these as a credential"},
		{"sources: {flow: {url: 'sqlite:x', openapi: {document: flow.json, base_url: https://x.example}}}", "1:35: sources.flow.openapi: the source has url already, and is one thing"},
		{"sources: {flow: {tables: {only: [a]}, openapi: {document: flow.json, base_url: https://x.example}}}", "1:18: sources.flow.tables: only databases have it. Take it out"},
		{"sources: {flow: {openapi: {document: flow.json, base_url: 'http://flow.example', credential: {bearer: t}}}}", "1:49: sources.flow.openapi.base_url: base_url would send the credential over http, where the network can read it: use https://, or write plain_http: true"},
		{source("credential: {oauth: {token_url: 'http://flow.example/t', client_id: a, client_secret: t}}"), "1:102: sources.flow.openapi.credential.oauth.token_url: token_url would send the credential over http, where the network can read it: use https://, or write plain_http: true"},
		{source("timeout: 1h"), "1:90: sources.flow.openapi.timeout: must be a duration from 1s to 5m, such as 30s, 5m, 12h or 90d"},
		{source("packs: [~/packs]"), "1:89: sources.flow.openapi.packs.0: ~ is not expanded. Write ${HOME} for it"},
		{source("credential: {bearer: t}, credentials: {a: {bearer: u}}"), "1:81: sources.flow.openapi.credential: credential and credentials exclude each other: move this one into credentials, under the name of its security scheme"},
		{source("headers: {Host: a}"), "1:97: sources.flow.openapi.headers.Host: is not the name of a header that requests may carry always"},
		{source("headers: {'a b': a}"), "1:98: sources.flow.openapi.headers.a b: is not the name of a header that requests may carry always"},
		{source("tls: {certificate: a.pem}"), "1:86: sources.flow.openapi.tls: certificate and key go together"},
		{source("tls: {ca: '-----BEGIN CERTIFICATE-----'}"), "1:91: sources.flow.openapi.tls.ca: must be the path of a file, not what it holds"},
		{"sources: {flow: {openapi: {document: flow.json, base_url: 'http://127.0.0.1:8080', tls: {ca: ca.pem}}}}\n", "1:84: sources.flow.openapi.tls: goes with a base_url that begins with https://"},
		{"sources: {flow: {openapi: {document: flow.json, base_url: 'http://flow.example', headers: {X-Key: t}}}}\n", "1:49: sources.flow.openapi.base_url: base_url would send the credential over http, where the network can read it: use https://, or write plain_http: true"},
		{source("downloads: ['*']"), "1:93: sources.flow.openapi.downloads.0: must be a host such as files.example, or *.files.example for those below it"},
		{source("downloads: ['*.com']"), "1:93: sources.flow.openapi.downloads.0: must be a host such as files.example, or *.files.example for those below it"},
		{source("downloads: ['https://files.example']"), "1:93: sources.flow.openapi.downloads.0: must be a host such as files.example, or *.files.example for those below it"},
		{source("servers: {files.example: {}}"), "1:91: sources.flow.openapi.servers.files.example: a server is an address such as https://files.example/v1, and this must begin with https:// or http://"},
		{source("servers: {'http://files.example': {credential: {bearer: t}}}"), "1:91: sources.flow.openapi.servers.http://files.example: the server would send the credential over http, where the network can read it: use https://, or write plain_http: true"},
		{source("credentials: {a: {oauth: {token_url: 'http://flow.example/t', client_id: a, client_secret: t}}}"), "1:107: sources.flow.openapi.credentials.a.oauth.token_url: token_url would send the credential over http, where the network can read it: use https://, or write plain_http: true"},
		{cred("{}"), "1:93: sources.flow.openapi.credential: needs one of bearer, header, basic, query, cookie, oauth, person or per_principal"},
		{cred("{bearer: a, basic: {user: a, password: b}}"), "1:105: sources.flow.openapi.credential.basic: the credential is bearer already, and is one thing"},
		{cred("{baerer: a}"), `1:94: sources.flow.openapi.credential: unknown key "baerer". Did you mean bearer?`},
		{cred("{person: {authorize_url: 'https://l.example/a', token_url: 'https://l.example/t', client_id: g}}"),
			`1:94: sources.flow.openapi.credential.person: needs the section accounts with a key, which seals people's tokens in the store: accounts: {key: "${ACCOUNTS_KEY}"}`},
		{cred("{person: {authorize_url: 'https://l.example/a', token_url: 'http://l.example/t', client_id: g}}") + "accounts: {key: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}",
			"1:141: sources.flow.openapi.credential.person.token_url: token_url would send the credential over http, where the network can read it: use https://, or write plain_http: true"},
		{cred("{person: {authorize_url: 'https://l.example/a', token_url: 'https://l.example/t', client_id: g, exchange: {client_id: h}}}") + "accounts: {key: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}",
			"1:199: sources.flow.openapi.credential.person.exchange: client_id and client_secret go together"},
		{flowSource + "accounts: {key: c2hvcnQ=}", "2:17: accounts.key: must be 32 bytes in base64, as `openssl rand -base64 32` prints them"},
		{cred(`{bearer: "a\nb"}`), "1:102: sources.flow.openapi.credential.bearer: must be one line, without spaces around it"},
		{cred("{header: {name: Host, value: a}}"), "1:109: sources.flow.openapi.credential.header.name: must be the name of a header, such as X-API-Key"},
		{cred("{per_principal: {by: claim, secrets: {a: b}}}"), "1:109: sources.flow.openapi.credential.per_principal: needs the key claim: the name of the claim"},
		{cred("{per_principal: {by: owner, claim: x, secrets: {a: b}}}"), "1:121: sources.flow.openapi.credential.per_principal.claim: goes with by: claim. Take it out"},
		{cred("{per_principal: {by: owner, secrets: {a: {per_principal: {}}}}}"), `1:135: sources.flow.openapi.credential.per_principal.secrets.a: unknown key "per_principal"`},
		{flowSource + "apis: {flew: {}}", `2:8: apis.flew: there is no source "flew" with openapi. Did you mean flow?`},
		{"sources: {db: {url: sqlite:x}}\napis: {db: {}}", "2:8: apis.db: the source is no HTTP API. Write classes"},
		{flowSource + "classes: {flow.Team: {}}", "2:11: classes.flow.Team: the source is an HTTP API, and has no classes. Write apis"},
		{flowSource + "apis: {flow: {access: [{class: forbidden, operations: [getTeam]}]}}", "2:24: apis.flow.access.0: needs the key reason: agents read it\n2:24: apis.flow.access.0: needs the key instead: agents read it"},
		{flowSource + "apis: {flow: {access: [{class: read, operations: [getTeam], reason: why}]}}", "2:61: apis.flow.access.0.reason: goes with class: forbidden. Take it out"},
		{flowSource + "apis: {flow: {access: [{class: reed, operations: [getTeam]}]}}", "2:32: apis.flow.access.0.class: must be read, write, destructive, excluded or forbidden. Did you mean read?"},
		{flowSource + "apis: {flow: {write: {read: allow}}}", `2:23: apis.flow.write: unknown key "read"`},
		{flowSource + "apis: {flow: {parameters: [{name: teamId, is: principal.tenent}]}}", `2:47: apis.flow.parameters.0.is: character 1 of the expression: a principal has no "tenent". Did you mean tenant? It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author`},
		// These faults require the document.
		{flowSource + "apis: {flow: {partial: [getTeam]}}", `2:25: apis.flow.partial.0: "getTeam" is not a PUT. Only a PUT replaces a whole resource. Remove it`},
		{flowSource + "apis: {flow: {access: [{operations: [x*, getTeam], class: read}]}}", `2:38: apis.flow.access.0.operations.0: no operation of the document is "x*"`},
		{flowSource + "apis: {flow: {access: [{tags: [Team], class: read}]}}", `2:32: apis.flow.access.0.tags.0: no operation of the document has the tag "Team". Did you mean Teams or teams?`},
		{flowSource + "apis: {flow: {shown: [getTeam, getTeams]}}", `2:32: apis.flow.shown.1: no operation of the document is "getTeams". Did you mean getTeam or setTeam?`},
		{flowSource + "apis: {flow: {hidden: [{schemas: [Team]}, {schemas: [Taem]}]}}", `2:54: apis.flow.hidden.1.schemas.0: the document has no schema "Taem". Did you mean Team?`},
		{flowSource + "apis: {flow: {hidden: [{fields: [id, Taem.id]}]}}", `2:38: apis.flow.hidden.0.fields.1: the document has no schema "Taem". Did you mean Team?`},
		{flowSource + "apis: {flow: {hidden: [{when: 'true'}]}}", "2:24: apis.flow.hidden.0: it names no operations, tags, schemas or fields"},
		{flowSource + "apis: {flow: {parameters: [{name: teamID, is: principal.tenant}]}}", `2:29: apis.flow.parameters.0.name: no operation has a parameter or a field of a body called "teamID". Did you mean teamId?`},
		{"sources: {flow: {openapi: {document: 'https://x.example/a.json', base_url: https://x.example}}}\napis: {flow: {}}", "1:28: sources.flow.openapi.document: there is no document"},
	} {
		c, err := config.Parse(filepath.Join(dir, "f.yaml"), []byte(row.text), env)
		var got []string
		if err == nil {
			for _, f := range compiledFaults(t, c) {
				got = append(got, line(f))
			}
		}
		if e, ok := errors.AsType[*config.Error](err); ok {
			for _, f := range e.Faults {
				got = append(got, line(f))
			}
		}
		if d := cmp.Diff(row.want, strings.Join(got, "\n")); d != "" {
			t.Errorf("%s\n%s", row.text, d)
		}
	}
}

func line(f config.Fault) string {
	return fmt.Sprintf("%d:%d: %s: %s", f.Line, f.Column, f.Path, f.Message)
}

// compiledFaults returns the faults that package policy finds in the rules of APIs, with their positions in the file.
func compiledFaults(t *testing.T, c *config.Config) []config.Fault {
	t.Helper()
	_, err := policy.New(c.Rules, nil)
	var out []config.Fault
	var walk func(error)
	walk = func(err error) {
		if f, ok := err.(*calls.RuleFault); ok {
			out = append(out, c.WrongAPI(f))
		} else if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				walk(e)
			}
		} else if err != nil {
			t.Error(err)
		}
	}
	walk(err)
	return out
}

// TestCovered checks that no excerpt contains a secret, for any fault.
func TestCovered(t *testing.T) {
	dir := withFlow(t)
	for _, row := range []struct{ credential, want string }{
		{`{baerer: hunter2, bearer: "${PG_PASSWORD}"}`, `credential: {baerer: *******, bearer: "${PG_PASSWORD}"}`},
		{`{header: {name: X-Key, valeu: "hunter \" 2"}}`, `credential: {header: {name: *****, valeu: *************}}`},
		{`{basic: {user: 'o''x', pasword: 12345, password: [a]}}`, `credential: {basic: {user: ******, pasword: *****, password: [*]}}`},
	} {
		text := "sources: {flow: {openapi: {document: flow.json, base_url: https://x.example,\n  credential: " + row.credential + "}}}\n"
		_, err := config.Parse(filepath.Join(dir, "f.yaml"), []byte(text), env)
		e, _ := errors.AsType[*config.Error](err)
		if e == nil {
			t.Errorf("%s: %v", row.credential, err)
			continue
		}
		if got := e.Faults[0].Excerpt; !strings.Contains(got, row.want+"}}}\n") || strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "12345") {
			t.Errorf("%s\n%s", row.credential, err)
		}
	}
}

// TestAPIRules checks that the version depends on the rules and the document's bytes, and that the state depends on
// the document's file.
func TestAPIRules(t *testing.T) {
	dir := withFlow(t)
	read := func(text string) *config.Config {
		c, err := config.Parse(filepath.Join(dir, "f.yaml"), []byte(text), env)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	put(t, filepath.Join(dir, "f.yaml"), flowSource+"apis: {flow: {}}")
	a, b := read(flowSource+"apis: {flow: {}}"), read(flowSource+"apis: {flow: {hidden: [{fields: [id]}]}}")
	if a.Rules.Version == b.Rules.Version || a.Rules.APIs["flow"].Document == nil {
		t.Error("the version doesn't tell of rules, or there is no document:", a.Rules.Version)
	}
	if got := strings.Join(a.APINames(), " "); got != "flow flow.getTeam flow.setTeam" {
		t.Error(got)
	}
	state := a.State()
	if state != a.Now() {
		t.Error("the state is another at once")
	}
	put(t, filepath.Join(dir, "flow.json"), strings.Replace(flow, "getTeam", "readTeam", 1))
	if state == a.Now() {
		t.Error("a changed document goes unseen")
	}
	if changed := read(flowSource + "apis: {flow: {}}"); changed.Rules.Version == a.Rules.Version {
		t.Error("another document is the same rules")
	}
	if unseen := read(flowSource); unseen.Rules.APIs != nil || len(unseen.Notes) != 1 || !strings.Contains(unseen.Notes[0], "agents see nothing of flow") {
		t.Error("an API that no rule names is seen:", unseen.Rules.APIs, unseen.Notes)
	}
	if seen := read(flowSource + "policy: {unlisted: visible}"); seen.Rules.APIs["flow"].Document == nil || seen.Notes != nil {
		t.Error("unlisted: visible shows no API:", seen.Notes)
	}
	put(t, filepath.Join(dir, "flow.json"), strings.Replace(flow, `"getTeam"`, `"getTeam", "parameters": [{"name": "x", "in": "path"}]`, 1))
	if odd := read(flowSource + "apis: {flow: {}}"); len(odd.Notes) != 1 || odd.Notes[0] != "sources.flow: the document: GET /teams/{teamId}: the path has no {x}. The parameter is left out" {
		t.Errorf("%q", odd.Notes)
	}
}

// TestFetch reads documents at URLs.
func TestFetch(t *testing.T) {
	const text = "sources: {flow: {openapi: {document: 'https://x.example/a.json', base_url: https://x.example}}}\napis: {flow: {}}"
	c := parsed(t, text)
	before := c.Rules.Version
	if err := c.Fetch(func(s config.Source) (config.Document, error) {
		url := s.OpenAPI.Document
		return config.FetchDocument(url, func(url string) ([]byte, error) {
			if url != "https://x.example/a.json" {
				t.Error(url)
			}
			return []byte(flow), nil
		})
	}); err != nil || c.Rules.APIs["flow"].Document == nil || c.Rules.Version == before {
		t.Error(err, c.Rules.Version == before)
	}
	for got, want := range map[string]string{
		"":  "f.yaml:1:28: sources.flow.openapi.document: no answer",
		"{": "f.yaml:1:28: sources.flow.openapi.document: the document is not right: not a JSON or YAML document",
	} {
		c := parsed(t, text)
		err := c.Fetch(func(s config.Source) (config.Document, error) {
			url := s.OpenAPI.Document
			return config.FetchDocument(url, func(string) ([]byte, error) {
				if got == "" {
					return nil, errors.New("no answer")
				}
				return []byte(got), nil
			})
		})
		e, _ := errors.AsType[*config.Error](err)
		if e == nil || !strings.HasPrefix(e.Faults[0].String(), want) || e.Document.State() != c.State() {
			t.Errorf("%q: %v", got, err)
		}
	}
}

// TestAPILists checks that lists of principals can contain APIs and operations.
func TestAPILists(t *testing.T) {
	names := config.Names{Classes: []string{"s.issues"}, APIs: []string{"flow", "flow.getTeam"}}
	got := names.Strays(identity.List{}, identity.List{Only: []string{"flow", "flow.getTeam", "flow.getTaem"}, Except: []string{"flew"}}, []string{"flow"})
	want := []config.Stray{
		{Path: []string{"classes", "only", "2"}, Message: `there is no class, API or operation "flow.getTaem". Did you mean flow.getTeam?`},
		{Path: []string{"classes", "except", "0"}, Message: `there is no class, API or operation "flew". Did you mean flow?`},
		{Path: []string{"filters", "flow"}, Message: `there is no class "flow"`},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestPacks checks the tools and the added rules of each source with packs, or the faults.
func TestPacks(t *testing.T) {
	dir := withFlow(t)
	if err := os.Mkdir(filepath.Join(dir, "packs"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "packs", "teams.yaml"), "tools:\n  - {name: get-team, description: d, annotations: {readOnly: true}, operation: getTeam, path: {teamId: x}}\n")
	put(t, filepath.Join(dir, "packs", "notes.txt"), "no tool")
	if err := os.Mkdir(filepath.Join(dir, "broken"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "broken", "teams.yaml"), "tools:\n  - {name: get-team, description: d, annotations: {readOnly: true}, operation: getTem}\n")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	source := func(keys string) string {
		return "sources: {flow: {openapi: {base_url: https://flow.example, " + keys + "}}}\napis: {flow: {}}\n"
	}
	const excerpt = "\n    2 |   - {name: get-team, description: d, annotations: {readOnly: true}, operation: getTem}\n      |                                                                     ^"
	for _, tt := range []struct{ text, want string }{
		{source("document: flow.json, packs: [./packs]"), "get-team; 2 operations"},
		{source("document: flow.json, packs: [packs/]"), "get-team; 2 operations"},
		{source("packs: [flowfuse]"), "18 tools; 20 operations; POST /api/v1/projects/check-name read"},
		{source("document: flow.json, packs: [flowfuse, ./packs]"), "19 tools; 22 operations; POST /api/v1/projects/check-name read"},
		{source("document: flow.json"), "2 operations"},
		{source("document: flow.json, packs: [./packs, packs/]"), "1:81: sources.flow.openapi.packs: the tool get-team of the pack packs is one of flow already"},
		{source("packs: [./packs]"), "1:27: sources.flow.openapi: needs the key document, or a pack that brings one"},
		{source("timeout: 1s"), "1:27: sources.flow.openapi: needs the key document, or a pack that brings one"},
		{source("packs: [flowfuze]"), `1:68: sources.flow.openapi.packs.0: the pack flowfuze is not right: there is no pack "flowfuze". The packs are flowfuse`},
		{source("document: flow.json, packs: [./empty]"), "1:89: sources.flow.openapi.packs.0: the pack ./empty is not right: there are no such files"},
		{source("document: flow.json, packs: [./broken]"), `1:81: sources.flow.openapi.packs: the pack broken is not right: broken/teams.yaml:2:69: tools.0.operation: the document has no operation "getTem". Did you mean getTeam or setTeam?` + excerpt},
	} {
		c, err := config.Parse(filepath.Join(dir, "f.yaml"), []byte(tt.text), nil)
		got := ""
		if e, ok := errors.AsType[*config.Error](err); ok {
			f := e.Faults[0]
			got = fmt.Sprintf("%d:%d: %s: %s", f.Line, f.Column, f.Path, f.Message)
		} else if err != nil {
			t.Fatal(err)
		} else {
			tools, rules := c.Packs["flow"], c.Rules.APIs["flow"]
			switch len(tools) {
			case 0:
			case 1:
				got = tools[0].Name + "; "
			default:
				got = fmt.Sprintf("%d tools; ", len(tools))
			}
			got += fmt.Sprintf("%d operations", len(rules.Document.Operations))
			for _, r := range rules.Access.Rules {
				got += fmt.Sprintf("; %s %s", strings.Join(r.Operations, ", "), r.Class)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s\n%s", tt.text, diff)
		}
	}
}

// TestAPIsDocument parses the example in docs/apis.md, with a document that has the operations in the example.
func TestAPIsDocument(t *testing.T) {
	doc, err := os.ReadFile("../../docs/apis.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	dir := t.TempDir()
	put(t, filepath.Join(dir, "app-openapi.json"), `{"openapi": "3.0.3", "info": {"title": "App", "version": "1"},
		"components": {"schemas": {"User": {"properties": {"email": {"type": "string"}}}, "Note": {"properties": {"internalNote": {"type": "string"}}}}}, "paths": {
		"/teams/{teamId}/archive": {"post": {"tags": ["Admin"], "parameters": [{"name": "teamId", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {}}},
		"/search": {"post": {"responses": {"200": {"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/User"}}}}}}},
		"/notes": {"get": {"responses": {"200": {"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Note"}}}}}}},
		"/tokens": {"post": {"responses": {}}}, "/users/{id}/role": {"put": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {}}}}}`)
	c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), []byte(example), func(name string) (string, bool) {
		return map[string]string{"APP_TOKEN": "token"}[name], name == "APP_TOKEN"
	})
	if !ok || err != nil {
		t.Fatal(err)
	}
	if faults := compiledFaults(t, c); len(faults) > 0 || len(c.Rules.APIs["app"].Access.Rules) != 3 || c.Sources[0].OpenAPI.Credential.Bearer != "token" {
		t.Errorf("%v %+v", faults, c.Rules.APIs["app"])
	}
}

// TestLargeState checks that the state of a configuration depends on its documents. A document is read again only if
// the system reports a change, and checking it doesn't keep it in memory.
func TestLargeState(t *testing.T) {
	dir := t.TempDir()
	file, doc := filepath.Join(dir, "f.yaml"), filepath.Join(dir, "flow.json")
	large := `{"openapi": "3.0.3", "paths": {}, "x-filler": "` + strings.Repeat("a", 8<<20) + `"}`
	old := time.Now().Add(-time.Hour)
	write := func(text string, at time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(doc, []byte(text), 0o600), os.Chtimes(doc, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	write(large, old)
	if err := os.WriteFile(file, []byte("sources: {flow: {openapi: {document: flow.json, base_url: https://flow.example}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		if c.Now() != c.State() {
			t.Fatal("nothing has changed")
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("ten looks at an unchanged document take %d KB", n>>10)
	}
	changed := strings.Replace(large, "aaa", "aba", 1) // with the same size
	for name, step := range map[string]struct {
		text string
		at   time.Time
		same bool
	}{
		"touched": {large, old.Add(time.Minute), true}, "changed": {changed, old.Add(2 * time.Minute), false}, "changed now": {changed, time.Now(), false},
		"changed, of tomorrow": {changed, time.Now().Add(24 * time.Hour), false}, "shorter": {large[:100], old, false},
	} {
		write(step.text, step.at)
		runtime.ReadMemStats(&before)
		if (c.Now() == c.State()) != step.same {
			t.Error(name)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%s: a look takes %d KB", name, n>>10)
		}
	}
	write(large, old)
	if c, err = config.Load(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(doc, doc+".old"); err != nil {
		t.Fatal(err)
	}
	write(changed, old)
	if c.Now() == c.State() {
		t.Error("another file of the same size and time is not seen")
	}
	write(large, time.Now()) // read while its modification time is too recent to be trusted
	if c, err = config.Load(file); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(doc)
	if err != nil {
		t.Fatal(err)
	}
	write(changed, info.ModTime())
	if c.Now() == c.State() {
		t.Error("a change within the resolution of the clock is not seen")
	}
	if err := os.Remove(doc); err != nil {
		t.Fatal(err)
	}
	if c.Now() == c.State() {
		t.Error("a document that is gone is not seen")
	}
}
