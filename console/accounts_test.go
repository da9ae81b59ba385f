package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/testservices"
	"github.com/bailiwick-dev/bailiwick/problem"
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

// TestBrowserAccount connects an account at a real provider with a real browser: an agent that acts for the person calls the API
// with it, the audit names the person, and after the person disconnects nothing of it is left.
func TestBrowserAccount(t *testing.T) {
	t.Setenv("BAILIWICK_TEST_SECRET", "secret")
	t.Setenv("BAILIWICK_TEST_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	var in issued
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // who has the token is who the provider says
		ask, err := http.NewRequestWithContext(r.Context(), "GET", in.issuer+"userinfo", nil)
		if err != nil {
			t.Error(err)
			return
		}
		ask.Header.Set("Authorization", r.Header.Get("Authorization"))
		resp, err := http.DefaultClient.Do(ask)
		if err != nil || resp.StatusCode != http.StatusOK {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		resp.Body.Close()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"account": "ana at CRM"}`)
	}))
	t.Cleanup(api.Close)
	in.house = newHouseWith(t, func(address string) string {
		in.issuer = testservices.OIDC(t, address+"/console/sign-in/callback "+address+"/console/you/accounts/crm/callback", demo.Acme)
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
	in.plant.Address = in.url
	browser, axe := chrome(t), testservices.Axe(t)
	b := in.tab(t, browser, "")

	refused := func(when string) {
		t.Helper()
		_, err := in.me(t)
		if p := problem.Of(err); p == nil || p.Code != problem.PermissionDenied || p.Kind != "not_connected" || !strings.Contains(p.Detail, in.url+"/console/you") {
			t.Error(when, err)
		}
	}
	refused("before")
	b.open("/console/you")
	b.click(".wide-button")
	b.typed("#username", "test-user@localhost")
	b.typed("#password", "verysecure\r")
	b.visible(`form[action="/console/you/accounts/crm/connect"]`) // one who may only read signs in to connect
	for _, screen := range []struct {
		width int64
		dark  bool
	}{{1280, false}, {360, true}} {
		b.size(screen.width, 740, screen.width == 360)
		b.dark(screen.dark)
		b.open("/console/you")
		if wrong := eval[string](b, look) + violations(b, axe); wrong != "" {
			t.Errorf("accounts, %v: %s", screen, wrong)
		}
	}
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
	refused("after")
	if rows, err := in.plant.Store.Connections(t.Context()); err != nil || len(rows) != 0 {
		t.Error(rows, err)
	}
	if strings.Contains(in.log.String(), "ERROR") {
		t.Error(in.log)
	}
}
