package response

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// components contains the schemas of all documents in these tests. Hidden are the schema Vault, every field named
// salary, Team.plan, Cat.chip, Setting.key and the undeclared Person.odd.
const components = `"components":{"schemas":{
	"Team":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"plan":{"type":"string"},"lead":{"$ref":"#/components/schemas/Person"},
		"members":{"type":"array","items":{"$ref":"#/components/schemas/Person"}},"vault":{"$ref":"#/components/schemas/Vault"},"children":{"type":"array","items":{"$ref":"#/components/schemas/Team"}}}},
	"Person":{"type":"object","properties":{"name":{"type":"string"},"salary":{"type":"number"},"pin":{"type":"string","writeOnly":true},"phrase":{"type":"string","format":"password"}}},
	"Boss":{"allOf":[{"$ref":"#/components/schemas/Person"},{"type":"object","properties":{"bonus":{"type":"number"},"plan":{"type":"string"}}}]},
	"Keeper":{"allOf":[{"$ref":"#/components/schemas/Vault"},{"type":"object","properties":{"name":{"type":"string"}}}]},
	"Locked":{"nullable":true,"allOf":[{"$ref":"#/components/schemas/Vault"}]},
	"Cat":{"type":"object","properties":{"kind":{"type":"string"},"name":{"type":"string"},"chip":{"type":"string"}}},
	"Dog":{"type":"object","properties":{"kind":{"type":"string"},"name":{"type":"string"},"chip":{"type":"string"},"tag":{"type":"string"}}},
	"Pet":{"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}]},
	"Thing":{"anyOf":[{"$ref":"#/components/schemas/Dog"},{"$ref":"#/components/schemas/Vault"}]},
	"Said":{"oneOf":[{"$ref":"#/components/schemas/Dog"},{"$ref":"#/components/schemas/Vault"}],"discriminator":{"propertyName":"kind","mapping":{"dog":"#/components/schemas/Dog","safe":"Vault"}}},
	"Vault":{"type":"object","properties":{"kind":{"type":"string"},"gold":{"type":"integer"}}},
	"Setting":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"string"}}},
	"ByName":{"type":"object","additionalProperties":{"$ref":"#/components/schemas/Person"}},
	"Page":{"type":"object","properties":{"items":{"type":"array","items":{"$ref":"#/components/schemas/Team"}},"total":{"type":"integer"},"next_cursor":{"type":"string","nullable":true}}},
	"Problem":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"salary":{"type":"string"}}}}}`

// seen returns a View of a document with the operation GET /x, whose response 200 has the given schema.
func seen(t testing.TB, schema, parameters string) (*spec.View, *spec.Operation) {
	t.Helper()
	if schema != "" {
		schema = fmt.Sprintf(`"content":{"application/json":{"schema":%s}},`, schema)
	}
	return viewed(t, fmt.Sprintf(`{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","parameters":[%s],"responses":{"200":{%s"description":""},
		"4XX":{"description":"","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Problem"}}}}}}}},%s}`, parameters, schema, components), hiding)
}

var hiding = spec.Filter{
	Schema: func(name string) bool { return name != "Vault" },
	Field: func(schema, field string) bool {
		return field != "salary" && schema+"."+field != "Team.plan" && schema+"."+field != "Cat.chip" && schema+"."+field != "Setting.key" && schema+"."+field != "Person.odd"
	},
}

