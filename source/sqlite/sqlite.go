// Package sqlite is the source for SQLite files.
//
//	Permit ─sqlgen, Dialect→ SELECT ─read-only connection→ rows ─sqldriver→ source.Rows
//	write ─WritableSource: sqldriver, Dialect→ one transaction with its marker → receipt
//
// This package contains the parts that are specific to SQLite: the dialect, the catalogue, the types of columns,
// errors, and writes. The dialect calls functions that SQLite lacks. The package registers them on each of its
// connections.
//
// A read first runs in a form that costs less per record. If this form can't answer, the read runs again in the exact
// form. Package heap limits the memory of each connection. A read over that limit runs again with its views apart. So
// a refusal reveals nothing about hidden records.
//
// Package sqldriver contains the parts that it shares with source/postgres and source/mariadb. Its package parsed
// caches parsed statements.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/parsed"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite/internal/heap"
	"github.com/bailiwick-dev/bailiwick/value"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A Source reads one SQLite file. Its Writable method opens it for writing as well. It is safe for concurrent use.
type Source struct {
	name  string
	path  string
	db    *sql.DB
	apart *sql.DB // connections with a higher memory limit, for statements with views apart
	known doubts
	wide  bool // whether the texts of the file are in UTF-16

	choice schema.Choice
}

// Open opens the SQLite file at path, which must exist, as the source called name. The connections can't write.
func Open(ctx context.Context, name, path string) (*Source, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	s := &Source{name: name, path: abs}
	if s.db, err = pool(abs, 8, mostHeap); err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	if s.apart, err = pool(abs, 2, mostApart); err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: %w", name, err), s.db.Close())
	}
	// Read the catalogue to check that the file is a database, because SQLite opens any file.
	var n int
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM main.sqlite_schema").Scan(&n); err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: %s can't be read as an SQLite database: %w", name, path, err), s.Close())
	}
	var encoding string
	if err := s.db.QueryRowContext(ctx, "PRAGMA main.encoding").Scan(&encoding); err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: the encoding of %s: %w", name, path, err), s.Close())
	}
	s.wide = encoding != "UTF-8"
	return s, nil
}

// pool returns connections that read the file at an absolute path. SQLite may allocate at most heap bytes for each.
func pool(path string, connections int, heap int64) (*sql.DB, error) {
	// A sort merges runs of the size of the cache, and keeps a record of each run in memory. The default cache of 2
	// MB causes many runs.
	conn, err := newConnector(path, "mode=ro&_dqs=0&_pragma=cache_size(-4096)&_pragma=query_only(1)&_pragma=busy_timeout(5000)&_pragma=trusted_schema(0)", heap)
	if err != nil {
		return nil, err
	}
	conn.shares = mostKept
	db := sql.OpenDB(conn)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(time.Minute) // idle connections release their caches
	return db, nil
}

// A connector opens connections with the functions that package sqlgen uses.
type connector struct {
	dsn    string
	path   string
	heap   int64 // the maximum number of bytes that SQLite allocates for a connection beside its cache
	shares int32 // the maximum size of the cache that a connection keeps after a statement, or 0 for no limit
	parsed func(driver.Conn) *parsed.Conn
	driver sqlite.Driver
}

// uri returns the URI of the file at an absolute path with slashes. A Windows path begins with a drive, which SQLite
// expects after a slash.
func uri(path, options string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: options}).String()
}

// newConnector returns a connector to the file at an absolute path, with options for the driver.
func newConnector(path, options string, heap int64) (*connector, error) {
	c := &connector{dsn: uri(filepath.ToSlash(path), options), path: path, heap: heap, parsed: parsed.New}
	return c, registerFunctions(&c.driver)
}

// Connect implements driver.Connector. If another connection already uses the memory account of this connection,
// Connect closes it and opens another.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := os.Stat(c.path)
	if err != nil {
		return nil, err
	}
	for {
		opened, err := c.driver.Open(c.dsn)
		if err != nil {
			return nil, err
		}
		memory, err := heap.SetLimit(opened, c.heap)
		switch {
		case err == nil:
			conn := c.parsed(opened)
			if c.shares > 0 {
				conn.Share(c.shares)
			}
			return &fileConn{Conn: conn, path: c.path, opened: file, memory: memory, references: keptReferences{of: -1}}, nil
		case !errors.Is(err, heap.ErrTaken) || ctx.Err() != nil:
			return nil, errors.Join(err, opened.Close())
		}
		opened.Close() // the next connection has another account
	}
}

