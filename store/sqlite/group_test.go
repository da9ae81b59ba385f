package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"
)

// TestTransactionsShareACommit checks that transactions that wait at the same time run in one transaction,
// independently of each other. Those that fail or panic must leave nothing. Those whose caller has gone must not run.
func TestTransactionsShareACommit(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.write.Exec(`CREATE TABLE noted (n INTEGER)`); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	release := hold(t, s)

	refused := errors.New("refused")
	var mu sync.Mutex
	in := map[*sql.Tx]int{}
	note := func(n int, end func() error) func(context.Context, *sql.Tx) error {
		return func(ctx context.Context, tx *sql.Tx) error {
			mu.Lock()
			in[tx]++
			mu.Unlock()
			if ctx.Done() != nil {
				t.Error("a part can be cancelled")
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO noted VALUES (?)`, n); err != nil {
				return err
			}
			return end()
		}
	}
	fine := func() error { return nil }
	results := make([]error, 4)
	for i, end := range []func() error{fine, func() error { return refused }, func() error { panic("broken") }, fine} {
		wg.Go(func() { results[i] = s.transact(t.Context(), note(i, end)) })
	}
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- s.transact(leaving, note(9, fine)) }()
	for waiting := 0; waiting < 5; time.Sleep(time.Millisecond) {
		waiting = s.group.Waiting()
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone got %v", err)
	}
	release()
	wg.Wait()

	if results[0] != nil || !errors.Is(results[1], refused) || results[2] == nil || results[3] != nil {
		t.Errorf("results: %v", results)
	}
	if len(in) != 1 {
		t.Errorf("%d transactions, not one", len(in))
	}
	var kept string
	if err := s.read.QueryRow(`SELECT group_concat(n) FROM (SELECT n FROM noted ORDER BY n)`).Scan(&kept); err != nil || kept != "0,3" {
		t.Errorf("kept: %s (%v)", kept, err)
	}
}

// TestTransactionsThatCantShare checks that if a part ends the transaction for all, the other parts run in their own
// transactions.
func TestTransactionsThatCantShare(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.write.Exec(`CREATE TABLE noted (n INTEGER UNIQUE)`); err != nil {
		t.Fatal(err)
	}
	release := hold(t, s)
	results := make([]chan error, 3)
	for i := range results {
		results[i] = make(chan error, 1)
		go func() {
			results[i] <- s.transact(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, `INSERT INTO noted VALUES (?)`, i)
				if i == 1 && err == nil {
					_, err = tx.ExecContext(ctx, `INSERT OR ROLLBACK INTO noted VALUES (?)`, i)
				}
				return err
			})
		}()
		for s.group.Waiting() <= i {
			time.Sleep(time.Millisecond)
		}
	}
	release()
	for i, result := range results {
		if err := <-result; (err != nil) != (i == 1) {
			t.Errorf("part %d: %v", i, err)
		}
	}
	var kept string
	if err := s.read.QueryRow(`SELECT group_concat(n) FROM (SELECT n FROM noted ORDER BY n)`).Scan(&kept); err != nil || kept != "0,2" {
		t.Errorf("kept: %s (%v)", kept, err)
	}
}

// TestTransactionsAreForgotten checks that the data of a transaction is not kept after the transaction.
func TestTransactionsAreForgotten(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var written []weak.Pointer[[1 << 20]byte]
	for range 3 {
		body := new([1 << 20]byte)
		written = append(written, weak.Make(body))
		err := s.transact(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `SELECT length(?)`, body[:])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	for i, body := range written {
		if body.Value() != nil {
			t.Error("kept after its transaction:", i)
		}
	}
}

// hold keeps a transaction of s open until the returned function is called, so that other transactions meanwhile
// share the next one.
func hold(t *testing.T, s *Store) func() {
	begun, free, ended := make(chan bool), make(chan bool), make(chan error, 1)
	go func() {
		ended <- s.transact(t.Context(), func(context.Context, *sql.Tx) error { close(begun); <-free; return nil })
	}()
	<-begun
	return func() {
		close(free)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
