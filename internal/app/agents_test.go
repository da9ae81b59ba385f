package app_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// A gate is a whole gateway over HTTP without an issuer, and the signed-in browser of ana.
type gate struct {
	t   *testing.T
	p   *app.App
	url string
	ana *http.Client
}

func newGate(t *testing.T, auth string) *gate {
	t.Helper()
	dir := t.TempDir()
	if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll("store: sqlite:%dir/bailiwick.db\nsources: {tracker: {url: \"sqlite:%dir/tracker.db\"}}\n"+
		"classes: {tracker.issues: {tenant: {field: org_id, is: principal.tenant}, visible: [id, title, org_id]}}\n"+auth, "%dir", dir)
	c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), []byte(text), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	o := p.Door()
	o.Logger = slog.New(slog.DiscardHandler)
	s, err := p.Serve(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	g := &gate{t: t, p: p, url: web.URL}
	g.ana = g.signIn("ana@example.com", identity.Read, identity.Write, identity.Review, identity.Operator)
	return g
}

// signIn returns a browser in which a person of acme is signed in with a link.
func (g *gate) signIn(owner string, scopes ...identity.Scope) *http.Client {
	g.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		g.t.Fatal(err)
	}
	b := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	_, link, err := g.p.Tokens.Invite(g.t.Context(), identity.Local("test"), identity.Token{Owner: owner, Tenant: demo.Acme, Scopes: scopes}, time.Hour)
	if err != nil {
		g.t.Fatal(err)
	}
	page := g.page(b, console.SignIn(link), 200)
	if r := g.form(b, "/console/sign-in", page, url.Values{"link": {link}}); r.StatusCode != http.StatusSeeOther {
		g.t.Fatal("sign in:", r.Status)
	}
	return b
}

func (g *gate) do(b *http.Client, r *http.Request) *http.Response {
	g.t.Helper()
	res, err := b.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { res.Body.Close() })
	return res
}

func (g *gate) request(method, path, body string) *http.Request {
	g.t.Helper()
	r, err := http.NewRequestWithContext(g.t.Context(), method, g.url+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	return r
}

func (g *gate) page(b *http.Client, path string, status int) string {
	g.t.Helper()
	res := g.do(b, g.request("GET", path, ""))
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		g.t.Fatalf("%s: %s %v\n%s", path, res.Status, err, text)
	}
	return string(text)
}

var hidden = regexp.MustCompile(`name="(mark|request)" value="([^"]*)"`)