// The maximum memory that SQLite allocates for a connection beside its cache, in bytes. A sort uses up to two caches,
// and nested stages sort at the same time. A statement that runs again with its views apart needs a little more
// memory than the first time, so its limit is higher. Then only visible data decides whether it succeeds.
const (
	mostHeap  = 40 << 20
	mostApart = 48 << 20
)

// mostKept is the maximum size of the cache of 4 MiB that a connection keeps. A full cache results from a scan, whose
// pages are rarely used again.
const mostKept = 7 << 19

func (c *connector) Driver() driver.Driver { return &c.driver }

// Close closes all connections.
func (s *Source) Close() error { return errors.Join(s.db.Close(), s.apart.Close()) }

// Ping implements source.Pinger.
func (s *Source) Ping(ctx context.Context) error {
	var n int
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM main.sqlite_schema").Scan(&n); err != nil {
		return refuse(ctx, err)
	}
	return nil
}

// Choose implements source.Chooser.
func (s *Source) Choose(choice schema.Choice) { s.choice = choice }

// Describe implements source.Source.
func (s *Source) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	return describe(ctx, s.db, s.name, s.choice)
}

// Compile implements source.Compiler.
func (s *Source) Compile(p policy.Permit) (string, error) {
	return sqldriver.Text(p, engine{s}.Dialect())
}

// CheckNative implements source.NativeReader.
func (s *Source) CheckNative(statement string) ([]string, error) {
	return sqlgen.ReadNative(dialect{}, statement)
}

// engine implements sqldriver.Database.
type engine struct{ *Source }

// Dialect implements sqldriver.Database.
func (s engine) Dialect() sqlgen.Dialect {
	return dialect{wide: s.wide}
}

// Errors implements sqldriver.Database.
func (engine) Errors() sqldriver.Errors {
	return sqldriver.Errors{Plain: plain, Meaning: meaning, Changed: isSchemaChange}
}

// isSchemaChange implements sqldriver.Errors. SQLite has no specific code for a name that doesn't exist.
func isSchemaChange(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_SCHEMA || strings.Contains(e.Error(), "no such column") || strings.Contains(e.Error(), "no such table"))
}

// Drifts implements source.Drifting.
func (s *Source) Drifts() bool { return true }

// codes maps SQLite's primary codes to their meanings.
var codes = map[int]sqldriver.Meaning{
	sqlite3.SQLITE_ERROR:  sqldriver.Broken, // see meaning
	sqlite3.SQLITE_SCHEMA: sqldriver.Busy, sqlite3.SQLITE_BUSY: sqldriver.Busy, sqlite3.SQLITE_LOCKED: sqldriver.Busy, sqlite3.SQLITE_PROTOCOL: sqldriver.Busy,
	sqlite3.SQLITE_INTERRUPT: sqldriver.Slow, sqlite3.SQLITE_ABORT: sqldriver.Busy,
	sqlite3.SQLITE_NOMEM: sqldriver.Large, sqlite3.SQLITE_TOOBIG: sqldriver.Large,
	sqlite3.SQLITE_READONLY: sqldriver.ReadOnly, sqlite3.SQLITE_PERM: sqldriver.Right, sqlite3.SQLITE_AUTH: sqldriver.Right,
	sqlite3.SQLITE_CANTOPEN: sqldriver.Broken, sqlite3.SQLITE_NOTADB: sqldriver.Broken, sqlite3.SQLITE_CORRUPT: sqldriver.Broken, sqlite3.SQLITE_FORMAT: sqldriver.Broken,
	sqlite3.SQLITE_IOERR: sqldriver.Broken, sqlite3.SQLITE_FULL: sqldriver.Busy, sqlite3.SQLITE_NOLFS: sqldriver.Broken, sqlite3.SQLITE_INTERNAL: sqldriver.Broken,
	sqlite3.SQLITE_MISUSE: sqldriver.Broken, sqlite3.SQLITE_RANGE: sqldriver.Broken, sqlite3.SQLITE_NOTFOUND: sqldriver.Broken, sqlite3.SQLITE_EMPTY: sqldriver.Broken,
	sqlite3.SQLITE_CONSTRAINT: sqldriver.Kept, sqlite3.SQLITE_MISMATCH: sqldriver.Input,
}

// meaning implements sqldriver.Errors.
func meaning(err error) (sqldriver.Meaning, bool) {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return 0, false
	}
	if needsRecovery(err) {
		return sqldriver.Broken, true
	}
	if e.Code() == sqlite3.SQLITE_ERROR && strings.Contains(e.Error(), "no such ") { // a table, a column, a function
		return sqldriver.Missing, true
	}
	return codes[e.Code()&0xff], true
}

// large reports whether a statement failed because SQLite had too little memory.
func large(err error) bool {
	m, ok := meaning(err)
	return ok && m == sqldriver.Large
}

