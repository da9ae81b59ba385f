package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
)

// A rack implements Prompts for the tests. Bob doesn't see its secret items.
type rack struct {
	started, cancelled atomic.Int32

	mu      sync.Mutex
	watched []string
	gone    string // a resource that no longer exists
}

func (r *rack) List(p identity.Principal) []*prompt.Prompt {
	list := []*prompt.Prompt{{Name: "hello", Title: "Hello", Description: "Says hello",
		Arguments: []prompt.Argument{{Name: "to", Title: "To", Description: "whom", Required: true}, {Name: "how"}}}}
	if p.Tools.Allows("secret") {
		list = append(list, &prompt.Prompt{Name: "secret"})
	}
	return list
}

func (r *rack) Get(ctx context.Context, p identity.Principal, q prompt.Request) (prompt.Result, error) {
	switch {
	case q.Name == "hello":
		return prompt.Result{Description: "From " + p.ID, Messages: []prompt.Message{{Text: "Hello " + q.Arguments["to"]}, {Agent: true, Text: "Yes?"}}}, nil
	case q.Name == "secret" && p.Tools.Allows("secret"):
		return prompt.Say("", "s"), nil
	}
	return prompt.Result{}, r.fail(ctx, q)
}

// fail fails in the way that the name of the request says.
func (r *rack) fail(ctx context.Context, q prompt.Request) error {
	switch q.Name[strings.LastIndexByte(q.Name, '/')+1:] {
	case "wait":
		r.started.Add(1)
		<-ctx.Done()
		r.cancelled.Add(1)
		return ctx.Err()
	case "slow":
		time.Sleep(400 * time.Millisecond) // long enough for several heartbeats, even on a busy machine
		q.Progress(1, 2, "half")
		return problem.New(problem.InvalidArgument, "slow")
	case "panics":
		panic("secret in memory")
	case "broken":
		return errors.New("dial tcp 10.1.2.3:5432: refused")
	case "busy":
		return &problem.Error{Code: problem.RateLimited, Detail: "too many calls", RetryAfter: 1500 * time.Millisecond}
	case "scope":
		return &problem.Error{Code: problem.PermissionDenied, Detail: "it needs the scope read", Scope: "read"}
	case "class":
		return &problem.Error{Code: problem.NotFound, Detail: `there is no class "Isue"`, Pointer: "/class_name", Near: []string{"Issue"}, Suggestion: "call get_all_schemas", Kind: "hidden_class", Err: errors.New("rule 7 hides it")}
	}
	return problem.New(problem.UnknownTool, "unknown prompt")
}

func (r *rack) Complete(_ context.Context, p identity.Principal, c prompt.Completion) (prompt.Completed, error) {
	switch {
	case c.Prompt == "hello":
		return prompt.Completed{Values: []string{p.ID, c.Argument, c.Written, c.Given["to"]}, Total: 200}, nil
	case c.Template == prompt.Scheme+"{source}/{class}/count":
		return prompt.Completed{}, nil
	}
	return prompt.Completed{}, problem.New(problem.UnknownTool, "unknown prompt")
}

func (r *rack) Resources(_ context.Context, p identity.Principal, cursor, _ string) (prompt.Page, error) {
	if cursor == "" {
		return prompt.Page{Resources: []prompt.Resource{{URI: prompt.Scheme + "a/b/count", Name: "b/count", Title: "B", Description: p.ID}}, Next: "more"}, nil
	}
	if cursor != "more" {
		return prompt.Page{}, problem.New(problem.InvalidArgument, "the cursor is none that resources/list gave")
	}
	return prompt.Page{}, nil
}

func (r *rack) Templates(identity.Principal) []prompt.Template {
	return []prompt.Template{{URI: prompt.Scheme + "{source}/{class}/count", Name: "count", Title: "C", Description: "c"}}
}

func (r *rack) Read(ctx context.Context, p identity.Principal, q prompt.Request) (prompt.Content, error) {
	if q.Name == prompt.Scheme+"a/b/count" || q.Name == prompt.Scheme+"a/secret/count" && p.Tools.Allows("secret") {
		return prompt.Content{URI: q.Name, Text: `{"count":9007199254740993}`, Class: "a.b"}, nil
	}
	if err := r.fail(ctx, q); problem.CodeOf(err) != problem.UnknownTool {
		return prompt.Content{}, err
	}
	return prompt.Content{}, problem.New(problem.NotFound, "Resource not found")
}

