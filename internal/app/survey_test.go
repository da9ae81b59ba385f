package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestExamineBlames checks that the error names the source that can't be opened among several, in any order.
func TestExamineBlames(t *testing.T) {
	dir := t.TempDir()
	if err := demo.Create(t.Context(), filepath.Join(dir, "good.db")); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"first", "second", "third"} {
		text := "policy: {unlisted: visible}\nsources:\n"
		for _, name := range []string{"first", "second", "third"} {
			file := "good.db"
			if name == bad {
				file = "gone.db"
			}
			text += fmt.Sprintf("  %s: {url: \"sqlite:%s\"}\n", name, filepath.Join(dir, file))
		}
		c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = app.Examine(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), "sources."+bad+".url") || strings.Count(err.Error(), "sources.") != 1 {
			t.Errorf("%s is gone: %v", bad, err)
		}
	}
}

// TestExamineTemplate checks that a missing template is reported at its key, and that an existing template is not
// reported.
func TestExamineTemplate(t *testing.T) {
	at := services.Postgres(t)
	admin, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	if _, err := admin.Exec(t.Context(), "CREATE SCHEMA desk_acme; CREATE TABLE desk_acme.issues (id int PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	for template, want := range map[string]string{"desk_acme": "", "desk_acne": "template"} {
		text := fmt.Sprintf("policy: {unlisted: visible}\nsources:\n  desk: {url: %q, schema: {$cel: \"'desk_' + principal.tenant\"}, template: %s}\n", at, template)
		c, err := config.Parse("bailiwick.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = app.Examine(t.Context(), c)
		if want == "" && err != nil {
			t.Error(err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), "sources.desk.template: source desk: there is no schema \"desk_acne\"") || !strings.Contains(err.Error(), "desk_acme")) {
			t.Errorf("template: %v", err)
		}
	}
}
