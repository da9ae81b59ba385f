package console_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// An issued is a house whose people sign in at a real OpenID Connect provider. The owner of the agent is the person
// at the provider.
type issued struct {
	*house
	issuer string
}

const (
	visitor = "test-user@zitadel.ch" // the address of the person at the provider
	groups  = `{reviewers: [read, review], operators: [read, review, operator, audit]}`
)

func newIssued(t *testing.T) issued {
	var in issued
	in.house = newHouseWith(t, func(address string) string {
		in.issuer = services.OIDC(t, address+"/console/sign-in/callback", demo.Acme)
		t.Setenv("BAILIWICK_TEST_SECRET", "secret")
		return fmt.Sprintf("\nauth:\n  oidc:\n    issuer: %s\n    sign_in:\n      client_id: gate\n      client_secret: ${BAILIWICK_TEST_SECRET}\n      name: The company\n"+
			"      claims: {tenant: org, scopes: {claim: groups, values: %s}}\n      step_up: {acr: [gold]}\n", in.issuer, groups)
	})
	in.agent.Owner = visitor
	return in
}

// belongs sets the groups of the person at the provider.
func (in issued) belongs(t *testing.T, groups string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", in.issuer+"test/groups?set="+groups, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
}

// signIn signs in on the provider's pages, starting from the sign-in page of the console.
func (b *tab) signIn() {
	b.t.Helper()
	b.click(".wide-button")
	b.typed("#username", "test-user@localhost")
	b.typed("#password", "verysecure\r")
	b.visible("nav[aria-label=Pages]")
}

// pages returns the names of the pages in the person's navigation.
func (b *tab) pages() string {
	b.t.Helper()
	return eval[string](b, `[...document.querySelectorAll("nav[aria-label=Pages] a")].map((a) => a.textContent).join(" ")`)
}

// TestBrowserIssuer signs a person in at a real provider with a real browser. Groups determine the rights, and other
// groups give other rights at the next sign-in. To break the glass, a person must sign in at a higher level. Sessions
// are listed and ended. A sign-out also ends the session at the provider.
func TestBrowserIssuer(t *testing.T) {
	in := newIssued(t)
	issue, _ := in.issue(t, 0)
	change := in.retitle(t, issue, "Refunds are paid out twice")
	browser, axe := chrome(t), services.Axe(t)
	b, elsewhere := in.tab(t, browser, ""), in.tab(t, browser, "")

	b.open("/console/changes/" + change)
	b.visible(".wide-button")
	if wrong := eval[string](b, look) + violations(b, axe); wrong != "" {
		t.Error("the sign-in page:", wrong)
	}
	b.signIn()
	b.waitFor(`location.pathname === "/console/changes/` + change + `"`)
	if got := b.pages(); strings.Contains(got, "People") || !strings.Contains(got, "Changes") {
		t.Error("a reviewer's pages:", got)
	}
	if !eval[bool](b, `document.getElementById("approve").disabled && document.body.innerText.includes("an agent of yours: another person decides") && !document.querySelector("form[action$=break-glass]")`) {
		t.Error("the agent's owner may approve:", eval[string](b, `document.querySelector("aside").innerText`))
	}
	elsewhere.open("/console/changes")
	elsewhere.signIn()

	in.belongs(t, "operators")
	b.click(".me summary")
	b.click(`form[action="/console/sign-out"] button`)
	b.visible(".wide-button") // the provider has sent the browser back
	b.open("/console/changes")
	b.visible(".wide-button")
	b.signIn()
	if got := b.pages(); !strings.Contains(got, "People") || !strings.Contains(got, "Audit") {
		t.Error("an operator's pages:", got)
	}
	elsewhere.open("/console/changes")
	elsewhere.visible(".wide-button") // the rights with which the session began no longer exist

	b.open("/console/changes/" + change)
	glass := func() {
		b.click("details:has(form[action$=break-glass]) summary")
		b.typed("#glass-text", "The site is down.")
		b.click("form[action$=break-glass] button")
	}
	glass()
	b.waitFor(`location.search.includes("again=yes")`)
	if wrong := eval[string](b, look) + violations(b, axe); wrong != "" {
		t.Error("the second sign-in:", wrong)
	}
	b.signIn()
	b.waitFor(`location.pathname === "/console/changes/` + change + `"`)
	if got := in.title(t, issue); got == "Refunds are paid out twice" {
		t.Error("signing in again broke the glass")
	}
	glass()
	b.visible(".outcome.state-applied")
	if got := in.title(t, issue); got != "Refunds are paid out twice" {
		t.Errorf("the issue is called %q", got)
	}

	b.open("/console/you")
	// Only one session: each sign-in of this browser ended the previous one.
	b.waitFor(`document.querySelectorAll('form[action*="/you/sessions/"]').length === 1`)
	b.click(`form[action*="/you/sessions/"] button`)
	b.visible(".wide-button")
	in.belongs(t, "others")
	b.click(".wide-button")
	b.typed("#username", "test-user@localhost")
	b.typed("#password", "verysecure\r")
	b.visible(".notice.bad")
	if text := eval[string](b, `document.body.innerText`); !strings.Contains(text, "your account has no rights here") {
		t.Error("without a group:", text)
	}
	if strings.Contains(in.log.String(), "ERROR") {
		t.Error(in.log)
	}
}

