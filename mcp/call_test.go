package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// problems returns tools that fail in different ways. Their names say how.
func problems() *shelf {
	s := &shelf{}
	s.put("echo", tool.Custom, echo)
	s.put("missing", tool.Query, fails(&problem.Error{
		Code: problem.NotFound, Detail: `there is no class "Isue"`, Pointer: "/class_name", Near: []string{"Issue"},
		Suggestion: "call get_all_schemas", Kind: "hidden_class", Err: errors.New("rule 7 hides it"),
	}))
	s.put("denied", tool.Query, fails(&problem.Error{
		Code: problem.AccessDenied, Detail: `the rules keep the field "b" of a from you`, Pointer: "/keys/0", Suggestion: "leave b out", Kind: "field_denied",
		Denial: &problem.Denial{Kind: "field_denied", Field: "b", Allowed: []string{"c"}, Rewrite: "leave b out"},
	}))
	s.put("upstream", tool.API, fails(&problem.Error{Code: problem.NotFound, Detail: "the API found nothing: 404 gone: no such team",
		Reply: &problem.Reply{Status: 404, UpstreamCode: "gone", Message: "no such team"}}))
	s.put("busy", tool.Query, fails(&problem.Error{Code: problem.RateLimited, Detail: "too many calls", RetryAfter: 1500 * time.Millisecond}))
	s.put("scope", tool.Mutation, fails(&problem.Error{Code: problem.PermissionDenied, Detail: "the token lacks a scope", Scope: "write"}))
	s.put("schema", tool.Query, fails(&problem.Error{
		Code: problem.InvalidArgument, Detail: "the arguments break the schema",
		Faults: []problem.Fault{{Pointer: "/n", Rule: "type", Message: "must be an integer"}},
	}))
	s.put("broken", tool.Query, fails(errors.New("dial tcp 10.1.2.3:5432: refused")))
	s.put("telling", tool.Query, fails(problem.New(problem.Internal, "dial tcp 10.1.2.3:5432: refused")))
	s.put("garbled", tool.Query, func(context.Context, identity.Principal, tool.Request) (tool.Result, error) {
		return tool.Result{Structured: json.RawMessage(`{"a":`), Text: "x"}, nil
	})
	s.put("panics", tool.Query, func(context.Context, identity.Principal, tool.Request) (tool.Result, error) {
		panic("secret in memory")
	})
	return s
}

