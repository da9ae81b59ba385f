package conformance_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sort"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/conformance"
	"github.com/bailiwick-dev/bailiwick/tool"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.Cleanup(func(int) { http.DefaultTransport.(*http.Transport).CloseIdleConnections() }))
}

// A ledger is the Tools of the test: none, and a list of the admitted calls.
type ledger struct {
	mu       sync.Mutex
	admitted map[string]bool
}

func (*ledger) List(identity.Principal, string) []*tool.Tool { return nil }

func (*ledger) Call(context.Context, identity.Principal, tool.Request) (tool.Result, error) {
	return tool.Result{}, problem.New(problem.UnknownTool, "there is no such tool")
}

func (l *ledger) Admit(ctx context.Context, p identity.Principal, name string, run func(context.Context) (int, error)) error {
	l.mu.Lock()
	l.admitted[p.ID+" "+name] = true
	l.mu.Unlock()
	_, err := run(ctx)
	return err
}

// one is an authenticator that accepts one token.
type one string

func (o one) Authenticate(_ context.Context, credential string, _ netip.Addr) (identity.Principal, error) {
	if credential != string(o) {
		return identity.Principal{}, problem.New(problem.Unauthorized, "unknown token")
	}
	return identity.Principal{ID: "token:suite"}, nil
}

// serve starts the fixtures and returns the address that requires the token and the one that adds it.
func serve(t *testing.T, l *ledger) (guarded, forwarded string) {
	t.Helper()
	s, err := mcp.New(mcp.Options{Tools: l, Tokens: one("right"), Extend: conformance.Extension(t.Context())})
	if err != nil {
		t.Fatal(err)
	}
	inner := httptest.NewServer(s.Handler())
	target, err := url.Parse(inner.URL)
	if err != nil {
		t.Fatal(err)
	}
	outer := httptest.NewServer(conformance.Forward(target, "right"))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		outer.Close()
		inner.Close()
	})
	return inner.URL + "/mcp", outer.URL + "/mcp"
}

// TestFixturesAreGuarded checks that the fixtures answer in both generations, each call after admission, and none
// without the token.
func TestFixturesAreGuarded(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			l := &ledger{admitted: map[string]bool{}}
			guarded, forwarded := serve(t, l)
			c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
			o := &sdk.ClientSessionOptions{ProtocolVersion: version}
			if _, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: guarded}, o); err == nil {
				t.Error("connected without a token")
			}
			session, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: forwarded}, o)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) < 20 {
				t.Fatal(tools, err)
			}
			for _, c := range []struct{ name, want string }{
				{"test_simple_text", "This is a simple text response for testing."},
				{"test_error_handling", "this tool intentionally returns an error for testing"},
				{"test_tool_with_progress", "<nil>"},
			} {
				res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: c.name})
				if err != nil {
					t.Fatal(c.name, err)
				}
				if text, ok := res.Content[0].(*sdk.TextContent); !ok || text.Text != c.want {
					t.Errorf("%s: %v, want %q", c.name, res.Content[0], c.want)
				}
			}
			var got []string
			for a := range l.admitted {
				got = append(got, a)
			}
			sort.Strings(got)
			want := []string{"token:suite test_error_handling", "token:suite test_simple_text", "token:suite test_tool_with_progress"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