// TestBrowserConsent lets an agent sign in with a real browser. The agent's client sends the person to the gateway.
// The gateway redirects to the provider and back to the consent page. The answer of that page redirects to the
// client.
func TestBrowserConsent(t *testing.T) {
	in := newIssued(t)
	browser, axe := chrome(t), services.Axe(t)
	b := in.tab(t, browser, "")
	came := make(chan url.Values, 3)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/landing" {
			came <- r.URL.Query()
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><title>Done</title><p id="done">Go back to your program.`)
	}))
	t.Cleanup(app.Close)
	text, _ := json.Marshal(map[string]any{"client_name": "Planner", "redirect_uris": []string{app.URL + "/landing"}})
	resp, err := http.Post(in.url+"/oauth/register", "application/json", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var client struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&client); err != nil {
		t.Fatal(err)
	}
	const verifier = "a-verifier-of-a-client-that-has-at-least-43-characters"
	sum := sha256.Sum256([]byte(verifier))
	ask := "/console/allow?" + url.Values{"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {app.URL + "/landing"}, "state": {"s"}, "scope": {"read write"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {in.url + "/mcp"}}.Encode()

	b.open(ask)
	b.signIn()
	b.visible("section.allow")
	for _, screen := range []struct {
		width int64
		dark  bool
	}{{1280, false}, {360, false}, {1280, true}, {360, true}} {
		b.size(screen.width, 740, screen.width == 360)
		b.dark(screen.dark)
		b.open(ask)
		if wrong := eval[string](b, look) + violations(b, axe); wrong != "" {
			t.Errorf("the page of consent, %v: %s", screen, wrong)
		}
	}
	b.shoot("allow", false)
	b.walk()
	b.use("button[value=deny]", kb.Enter)
	b.visible("#done")
	if got := <-came; got.Get("error") != "access_denied" || got.Get("state") != "s" {
		t.Error("refused:", got)
	}
	b.open(ask)
	b.use("[name=scope][value=read]", "  ") // deselect and select again
	b.use("button[value=allow]", kb.Enter)
	b.visible("#done")
	got := <-came
	if got.Get("code") == "" || got.Get("iss") != in.url {
		t.Fatal("allowed:", got)
	}
	resp, err = http.PostForm(in.url+"/oauth/token", url.Values{"grant_type": {"authorization_code"}, "client_id": {client.ID}, "code": {got.Get("code")},
		"redirect_uri": {app.URL + "/landing"}, "code_verifier": {verifier}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var tokens struct {
		Access string `json:"access_token"`
		Scope  string `json:"scope"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&tokens); err != nil || tokens.Access == "" || tokens.Scope != "read" {
		t.Error(resp.Status, err, tokens.Scope)
	}
	b.open("/console/you")
	if text := eval[string](b, `document.querySelector("main").innerText`); !strings.Contains(text, "Planner") {
		t.Error("the agent isn't listed:", text)
	}
	if wrong := eval[string](b, look) + violations(b, axe); wrong != "" {
		t.Error("the agents of a person:", wrong)
	}
	b.use(`form[action*="/you/agents/"] button`, kb.Enter)
	b.waitFor(`document.readyState === "complete" && document.querySelector('form[action*="/you/agents/"]') === null`)
}
