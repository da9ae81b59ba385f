package sqlite

import (
	"context"
	"database/sql/driver"
	"os"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/parsed"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite/internal/heap"
)

// fileConn is a connection that is closed when its path no longer leads to the same file. SQLite would go on reading the
// open file, deleted or replaced, for as long as the connection is used.
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

// keptReferences are the foreign keys of one version of the schema; -1 before they were read.
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
