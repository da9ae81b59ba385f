package parsed

import (
	"database/sql/driver"
	"reflect"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A handle identifies a connection in SQLite: the thread that it is called on, and its address.
type handle struct {
	thread *libc.TLS
	db     uintptr
}

// handleOf returns the handle of a connection of the driver. It uses reflection, because the driver doesn't export
// the handle.
func handleOf(conn driver.Conn) (handle, bool) {
	v := reflect.ValueOf(conn)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return handle{}, false
	}
	tls, db := v.Elem().FieldByName("tls"), v.Elem().FieldByName("db")
	if !tls.IsValid() || tls.Type() != reflect.TypeFor[*libc.TLS]() || tls.IsNil() || !db.IsValid() || db.Kind() != reflect.Uintptr || db.Uint() == 0 {
		return handle{}, false
	}
	return handle{(*libc.TLS)(tls.UnsafePointer()), uintptr(db.Uint())}, true
}

// removeMutex removes the mutex of conn, and reports whether it did. The connection must not be in use yet. The
// result is the same as with SQLITE_OPEN_NOMUTEX, for which the driver has no option.
//
// SQLite would lock the mutex for each type and value of a cell and each step of a statement. That is a quarter of
// the time of a long result. The mutex separates goroutines that use the connection at the same time. No goroutines
// do that: database/sql gives a connection to one goroutine at a time, and the driver's own state requires that too.
// An interrupt from another goroutine locks no mutex. Mutexes that connections share remain.
func removeMutex(conn driver.Conn) bool {
	h, ok := handleOf(conn)
	if !ok {
		return false
	}
	db := *(**sqlite3.Tsqlite3)(unsafe.Pointer(&h.db))
	sqlite3.Xsqlite3_mutex_free(h.thread, db.Fmutex) // does nothing if there is no mutex
	db.Fmutex = 0
	return true
}
