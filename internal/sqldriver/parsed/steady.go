package parsed

import (
	"context"
	"database/sql/driver"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Steady returns a Conn whose statements SQLite plans without regard to their arguments. By default, SQLite parses a
// statement again whenever an argument changes that could influence the plan. Such an argument is a limit, or a value
// of an indexed column with samples of ANALYZE. A statement that names records by key has only one good plan. Use New
// for queries.
func Steady(c driver.Conn) *Conn {
	steady(c)
	return New(c)
}

// steady sets the option for conn, and reports whether that succeeded. The driver has no API for it.
func steady(conn driver.Conn) bool {
	h, ok := handleOf(conn)
	if !ok {
		return false
	}
	args := libc.Xmalloc(h.thread, 2*8) // an int and a pointer, each in a slot of 8 bytes
	if args == 0 {
		return false
	}
	defer libc.Xfree(h.thread, args)
	return sqlite3.Xsqlite3_db_config(h.thread, h.db, sqlite3.SQLITE_DBCONFIG_ENABLE_QPSG, libc.VaList(args, int32(1), uintptr(0))) == sqlite3.SQLITE_OK
}

// Lookup parses a query that names a record by its key, if the query isn't cached yet. SQLite then never parses the
// query again because of its arguments, as on a connection of Steady.
func (c *Conn) Lookup(ctx context.Context, text string) error {
	if c.kept[text] != nil {
		return nil
	}
	defer c.handle.steadily()()
	s, err := c.take(ctx, text)
	if s != nil {
		s.busy = false
	}
	return err
}

// steadily makes the connection plan statements without regard to their arguments, until the returned function is
// called. It sets the flag directly, because SQLite's own function, which steady calls, forces every statement to be
// parsed again.
func (h handle) steadily() (end func()) {
	if h.db == 0 {
		return func() {}
	}
	db := *(**sqlite3.Tsqlite3)(unsafe.Pointer(&h.db))
	before := db.Fflags & sqlite3.SQLITE_EnableQPSG
	db.Fflags |= sqlite3.SQLITE_EnableQPSG
	return func() { db.Fflags = db.Fflags&^sqlite3.SQLITE_EnableQPSG | before }
}
