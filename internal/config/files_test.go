package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumentFiles checks a document in several files. Files in the document's folder are read, and links that leave
// the folder are refused.
func TestDocumentFiles(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.json")
	for name, text := range map[string]string{
		filepath.Join(dir, "api", "api.json"): `{"openapi":"3.0.0","paths":{"/a":{"post":{"operationId":"a","requestBody":{"content":{"application/json":{"schema":{"$ref":"schemas/A.json"}}}}}},
			"/b":{"post":{"operationId":"b","requestBody":{"content":{"application/json":{"schema":{"$ref":"link.json"}}}}}}}}`,
		filepath.Join(dir, "api", "schemas", "A.json"): `{"type":"object","properties":{"x":{"type":"string"}}}`,
		outside: `{"type":"object"}`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "api", "link.json")); err != nil {
		t.Fatal(err)
	}
	c, err := Parse(filepath.Join(dir, "f.yaml"), []byte("sources: {shop: {openapi: {document: api/api.json, base_url: 'https://x.example'}}}\napis: {shop: {}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Rules.APIs["shop"].Document
	if d.Operation("a") == nil || d.Operation("b") != nil || strings.Join(d.Names(), " ") != "A" {
		t.Errorf("%v %v", d.Names(), d.Warnings)
	}
	if notes := strings.Join(c.Notes, "\n"); strings.Count(notes, "link.json: can't be read") != 1 {
		t.Error(notes)
	}
}