func viewed(t testing.TB, text string, f spec.Filter) (*spec.View, *spec.Operation) {
	t.Helper()
	d, err := spec.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := spec.NewClassifier(d, spec.ClassOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v := spec.NewView(d, rules, f)
	if len(v.Operations()) == 0 {
		t.Fatal(d.Warnings)
	}
	return v, v.Operations()[0]
}

func ref(name string) string { return fmt.Sprintf(`{"$ref":"#/components/schemas/%s"}`, name) }

func ok(body string) *calls.HTTPResponse {
	return &calls.HTTPResponse{Status: 200, MediaType: "application/json", Header: http.Header{}, Body: []byte(body)}
}

func read(t testing.TB, text string) value.Value {
	t.Helper()
	if text == "" {
		return value.Value{}
	}
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// shown formats an answer as in the tables.
func shown(a *Answer, err error) string {
	if err != nil {
		p := problem.Of(err)
		out := p.Error()
		if p.Reply != nil {
			out += fmt.Sprintf(" %+v", *p.Reply)
		}
		if p.RetryAfter > 0 {
			out += " after " + p.RetryAfter.String()
		}
		return out
	}
	out := "none"
	if a.HasBody {
		out = string(a.Body.AppendJSON(nil))
	}
	if a.Link != nil {
		out = fmt.Sprintf("%s %q %d %s", a.Link.MediaType, a.Link.Name, a.Link.Size, a.Link.SHA256[:8])
	}
	if a.Of > 0 {
		out += fmt.Sprintf(" %d/%d", a.Shown, a.Of)
	}
	if a.Total != nil {
		out += fmt.Sprintf(" of %d", *a.Total)
	}
	if !a.Next.IsNull() {
		out += " next " + string(a.Next.AppendJSON(nil))
	}
	for _, n := range a.Notes {
		out += "\n" + n
	}
	return out
}

// TestHidden checks the visible part of each body, by schema.
func TestHidden(t *testing.T) {
	for _, tt := range []struct{ schema, body, want string }{
		{ref("Team"), `{"id":9007199254740993,"name":"a","plan":"p","extra":{"salary":1,"plan":"q"}}`, `{"id":9007199254740993,"name":"a","extra":{"plan":"q"}}`},
		{ref("Team"), `{"lead":{"name":"b","salary":1.10},"members":[{"salary":2},{"name":"c"}],"vault":{"gold":1}}`, `{"lead":{"name":"b"},"members":[{},{"name":"c"}]} 2/2`},
		{ref("Team"), `{"children":[{"children":[{"plan":"p","name":"d"}],"plan":"p"}]}`, `{"children":[{"children":[{"name":"d"}]}]} 1/1`},
		{ref("Person"), `{"name":"a","odd":1}`, `{"name":"a"}`},
		{ref("Person"), `[{"odd":1,"even":2}]`, `[{"even":2}] 1/1`},
		{ref("Setting"), `{"key":"password","value":"v"}`, `{"value":"v"}`},
		{`{"type":"object","properties":{"a":{"type":"string"}},"items":` + ref("Person") + `}`, `{"b":{"odd":1}}`, `{"b":{"odd":1}}`},
		{ref("Team"), `[{"id":1,"plan":"p"},{"plan":"q"}]`, `[{"id":1},{}] 2/2`},
		{`{"type":"array","items":` + ref("Team") + `}`, `{"teams":[{"id":1,"plan":"p"}]}`, `{"teams":[{"id":1}]} 1/1`},
		{`{"type":"array","items":` + ref("Vault") + `}`, `[{"gold":1}]`, `[]`},
		{ref("Vault"), `{"gold":1}`, `none`},
		{ref("Vault"), `null`, `none`},
		{`{}`, `{"gold":1,"salary":2}`, `{"gold":1}`},
		{ref("Boss"), `{"name":"e","salary":1,"bonus":2,"plan":"p","pin":"1"}`, `{"name":"e","bonus":2,"plan":"p"}`},
		{ref("Keeper"), `{"name":"f","gold":1}`, `{"name":"f"}`},
		{ref("Keeper"), `[{"name":"f","gold":1}]`, `none`},
		{ref("Locked"), `{"gold":1}`, `none`},
		{ref("Locked"), `"gold"`, `none`},
		{ref("Locked"), `null`, `null`},
		{ref("Pet"), `{"kind":"dog","chip":"x","tag":"t"}`, `{"kind":"dog","tag":"t"}`},
		{ref("Thing"), `{"kind":"dog"}`, `none`},
		{ref("Said"), `{"kind":"dog","name":"g"}`, `{"kind":"dog","name":"g"}`},
		{ref("Said"), `{"kind":"Dog"}`, `{"kind":"Dog"}`},
		{ref("Said"), `{"kind":"safe","gold":1}`, `none`},
		{ref("Said"), `{"kind":"Vault","gold":1}`, `none`},
		{ref("Said"), `{"gold":1}`, `none`},
		{`{"type":"array","items":` + ref("Said") + `}`, `[{"kind":"dog"},{"kind":"safe"},7]`, `[{"kind":"dog"}] 1/1`},
		{ref("ByName"), `{"ann":{"name":"h","salary":3},"bob":{"salary":4}}`, `{"ann":{"name":"h"},"bob":{}}`},
		{`{"type":"array","prefixItems":[` + ref("Person") + `]}`, `[{"salary":1,"name":"i"}]`, `[{"name":"i"}] 1/1`},
		{`{"type":"object","patternProperties":{"^x":` + ref("Vault") + `}}`, `{"xa":{"gold":1}}`, `{}`},
		{`{"properties":{"a":{"type":"string"}},"if":{"properties":{"a":{"const":"b"}}},"then":{"properties":{"c":` + ref("Vault") + `}}}`, `{"a":"b","c":{"gold":1}}`, `{"a":"b"}`},
		{``, `{"salary":1,"a":[[{"salary":2,"b":null}]],"c":1e400}`, `{"a":[[{"b":null}]],"c":1e400} 1/1`},
	} {
		v, op := seen(t, tt.schema, "")
		if got := shown(Make(v, op, ok(tt.body), Options{})); got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.schema, tt.body, got, tt.want)
		}
	}
}

