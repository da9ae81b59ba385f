package parsed

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A cache is the cached pages of a connection that gives them back if a statement has left more than most bytes. The
// driver's SQLite has one list of least recently used pages for all connections of the process. A long scan also takes
// pages of other connections, and then has more than its bound. The others then take as many as theirs again. When all
// have as many as all bounds allow, each page that a connection reads is dropped as soon as it is read. Then a join
// reads the same page from the file for every record.
type cache struct {
	handle
	most int32
	slot uintptr // two ints
}

// Share makes the connection give back its cached pages after each statement that leaves more than most bytes of them.
func (c *Conn) Share(most int32) {
	if c.handle.db == 0 {
		return
	}
	if slot := libc.Xmalloc(c.handle.thread, 8); slot != 0 {
		c.cache = &cache{c.handle, most, slot}
	}
}

// usedBytes returns how many bytes of pages the connection has.
func (c *cache) usedBytes() int32 {
	if sqlite3.Xsqlite3_db_status(c.thread, c.db, sqlite3.SQLITE_DBSTATUS_CACHE_USED, c.slot, c.slot+4, 0) != sqlite3.SQLITE_OK {
		return 0
	}
	return **(**int32)(unsafe.Pointer(&c.slot))
}

// settle gives the pages back if there are more than the bound.
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
