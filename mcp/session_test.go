package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// TestSessionBelongsToItsPrincipal checks that other principals receive exactly the response for a missing session.
func TestSessionBelongsToItsPrincipal(t *testing.T) {
	_, url := start(t, mcp.Options{})
	mine := begin(t, url, "2025-11-25")
	for _, method := range []string{"POST", "GET", "DELETE"} {
		var got [2]string
		for i, id := range []string{mine, "NOSUCHSESSION"} {
			c := call{method: method, header: "Authorization: Bearer bob\nMcp-Session-Id: " + id}
			if method == "POST" {
				c.body = ping
			}
			res, body := send(t, url, c)
			got[i] = res.Status + body
		}
		if got[0] != got[1] || !strings.HasPrefix(got[0], "404") {
			t.Errorf("%s: %q", method, got)
		}
	}
	if res, body := send(t, url, legacy(mine, "2025-11-25", "echo", "", "")); res.StatusCode != 200 || !strings.Contains(body, "echoed") {
		t.Error(res.Status, body)
	}
}

// TestIdentityOfEveryRequest checks that a session doesn't preserve the principal's rights from its beginning.
func TestIdentityOfEveryRequest(t *testing.T) {
	p := people()
	_, url := start(t, mcp.Options{Tokens: p})
	session := begin(t, url, "2025-11-25")
	p["ann"] = identity.Principal{ID: "token:ann", Tools: identity.List{Only: []string{}}}
	if _, body := send(t, url, legacy(session, "2025-11-25", "echo", "", "")); result(t, body) != `{"code":-32602,"data":{"error_code":"unknown_tool"},"message":"unknown tool"}` {
		t.Error(body)
	}
	delete(p, "ann")
	if res, _ := send(t, url, legacy(session, "2025-11-25", "echo", "", "")); res.StatusCode != 401 {
		t.Error(res.Status)
	}
}

func TestSessionEnds(t *testing.T) {
	_, url := start(t, mcp.Options{SessionTimeout: 50 * time.Millisecond})
	alive := func(id string) int {
		res, _ := send(t, url, call{header: "Mcp-Session-Id: " + id + "\nMcp-Protocol-Version: 2025-11-25", body: ping})
		return res.StatusCode
	}
	idle, deleted := begin(t, url, "2025-11-25"), begin(t, url, "2025-11-25")
	if got := alive(deleted); got != 200 {
		t.Fatal(got)
	}
	if res, _ := send(t, url, call{method: "DELETE", header: "Mcp-Session-Id: " + deleted}); res.StatusCode != 204 {
		t.Error(res.Status)
	}
	if got := alive(deleted); got != 404 {
		t.Error(got)
	}
	time.Sleep(200 * time.Millisecond)
	if got := alive(idle); got != 404 {
		t.Error(got)
	}
}

// TestSessionCap checks that a new session ends the principal's longest idle session. A session in use or of another
// principal must not end.
func TestSessionCap(t *testing.T) {
	w, s := &waits{}, &shelf{}
	s.put("wait", tool.Query, w.handle)
	_, url := start(t, mcp.Options{Tools: s, Sessions: 3, SessionsEach: 2})
	alive := func(id string) int {
		res, _ := send(t, url, call{header: "Mcp-Session-Id: " + id, body: ping})
		return res.StatusCode
	}
	first, second := begin(t, url, "2025-11-25"), begin(t, url, "2025-11-25")
	if alive(first) != 200 {
		t.Fatal("the first session is gone")
	}
	third := begin(t, url, "2025-11-25")
	got := []int{alive(first), alive(second), alive(third)}
	if diff := cmp.Diff([]int{200, 404, 200}, got); diff != "" {
		t.Error(diff)
	}
	defer w.hold(t, url, legacy(first, "2025-11-25", "wait", "", ""))()
	defer w.hold(t, url, legacy(third, "2025-11-25", "wait", "", ""))()
	const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	res, body := send(t, url, call{body: initialize})
	const busy = `{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"Too many requests at a time","data":{"error_code":"rate_limited","retryable":true,"retry_after":1}}}`
	if res.StatusCode != 503 || body != busy {
		t.Error(res.Status, body)
	}
}