// TestOtherStatus checks that a response with an undocumented status is filtered by all documented schemas.
func TestOtherStatus(t *testing.T) {
	v, op := seen(t, ref("Team"), "")
	r := ok(`{"id":1,"plan":"p"}`)
	r.Status = 203
	if got := shown(Make(v, op, r, Options{})); got != `{"id":1}` {
		t.Error(got)
	}
	if _, err := Make(&spec.View{}, op, r, Options{}); problem.CodeOf(err) != problem.NotFound {
		t.Error(err)
	}
}

// TestAnswered checks which schema applies to each status. It compares the visible part of one body. Person.odd,
// Cat.chip and Team.plan are hidden.
func TestAnswered(t *testing.T) {
	const body = `{"odd":1,"chip":2,"plan":3}`
	for _, tt := range []struct {
		responses string // several pairs of status and schema
		status    int
		want      string
	}{
		{"200 Person 2XX Cat default Team", 200, `{"chip":2,"plan":3}`},
		{"default Team 2XX Cat 200 Person", 200, `{"chip":2,"plan":3}`},
		{"200 Person 2XX Cat default Team", 202, `{"odd":1,"plan":3}`},
		{"200 Person 2xx Cat default Team", 202, `{"odd":1,"plan":3}`},
		{"201 Person 3XX Cat default Team", 200, `{"odd":1,"chip":2}`},
		{"default Team", 200, `{"odd":1,"chip":2}`},
		{"201 Cat 204 Team", 200, `{"odd":1}`},
		{"201 Cat 4XX Person", 200, `{"plan":3}`},
		{"", 200, body},
	} {
		var all []string
		fields := strings.Fields(tt.responses)
		for i := 0; i < len(fields); i += 2 {
			all = append(all, fmt.Sprintf(`%q:{"description":"","content":{"text/csv":{"schema":%s},"application/json":{"schema":%s}}}`, fields[i], ref("Dog"), ref(fields[i+1])))
		}
		v, op := viewed(t, fmt.Sprintf(`{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","responses":{%s}}}},%s}`, strings.Join(all, ","), components), hiding)
		r := ok(body)
		r.Status = tt.status
		if got := shown(Make(v, op, r, Options{})); got != tt.want {
			t.Errorf("%s: %d\n got %s\nwant %s", tt.responses, tt.status, got, tt.want)
		}
	}
}

