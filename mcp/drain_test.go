package mcp_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// TestDrain checks a draining server. It must report that at /readyz, and continue to serve calls and streams.
// Streams end with the drain, and a long call is still answered.
func TestDrain(t *testing.T) {
	s := &shelf{}
	started, release := make(chan struct{}), make(chan struct{})
	s.put("slow", tool.Query, func(context.Context, identity.Principal, tool.Request) (tool.Result, error) {
		close(started)
		<-release
		return tool.Result{Structured: []byte(`{}`), Text: "done"}, nil
	})
	s.put("echo", tool.Query, echo)
	srv, err := mcp.New(mcp.Options{Tools: s, Tokens: people(), Drain: 2 * time.Second, ShutdownTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	l, err := srv.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended, closed := make(chan error, 1), make(chan struct{})
	srv.OnClose(func() { close(closed) })
	go func() { ended <- srv.Serve(ctx, l, srv.Handler()) }()
	url := "http://" + l.Addr().String()
	ready := func() string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if got := ready(); got != "ready\n" {
		t.Error(got)
	}
	stream := open(t, t.Context(), url, call{method: "GET", header: "Mcp-Session-Id: " + begin(t, url, "2025-11-25")})
	defer stream.Body.Close()
	slow := make(chan string, 1)
	go func() {
		_, body := send(t, url, modern("slow", "", ""))
		slow <- body
	}()
	<-started
	cancel()
	for deadline := time.Now().Add(time.Minute); ready() == "ready\n"; {
		if time.Now().After(deadline) {
			t.Fatal("/readyz stays ready")
		}
	}
	select {
	case <-closed:
		t.Error("streams end before the drain is over")
	default:
	}
	if got := ready(); got != "not ready: draining\n" {
		t.Errorf("/readyz says %q", got)
	}
	res, body := send(t, url, modern("echo", "", ""))
	if res.StatusCode != http.StatusOK || !strings.Contains(body, "echoed") || !res.Close {
		t.Errorf("a call in the drain got %s %s, Connection: close is %t", res.Status, body, res.Close)
	}
	if _, err := io.Copy(io.Discard, stream.Body); err != nil {
		t.Error("the stream does not end in order:", err)
	}
	<-closed
	close(release)
	if body := <-slow; !strings.Contains(body, "done") {
		t.Error(body)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
