package sqlite

import (
	"context"
	"database/sql/driver"
	"os"
)

// fileConn is a connection that is closed when its path no longer leads to the same file. SQLite would go on reading the
// open file, deleted or replaced, for as long as the connection is used.
type fileConn struct {
	driver.Conn
	path   string
	opened os.FileInfo
}

// ResetSession implements driver.SessionResetter: database/sql calls it before each reuse of the connection.
func (c *fileConn) ResetSession(ctx context.Context) error {
	if now, err := os.Stat(c.path); err != nil || !os.SameFile(now, c.opened) {
		return driver.ErrBadConn
	}
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *fileConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
}

// QueryContext implements driver.QueryerContext.
func (c *fileConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, text, args)
}

// BeginTx implements driver.ConnBeginTx.
func (c *fileConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

// ExecContext implements driver.ExecerContext.
func (c *fileConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, text, args)
}
