package postgres_test

import (
	"context"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestFull has another session use the only connection that a role may have. A call waits for it, and then fails
// because the source is busy.
func TestFull(t *testing.T) {
	at := services.Postgres(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	role := "single_" + filepath.Base(u.Path)
	admin := suite.Outside(t, at, `CREATE ROLE `+role+` LOGIN PASSWORD 'single' CONNECTION LIMIT 1`)
	t.Cleanup(func() { admin.Exec(`DROP ROLE ` + role) })
	u.User = url.UserPassword(role, "single")
	src, err := postgres.Open(t.Context(), "app", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := admin.Exec(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1`, role); err != nil {
		t.Fatal(err)
	}
	other := suite.Outside(t, u.String(), `SELECT 1`)
	ping := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return src.Ping(ctx)
	}
	ping(5 * time.Second) // this Ping finds its connection closed
	for range 3 {
		got := problem.Of(ping(300 * time.Millisecond))
		if got == nil || got.Code != problem.Upstream || got.Lasting || got.Detail != "the source is busy: it has no free connection" {
			t.Errorf("Ping: %+v", got)
		}
	}
	time.AfterFunc(300*time.Millisecond, func() { other.Close() })
	if err := ping(20 * time.Second); err != nil {
		t.Errorf("when the connection is free again: %v", err)
	}
}
