package app_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// TestTrustIssuer checks access with a token of a configured issuer. Its principal sees its tenant's records. The
// error for a missing scope contains the issuer's name for that scope.
func TestTrustIssuer(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	login := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "1"}}})
	}))
	defer login.Close()
	dir := t.TempDir()
	if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(`
store: sqlite:%dir/bailiwick.db
sources: {tracker: {url: "sqlite:%dir/tracker.db"}}
classes: {tracker.issues: {tenant: {field: org_id, is: principal.tenant}, visible: [id, title, org_id]}}
auth:
  oidc:
    issuer: `+login.URL+`
    jwks_uri: `+login.URL+`
    audience: ["https://agents.example/mcp"]
    claims:
      tenant: org
      scopes: {claim: roles, values: {viewer: [read], editor: [read, write], root: [read, write, delete]}}
`, "%dir", dir)
	c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), []byte(text), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	o := p.Door()
	o.Logger = slog.New(slog.DiscardHandler)
	if err := p.TrustIssuer(&o); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintln(o.Resource.URL, o.Resource.Issuers, o.Resource.Words); got != fmt.Sprintf("https://agents.example/mcp [%s] map[delete:root read:viewer write:editor]\n", login.URL) {
		t.Error(got)
	}
	s, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	door := httptest.NewServer(s.Handler())
	defer door.Close()
	defer s.Close()
	token := func(org, role string) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign(fmt.Appendf(nil, `{"iss":%q,"aud":"https://agents.example/mcp","sub":"ana","exp":%d,"org":%q,"roles":[%q]}`, login.URL, time.Now().Unix()+600, org, role))
		if err != nil {
			t.Fatal(err)
		}
		text, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, tt := range []struct {
		org, role string
		status    int
		want      string
	}{
		{"acme", "viewer", 200, `"text":"3100"`},
		{"nobody", "viewer", 200, `"text":"0"`},
		{"", "viewer", 200, `there is no class`},
		{"acme", "guest", 403, `"error_code":"permission_denied","scope":"read"`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", door.URL+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count_objects","arguments":{"class_name":"issues"},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Authorization": "Bearer " + token(tt.org, tt.role), "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "count_objects"} {
			r.Header.Set(k, v)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.status || !strings.Contains(string(body), tt.want) {
			t.Errorf("%q %s: %s %s", tt.org, tt.role, res.Status, body)
		}
		challenge := `Bearer error="insufficient_scope", scope="viewer", resource_metadata="https://agents.example/.well-known/oauth-protected-resource/mcp"`
		if got := res.Header.Get("WWW-Authenticate"); tt.status == 403 && got != challenge {
			t.Error(got)
		}
	}
}
