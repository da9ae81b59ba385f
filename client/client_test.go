package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/client"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// gateway serves a tool that answers with structured, over JSON or events.
func gateway(t *testing.T, structured string, isError, events bool) *url.URL {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "answer", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: isError, Content: []mcp.Content{&mcp.TextContent{Text: "text"}}, StructuredContent: json.RawMessage(structured)}, nil
	})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{JSONResponse: !events})
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	return at(t, door.URL)
}

func at(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestCall: what a tool answers comes as it was written, over JSON and over events.
func TestCall(t *testing.T) {
	const exact = `{"n":9007199254740993,"d":0.10,"text":"data: {\"result\":1}"}`
	for _, events := range []bool{false, true} {
		c, err := client.Dial(t.Context(), gateway(t, exact, false, events), "good", "1")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for range 2 {
			a, err := c.Call(t.Context(), "answer", json.RawMessage(`{}`))
			if err != nil || a.Text != "text" || string(a.Structured) != exact {
				t.Errorf("events %v: %s, %q, %v", events, a.Structured, a.Text, err)
			}
		}
		_, err = c.Call(t.Context(), "anwser", json.RawMessage(`{}`))
		if p := problem.Of(err); p.Code != problem.UnknownTool || len(p.Near) != 1 || p.Near[0] != "answer" {
			t.Errorf("an unknown tool: %+v", p)
		}
	}
}

func TestRefusal(t *testing.T) {
	const told = `{"error":"no","error_code":"invalid_query","details":{"pointer":"/where","near":["a"],"kind":"field_denied","denied_field":"b","status":409,"upstream_code":"taken","message":"is taken"},"retryable":false,"retry_after":1.5}`
	c, err := client.Dial(t.Context(), gateway(t, told, true, false), "good", "1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Call(t.Context(), "answer", json.RawMessage(`{}`))
	r, ok := errors.AsType[*client.Refusal](err)
	if !ok || string(r.Raw) != told {
		t.Fatalf("%v", err)
	}
	if p := r.Problem; p.Code != problem.InvalidQuery || p.Detail != "no" || p.Pointer != "/where" || p.Near[0] != "a" || p.RetryAfter.Seconds() != 1.5 ||
		p.Denial == nil || p.Denial.Kind != "field_denied" || p.Denial.Field != "b" || p.Reply == nil || *p.Reply != (problem.Reply{Status: 409, UpstreamCode: "taken", Message: "is taken"}) {
		t.Errorf("%+v", p)
	}
}

// TestDialRefuses tells why there is no conversation.
func TestDialRefuses(t *testing.T) {
	stranger := httptest.NewServer(http.NotFoundHandler())
	defer stranger.Close()
	var got string // the credential that came along
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }))
	defer elsewhere.Close()
	moved := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	g := gateway(t, `{}`, false, false)
	for _, tt := range []struct {
		u           *url.URL
		token, want string
	}{
		{g, "", "wants a token"},
		{g, "bad", "does not accept this token"},
		{at(t, stranger.URL), "good", "there is no gateway at " + stranger.URL + "/mcp: it answers with HTTP status 404"},
		{at(t, moved.URL), "good", "it answers with HTTP status 307"},
		{at(t, "http://127.0.0.1:1"), "good", "no gateway answers at http://127.0.0.1:1/mcp: "},
	} {
		c, err := client.Dial(t.Context(), tt.u, tt.token, "1")
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.u, err, tt.want)
		}
	}
	if got != "" {
		t.Errorf("the token went to another address: %q", got)
	}
}