func refuse(ctx context.Context, err error) error { return engine{}.Errors().Refuse(ctx, err) }

// plain implements sqldriver.Errors. The description of a code contains no values, but the message may.
func plain(err error) string {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return ""
	}
	if needsRecovery(err) {
		return sqldriver.ErrorText(fmt.Sprintf("SQLite error %d", e.Code()), "a writer of the file ended in the middle of a transaction: "+
			"open the file once with a program that may write to it, which rolls the transaction back", true)
	}
	meaning := cmp.Or(sqlite.ErrorCodeString[e.Code()], sqlite.ErrorCodeString[e.Code()&0xff]) // an extended code contains its primary code
	return sqldriver.ErrorText(fmt.Sprintf("SQLite error %d", e.Code()), meaning, meaning != "")
}

// readValue converts v, as stored in SQLite, to a value of the column's field. The type of the stored value decides.
// The declared type only determines how to read it. So "soon" in a column declared as DATETIME stays "soon".
func readValue(c *sqlgen.Column, v any) value.Value {
	switch v := v.(type) {
	case nil:
		return value.Value{}
	case int64:
		return storedInt(c, v)
	case float64:
		if c.Field.Type == schema.Date || c.Field.Type == schema.Day {
			return value.OfDate(int64(math.Round((v-2440587.5)*86400000)) * 1000) // a Julian day
		}
		return value.OfFloat(v)
	case []byte:
		return value.OfBytes(string(v))
	case time.Time: // the driver reads a column that is declared as a date, which only a statement of the owner selects
		return value.OfTime(v)
	case string:
		switch c.Field.Type {
		case schema.JSON, schema.Array:
			return sqldriver.JSON(v)
		case schema.Date, schema.Day:
			if date, ok := sqldriver.Moment(v); ok {
				return date
			}
			if date, ok := value.OfDateText(v); ok {
				return date
			}
		}
		return sqldriver.String(v)
	}
	return sqldriver.String(fmt.Sprint(v))
}

// storedInt returns the meaning of the integer n in a column of its type. In a Boolean column, 0 and 1 are false and
// true. In a date column, n is seconds since 1970 or, from 10^11 on, milliseconds. Otherwise it returns the number
// itself, so that no stored value is lost.
func storedInt(c *sqlgen.Column, n int64) value.Value {
	const seconds = 99999999999 // from 10^11 on, an integer counts milliseconds, see sqlgen
	switch t := c.Field.Type; {
	case c.Day:
		return value.OfDay(n * 1000)
	case c.Millis:
		return value.OfDate(n * 1000)
	case t == schema.Boolean && (n == 0 || n == 1):
		return value.OfBool(n == 1)
	case (t == schema.Date || t == schema.Day) && n >= -seconds && n <= seconds:
		return value.OfDate(n * 1e6)
	case t == schema.Date || t == schema.Day:
		return value.OfDate(n * 1000)
	}
	return value.OfInt(n)
}

// Estimate implements source.Estimator from the statistics of ANALYZE, if there are any.
func (s *Source) Estimate(ctx context.Context) (map[string]int64, error) {
	out := map[string]int64{}
	var n int
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM main.sqlite_schema WHERE name = 'sqlite_stat1'").Scan(&n); err != nil || n == 0 {
		return out, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT tbl, max(CAST(stat AS INTEGER)) FROM sqlite_stat1 GROUP BY tbl")
	if err != nil {
		return nil, refuse(ctx, err)
	}
	if out, err = sqldriver.Estimates(rows, s.choice); err != nil {
		return nil, refuse(ctx, err)
	}
	return out, nil
}

// Explain implements source.Explainer. It returns one line per step, indented below its parent step.
func (s *Source) Explain(ctx context.Context, p policy.Permit) (string, error) {
	if of, err := p.Plan(); err == nil && of.Catalogue {
		return sqldriver.Catalogued, nil
	}
	st, err := sqlgen.SQL(p, engine{s}.Dialect())
	if err != nil {
		return "", err
	}
	rows, err := s.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+st.Text, st.Args...)
	if err != nil {
		return "", refuse(ctx, err)
	}
	defer rows.Close()
	var lines []string
	depths := map[int]int{}
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return "", refuse(ctx, err)
		}
		depths[id] = depths[parent] + 1
		lines = append(lines, strings.Repeat("  ", depths[parent])+detail)
	}
	if err := rows.Err(); err != nil {
		return "", refuse(ctx, err)
	}
	return strings.Join(lines, "\n"), nil
}

// Pool implements source.Pooled.
func (s *Source) Pool() source.Pool { return sqldriver.Pool(s.db.Stats()) }
