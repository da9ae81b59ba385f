package heap

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"modernc.org/sqlite"
)

// opened returns a connection to a database in memory.
func opened(t *testing.T) driver.Conn {
	t.Helper()
	conn, err := new(sqlite.Driver).Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// ask returns the first value of a statement.
func ask(conn driver.Conn, text string) (driver.Value, error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(context.Background(), text, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return row[0], nil
}

const large = "SELECT length(hex(zeroblob(8000000)))" // 24 MB

// TestBound exceeds the limit of a connection. The statement must fail, and later statements on the connection must
// succeed. Another connection has its own limit, or none.
func TestBound(t *testing.T) {
	bounded, other, free := opened(t), opened(t), opened(t)
	account, err := SetLimit(bounded, 20<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := SetLimit(other, 40<<20); err != nil {
		t.Fatal(err)
	}
	for range 20 { // failed statements must leave no bytes on the account
		if v, err := ask(bounded, large); err == nil || !strings.Contains(err.Error(), "(7)") {
			t.Fatal("over the bound:", v, err)
		}
		if v, err := ask(bounded, "SELECT length(hex(zeroblob(3000000)))"); v != int64(6000000) {
			t.Fatal("within the bound:", v, err)
		}
	}
	for _, conn := range []driver.Conn{other, free} {
		if v, err := ask(conn, large); v != int64(16000000) {
			t.Error("another connection:", v, err)
		}
	}
	account.held.Store(20 << 20) // represents cached statements
	account.Begin()
	if v, err := ask(bounded, "SELECT length(hex(zeroblob(3000000)))"); v != int64(6000000) {
		t.Error("counted anew:", v, err)
	}
	account.Release()
	if v, err := ask(bounded, large); v != int64(16000000) {
		t.Error("released:", v, err)
	}
}

// TestHeld checks that a connection releases all memory that its account counts. Pages of caches are on no account.
func TestHeld(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		conn := opened(t)
		if _, err := SetLimit(conn, 1<<30); err != nil {
			t.Fatal(err)
		}
		thread, err := threadOf(conn)
		if err != nil {
			t.Fatal(err)
		}
		a := payer(thread)
		all.Go(func() {
			const sort = "SELECT x FROM (WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 20000) SELECT printf('%0400d', i * 7919 % 20011) AS x FROM s) ORDER BY x"
			for range 3 {
				if _, err := ask(conn, sort); err != nil {
					t.Error(err)
				}
				if held := a.held.Load(); held < -1<<20 || held > 1<<20 {
					t.Errorf("%d bytes are held when nothing runs", held)
				}
			}
		})
	}
	all.Wait()
}

// TestNotSQLite checks that connections without a known thread are rejected, since they would have no limit.
func TestNotSQLite(t *testing.T) {
	for _, conn := range []driver.Conn{nil, (*fake)(nil), &fake{}} {
		if a, err := SetLimit(conn, 1); err == nil || a != nil {
			t.Errorf("%T has a bound", conn)
		}
	}
}

type fake struct{ driver.Conn }
