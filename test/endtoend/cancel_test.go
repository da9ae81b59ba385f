package endtoend

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/jackc/pgx/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestClientStopsStatement stops a client while its statement is running. The statement must disappear from the
// server's activity, in both protocol generations and however the client stops.
func TestClientStopsStatement(t *testing.T) {
	url := services.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	// Each row of this view takes some time, 100 seconds in total.
	if _, err := conn.Exec(t.Context(), "CREATE VIEW slow AS SELECT n, pg_sleep(0.01)::text AS nap FROM generate_series(1, 10000) AS n"); err != nil {
		t.Fatal(err)
	}
	src, err := postgres.Open(t.Context(), "app", url)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	log := records{make(chan audit.Record, 8)}
	// Samples of values would also read the view.
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: policy.Rules{Unlisted: true}, Audit: log, Sampling: bailiwick.Sampling{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, tool.Data(tool.Options{Timeouts: map[string]time.Duration{"count_objects": 90 * time.Second}})...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.New(mcp.Options{Tools: set, Authenticate: func(*http.Request) (identity.Principal, error) {
		return identity.Principal{ID: "a", Owner: "ann", Scopes: []identity.Scope{identity.Read}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	running := func() (n int) {
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%slow%' AND pid <> pg_backend_pid()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	until := func(want int) {
		t.Helper()
		for start := time.Now(); running() != want; time.Sleep(20 * time.Millisecond) {
			if time.Since(start) > 10*time.Second {
				t.Fatalf("%d statements run on the server, want %d", running(), want)
			}
		}
	}
	for _, tt := range []struct {
		name string
		ask  func(t *testing.T, ctx context.Context, url string)
	}{{"older, the client cancels", askOlder}, {"2026-07-28, the client goes", askModern}} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); tt.ask(t, ctx, web.URL) }()
			until(1)
			stop()
			until(0)
			<-done
			select {
			case r := <-log.made: // the record follows the end of the statement
				if r.Tool != "count_objects" || r.Outcome != audit.Cancelled {
					t.Errorf("recorded as %s %s, want count_objects cancelled", r.Tool, r.Outcome)
				}
			case <-time.After(5 * time.Second):
				t.Error("the call was not recorded")
			}
		})
	}
}

// A records log sends every record to its channel.
type records struct{ made chan audit.Record }

func (r records) Append(_ context.Context, record *audit.Record) error {
	r.made <- *record
	return nil
}

func askModern(t *testing.T, ctx context.Context, url string) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count_objects","arguments":{"class_name":"slow","where":{"nap":{"$ne":"x"}}},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(ctx, "POST", url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "count_objects"} {
		r.Header.Set(k, v)
	}
	if res, err := http.DefaultClient.Do(r); err == nil {
		res.Body.Close()
	}
}

func askOlder(t *testing.T, ctx context.Context, url string) {
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
	session, err := client.Connect(context.WithoutCancel(ctx), &sdk.StreamableClientTransport{Endpoint: url + "/mcp"}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		t.Error(err)
		return
	}
	defer session.Close()
	_, _ = session.CallTool(ctx, &sdk.CallToolParams{Name: "count_objects", Arguments: map[string]any{"class_name": "slow", "where": map[string]any{"nap": map[string]any{"$ne": "x"}}}})
}
