package app

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// vault declares one scheme of each kind. The names of its operations tell which schemes they require.
const vault = `{"openapi": "3.0.3", "info": {"title": "Vault", "version": "1"},
"components": {"securitySchemes": {
  "token": {"type": "http", "scheme": "bearer"}, "user": {"type": "http", "scheme": "basic"}, "cert": {"type": "mutualTLS"}, "sso": {"type": "oauth2", "flows": {}},
  "api": {"type": "apiKey", "in": "header", "name": "DD-API-KEY"}, "app": {"type": "apiKey", "in": "header", "name": "DD-APPLICATION-KEY"},
  "q": {"type": "apiKey", "in": "query", "name": "key"}, "sid": {"type": "apiKey", "in": "cookie", "name": "sid"}}},
"security": [{"token": []}],
"paths": {
  "/token": {"get": {"operationId": "token", "responses": {"200": {"description": "ok"}}}},
  "/both": {"get": {"operationId": "both", "security": [{"api": [], "app": []}], "responses": {"200": {"description": "ok"}}}},
  "/either": {"get": {"operationId": "either", "security": [{"user": []}, {"api": [], "app": []}, {"q": []}], "responses": {"200": {"description": "ok"}}}},
  "/free": {"get": {"operationId": "free", "security": [], "responses": {"200": {"description": "ok"}}}},
  "/maybe": {"get": {"operationId": "maybe", "security": [{}, {"sid": []}], "responses": {"200": {"description": "ok"}}}},
  "/cert": {"get": {"operationId": "cert", "security": [{"cert": [], "token": []}], "responses": {"200": {"description": "ok"}}}},
  "/sso": {"get": {"operationId": "sso", "security": [{"sso": ["read"]}], "responses": {"200": {"description": "ok"}}}},
  "/upload": {"servers": [{"url": "http://localhost:PORT/up"}], "get": {"operationId": "upload", "responses": {"200": {"description": "ok"}}}}}}`

// reaching loads a configuration whose source vault has the document, and returns a function that calls the API as an
// agent does. In the texts, BASE is the address of the API and PORT its port.
func reaching(t *testing.T, document, keys string, api http.Handler) func(operation string, query value.Value) string {
	t.Helper()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return calling(t, document, keys, server.URL)
}

// calling does the same as reaching for an API at base.
func calling(t *testing.T, document, keys, base string) func(operation string, query value.Value) string {
	t.Helper()
	opened, permitted := opening(t, document, keys, base)
	return func(operation string, query value.Value) string {
		permit, err := permitted(operation, query)
		if err != nil {
			return fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
		}
		_, r, err := opened.Call(t.Context(), permit)
		if err != nil {
			return fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
		}
		plan, _ := permit.Plan()
		got, err := response.Make(plan.View, plan.Operation, r, response.Options{Budget: 10_000})
		if err != nil {
			return problem.Of(err).Detail
		}
		return got.Body.String()
	}
}

