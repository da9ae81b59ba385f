package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// asking returns an extension with a tool that asks a question back. It counts the answers to the question.
func asking(used *app.App, answered *atomic.Int64) wire.Extension {
	return wire.Extension{StateKey: []byte(strings.Repeat("k", 32)), Used: used.Store, Mount: func(_ *sdk.Server, raw wire.RawTool) {
		raw(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if r.Params.RequestState == "held" {
				answered.Add(1)
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "answered"}}}, nil
			}
			return &sdk.CallToolResult{RequestState: "held", InputRequests: sdk.InputRequestMap{
				"q": &sdk.ElicitParams{Message: "Well?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
			}}, nil
		})
	}}
}

// asker serves the demo with a tool that asks back, and the store at place. It returns the program and its address.
func asker(t *testing.T, running, place string, answered *atomic.Int64) (*app.App, string) {
	t.Helper()
	c, err := config.Parse(filepath.Join(filepath.Dir(running), "bailiwick.yaml"), fmt.Appendf(nil, "store: %q\nsources: {tracker: {url: \"sqlite:%s\"}}\npolicy: {unlisted: visible}\n", place, running), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	o := p.Door()
	o.Extend = asking(p, answered)
	s, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return p, h.URL
}

// TestAnsweredOnceAnywhere answers the question of a tool over HTTP, at processes that share only a store. Only one
// answer counts, at any of the processes, even at one that starts later. An answer from another principal, an altered
// answer, and an answer for other arguments never count.
func TestAnsweredOnceAnywhere(t *testing.T) {
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			running := filepath.Join(t.TempDir(), "app.db")
			if err := demo.Create(t.Context(), running); err != nil {
				t.Fatal(err)
			}
			place := "sqlite:" + filepath.Join(t.TempDir(), "store.db")
			if kind == "postgres" {
				place = services.Postgres(t)
			}
			var answered atomic.Int64
			p, one := asker(t, running, place, &answered)
			_, two := asker(t, running, place, &answered)
			token := func(name string) string {
				_, secret, err := p.Tokens.Create(t.Context(), identity.Local("ops"), identity.Token{Name: name, Owner: "ana", Tenant: demo.Acme})
				if err != nil {
					t.Fatal(err)
				}
				return secret
			}
			bot, other := token("bot"), token("other")
			send := func(at, secret, arguments, state string) string {
				with := ""
				if state != "" {
					with = `"requestState":"` + state + `","inputResponses":{"q":{"action":"accept","content":{"a":"b"}}},`
				}
				r, err := http.NewRequestWithContext(t.Context(), "POST", at+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":`+arguments+`,`+with+
					`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`))
				if err != nil {
					t.Error(err)
					return ""
				}
				for k, v := range map[string]string{"Authorization": "Bearer " + secret, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
					"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask"} {
					r.Header.Set(k, v)
				}
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					return ""
				}
				defer res.Body.Close()
				body, err := io.ReadAll(res.Body)
				if err != nil {
					t.Error(err)
				}
				return string(body)
			}
			sealed := regexp.MustCompile(`"requestState":"([^"]+)"`).FindStringSubmatch(send(one, bot, "{}", ""))
			if sealed == nil {
				t.Fatal("nothing was asked")
			}
			state := sealed[1]
			for name, got := range map[string]string{"another principal": send(two, other, "{}", state), "altered": send(two, bot, "{}", "A"+state[1:]), "other arguments": send(two, bot, `{"n":1}`, state),
				"cut": send(one, bot, "{}", state[:len(state)-4]), "made up": send(one, bot, "{}", "held")} {
				if !strings.Contains(got, "invalid requestState") {
					t.Errorf("%s: %s", name, got)
				}
			}
			var all sync.WaitGroup
			for i := range 12 {
				all.Go(func() {
					if got := send([]string{one, two}[i%2], bot, "{}", state); !strings.Contains(got, "answered") && !strings.Contains(got, "invalid requestState") {
						t.Error(got)
					}
				})
			}
			all.Wait()
			_, three := asker(t, running, place, &answered)
			if got := send(three, bot, "{}", state); !strings.Contains(got, "invalid requestState") {
				t.Error("at a process that started later:", got)
			}
			if n := answered.Load(); n != 1 {
				t.Errorf("one answer counted %d times", n)
			}
		})
	}
}
