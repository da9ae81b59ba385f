package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// work is the work of the database on the table of changes: rows by an index, rows by a scan, and looks into indexes.
type work struct{ found, scanned, looks int64 }

func (w work) since(before work) work {
	return work{w.found - before.found, w.scanned - before.scanned, w.looks - before.looks}
}

// TestLookedUp checks that looking for another's change reads as much as looking for one that doesn't exist: no row.
// It counts what the database reads, since times say it only on an idle machine.
func TestLookedUp(t *testing.T) {
	url, ctx := services.Postgres(t), t.Context()
	db, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	const changes, times = 400, 20
	id := func(n int) string { return fmt.Sprintf("01k%031d", n) }
	s := open(t, url)
	for n := range changes {
		c := pending(id(n))
		c.Agent.Principal, c.Agent.Tenant = fmt.Sprint("token:", n%7), fmt.Sprint("org", n%7)
		if _, err := s.Put(ctx, c, change.Filing{Life: time.Hour, Most: changes}); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if _, err := db.Exec(ctx, `ANALYZE bailiwick.change`); err != nil {
		t.Fatal(err)
	}
	collected := services.PostgresMajor() < 15
	// read returns the counters once all other connections have ended: each reports what it did by then.
	read := func() (w work) {
		t.Helper()
		for others := 1; others > 0; time.Sleep(10 * time.Millisecond) {
			if err := db.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&others); err != nil {
				t.Fatal(err)
			}
		}
		if collected {
			time.Sleep(1100 * time.Millisecond) // the collector's answer is up to a second old
		}
		err := db.QueryRow(ctx, `SELECT idx_tup_fetch, seq_tup_read, idx_scan FROM pg_stat_user_tables WHERE relname = 'change'`).Scan(&w.found, &w.scanned, &w.looks)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	// ask returns the work of looking for a change of a principal or tenant, many times, in a store of its own.
	ask := func(id string, of change.Of, want error) work {
		t.Helper()
		before := read()
		s := open(t, url)
		for range times {
			if _, err := s.GetOf(ctx, id, of); !errors.Is(err, want) {
				t.Fatal(err)
			}
		}
		s.Close()
		return read().since(before)
	}
	for _, of := range []change.Of{{Principal: "token:3"}, {Tenant: "org3"}} {
		own, foreign, absent := ask(id(10), of, nil), ask(id(11), of, change.ErrNone), ask(id(changes+1), of, change.ErrNone)
		if none := (work{looks: times}); foreign != absent || absent != none || own != (work{found: times, looks: times}) {
			t.Errorf("%+v: own %+v, another's %+v, absent %+v", of, own, foreign, absent)
		}
	}
}