// TestCall checks each outcome of a tool on all paths of a call. The paths are: without the SDK, through the SDK
// without sessions (selected by a progress token), and through the SDK with sessions in two older protocols. A
// refusal must be a tool error with all help in its text. It must have no structured content, which would have to
// match the output schema.
func TestCall(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	_, url := start(t, mcp.Options{Tools: problems(), Logger: slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))})
	const correlated = "\nX-MCP-Session-Id: c-1"
	sessions := map[string]string{"2025-11-25": begin(t, url, "2025-11-25"), "2025-06-18": begin(t, url, "2025-06-18")}
	schemaResult := `{"content":[{"text":"invalid_argument: the arguments break the schema","type":"text"}],"isError":true,` +
		`"problem":{"correlation_id":"c-1","details":{"code":-32602,"errors":[{"message":"must be an integer","pointer":"/n","rule":"type"}]},` +
		`"error":"the arguments break the schema","error_code":"invalid_argument","retryable":false}}`
	internal := `{"content":[{"text":"internal_error: Internal error","type":"text"}],"isError":true,` +
		`"problem":{"correlation_id":"c-1","error":"Internal error","error_code":"internal_error","retryable":false}}`
	for _, c := range []struct{ name, args, want string }{
		{"echo", `"n":9007199254740993`, `{"content":[{"text":"echoed","type":"text"}],"structuredContent":{"args":{"n":9007199254740993},"who":"token:ann"}}`},
		{"echo", `"n":12345678901234567890123456789.5`, `{"content":[{"text":"echoed","type":"text"}],"structuredContent":{"args":{"n":12345678901234567890123456789.5},"who":"token:ann"}}`},
		{"missing", "", `{"content":[{"text":"not_found: there is no class \"Isue\" (at /class_name)\nnear: Issue\n→ call get_all_schemas","type":"text"}],"isError":true,` +
			`"problem":{"correlation_id":"c-1","details":{"near":["Issue"],"pointer":"/class_name"},"error":"there is no class \"Isue\"",` +
			`"error_code":"not_found","retryable":false,"suggestion":"call get_all_schemas"}}`},
		{"denied", "", `{"content":[{"text":"access_denied: the rules keep the field \"b\" of a from you (at /keys/0)\nallowed: c\n→ leave b out","type":"text"}],"isError":true,` +
			`"problem":{"correlation_id":"c-1","details":{"allowed_fields":["c"],"denied_field":"b","kind":"field_denied","pointer":"/keys/0","suggested_rewrite":"leave b out"},` +
			`"error":"the rules keep the field \"b\" of a from you","error_code":"access_denied","retryable":false,"suggestion":"leave b out"}}`},
		{"upstream", "", `{"content":[{"text":"not_found: the API found nothing: 404 gone: no such team","type":"text"}],"isError":true,` +
			`"problem":{"correlation_id":"c-1","details":{"message":"no such team","status":404,"upstream_code":"gone"},"error":"the API found nothing: 404 gone: no such team",` +
			`"error_code":"not_found","retryable":false}}`},
		{"busy", "", `{"content":[{"text":"rate_limited: too many calls\nwait 1.5 s, then make the same call again","type":"text"}],"isError":true,` +
			`"problem":{"correlation_id":"c-1","error":"too many calls","error_code":"rate_limited","retry_after":1.5,"retryable":true}}`},
		{"scope", "", `{"code":-32001,"data":{"correlation_id":"c-1","error_code":"permission_denied","scope":"write"},"message":"Insufficient scope"}`},
		{"schema", "", schemaResult},
		{"broken", "", internal},
		{"telling", "", internal},
		{"garbled", "", internal},
		{"panics", "", `{"code":-32603,"message":"Internal error"}`},
		{"no_such_tool", "", `{"code":-32602,"data":{"error_code":"unknown_tool"},"message":"unknown tool"}`},
	} {
		ways := map[string]call{
			"direct": modern(c.name, c.args, ""), "stateless": modern(c.name, c.args, `"progressToken":1`),
			"2025-11-25": legacy(sessions["2025-11-25"], "2025-11-25", c.name, c.args, ""),
			"2025-06-18": legacy(sessions["2025-06-18"], "2025-06-18", c.name, c.args, ""),
		}
		for way, call := range ways {
			t.Run(c.name+" "+way, func(t *testing.T) {
				call.header += correlated
				want := c.want
				res, body := send(t, url, call)
				if (way == "direct" || way == "stateless") && strings.HasPrefix(want, `{"content"`) {
					ok, content, given := strings.Cut(want, `,"structuredContent"`)
					want = strings.TrimSuffix(ok, "}") + `,"resultType":"complete"}`
					if given {
						want = ok + `,"resultType":"complete","structuredContent"` + content
					}
				}
				if diff := cmp.Diff(want, result(t, body)); diff != "" {
					t.Errorf("%s %s", res.Status, diff)
				}
				if !strings.Contains(lastEvent(body), `"id":1,`) {
					t.Error("not the answer to 1:", body)
				}
				wantRetry, wantScope := "", ""
				switch c.name {
				case "busy":
					wantRetry = "2"
				case "scope":
					wantScope = `Bearer error="insufficient_scope", scope="write"`
					if res.StatusCode != 403 {
						t.Error(res.Status)
					}
				}
				if got := res.Header.Get("Retry-After"); got != wantRetry {
					t.Errorf("Retry-After %q", got)
				}
				if got := res.Header.Get("WWW-Authenticate"); got != wantScope {
					t.Errorf("WWW-Authenticate %q", got)
				}
				for _, private := range []string{"10.1.2.3", "secret in memory", "rule 7", "hidden_class"} {
					if strings.Contains(body, private) {
						t.Errorf("the answer tells %q: %s", private, body)
					}
				}
			})
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(log.String(), "secret in memory") {
		t.Error("the log tells what a tool panicked with")
	}
	for _, logged := range []string{"10.1.2.3", "panic: string", "call_test.go", "rule 7", "correlation_id=c-1"} {
		if !strings.Contains(log.String(), logged) {
			t.Errorf("the log does not tell %q", logged)
		}
	}
}

type locked struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// TestMeta checks the _meta of a result. It must be the same with and without the SDK.
func TestMeta(t *testing.T) {
	_, url := start(t, mcp.Options{Version: "1.2.3"})
	for _, meta := range []string{"", `"progressToken":1`} {
		c := modern("echo", `"n":1`, meta)
		c.header += "\nX-MCP-Session-Id: c-1"
		_, body := send(t, url, c)
		var res struct {
			Result struct {
				Type string         `json:"resultType"`
				Meta map[string]any `json:"_meta"`
			}
		}
		if err := json.Unmarshal([]byte(lastEvent(body)), &res); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"category": "custom", "correlation_id": "c-1", "est_tokens": 10.0, "source_class": "tracker.issues",
			"io.modelcontextprotocol/serverInfo": map[string]any{"name": "bailiwick", "title": "Bailiwick", "version": "1.2.3"},
		}
		if diff := cmp.Diff(want, res.Result.Meta); diff != "" || res.Result.Type != "complete" {
			t.Error(meta, res.Result.Type, diff)
		}
	}
}

