package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// TestCanonicalArgument reloads rules. It checks that tools list apply_canonical_filter only while a canonical filter
// can be switched off.
func TestCanonicalArgument(t *testing.T) {
	dir := t.TempDir()
	if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
		t.Fatal(err)
	}
	load := func(rule string) *config.Config {
		file := filepath.Join(dir, "bailiwick.yaml")
		text := "store: sqlite:memory.db\nsources: {tracker: {url: 'sqlite:tracker.db'}}\nclasses: {tracker.issues: {" + rule + "}}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	p, err := app.Build(t.Context(), load(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	bot := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read}}
	for _, tt := range []struct {
		rule   string
		listed bool
	}{
		{"", false},
		{"canonical: {status: Open}", true},
		{"canonical: {filter: {status: Open}, open: false}", false},
		{"canonical: {filter: {status: Open}, open: true}", true},
		{"", false},
	} {
		if _, err := p.Reload(t.Context(), load(tt.rule)); err != nil {
			t.Fatal(err)
		}
		for _, tool := range p.Tools.List(bot, "") {
			if tool.Name == "query_class" && strings.Contains(string(tool.Input), "apply_canonical_filter") != tt.listed {
				t.Errorf("after %q query_class takes %s", tt.rule, tool.Input)
			}
		}
	}
}