// form sends a form with the hidden fields of its page.
func (g *gate) form(b *http.Client, path, page string, with url.Values) *http.Response {
	g.t.Helper()
	for _, m := range hidden.FindAllStringSubmatch(page, -1) {
		if !with.Has(m[1]) {
			with.Set(m[1], strings.NewReplacer("&amp;", "&", "&#43;", "+").Replace(m[2]))
		}
	}
	r := g.request("POST", path, with.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return g.do(b, r)
}

// post sends a form as a client without a browser.
func (g *gate) post(path string, f url.Values) (status int, body map[string]any) {
	g.t.Helper()
	r := g.request("POST", path, f.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res := g.do(http.DefaultClient, r)
	_ = json.NewDecoder(res.Body).Decode(&body)
	return res.StatusCode, body
}

const (
	verifier = "a-verifier-of-a-client-that-has-at-least-43-characters"
	landing  = "http://127.0.0.1:4711/back"
)

func (g *gate) register(redirects ...string) string {
	g.t.Helper()
	text, _ := json.Marshal(map[string]any{"client_name": "Bot <b>of</b> tests", "redirect_uris": redirects})
	r := g.request("POST", "/oauth/register", string(text))
	r.Header.Set("Content-Type", "application/json")
	res := g.do(http.DefaultClient, r)
	var out struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusCreated {
		g.t.Fatal(res.Status, err)
	}
	return out.ID
}

// asks returns an authorization request of a client.
func (g *gate) asks(client string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	return url.Values{"response_type": {"code"}, "client_id": {client}, "redirect_uri": {landing}, "state": {"s1"}, "scope": {"read write"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {g.url + "/mcp"}}
}

// code lets a client sign in, as ana, and returns the answer that the client gets.
func (g *gate) code(q url.Values) url.Values {
	g.t.Helper()
	page := g.page(g.ana, "/console/allow?"+q.Encode(), 200)
	res := g.form(g.ana, "/console/allow", page, url.Values{"answer": {"allow"}, "scope": {"read"}})
	to, err := url.Parse(res.Header.Get("Location"))
	if err != nil || res.StatusCode != http.StatusSeeOther {
		g.t.Fatal(res.Status, err)
	}
	return to.Query()
}

func (g *gate) exchange(client, code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code}, "redirect_uri": {landing}, "code_verifier": {verifier}, "resource": {g.url + "/mcp"}}
}

// calls returns the status of a call with an access token.
func (g *gate) calls(access string) (int, string) {
	g.t.Helper()
	r := g.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count_objects","arguments":{"class_name":"issues"},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	for k, v := range map[string]string{"Authorization": "Bearer " + access, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "count_objects"} {
		r.Header.Set(k, v)
	}
	res := g.do(http.DefaultClient, r)
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

// TestAgentSignsIn follows an agent from its first refusal through its access and a renewal to its end.
func TestAgentSignsIn(t *testing.T) {
	g := newGate(t, "")
	res := g.do(http.DefaultClient, g.request("POST", "/mcp", "{}"))
	at := g.url + "/.well-known/oauth-protected-resource/mcp"
	if got := res.Header.Get("WWW-Authenticate"); got != `Bearer resource_metadata="`+at+`"` {
		t.Fatal(got)
	}
	for path, want := range map[string]string{"/.well-known/oauth-protected-resource/mcp": `"authorization_servers":["` + g.url + `"]`,
		"/.well-known/oauth-authorization-server": `"issuer":"` + g.url + `"`} {
		if got := g.page(http.DefaultClient, path, 200); !strings.Contains(strings.ReplaceAll(got, ": ", ":"), want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	client := g.register(landing)
	page := g.page(g.ana, "/console/allow?"+g.asks(client).Encode(), 200)
	if !strings.Contains(page, "Bot &lt;b&gt;of&lt;/b&gt; tests") || !strings.Contains(page, "a program on your own machine") || !strings.Contains(page, "ana@example.com") {
		t.Error(page)
	}
	got := g.code(g.asks(client))
	if got.Get("state") != "s1" || got.Get("iss") != g.url {
		t.Error(got)
	}
	status, tokens := g.post("/oauth/token", g.exchange(client, got.Get("code")))
	access, _ := tokens["access_token"].(string)
	refresh, _ := tokens["refresh_token"].(string)
	if status != 200 || tokens["scope"] != "read" || !strings.HasPrefix(access, "bwa_") || refresh == "" {
		t.Fatal(status, tokens)
	}
	if status, body := g.calls(access); status != 200 || !strings.Contains(body, `"text":"3100"`) {
		t.Error("the records of ana's tenant:", status, body)
	}
	if !strings.Contains(g.page(g.ana, "/console/you", 200), "Bot &lt;b&gt;of&lt;/b&gt; tests") || !strings.Contains(g.page(g.ana, "/console/people", 200), "ana@example.com") {
		t.Error("ana doesn't find the agent")
	}
	renew := url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {refresh}}
	status, tokens = g.post("/oauth/token", renew)
	second, _ := tokens["access_token"].(string)
	if status != 200 || second == access {
		t.Fatal(status, tokens)
	}
	if status, again := g.post("/oauth/token", renew); status != 200 || again["access_token"] != second {
		t.Error("a repeated refresh:", status, again)
	}
	// A refresh token that is used again later may be stolen, so the whole grant ends.
	time.Sleep(identity.Repeat)
	if status, body := g.post("/oauth/token", renew); status != 400 || body["error"] != "invalid_grant" {
		t.Error(status, body)
	}
	for _, one := range []string{access, second} {
		if status, _ := g.calls(one); status != 401 {
			t.Error("after a refresh token was used twice:", status)
		}
	}
	if found, err := identity.Reconcile(t.Context(), g.p.Store, g.p.Store); err != nil || found.Lacks != nil {
		t.Error(found, err)
	}
}

// TestAgentEnds checks that an agent's access can end in three ways: through its client, through its person, and with
// the person's own rights.
func TestAgentEnds(t *testing.T) {
	g := newGate(t, "")
	for name, end := range map[string]func(client, refresh string){
		"revoked by its client": func(client, refresh string) {
			if status, _ := g.post("/oauth/revoke", url.Values{"client_id": {client}, "token": {refresh}}); status != 200 {
				t.Error(status)
			}
		},
		"removed by its person": func(string, string) {
			page := g.page(g.ana, "/console/you", 200)
			id := regexp.MustCompile(`/console/you/agents/(\w+)/end`).FindStringSubmatch(page)
			if id == nil {
				t.Fatal(page)
			}
			if res := g.form(g.ana, "/console/you/agents/"+id[1]+"/end", page, url.Values{}); res.StatusCode != 303 {
				t.Error(res.Status)
			}
		},
		"the person is removed": func(string, string) {
			if _, err := g.p.Tokens.Remove(t.Context(), identity.Local("test"), "ana@example.com", demo.Acme); err != nil {
				t.Error(err)
			}
			g.ana = g.signIn("ana@example.com", identity.Read, identity.Write, identity.Review, identity.Operator)
		},
	} {
		client := g.register(landing)
		_, tokens := g.post("/oauth/token", g.exchange(client, g.code(g.asks(client)).Get("code")))
		access, _ := tokens["access_token"].(string)
		refresh, _ := tokens["refresh_token"].(string)
		if status, _ := g.calls(access); status != 200 {
			t.Fatal(name, status)
		}
		end(client, refresh)
		if status, _ := g.calls(access); status != 401 {
			t.Error(name, "and its access token is good:", status)
		}
		if status, body := g.post("/oauth/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {refresh}}); status != 400 {
			t.Error(name, "and its refresh token is good:", status, body)
		}
	}
}

// TestAgentAttacks tries known attacks on the sign-in of agents.
func TestAgentAttacks(t *testing.T) {
	g := newGate(t, "")
	client, other := g.register(landing), g.register(landing, "https://evil.example/x")
	change := func(q url.Values, name, value string) url.Values { q.Set(name, value); return q }
	// These are attacks with redirects. They are shown to the person and cause no redirect.
	for _, to := range []string{"", "https://evil.example/x", landing + "/more", landing + "?x=1", "http://localhost:4711/back", "http://127.0.0.1.evil.example/back", "http://user@127.0.0.1:4711/back",
		landing + "#x", "//evil.example", "javascript:alert(1)", "https://127.0.0.1:4711/back", "http://127.0.0.1:4711/back%00", "http://127.0.0.1:4711/../back"} {
		res := g.do(g.ana, g.request("GET", "/console/allow?"+change(g.asks(client), "redirect_uri", to).Encode(), ""))
		if res.StatusCode != 400 || res.Header.Get("Location") != "" {
			t.Errorf("redirect_uri %q: %s %s", to, res.Status, res.Header.Get("Location"))
		}
	}
	if res := g.do(g.ana, g.request("GET", "/console/allow?"+change(g.asks(client), "redirect_uri", "http://127.0.0.1:9/back").Encode(), "")); res.StatusCode != 200 {
		t.Error("another port of this machine:", res.Status)
	}
	// These are the errors that the client receives.
	for _, row := range [][3]string{{"response_type", "token", "unsupported_response_type"}, {"code_challenge", "", "invalid_request"}, {"code_challenge_method", "plain", "invalid_request"},
		{"resource", "https://other.example/mcp", "invalid_target"}, {"scope", "review", "invalid_scope"}, {"scope", "operator read", "invalid_scope"}, {"scope", "read\u00a0write", "invalid_scope"},
		{"scope", "read\twrite", "invalid_scope"}, {"request_uri", "https://evil.example", "request_not_supported"}} {
		res := g.do(g.ana, g.request("GET", "/console/allow?"+change(g.asks(client), row[0], row[1]).Encode(), ""))
		to, err := url.Parse(res.Header.Get("Location"))
		if err != nil || res.StatusCode != 303 || !strings.HasPrefix(to.String(), landing) || to.Query().Get("error") != row[2] || to.Query().Get("iss") != g.url || to.Query().Get("state") != "s1" {
			t.Errorf("%s: %s %s", row, res.Status, to)
		}
	}
	for _, id := range []string{"", "bwreg.e30", "bwreg.!", "http://client.example/x", "https://client.example", "https://127.0.0.1/x", "https://localhost/x", "some-client"} {
		if res := g.do(g.ana, g.request("GET", "/console/allow?"+change(g.asks(client), "client_id", id).Encode(), "")); res.StatusCode != 400 {
			t.Errorf("client %q: %s", id, res.Status)
		}
	}
	// These registrations could send a code to another site.
	for _, to := range []string{"javascript:alert(1)", "data:text/html,x", "http://evil.example/", "https://evil.example/#x", "file:///etc/passwd", "https://u:p@evil.example/", "x", "JAVASCRIPT:alert(1)", " https://a.example/",
		"https://a.example;script-src/x", "https://a.example,b/x", "https://a.example'/x", "https://*/x", "https://*.example/x", "cursor://a;b/x"} { // the last would be part of the page's policy
		text, _ := json.Marshal(map[string]any{"redirect_uris": []string{to}})
		r := g.request("POST", "/oauth/register", string(text))
		r.Header.Set("Content-Type", "application/json")
		if res := g.do(http.DefaultClient, r); res.StatusCode != 400 {
			t.Errorf("registered %q: %s", to, res.Status)
		}
	}
	// This is a confused deputy. No consent is remembered, and consent requires the person's own form.
	g.code(g.asks(client))
	page := g.page(g.ana, "/console/allow?"+g.asks(client).Encode(), 200)
	if !strings.Contains(page, "Let an agent in?") {
		t.Error("a second request isn't asked about")
	}
	for name, b := range map[string]*http.Client{"another person": g.signIn("eve@example.com", identity.Read, identity.Review), "no session": {CheckRedirect: g.ana.CheckRedirect}} {
		if res := g.form(b, "/console/allow", page, url.Values{"answer": {"allow"}, "scope": {"read"}}); res.StatusCode == 303 && strings.Contains(res.Header.Get("Location"), "code=") {
			t.Errorf("%s consents with ana's form", name)
		}
	}
	for _, chosen := range [][]string{{"review"}, {"delete"}, {"operator"}, nil, {"read", "audit"}} {
		if res := g.form(g.ana, "/console/allow", page, url.Values{"answer": {"allow"}, "scope": chosen}); res.StatusCode != 400 {
			t.Errorf("granted %v: %s %s", chosen, res.Status, res.Header.Get("Location"))
		}
	}
	if res := g.form(g.ana, "/console/allow", page, url.Values{"answer": {"deny"}}); !strings.Contains(res.Header.Get("Location"), "error=access_denied") {
		t.Error("refused:", res.Header.Get("Location"))
	}
	// These are wrong uses of codes: by another client, with another verifier, and twice.
	for name, spoil := range map[string]func(url.Values){
		"another client": func(f url.Values) { f.Set("client_id", other) }, "another verifier": func(f url.Values) { f.Set("code_verifier", "x"+verifier) },
		"no verifier": func(f url.Values) { f.Del("code_verifier") }, "another redirect": func(f url.Values) { f.Set("redirect_uri", "https://evil.example/x") },
		"a secret": func(f url.Values) { f.Set("client_secret", "x") }, "twice the same": func(f url.Values) { f.Add("code", "x") },
		"another resource": func(f url.Values) { f.Set("resource", "https://other.example/mcp") }, "an access token as a code": func(f url.Values) { f.Set("code", "bwa_x") },
	} {
		f := g.exchange(client, g.code(g.asks(client)).Get("code"))
		spoil(f)
		if status, body := g.post("/oauth/token", f); status < 400 || status > 401 || body["access_token"] != nil {
			t.Errorf("a code with %s: %d %v", name, status, body)
		}
	}
	f := g.exchange(client, g.code(g.asks(client)).Get("code"))
	_, tokens := g.post("/oauth/token", f)
	access, _ := tokens["access_token"].(string)
	refresh, _ := tokens["refresh_token"].(string)
	if status, _ := g.calls(access); status != 200 {
		t.Fatal(status)
	}
	for _, passed := range []string{refresh, "bwc_" + strings.TrimPrefix(access, "bwa_"), "bws_" + strings.TrimPrefix(access, "bwa_")} { // only an access token is a credential
		if status, _ := g.calls(passed); status != 401 {
			t.Error("passes for an access token:", status)
		}
	}
	if status, body := g.post("/oauth/token", f); status != 400 || body["error"] != "invalid_grant" {
		t.Error("a code twice:", status, body)
	}
	if status, _ := g.calls(access); status != 401 {
		t.Error("a code was used twice, and its access token is good:", status)
	}
	// The JSON API never accepts an agent's token.
	r := g.request("GET", "/api/changes", "")
	r.Header.Set("Authorization", "Bearer "+access)
	if res := g.do(http.DefaultClient, r); res.StatusCode < 400 {
		t.Error(res.Status)
	}
}

// TestSessionAtAPI checks that the JSON API accepts a session of the console only for requests from the console's own
// pages.
func TestSessionAtAPI(t *testing.T) {
	g := newGate(t, "")
	if !strings.Contains(g.page(g.ana, "/api/changes", 200), "changes") {
		t.Error("not the changes")
	}
	for name, row := range map[string]struct {
		header, value string
		status        int
	}{"its own page": {"Sec-Fetch-Site", "same-origin", 404}, "another site": {"Sec-Fetch-Site", "cross-site", 403}, "a sister site": {"Sec-Fetch-Site", "same-site", 403},
		"an origin": {"Origin", "https://evil.example", 403}} {
		r := g.request("POST", "/api/changes/01ARZ3NDEKTSV4RRFFQ69G5FAV/comment", `{"comment":"x"}`)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(row.header, row.value)
		if res := g.do(g.ana, r); res.StatusCode != row.status {
			t.Errorf("%s: %s", name, res.Status)
		}
	}
	for name, row := range map[string]struct {
		header, value string
		status        int
	}{"typed": {"Sec-Fetch-Site", "none", 200}, "its own page": {"Origin", g.url, 200}, "another site": {"Sec-Fetch-Site", "cross-site", 403}, "an origin": {"Origin", "https://evil.example", 403}} {
		r := g.request("GET", "/api/changes", "")
		r.Header.Set(row.header, row.value)
		if res := g.do(g.ana, r); res.StatusCode != row.status {
			t.Errorf("reading, %s: %s", name, res.Status)
		}
	}
	if res := g.do(http.DefaultClient, g.request("GET", "/api/changes", "")); res.StatusCode != 401 {
		t.Error(res.Status)
	}
}

// TestFreshAtAPI checks that a session can break the glass at the JSON API only while its sign-in is fresh. A token
// in the request is equally valid.
func TestFreshAtAPI(t *testing.T) {
	g := newGate(t, "")
	person, secret, err := g.p.Tokens.Create(t.Context(), identity.Local("test"), identity.Token{Name: "ana", Kind: identity.Human, Owner: "ana@example.com", Tenant: demo.Acme,
		Scopes: []identity.Scope{identity.Review, identity.Operator}})
	if err != nil {
		t.Fatal(err)
	}
	who, err := person.Principal()
	if err != nil {
		t.Fatal(err)
	}
	session := func(ago time.Duration) string {
		_, secret, err := g.p.Tokens.Issue(t.Context(), who, identity.Ticket{Use: identity.Session, Expires: time.Now().Add(time.Hour), Proven: time.Now().Add(-ago)})
		if err != nil {
			t.Fatal(err)
		}
		return "bailiwick-session=" + secret
	}
	stale := session(identity.Fresh)
	for name, row := range map[string]struct {
		verb, header, value string
		status              int
	}{"fresh": {"break_glass", "Cookie", session(0), 404}, "stale": {"break_glass", "Cookie", stale, 403}, "a stale comment": {"comment", "Cookie", stale, 404},
		"a token": {"break_glass", "Authorization", "Bearer " + secret, 404}, "neither": {"break_glass", "Accept", "*/*", 401}} {
		body := `{"digest":"d","reason":"fire"}`
		if row.verb == "comment" {
			body = `{"comment":"x"}`
		}
		r := g.request("POST", "/api/changes/01ARZ3NDEKTSV4RRFFQ69G5FAV/"+row.verb, body)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(row.header, row.value)
		res := g.do(http.DefaultClient, r)
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode != row.status || (name == "stale") != strings.Contains(string(text), "sign in again at /console/sign-in") {
			t.Errorf("%s: %s\n%s", name, res.Status, text)
		}
	}
}

// TestOperatorsAPI checks that only operators can manage tokens, people and sessions through the JSON API, and only
// in their own tenant. Agents never can.
func TestOperatorsAPI(t *testing.T) {
	g := newGate(t, "")
	call := func(b *http.Client, method, path, body string) (int, map[string]any) {
		r := g.request(method, path, body)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		res := g.do(b, r)
		var out map[string]any
		_ = json.NewDecoder(res.Body).Decode(&out)
		return res.StatusCode, out
	}
	status, made := call(g.ana, "POST", "/api/tokens", `{"name":"bot","owner":"ana@example.com","scopes":"read"}`)
	token, _ := made["token"].(map[string]any)
	secret, _ := made["secret"].(string)
	if status != 200 || token["tenant"] != demo.Acme {
		t.Fatal(status, made)
	}
	if status, _ := g.calls(secret); status != 200 {
		t.Error(status)
	}
	if status, _ := call(g.ana, "POST", "/api/tokens/"+token["id"].(string)+"/revoke", "{}"); status != 200 {
		t.Error(status)
	}
	if status, _ := g.calls(secret); status != 401 {
		t.Error("revoked and good:", status)
	}
	status, invited := call(g.ana, "POST", "/api/people", `{"owner":"ben@example.com","scopes":"read,review"}`)
	if link, _ := invited["sign_in"].(string); status != 200 || !strings.HasPrefix(link, "/console/sign-in?link=bwl_") {
		t.Error(status, invited)
	}
	ben := g.signIn("ben@example.com", identity.Read, identity.Review)
	if status, out := call(g.ana, "GET", "/api/sessions", ""); status != 200 || len(out["sessions"].([]any)) != 2 {
		t.Error(status, out)
	}
	if status, out := call(g.ana, "GET", "/api/people", ""); status != 200 || len(out["people"].([]any)) != 2 {
		t.Error(status, out)
	}
	if status, out := call(g.ana, "POST", "/api/people/remove", `{"owner":"ben@example.com","tenant":"`+demo.Acme+`"}`); status != 200 || out["revoked"] != 1.0 {
		t.Error(status, out)
	}
	if status, _ := call(ben, "GET", "/api/changes", ""); status != 401 {
		t.Error("removed and signed in:", status)
	}
	eve := g.signIn("eve@example.com", identity.Read, identity.Review)
	for _, row := range [][3]string{{"GET", "/api/tokens", ""}, {"POST", "/api/tokens", `{"name":"x","owner":"eve","scopes":"read"}`}, {"GET", "/api/sessions", ""},
		{"POST", "/api/people", `{"owner":"x","scopes":"operator"}`}, {"POST", "/api/people/remove", `{"owner":"ana@example.com"}`}} {
		if status, _ := call(eve, row[0], row[1], row[2]); status != 403 {
			t.Errorf("%s by no operator: %d", row, status)
		}
		if status, _ := call(http.DefaultClient, row[0], row[1], row[2]); status != 401 {
			t.Errorf("%s by nobody: %d", row, status)
		}
	}
	if status, _ := call(g.ana, "POST", "/api/tokens", `{"name":"x","owner":"x","scopes":"read","tenant":"globex"}`); status != 403 {
		t.Error("a token of another tenant:", status)
	}
	if status, _ := call(g.ana, "POST", "/api/tokens", `{"name":"x","owner":"x","scopes":"read","scope":"x"}`); status != 400 {
		t.Error("an unknown member:", status)
	}
}
