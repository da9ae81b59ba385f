package parsed

import (
	"database/sql/driver"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Steady returns a Conn whose statements SQLite plans without looking at their arguments. Otherwise it parses a statement again
// whenever it gets an argument on which its plan could depend: a limit, or a value of an indexed column with samples of
// ANALYZE. For statements that name records by their keys there is only one good plan; queries are better off with New.
func Steady(c driver.Conn) *Conn {
	steady(c)
	return New(c)
}

// steady reports whether it could. The driver has no option for it.
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
