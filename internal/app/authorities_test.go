package app

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/value"
)

// TestAuthorities checks that tls.ca is trusted for the token URL of each form of OAuth and for further servers. None
// of these servers may receive the gateway's own certificate.
func TestAuthorities(t *testing.T) {
	var none *issuer
	authority, _ := none.issue(t, "authority")
	served, servedKey := authority.issue(t, "server")
	own, ownKey := authority.issue(t, "own")
	pair, err := tls.X509KeyPair(served.pem, servedKey)
	if err != nil {
		t.Fatal(err)
	}
	secure := func(h http.HandlerFunc) *httptest.Server {
		s := httptest.NewUnstartedServer(h)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	answer := func(w http.ResponseWriter, r *http.Request, text string) {
		if len(r.TLS.PeerCertificates) > 0 {
			text = "the certificate was shown"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, text)
	}
	login := secure(func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, `{"access_token": "tttt", "token_type": "bearer", "expires_in": 3600}`)
	})
	other := secure(func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, fmt.Sprintf("%t", r.Header.Get("Authorization") == "Bearer tttt"))
	})
	base := secure(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `"%t %s"`, r.Header.Get("Authorization") == "Bearer tttt", r.TLS.PeerCertificates[0].Subject.CommonName)
	})
	dir := t.TempDir()
	for name, text := range map[string][]byte{"ca.pem": authority.pem, "own.pem": own.pem, "own.key": ownKey} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	oauth := `{oauth: {token_url: "` + login.URL + `/token", client_id: a, client_secret: bbbb}}`
	document := strings.ReplaceAll(vault, "http://localhost:PORT/up", other.URL)
	files := fmt.Sprintf("certificate: %s/own.pem, key: %[1]s/own.key, ca: %[1]s/ca.pem", dir)
	for _, row := range []struct{ name, keys, operation, want string }{
		{"client credentials", `, credential: ` + oauth, "token", `true own`},
		{"client credentials of each", `, credential: {per_principal: {by: owner, secrets: {ann: ` + oauth + `}}}`, "token", `true own`},
		{"a server", `, servers: {"` + other.URL + `": {credential: {bearer: tttt}}}`, "upload", `true`},
		{"a token of a server", `, servers: {"` + other.URL + `": {credential: ` + oauth + `}}`, "upload", `true`},
	} {
		keys := strings.Replace(row.keys, ", ", ", tls: {"+files+"}, ", 1)
		call := calling(t, document, keys, base.URL)
		if got := call(row.operation, value.Value{}); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}