// TestSessionCapOfAll checks the limit of all sessions. A new session must end a session of the same principal, and
// never another principal's.
func TestSessionCapOfAll(t *testing.T) {
	_, url := start(t, mcp.Options{Sessions: 2})
	ann := begin(t, url, "2025-11-25")
	const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	var bob []string
	for range 2 {
		res, _ := send(t, url, call{header: "Authorization: Bearer bob", body: initialize})
		bob = append(bob, res.Header.Get("Mcp-Session-Id"))
	}
	var got []int
	for _, header := range []string{"Mcp-Session-Id: " + ann, "Authorization: Bearer bob\nMcp-Session-Id: " + bob[0], "Authorization: Bearer bob\nMcp-Session-Id: " + bob[1]} {
		res, _ := send(t, url, call{header: header, body: ping})
		got = append(got, res.StatusCode)
	}
	if diff := cmp.Diff([]int{200, 404, 200}, got); diff != "" {
		t.Error(diff)
	}
}

// TestDuplicateInitialize checks that a session can't be initialized twice.
func TestDuplicateInitialize(t *testing.T) {
	_, url := start(t, mcp.Options{})
	id := begin(t, url, "2025-11-25")
	_, body := send(t, url, call{
		header: "Mcp-Session-Id: " + id,
		body:   `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
	})
	if got := result(t, body); got != `{"code":-32600,"message":"Invalid Request: duplicate \"initialize\" received"}` {
		t.Error(got)
	}
}

// TestBatch checks batches, which MCP 2025-03-26 has. Each message must be answered separately.
func TestBatch(t *testing.T) {
	_, url := start(t, mcp.Options{})
	id := begin(t, url, "2025-03-26")
	_, body := send(t, url, call{
		header: "Mcp-Session-Id: " + id + "\nMcp-Protocol-Version: 2025-03-26",
		body: `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993}}},` +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"absent"}}]`,
	})
	all := strings.Join(events(strings.NewReader(body)), "\n")
	for _, want := range []string{`{"n":9007199254740993}`, `"unknown tool"`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
}

