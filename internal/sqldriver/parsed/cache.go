package parsed

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A cache limits the cached pages of a connection. If a statement leaves more bytes than the limit most, the cache
// releases the pages. The driver's SQLite has one list of least recently used pages for all connections of the
// process. A long scan also takes pages from other connections, and then exceeds its bound. The other connections
// then allocate the same number of pages again. Once all connections together reach the sum of their bounds, SQLite
// drops each page directly after it is read. Then a join reads the same page from the file for every record.
type cache struct {
	handle
	most int32
	slot uintptr // two ints
}

// Share makes the connection release its cached pages after each statement that leaves more bytes of pages than the
// limit most.
func (c *Conn) Share(most int32) {
	if c.handle.db == 0 {
		return
	}
	if slot := libc.Xmalloc(c.handle.thread, 8); slot != 0 {
		c.cache = &cache{c.handle, most, slot}
	}
}

// usedBytes returns the number of bytes in the connection's pages.
func (c *cache) usedBytes() int32 {
	if sqlite3.Xsqlite3_db_status(c.thread, c.db, sqlite3.SQLITE_DBSTATUS_CACHE_USED, c.slot, c.slot+4, 0) != sqlite3.SQLITE_OK {
		return 0
	}
	return **(**int32)(unsafe.Pointer(&c.slot))
}

// settle releases the pages if they exceed the bound.
func (c *cache) settle() {
	if c != nil && c.slot != 0 && c.usedBytes() > c.most {
		sqlite3.Xsqlite3_db_release_memory(c.thread, c.db)
	}
}

// close frees the memory for used.
func (c *cache) close() {
	if c != nil && c.slot != 0 {
		libc.Xfree(c.thread, c.slot)
		c.slot = 0
	}
}
