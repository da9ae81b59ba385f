package mcp_test

import (
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/authserver"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// A login is a token issuer that is reachable over HTTP.
type login struct {
	*httptest.Server
	t   *testing.T
	key ed25519.PrivateKey
}

func newLogin(t *testing.T) *login {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &login{t: t, key: key}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "1"}}})
	}))
	t.Cleanup(l.Close)
	return l
}

// door returns an authenticator for this server's own tokens and the tokens of l.
func (l *login) door() identity.Authenticator {
	i, err := oidc.New(oidc.Options{Issuer: l.URL, JWKS: l.URL, Audience: []string{"here"}})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(i.Close)
	ours := people()
	ours["bw_ann"] = identity.Principal{ID: "token:ann", TokenID: "ann"}
	return identity.Forms{Tokens: ours, JWT: i}
}

// token returns a token for sub and the audience, with additional claims.
func (l *login) token(sub, audience string, more map[string]any) string {
	l.t.Helper()
	c := map[string]any{"iss": l.URL, "aud": audience, "sub": sub, "exp": time.Now().Unix() + 600, "scope": "read"}
	for k, v := range more {
		c[k] = v
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: l.key}, (&jose.SignerOptions{}).WithHeader("kid", "1"))
	if err != nil {
		l.t.Fatal(err)
	}
	payload, err := json.Marshal(c)
	if err != nil {
		l.t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		l.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		l.t.Fatal(err)
	}
	return text
}

// TestJWT checks the principals of valid tokens. All other tokens must be refused with the same response.
func TestJWT(t *testing.T) {
	l := newLogin(t)
	_, url := start(t, mcp.Options{Tokens: l.door()})
	ask := func(header, args, meta string) (string, string) {
		c := modern("echo", args, meta)
		c.header += "\n-Authorization\n" + header
		res, body := send(t, url, c)
		return res.Status, body
	}
	eve := `"principal":"oidc:eve","sub":"eve","_meta":{"sub":"eve"}`
	good := l.token("ana", "here", map[string]any{"principal": "oidc:eve", "tenant": "eve", "owner": "eve"})
	for _, header := range []string{"Authorization: Bearer " + good, "X-MCP-API-Key: " + good} {
		header += "\nX-User: eve\nX-Forwarded-User: eve"
		if status, body := ask(header, eve, eve); status != "200 OK" || !strings.Contains(body, `"who":"oidc:ana"`) {
			t.Error(header, status, body)
		}
	}
	const unauthorized = `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Unauthorized"}}`
	for _, credential := range []string{
		l.token("ana", "there", nil), l.token("", "here", nil), good[1:], good + "x", "bw_" + good, "bw_bob", "bob",
		l.token("ana", "here", map[string]any{"exp": time.Now().Unix() - 100}), newLogin(t).token("ana", "here", nil),
	} {
		status, body := ask("Authorization: Bearer "+credential, "", "")
		if status != "401 Unauthorized" || body != unauthorized {
			t.Error(credential, status, body)
		}
	}
	for _, header := range []string{"Authorization: Bearer " + good + "\nX-MCP-API-Key: " + good, "Authorization: Bearer " + good + "\nX-MCP-API-Key: bw_ann",
		"Authorization: Bearer bw_ann\nX-MCP-API-Key: " + good} {
		if status, body := ask(header, "", ""); status != "400 Bad Request" || !strings.Contains(body, "more than one credential") {
			t.Error("two credentials:", status, body)
		}
	}
}

// TestJWTSession checks that a session belongs to the subject of a token. Another token of the same subject can use
// the session, and tokens of other subjects can't.
func TestJWTSession(t *testing.T) {
	l := newLogin(t)
	_, url := start(t, mcp.Options{Tokens: l.door()})
	as := func(token string) string { return "\n-Authorization\nAuthorization: Bearer " + token }
	res, body := send(t, url, call{header: strings.TrimPrefix(as(l.token("ana", "here", nil)), "\n"),
		body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`})
	session := res.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal(res.Status, body)
	}
	for _, tt := range []struct {
		name, token string
		want        int
	}{
		{"a token that she got later", l.token("ana", "here", map[string]any{"jti": "2"}), 200},
		{"somebody else's", l.token("bob", "here", nil), 404},
		{"one of ours", "bw_ann", 404},
		{"one for another audience", l.token("ana", "there", nil), 401},
	} {
		c := legacy(session, "2025-11-25", "echo", "", "")
		c.header += as(tt.token)
		if res, body := send(t, url, c); res.StatusCode != tt.want || tt.want == 200 && !strings.Contains(body, `"who":"oidc:ana"`) {
			t.Error(tt.name, res.Status, body)
		}
	}
}

// TestResource checks the metadata that tells clients the issuers and the scopes to request.
func TestResource(t *testing.T) {
	l := newLogin(t)
	s := &shelf{}
	s.put("drop", tool.Custom, fails(&problem.Error{Code: problem.PermissionDenied, Detail: "no", Scope: "write"}))
	s.put("explain", tool.Custom, fails(&problem.Error{Code: problem.PermissionDenied, Detail: "no", Scope: "explain"}))
	words := map[identity.Scope]string{"read": "db:use", "write": "db:change", "delete": "db:change"}
	_, url := start(t, mcp.Options{Tools: s, Tokens: l.door(), Resource: &authserver.Resource{URL: "https://agents.example/db/mcp", Issuers: []string{l.URL}, Words: words}})
	const wellKnown = "/.well-known/oauth-protected-resource"
	want := `{"resource":"https://agents.example/db/mcp","authorization_servers":["` + l.URL + `"],"scopes_supported":["db:use","db:change"],"bearer_methods_supported":["header"]}` + "\n"
	for path, status := range map[string]int{wellKnown: 200, wellKnown + "/mcp": 200, wellKnown + "/db/mcp": 200, wellKnown + "/other": 404, wellKnown + "/": 404} {
		res, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != status || status == 200 && (string(b) != want || res.Header.Get("Content-Type") != "application/json") {
			t.Errorf("%s: %s %s", path, res.Status, b)
		}
	}
	const named = `resource_metadata="https://agents.example/.well-known/oauth-protected-resource/db/mcp"`
	for _, tt := range []struct {
		name, tool, credential string
		status                 int
		want                   string
	}{
		{"nobody", "drop", "x", 401, "Bearer " + named},
		{"a token of the issuer", "drop", l.token("ana", "here", nil), 403, `Bearer error="insufficient_scope", scope="db:use db:change", ` + named},
		{"a scope that the issuer has no word for", "explain", l.token("ana", "here", nil), 403, `Bearer error="insufficient_scope", scope="db:use", ` + named},
		{"a token of ours", "drop", "bw_ann", 403, `Bearer error="insufficient_scope", scope="write", ` + named},
	} {
		for way, c := range map[string]call{"direct": modern(tt.tool, "", ""), "SDK": modern(tt.tool, "", `"progressToken":1`)} {
			c.header += "\n-Authorization\nAuthorization: Bearer " + tt.credential
			res, body := send(t, url, c)
			if got := res.Header.Get("WWW-Authenticate"); res.StatusCode != tt.status || got != tt.want {
				t.Errorf("%s, %s: %s %s\n%s\nwant %s", tt.name, way, res.Status, body, got, tt.want)
			}
		}
	}
	for _, bad := range []string{"agents.example/mcp", "ftp://agents.example/mcp", "https://agents.example/mcp?x=1"} {
		if _, err := mcp.New(mcp.Options{Tools: s, Resource: &authserver.Resource{URL: bad}}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
