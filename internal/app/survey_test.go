package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// TestExamineBlames checks that of several sources the one that can't be opened is named, in any order.
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