// TestConcurrency checks the limits of running and waiting calls. A notification must not use a slot.
func TestConcurrency(t *testing.T) {
	w, s := &waits{}, &shelf{}
	s.put("wait", tool.Query, w.handle)
	s.put("echo", tool.Custom, echo)
	_, url := start(t, mcp.Options{Tools: s, Concurrency: 1, Queue: 1, Patience: 300 * time.Millisecond})
	session := begin(t, url, "2025-11-25")
	letGo := w.hold(t, url, modern("wait", "", ""))
	statuses := make(chan int, 3)
	for range 3 {
		go func() {
			res, err := do(context.WithoutCancel(t.Context()), url, modern("echo", "", ""))
			if err != nil {
				statuses <- 0
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			statuses <- res.StatusCode
		}()
	}
	if a, b := <-statuses, <-statuses; a != 503 || b != 503 {
		t.Error(a, b)
	}
	res, _ := send(t, url, call{header: "Mcp-Session-Id: " + session, body: `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`})
	if res.StatusCode != 202 {
		t.Error("a notification:", res.Status)
	}
	letGo()
	if c := <-statuses; c != 200 {
		t.Error("who waited:", c)
	}
	letGo = w.hold(t, url, modern("wait", "", ""))
	defer letGo()
	began := time.Now()
	if res, _ := send(t, url, modern("echo", "", "")); res.StatusCode != 503 || res.Header.Get("Retry-After") != "1" || time.Since(began) < 250*time.Millisecond {
		t.Error("who waited too long:", res.Status, res.Header, time.Since(began))
	}
}

// TestSharesOfTheDoor checks the shares of four slots. A token can use one, a person two in any spelling of the name,
// and a tenant three. Other callers must still find a slot.
func TestSharesOfTheDoor(t *testing.T) {
	w, s := &waits{}, &shelf{}
	s.put("wait", tool.Query, w.handle)
	s.put("echo", tool.Custom, echo)
	_, url := start(t, mcp.Options{Tools: s, Concurrency: 4, Queue: -1, Tokens: tokens{
		"one": {ID: "token:1", Owner: "ann", Tenant: "a"}, "two": {ID: "token:2", Owner: "ＡＮＮ\u200b", Tenant: "a"}, "three": {ID: "token:3", Owner: " Ann", Tenant: "a"},
		"bob": {ID: "token:4", Owner: "bob", Tenant: "a"}, "carl": {ID: "token:5", Owner: "carl", Tenant: "a"}, "dora": {ID: "token:6", Owner: "dora", Tenant: "b"},
	}})
	as := func(who, name string) call {
		c := modern(name, "", "")
		c.header += "\nAuthorization: Bearer " + who
		return c
	}
	for _, step := range []struct{ holds, refused string }{{"one", "one"}, {"two", "three"}, {"bob", "carl"}} {
		defer w.hold(t, url, as(step.holds, "wait"))()
		if res, _ := send(t, url, as(step.refused, "echo")); res.StatusCode != 503 {
			t.Errorf("%s beside %s: %s", step.refused, step.holds, res.Status)
		}
	}
	if res, _ := send(t, url, as("dora", "echo")); res.StatusCode != 200 {
		t.Error("another tenant:", res.Status)
	}
}

// TestStreamCap checks that open streams have their own limit and don't use the slots of calls.
func TestStreamCap(t *testing.T) {
	_, url := start(t, mcp.Options{Concurrency: 1, Queue: -1, Streams: 1})
	one, two := begin(t, url, "2025-11-25"), begin(t, url, "2025-11-25")
	stream := open(t, t.Context(), url, call{method: "GET", header: "Mcp-Session-Id: " + one})
	defer stream.Body.Close()
	if h := stream.Header; stream.StatusCode != 200 || h.Get("X-Accel-Buffering") != "no" {
		t.Error(stream.Status, h)
	}
	if res, _ := send(t, url, call{method: "GET", header: "Mcp-Session-Id: " + two}); res.StatusCode != 503 {
		t.Error(res.Status)
	}
	if res, _ := send(t, url, modern("echo", "", "")); res.StatusCode != 200 {
		t.Error(res.Status)
	}
	if res, _ := send(t, url, listen); res.StatusCode != 503 {
		t.Error("a second stream:", res.Status)
	}
	stream.Body.Close()
	waitFor(t, "the end of the stream", func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		res := open(t, ctx, url, listen)
		defer res.Body.Close()
		if res.StatusCode != 200 {
			return false
		}
		if res, _ := send(t, url, modern("echo", "", "")); res.StatusCode != 200 {
			t.Error("beside a stream:", res.Status)
		}
		return true
	})
}

// TestStorm checks that clients which disconnect at any moment leave no goroutine (see TestMain) and no session.
func TestStorm(t *testing.T) {
	w, s := &waits{}, &shelf{}
	s.put("wait", tool.Query, w.handle)
	srv, url := start(t, mcp.Options{Tools: s})
	for i := range 60 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%12)*time.Millisecond)
		c := modern("wait", "", "")
		if i%2 == 0 {
			c = modern("wait", "", `"progressToken":1`)
		}
		if res, err := do(ctx, url, c); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		cancel()
	}
	waitFor(t, "the end of all calls", func() bool { return w.started.Load() == w.cancelled.Load() })
	waitFor(t, "the end of all sessions", func() bool { return mcp.Live(srv) == 0 })
}

