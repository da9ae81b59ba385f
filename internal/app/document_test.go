package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSignedDocument checks that a document at a URL is read with the credentials of its source. They are sent only
// to the host of base_url.
func TestSignedDocument(t *testing.T) {
	const document = `{"openapi": "3.0.3", "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}, "user": {"type": "http", "scheme": "basic"}}},
		"paths": {"/a": {"get": {"operationId": "a", "responses": {"200": {"description": "ok"}}}}}}`
	sent := ""
	note := func(r *http.Request) {
		sent = strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("X-Org")))
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		fmt.Fprint(w, document)
	}))
	defer other.Close()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if note(r); sent == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, document)
	}))
	defer api.Close()
	for _, row := range []struct{ name, at, keys, want string }{
		{"behind a sign-in", api.URL, `, credential: {bearer: aaaa}`, "Bearer aaaa"},
		{"without a credential", api.URL, ``, "the document can't be fetched: the answer is 401 Unauthorized"},
		{"another port", other.URL, `, credential: {bearer: aaaa}, headers: {X-Org: acme}`, ""},
		{"a fixed header", api.URL, `, headers: {X-Org: acme, X-Key: bbbb}`, "bbbb acme"},
		{"several", api.URL, `, credentials: {key: {header: {name: X-Key, value: bbbb}}, user: {basic: {user: u, password: p}}}`, "Basic dTpw bbbb"},
		{"the credentials of principals", api.URL, `, credential: {per_principal: {by: owner, secrets: {ann: aaaa}}}`, "the document can't be fetched: the answer is 401 Unauthorized"},
		{"a scheme that the document doesn't have", api.URL, `, credentials: {kee: {header: {name: X-Key, value: bbbb}}}`, "the document has no security scheme kee. Did you mean key?"},
	} {
		file := filepath.Join(t.TempDir(), "bailiwick.yaml")
		text := fmt.Sprintf("store: sqlite:b.db\nsources:\n  shop: {openapi: {document: \"%s/openapi.json\", base_url: \"%s/v1\"%s}}\napis: {shop: {}}\n", row.at, api.URL, row.keys)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sent = ""
		c, err := LoadFile(file)
		got := sent
		if err != nil {
			got = err.Error()
		} else if c.Rules.APIs["shop"].Document.Operation("a") == nil {
			t.Error(row.name, "the document was not read")
		}
		if got != row.want && (err == nil || !strings.Contains(got, row.want)) {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}
