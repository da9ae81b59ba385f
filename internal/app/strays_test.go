package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// TestStrays makes tokens whose lists name tools. A reload warns of unknown names, and says when it checked only the newest
// tokens.
func TestStrays(t *testing.T) {
	dir := t.TempDir()
	if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "bailiwick.yaml")
	if err := os.WriteFile(file, []byte("store: sqlite:store.db\nsources: {tracker: {url: 'sqlite:tracker.db'}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	create := func(tool string) {
		t.Helper()
		token := identity.Token{Name: "bot", Kind: identity.Agent, Tenant: "acme", Scopes: []identity.Scope{identity.Read}, Tools: identity.List{Only: []string{tool}}, Expires: time.Now().Add(time.Hour)}
		if _, _, err := p.Tokens.Create(t.Context(), identity.Local("test"), token); err != nil {
			t.Fatal(err)
		}
	}
	const cut = "only the newest 1000 tokens with lists were checked for unknown names"
	warned := func(unknown, newest bool) {
		t.Helper()
		warnings, err := p.Reload(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		stray := slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, `get_schma`) })
		if stray != unknown || slices.Contains(warnings, cut) != newest {
			t.Error(fmt.Sprintf("the name is unknown: %v, the newest only: %v, in", stray, newest), warnings)
		}
	}
	warned(false, false)
	create("get_schma")
	warned(true, false)
	for range 1000 {
		create("get_schema")
	}
	warned(false, true)
}
