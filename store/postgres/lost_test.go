package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestWentBack restores the database to an earlier state while two processes use it. The process whose last record is
// lost must record that in the chain, even if the other process has meanwhile appended as many records. Records that
// were moved to an archive are not lost.
func TestWentBack(t *testing.T) {
	url, ctx := services.Postgres(t), t.Context()
	db, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.Background())
	a, b := open(t, url), open(t, url)
	defer a.Close()
	defer b.Close()
	var told []int64
	b.OnLoss(func(gone audit.Head) { told = append(told, gone.Seq) })
	made := 0
	appends := func(s *postgres.Store, n int) {
		t.Helper()
		for range n {
			made++
			r := record(made)
			if err := s.Append(ctx, &r); err != nil {
				t.Fatal(err)
			}
		}
	}
	back := func(to int64) { // like a restored backup
		t.Helper()
		for _, statement := range []string{`ALTER TABLE bailiwick.audit DISABLE TRIGGER USER`, `DELETE FROM bailiwick.audit WHERE seq > `,
			`UPDATE bailiwick.audit_head SET seq = a.seq, hash = a.hash FROM bailiwick.audit AS a WHERE a.seq = `, `ALTER TABLE bailiwick.audit ENABLE TRIGGER USER`} {
			if strings.HasSuffix(statement, " ") {
				statement += fmt.Sprint(to)
			}
			if _, err := db.Exec(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	lost := func(want ...int64) {
		t.Helper()
		report, err := audit.Verify(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		var found []int64
		for _, d := range report.Damage {
			if d.Kind != audit.Lost || !strings.Contains(d.Detail, "restored or replaced") {
				t.Errorf("damage %v", d.Error())
			}
			found = append(found, d.Seq)
		}
		if len(found) != len(want) || len(want) > 0 && found[len(found)-1] != want[len(want)-1] {
			t.Errorf("losses at %v, want %v", found, want)
		}
	}
	appends(a, 2)
	appends(b, 1)
	lost()
	back(2)
	appends(a, 1) // a has lost no record
	lost()
	back(2)
	appends(b, 1)
	lost(4)
	if len(told) != 1 || told[0] != 3 {
		t.Errorf("told of %v", told)
	}
	appends(b, 1)
	appends(a, 1)
	lost(4)
	back(5)
	appends(b, 3) // a's record 6 is a different one now
	lost(4)
	if err := a.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	appends(a, 1)
	lost(4, 10)
	last, err := a.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Prune(ctx, audit.Head{}, last); err != nil {
		t.Fatal(err)
	}
	if err := a.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	appends(a, 1)
	after, err := a.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if after.Seq != last.Seq+1 {
		t.Errorf("after records went to an archive the chain ends at %d, want %d", after.Seq, last.Seq+1)
	}
}
