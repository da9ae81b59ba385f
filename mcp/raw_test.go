package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// asks returns an extension with three tools: one that asks the client for input and has state, one that panics, and
// one that only the SDK runs.
func asks(runs *int) wire.Extension {
	return wire.Extension{Mount: func(s *sdk.Server, raw wire.RawTool) {
		empty := json.RawMessage(`{"type":"object"}`)
		raw(&sdk.Tool{Name: "ask", InputSchema: empty}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			*runs++
			if r.Params.RequestState == "held" {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "answered"}}}, nil
			}
			return &sdk.CallToolResult{RequestState: "held", InputRequests: sdk.InputRequestMap{
				"q": &sdk.ElicitParams{Message: "Well?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
			}}, nil
		})
		raw(&sdk.Tool{Name: "panics", InputSchema: empty}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			panic("secret in memory")
		})
		raw(&sdk.Tool{Name: "headers", InputSchema: empty}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var b strings.Builder
			err := r.Extra.Header.Write(&b)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: b.String()}}}, err
		})
		s.AddTool(&sdk.Tool{Name: "unguarded", InputSchema: empty}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
		s.AddPrompt(&sdk.Prompt{Name: "panics"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			panic("secret in memory")
		})
	}}
}

// retry returns a call that answers a tool's question and sends back its state.
func retry(name, args, state string) call {
	c := modern(name, args, "")
	c.body = strings.Replace(c.body, `"params":{`, `"params":{"requestState":"`+state+`","inputResponses":{"q":{"action":"accept","content":{"a":"b"}}},`, 1)
	return c
}

func stateOf(t *testing.T, body string) string {
	t.Helper()
	var res struct {
		Result struct {
			State string `json:"requestState"`
			Type  string `json:"resultType"`
		}
	}
	if err := json.Unmarshal([]byte(lastEvent(body)), &res); err != nil || res.Result.State == "" || res.Result.Type != "input_required" {
		t.Fatal(err, body)
	}
	return res.Result.State
}

// TestRequestState checks that a state is valid only for its principal, tool and arguments, once, and for ten
// minutes. It must reveal nothing.
func TestRequestState(t *testing.T) {
	runs := 0
	srv, url := start(t, mcp.Options{Extend: asks(&runs)})
	ask := func() string {
		_, body := send(t, url, modern("ask", `"n":1`, ""))
		return stateOf(t, body)
	}
	answer := func(c call, header string) string {
		c.header += header
		_, body := send(t, url, c)
		var got struct{ Content []struct{ Text string } }
		if err := json.Unmarshal([]byte(result(t, body)), &got); err == nil && len(got.Content) == 1 {
			return got.Content[0].Text
		}
		return result(t, body)
	}
	const refused = `{"code":-32602,"message":"invalid requestState"}`
	state := ask()
	if strings.Contains(state, "held") {
		t.Error("the state can be read:", state)
	}
	now := time.Now()
	for _, c := range []struct {
		name, got, want string
	}{
		{"changed", answer(retry("ask", `"n":1`, state+"A"), ""), refused},
		{"made up", answer(retry("ask", `"n":1`, "held"), ""), refused},
		{"another principal", answer(retry("ask", `"n":1`, state), "\nAuthorization: Bearer bob"), refused},
		{"other arguments", answer(retry("ask", `"n":2`, state), ""), refused},
		{"right", answer(retry("ask", `"n":1`, state), ""), "answered"},
		{"again", answer(retry("ask", `"n":1`, state), ""), refused},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	state = ask()
	mcp.SetClock(srv, func() time.Time { return now.Add(11 * time.Minute) })
	if got := answer(retry("ask", `"n":1`, state), ""); got != refused {
		t.Errorf("late: %s", got)
	}
	if _, err := mcp.New(mcp.Options{Tools: &shelf{}, Extend: wire.Extension{StateKey: []byte("short")}}); err == nil {
		t.Error("a short key was taken")
	}
}

// TestStateOfReplicas checks replicas with the same key. Every replica must accept the states of the others. Each
// state must be accepted only once, even if it is sent to all replicas at the same time. If the store of used states
// fails, no state may be accepted.
func TestStateOfReplicas(t *testing.T) {
	used := &once.Memory{}
	sharing := func(runs *int, used once.Store) mcp.Options {
		e := asks(runs)
		e.StateKey, e.Used = []byte(strings.Repeat("k", 32)), used
		return mcp.Options{Extend: e}
	}
	var runs [3]int
	var urls [3]string
	for i := range urls {
		_, urls[i] = start(t, sharing(&runs[i], used))
	}
	_, body := send(t, urls[0], modern("ask", "", ""))
	state := stateOf(t, body)
	var wait sync.WaitGroup
	var answered atomic.Int64
	for i := range 12 {
		wait.Go(func() {
			if _, body := send(t, urls[i%3], retry("ask", "", state)); strings.Contains(body, "answered") {
				answered.Add(1)
			} else if !strings.Contains(body, "invalid requestState") {
				t.Error(body)
			}
		})
	}
	if wait.Wait(); answered.Load() != 1 {
		t.Errorf("one state was taken %d times", answered.Load())
	}
	var never int
	_, there := start(t, sharing(&never, down{}))
	_, body = send(t, urls[0], modern("ask", "", ""))
	if _, body := send(t, there, retry("ask", "", stateOf(t, body))); !strings.Contains(body, "-32603") || strings.Contains(body, "fire") || never != 0 {
		t.Error(never, body)
	}
}

// down is a store that fails.
type down struct{ once.Store }

func (down) UseUp(context.Context, string, time.Time) (bool, error) {
	return false, errors.New("the disk is on fire")
}

// TestEveryRunIsAdmitted checks a tool that asks a client for input in a session. The SDK runs the handler again
// within one pass of the middleware. Both runs must be admitted and recorded.
func TestEveryRunIsAdmitted(t *testing.T) {
	runs, s := 0, &shelf{}
	_, url := start(t, mcp.Options{Tools: s, Extend: asks(&runs)})
	c := sdk.NewClient(&sdk.Implementation{Name: "sdk", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"a": "b"}}, nil
		},
	})
	session, err := c.Connect(t.Context(), transport(url), &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "ask"})
	if err != nil || res.Content[0].(*sdk.TextContent).Text != "answered" {
		t.Fatal(res, err)
	}
	if diff := cmp.Diff([]string{"token:ann ask", "token:ann ask"}, s.admitted); diff != "" || runs != 2 {
		t.Error(runs, diff)
	}
}

