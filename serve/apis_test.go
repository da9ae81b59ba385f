package serve_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/serve"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
)

const pictures = `{"openapi": "3.0.0", "info": {"title": "Pictures", "version": "1"}, "paths": {"/pictures/{id}": {"get": {"operationId": "getPicture",
  "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
  "responses": {"200": {"description": "a picture", "content": {"image/png": {}}}}}}}}`

// TestFiles reads a binary response of an API with a real client. The answer links to a resource. Only the principal
// that made the call can read it, under the rules in force at that time. The API gets the headers that the program
// returns for each principal.
func TestFiles(t *testing.T) {
	picture := bytes.Repeat([]byte("\x89PNG\r\n\x1a\n\x00\x01\x02\x03"), 100_000)
	var gone atomic.Bool
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-On-Behalf-Of") != "ana" || gone.Load() {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Disposition", `attachment; filename="../p1.png"`)
		_, _ = w.Write(picture)
	}))
	t.Cleanup(api.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "bailiwick.yaml")
	config := fmt.Sprintf("store: sqlite:bailiwick.db\nsources:\n  pictures: {openapi: {document: pictures.json, base_url: %s}}\napis: {pictures: {}}\n", api.URL)
	for path, text := range map[string]string{file: config, filepath.Join(dir, "pictures.json"): pictures} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := serve.Open(t.Context(), file, serve.Options{Authenticate: signedIn, Credential: func(source string) openapi.Credential {
		if source != "pictures" {
			return nil
		}
		return openapi.Headers(func(_ context.Context, who identity.Principal) (http.Header, error) {
			return http.Header{"X-On-Behalf-Of": {who.Owner}}, nil
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.MCP())
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	connect := func(user string) *mcp.ClientSession {
		c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: web.URL + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: as(user)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	agent := connect("agent")
	res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "call_api_read", Arguments: map[string]any{"operationId": "getPicture", "path": map[string]any{"id": "p1"}}})
	if err != nil || res.IsError || len(res.Content) != 2 {
		t.Fatal(err, res.Content)
	}
	link, ok := res.Content[1].(*mcp.ResourceLink)
	if !ok || link.Name != "p1.png" || link.MIMEType != "image/png" || link.Size == nil || *link.Size != int64(len(picture)) {
		t.Fatalf("%+v", res.Content[1])
	}
	var said struct{ URI, SHA256 string }
	if err := json.Unmarshal([]byte(res.Content[0].(*mcp.TextContent).Text), &said); err != nil || said.URI != link.URI || said.SHA256 != fmt.Sprintf("%x", sha256.Sum256(picture)) {
		t.Error(said, err)
	}
	read := func(c *mcp.ClientSession, uri string) ([]byte, error) {
		res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, err
		}
		if len(res.Contents) != 1 || res.Contents[0].MIMEType != "image/png" || res.Contents[0].URI != uri {
			t.Errorf("%+v", res)
		}
		return res.Contents[0].Blob, nil
	}
	if got, err := read(agent, link.URI); err != nil || !bytes.Equal(got, picture) {
		t.Error(len(got), err)
	}
	absent := ""
	for i, uri := range []string{"bailiwick://files/AAAA", link.URI[:len(link.URI)-2], link.URI + "/x", "bailiwick://files/", strings.Replace(link.URI, "files/", "files/files/", 1)} {
		_, err := read(agent, uri)
		text := strings.ReplaceAll(fmt.Sprint(err), uri, "URI")
		if i == 0 {
			absent = text
		}
		if err == nil || text != absent {
			t.Errorf("%s: %s, want %s", uri, text, absent)
		}
	}
	if _, err := read(connect("rosa"), link.URI); err == nil || strings.ReplaceAll(fmt.Sprint(err), link.URI, "URI") != absent {
		t.Error("another principal:", err)
	}
	gone.Store(true)
	if got, err := read(agent, link.URI); err == nil || len(got) > 0 {
		t.Error("what the API refuses now:", len(got))
	}
	gone.Store(false)
	if err := os.WriteFile(file, []byte(strings.Replace(config, "apis: {pictures: {}}", "apis: {pictures: {hidden: [{operations: [getPicture]}]}}", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := read(agent, link.URI); err == nil || strings.ReplaceAll(fmt.Sprint(err), link.URI, "URI") != absent {
		t.Error("once the operation is hidden:", err)
	}
}
