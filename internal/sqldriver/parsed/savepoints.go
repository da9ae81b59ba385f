package parsed

import (
	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// savepointsInMemory is how many bytes of pages SQLite keeps in memory before it writes them to a separate file. The
// pages are copies from before the innermost savepoints of a transaction. SQLite's default is 64 KiB. A step of a
// change writes some twenty pages and several steps share a transaction, so every commit created such a file. SQLite
// writes all these pages to the file at once, and can write at most 131,071 bytes this way. With a larger bound it
// reports a full disk.
const savepointsInMemory = 124 << 10

// roomy reports whether SQLite has accepted that bound. SQLite accepts it only before its first connection. If the
// program has opened a connection before, SQLite creates files as usual.
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