func (r *rack) Watch(_ context.Context, p identity.Principal, uris []string, _ string) error {
	for _, uri := range uris {
		r.mu.Lock()
		gone := uri == r.gone
		r.mu.Unlock()
		switch {
		case gone:
			return problem.New(problem.NotFound, "Resource not found")
		case uri == prompt.Scheme+"a/b/count":
			return problem.New(problem.InvalidArgument, "only schemas can be subscribed to")
		case !strings.HasPrefix(uri, prompt.Scheme) || strings.Contains(uri, "secret") && !p.Tools.Allows("secret"):
			return problem.New(problem.NotFound, "Resource not found")
		}
		r.mu.Lock()
		r.watched = append(r.watched, p.ID+" "+uri)
		r.mu.Unlock()
	}
	return nil
}

// request returns a request of MCP 2026-07-28 for a method with the members of its params. name is the header
// Mcp-Name.
func request(method, name, params, meta string) call {
	if params != "" {
		params += ","
	}
	if meta != "" {
		meta = "," + meta
	}
	c := call{
		header: "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: " + method,
		body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}` + meta + `}}}`,
	}
	if name != "" {
		c.header += "\nMcp-Name: " + name
	}
	return c
}

// within returns the same request in a session.
func within(session, method, params, meta string) call {
	if params != "" {
		params += ","
	}
	return call{
		header: "Mcp-Session-Id: " + session + "\nMcp-Protocol-Version: 2025-11-25",
		body:   `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{` + meta + `}}}`,
	}
}

// TestPrompts checks the response to each request for prompts, resources and completions, in both protocol
// generations.
func TestPrompts(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	_, url := start(t, mcp.Options{Prompts: &rack{}, Logger: slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))})
	session := begin(t, url, "2025-11-25")
	bobs := begin(t, url, "2025-11-25", "bob")
	const hello = `{"arguments":[{"description":"whom","name":"to","required":true,"title":"To"},{"name":"how"}],"description":"Says hello","name":"hello","title":"Hello"}`
	const count = prompt.Scheme + "a/b/count"
	broken := `{"code":-32603,"message":"Internal error"}`
	for _, c := range []struct{ who, method, name, params, want string }{
		{"ann", "prompts/list", "", "", `{"cacheScope":"private","prompts":[` + hello + `,{"name":"secret"}],"ttlMs":0}`},
		{"bob", "prompts/list", "", "", `{"cacheScope":"private","prompts":[` + hello + `],"ttlMs":0}`},
		{"ann", "prompts/get", "hello", `"name":"hello","arguments":{"to":"you"}`,
			`{"description":"From token:ann","messages":[{"content":{"text":"Hello you","type":"text"},"role":"user"},{"content":{"text":"Yes?","type":"text"},"role":"assistant"}]}`},
		{"ann", "prompts/get", "secret", `"name":"secret"`, `{"messages":[{"content":{"text":"s","type":"text"},"role":"user"}]}`},
		{"bob", "prompts/get", "secret", `"name":"secret"`, `{"code":-32602,"message":"unknown prompt"}`},
		{"bob", "prompts/get", "nothing", `"name":"nothing"`, `{"code":-32602,"message":"unknown prompt"}`},
		{"ann", "prompts/get", "changed", `"name":"changed"`, `{"code":-32602,"message":"unknown prompt"}`},
		{"ann", "prompts/get", "hello", `"name":"hello","arguments":{"to":5}`, `{"code":-32602,"message":"Invalid params: arguments of a prompt are strings"}`},
		{"ann", "prompts/get", "hello", `"name":"hello","arguments":[]`, `{"code":-32602,"message":"Invalid params: arguments is an object"}`},
		{"ann", "prompts/get", "hello", `"name":7`, `{"code":-32602,"message":"Invalid params: name is a string"}`},
		{"ann", "prompts/get", "class", `"name":"class"`, `{"code":-32602,"data":{"correlation_id":"c-1","details":{"near":["Issue"],"pointer":"/class_name"},` +
			`"error":"there is no class \"Isue\"","error_code":"not_found","retryable":false,"suggestion":"call get_all_schemas"},"message":"there is no class \"Isue\" (at /class_name)\nnear: Issue\n→ call get_all_schemas"}`},
		{"ann", "prompts/get", "busy", `"name":"busy"`,
			`{"code":-32000,"data":{"correlation_id":"c-1","error":"too many calls","error_code":"rate_limited","retry_after":1.5,"retryable":true},"message":"too many calls\nwait 1.5 s, then make the same call again"}`},
		{"ann", "prompts/get", "scope", `"name":"scope"`, `{"code":-32001,"data":{"correlation_id":"c-1","error_code":"permission_denied","scope":"read"},"message":"Insufficient scope"}`},
		{"ann", "prompts/get", "broken", `"name":"broken"`, broken},
		{"ann", "prompts/get", "panics", `"name":"panics"`, broken},
		{"ann", "completion/complete", "", `"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"how","value":"w"},"context":{"arguments":{"to":"you"}}`,
			`{"completion":{"hasMore":true,"total":200,"values":["token:ann","how","w","you"]}}`},
		{"ann", "completion/complete", "", `"ref":{"type":"ref/resource","uri":"` + prompt.Scheme + `{source}/{class}/count"},"argument":{"name":"class","value":""}`,
			`{"completion":{"values":[]}}`},
		{"ann", "completion/complete", "", `"ref":{"type":"ref/prompt","name":"nothing"},"argument":{"name":"x","value":""}`, `{"code":-32602,"message":"unknown prompt"}`},
		{"ann", "completion/complete", "", `"ref":{"type":"ref/tool","name":"x"},"argument":{"name":"x","value":""}`, `{"code":-32602,"message":"Invalid params: ref is of type ref/prompt or ref/resource"}`},
		{"ann", "completion/complete", "", `"ref":{"type":"ref/prompt"},"argument":{"name":"x","value":""}`, `{"code":-32602,"message":"Invalid params: ref has a name, and no uri"}`},
		{"ann", "completion/complete", "", `"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"x"}`, `{"code":-32602,"message":"Invalid params: argument has a name and a value, both strings"}`},
		{"ann", "completion/complete", "", `"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"x","value":""},"context":{"arguments":{"a":1}}`,
			`{"code":-32602,"message":"Invalid params: context is an object, and its arguments are strings"}`},
		{"bob", "resources/list", "", "", `{"cacheScope":"private","nextCursor":"more","resources":[{"description":"token:bob","mimeType":"application/json","name":"b/count","title":"B","uri":"` + count + `"}],"ttlMs":0}`},
		{"bob", "resources/list", "", `"cursor":"more"`, `{"cacheScope":"private","resources":[],"ttlMs":0}`},
		{"bob", "resources/list", "", `"cursor":"x"`, `{"code":-32602,"data":{"correlation_id":"c-1","error":"the cursor is none that resources/list gave","error_code":"invalid_argument","retryable":false},` +
			`"message":"the cursor is none that resources/list gave"}`},
		{"bob", "resources/templates/list", "", "", `{"cacheScope":"private","resourceTemplates":[{"description":"c","mimeType":"application/json","name":"count","title":"C","uriTemplate":"` + prompt.Scheme + `{source}/{class}/count"}],"ttlMs":0}`},
		{"ann", "resources/read", count, `"uri":"` + count + `"`, `{"cacheScope":"private","contents":[{"mimeType":"application/json","text":"{\"count\":9007199254740993}","uri":"` + count + `"}],"ttlMs":0}`},
		{"bob", "resources/read", prompt.Scheme + "a/secret/count", `"uri":"` + prompt.Scheme + `a/secret/count"`, `{"code":-32602,"data":{"uri":"bailiwick://a/secret/count"},"message":"Resource not found"}`},
		{"bob", "resources/read", prompt.Scheme + "a/absent/count", `"uri":"` + prompt.Scheme + `a/absent/count"`, `{"code":-32602,"data":{"uri":"bailiwick://a/absent/count"},"message":"Resource not found"}`},
		{"ann", "resources/read", prompt.Scheme + "changed", `"uri":"` + prompt.Scheme + `changed"`, `{"code":-32602,"data":{"uri":"bailiwick://changed"},"message":"Resource not found"}`},
		{"ann", "resources/read", "file:///etc/passwd", `"uri":"file:///etc/passwd"`, `{"code":-32602,"data":{"uri":"file:///etc/passwd"},"message":"Resource not found"}`},
		{"ann", "resources/read", "a/panics", `"uri":"a/panics"`, broken},
		{"ann", "resources/read", "a/broken", `"uri":"a/broken"`, broken},
		{"ann", "resources/read", "a", `"uri":null`, `{"code":-32602,"message":"Invalid params: uri is a string"}`},
	} {
		own := session
		if c.who == "bob" {
			own = bobs
		}
		for way, ask := range map[string]call{"stateless": request(c.method, c.name, c.params, ""), "session": within(own, c.method, c.params, "")} {
			t.Run(c.who+" "+c.method+" "+c.name+" "+way, func(t *testing.T) {
				ask.header += "\nX-MCP-Session-Id: c-1\nAuthorization: Bearer " + c.who
				want := c.want
				if way == "stateless" && !strings.HasPrefix(want, `{"code"`) {
					want = strings.TrimSuffix(want, "}") + `,"resultType":"complete"}`
				}
				res, body := send(t, url, ask)
				if diff := cmp.Diff(sorted(t, want), result(t, body)); diff != "" {
					t.Errorf("%s %s", res.Status, diff)
				}
				for _, private := range []string{"10.1.2.3", "secret in memory", "rule 7", "hidden_class"} {
					if strings.Contains(body, private) {
						t.Errorf("the answer tells %q: %s", private, body)
					}
				}
				if retry := res.Header.Get("Retry-After"); (retry == "2") != (c.name == "busy") {
					t.Errorf("Retry-After %q", retry)
				}
			})
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, logged := range []string{"10.1.2.3", "panic: string", "rule 7", "correlation_id=c-1"} {
		if !strings.Contains(log.String(), logged) {
			t.Errorf("the log does not tell %q", logged)
		}
	}
}

// sorted returns JSON with sorted keys, like the function result.
func sorted(t *testing.T, doc string) string {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err, doc)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCapabilities checks that exactly the served capabilities are declared, in both protocol generations.
func TestCapabilities(t *testing.T) {
	const tools = `"tools":{"listChanged":true}`
	for _, c := range []struct {
		prompts mcp.Prompts
		want    string
	}{
		{nil, `{` + tools + `}`},
		{&rack{}, `{"completions":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},` + tools + `}`},
	} {
		_, url := start(t, mcp.Options{Prompts: c.prompts})
		for _, ask := range []call{
			request("server/discover", "", "", ""),
			{body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`},
		} {
			_, body := send(t, url, ask)
			var res struct {
				Result struct{ Capabilities json.RawMessage }
			}
			if err := json.Unmarshal([]byte(lastEvent(body)), &res); err != nil {
				t.Fatal(err)
			}
			if got := sorted(t, string(res.Result.Capabilities)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		}
	}
}

// hold sends c in the background and waits until it runs. The request stays open until letGo is called.
func (r *rack) hold(t *testing.T, url string, c call) (letGo func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	before := r.started.Load()
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err := do(ctx, url, c)
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	waitFor(t, "the request", func() bool { return r.started.Load() > before })
	return func() {
		cancel()
		<-done
	}
}

// TestCancelPrompts checks that prompts and resources are cancelled like tools. They end when the client disconnects.
// A notification cancels them only if it comes from the same principal in the same session or conversation.
func TestCancelPrompts(t *testing.T) {
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	const fresh = "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: notifications/cancelled\nX-MCP-Session-Id: "
	r := &rack{}
	_, url := start(t, mcp.Options{Prompts: r})
	session := begin(t, url, "2025-11-25")
	for _, c := range []struct{ method, name, params string }{
		{"prompts/get", "wait", `"name":"wait"`}, {"resources/read", "a/wait", `"uri":"a/wait"`},
	} {
		modern, legacy := request(c.method, c.name, c.params, ""), within(session, c.method, c.params, "")
		modern.header += "\nX-MCP-Session-Id: c-1"
		for _, ask := range []call{modern, legacy} {
			before := r.cancelled.Load()
			r.hold(t, url, ask)()
			waitFor(t, "the cancellation", func() bool { return r.cancelled.Load() > before })
		}
		for _, ask := range []struct {
			call
			vain  []string
			right string
		}{
			{modern, []string{fresh + "c-2", fresh + "c-1\nAuthorization: Bearer bob"}, fresh + "c-1"},
			{legacy, []string{"Mcp-Session-Id: none", "Authorization: Bearer bob\nMcp-Session-Id: " + session}, "Mcp-Session-Id: " + session},
		} {
			before := r.cancelled.Load()
			letGo := r.hold(t, url, ask.call)
			for _, header := range append(ask.vain, ask.right) {
				if header == ask.right {
					time.Sleep(50 * time.Millisecond)
					if r.cancelled.Load() != before {
						t.Errorf("one of %q ended the request", ask.vain)
					}
				}
				if res, body := send(t, url, call{header: header, body: cancelled}); res.StatusCode != 202 || body != "" {
					t.Errorf("%q: %s %s", header, res.Status, body)
				}
			}
			waitFor(t, "the cancellation", func() bool { return r.cancelled.Load() > before })
			letGo()
		}
	}
}

// TestProgressOfPrompts checks that prompts and resources send heartbeats and progress like tools.
func TestProgressOfPrompts(t *testing.T) {
	_, url := start(t, mcp.Options{Prompts: &rack{}, Heartbeat: 20 * time.Millisecond})
	session := begin(t, url, "2025-11-25")
	for _, c := range []call{
		request("prompts/get", "slow", `"name":"slow"`, `"progressToken":7`), request("resources/read", "a/slow", `"uri":"a/slow"`, `"progressToken":7`),
		within(session, "prompts/get", `"name":"slow"`, `"progressToken":7`), within(session, "resources/read", `"uri":"a/slow"`, `"progressToken":7`),
	} {
		_, body := send(t, url, c)
		got := events(strings.NewReader(body))
		if len(got) < 4 || !strings.Contains(got[0], `"running for 0 s"`) || !strings.Contains(got[0], `"progressToken":7`) ||
			!strings.Contains(got[len(got)-2], `"half"`) || !strings.Contains(got[len(got)-1], `"slow"`) {
			t.Error(strings.Join(got, "\n"))
		}
	}
}
