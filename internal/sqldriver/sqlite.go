package sqldriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/catalogue"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/sqlfunc"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"modernc.org/sqlite"
)

// SQLite is a source in a SQLite file. It is safe for concurrent use.
type SQLite struct {
	name string
	path string
	db   *sql.DB

	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

// maxPrepared is how many statements are kept prepared. Their text is deterministic, so an application's agents use few.
const maxPrepared = 256

// OpenSQLite opens the SQLite file at path, which must exist, as the source called name. It never writes to it.
func OpenSQLite(ctx context.Context, name, path string) (*SQLite, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	conn, err := newConnector(abs, "mode=ro&_dqs=0&_pragma=query_only(1)&_pragma=busy_timeout(5000)&_pragma=trusted_schema(0)")
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	s := &SQLite{name: name, path: abs, db: sql.OpenDB(conn), prepared: map[string]*sql.Stmt{}}
	s.db.SetMaxOpenConns(8)
	s.db.SetMaxIdleConns(4)
	s.db.SetConnMaxIdleTime(5 * time.Minute)
	// Read the catalogue to check that this is a database at all: SQLite opens any file.
	var n int
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: %s can't be read as an SQLite database: %w", name, path, err), s.db.Close())
	}
	return s, nil
}

// A connector opens connections that have the functions that package sqlgen uses.
type connector struct {
	dsn    string
	path   string
	driver sqlite.Driver
}

// newConnector returns a connector to the file at an absolute path, with options for the driver.
func newConnector(path, options string) (*connector, error) {
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: options}
	c := &connector{dsn: dsn.String(), path: path}
	return c, sqlfunc.Register(&c.driver)
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := os.Stat(c.path)
	if err != nil {
		return nil, err
	}
	opened, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return &fileConn{opened, c.path, file}, nil
}

func (c *connector) Driver() driver.Driver { return &c.driver }

// Close closes all connections.
func (s *SQLite) Close() error { return s.db.Close() }

// Ping implements source.Pinger.
func (s *SQLite) Ping(ctx context.Context) error {
	var n int
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return refuse(ctx, err)
	}
	return nil
}

// Describe implements source.Source.
func (s *SQLite) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	return catalogue.SQLite(ctx, s.db, s.name)
}

// Read implements source.Source. The statement runs when the rows are ranged over.
func (s *SQLite) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	return read(ctx, s, sqlgen.SQLite, p)
}

// Compile implements source.Compiler.
func (s *SQLite) Compile(p policy.Permit) (string, error) { return textOf(p, sqlgen.SQLite) }

func (s *SQLite) run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	rows, err := s.query(ctx, st)
	if err != nil {
		return err
	}
	defer rows.Close()
	return stream(rows, st, plan, stored, yield)
}

func (*SQLite) refuse(ctx context.Context, err error) error { return refuse(ctx, err) }

func (s *SQLite) query(ctx context.Context, st *sqlgen.Statement) (*sql.Rows, error) {
	s.mu.Lock()
	stmt := s.prepared[st.Text]
	s.mu.Unlock()
	if stmt == nil {
		fresh, err := s.db.PrepareContext(ctx, st.Text)
		if err != nil {
			return nil, err
		}
		stmt = s.keep(st.Text, fresh)
	}
	return stmt.QueryContext(ctx, st.Args...)
}

// keep stores a prepared statement, or closes it if another goroutine has stored one meanwhile, and returns the stored
// one. When there are too many, all are dropped: a statement closes when its last rows do.
func (s *SQLite) keep(text string, fresh *sql.Stmt) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.prepared[text]; have != nil {
		fresh.Close()
		return have
	}
	if len(s.prepared) >= maxPrepared {
		for _, old := range s.prepared {
			old.Close()
		}
		clear(s.prepared)
	}
	s.prepared[text] = fresh
	return fresh
}

// A decoder converts what a driver returned for a column to a value.
type decoder func(*sqlgen.Column, any) value.Value

// stream yields rows until the end, until yield returns false, or until the first error, which it returns.
func stream(rows *sql.Rows, st *sqlgen.Statement, plan *policy.Plan, decode decoder, yield func(value.Row, error) bool) error {
	width := max(1, len(st.Columns)+min(1, len(st.Bounded)))
	cells, into := make([]any, width), make([]any, width)
	for i := range cells {
		into[i] = &cells[i]
	}
	out := make(value.Row, 0, width+len(st.Order))
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if plan.Count {
			n, _ := cells[0].(int64)
			out = append(out[:0], value.OfInt(n))
		} else {
			out = row(st, len(plan.Columns), func(i int) value.Value { return decode(&st.Columns[i], cells[i]) }, sizes(st, cells), out)
		}
		if !yield(out, nil) {
			return nil
		}
	}
	return rows.Err()
}

// sizes returns the last column of st.
func sizes(st *sqlgen.Statement, cells []any) string {
	if st.Bounded == nil {
		return ""
	}
	switch v := cells[len(st.Columns)].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// stored converts v, as SQLite holds it, to a value of the column's field. The type of the value decides, the declared
// type only says how to read it: a column declared DATETIME that holds "soon" gives "soon".
func stored(c *sqlgen.Column, v any) value.Value {
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
	case string:
		switch c.Field.Type {
		case schema.JSON, schema.Array:
			return jsonOf(v)
		case schema.Date, schema.Day:
			if date, ok := value.OfDateText(v); ok {
				return date
			}
		}
		return stringOf(v)
	}
	return stringOf(fmt.Sprint(v))
}

func storedInt(c *sqlgen.Column, n int64) value.Value {
	const seconds = 99999999999 // see sqlgen: above it an integer counts milliseconds
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

// Estimate implements source.Estimator from the statistics of ANALYZE, if any.
func (s *SQLite) Estimate(ctx context.Context) (map[string]int64, error) {
	out := map[string]int64{}
	var n int
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'").Scan(&n); err != nil || n == 0 {
		return out, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT tbl, max(CAST(stat AS INTEGER)) FROM sqlite_stat1 GROUP BY tbl")
	if err != nil {
		return nil, refuse(ctx, err)
	}
	return estimates(ctx, rows)
}

// estimates reads rows of a name and a number.
func estimates(ctx context.Context, rows *sql.Rows) (map[string]int64, error) {
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var table string
		var count int64
		if err := rows.Scan(&table, &count); err != nil {
			return nil, refuse(ctx, err)
		}
		out[table] = count
	}
	return out, rows.Err()
}