// TestAbsent checks that a nil or unknown operation gives no answer.
func TestAbsent(t *testing.T) {
	v, op := seen(t, "", "")
	r := ok("{}")
	for i, err := range []error{second(Make(nil, op, r, Options{})), second(Make(v, nil, r, Options{})), second(Make(v, op, nil, Options{}))} {
		if problem.CodeOf(err) != problem.NotFound {
			t.Errorf("%d: %v", i, err)
		}
	}
	for _, tt := range []struct {
		status         int
		encoding, want string
	}{
		{304, "", "none"},
		{300, "", "upstream_error: the API answered with a redirect, which isn't followed: 300 Multiple Choices {Status:300 UpstreamCode: Message:}"},
		{199, "", "upstream_error: the API answered 199 {Status:199 UpstreamCode: Message:}"},
		{200, "identity", "none"},
		{200, "gzip", "upstream_error: the API answered in a content encoding that nobody asked for"},
	} {
		r := &calls.HTTPResponse{Status: tt.status, Header: http.Header{"Content-Encoding": {tt.encoding}}}
		if got := shown(Make(v, op, r, Options{})); got != tt.want {
			t.Errorf("%d %s\n got %s\nwant %s", tt.status, tt.encoding, got, tt.want)
		}
	}
}

func second(_ *Answer, err error) error { return err }

