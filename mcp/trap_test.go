package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// A waits is a tool that runs until its call is cancelled. It counts started and cancelled calls.
type waits struct{ started, cancelled atomic.Int32 }

func (w *waits) handle(ctx context.Context, _ identity.Principal, _ tool.Request) (tool.Result, error) {
	w.started.Add(1)
	<-ctx.Done()
	w.cancelled.Add(1)
	return tool.Result{}, ctx.Err()
}

// hold sends c in the background and waits until its tool runs. The request stays open until letGo is called.
func (w *waits) hold(t *testing.T, url string, c call) (letGo func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	before := w.started.Load()
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err := do(ctx, url, c)
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	waitFor(t, "the call", func() bool { return w.started.Load() > before })
	return func() {
		cancel()
		<-done
	}
}

// TestCancelOnDisconnect checks that a client that disconnects cancels its call, in both protocol generations.
func TestCancelOnDisconnect(t *testing.T) {
	w, s := &waits{}, &shelf{}
	s.put("wait", tool.Query, w.handle)
	_, url := start(t, mcp.Options{Tools: s})
	for i, c := range []call{
		modern("wait", "", ""), modern("wait", "", `"progressToken":1`),
		legacy(begin(t, url, "2025-11-25"), "2025-11-25", "wait", "", ""),
	} {
		w.hold(t, url, c)()
		waitFor(t, "the cancellation", func() bool { return int(w.cancelled.Load()) == i+1 })
	}
}

// TestCancelNotification checks that only the same principal in the same session or conversation can cancel a call by
// its ID. The response must always be the same.
func TestCancelNotification(t *testing.T) {
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	const fresh = "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: notifications/cancelled\n"
	w, s := &waits{}, &shelf{}
	s.put("wait", tool.Query, w.handle)
	_, url := start(t, mcp.Options{Tools: s})
	session, other := begin(t, url, "2025-11-25"), begin(t, url, "2025-11-25")
	conversation := modern("wait", "", "")
	conversation.header += "\nX-MCP-Session-Id: c-1"
	for _, c := range []struct {
		call
		vain  []string
		right string
	}{
		{conversation, []string{fresh, fresh + "X-MCP-Session-Id: c-2", fresh + "Authorization: Bearer bob\nX-MCP-Session-Id: c-1"}, fresh + "X-MCP-Session-Id: c-1"},
		{modern("wait", "", ""), []string{fresh}, ""}, // without an X-MCP-Session-Id, the ID matches no call
		{legacy(session, "2025-11-25", "wait", "", ""), []string{
			"Mcp-Session-Id: " + other, "Mcp-Session-Id: none", "Authorization: Bearer bob\nMcp-Session-Id: " + session, fresh,
		}, "Mcp-Session-Id: " + session},
	} {
		before := w.cancelled.Load()
		letGo := w.hold(t, url, c.call)
		tell := func(header string) {
			if res, body := send(t, url, call{header: header, body: cancelled}); res.StatusCode != 202 || body != "" {
				t.Errorf("%q: %s %s", header, res.Status, body)
			}
		}
		for _, header := range c.vain {
			tell(header)
		}
		time.Sleep(50 * time.Millisecond)
		if w.cancelled.Load() != before {
			t.Errorf("one of %q ended the call", c.vain)
		}
		if c.right == "" {
			letGo()
		} else {
			tell(c.right)
		}
		waitFor(t, "the cancellation", func() bool { return w.cancelled.Load() > before })
		if c.right != "" {
			letGo()
		}
	}
}

