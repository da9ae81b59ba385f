package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// gateway serves a tool that returns the value structured, over JSON or events.
func gateway(t *testing.T, structured string, isError, events bool) *url.URL {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "answer", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if structured == "echo" {
			return &mcp.CallToolResult{StructuredContent: r.Params.Arguments}, nil
		}
		text := []mcp.Content{&mcp.TextContent{Text: "text"}}
		if isError {
			return &mcp.CallToolResult{IsError: true, Content: text, Meta: mcp.Meta{problem.MetaName: json.RawMessage(structured)}}, nil
		}
		return &mcp.CallToolResult{Content: text, StructuredContent: json.RawMessage(structured)}, nil
	})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: !events})
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

// TestCall checks that a tool's result arrives exactly, over JSON and over events.
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
		if p := problem.Of(err); p.Code != problem.InvalidArgument || !strings.Contains(p.Detail, "anwser") {
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

// TestDialRefuses checks the errors for failed connections.
func TestDialRefuses(t *testing.T) {
	stranger := httptest.NewServer(http.NotFoundHandler())
	defer stranger.Close()
	var got string // the credential that was sent
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

// TestSideBySide checks that each of many concurrent calls gets its own result.
func TestSideBySide(t *testing.T) {
	for _, events := range []bool{false, true} {
		c, err := client.Dial(t.Context(), gateway(t, "echo", false, events), "good", "1")
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 32 {
			all.Go(func() {
				arguments := fmt.Sprintf(`{"n":9007199254740993%d}`, i)
				if a, err := c.Call(t.Context(), "answer", json.RawMessage(arguments)); err != nil || string(a.Structured) != arguments {
					t.Errorf("events %v: %s, %v, want %s", events, a.Structured, err, arguments)
				}
			})
		}
		all.Wait()
	}
}

// TestDispatch checks arbitrary requests. Parameters that are not an object and unknown methods are errors.
func TestDispatch(t *testing.T) {
	c, err := client.Dial(t.Context(), gateway(t, `{}`, false, false), "good", "1")
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Dispatch(t.Context(), "tools/list", json.RawMessage(`{"_meta":{"mine":1}}`))
	if err != nil || !strings.Contains(string(result), `"name":"answer"`) {
		t.Errorf("%s, %v", result, err)
	}
	if _, err := c.Dispatch(t.Context(), "tools/list", json.RawMessage(`[]`)); problem.Of(err).Code != problem.InvalidArgument {
		t.Errorf("parameters that are a list: %v", err)
	}
	if _, err := c.Dispatch(t.Context(), "no/such", nil); err == nil {
		t.Error("a method that does not exist has an answer")
	} else if _, ok := errors.AsType[*client.RPCError](err); !ok {
		t.Errorf("%T, want an RPCError", err)
	}
}

// TestCutStream checks that a truncated response is an error, over events and over a pair of streams.
func TestCutStream(t *testing.T) {
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Header.Get("Mcp-Method") == "server/discover" {
			fmt.Fprint(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{\"instructions\":\"hello\"}}\n\n")
			return
		}
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"resu")
	}))
	defer door.Close()
	c, err := client.Dial(t.Context(), at(t, door.URL), "", "1")
	if err != nil || c.Instructions() != "hello" {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), "answer", json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "can't be read: unexpected EOF") {
		t.Error(err)
	}
	requests, out := io.Pipe()
	in, answers := io.Pipe()
	go func() {
		lines := bufio.NewScanner(requests)
		lines.Scan()
		fmt.Fprintln(answers, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		lines.Scan()
		fmt.Fprint(answers, `{"jsonrpc":"2.0","id":2,`)
		answers.Close()
	}()
	if c, err = client.Stream(t.Context(), in, out, "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), "answer", json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "ended the conversation") {
		t.Error(err)
	}
}
