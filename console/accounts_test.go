package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

const crm = `{"openapi": "3.0.0", "info": {"title": "CRM", "version": "1"}, "paths": {"/me": {"get": {"operationId": "whoAmI",
  "responses": {"200": {"description": "the account", "content": {"application/json": {"schema": {"type": "object", "properties": {"account": {"type": "string"}}}}}}}}}}}`

// me calls the API as the agent.
func (h *house) me(t *testing.T) (string, error) {
	t.Helper()
	var out string
	err := h.plant.Gateway.Do(t.Context(), h.agent, bailiwick.CallSpec{Tool: "call_api_read", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		got, err := c.CallAPI(ctx, bailiwick.APIRead{API: "crm", Operation: "whoAmI"})
		if err == nil {
			out = got.Body.String()
		}
		return 0, err
	})
	return out, err
}

// An account is a person's account at a real provider, in a real browser. A CRM accepts the provider's tokens.
type account struct {
	issued
	*tab
	axe     string
	mu      sync.Mutex
	expired map[string]bool // tokens that the CRM refuses
	last    string          // the last token that the CRM accepted
}

// newAccount starts the provider, the CRM, the gateway and a browser.
func newAccount(t *testing.T) *account {
	t.Helper()
	t.Setenv("BAILIWICK_TEST_SECRET", "secret")
	t.Setenv("BAILIWICK_TEST_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	in := &account{expired: map[string]bool{}}
	api := httptest.NewServer(http.HandlerFunc(in.crm))
	t.Cleanup(api.Close)
	in.house = newHouseWith(t, func(address string) string {
		in.issuer = services.OIDC(t, address+"/console/sign-in/callback "+address+"/console/you/accounts/crm/callback", demo.Acme)
		dir := t.TempDir()
		source := fmt.Sprintf("sources:\n  crm:\n    openapi:\n      document: crm.json\n      base_url: %s\n      credential:\n        person: {authorize_url: %sauth, token_url: %soauth/token, revoke_url: %srevoke, "+
			"client_id: gate, client_secret: \"${BAILIWICK_TEST_SECRET}\", scopes: [openid, offline_access]}\napis: {crm: {}}\naccounts: {key: \"${BAILIWICK_TEST_KEY}\"}\n", api.URL, in.issuer, in.issuer, in.issuer)
		for name, text := range map[string]string{"crm.json": crm, "crm.yaml": source} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return fmt.Sprintf("\ninclude: [%s]\nauth:\n  oidc:\n    issuer: %s\n    sign_in:\n      client_id: gate\n      client_secret: ${BAILIWICK_TEST_SECRET}\n"+
			"      claims: {tenant: org, scopes: {claim: groups, values: {reviewers: [read]}}}\n", filepath.Join(dir, "crm.yaml"), in.issuer)
	})
	in.agent.Owner = visitor
	in.plant.Address = in.house.url
	in.axe, in.tab = services.Axe(t), in.house.tab(t, chrome(t), "")
	return in
}

// crm is the API. It responds with the account of the person whose token the request carries.
func (in *account) crm(w http.ResponseWriter, r *http.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	token := r.Header.Get("Authorization")
	ask, err := http.NewRequestWithContext(r.Context(), "GET", in.issuer+"userinfo", nil)
	if err != nil {
		panic(err)
	}
	ask.Header.Set("Authorization", token)
	resp, err := http.DefaultClient.Do(ask)
	if err == nil {
		resp.Body.Close()
	}
	if err != nil || resp.StatusCode != http.StatusOK || in.expired[token] {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	in.last = token
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"account": "ana at CRM"}`)
}

// refused checks that an agent's call is refused, and that the error contains the page where the person connects the
// account.
func (in *account) refused(t *testing.T, when string) {
	t.Helper()
	_, err := in.me(t)
	if p := problem.Of(err); p == nil || p.Code != problem.PermissionDenied || p.Kind != "not_connected" || !strings.Contains(p.Detail, in.house.url+"/console/you") {
		t.Error(when, err)
	}
}

// accessible checks the page at path in a wide window and on a phone.
func (in *account) accessible(t *testing.T, path string) {
	t.Helper()
	for _, screen := range []struct {
		width int64
		dark  bool
	}{{1280, false}, {360, true}} {
		in.size(screen.width, 740, screen.width == 360)
		in.dark(screen.dark)
		in.open(path)
		if wrong := eval[string](in.tab, look) + violations(in.tab, in.axe); wrong != "" {
			t.Errorf("%s, %v: %s", path, screen, wrong)
		}
	}
	in.dark(false)
}

// TestBrowserAccount connects an account at a real provider with a real browser. An agent that acts for the person
// calls the API with it, and the audit names the person. After the person disconnects, no data of the account
// remains.
func TestBrowserAccount(t *testing.T) {
	in := newAccount(t)
	b := in.tab
	in.refused(t, "before")
	b.open("/console/you")
	b.click(".wide-button")
	b.typed("#username", "test-user@localhost")
	b.typed("#password", "verysecure\r")
	b.visible(`form[action="/console/you/accounts/crm/connect"]`) // a person who may only read signs in to connect
	in.accessible(t, "/console/you")
	b.click(`form[action="/console/you/accounts/crm/connect"] button`)
	b.typed("#username", "test-user@localhost")
	b.typed("#password", "verysecure\r")
	b.visible(`form[action="/console/you/accounts/crm/end"]`)
	if text := eval[string](b, `document.body.innerText`); !strings.Contains(text, "Agents that act for you can use the account now") {
		t.Error(text)
	}
	if got, err := in.me(t); err != nil || got != `{"account":"ana at CRM"}` {
		t.Error(got, err)
	}
	stranger := *in.house
	stranger.agent.Owner = "maria"
	if _, err := stranger.me(t); problem.Of(err) == nil || problem.Of(err).Kind != "not_connected" {
		t.Error("for another person:", err)
	}
	var last audit.Record
	if err := in.plant.Store.Backwards(t.Context(), audit.Last, func(r audit.Record) bool {
		last = r
		return r.Tool != "call_api_read" || r.Outcome != audit.OK
	}); err != nil || last.Credential != "person "+visitor || last.Outcome != audit.OK {
		t.Errorf("the audit: %+v %v", last, err)
	}
	b.click(`form[action="/console/you/accounts/crm/end"] button`)
	b.visible(`form[action="/console/you/accounts/crm/connect"]`)
	in.refused(t, "after")
	if rows, err := in.plant.Store.Connections(t.Context()); err != nil || len(rows) != 0 {
		t.Error(rows, err)
	}
	if strings.Contains(in.log.String(), "ERROR") {
		t.Error(in.log)
	}
}

// TestBrowserAccountByKeyboard connects an account at a phone's width with only the keyboard, after the person first
// refused at the provider. An answer that comes to another session, or twice, connects nothing. An expired token is
// replaced during an agent's call. If the provider no longer refreshes an account, the person must connect it again,
// and the person's page says so.
func TestBrowserAccountByKeyboard(t *testing.T) {
	in := newAccount(t)
	b := in.tab
	b.size(360, 740, true)
	connect, end := `form[action="/console/you/accounts/crm/connect"] button`, `form[action="/console/you/accounts/crm/end"] button`
	signIn := func() {
		t.Helper()
		b.visible("#username")
		b.use("#username", "test-user@localhost")
		b.use("#password", "verysecure")
		b.press(kb.Enter)
	}
	b.open("/console/you")
	b.use(".wide-button", kb.Enter)
	signIn()
	b.visible(connect)
	b.walk()

	// The provider's pages have no button to refuse. So the test sends the answer for a refusal, with the state that
	// the provider received.
	state := eval[string](b, `(async (f) => (await (await fetch(f.action, {method: "POST", body: new URLSearchParams(new FormData(f))})).text()).match(/[?;&]state=([^&"]+)/)[1])(document.querySelector('form[action$="/crm/connect"]'))`)
	b.open("/console/you/accounts/crm/callback?error=access_denied&state=" + state)
	b.visible(".door")
	said := func(want string) {
		t.Helper()
		if text := eval[string](b, `document.body.innerText`); !strings.Contains(text, want) {
			t.Errorf("%s isn't in %s", want, text)
		}
	}
	said("The account isn't connected")
	said("Nothing was connected: you did not agree")
	b.walk()
	in.refused(t, "after a no")
	in.accessible(t, eval[string](b, `location.pathname + location.search`)) // the answer comes a second time
	said("Nothing was connected: this was not begun in this session, was used before")
	b.use(`.door a[href="/console/you"]`, kb.Enter)

	b.visible(connect)
	b.use(connect, kb.Enter)
	signIn()
	b.visible(end)
	b.walk()
	in.accessible(t, "/console/you")
	used := func() string {
		t.Helper()
		if got, err := in.me(t); err != nil || got != `{"account":"ana at CRM"}` {
			t.Error(got, err)
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		return in.last
	}
	first := used()
	in.mu.Lock()
	in.expired[first] = true
	in.mu.Unlock()
	if second := used(); second == first || used() != second {
		t.Error("a token that has expired isn't replaced once")
	}
	b.use(end, kb.Enter)
	b.visible(connect)
	in.refused(t, "after the end")
	if strings.Contains(in.log.String(), "ERROR") {
		t.Error(in.log)
	}
}
