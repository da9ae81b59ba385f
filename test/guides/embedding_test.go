package guides

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmbedding compiles each program of docs/embedding.md. The programs stay outside of the source tree: an overlay shows
// them to the go command as packages of this module.
func TestEmbedding(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/embedding.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	args := []string{"list", "-export", "-overlay=" + filepath.Join(dir, "overlay.json")} // compiles, and links nothing
	for _, b := range blocks("docs/embedding.md", string(text)) {
		if !strings.HasPrefix(b.text, "package main\n") {
			continue
		}
		name := fmt.Sprintf("program%d", len(overlay.Replace)+1)
		path := filepath.Join(dir, name+".go")
		if err := os.WriteFile(path, []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(root, "test/guides/testdata", name, "main.go")] = path
		args = append(args, "./test/guides/testdata/"+name)
	}
	if len(overlay.Replace) < 4 {
		t.Fatalf("%d programs", len(overlay.Replace))
	}
	listed, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), listed, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