// TestUnknownToolIsOneAnswer checks that a tool that Bob may not see and a missing tool return the same response.
func TestUnknownToolIsOneAnswer(t *testing.T) {
	_, url := start(t, mcp.Options{})
	for _, meta := range []string{"", `"progressToken":1`} {
		var got [2]string
		for i, name := range []string{"secret", "absent"} {
			c := modern(name, "", meta)
			c.header += "\nAuthorization: Bearer bob"
			res, body := send(t, url, c)
			got[i] = res.Status + " " + body
		}
		const want = `400 Bad Request {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool","data":{"error_code":"unknown_tool"}}}`
		if got[0] != want || got[1] != want {
			t.Errorf("%s\n%s\nwant %s", got[0], got[1], want)
		}
	}
}

// TestForms checks that a client receives the configured parts of a result. The default is the text.
func TestForms(t *testing.T) {
	_, url := start(t, mcp.Options{Results: map[string]mcp.Form{"reader": mcp.Text, "parser": mcp.Structured}})
	text, structured := `"content":[{"text":"echoed","type":"text"}]`, `"structuredContent":{"args":{},"who":"token:ann"}`
	for client, want := range map[string]string{
		"reader":        `{` + text + `,"resultType":"complete"}`,
		"parser":        `{"content":[],"resultType":"complete",` + structured + `}`,
		"other":         `{` + text + `,"resultType":"complete"}`,
		"bailiwick-cli": `{` + text + `,"resultType":"complete",` + structured + `}`,
	} {
		for _, meta := range []string{"", `,"progressToken":1`} {
			c := modern("echo", "", `"io.modelcontextprotocol/clientInfo":{"name":"`+client+`","version":"1"}`+meta)
			if _, body := send(t, url, c); result(t, body) != want {
				t.Errorf("%s: %s, want %s", client, result(t, body), want)
			}
		}
	}
}

// TestCorrelation checks that a client may name its conversation with 1 to 128 of the characters A-Za-z0-9._-. Any
// other name must be dropped.
func TestCorrelation(t *testing.T) {
	s := &shelf{}
	s.put("echo", tool.Custom, echo)
	_, url := start(t, mcp.Options{Tools: s})
	long := strings.Repeat("x", 128)
	for _, c := range []struct{ header, meta, want string }{
		{"a.B_9-z", "", "a.B_9-z"},
		{long, "", long},
		{long + "x", "", ""},
		{"a b", "", ""},
		{"a\tb", "", ""},
		{"é", "", ""},
		{`"><script>`, "", ""},
		{"", `"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`, "4bf92f3577b34da6a3ce929d0e0e4736"},
		{"mine", `"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`, "mine"},
		{"", `"traceparent":"00-short"`, ""},
	} {
		call := modern("echo", "", c.meta)
		if c.header != "" {
			call.header += "\nX-MCP-Session-Id: " + c.header
		}
		send(t, url, call)
		got := s.calls[len(s.calls)-1].Correlation
		if c.want == "" && (len(got) < 20 || got == c.header) || c.want != "" && got != c.want {
			t.Errorf("%q %q: %q, want %q", c.header, c.meta, got, c.want)
		}
	}
}

// TestDirectIsStrict checks that calls without the SDK are checked as strictly as calls through the SDK.
func TestDirectIsStrict(t *testing.T) {
	_, url := start(t, mcp.Options{})
	right := modern("echo", "", "")
	for _, c := range []struct{ what, from, to string }{
		{"method header", "Mcp-Method: tools/call", "Mcp-Method: tools/list"},
		{"no method header", "\nMcp-Method: tools/call", ""},
		{"name header", "Mcp-Name: echo", "Mcp-Name: secret"},
		{"no name header", "\nMcp-Name: echo", ""},
		{"later version", "2026-07-28", "2027-01-01"},
		{"version of the body", `Version":"2026-07-28"`, `Version":"2026-07-29"`},
		{"no version in the body", `"io.modelcontextprotocol/protocolVersion":"2026-07-28",`, ""},
		{"no capabilities", `,"io.modelcontextprotocol/clientCapabilities":{}`, ""},
		{"wrong client", `Capabilities":{}`, `Capabilities":{},"io.modelcontextprotocol/clientInfo":7`},
		{"resumption", "Mcp-Method", "Last-Event-Id: 1_1\nMcp-Method"},
	} {
		wrong := call{
			header: strings.ReplaceAll(right.header, c.from, c.to), body: strings.ReplaceAll(right.body, c.from, c.to),
		}
		if wrong == right {
			t.Fatal(c.what)
		}
		if res, body := send(t, url, wrong); res.StatusCode != 400 || !strings.HasPrefix(body, `{"jsonrpc":"2.0","id":1,"error":{"code":-32`) {
			t.Errorf("%s: %s %s", c.what, res.Status, body)
		}
	}
}
