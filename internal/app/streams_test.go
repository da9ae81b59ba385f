package app_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// mark finds the token of a form of the console.
var mark = regexp.MustCompile(`name="mark" value="([^"]+)"`)

// TestStreamsOfReplicas checks that streams of all three transports at one replica end when their credentials are
// revoked at another. The replicas share only the store in PostgreSQL.
func TestStreamsOfReplicas(t *testing.T) {
	ctx := t.Context()
	running := filepath.Join(t.TempDir(), "app.db")
	if err := demo.Create(ctx, running); err != nil {
		t.Fatal(err)
	}
	store := services.Postgres(t)
	serve := func() (*app.App, string) {
		c, err := config.Parse(filepath.Join(filepath.Dir(running), "bailiwick.yaml"), fmt.Appendf(nil,
			"store: %q\nsources: {tracker: {url: \"sqlite:%s\"}}\npolicy: {unlisted: visible}\ngates: {raw_writes: review}\n", store, running), nil)
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		p, err := app.BuildWithTelemetry(ctx, c, log)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		o := p.Door()
		o.Logger = log
		s, err := p.Serve(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.MCP.Close() })
		web := httptest.NewServer(s.Handler())
		t.Cleanup(web.CloseClientConnections)
		return p, web.URL
	}
	one, _ := serve()
	_, there := serve()
	token := func(k identity.Token) (id, secret string) {
		made, secret, err := one.Tokens.Create(ctx, identity.Local("ops"), k)
		if err != nil {
			t.Fatal(err)
		}
		return made.ID, secret
	}
	person := identity.Token{Name: "ben", Kind: identity.Human, Owner: "ben", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read, identity.Review}}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	open := func(method, path, body string, header ...string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, there+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	bot, agent := token(identity.Token{Name: "bot", Owner: "ana", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read}})
	reviewer, api := token(person)
	visitor, console := token(person)
	page, err := io.ReadAll(open("GET", "/console/sign-in?link=x", "").Body)
	if found := mark.FindSubmatch(page); err != nil || found == nil {
		t.Fatalf("%s %v", page, err)
	} else if res := open("POST", "/console/sign-in", url.Values{"credential": {console}, "mark": {string(found[1])}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Origin", there, "Sec-Fetch-Site", "same-origin"); res.StatusCode != http.StatusSeeOther {
		t.Fatal("sign in:", res.Status)
	}
	streams := []struct {
		name, token string
		res         *http.Response
	}{
		{"mcp", bot, open("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			"Authorization", "Bearer "+agent, "Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")},
		{"review API", reviewer, open("GET", "/api/changes/events", "", "Authorization", "Bearer "+api)},
		{"console", visitor, open("GET", "/console/events", "")},
	}
	ended := make([]chan time.Time, len(streams))
	for i, s := range streams {
		if kind := s.res.Header.Get("Content-Type"); s.res.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
			t.Fatalf("%s: %s %s", s.name, s.res.Status, kind)
		}
		ended[i] = make(chan time.Time, 1)
		go func() {
			_, _ = io.Copy(io.Discard, s.res.Body)
			ended[i] <- time.Now()
		}()
	}
	time.Sleep(time.Second) // the streams stay open while nothing is revoked
	for i, s := range streams {
		select {
		case <-ended[i]:
			t.Fatalf("the stream of %s ended by itself", s.name)
		default:
		}
		began := time.Now()
		if err := one.Tokens.Revoke(ctx, identity.Local("ops"), s.token); err != nil {
			t.Fatal(err)
		}
		select {
		case at := <-ended[i]:
			t.Logf("%s: ended %v after the revocation at the other replica", s.name, at.Sub(began).Round(time.Millisecond))
		case <-time.After(30 * time.Second): // 2 s on an idle machine
			t.Errorf("the stream of %s is open 30 s after its token was revoked at the other replica", s.name)
		}
	}
}