// TestRawIsGuarded checks that tools of the SDK are admitted, refused, listed and hidden like other tools. A panic in
// such a tool must not end the process or reveal details.
func TestRawIsGuarded(t *testing.T) {
	runs, s := 0, &shelf{}
	s.put("echo", tool.Custom, echo)
	_, url := start(t, mcp.Options{Tools: s, Extend: asks(&runs)})
	const fresh = "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: "
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	_, body := send(t, url, call{header: fresh + "tools/list", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`})
	if !strings.Contains(body, `"ask"`) || !strings.Contains(body, `"echo"`) || strings.Contains(body, "unguarded") {
		t.Error(body)
	}
	_, body = send(t, url, call{header: fresh + "tools/list\nAuthorization: Bearer bob", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`})
	if !strings.Contains(body, `"ask"`) || strings.Contains(body, `"headers"`) {
		t.Error(body)
	}
	_, prompt := send(t, url, call{
		header: fresh + "prompts/get\nMcp-Name: panics",
		body:   `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"panics",` + meta + `}}`,
	})
	_, panics := send(t, url, modern("panics", "", ""))
	_, unguarded := send(t, url, modern("unguarded", "", ""))
	_, unguardedBySDK := send(t, url, modern("unguarded", "", `"progressToken":1`))
	notForBob := modern("headers", "", "")
	notForBob.header += "\nAuthorization: Bearer bob"
	_, hidden := send(t, url, notForBob)
	s.refuse = problem.New(problem.BudgetExceeded, "no calls are left today")
	_, refused := send(t, url, modern("ask", "", ""))
	for _, c := range []struct{ got, want string }{
		{result(t, prompt), `{"code":-32603,"message":"Internal error"}`},
		{result(t, panics), `{"code":-32603,"message":"Internal error"}`},
		{result(t, unguarded), `{"code":-32602,"data":{"error_code":"unknown_tool"},"message":"unknown tool"}`},
		{result(t, unguardedBySDK), `{"code":-32602,"data":{"error_code":"unknown_tool"},"message":"unknown tool"}`},
		{result(t, hidden), `{"code":-32602,"data":{"error_code":"unknown_tool"},"message":"unknown tool"}`},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	if !strings.Contains(refused, `"error_code":"budget_exceeded"`) || runs != 0 {
		t.Error(runs, refused)
	}
}

// TestCredentialsStopAtTheDoor checks that handlers never see a credential.
func TestCredentialsStopAtTheDoor(t *testing.T) {
	runs := 0
	_, url := start(t, mcp.Options{Tokens: tokens{"hunter2": {ID: "token:h"}}, Extend: asks(&runs)})
	for _, header := range []string{"\nAuthorization: Bearer hunter2\nCookie: s=hunter2", "\n-Authorization\nX-MCP-API-Key: hunter2"} {
		c := modern("headers", "", "")
		c.header += header
		if _, body := send(t, url, c); strings.Contains(body, "hunter2") || !strings.Contains(body, "Mcp-Method: tools/call") {
			t.Error(body)
		}
	}
}
