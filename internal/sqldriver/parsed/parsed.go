// Package parsed caches the parsed statements of an SQLite connection, and removes the connection's mutex. For a
// short statement, SQLite spends more time on parsing than on running it. For a long result, it spends a quarter of
// the time on the mutex.
package parsed

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
)

// Limits of the cached statements of a connection.
const (
	mostStatements = 256
	longestText    = 32 << 10 // bytes
)

// A Conn is a connection that parses each statement text only once. SQLite itself parses a statement again after a
// change of the schema.
type Conn struct {
	driver.Conn
	kept   map[string]*statement
	handle handle // zero if handleOf can't find it in the driver
	cache  *cache // nil if the connection keeps its pages
}

// A statement is parsed, and in use by at most one result at a time.
type statement struct {
	driver.Stmt
	busy bool
}

// New returns a Conn over an unused connection of the SQLite driver. The Conn closes that connection. From then on,
// only one goroutine at a time may use the connection, because SQLite no longer blocks others.
func New(c driver.Conn) *Conn {
	removeMutex(c)
	h, _ := handleOf(c)
	return &Conn{Conn: c, kept: map[string]*statement{}, handle: h}
}

// Close closes the statements and the connection.
func (c *Conn) Close() error {
	c.cache.close()
	return errors.Join(c.clear(), c.Conn.Close())
}

// clear closes the statements that are not in use by a result.
func (c *Conn) clear() (err error) {
	for text, s := range c.kept {
		if !s.busy {
			err = errors.Join(err, s.Close())
			delete(c.kept, text)
		}
	}
	return err
}

// take returns the parsed statement for text. The statement is in use until the caller sets busy to false. take
// returns nil if the statement can't be cached or is already in use.
func (c *Conn) take(ctx context.Context, text string) (*statement, error) {
	if s := c.kept[text]; s != nil {
		if s.busy {
			return nil, nil
		}
		s.busy = true
		return s, nil
	}
	if !lasting(text) {
		return nil, nil
	}
	if len(c.kept) >= mostStatements {
		if err := c.clear(); err != nil {
			return nil, err
		}
	}
	fresh, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s := &statement{Stmt: fresh, busy: true}
	c.kept[strings.Clone(text)] = s
	return s, nil
}

// lasting reports whether text reads or writes rows, or is part of a transaction. Other statements are rare, and some
// pragmas take effect when they are parsed.
func lasting(text string) bool {
	if len(text) > longestText {
		return false
	}
	word, _, _ := strings.Cut(text, " ")
	switch word {
	case "SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE":
		return true
	}
	return false
}

// QueryContext implements driver.QueryerContext.
func (c *Conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.Conn.(driver.QueryerContext).QueryContext(ctx, text, args)
	}
	found, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		s.busy = false
		return nil, err
	}
	return &rows{found, s, c.cache}, nil
}

// rows is the result of a cached statement. Closing it frees the statement.
type rows struct {
	driver.Rows
	of    *statement
	cache *cache
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	err := r.Rows.Close()
	r.of.busy = false
	r.cache.settle()
	return err
}

// ExecContext implements driver.ExecerContext.
func (c *Conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.Conn.(driver.ExecerContext).ExecContext(ctx, text, args)
	}
	defer func() { s.busy = false }()
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *Conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
}

// BeginTx implements driver.ConnBeginTx.
func (c *Conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

// ResetSession implements driver.SessionResetter.
func (c *Conn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

// IsValid implements driver.Validator.
func (c *Conn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }
