package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestPingTries checks that a store that answers but accepts no records is not ready, with a reason that reveals
// nothing about the database. After the fault, it must be ready again. Ping's attempts must leave no record.
func TestPingTries(t *testing.T) {
	at := services.Postgres(t)
	s := open(t, at)
	defer s.Close()
	ctx := t.Context()
	db, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	do := func(statement string) {
		t.Helper()
		if _, err := db.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	ping := func(want string) {
		t.Helper()
		err := s.Ping(ctx)
		for end := time.Now().Add(time.Minute); (err == nil) != (want == "") && time.Now().Before(end); err = s.Ping(ctx) { // the last result counts for a while
			time.Sleep(50 * time.Millisecond)
		}
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			return
		}
		f, ok := errors.AsType[*store.Failure](err)
		if !ok || f.Public != want || strings.Contains(f.LogText(), "swordfish") {
			t.Errorf("%v, want the reason %q", err, want)
		}
	}
	do(`CREATE FUNCTION break() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'swordfish' USING ERRCODE = TG_ARGV[0]; END $$`)
	r := record(1)
	if err := s.Append(ctx, &r); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{"53100": "the disk is full", "42501": "a right is missing", "58030": "the disk fails"} {
		do(`CREATE TRIGGER break BEFORE INSERT ON bailiwick.audit FOR EACH ROW EXECUTE FUNCTION break('` + code + `')`)
		ping(want)
		do(`DROP TRIGGER break ON bailiwick.audit`)
		ping("")
	}
	do(`BEGIN`)
	do(`LOCK TABLE bailiwick.audit IN ACCESS EXCLUSIVE MODE`)
	ping("a table is locked")
	do(`ROLLBACK`)
	ping("")
	if head, err := s.Head(ctx); err != nil || head.Seq != 1 {
		t.Errorf("the chain ends at %d, %v; want 1", head.Seq, err)
	}
}

// TestPingAfterAppend checks that a failed append counts at once, even if a smaller record would be accepted.
func TestPingAfterAppend(t *testing.T) {
	at := services.Postgres(t)
	s := open(t, at)
	defer s.Close()
	ctx := t.Context()
	db, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	if _, err := db.Exec(ctx, `CREATE FUNCTION break() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN IF length(NEW.body) > 5000 THEN RAISE EXCEPTION 'swordfish' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER break BEFORE INSERT ON bailiwick.audit FOR EACH ROW EXECUTE FUNCTION break()`); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	large := record(2)
	large.Correlation = strings.Repeat("x", 8000)
	if err := s.Append(ctx, &large); err == nil {
		t.Fatal("the record is appended")
	}
	for range 2 {
		f, ok := errors.AsType[*store.Failure](s.Ping(ctx))
		if !ok || f.Public != "the disk is full" {
			t.Fatalf("%v, want a full disk", f)
		}
		time.Sleep(time.Second) // Ping made another attempt meanwhile
	}
	small := record(3)
	if err := s.Append(ctx, &small); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(ctx); err != nil {
		t.Error("an append that succeeds ends it:", err)
	}
}
