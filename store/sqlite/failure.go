package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"
)

// failed returns an operator's error: what could not be done, with which file, and why.
func (s *Store) failed(doing string, err error) error {
	if errors.Is(err, errNewer) {
		return fmt.Errorf("%s %s: %w", doing, s.path, err)
	}
	var why string
	switch primary(err) {
	case code.SQLITE_FULL:
		why = "the disk is full"
	case code.SQLITE_READONLY:
		why = "the file or its disk is read-only"
	case code.SQLITE_BUSY, code.SQLITE_LOCKED:
		why = "another process has kept it locked for 10 s"
	case code.SQLITE_CORRUPT:
		why = "the file is damaged"
	case code.SQLITE_NOTADB:
		why = "the file is no SQLite database"
	case code.SQLITE_CANTOPEN:
		why = "the file can't be opened"
	case code.SQLITE_IOERR:
		why = "the disk fails"
	default:
		return fmt.Errorf("%s in %s: %w", doing, s.path, err)
	}
	return fmt.Errorf("%s in %s: %s: %w", doing, s.path, why, err)
}

// primary returns SQLite's primary result code of err; 0 if it isn't an error of SQLite.
func primary(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// transient reports whether err may be caused by another process migrating the same file.
func transient(err error) bool {
	switch primary(err) {
	case code.SQLITE_BUSY, code.SQLITE_LOCKED, code.SQLITE_ERROR, code.SQLITE_CONSTRAINT, code.SQLITE_SCHEMA:
		return true
	}
	return false
}