// TestNames checks which values are masked because of names, and the notes about them.
func TestNames(t *testing.T) {
	v, op := seen(t, ref("Team"), "")
	gone := func(name string) bool { return name == "internal" }
	for _, tt := range []struct{ body, want string }{
		{`{"apiKey":"k","API_KEY":"","a":{"client_secret":null,"b":[{"password":"p"}]},"token_count":3}`,
			`{"apiKey":"[masked]","API_KEY":"","a":{"client_secret":null,"b":[{"password":"[masked]"}]},"token_count":3}
masked, for their names are those of credentials: apiKey, password`},
		{`{"credentials":{"user":"u","port":1,"on":true},"otp":123456,"nextPageToken":"n","sync_token":"s"}`,
			`{"credentials":{"user":"[masked]","port":1,"on":true},"otp":"[masked]","nextPageToken":"n","sync_token":"s"}
masked, for their names are those of credentials: credentials, otp`},
		{`{"env":[{"name":"DB_PASSWORD","value":"v"},{"name":"HOST","value":"h"},{"key":"otp","value":1}]}`,
			`{"env":[{"name":"DB_PASSWORD","value":"[masked]"},{"name":"HOST","value":"h"},{"key":"otp","value":"[masked]"}]} 3/3
masked, for their names are those of credentials: DB_PASSWORD, otp`},
		{`{"JoinTokens":{"Worker":"a","Manager":"b"},"UnlockKey":"k","DATABASE_URL":"d","ssh_key":"s","kubeconfig":"c","tokens":["a",1],"auth":{"pass":"p"},"usage":{"tokens":7}}`,
			`{"JoinTokens":{"Worker":"[masked]","Manager":"[masked]"},"UnlockKey":"[masked]","DATABASE_URL":"[masked]","ssh_key":"[masked]","kubeconfig":"[masked]","tokens":["[masked]",1],"auth":{"pass":"[masked]"},"usage":{"tokens":7}} 2/2
masked, for their names are those of credentials: JoinTokens, UnlockKey, DATABASE_URL, ssh_key, kubeconfig, tokens, pass`},
		{`{"env":[{"key":"DB_PASS","value":"v"},{"name":"STRIPE_KEY","value":"w"}],"text":"A=1\nSTRIPE_KEY=x","list":["ghp_0123456789abcdef0123"],"url":"postgres://u:p@h/d"}`,
			`{"env":[{"key":"DB_PASS","value":"[masked]"},{"name":"STRIPE_KEY","value":"[masked]"}],"text":"A=1\nSTRIPE_KEY=[masked]","list":["[masked]"],"url":"postgres://[masked]@h/d"} 1/1
masked, for their names are those of credentials: DB_PASS, STRIPE_KEY
parts of 3 texts are masked, for they look like credentials`},
		{`{"lead":{"phrase":"p"},"internal":{"a":1},"x":{"internal":2}}`, `{"lead":{"phrase":"[masked]"},"x":{}}
masked, for their names are those of credentials: phrase`},
		{`{"credentials":{"salary":"1"}}`, `{"credentials":{}}`},
		{`{"a":{"token":"x"},"b":{"token":"y"}}`, `{"a":{"token":"[masked]"},"b":{"token":"[masked]"}}
masked, for their names are those of credentials: token`},
		{`[{"name":"password","value":"x","note":"y"},{"name":"password","note":"y"},{"name":5,"value":"x"},{"title":"password","value":"x"}]`,
			`[{"name":"password","value":"[masked]","note":"y"},{"name":"password","note":"y"},{"name":5,"value":"x"},{"title":"password","value":"x"}] 4/4
masked, for their names are those of credentials: password`},
		{`{"name":"` + strings.Repeat("password ", 12) + `","value":"x"}`, `{"name":"` + strings.Repeat("password ", 12) + `","value":"x"}`},
		{`{"secret":{"value":"x","name":"token"},"value":"y"}`, `{"secret":{"value":"[masked]","name":"[masked]"},"value":"y"}
masked, for their names are those of credentials: secret`},
		{`[{"name":"DB_PASSWORD","data":"v"},{"name":"HOST","data":"h"},{"name":"password_changed","data":{"by":"ana"}}]`,
			`[{"name":"DB_PASSWORD","data":"[masked]"},{"name":"HOST","data":"h"},{"name":"password_changed","data":{"by":"ana"}}] 3/3
masked, for their names are those of credentials: DB_PASSWORD`},
		{`{"name":"ns1","key":"ySruZGv5z7xbf8xou3Tyn1TByns/7z90wdEPf+WdIbI=","algorithm":"hmac-sha256","commit_hash":"ab12","public_key":"ySruZGv5z7xbf8xou3Tyn1TByns/7z90wdEPf+WdIbI="}`,
			`{"name":"ns1","key":"[masked]","algorithm":"hmac-sha256","commit_hash":"ab12","public_key":"ySruZGv5z7xbf8xou3Tyn1TByns/7z90wdEPf+WdIbI="}
masked, for their names are those of credentials: key`},
		{`[{"name":"search","key":"62eb165c070a41d5c1b58d9d3d725ca1","scopes":["read"]},{"name":"Webhook key","value":"62eb165c070a41d5c1b58d9d3d725ca1"},{"key":"x","name":"HOST","value":"62eb165c070a41d5c1b58d9d3d725ca1"}]`,
			`[{"name":"search","key":"[masked]","scopes":["read"]},{"name":"Webhook key","value":"[masked]"},{"key":"x","name":"HOST","value":"62eb165c070a41d5c1b58d9d3d725ca1"}] 3/3
masked, for their names are those of credentials: key, Webhook key`},
		{`{"kvs":[{"key":"L3JlZ2lzdHJ5L3BvZHMvZGVmYXVsdC9uZ2lueC0wMDAwMA==","mod_revision":"2"},{"key":"L3JlZ2lzdHJ5L3BvZHMvZGVmYXVsdC9uZ2lueC0wMDAwMA==","value":"eA=="}]}`,
			`{"kvs":[{"key":"L3JlZ2lzdHJ5L3BvZHMvZGVmYXVsdC9uZ2lueC0wMDAwMA==","mod_revision":"2"},{"key":"L3JlZ2lzdHJ5L3BvZHMvZGVmYXVsdC9uZ2lueC0wMDAwMA==","value":"eA=="}]} 2/2`},
		{`{"key":"62eb165c070a41d5c1b58d9d3d725ca1","scope":"x","etag":"y"}`, `{"key":"62eb165c070a41d5c1b58d9d3d725ca1","scope":"x","etag":"y"}`},
	} {
		if got := shown(Make(v, op, ok(tt.body), Options{Denied: gone})); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.body, got, tt.want)
		}
	}
	if got := shown(Make(v, op, ok(`{"token":"t"}`), Options{Mask: func(string) bool { return false }})); got != `{"token":"t"}` {
		t.Error(got)
	}
}