// TestProgress checks heartbeats, which stop when the tool reports progress itself. Progress must always increase.
// The response must have the header that stops proxies from buffering.
func TestProgress(t *testing.T) {
	s := &shelf{}
	s.put("slow", tool.Query, func(_ context.Context, _ identity.Principal, r tool.Request) (tool.Result, error) {
		time.Sleep(100 * time.Millisecond)
		for _, done := range []float64{1, 1, 0.5, 2} {
			r.Progress(done, 2, "copying")
		}
		time.Sleep(100 * time.Millisecond)
		return tool.Result{Structured: json.RawMessage(`{}`), Text: "done"}, nil
	})
	_, url := start(t, mcp.Options{Tools: s, Heartbeat: 20 * time.Millisecond})
	for _, c := range []call{
		modern("slow", "", `"progressToken":9007199254740993`),
		legacy(begin(t, url, "2025-11-25"), "2025-11-25", "slow", "", `"progressToken":9007199254740993`),
	} {
		res := open(t, t.Context(), url, c)
		got := events(res.Body)
		res.Body.Close()
		if h := res.Header; h.Get("Content-Type") != "text/event-stream" || h.Get("X-Accel-Buffering") != "no" {
			t.Error(h)
		}
		var beats int
		var own []float64
		last := -1.0
		for _, e := range got[:len(got)-1] {
			var n struct {
				Method string
				Params struct {
					Token    json.Number `json:"progressToken"`
					Progress float64
					Message  string
				}
			}
			if err := json.Unmarshal([]byte(e), &n); err != nil {
				t.Fatal(err)
			}
			if n.Method != "notifications/progress" || n.Params.Token != "9007199254740993" || n.Params.Progress <= last {
				t.Errorf("%s after %v", e, last)
			}
			last = n.Params.Progress
			if strings.HasPrefix(n.Params.Message, "running for") && own == nil {
				beats++
			} else {
				own = append(own, n.Params.Progress)
			}
		}
		if diff := cmp.Diff([]float64{1, 2}, own); diff != "" || beats < 1 {
			t.Errorf("%d heartbeats, then %s", beats, diff)
		}
		if last := got[len(got)-1]; !strings.Contains(last, `"text":"done"`) {
			t.Error(last)
		}
	}
}

// TestNoProgressUnasked checks that no heartbeat is sent without a progress token.
func TestNoProgressUnasked(t *testing.T) {
	s := &shelf{}
	s.put("slow", tool.Query, func(_ context.Context, _ identity.Principal, r tool.Request) (tool.Result, error) {
		time.Sleep(30 * time.Millisecond)
		r.Progress(1, 2, "copying")
		return tool.Result{Structured: json.RawMessage(`{}`)}, nil
	})
	_, url := start(t, mcp.Options{Tools: s, Heartbeat: time.Millisecond})
	_, body := send(t, url, legacy(begin(t, url, "2025-11-25"), "2025-11-25", "slow", "", ""))
	if strings.Contains(body, "notifications/progress") || result(t, body) == "" {
		t.Error(body)
	}
}

// TestListsArePrivate checks that caches may not share lists, because lists depend on the principal.
func TestListsArePrivate(t *testing.T) {
	_, url := start(t, mcp.Options{})
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "server/discover"} {
		_, body := send(t, url, call{
			header: "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: " + method,
			body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":{` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		})
		if !strings.Contains(body, `"cacheScope":"private"`) {
			t.Error(method, body)
		}
	}
}

// TestListTools checks that each principal receives the tools that it may call in the requested category. The schemas
// must be unchanged and have all four annotations.
func TestListTools(t *testing.T) {
	_, url := start(t, mcp.Options{Results: map[string]mcp.Form{"": mcp.Both, "reader": mcp.Text}})
	list := func(token, params, client string) string {
		_, body := send(t, url, call{
			header: "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/list\nAuthorization: Bearer " + token,
			body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + params + `"_meta":{` +
				`"io.modelcontextprotocol/clientInfo":{"name":"` + client + `","version":"1"},` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		})
		var res struct {
			Result struct{ Tools json.RawMessage }
		}
		if err := json.Unmarshal([]byte(lastEvent(body)), &res); err != nil {
			t.Fatal(err)
		}
		return string(res.Result.Tools)
	}
	shown := func(name, output string) string {
		category := "custom"
		if name == "secret" {
			category = "query"
		}
		return `{"_meta":{"category":"` + category + `"},"annotations":{"destructiveHint":false,"idempotentHint":false,"openWorldHint":false,"readOnlyHint":false},` +
			`"description":"Does ` + name + `. Then no more.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},` +
			`"name":"` + name + `"` + output + `,"title":"` + strings.ToUpper(name) + `"}`
	}
	const output = `,"outputSchema":{"type":"object"}`
	for _, c := range []struct{ token, params, client, want string }{
		{"ann", "", "", "[" + shown("echo", output) + "," + shown("secret", output) + "]"},
		{"bob", "", "", "[" + shown("echo", output) + "]"},
		{"ann", `"category":"query",`, "", "[" + shown("secret", output) + "]"},
		{"bob", `"category":"query",`, "", "[]"},
		{"ann", `"category":"nothing",`, "", "[]"},
		{"bob", "", "reader", "[" + shown("echo", "") + "]"},
	} {
		if diff := cmp.Diff(c.want, list(c.token, c.params, c.client)); diff != "" {
			t.Errorf("%s %s %s: %s", c.token, c.params, c.client, diff)
		}
	}
}

// TestSDKClient checks that the SDK's own client works in both protocol generations and is notified when the tools
// change.
func TestSDKClient(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			changed := make(chan struct{}, 10)
			s, url := start(t, mcp.Options{Instructions: "Call list_tools first."})
			o := &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }}
			c := sdk.NewClient(&sdk.Implementation{Name: "sdk", Version: "1"}, o)
			session, err := c.Connect(t.Context(), transport(url), &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 2 {
				t.Fatal(tools, err)
			}
			res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"n": 5}})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(res.StructuredContent); got != "map[args:map[n:5] who:token:ann]" {
				t.Error(got)
			}
			if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "absent"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
				t.Error(err)
			}
			if version >= "2026-07-28" {
				return // this version receives changes through subscriptions/listen, see TestListen
			}
			waitFor(t, "list_changed", func() bool {
				s.NotifyTools()
				select {
				case <-changed:
					return true
				case <-time.After(50 * time.Millisecond):
					return false
				}
			})
		})
	}
}

