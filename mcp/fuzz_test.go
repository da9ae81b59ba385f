package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// FuzzDoor checks that the response to any body is a JSON-RPC response, an event stream or empty. It must never be an
// internal error.
func FuzzDoor(f *testing.F) {
	for _, seed := range []string{
		ping, modern("echo", `"n":1`, "").body, modern("echo", "", `"progressToken":"x"`).body, listBody,
		`[` + ping + `]`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
	} {
		f.Add(seed, "2026-07-28", "tools/call", "echo")
		f.Add(seed, "", "", "")
	}
	s := &shelf{}
	s.put("echo", tool.Custom, echo)
	srv, err := mcp.New(mcp.Options{
		Tools:        quiet{s},
		Authenticate: func(*http.Request) (identity.Principal, error) { return identity.Principal{ID: "p"}, nil },
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { srv.Close() })
	h := srv.Handler()
	f.Fuzz(func(t *testing.T, body, version, method, name string) {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(body))
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {version}, "Mcp-Method": {method}, "Mcp-Name": {name},
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(ctx))
		stream := strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
		if ctx.Err() != nil && !stream { // an open event stream has no end
			t.Error("no answer")
		}
		switch {
		case w.Code >= 500:
			t.Errorf("%d %s", w.Code, w.Body)
		case w.Code == http.StatusAccepted && w.Body.Len() == 0:
		case stream:
		case w.Header().Get("Content-Type") != "application/json" || !json.Valid(w.Body.Bytes()):
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	})
}

const listBody = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
