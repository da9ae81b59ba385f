package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

func record(n int) audit.Record {
	return audit.Record{Time: time.UnixMicro(int64(n)), Principal: "token:t1", Correlation: fmt.Sprint("c", n), Tool: "query_class", Outcome: audit.OK, Rows: n}
}

// TestOutage cuts the connection to the database. Every operation must fail soon with a clear error, and must assume
// nothing. The store must recover automatically when the connection is back.
func TestOutage(t *testing.T) {
	line := services.Through(t, services.Postgres(t))
	s := open(t, line.URL)
	defer s.Close()
	ctx := t.Context()
	l := limit.New(limit.Options{PerMinute: 1000, Burst: 1000, Store: s, Ledger: s, Daily: limit.Use{Calls: 1000}})
	defer l.Close(context.WithoutCancel(ctx))
	tokens := identity.NewTokens(identity.TokenOptions{Store: s, Audit: s})
	_, secret, err := tokens.Create(ctx, identity.Local("ana"), identity.Token{Name: "bot"})
	if err != nil {
		t.Fatal(err)
	}
	things := []struct {
		name string
		do   func() error
	}{
		{"ping", func() error { return s.Ping(ctx) }},
		{"append", func() error { r := record(1); return s.Append(ctx, &r) }},
		{"head", func() error { _, err := s.Head(ctx); return err }},
		{"take", func() error { _, err := s.Take(ctx, []limit.Bucket{{Key: "x", Every: 1, Burst: 1}}); return err }},
		{"spend", func() error { _, err := s.Spend(ctx, []limit.Entry{{Use: limit.Use{Calls: 1}}}); return err }},
		{"get", func() error { _, err := s.Get(ctx, "x"); return ignore(err, "no such change") }},
		{"await", func() error { return s.Await(ctx, -1) }},
		{"secret", func() error { _, err := s.Secret(ctx, "x"); return err }},
	}
	all := func(t *testing.T, works bool) {
		t.Helper()
		for _, th := range things {
			began := time.Now()
			switch err := th.do(); {
			case works && err != nil:
				t.Errorf("%s: %v", th.name, err)
			case !works && (err == nil || !strings.Contains(err.Error(), "the database can't be reached") || strings.Contains(err.Error(), "secret@")):
				t.Errorf("%s: %v; want it to say that the database can't be reached", th.name, err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("%s took %v", th.name, took)
			}
		}
	}
	all(t, true)
	line.Cut()
	all(t, false)
	_, err = l.Acquire(ctx, limit.Asker{Owner: "ana"})
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != problem.RateLimited || p.Kind != "limit_store" || p.RetryAfter < time.Second || p.RetryAfter > 5*time.Second {
		t.Errorf("%+v, want the refusal of a limit", err)
	}
	time.Sleep(500 * time.Millisecond) // so that the cached token version is stale
	if _, err := tokens.Authenticate(ctx, secret, identityAddr); err == nil || !problem.Of(err).Store {
		t.Errorf("%v, want a token to be neither good nor bad", err)
	}
	line.Mend()
	all(t, true)
	if release, err := l.Acquire(ctx, limit.Asker{Owner: "ana"}); err != nil {
		t.Error(err)
	} else {
		release(limit.Use{})
	}
	if _, err := tokens.Authenticate(ctx, secret, identityAddr); err != nil {
		t.Error(err)
	}
	if report, err := audit.Verify(ctx, s); err != nil || !report.Whole() {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestSilence drops all network traffic. No operation may take longer than the store's limit.
func TestSilence(t *testing.T) {
	line := services.Through(t, services.Postgres(t))
	s := open(t, line.URL)
	defer s.Close()
	line.Silence()
	began := time.Now()
	if _, err := s.Take(t.Context(), []limit.Bucket{{Key: "x", Every: 1, Burst: 1}}); err == nil {
		t.Error("a call was let through")
	}
	if took := time.Since(began); took > 7*time.Second {
		t.Errorf("a call waited for %v", took)
	}
	line.Mend()
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestListensAgain checks that the store notices an event that occurred while the listener was disconnected.
func TestListensAgain(t *testing.T) {
	url := services.Postgres(t)
	line := services.Through(t, url)
	s, other := open(t, line.URL), open(t, url)
	defer s.Close()
	defer other.Close()
	heard := make(chan error, 1)
	go func() { heard <- s.Await(t.Context(), 0) }()
	time.Sleep(100 * time.Millisecond)
	line.Cut()
	if _, err := other.Put(t.Context(), pending("1"), change.Filing{Life: time.Hour, Most: 9}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-heard:
		t.Fatal("heard over a line that is cut")
	case <-time.After(300 * time.Millisecond):
	}
	line.Mend()
	select {
	case err := <-heard:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("not heard of")
	}
}

// TestEndedSessions ends every session on the server, like a restart. Reads must not fail.
func TestEndedSessions(t *testing.T) {
	url := services.Postgres(t)
	s := open(t, url)
	defer s.Close()
	for range 5 {
		if _, err := s.Head(t.Context()); err != nil {
			t.Error(err)
		}
		sql(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bailiwick' AND datname = current_database()`)
	}
	r := record(1)
	for err := s.Append(t.Context(), &r); err != nil; err = s.Append(t.Context(), &r) { // the store doesn't retry an append
		if !strings.Contains(err.Error(), "PostgreSQL at ") {
			t.Fatal(err)
		}
	}
}

// TestStandsStill freezes a session in a transaction that holds the head of the audit log. Other replicas must
// continue once the database ends that session.
func TestStandsStill(t *testing.T) {
	url := services.Postgres(t)
	s := open(t, url)
	defer s.Close()
	c := connect(t, url)
	sqlOn(t, c, `SET idle_in_transaction_session_timeout = 500`)
	sqlOn(t, c, `BEGIN`)
	sqlOn(t, c, `SELECT * FROM bailiwick.audit_head FOR UPDATE`)
	r := record(1)
	if err := s.Append(t.Context(), &r); err != nil {
		t.Error(err)
	}
}

func ignore(err error, text string) error {
	if err != nil && strings.Contains(err.Error(), text) {
		return nil
	}
	return err
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// connectBack is like connect, for cleanups after the test has ended.
func connectBack(url string) *pgx.Conn {
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		panic(err)
	}
	return c
}

func sqlOn(t *testing.T, c *pgx.Conn, text string) {
	t.Helper()
	if _, err := c.Exec(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// sql runs SQL on the database, like a database tool.
func sql(t *testing.T, url, text string) {
	t.Helper()
	sqlOn(t, connect(t, url), text)
}
