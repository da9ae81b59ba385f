package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
)

func TestMain(m *testing.M) {
	// The default transport contains idle connections of the SDK's own client.
	goleak.VerifyTestMain(m,
		goleak.Cleanup(func(code int) { http.DefaultTransport.(*http.Transport).CloseIdleConnections() }))
}

// A shelf implements Tools for the tests with handlers.
type shelf struct {
	list     []*tool.Tool
	handlers map[string]func(context.Context, identity.Principal, tool.Request) (tool.Result, error)

	mu       sync.Mutex
	admitted []string
	refuse   error // the error that Admit returns
	calls    []tool.Request
}

func (s *shelf) List(p identity.Principal, category string) []*tool.Tool {
	var list []*tool.Tool
	for _, t := range s.list {
		if p.Tools.Allows(t.Name) && (category == "" || string(t.Category) == category) {
			list = append(list, t)
		}
	}
	return list
}

func (s *shelf) Call(ctx context.Context, p identity.Principal, r tool.Request) (tool.Result, error) {
	s.mu.Lock()
	s.calls = append(s.calls, r)
	s.mu.Unlock()
	h := s.handlers[r.Name]
	if h == nil || !p.Tools.Allows(r.Name) {
		return tool.Result{}, problem.New(problem.UnknownTool, "unknown tool")
	}
	return h(ctx, p, r)
}

func (s *shelf) Admit(ctx context.Context, p identity.Principal, name string, run func(context.Context) (int, error)) error {
	s.mu.Lock()
	s.admitted = append(s.admitted, p.ID+" "+name)
	refuse := s.refuse
	s.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	done := make(chan error, 1)
	go func() { // a separate goroutine, like a timeout might use. Its caller can't recover a panic there
		_, err := run(ctx)
		done <- err
	}()
	return <-done
}

type handlerFunc = func(context.Context, identity.Principal, tool.Request) (tool.Result, error)

// put adds a tool with the handler h.
func (s *shelf) put(name string, c tool.Category, h handlerFunc) {
	s.list = append(s.list, &tool.Tool{
		Name: name, Title: strings.ToUpper(name), Description: "Does " + name + ". Then no more.", Category: c,
		Input:  json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
		Output: json.RawMessage(`{"type":"object"}`),
	})
	if s.handlers == nil {
		s.handlers = map[string]handlerFunc{}
	}
	s.handlers[name] = h
}

func echo(_ context.Context, p identity.Principal, r tool.Request) (tool.Result, error) {
	b := r.Arguments.AppendJSON([]byte(`{"who":"` + p.ID + `","args":`))
	return tool.Result{Structured: append(b, '}'), Text: "echoed", Class: "tracker.issues"}, nil
}

// fails returns a handler that returns err.
func fails(err error) handlerFunc {
	return func(context.Context, identity.Principal, tool.Request) (tool.Result, error) {
		return tool.Result{}, err
	}
}

// tokens contains the credentials of the tests. The token "x" belongs to the principal "token:x".
type tokens map[string]identity.Principal

func (t tokens) Authenticate(_ context.Context, credential string, _ netip.Addr) (identity.Principal, error) {
	if credential == "store-down" {
		return identity.Principal{}, errors.New("dial tcp 10.1.2.3:5432: refused")
	}
	if credential == "store-gone" {
		return identity.Principal{}, problem.StoreError("token_store", errors.New("dial tcp 10.1.2.3:5432: refused"))
	}
	p, ok := t[credential]
	if !ok {
		return p, problem.New(problem.Unauthorized, "unknown token "+credential)
	}
	return p, nil
}

func people() tokens {
	return tokens{
		"ann": {ID: "token:ann", Name: "Ann's agent"},
		"bob": {ID: "token:bob", Tools: identity.List{Except: []string{"secret", "headers"}}},
	}
}