// TestDescribed checks that a key is masked if its description says that it is secret.
func TestDescribed(t *testing.T) {
	v, op := seen(t, `{"type":"object","properties":{"key":{"type":"string","description":"The secret key of the zone"},"kind":{"type":"string","description":"Of the secret key"}}}`, "")
	const want = `{"key":"[masked]","kind":"k"}
masked, for their names are those of credentials: key`
	if got := shown(Make(v, op, ok(`{"key":"s","kind":"k"}`), Options{})); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	// These are GitHub's public key for secrets, and the name of a key in a Kubernetes secret.
	v, op = seen(t, `{"type":"object","properties":{"key":{"type":"string","description":"The Base64 encoded public key."},"from":{"type":"object","properties":{"key":{"type":"string","description":"The key of the secret to select from.  Must be a valid secret key."}}}}}`, "")
	const open = `{"key":"ySruZGv5z7xbf8xou3Tyn1TByns/7z90wdEPf+WdIbI=","from":{"key":"username"}}`
	if got := shown(Make(v, op, ok(open), Options{})); got != open {
		t.Errorf("got %s\nwant %s", got, open)
	}
}

// TestSecret checks which names are names of credentials.
func TestSecret(t *testing.T) {
	for name, want := range map[string]bool{"password": true, "Authorization": true, "set-cookie": true, "secret_access_key": true, "connectionString": true, "jwt": true,
		"session_id": true, "pin": true, "page_token": false, "nextToken": false, "continuationToken": false, "next_secret": true, "token": true, "spin": false, "name": false, "": false} {
		if secret(name) != want {
			t.Errorf("%q is secret: %t", name, !want)
		}
	}
}

