package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestKeysRotate changes the secrets of an API in their files. A reload applies them without a restart. Responses
// that repeat the previous or the new secret are masked. A change of the address requires a restart, and the new key
// is not sent to the old address.
func TestKeysRotate(t *testing.T) {
	var last http.Header
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = r.Header.Clone()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"note": "aaaa-1111-aaaa bbbb-2222-bbbb cccc-3333-cccc"}`)
	}))
	defer api.Close()
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "bailiwick.yaml")
	configured := func(base, of string) string {
		return "store: sqlite:b.db\nsources:\n  vault: {openapi: {document: vault.json, base_url: " + base + ", credential: " + of + ", headers: {X-Org: \"${file:org}\"}}}\n" +
			"apis: {vault: {access: [{operations: [note], class: read}]}}\n"
	}
	put("vault.json", `{"openapi": "3.0.3", "info": {"title": "v", "version": "1"}, "paths": {"/note": {"get": {"operationId": "note", "responses": {"200": {"description": "ok",
		"content": {"application/json": {"schema": {"type": "object", "properties": {"note": {"type": "string"}}}}}}}}}}}`)
	const bearer = `{bearer: "${file:key}"}`
	put("bailiwick.yaml", configured(api.URL, bearer))
	put("key", "aaaa-1111-aaaa\n")
	put("org", "org-number-one\n")
	read := func() *config.Config {
		t.Helper()
		c, err := app.LoadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	started := read()
	p, err := app.Build(t.Context(), started)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	who := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ann", Scopes: []identity.Scope{identity.Read}}
	calls := value.OfObject([]value.Member{{Name: "calls", Value: value.OfArray([]value.Value{value.OfObject([]value.Member{{Name: "operation_id", Value: value.OfString("note")}})})}})
	call := func() (key, org, answer string) {
		t.Helper()
		r, err := p.Tools.Call(t.Context(), who, tool.Request{Name: "call_api_read", Arguments: calls})
		if err != nil {
			t.Fatal(err)
		}
		return last.Get("Authorization"), last.Get("X-Org"), r.Text
	}
	reloads := func(restart ...string) {
		t.Helper()
		c := read()
		if keys := app.Restart(started, c); !slices.Equal(keys, restart) {
			t.Errorf("a restart is needed for %v, want %v", keys, restart)
		}
		if _, err := p.Reload(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if key, org, answer := call(); key != "Bearer aaaa-1111-aaaa" || org != "org-number-one" || strings.Contains(answer, "aaaa-1111-aaaa") {
		t.Fatal(key, org, answer)
	}
	put("key", "bbbb-2222-bbbb\n")
	put("org", "org-number-two\n")
	reloads()
	if key, org, answer := call(); key != "Bearer bbbb-2222-bbbb" || org != "org-number-two" || strings.Contains(answer, "aaaa-1111-aaaa") || strings.Contains(answer, "bbbb-2222-bbbb") || !strings.Contains(answer, "cccc-3333-cccc") {
		t.Error(key, org, answer)
	}
	put("key", "cccc-3333-cccc\n")
	put("bailiwick.yaml", configured("https://elsewhere.test", bearer))
	reloads("sources.vault")
	if key, _, _ := call(); key != "Bearer bbbb-2222-bbbb" {
		t.Errorf("the key of another address was sent: %s", key)
	}
	put("bailiwick.yaml", configured(api.URL, `{header: {name: X-Key, value: "${file:key}"}}`)) // of another kind
	reloads("sources.vault")
}
