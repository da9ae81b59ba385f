package mcp_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// BenchmarkCall measures one tool call without the network. It compares the direct path with the path through the
// SDK. A progress token selects the SDK for the same call.
func BenchmarkCall(b *testing.B) {
	s := &shelf{}
	s.put("echo", tool.Custom, echo)
	srv, err := mcp.New(mcp.Options{
		Tools: quiet{s}, Logger: slog.New(slog.DiscardHandler),
		Authenticate: func(*http.Request) (identity.Principal, error) { return identity.Principal{ID: "p"}, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	defer srv.Close()
	h := srv.Handler()
	for way, meta := range map[string]string{"direct": "", "sdk": `"progressToken":1`} {
		b.Run(way, func(b *testing.B) {
			c := modern("echo", `"n":1`, meta)
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("POST", "/mcp", strings.NewReader(c.body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				for line := range strings.Lines(c.header) {
					name, v, _ := strings.Cut(strings.TrimSpace(line), ": ")
					r.Header.Set(name, v)
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != 200 {
					body, _ := io.ReadAll(w.Body)
					b.Fatal(w.Code, string(body))
				}
			}
		})
	}
}

// quiet is a shelf that doesn't record calls.
type quiet struct{ *shelf }

func (q quiet) Call(ctx context.Context, p identity.Principal, r tool.Request) (tool.Result, error) {
	return q.handlers[r.Name](ctx, p, r)
}
