package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/parsed"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite/internal/heap"
)

// fileConn is a connection that is closed when its path no longer refers to the same file. Otherwise SQLite would
// continue to read a deleted or replaced file for as long as the connection is used.
type fileConn struct {
	*parsed.Conn
	path   string
	opened os.FileInfo
	memory *heap.Account

	references keptReferences
}

// Close implements driver.Conn.
func (c *fileConn) Close() error {
	defer c.memory.Release()
	return c.Conn.Close()
}

// keptReferences are the foreign keys of one version of the schema. The version is -1 before they have been read.
type keptReferences struct {
	of   int64
	list []schema.Reference
}

// ResetSession implements driver.SessionResetter: database/sql calls it before each reuse of the connection.
func (c *fileConn) ResetSession(ctx context.Context) error {
	if now, err := os.Stat(c.path); err != nil || !os.SameFile(now, c.opened) {
		return driver.ErrBadConn
	}
	c.memory.Begin()
	return c.Conn.ResetSession(ctx)
}

// QueryContext implements driver.QueryerContext. It repeats a statement that failed because another transaction was
// just ending.
func (c *fileConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	for wait := time.Millisecond; ; wait *= 2 {
		rows, err := c.Conn.QueryContext(ctx, text, args)
		if !needsRecovery(err) || wait > longestRecovery {
			return rows, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// longestRecovery is the last pause before a statement fails because of a journal. The earlier pauses add up to the
// same time.
const longestRecovery = 128 * time.Millisecond

// needsRecovery reports whether a read-only connection found the journal or log of a transaction that must be rolled
// back first. SQLite reports the same for a journal that is deleted at that moment. In this case a transaction has
// just ended, and the next try succeeds. Only the journal of a killed writer remains.
func needsRecovery(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch e.Code() {
	case sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY, sqlite3.SQLITE_READONLY_CANTINIT, sqlite3.SQLITE_READONLY_CANTLOCK:
		return true
	}
	return false
}
