package postgres_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestPasswordRotates changes the password of the store's account while the store is open, and ends its connections.
// New connections must use the new password, including the one that listens for events.
func TestPasswordRotates(t *testing.T) {
	at, ctx := services.Postgres(t), t.Context()
	admin, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	role := "keeper_" + strings.ToLower(rand.Text()[:8])
	run := func(statement string) {
		t.Helper()
		if _, err := admin.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	run("CREATE ROLE " + role + " LOGIN PASSWORD 'first'; GRANT CREATE ON DATABASE " + pgx.Identifier{strings.TrimPrefix(u.Path, "/")}.Sanitize() + " TO " + role)
	t.Cleanup(func() {
		run("DROP OWNED BY " + role + " CASCADE; DROP ROLE " + role)
		admin.Close(context.Background())
	})
	u.User = url.UserPassword(role, "first")
	var now atomic.Pointer[string]
	s, err := postgres.OpenWith(ctx, u.String(), postgres.Options{Renewed: func() (user, password string, ok bool) {
		if p := now.Load(); p != nil {
			return role, *p, true
		}
		return "", "", false
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run("ALTER ROLE " + role + " PASSWORD 'second'")
	ended := func() (err error) {
		run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '" + role + "'")
		for range 3 { // each attempt removes a connection that was ended
			if _, err = s.Head(ctx); err == nil {
				return nil
			}
		}
		return err
	}
	if ended() == nil {
		t.Skip("LEFT OUT: the server takes any password")
	}
	second := "second"
	now.Store(&second)
	if err := ended(); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var listens bool
		if err := admin.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = $1 AND query LIKE 'LISTEN%' OR usename = $1 AND query LIKE '%change_event%'", role).Scan(&listens); err != nil {
			t.Fatal(err)
		}
		if listens {
			return
		}
		if time.Now().After(late) {
			t.Fatal("nothing listens with the new password")
		}
	}
}
