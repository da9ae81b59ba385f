package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/parsed"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A WritableSource is a SQLite source that can be written to. It reads on read-only connections.
type WritableSource struct {
	*Source
	*sqldriver.Writer
	db *sql.DB
}

// Writable opens s for writing as well. It creates the marker table if it doesn't exist.
func (s *Source) Writable(ctx context.Context) (*WritableSource, error) {
	conn, err := newConnector(s.path, "mode=rw&_dqs=0&_pragma=busy_timeout(50)&_pragma=foreign_keys(1)&_pragma=synchronous(2)&_pragma=trusted_schema(0)", math.MaxInt64) // no limit, since an index may contain long values
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", s.name, err)
	}
	conn.parsed = parsed.Steady // its statements name records by key
	db := sql.OpenDB(conn)
	db.SetMaxOpenConns(1) // transactions wait here in order, instead of polling for SQLite's write lock
	db.SetConnMaxIdleTime(time.Minute)
	w := &WritableSource{Source: s, Writer: sqldriver.NewWriter(writer{engine{s}, db}), db: db}
	if err := sqldriver.MakeMarker(ctx, s.name, engine{s}, func(ctx context.Context, text string) error {
		return patient(ctx, func() error { _, err := db.ExecContext(ctx, text); return err })
	}); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return w, nil
}

// Close closes all connections.
func (w *WritableSource) Close() error { return errors.Join(w.db.Close(), w.Source.Close()) }

// writer implements sqldriver.WriteDatabase.
type writer struct {
	engine
	db *sql.DB // shadows the connections for reading
}

// Begin implements sqldriver.WriteDatabase. The transaction holds the write lock from the start, so the records that
// it reads can't change before it commits.
func (w writer) Begin(ctx context.Context) (sqldriver.WriteTx, error) {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t := &tx{sqldriver.Transaction{Conn: conn, Decode: readValue}}
	if err := patient(ctx, func() error { _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); return err }); err != nil {
		t.Rollback() // it may have begun although the context ended
		return nil, err
	}
	return t, nil
}

// Single implements sqldriver.Single. SQLite has one writer at a time.
func (writer) Single() {}

// patient retries do while another connection holds a lock. SQLite could wait by itself, but then a context couldn't
// end the wait.
func patient(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !(writer{}).Again(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Commit implements sqldriver.WriteTx. If readers block it, the transaction stays open and Commit waits.
func (t *tx) Commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sqldriver.CommitTime)
	defer cancel()
	return patient(ctx, func() error { return t.Transaction.Commit(ctx) })
}

// A tx implements sqldriver.WriteTx.
type tx struct{ sqldriver.Transaction }

// Settle implements sqldriver.WriteTx. SQLite reports that a deferred foreign key is violated, but not which one.
func (t *tx) Settle(context.Context) error {
	return t.Conn.Raw(func(c any) error {
		f, ok := c.(*fileConn)
		if !ok {
			return fmt.Errorf("a connection is a %T", c)
		}
		if s, ok := f.Conn.Conn.(sqlite.DBStatus); ok {
			if n, _, err := s.Status(sqlite.DBStatusDeferredFKs, false); err != nil || n == 0 {
				return err
			}
			return errDeferred
		}
		return fmt.Errorf("the driver's connection is a %T, which reports no deferred keys", f.Conn.Conn)
	})
}

var errDeferred = errors.New("a deferred foreign key doesn't hold")

// References implements sqldriver.WriteDatabase. The connection caches them until the version of the schema changes.
// A transaction that changes the schema never calls References, so the cache never contains keys of a schema that was
// rolled back.
func (writer) References(ctx context.Context, t sqldriver.WriteTx) (list []schema.Reference, err error) {
	conn := t.(*tx).Conn
	var version int64
	if err := conn.QueryRowContext(ctx, `PRAGMA schema_version`).Scan(&version); err != nil {
		return nil, err
	}
	current := false
	if err := conn.Raw(func(c any) error {
		if f, ok := c.(*fileConn); ok && f.references.of == version {
			list, current = f.references.list, true
		}
		return nil
	}); err != nil || current {
		return list, err
	}
	if list, err = references(ctx, conn); err != nil {
		return nil, err
	}
	return list, conn.Raw(func(c any) error {
		if f, ok := c.(*fileConn); ok {
			f.references = keptReferences{version, list}
		}
		return nil
	})
}