// TestFields checks the fields picked by each path.
func TestFields(t *testing.T) {
	v, op := seen(t, ref("Page"), "")
	const body = `{"items":[{"id":1,"name":"a","plan":"p","lead":{"name":"b"},"odd":{"x":[{"y":1}]}},{"id":2,"lead":null}],"total":2}`
	for _, tt := range []struct{ fields, want string }{
		{"items.id", `{"items":[{"id":1},{"id":2}]} 2/2`},
		{"items.lead.name total", `{"items":[{"lead":{"name":"b"}},{"lead":null}],"total":2} 2/2`},
		{"items.lead items.lead.name", `{"items":[{"lead":{"name":"b"}},{"lead":null}]} 2/2`},
		{"$.items[].odd.x[*].y", `{"items":[{"odd":{"x":[{"y":1}]}},{}]} 2/2`},
		{"items.members.name", `{"items":[{},{}]} 2/2`},
		{"total.x items.id.y", "{} 0/2\nfields: \"total.x\" names nothing here\nfields: \"items.id.y\" names nothing here"},
		{"items.nmae", "{} 0/2\nfields: \"items.nmae\" names nothing here. Did you mean items.name?"},
		{"items.plan", "{} 0/2\nfields: \"items.plan\" names nothing here"},
		{"items.lead.salery", "{} 0/2\nfields: \"items.lead.salery\" names nothing here"},
		{"item.id", "{} 0/2\nfields: \"item.id\" names nothing here. Did you mean items?"},
	} {
		if got := shown(Make(v, op, ok(body), Options{Fields: strings.Fields(tt.fields)})); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.fields, got, tt.want)
		}
	}
	// Pagination works even if the list itself was not requested.
	v, op = seen(t, "", `{"in":"query","name":"page","schema":{"type":"integer"}}`)
	for _, tt := range []struct{ fields, want string }{
		{"n", `{"n":1}`}, {"n password", "{\"n\":1,\"password\":\"[masked]\"}\nmasked, for their names are those of credentials: password"},
	} {
		if got := shown(Make(v, op, ok(`{"n":1,"password":"p"}`), Options{Fields: strings.Fields(tt.fields)})); got != tt.want {
			t.Errorf("%s: %s", tt.fields, got)
		}
	}
	if got, want := shown(Make(v, op, ok(`{"items":[1,2],"total":9}`), Options{Fields: []string{"total"}})), `{"total":9} 0/2 of 9 next {"query":{"page":2}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a, err := Make(v, op, ok(body), Options{Fields: slices.Repeat([]string{"nope"}, 300)})
	if err != nil || len(a.Notes) != 11 {
		t.Error(len(a.Notes), err)
	}
}

// TestMedia checks the result for each media type and body.
func TestMedia(t *testing.T) {
	const csv = `"200":{"description":"","content":{"text/csv":{},"application/pdf":{}}}`
	for _, tt := range []struct{ responses, media, body, want string }{
		{csv, "text/csv", "a,b\n1,2\n", `"a,b\n1,2\n"`},
		{csv, "text/csv", ` {"salary":1,"a":2}`, `{"a":2}`},
		{csv, "application/pdf", "%PDF", `application/pdf "q.pdf" 4 315d429b`},
		{csv, "", "plain", `"plain"`},
		{csv, "text/plain", "%PDF-1.4\x00\x01", `text/plain "q.pdf" 10 5a802d54`},
		{csv, "image/jpg", "\xff\xd8\xff\xe0", `image/jpeg "q.pdf" 4 ba4f25bf`},
		{csv, "application/octet-stream", "\x89PNG\x0d\x0a\x1a\x0a", `image/png "q.pdf" 8 4c4b6a3b`},
		{`"200":{"description":"","content":{"image/png":{"schema":{"type":"string","contentEncoding":"base64"}}}}`, "image/png", "iVBORw0K\nGgo=", `image/png "q.pdf" 8 4c4b6a3b`},
		{`"200":{"description":"","content":{"image/png":{"schema":{"type":"string","contentEncoding":"base64"}}}}`, "image/png", "\x89PNG\x0d\x0a\x1a\x0a", `image/png "q.pdf" 8 4c4b6a3b`},
		{csv, "application/octet-stream", "PK", `application/octet-stream "q.pdf" 2 fcab7fcc`},
		{csv, "application/json", ")]}'\n{\"a\":1}", `{"a":1}`},
		{csv, "application/json", "for(;;);[1]", `[1] 1/1`},
		{csv, "text/csv", "id,password\n1,hunter2\n2,\n", `"id,password\n1,[masked]\n2,\n"`},
		{csv, "text/csv", "id;Password;name\r\n1;\"a;b\";Ana\r\n", `"id;Password;name\n1;[masked];Ana\n"`},
		{csv, "text/csv", "api_key\nabcdef\n", `"api_key\n[masked]\n"`},
		{csv, "text/csv", "id,password\n1,a,b\n", `"id,password\n1,[masked],[masked]\n"`},
		{csv, "text/csv", "id,key\n1,sk_live_51HxYzABCDEFGHIJKLMNOPQR\n", `"id,key\n1,[masked]\n"`},
		{csv, "text/csv", "id,name\r\n1,\"a \"\"b\"\"\"\r\n", `"id,name\r\n1,\"a \"\"b\"\"\"\r\n"`},
		{csv, "", "\xff\xfe", `application/octet-stream "q.pdf" 2 b3d510ef`},
		{csv, "application/json", "", `none`},
		{csv, "application/json", " \n", `none`},
		{csv, "application/json", `{"a":1,"a":2}`, `upstream_error: the API said that its answer is application/json, and it can't be read as that`},
		{csv, "application/json", strings.Repeat("[", 65), `upstream_error: the API said that its answer is application/json, and it can't be read as that`},
		{csv, "application/problem+json", `{"a":1}`, `{"a":1}`},
		{csv, "text/event-stream", "data: 1", `unsupported_by_source: x answers with a stream (text/event-stream), which tools can't follow`},
		{csv, "application/x-ndjson", "{}\n{}", `[{},{}] 2/2`},
		{`"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}`, "text/html", "<html>", `upstream_error: the API answered with a web page (text/html), and its document knows no such answer of x. It probably wants a sign-in`},
		{`"200":{"description":"","content":{"application/json":{"schema":` + ref("Boss") + `},"text/csv":{}}}`, "text/csv", "name,salary\na,1",
			`security_blocked: x answered with text/csv, which can't be given out: only JSON can be taken through the rules for this API`},
		{`"200":{"description":"","content":{"application/json":{"schema":` + ref("ByName") + `}}}`, "application/zip", "PK",
			`security_blocked: x answered with application/zip, which can't be given out: only JSON can be taken through the rules for this API`},
		{`"200":{"description":"","content":{"application/json":{"schema":` + ref("Dog") + `},"text/csv":{}}}`, "text/csv", "tag\na", `"tag\na"`},
		{`"204":{"description":""}`, "text/html", "<p>hello</p>", `"<p>hello</p>"`},
		{csv, "text/csv", "123", `"123"`},
		{csv, "text/csv", "[1]", `[1] 1/1`},
		{csv, "text/csv", "{not", `"{not"`},
		{csv, "text/csv", strings.Repeat("x", 400), `"` + strings.Repeat("x", 234) + "… [400 characters]\"\nthe answer: the first 234 of 400 characters are shown. Continue with from: 235\nfields picks what you need, and more of it fits"},
		{csv, "text", "a", `"a"`},
		{csv, "text/" + strings.Repeat("x", 200), "a", `"a"`},
		{`"200":{"description":"","content":{"application/json":{"schema":` + ref("Dog") + `}}}`, "application/zip", "PK", `application/zip "q.pdf" 2 fcab7fcc`},
		{`"200":{"description":"","content":{"*/*":{}}}`, "text/plain", "a", `"a"`},
		{`"204":{"description":""},"4XX":{"description":"","content":{"application/json":{}}}`, "text/plain", "a", `"a"`},
		{`"default":{"description":"","content":{"application/json":{}}}`, "text/plain", "a", `upstream_error: the API answered with text/plain, and its document knows no such answer of x`},
	} {
		v, op := viewed(t, fmt.Sprintf(`{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","responses":{%s}}}},%s}`, tt.responses, components), hiding)
		r := &calls.HTTPResponse{Status: 200, MediaType: tt.media, Header: http.Header{"Content-Disposition": {`attachment; filename="../../q.pdf"`}}, Body: []byte(tt.body)}
		if got := shown(Make(v, op, r, Options{Budget: MinBudget})); got != tt.want {
			t.Errorf("%s %q\n got %s\nwant %s", tt.media, tt.body, got, tt.want)
		}
	}
}

