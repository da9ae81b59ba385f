package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/test/scripted"
)

// TestRun checks that the bot answers each line of input.
func TestRun(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	gateway := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	defer gateway.Close()
	heard := &scripted.Server{Script: scripted.Play(scripted.Turn{Text: "Hello."}, scripted.Turn{Text: "Bye."})}
	model := httptest.NewServer(heard)
	defer model.Close()
	t.Setenv("LLM_PROVIDER", "compatible")
	t.Setenv("LLM_MODEL", "m")
	t.Setenv("LLM_BASE_URL", model.URL+"/v1")
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = stdin }()
	if _, err := out.WriteString("Hello?\nAnything else?\n"); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := run(t.Context(), gateway.URL, ""); err != nil {
		t.Fatal(err)
	}
	r := heard.Requests()
	if len(r) != 2 || len(r[1].Messages) != 3 || !strings.Contains(r[0].System, "support desk") {
		t.Errorf("%+v", r)
	}
}