// opening returns the parts that calling combines: the open source, and a function that returns a permit for a call.
func opening(t *testing.T, document, keys, base string) (source.Caller, func(operation string, query value.Value) (calls.Permit, error)) {
	t.Helper()
	_, port, _ := strings.Cut(base[strings.LastIndexByte(base, '/'):], ":")
	names := strings.NewReplacer("BASE", base, "PORT", port)
	file := filepath.Join(t.TempDir(), "bailiwick.yaml")
	for path, text := range map[string]string{file: "store: sqlite:b.db\nsources:\n  vault: {openapi: {document: vault.json, base_url: BASE" + keys + "}}\napis: {vault: {access: [{operations: [token, sso], class: read}]}}\n", filepath.Join(filepath.Dir(file), "vault.json"): document} {
		if err := os.WriteFile(path, []byte(names.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(c.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := openAPI(c, c.Sources[0], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	who := identity.Principal{ID: "token:1", TokenID: "1", Kind: identity.Agent, Owner: "ann", Scopes: []identity.Scope{identity.Read}}
	return opened, func(operation string, query value.Value) (calls.Permit, error) {
		reach, err := rules.APIs().Reach(who, "vault", "/source")
		if err != nil {
			t.Fatal(err)
		}
		return reach.Permit(t.Context(), who, calls.Request{Operation: operation, Arguments: validate.Arguments{Query: query}})
	}
}

// TestWhose checks that the audit names the owners of exactly those credentials that a call carries.
func TestWhose(t *testing.T) {
	const own, fixed = `{per_principal: {by: owner, secrets: {ann: aaaa}}}`, `{header: {name: DD-API-KEY, value: bbbb}}`
	for _, row := range []struct {
		keys string
		want map[string]string
	}{
		{`, credentials: {token: ` + own + `, api: ` + fixed + `, app: {header: {name: DD-APPLICATION-KEY, value: cccc}}}, servers: {"http://localhost:PORT/up": {credential: {bearer: zzzz}}}`,
			map[string]string{"token": "owner ann", "both": "gateway", "either": "gateway", "free": "", "upload": "gateway", "token both": "owner ann and gateway", "both either": "gateway", "free token": "owner ann"}},
		{`, credentials: {api: ` + own + `, app: {header: {name: DD-APPLICATION-KEY, value: cccc}}}`, map[string]string{"both": "owner ann and gateway", "free": ""}},
		{`, credential: ` + own + `, servers: {"http://localhost:PORT/up": {}}`, map[string]string{"token": "owner ann", "upload": ""}},
		{``, map[string]string{"token": ""}},
	} {
		opened, permitted := opening(t, vault, row.keys, "http://localhost:1")
		for operations, want := range row.want {
			var permits []calls.Permit
			for operation := range strings.FieldsSeq(operations) {
				permit, err := permitted(operation, value.Value{})
				if err != nil {
					t.Fatal(operation, err)
				}
				permits = append(permits, permit)
			}
			if got := opened.Whose(permits...); got != want {
				t.Errorf("%s: %s: %q, want %q", row.keys, operations, got, want)
			}
		}
	}
}

// signed responds with an empty object, and records the path and the credentials of a request.
func signed(into *string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		all := []string{r.URL.Path}
		for _, name := range []string{"Authorization", "Cookie", "DD-API-KEY", "DD-APPLICATION-KEY", "X-Org"} {
			if v := r.Header.Get(name); v != "" {
				all = append(all, name+": "+v)
			}
		}
		if r.URL.RawQuery != "" {
			all = append(all, r.URL.RawQuery)
		}
		*into = strings.Join(all, " ")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
	}
}

// TestSigned checks the credentials in each operation's call under several configurations, or the reason why the call
// isn't sent.
func TestSigned(t *testing.T) {
	const all = `, credentials: {token: {bearer: aaaa}, user: {basic: {user: u, password: pppp}}, api: {header: {name: DD-API-KEY, value: bbbb}}, app: {header: {name: DD-APPLICATION-KEY, value: cccc}}, sid: {cookie: {name: sid, value: dddd}}}`
	for _, row := range []struct {
		name, keys string
		want       map[string]string
	}{
		{"several", all, map[string]string{
			"token": "/token Authorization: Bearer aaaa", "both": "/both DD-API-KEY: bbbb DD-APPLICATION-KEY: cccc", "either": "/either Authorization: Basic dTpwcHBw", "free": "/free", "maybe": "/maybe Cookie: sid=dddd",
			"cert": "permission_denied: cert requires cert (mutualTLS), for which this gateway has no credential", "sso": "permission_denied: sso requires sso (oauth2), for which this gateway has no credential",
		}},
		{"a part of an alternative", `, credentials: {api: {header: {name: DD-API-KEY, value: bbbb}}}`, map[string]string{
			"token": "permission_denied: token requires token (http bearer), for which this gateway has no credential", "free": "/free", "maybe": "/maybe",
			"both":   "permission_denied: both requires app (header DD-APPLICATION-KEY), for which this gateway has no credential",
			"either": "permission_denied: either requires user (http basic), for which this gateway has no credential",
		}},
		{"the second alternative", `, credentials: {api: {header: {name: DD-API-KEY, value: bbbb}}, app: {header: {name: DD-APPLICATION-KEY, value: cccc}}}`, map[string]string{"either": "/either DD-API-KEY: bbbb DD-APPLICATION-KEY: cccc"}},
		{"the third", `, credentials: {q: {query: {name: key, value: eeee}}}`, map[string]string{"either": "/either key=eeee", "token": "permission_denied: token requires token (http bearer), for which this gateway has no credential"}},
		{"the owner has another form for a scheme", `, credentials: {q: {bearer: aaaa}}`, map[string]string{"either": "/either Authorization: Bearer aaaa"}},
		{"one credential of a scheme", `, credential: {bearer: aaaa}`, map[string]string{
			"token": "/token Authorization: Bearer aaaa", "sso": "/sso Authorization: Bearer aaaa", "free": "/free", "maybe": "/maybe",
			"both": "permission_denied: both requires api (header DD-API-KEY) and app (header DD-APPLICATION-KEY), for which this gateway has no credential",
		}},
		{"one credential of no scheme", `, credential: {header: {name: X-Org, value: aaaa}}`, map[string]string{"token": "/token X-Org: aaaa", "free": "/free X-Org: aaaa", "cert": "/cert X-Org: aaaa"}},
		{"one for each principal", `, credential: {per_principal: {by: owner, secrets: {ann: aaaa, bob: {basic: {user: u, password: pppp}}}}}`, map[string]string{"token": "/token Authorization: Bearer aaaa", "free": "/free"}},
		{"no credential", ``, map[string]string{"token": "/token", "both": "/both"}},
		{"fixed headers", `, headers: {X-Org: acme, DD-APPLICATION-KEY: cccc}, credential: {header: {name: DD-API-KEY, value: bbbb}}`, map[string]string{
			"both": "/both DD-API-KEY: bbbb DD-APPLICATION-KEY: cccc X-Org: acme", "free": "/free DD-APPLICATION-KEY: cccc X-Org: acme",
			"token": "permission_denied: token requires token (http bearer), for which this gateway has no credential",
		}},
		{"a server that is not listed", `, credential: {bearer: aaaa}`, map[string]string{"upload": "unsupported_by_source: upload is served at http://localhost:PORT/up, which is not where this API is called"}},
		{"a server with its own credential", `, credential: {bearer: aaaa}, headers: {X-Org: acme}, servers: {"http://localhost:PORT/up/": {credential: {bearer: zzzz}}}`, map[string]string{"upload": "/up/upload Authorization: Bearer zzzz", "token": "/token Authorization: Bearer aaaa X-Org: acme"}},
		{"a server with several", `, credential: {bearer: aaaa}, servers: {"http://localhost:PORT/up": {credentials: {token: {bearer: yyyy}, q: {query: {name: key, value: eeee}}}}}`, map[string]string{"upload": "/up/upload Authorization: Bearer yyyy"}},
		{"a server without a credential", `, credential: {bearer: aaaa}, servers: {"http://localhost:PORT/up": {}}`, map[string]string{"upload": "/up/upload"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			came := ""
			call := reaching(t, vault, row.keys, signed(&came))
			for _, operation := range slices.Sorted(maps.Keys(row.want)) {
				got := call(operation, value.Value{})
				if got == "{}" {
					got = came
				}
				if port := strings.LastIndex(got, "localhost:"); port >= 0 && strings.Contains(row.want[operation], "PORT") {
					end := strings.IndexByte(got[port:], '/') + port
					got = got[:port] + "localhost:PORT" + got[end:]
				}
				if got != row.want[operation] {
					t.Errorf("%s: %s\nwant %s", operation, got, row.want[operation])
				}
			}
		})
	}
}

// TestSignedEchoes checks an API that repeats the headers of a request. Its response must not show any secret among
// them. Fixed headers that are not secrets stay unchanged.
func TestSignedEchoes(t *testing.T) {
	t.Setenv("VAULT_REGION", "eu-central-secretly")
	const keys = `, credentials: {api: {header: {name: DD-API-KEY, value: aaaabbbbcccc}}, app: {header: {name: DD-APPLICATION-KEY, value: ddddeeeeffff}}}, headers: {X-Org: acme-industries, X-App-Secret: gggghhhhiiii, X-Region: "${VAULT_REGION}"}`
	call := reaching(t, vault, keys, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"note": "%s, %s, %s, %s and %s"}`, r.Header.Get("DD-API-KEY"), r.Header.Get("DD-APPLICATION-KEY"), r.Header.Get("X-Org"), r.Header.Get("X-App-Secret"), r.Header.Get("X-Region"))
	}))
	if got := call("both", value.Value{}); got != `{"note":"[masked], [masked], acme-industries, [masked] and [masked]"}` {
		t.Error(got)
	}
	if got := call("free", value.Value{}); got != `{"note":", , acme-industries, [masked] and [masked]"}` {
		t.Error(got)
	}
}

// TestSignedParameters checks that agents can't set parameters and headers that credentials and fixed headers set, in
// any operation.
func TestSignedParameters(t *testing.T) {
	document := strings.Replace(vault, `"/free": {"get": {`, `"/free": {"get": {"parameters": [{"in": "query", "name": "key", "schema": {"type": "string"}}, {"in": "header", "name": "x-org", "schema": {"type": "string"}}, {"in": "query", "name": "page", "schema": {"type": "string"}}],`, 1)
	call := reaching(t, document, `, credentials: {q: {query: {name: key, value: eeee}}}, headers: {X-Org: acme}`, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q", r.URL.RawQuery)
	}))
	for name, want := range map[string]string{
		"key":   `invalid_argument: unknown query parameter "key". It takes page`,
		"page":  `"page=2"`,
		"other": `invalid_argument: unknown query parameter "other". It takes page`,
	} {
		if got := call("free", value.OfObject([]value.Member{{Name: name, Value: value.OfString("2")}})); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestUnsigned checks the messages of the command check about operations that can't be called with the configured
// credentials.
func TestUnsigned(t *testing.T) {
	for _, row := range []struct {
		keys string
		want []string
	}{
		{`, credential: {bearer: aaaa}`, []string{
			"vault: calls of both (1 in all) are refused: the document requires api (header DD-API-KEY) and app (header DD-APPLICATION-KEY) for them, and no credential is configured for that. Write it into sources.vault.openapi.credentials, by the name of the scheme",
			"vault: calls of cert (1 in all) are refused: the document requires cert (mutualTLS) for them, and no credential is configured for that. Write it into sources.vault.openapi.tls",
			"vault: calls of either (1 in all) are refused: the document requires user (http basic) for them, and no credential is configured for that. Write it into sources.vault.openapi.credentials, by the name of the scheme",
		}},
		{``, []string{"vault: the document requires a credential for 6 operations, such as token (http bearer), and none is configured: calls are sent without one"}},
		{`, credentials: {tokn: {bearer: aaaa}}`, []string{"sources.vault.openapi.credentials.tokn: the document has no security scheme tokn. Did you mean token?"}},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "bailiwick.yaml")
		for path, text := range map[string]string{file: "store: sqlite:b.db\nsources:\n  vault: {openapi: {document: vault.json, base_url: \"https://vault.test\"" + row.keys + "}}\napis: {vault: {access: [{operations: [token, sso], class: read}]}}\n", filepath.Join(dir, "vault.json"): strings.Replace(vault, `"servers": [{"url": "http://localhost:PORT/up"}], `, "", 1)} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		c, err := LoadFile(file)
		if err != nil {
			got = strings.Split(err.Error(), "\n")
		} else {
			got = credentialWarnings(c)
		}
		if text := strings.Join(got, "\n"); text != strings.Join(row.want, "\n") && (err == nil || !strings.Contains(text, row.want[0])) {
			t.Errorf("%s:\n%s\nwant\n%s", row.keys, strings.Join(got, "\n"), strings.Join(row.want, "\n"))
		}
	}
}