// TestUnfiltered checks for each JSON schema of an operation whether its CSV response is returned.
func TestUnfiltered(t *testing.T) {
	for schema, leaves := range map[string]bool{
		ref("Dog"): true, `{"type":"array","items":` + ref("Pet") + `}`: false, ref("Vault"): false, ref("Keeper"): false, ref("Thing"): false, ref("Boss"): false, ref("Page"): false,
		`{"type":"array","items":{"type":"array","items":` + ref("Person") + `}}`: false, ref("ByName"): false, `{"type":"array","items":{"type":"string"}}`: true,
		`{"properties":{"a":{"properties":{"token":{"type":"string"}}}}}`: false, `{"properties":{"a":{"properties":{"internal":{}}}}}`: false,
		`{"additionalProperties":{"properties":{"a":` + ref("Vault") + `}}}`: false, `{"properties":{"a":{"$ref":"#/components/schemas/Dog"},"page_token":{}}}`: true, ``: true,
	} {
		json := `"application/json":{}`
		if schema != "" {
			json = `"application/json":{"schema":` + schema + `}`
		}
		v, op := viewed(t, fmt.Sprintf(`{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","responses":{"200":{"description":"","content":{%s,"text/csv":{}}}}}}},%s}`, json, components), hiding)
		r := &calls.HTTPResponse{Status: 200, MediaType: "text/csv", Header: http.Header{}, Body: []byte("a,b")}
		_, err := Make(v, op, r, Options{Denied: func(name string) bool { return name == "internal" }})
		if (err == nil) != leaves || err != nil && problem.CodeOf(err) != problem.SecurityBlocked {
			t.Errorf("%s: %v", schema, err)
		}
	}
}
