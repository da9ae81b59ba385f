// Package heap bounds the memory that SQLite takes for one connection.
//
// SQLite has a bound only for the whole process. The most that a statement takes follows its data: a sort keeps a
// record of each sorted run, so that 60 texts of 8 MB take a gigabyte. Here SQLite's allocator counts what each
// connection holds. An allocation over the bound fails, and the statement ends with SQLITE_NOMEM. The connection can be
// used again.
package heap

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// An Account is the memory that one connection holds and may hold, in bytes.
type Account struct {
	held   atomic.Int64
	most   int64
	thread int32 // the ID of the connection's libc.TLS
}

// accounts has the account of a bounded connection at the number of its thread modulo its length.
var accounts [1 << 14]atomic.Pointer[Account]

// installed is the error with which SQLite refused the allocator. SQLite takes an allocator only before its first
// connection, so it is installed when the program starts.
var installed = install()

// install gives SQLite an allocator that accounts for each connection's memory. It must be configured before SQLite is initialized.
func install() error {
	tls := libc.NewTLS()
	defer tls.Close()
	methods := libc.Xcalloc(tls, 1, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_mem_methods{})))
	args := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(uintptr(0))))
	if methods == 0 || args == 0 {
		return errors.New("no memory for SQLite's allocator")
	}
	defer libc.Xfree(tls, args)
	defer libc.Xfree(tls, methods) // SQLite copies them
	*at[sqlite3.Tsqlite3_mem_methods](methods) = sqlite3.Tsqlite3_mem_methods{
		FxMalloc: pointer(allocate), FxFree: pointer(free), FxRealloc: pointer(reallocate), FxSize: pointer(size),
		FxRoundup: pointer(roundUp), FxInit: pointer(start), FxShutdown: pointer(stop)}
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(args, methods)); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite refused an allocator with code %d: it was in use before the program started", rc)
	}
	return nil
}

// ErrTaken is the error of Bound where another connection has the place of this one. Open another in its place.
var ErrTaken = errors.New("another connection has this one's account")

// SetLimit sets the most bytes that a connection of modernc.org/sqlite may hold beside its page cache. Memory that it
// holds already isn't counted. The Account is to be released when the connection is closed.
func SetLimit(conn driver.Conn, most int64) (*Account, error) {
	if installed != nil {
		return nil, installed
	}
	thread, err := threadOf(conn)
	if err != nil {
		return nil, err
	}
	a := &Account{thread: thread, most: most}
	if !place(thread).CompareAndSwap(nil, a) {
		return nil, ErrTaken
	}
	return a, nil
}

// Begin counts anew, from the memory that the connection holds now: its parsed statements.
func (a *Account) Begin() { a.held.Store(0) }

// Release ends the bound.
func (a *Account) Release() { place(a.thread).CompareAndSwap(a, nil) }

func place(thread int32) *atomic.Pointer[Account] {
	return &accounts[uint32(thread)%uint32(len(accounts))]
}

// threadOf returns the number of the thread that conn passes to SQLite, which the driver doesn't export.
func threadOf(conn driver.Conn) (int32, error) {
	if v := reflect.ValueOf(conn); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		if tls := v.Elem().FieldByName("tls"); tls.IsValid() && tls.Type() == reflect.TypeFor[*libc.TLS]() && !tls.IsNil() {
			return int32(tls.Elem().FieldByName("ID").Int()), nil
		}
	}
	return 0, fmt.Errorf("a connection of type %T has no thread of SQLite", conn)
}

// header is the length of the data before each block: its size, and the thread whose account pays for it, or 0.
const header = 16

// A block is the header of a piece of memory: its size in bytes, and the thread that pays for it, or 0.
type block struct{ size, owner int64 }

// page reports whether n is the size of a page of a cache with its description. Connections give pages to each other,
// so they are on no account. The size of the caches bounds them.
func page(n int32) bool {
	const least, most, more = 512, 65536, 512
	whole := int32(1) << (bits.Len32(uint32(n)) - 1)
	return n > least && n < most+more && n > whole && n < whole+more
}

func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func of(p uintptr) *block { return at[block](p - header) }

// payer returns the account of a thread, if it is bounded.
func payer(thread int32) *Account {
	if a := place(thread).Load(); a != nil && a.thread == thread {
		return a
	}
	return nil
}

// pay counts n bytes more on the account, or returns false if they are over its bound.
func (a *Account) pay(n int64) bool { // n may be less than zero
	if a.held.Add(n) > a.most && n > 0 {
		a.held.Add(-n)
		return false
	}
	return true
}

// allocate is SQLite's xMalloc. It returns n bytes behind a header, or 0 if the connection's account has no room for
// them, which SQLite reports as SQLITE_NOMEM. Pages of the cache have a bound of their own and aren't counted.
func allocate(tls *libc.TLS, n int32) uintptr {
	var a *Account
	if !page(n) {
		a = payer(tls.ID)
	}
	if a != nil && !a.pay(int64(n)) {
		return 0
	}
	p := libc.Xmalloc(tls, types.Size_t(n)+header)
	if p == 0 {
		if a != nil {
			a.pay(-int64(n))
		}
		return 0
	}
	b := at[block](p)
	b.size, b.owner = int64(n), 0
	if a != nil {
		b.owner = int64(tls.ID)
	}
	return p + header
}

func free(tls *libc.TLS, p uintptr) {
	b := of(p)
	if a := payer(int32(b.owner)); a != nil && b.owner != 0 {
		a.pay(-b.size)
	}
	libc.Xfree(tls, p-header)
}

// reallocate counts the old block until the new one is filled.
func reallocate(tls *libc.TLS, p uintptr, n int32) uintptr {
	next := allocate(tls, n)
	if next == 0 {
		return 0
	}
	libc.Xmemcpy(tls, next, p, types.Size_t(min(int64(n), of(p).size)))
	free(tls, p)
	return next
}

func size(_ *libc.TLS, p uintptr) int32 {
	if p == 0 {
		return 0
	}
	return int32(of(p).size)
}

func roundUp(_ *libc.TLS, n int32) int32 { return (n + 7) &^ 7 }
func start(*libc.TLS, uintptr) int32     { return sqlite3.SQLITE_OK }
func stop(*libc.TLS, uintptr)            {}

// pointer returns a declared function as SQLite calls it.
func pointer[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }
