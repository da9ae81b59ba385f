package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"syscall"

	"github.com/bailiwick-dev/bailiwick/internal/store"
	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"
)

// Reasons that this package itself determines.
var (
	errOther = errors.New("the file holds tables of another program, or of a build of Bailiwick before 0.1.0. Name another file")
	errMoved = errors.New("the file was removed or replaced while it was in use. Put it back and restart, or restart to begin an empty one")
)

// operatorError returns an error for operators: the failed action, the file, and the reason.
func (s *Store) operatorError(doing string, err error) error {
	f := &store.Failure{Doing: doing, At: s.path, Err: err}
	if n := primary(err); n != 0 {
		f.Code = fmt.Sprint("SQLite error ", n)
	}
	for _, known := range []error{store.ErrNewer, errOther, errMoved, store.ErrMoved, store.ErrLocked, store.ErrForeign} {
		if errors.Is(err, known) {
			f.Why = known.Error()
			return f
		}
	}
	if n, ok := errors.AsType[syscall.Errno](err); ok { // an error of the journal's file
		f.Why = map[syscall.Errno]string{syscall.ENOSPC: "the disk is full", syscall.EDQUOT: "the disk is full", syscall.EROFS: "the file or its disk is read-only"}[n]
		f.Why = cmp.Or(f.Why, n.Error())
		return f
	}
	switch primary(err) {
	case code.SQLITE_FULL:
		f.Why = "the disk is full"
	case code.SQLITE_READONLY:
		f.Why = "the file or its disk is read-only"
	case code.SQLITE_BUSY, code.SQLITE_LOCKED:
		f.Why = "another process has kept it locked for 10 s"
	case code.SQLITE_CORRUPT:
		f.Why = "the file is damaged"
	case code.SQLITE_NOTADB:
		f.Why = "the file is no SQLite database"
	case code.SQLITE_CANTOPEN:
		f.Why = "the file can't be opened"
	case code.SQLITE_IOERR:
		f.Why = "the disk fails"
	case code.SQLITE_PERM, code.SQLITE_AUTH:
		f.Why = "this user may not write it"
	}
	return f
}

// primary returns SQLite's primary result code of err, or 0 if it isn't an error of SQLite.
func primary(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// transient reports whether err may have been caused by another process that migrates the same file.
func transient(err error) bool {
	switch primary(err) {
	case code.SQLITE_BUSY, code.SQLITE_LOCKED, code.SQLITE_ERROR, code.SQLITE_CONSTRAINT, code.SQLITE_SCHEMA:
		return true
	}
	return false
}
