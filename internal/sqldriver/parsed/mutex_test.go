package parsed

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// connections opens connections to a file in the same way as sources and stores.
type connections string

func (c connections) Connect(context.Context) (driver.Conn, error) {
	opened, err := new(sqlite.Driver).Open(string(c))
	if err != nil {
		return nil, err
	}
	return Steady(opened), nil
}

func (connections) Driver() driver.Driver { return new(sqlite.Driver) }

// mutex returns the mutex of a connection, or 0.
func mutex(t *testing.T, conn driver.Conn) uintptr {
	t.Helper()
	h, ok := handleOf(conn)
	if !ok {
		t.Fatalf("a connection of type %T has no handle: another version of the driver keeps it elsewhere, and nothing here has an effect", conn)
	}
	return sqlite3.Xsqlite3_db_mutex(h.thread, h.db)
}

// TestMutexIsRemoved fails if removeMutex or steady has no effect with a new version of the driver. Connections that
// this package doesn't wrap must keep their mutex.
func TestMutexIsRemoved(t *testing.T) {
	for name, wrap := range map[string]func(driver.Conn) *Conn{"New": New, "Steady": Steady} {
		var others, ours [2]driver.Conn
		for i := range ours {
			for _, to := range []*driver.Conn{&others[i], &ours[i]} {
				opened, err := new(sqlite.Driver).Open(":memory:")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { opened.Close() })
				*to = opened
			}
			wrap(ours[i])
		}
		for i := range ours {
			if m := mutex(t, ours[i]); m != 0 {
				t.Errorf("%s: the connection has a mutex", name)
			}
			if m := mutex(t, others[i]); m == 0 {
				t.Errorf("%s: another connection lost its mutex", name)
			}
			if !removeMutex(ours[i]) || !steady(ours[i]) {
				t.Errorf("%s: a second time fails", name)
			}
		}
	}
	for _, conn := range []driver.Conn{nil, (*Conn)(nil), &Conn{}} {
		if removeMutex(conn) || steady(conn) {
			t.Errorf("%T is taken for a connection of the driver", conn)
		}
	}
}

// TestInterrupted cancels statements from another goroutine at random moments, with readers and a writer in parallel.
// Each answer must be right, each error must be the end of the context, and the connections must remain usable.
func TestInterrupted(t *testing.T) {
	db := sql.OpenDB(connections("file:" + filepath.Join(t.TempDir(), "a.db") + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(20000)&_pragma=synchronous(0)&_txlock=immediate"))
	db.SetMaxOpenConns(6)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Exec(`CREATE TABLE t (n INTEGER, x TEXT); INSERT INTO t
		WITH RECURSIVE r (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM r WHERE k < 2000) SELECT k, 'text ' || k FROM r`); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	whole, ended, wrote := 0, 0, 0
	for worker := range 8 {
		all.Go(func() {
			for i := range 250 {
				ctx, cancel := context.WithCancel(t.Context())
				after := time.Duration((worker*250+i)*7919%1500) * time.Microsecond
				if i%4 == 0 {
					after = time.Hour // some statements are never cancelled
				}
				timer := time.AfterFunc(after, cancel)
				var err error
				if worker == 0 {
					err = writeBoth(ctx, db)
				} else {
					err = readAll(ctx, db)
				}
				timer.Stop()
				cut := ctx.Err() != nil
				cancel()
				mu.Lock()
				switch {
				case err == nil && worker == 0:
					wrote++
				case err == nil:
					whole++
				case !cut:
					t.Error(err)
				default:
					ended++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if whole == 0 || ended == 0 {
		t.Errorf("%d whole results, %d that were ended", whole, ended)
	}
	var rows int
	if err := db.QueryRow(`SELECT count(*) FROM t WHERE n < 0`).Scan(&rows); err != nil || rows%2 != 0 || rows/2 < wrote {
		t.Errorf("%d rows of %d transactions of two: %v", rows, wrote, err)
	}
	var sound string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&sound); err != nil || sound != "ok" {
		t.Error(sound, err)
	}
}

// readAll reads the rows that no transaction of the test writes. It fails if they have changed.
func readAll(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, `SELECT n, x FROM t WHERE n > 0 ORDER BY n`)
	if err != nil {
		return err
	}
	defer rows.Close()
	next := 1
	for ; rows.Next(); next++ {
		var n int
		var x string
		if err := rows.Scan(&n, &x); err != nil {
			return err
		}
		if n != next || x != fmt.Sprint("text ", n) {
			return fmt.Errorf("row %d is %d, %q", next, n, x)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if next != 2001 {
		return fmt.Errorf("%d rows without an error", next-1)
	}
	return nil
}

// writeBoth adds two rows in a transaction. When ctx ends, another goroutine rolls the transaction back.
func writeBoth(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for range 2 {
		if _, err := tx.ExecContext(ctx, `INSERT INTO t VALUES (-1, 'w')`); err != nil {
			return err
		}
	}
	return tx.Commit()
}
