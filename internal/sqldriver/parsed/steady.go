package parsed

import (
	"context"
	"database/sql/driver"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Steady returns a Conn whose statements SQLite plans without looking at their arguments. Otherwise it parses a
// statement again whenever it gets an argument on which its plan could depend. That is a limit, or a value of an
// indexed column with samples of ANALYZE. For statements that name records by their keys there is only one good plan.
// Queries are better off with New.
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

// Lookup parses a query, unless it was parsed before, so that SQLite never parses it again for its arguments, as on a connection of
// Steady. It is for queries that name a record by its key.
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

// steadily makes the connection plan statements without looking at their arguments until the function that it returns is called.
// SQLite's own function for that, which steady calls, has every statement parsed again.
func (h handle) steadily() (end func()) {
	if h.db == 0 {
		return func() {}
	}
	db := *(**sqlite3.Tsqlite3)(unsafe.Pointer(&h.db))
	before := db.Fflags & sqlite3.SQLITE_EnableQPSG
	db.Fflags |= sqlite3.SQLITE_EnableQPSG
	return func() { db.Fflags = db.Fflags&^sqlite3.SQLITE_EnableQPSG | before }
}