// TestServe checks that Serve serves until its context ends. It must then let running calls finish and close streams.
func TestServe(t *testing.T) {
	s := &shelf{}
	started := make(chan struct{})
	s.put("slow", tool.Query, func(context.Context, identity.Principal, tool.Request) (tool.Result, error) {
		close(started)
		time.Sleep(100 * time.Millisecond)
		return tool.Result{Structured: []byte(`{}`), Text: "done"}, nil
	})
	srv, err := mcp.New(mcp.Options{Tools: s, Tokens: people()})
	if err != nil {
		t.Fatal(err)
	}
	l, err := srv.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, l, srv.Handler()) }()
	url := "http://" + l.Addr().String()
	stream := open(t, t.Context(), url, call{method: "GET", header: "Mcp-Session-Id: " + begin(t, url, "2025-11-25")})
	defer stream.Body.Close()
	go func() {
		<-started
		cancel()
	}()
	if _, body := send(t, url, modern("slow", "", "")); !strings.Contains(body, "done") {
		t.Error(body)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the open stream keeps the server from ending")
	}
}

// TestListenRefusesTheOpen checks that a server without authentication serves only this machine.
func TestListenRefusesTheOpen(t *testing.T) {
	open, err := mcp.New(mcp.Options{Tools: &shelf{}, Anonymous: &identity.Principal{ID: "local"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		want := fmt.Sprintf("listen: %s can be reached from other machines and there is no authentication. "+
			"Set a store for tokens (server.Options.Tokens) or an Authenticate function, or listen on 127.0.0.1", addr)
		if l, err := open.Listen(addr); err == nil || err.Error() != want {
			t.Errorf("%v %v", l, err)
		}
	}
	closed, err := mcp.New(mcp.Options{Tools: &shelf{}, Authenticate: func(*http.Request) (identity.Principal, error) { return identity.Principal{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    *mcp.Server
		addr string
	}{{open, "127.0.0.1:0"}, {open, "localhost:0"}, {closed, "0.0.0.0:0"}} {
		l, err := c.s.Listen(c.addr)
		if err != nil {
			t.Error(err)
			continue
		}
		l.Close()
	}
}

// TestCloseEndsCalls checks that closing the server doesn't wait for calls, in both protocol generations.
func TestCloseEndsCalls(t *testing.T) {
	w, sh := &waits{}, &shelf{}
	sh.put("wait", tool.Query, w.handle)
	s, url := start(t, mcp.Options{Tools: sh})
	defer w.hold(t, url, legacy(begin(t, url, "2025-11-25"), "2025-11-25", "wait", "", ""))()
	defer w.hold(t, url, modern("wait", "", `"progressToken":1`))()
	defer w.hold(t, url, modern("wait", "", ""))()
	ended := make(chan error, 1)
	go func() { ended <- s.Close() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("a call keeps the server from closing")
	}
	waitFor(t, "the end of the calls", func() bool { return w.cancelled.Load() == 3 })
}

// TestSessionKeepsNoRequest checks that the objects of a request can be garbage collected after its answer, although
// its session remains. Otherwise 10,000 sessions would keep as many headers, bodies and connections in memory.
func TestSessionKeepsNoRequest(t *testing.T) {
	type marker [64]byte
	type key struct{}
	var mu sync.Mutex
	var kept []weak.Pointer[marker]
	s, _ := start(t, mcp.Options{})
	h := s.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := &marker{}
		mu.Lock()
		kept = append(kept, weak.Make(m))
		mu.Unlock()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, m)))
	}))
	defer server.Close()
	session := begin(t, server.URL, "2025-11-25")
	if res, body := send(t, server.URL, call{header: "Mcp-Session-Id: " + session + "\nMcp-Protocol-Version: 2025-11-25", body: ping}); res.StatusCode != 200 {
		t.Fatal(res.Status, body)
	}
	waitFor(t, "the requests to be collected", func() bool {
		runtime.GC()
		mu.Lock()
		defer mu.Unlock()
		return !slices.ContainsFunc(kept, func(p weak.Pointer[marker]) bool { return p.Value() != nil })
	})
	if _, body := send(t, server.URL, legacy(session, "2025-11-25", "echo", "", "")); !strings.Contains(body, "echoed") {
		t.Error(body)
	}
}
