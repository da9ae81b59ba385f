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

// work contains the database's counters for the table of changes: rows read by an index, rows read by a scan, and
// index scans.
type work struct{ found, scanned, looks int64 }

func (w work) since(before work) work {
	return work{w.found - before.found, w.scanned - before.scanned, w.looks - before.looks}
}

// TestLookedUp checks that a lookup of another's change reads as much as a lookup of a change that doesn't exist: no
// row. It counts the rows that the database reads, since times are reliable only on an idle machine.
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
	// read returns the counters after all other connections have ended, since a connection reports its work at its
	// end.
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
	// ask returns the work of many lookups of a change of a principal or tenant, in a separate store.
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
		const looks = times + 1 // opening the store looks for changes without words
		if none := (work{looks: looks}); foreign != absent || absent != none || own != (work{found: times, looks: looks}) {
			t.Errorf("%+v: own %+v, another's %+v, absent %+v", of, own, foreign, absent)
		}
	}
}
