package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// TestDirectInSessions checks that a call in a session is answered as JSON without the SDK. The answer must equal the
// SDK's answer to the same call with a progress token. It tests results with images and links, tool errors, and
// unknown tools, each in every form of results.
func TestDirectInSessions(t *testing.T) {
	s := &shelf{}
	s.put("well", tool.Query, func(_ context.Context, _ identity.Principal, r tool.Request) (tool.Result, error) {
		return tool.Result{Structured: json.RawMessage(`{"n":9007199254740993,"args":` + string(r.Arguments.AppendJSON(nil)) + `}`), Text: "a\"\u2028b",
			Images: []tool.Image{{MediaType: "image/png", Bytes: []byte("png")}}, Links: []tool.Link{{URI: "bailiwick://more", Name: "more"}}}, nil
	})
	s.put("bad", tool.Query, func(context.Context, identity.Principal, tool.Request) (tool.Result, error) {
		return tool.Result{}, problem.New(problem.InvalidArgument, "no such day")
	})
	for _, form := range []mcp.Form{mcp.Text, mcp.Structured, mcp.Both} {
		_, url := start(t, mcp.Options{Tools: s, Results: map[string]mcp.Form{"test": form}})
		for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26"} {
			session := begin(t, url, version)
			for _, name := range []string{"well", "bad", "none"} {
				calls := []call{legacy(session, version, name, `"a":1.50`, ""), legacy(session, version, name, `"a":1.50`, `"progressToken":1`)}
				for i := range calls {
					calls[i].header += "\nX-MCP-Session-Id: talk"
				}
				res, direct := send(t, url, calls[0])
				other, bySDK := send(t, url, calls[1])
				if res.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(other.Header.Get("Content-Type"), "text/event-stream") {
					t.Fatalf("%s, %s", res.Header, other.Header)
				}
				if got, want := result(t, direct), result(t, bySDK); got != want || res.StatusCode != other.StatusCode || res.Header.Get("Mcp-Session-Id") != session {
					t.Errorf("%s %s %s: %d %s, want %d %s", form, version, name, res.StatusCode, got, other.StatusCode, want)
				}
				if name == "well" && !strings.Contains(direct, `"data":"cG5n"`) {
					t.Errorf("%s %s: no picture in %s", form, version, direct)
				}
				if strings.Contains(direct, "resultType") || strings.Contains(direct, "serverInfo") {
					t.Errorf("%s: %s", version, direct)
				}
			}
		}
	}
}

// TestDirectUsesSessions checks that calls keep their session alive. A call in a session that has ended or belongs to
// another principal must not be answered.
func TestDirectUsesSessions(t *testing.T) {
	const idle = 2 * time.Second
	_, url := start(t, mcp.Options{SessionTimeout: idle})
	echo := func(session string) int {
		res, _ := send(t, url, legacy(session, "2025-11-25", "echo", "", ""))
		return res.StatusCode
	}
	used, deleted := begin(t, url, "2025-11-25"), begin(t, url, "2025-11-25")
	if echo(deleted) != 200 {
		t.Error("a session that began")
	}
	send(t, url, call{method: "DELETE", header: "Mcp-Session-Id: " + deleted})
	if got := echo(deleted); got != 404 {
		t.Error("a session that was deleted:", got)
	}
	if got := echo("strange"); got != 404 {
		t.Error("no session:", got)
	}
	last := time.Now()
	for began := time.Now(); time.Since(began) < 2*idle; time.Sleep(idle / 20) {
		if got := echo(used); got != 200 && time.Since(last) < idle {
			t.Fatal("a session in use has ended:", got)
		} else if got != 200 {
			t.Skip("LEFT OUT: the machine stood still for longer than the session may be idle")
		}
		last = time.Now()
	}
	waitFor(t, "the end of the idle session", func() bool { time.Sleep(idle + idle/2); return echo(used) == 404 })
}

// TestBrokenStructuredContent checks structured content that isn't valid JSON. It is an error if it is sent. It is
// ignored for clients that receive only the text.
func TestBrokenStructuredContent(t *testing.T) {
	s := &shelf{}
	s.put("broken", tool.Query, func(context.Context, identity.Principal, tool.Request) (tool.Result, error) {
		return tool.Result{Structured: json.RawMessage(`{"n":`), Text: "said"}, nil
	})
	for form, want := range map[mcp.Form]string{mcp.Text: "said", mcp.Structured: "Internal error", mcp.Both: "Internal error"} {
		_, url := start(t, mcp.Options{Tools: s, Results: map[string]mcp.Form{"test": form}})
		session := begin(t, url, "2025-11-25")
		if _, body := send(t, url, legacy(session, "2025-11-25", "broken", "", "")); !strings.Contains(body, want) {
			t.Errorf("%s: %s", form, body)
		}
	}
}
