package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// TestInFolder checks that only files in the folder are read, even if a link replaces a file just before it is read.
func TestInFolder(t *testing.T) {
	dir := t.TempDir()
	folder, outside := filepath.Join(dir, "api"), filepath.Join(dir, "outside.json")
	file := filepath.Join(folder, "part.json")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{outside: `{"outside": 1}`, file: `{"inside": 1}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("part.json", filepath.Join(folder, "link.json")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"part.json", "link.json"} {
		if text, err := config.OpenInFolder(folder, os.ReadFile)(name); err != nil || string(text) != `{"inside": 1}` {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	swapped := config.OpenInFolder(folder, func(file string) ([]byte, error) {
		if err := os.Remove(file); err != nil {
			return nil, err
		}
		if err := os.Symlink(outside, file); err != nil {
			return nil, err
		}
		return os.ReadFile(file)
	})
	if text, err := swapped("part.json"); err == nil {
		t.Errorf("what is outside was read: %q", text)
	}
	if text, err := config.OpenInFolder(folder, os.ReadFile)("part.json"); err == nil {
		t.Errorf("a link out of the folder was followed: %q", text)
	}
}
