package app_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// TestRefusalsTraced checks that a request that is refused before it becomes a call is logged. The log line contains
// the principal and the true reason, for any status.
func TestRefusalsTraced(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bailiwick.yaml")
	if err := errors.Join(os.WriteFile(file, []byte(demo.Config), 0o600), demo.Create(t.Context(), filepath.Join(dir, "tracker.db"))); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p, err := app.BuildWithTelemetry(t.Context(), c, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Serve(t.Context(), p.Door())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.MCP.Close() })
	h := edge.WithDeadlines(s.Handler(), edge.Options{Refused: p.Refused})
	made, agent, err := p.Tokens.Create(t.Context(), identity.Local("test"), identity.Token{Name: "bot", Owner: "ana", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read}})
	if err != nil {
		t.Fatal(err)
	}
	gone, revoked, err := p.Tokens.Create(t.Context(), identity.Local("test"), identity.Token{Name: "gone", Tenant: demo.Acme})
	if err == nil {
		err = p.Tokens.Revoke(t.Context(), identity.Local("test"), gone.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path, token, body string, more ...string) int {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:8420"+path, strings.NewReader(body))
		r.RemoteAddr = "127.0.0.1:9999"
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8420})))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		for i := 0; i < len(more); i += 2 {
			if more[i] == "Host" {
				r.Host = more[i+1]
				continue
			}
			r.Header.Set(more[i], more[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	version := []string{"Mcp-Protocol-Version", "2026-07-28"}
	older := []string{"Mcp-Protocol-Version", "2025-06-18"}
	by, nobody := " from=token:"+made.ID, " from=127.0.0.1/32"
	for _, tt := range []struct {
		name   string
		status int
		want   string
	}{
		{"an agent at the queue", send("GET", "/api/changes", agent, ""), "door=api kind=not_a_reviewer" + by},
		{"an agent that approves", send("POST", "/api/changes/x/approve", agent, "{}"), "door=api kind=decides_without_review" + by},
		{"a revoked token", send("POST", "/mcp", revoked, "{}"), "door=mcp kind=token_revoked" + nobody},
		{"no token", send("GET", "/api/changes", "", ""), "door=api kind=no_credential" + nobody},
		{"a body that is no JSON", send("POST", "/mcp", agent, "{", version...), "door=mcp kind=not_json" + by},
		{"a name twice", send("POST", "/mcp", agent, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, version...), "door=mcp kind=not_json" + by},
		{"a form", send("POST", "/mcp", agent, "a=b", "Content-Type", "application/x-www-form-urlencoded"), "door=mcp kind=media_type" + by},
		{"a page elsewhere", send("POST", "/mcp", agent, "{}", "Origin", "https://evil.example"), "door=mcp kind=origin" + nobody},
		{"another host", send("POST", "/mcp", agent, "{}", "Host", "evil.example"), "door=mcp kind=host" + nobody},
		{"no session", send("POST", "/mcp", agent, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, append(older, "Mcp-Session-Id", "none")...), "door=mcp kind=no_session" + by},
		{"an unknown method", send("POST", "/mcp", agent, `{"jsonrpc":"2.0","id":1,"method":"tools/lost","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, append(version, "Mcp-Method", "tools/lost")...), "door=mcp kind=unknown_method" + by},
		{"an error with 200", send("POST", "/mcp", agent, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}`, older...), "door=mcp kind=invalid_params" + by},
		{"a page without a session", send("GET", "/console/changes", "", ""), "door=console kind=no_credential" + nobody},
		{"a form without a page", send("POST", "/console/sign-in", "", "token=x", "Content-Type", "application/x-www-form-urlencoded"), "door=console kind=foreign_form" + nobody},
	} {
		if tt.name == "an error with 200" && tt.status != http.StatusOK || tt.status >= 500 {
			t.Errorf("%s: answered %d", tt.name, tt.status)
		}
		if !strings.Contains(log.String(), tt.want+" ") && !strings.Contains(log.String(), tt.want+"\n") {
			t.Errorf("%s: answered %d, and no line has %q", tt.name, tt.status, tt.want)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), agent) || strings.Contains(log.String(), revoked) {
		t.Error("a token is in the log")
	}
	if t.Failed() {
		t.Log(log.String())
	}
}
