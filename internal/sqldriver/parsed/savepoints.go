package parsed

import (
	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// savepointsInMemory is how many bytes of pages SQLite keeps in memory before it writes them to a file of their own.
// They are the pages as they were before the innermost savepoints of a transaction. SQLite's default is 64 KiB. A step
// of a change writes some twenty pages and several steps share a transaction, so every commit made such a file. SQLite
// writes all of it to that file at once, and can't write more than 131,071 bytes so. With a larger bound it takes the
// disk for full.
const savepointsInMemory = 124 << 10

// roomy is whether SQLite has taken that bound. It does so only before its first connection. A program that has opened
// one by then has files as before.
var roomy = keepSavepoints()

func keepSavepoints() bool {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.Xmalloc(tls, types.Size_t(8))
	if args == 0 {
		return false
	}
	defer libc.Xfree(tls, args)
	return sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_STMTJRNL_SPILL, libc.VaList(args, int32(savepointsInMemory))) == sqlite3.SQLITE_OK
}
