package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A caller sends the same POST repeatedly on one connection.
type caller struct {
	client *http.Client
	url    string
	header http.Header
	body   []byte
}

// send returns the body of the response. The result is valid until the next call of send with the same buffer.
func (c *caller) send(ctx context.Context, into *bytes.Buffer) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(c.body))
	if err != nil {
		return err
	}
	r.Header = c.header
	res, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	into.Reset()
	if _, err := into.ReadFrom(res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK || bytes.Contains(into.Bytes(), []byte(`"isError":true`)) {
		return fmt.Errorf("%s: %s", res.Status, into)
	}
	return nil
}

func httpClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func header(lines ...string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for _, l := range lines {
		name, v, _ := strings.Cut(l, ": ")
		h.Set(name, v)
	}
	return h
}

// modern returns a call in the form of clients of MCP 2026-07-28.
func modern(t testing.TB, url, token, name, arguments string) *caller {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	return &caller{httpClient(t), url, header("Authorization: Bearer "+token, "Mcp-Protocol-Version: 2026-07-28",
		"Mcp-Method: tools/call", "Mcp-Name: "+name), []byte(body)}
}

// legacy returns a call in the form of clients of MCP 2025-11-25. It begins a session for it.
func legacy(t testing.TB, url, token, name, arguments string) *caller {
	t.Helper()
	c := &caller{client: httpClient(t), url: url, header: header("Authorization: Bearer " + token)}
	c.body = []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = c.header
	res, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	session := res.Header.Get("Mcp-Session-Id")
	if err != nil || session == "" {
		t.Fatal("initialize: ", res.Status, err)
	}
	c.header = header("Authorization: Bearer "+token, "Mcp-Protocol-Version: 2025-11-25", "Mcp-Session-Id: "+session)
	c.body = []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`)
	return c
}

const echoSchema = `{"type": "object", "additionalProperties": false, "properties": {"n": {"type": "integer"}}}`

// echo returns a tool that answers with its arguments.
func echo() tool.Tool {
	return tool.Tool{Name: "echo", Title: "Echo", Description: "Answers with its arguments.", Input: json.RawMessage(echoSchema),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true}, Category: tool.Custom,
		Handle: func(_ context.Context, _ *bailiwick.Call, args value.Value) (tool.Result, error) {
			return tool.Result{Structured: args.AppendJSON(nil), Text: "echoed"}, nil
		}}
}

// door serves the tools for the demo's tracker over HTTP with Bailiwick's own tokens. It returns the address and a
// token.
func door(t testing.TB) (url, token string) {
	t.Helper()
	kept := store(t)
	tokens := identity.NewTokens(identity.TokenOptions{Store: kept, Audit: kept})
	t.Cleanup(func() { tokens.Close(context.Background()) })
	_, token, err := tokens.Create(t.Context(), identity.Local("bench"), identity.Token{Name: "bench", Owner: "ann", Tenant: demo.Acme})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.New(mcp.Options{Tools: benchTools(t, gateway(t, sqliteSource(t, tracker(t)), rules(t), &sealed{}), echo()), Tokens: tokens, Results: map[string]mcp.Form{"": mcp.Both}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.Close()
		h.Close()
	})
	return h.URL + "/mcp", token
}

// bare returns a call to an echo without MCP, which returns its JSON body.
func bare(t testing.TB) *caller {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct {
			N int64 `json:"n"`
		}
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(message) // the client may have disconnected
	}))
	t.Cleanup(h.Close)
	return &caller{httpClient(t), h.URL, header(), []byte(`{"n":1}`)}
}

// bareSDK returns a call to an echo that uses only the MCP SDK, without tokens, policy, audit or limits.
func bareSDK(t testing.TB) *caller {
	s := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "echo", InputSchema: json.RawMessage(echoSchema)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echoed"}}, StructuredContent: r.Params.Arguments}, nil
	})
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	t.Cleanup(h.Close)
	return modern(t, h.URL, "", "echo", `{"n":1}`)
}

// TestEchoes checks that all echoes return the sent text.
func TestEchoes(t *testing.T) {
	url, token := door(t)
	for name, c := range map[string]*caller{"bare": bare(t), "sdk": bareSDK(t), "modern": modern(t, url, token, "echo", `{"n":1}`), "legacy": legacy(t, url, token, "echo", `{"n":1}`)} {
		var b bytes.Buffer
		if err := c.send(t.Context(), &b); err != nil || !strings.Contains(b.String(), `{"n":1}`) {
			t.Errorf("%s: %s %v", name, b.String(), err)
		}
	}
}

// BenchmarkHTTP measures a call over loopback through the complete transport with token, checks, limits and audit. It
// compares with an echo in net/http and an echo in the SDK.
func BenchmarkHTTP(b *testing.B) {
	url, token := door(b)
	run := func(name string, c *caller) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var answer bytes.Buffer
			for b.Loop() {
				if err := c.send(b.Context(), &answer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("echo/bare", bare(b))
	run("echo/sdk", bareSDK(b))
	run("echo/2026-07-28", modern(b, url, token, "echo", `{"n":1}`))
	run("echo/2025-11-25", legacy(b, url, token, "echo", `{"n":1}`))
	page := `{"class_name":"issues","order":"id",` + fields + `}`
	run("rows50/2026-07-28", modern(b, url, token, "query_class", page))
	run("rows50/2025-11-25", legacy(b, url, token, "query_class", page))
}