// Sound implements sqldriver.WriteDatabase.
func (writer) Sound(_ context.Context, _ sqldriver.WriteTx, c *schema.Class) error {
	if c.Space != "" {
		return sqldriver.Unwritable(c, "it is in an attached file, which can't be written together with the main one")
	}
	return nil
}

// Again implements sqldriver.WriteDatabase.
func (writer) Again(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_BUSY || e.Code()&0xff == sqlite3.SQLITE_LOCKED)
}

// Problem implements sqldriver.WriteDatabase.
func (w writer) Problem(ctx context.Context, err error) error {
	return w.Errors().RefuseWrite(ctx, err)
}

// kinds maps codes to refusals.
var kinds = map[int]sqldriver.RefusalKind{
	sqlite3.SQLITE_CONSTRAINT_UNIQUE: sqldriver.RefusedUnique, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: sqldriver.RefusedUnique, sqlite3.SQLITE_CONSTRAINT_ROWID: sqldriver.RefusedUnique,
	sqlite3.SQLITE_CONSTRAINT_NOTNULL: sqldriver.RefusedNotNull, sqlite3.SQLITE_CONSTRAINT_CHECK: sqldriver.RefusedCheck, sqlite3.SQLITE_CONSTRAINT_TRIGGER: sqldriver.RefusedTrigger,
	sqlite3.SQLITE_CONSTRAINT_DATATYPE: sqldriver.RefusedMisfit, sqlite3.SQLITE_MISMATCH: sqldriver.RefusedMisfit, sqlite3.SQLITE_TOOBIG: sqldriver.RefusedMisfit,
	sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: sqldriver.RefusedForeignKey,
}

// Refusal implements sqldriver.WriteDatabase. SQLite names columns as "table.column" after a colon. From the rest of
// the message, it uses only the name of a check constraint, and returns only names of fields.
func (w writer) Refusal(ctx context.Context, c *schema.Class, op write.Op, err error) *sqldriver.Refusal {
	if errors.Is(err, errDeferred) {
		return &sqldriver.Refusal{Kind: sqldriver.RefusedForeignKey}
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return nil
	}
	kind, ok := kinds[e.Code()]
	switch {
	case kind == sqldriver.RefusedForeignKey && op == write.OpDelete:
		kind = sqldriver.RefusedReferenced
	case ok:
	case e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT:
		kind = sqldriver.RefusedCheck
	case strings.Contains(e.Error(), "cannot INSERT into generated column"), strings.Contains(e.Error(), "cannot UPDATE generated column"):
		kind = sqldriver.RefusedComputed
	default:
		return nil
	}
	r := &sqldriver.Refusal{Kind: kind}
	_, names, _ := strings.Cut(e.Error(), "constraint failed: ")
	if i := strings.LastIndex(names, "constraint failed: "); i >= 0 {
		names = names[i+len("constraint failed: "):]
	}
	if e.Code() == sqlite3.SQLITE_CONSTRAINT_CHECK {
		r.Name, _, _ = strings.Cut(names, fmt.Sprintf(" (%d)", e.Code()))
		r.Fields = w.constraintFields(ctx, c, r.Name)
		return r
	}
	for name := range strings.SplitSeq(names, ", ") {
		name, _, _ = strings.Cut(name, " (")
		table, column, ok := strings.Cut(name, ".")
		if f := c.Field(column); ok && f != nil && strings.EqualFold(table, c.Table) {
			r.Fields = append(r.Fields, f.Name)
		}
	}
	return r
}

// constraintFields returns the fields of c in one of its check constraints. It returns nil if the table's declaration
// can't be read.
func (w writer) constraintFields(ctx context.Context, c *schema.Class, name string) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	var ddl string
	err := patient(ctx, func() error {
		return w.Source.db.QueryRowContext(ctx, "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND lower(name) = lower(?)", c.Table).Scan(&ddl)
	})
	d, ok := parseDDL(ddl)
	if err != nil || !ok {
		return nil // the kind of the refusal is already known
	}
	return d.bounds(c, name)
}