// start serves with the options o and the test tokens on a free loopback port. By default it has the tools echo and
// secret, and sends results in both forms.
func start(t *testing.T, o mcp.Options) (*mcp.Server, string) {
	t.Helper()
	if o.Tools == nil {
		s := &shelf{}
		s.put("echo", tool.Custom, echo)
		s.put("secret", tool.Query, echo)
		o.Tools = s
	}
	if o.Results == nil {
		o.Results = map[string]mcp.Form{"": mcp.Both}
	}
	if o.Tokens == nil && o.Authenticate == nil && o.Anonymous == nil {
		o.Tokens = people()
	}
	s, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		h.Close()
	})
	return s, h.URL
}

// A call is one HTTP request to /mcp.
type call struct {
	method string // "" means POST
	header string // additional headers as lines "Name: value". "-Name" removes a header
	body   string
}

// send sends c as Ann and returns the response and its body.
func send(t *testing.T, url string, c call) (*http.Response, string) {
	t.Helper()
	res := open(t, t.Context(), url, c)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// open sends c and returns the response with its body unread.
func open(t *testing.T, ctx context.Context, url string, c call) *http.Response {
	t.Helper()
	res, err := do(ctx, url, c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func do(ctx context.Context, url string, c call) (*http.Response, error) {
	if c.method == "" {
		c.method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, c.method, url+"/mcp", bytes.NewReader([]byte(c.body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer ann")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for line := range strings.Lines(c.header) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "-"); ok {
			r.Header.Del(name)
			continue
		}
		name, v, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = v
			continue
		}
		if name == "Authorization" {
			r.Header.Del(name)
		}
		r.Header.Add(name, v)
	}
	return http.DefaultClient.Do(r)
}

// modern returns a tool call in MCP 2026-07-28. The strings args and meta are JSON members.
func modern(name, args, meta string) call {
	if meta != "" {
		meta = "," + meta
	}
	return call{
		header: "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: " + name,
		body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{` + args + `},"_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}` + meta + `}}}`,
	}
}

// begin begins a session of an older protocol and returns its ID. The default principal is Ann.
func begin(t *testing.T, url, version string, who ...string) string {
	t.Helper()
	as := ""
	for _, name := range who {
		as = "Authorization: Bearer " + name
	}
	res, body := send(t, url, call{
		header: as,
		body:   `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
	})
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("initialize: %s %s", res.Status, body)
	}
	send(t, url, call{header: strings.TrimSpace(as + "\nMcp-Session-Id: " + id), body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`})
	return id
}

// legacy returns a call of a tool in a session.
func legacy(session, version, name, args, meta string) call {
	return call{
		header: "Mcp-Session-Id: " + session + "\nMcp-Protocol-Version: " + version,
		body:   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{` + args + `},"_meta":{` + meta + `}}}`,
	}
}

// lastEvent returns the data of the last event in a stream, or the body if it is not a stream.
func lastEvent(body string) string {
	data := body
	for line := range strings.Lines(body) {
		if d, ok := strings.CutPrefix(line, "data: "); ok {
			data = strings.TrimSpace(d)
		}
	}
	return data
}

// result returns the result in a response body without _meta. The JSON is compact, with sorted keys.
func result(t *testing.T, body string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(lastEvent(body)))
	d.UseNumber()
	var res struct {
		Result map[string]any `json:"result"`
		Error  map[string]any `json:"error"`
	}
	if err := d.Decode(&res); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	out := res.Result
	if out == nil {
		out = res.Error
	}
	if meta, ok := out["_meta"].(map[string]any); ok && meta["problem"] != nil {
		out["problem"] = meta["problem"]
	}
	delete(out, "_meta")
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// events reads the data of each event of a stream until it ends.
func events(r io.Reader) []string {
	var list []string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if d, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			list = append(list, d)
		}
	}
	return list
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s did not happen within 10 s", what)
}

// transport returns the transport of the SDK's own client, as Ann.
func transport(url string) *sdk.StreamableClientTransport {
	return &sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: as("ann")}}
}

// An as is an HTTP transport that adds a token.
type as string

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(a))
	return http.DefaultTransport.RoundTrip(r)
}
