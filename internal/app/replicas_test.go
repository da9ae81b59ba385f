package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// replica serves the demo with the store at url.
func replica(t *testing.T, running, url string) (*app.App, *httptest.Server) {
	t.Helper()
	c, err := config.Parse(filepath.Join(filepath.Dir(running), "bailiwick.yaml"), fmt.Appendf(nil, `
store: "%s"
sources: {tracker: {url: "sqlite:%s"}}
policy: {unlisted: visible}
limits: {rate: 1/min, burst: 6}
`, url, running), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	s, err := mcp.New(p.Door())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return p, h
}

// TestReplicas runs two replicas with one PostgreSQL store. A token created by one is valid at the other until it is
// revoked. Both share one rate and one audit. Then the store fails and recovers.
func TestReplicas(t *testing.T) {
	running := filepath.Join(t.TempDir(), "app.db")
	if err := demo.Create(t.Context(), running); err != nil {
		t.Fatal(err)
	}
	line := services.Through(t, services.Postgres(t))
	one, door := replica(t, running, line.URL)
	two, _ := replica(t, running, line.URL)
	ctx := t.Context()
	made, secret, err := one.Tokens.Create(ctx, identity.Local("ana"), identity.Token{Name: "bot", Owner: "ana", Tenant: demo.Acme})
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for i := range 12 {
		p := []*app.App{one, two}[i%2]
		principal, err := p.Tokens.Authenticate(ctx, secret, netip.MustParseAddr("192.0.2.1"))
		if err != nil {
			t.Fatal(err)
		}
		err = p.Gateway.Do(ctx, principal, bailiwick.CallSpec{Tool: "count_objects", Needs: identity.Read}, func(context.Context, *bailiwick.Call) (int, error) { return 0, nil })
		if err == nil {
			passed++
		} else if problem.CodeOf(err) != problem.RateLimited {
			t.Fatal(err)
		}
	}
	if passed != 6 {
		t.Errorf("%d calls passed on two replicas, want 6", passed)
	}
	if report, err := audit.Verify(ctx, two.Store); err != nil || !report.Whole() || report.Records != 13 { // the token and 12 calls
		t.Errorf("%+v, %v", report, err)
	}

	if err := one.Tokens.Revoke(ctx, identity.Local("ana"), made.ID); err != nil {
		t.Fatal(err)
	}
	revoked := time.Now()
	for {
		if _, err := two.Tokens.Authenticate(ctx, secret, netip.MustParseAddr("192.0.2.1")); err != nil {
			break
		}
		if time.Since(revoked) > 30*time.Second {
			t.Fatal("the other replica still lets in a token that was revoked")
		}
		time.Sleep(10 * time.Millisecond)
	}

	ready := func(want int) {
		t.Helper()
		res, err := http.Get(door.URL + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("ready: %d, want %d", res.StatusCode, want)
		}
	}
	ready(200)
	line.Cut()
	ready(503)
	line.Mend()
	ready(200)
}
