package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// valid checks a document against a published schema: mcpb-manifest-v0.3 of @anthropic-ai/mcpb 2.1.2, and 2025-12-11 of
// github.com/modelcontextprotocol/registry v1.8.8.
func valid(t *testing.T, schema string, document []byte) {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%v\n%s", err, document)
	}
}

// TestRelease bundles programs, and checks what describes them against the published schemas.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"bailiwick-v0.1.0-darwin-arm64", "bailiwick-v0.1.0-windows-amd64.exe", "bailiwick-v0.1.0-darwin-arm64.cdx.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a program"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var first []byte
	for range 2 {
		if err := release("v0.1.0", dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "server.json"))
		if err != nil {
			t.Fatal(err)
		}
		valid(t, "testdata/server.schema.json", text)
		if first == nil {
			first = text
		}
		if !bytes.Equal(text, first) {
			t.Errorf("a second time, %s\nis not %s", text, first)
		}
	}
	var server struct{ Packages []struct{ FileSha256 string } }
	if err := json.Unmarshal(first, &server); err != nil || len(server.Packages) != 2 {
		t.Fatalf("%d packages, %v; want 2\n%s", len(server.Packages), err, first)
	}
	for bundle, program := range map[string]string{"bailiwick-v0.1.0-darwin-arm64.mcpb": "server/bailiwick", "bailiwick-v0.1.0-windows-amd64.mcpb": "server/bailiwick.exe"} {
		z, err := zip.OpenReader(filepath.Join(dir, bundle))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		if len(z.File) != 2 || z.File[1].Name != program || z.File[1].Mode().Perm() != 0o755 {
			t.Errorf("%s holds %v", bundle, z.File)
		}
		r, err := z.File[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		valid(t, "testdata/manifest.schema.json", text.Bytes())
	}
	if err := release("v0.2.0", dir); err == nil {
		t.Error("a release without programs")
	}
}
