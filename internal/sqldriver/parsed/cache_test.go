package parsed

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// all runs a statement to its end.
func all(t *testing.T, conn *Conn, text string) {
	t.Helper()
	rows, err := conn.QueryContext(context.Background(), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatal(err)
		}
	}
}

// TestShared joins a table that is larger than the cache with a small one, alternately on two connections. Neither
// connection may read the small table from the file again for each record.
func TestShared(t *testing.T) {
	at := "file:" + filepath.Join(t.TempDir(), "a.db") + "?_pragma=synchronous(0)&_pragma=cache_size(-1024)"
	var conns [2]*Conn
	for i := range conns {
		opened, err := new(sqlite.Driver).Open(at)
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = New(opened)
		t.Cleanup(func() { conns[i].Close() })
		conns[i].Share(7 << 17)
	}
	const records = 30_000
	all(t, conns[0], "CREATE TABLE small (id INTEGER PRIMARY KEY, t TEXT)")
	all(t, conns[0], "CREATE TABLE large (id INTEGER PRIMARY KEY, of INT, t TEXT)")
	all(t, conns[0], "INSERT INTO small WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, printf('%50d', i) FROM n")
	all(t, conns[0], "INSERT INTO large WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT i, i * 7919 % 3000 + 1, printf('%100d', i) FROM n")
	slot := libc.Xmalloc(conns[0].handle.thread, 8)
	defer libc.Xfree(conns[0].handle.thread, slot)
	for round := range 4 {
		for i, conn := range conns {
			all(t, conn, "SELECT sum(length(small.t)) FROM large JOIN small ON small.id = of")
			if rc := sqlite3.Xsqlite3_db_status(conn.handle.thread, conn.handle.db, sqlite3.SQLITE_DBSTATUS_CACHE_MISS, slot, slot+4, 1); rc != sqlite3.SQLITE_OK {
				t.Fatal(rc)
			}
			misses := **(**int32)(unsafe.Pointer(&slot))
			if t.Logf("round %d, connection %d: %d pages read", round, i, misses); round > 0 && misses > records/4 {
				t.Errorf("round %d: connection %d read %d pages for %d records", round, i, misses, records)
			}
			if used := conn.cache.usedBytes(); used > conn.cache.most {
				t.Errorf("round %d: connection %d keeps %d bytes", round, i, used)
			}
		}
	}
}