// listen opens a stream of the new protocol.
var listen = call{
	header: "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: subscriptions/listen",
	body: `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
}

// TestListen checks that a stream of the new protocol is notified when the tools change, and ends with the server.
func TestListen(t *testing.T) {
	s, url := start(t, mcp.Options{})
	res := open(t, t.Context(), url, listen)
	defer res.Body.Close()
	got := make(chan []string, 1)
	go func() { got <- events(res.Body) }()
	time.Sleep(50 * time.Millisecond)
	s.NotifyTools()
	time.Sleep(100 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	select {
	case list := <-got:
		if all := strings.Join(list, "\n"); !strings.Contains(all, "notifications/tools/list_changed") {
			t.Error(all)
		}
	case <-time.After(5 * time.Second):
		t.Error("the stream did not end with the server")
	}
}

// TestCancelEndsStream checks that a call that its client cancels by a notification ends with a response, also as an event
// stream.
func TestCancelEndsStream(t *testing.T) {
	w, s := &waits{}, &shelf{}
	s.put("wait", tool.Query, w.handle)
	_, url := start(t, mcp.Options{Tools: s, Heartbeat: 5 * time.Millisecond})
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	session := begin(t, url, "2025-11-25")
	for _, tt := range []struct {
		call
		cancel string
	}{
		{modern("wait", "", `"progressToken":1`), "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: notifications/cancelled\nX-MCP-Session-Id: c-1"},
		{modern("wait", "", ""), "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: notifications/cancelled\nX-MCP-Session-Id: c-1"},
		{legacy(session, "2025-11-25", "wait", "", `"progressToken":1`), "Mcp-Session-Id: " + session},
		{legacy(session, "2025-11-25", "wait", "", ""), "Mcp-Session-Id: " + session},
	} {
		if !strings.Contains(tt.header, "Mcp-Session-Id") {
			tt.header += "\nX-MCP-Session-Id: c-1"
		}
		before, body := w.started.Load(), make(chan string, 1)
		go func() {
			res, err := do(t.Context(), url, tt.call)
			if err != nil {
				body <- err.Error()
				return
			}
			defer res.Body.Close()
			all, err := io.ReadAll(res.Body)
			body <- fmt.Sprintf("%s%v", all, err)
		}()
		waitFor(t, "the call", func() bool { return w.started.Load() > before })
		time.Sleep(20 * time.Millisecond) // some progress
		send(t, url, call{header: tt.cancel, body: cancelled})
		select {
		case got := <-body:
			if last := lastEvent(got); !strings.Contains(last, `"id":1`) || !strings.Contains(last, `"isError":true`) {
				t.Errorf("%s\nends with %s", tt.header, got)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s\nthe call doesn't end", tt.header)
		}
	}
}
