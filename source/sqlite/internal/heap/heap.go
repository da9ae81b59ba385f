// Package heap limits the memory that SQLite allocates for one connection.
//
// SQLite itself has only a limit for the whole process. The memory of a statement depends on its data. For example, a
// sort keeps one record of each sorted run in memory, so 60 texts of 8 MB need a gigabyte. In this package, SQLite's
// allocator counts the memory of each connection. An allocation over the limit fails, and the statement ends with
// SQLITE_NOMEM. The connection stays usable.
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

// An Account counts the memory that one connection has allocated, and contains its limit. Both are in bytes.
type Account struct {
	held   atomic.Int64
	most   int64
	thread int32 // the ID of the connection's libc.TLS
}

// accounts contains the accounts of limited connections. The index is the number of the connection's thread modulo
// the length of accounts.
var accounts [1 << 14]atomic.Pointer[Account]

// installed is the error with which SQLite rejected the allocator, or nil. SQLite accepts an allocator only before
// its first connection, so it is installed when the program starts.
var installed = install()

// install gives SQLite an allocator that counts each connection's memory. It must be configured before SQLite is
// initialized.
func install() error {
	tls := libc.NewTLS()
	defer tls.Close()
	methods := libc.Xcalloc(tls, 1, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_mem_methods{})))
	args := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(uintptr(0))))
	if methods == 0 || args == 0 {
		return errors.New("no memory for SQLite's allocator")
	}
	defer libc.Xfree(tls, args)
	defer libc.Xfree(tls, methods) // SQLite makes a copy of them
	*at[sqlite3.Tsqlite3_mem_methods](methods) = sqlite3.Tsqlite3_mem_methods{
		FxMalloc: pointer(allocate), FxFree: pointer(free), FxRealloc: pointer(reallocate), FxSize: pointer(size),
		FxRoundup: pointer(roundUp), FxInit: pointer(start), FxShutdown: pointer(stop)}
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(args, methods)); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite refused an allocator with code %d: it was in use before the program started", rc)
	}
	return nil
}

// ErrTaken is the error of SetLimit if another connection already uses the account of this connection. Open another
// connection instead.
var ErrTaken = errors.New("another connection has this one's account")

// SetLimit sets the maximum number of bytes that a connection of modernc.org/sqlite may allocate beside its page
// cache. It doesn't count memory that is already allocated. Release the Account when the connection is closed.
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

// Begin restarts the count at zero. The connection's present memory, its parsed statements, doesn't count.
func (a *Account) Begin() { a.held.Store(0) }

// Release removes the limit.
func (a *Account) Release() { place(a.thread).CompareAndSwap(a, nil) }

func place(thread int32) *atomic.Pointer[Account] {
	return &accounts[uint32(thread)%uint32(len(accounts))]
}

// threadOf returns the number of the thread that conn passes to SQLite. It uses reflection, because the driver
// doesn't export the thread.
func threadOf(conn driver.Conn) (int32, error) {
	if v := reflect.ValueOf(conn); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		if tls := v.Elem().FieldByName("tls"); tls.IsValid() && tls.Type() == reflect.TypeFor[*libc.TLS]() && !tls.IsNil() {
			return int32(tls.Elem().FieldByName("ID").Int()), nil
		}
	}
	return 0, fmt.Errorf("a connection of type %T has no thread of SQLite", conn)
}

// header is the length of the data before each block: the block's size, and the thread whose account counts it, or 0.
const header = 16

// A block is the header of a block of memory. It contains the size in bytes, and the thread whose account counts the
// block, or 0.
type block struct{ size, owner int64 }

// page reports whether n is the size of a cache page with its description. Connections exchange pages, so no account
// counts them. The size of the caches limits them.
func page(n int32) bool {
	const least, most, more = 512, 65536, 512
	whole := int32(1) << (bits.Len32(uint32(n)) - 1)
	return n > least && n < most+more && n > whole && n < whole+more
}

func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func of(p uintptr) *block { return at[block](p - header) }

// payer returns the account of a thread, or nil if the thread has no limit.
func payer(thread int32) *Account {
	if a := place(thread).Load(); a != nil && a.thread == thread {
		return a
	}
	return nil
}

// pay adds n bytes to the account. It returns false if that would exceed the limit.
func (a *Account) pay(n int64) bool { // n may be negative
	if a.held.Add(n) > a.most && n > 0 {
		a.held.Add(-n)
		return false
	}
	return true
}

// allocate is SQLite's xMalloc. It returns n bytes after a header. It returns 0 if that would exceed the limit of the
// connection's account, which SQLite reports as SQLITE_NOMEM. Pages of the cache have their own limit and aren't
// counted.
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

// pointer returns the address of a declared function in the form that SQLite calls.
func pointer[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }
