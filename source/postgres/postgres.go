// Package postgres is the source for PostgreSQL databases.
//
//	Permit ─sqlgen, Dialect→ SELECT ─read-only session→ rows ─sqldriver→ source.Rows
//	write ─WritableSource: sqldriver, Dialect→ one transaction with its marker → receipt
//
// This package contains the parts that are specific to PostgreSQL: the dialect, the catalogue, the types of columns,
// errors, and writes. Package sqldriver contains the parts that it shares with source/sqlite and source/mariadb.
//
// The catalogue also contains the origins of each column of a database view: the table columns from which it is
// computed. Package policy needs them, because a column that is computed from hidden columns must not be shown. With
// one schema per tenant, a class has a different table for each tenant.
//
// Errors don't quote the database's URL, which may contain a password. The server stops a statement when its context
// ends.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/connstring"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A Source reads one PostgreSQL database. Its Writable method opens it for writing as well. It is safe for concurrent
// use.
type Source struct {
	name     string
	pool     *pgxpool.Pool
	encoding string // the encoding of the database
	choice   schema.Choice
	link     source.Link

	template string                                   // the schema to compare tenants' schemas with, or ""
	known    atomic.Pointer[sqldriver.SchemaTemplate] // the template as last described
	tenants  atomic.Pointer[schema.Spaces]            // the schemas that match it, as last described
	left     atomic.Pointer[[]string]                 // how the other schemas differ from it
}

// Open connects to the database at url, such as postgres://user:password@host/database, as the source called name. It
// checks that the server answers. Its sessions are read-only. Errors don't quote the URL, which may contain a
// password.
func Open(ctx context.Context, name, url string) (*Source, error) {
	return OpenOverLink(ctx, name, url, source.Link{})
}

// OpenOverLink is like Open, but connects over a link.
func OpenOverLink(ctx context.Context, name, url string, link source.Link) (*Source, error) {
	cfg, err := parseLinkURL(url, link)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	pool, err := openPool(ctx, name, cfg)
	if err != nil {
		return nil, err
	}
	s := &Source{name: name, pool: pool, link: link}
	if err := s.reading(ctx, func(r reads) error { s.encoding = sessionOf(r.conn).encoding; return nil }); err != nil {
		pool.Close()
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	return s, nil
}

// reading calls do with a connection whose settings are pinned.
func (s *Source) reading(ctx context.Context, do func(reads) error) error {
	return reading(ctx, s.pool, do)
}

// parseURL parses a URL. Errors don't quote the URL, which may contain a password.
func parseURL(url string) (*pgxpool.Config, error) {
	parsed, err := connstring.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("the database url %w", err)
	}
	cfg, err := pgxpool.ParseConfig(parsed.URL)
	if err != nil {
		return nil, health.Unreadable(err)
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = "bailiwick"
	cfg.AfterConnect, cfg.PrepareConn = setUpSession, hasPinnedSettings
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	cfg.MaxConnIdleTime = 5 * time.Minute
	// When a context ends, cancel the statement on the server and keep the connection.
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &canceller{conn: c}
	}
	return cfg, nil
}

// openPool opens a pool and checks that the server answers.
func openPool(ctx context.Context, name string, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	if err := ping(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("source %s: can't connect to %s:%d: %w", name, cfg.ConnConfig.Host, cfg.ConnConfig.Port, err)
	}
	return pool, nil
}

// Close closes all connections.
func (s *Source) Close() error {
	s.pool.Close()
	return nil
}

// Ping implements source.Pinger.
func (s *Source) Ping(ctx context.Context) error {
	if err := ping(ctx, s.pool); err != nil {
		return refuse(ctx, err)
	}
	return nil
}

// Choose implements source.Chooser.
func (s *Source) Choose(choice schema.Choice) { s.choice = choice }

// Read implements source.Source. The statement runs when the rows are ranged over.
func (s *Source) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	if (engine{s}).encodedApart() {
		return sqldriver.ReadPartly(ctx, engine{s}, p, 0)
	}
	return sqldriver.Read(ctx, engine{s}, p)
}

// Compile implements source.Compiler.
func (s *Source) Compile(p policy.Permit) (string, error) {
	if (engine{s}).encodedApart() {
		return sqldriver.TextPartly(p, dialect{encoded: true})
	}
	return sqldriver.Text(p, Dialect())
}

// CheckNative implements source.NativeReader.
func (s *Source) CheckNative(statement string) ([]string, error) {
	return sqlgen.ReadNative(dialect{}, statement)
}

// engine implements sqldriver.Database.
type engine struct{ *Source }

// Dialect implements sqldriver.Database.
func (s engine) Dialect() sqlgen.Dialect { return dialect{encoded: s.encodedApart()} }

// encodedApart reports whether the encoding of the database orders texts differently from UTF-8. LATIN1 doesn't,
// because its bytes are the first code points.
func (s engine) encodedApart() bool { return s.encoding != "UTF8" && s.encoding != "LATIN1" }

// Errors implements sqldriver.Database.
func (engine) Errors() sqldriver.Errors {
	return sqldriver.Errors{Plain: plain, Meaning: meaning, Changed: isSchemaChange}
}

func refuse(ctx context.Context, err error) error { return engine{}.Errors().Refuse(ctx, err) }

// plain implements sqldriver.Errors.
func plain(err error) string {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ""
	}
	return sqldriver.ErrorText("SQLSTATE "+e.Code, e.Message, slices.Contains(harmlessStates, e.Code) || slices.Contains(harmlessClasses, e.Code[:min(2, len(e.Code))]))
}

// In these cases, messages name hosts, users and tables, but contain no values.
var (
	harmlessClasses = []string{"08", "28", "3D", "53", "57", "58"} // connection, authorisation, database, resources, operator, system
	harmlessStates  = []string{"42501", "42P01"}                   // no right, no table
)

// meaning implements sqldriver.Errors.
func meaning(err error) (sqldriver.Meaning, bool) {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return 0, false
	}
	if e.Code == "22P02" && (strings.Contains(e.Message, `"Infinity"`) || strings.Contains(e.Message, `"-Infinity"`)) {
		return sqldriver.Unable, true // before PostgreSQL 14 a numeric can't be infinite
	}
	return sqldriver.StateOf(e.Code), true
}

// Run implements sqldriver.Database.
func (s engine) Run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	stream := func(rows pgx.Rows) error { return s.stream(rows, st, plan, yield) }
	if plan.Native != nil {
		return s.queryRolledBack(ctx, st.Text, st.Args, stream)
	}
	return s.query(ctx, st.Text, st.Args, stream)
}

// queryRolledBack is like query, in a transaction that can't write and is rolled back. A function that a statement of the
// owner calls can change settings of the session, and the rollback restores them. Names without a schema mean the same as
// in any other session of the account.
func (s *Source) queryRolledBack(ctx context.Context, text string, args []any, take func(pgx.Rows) error) error {
	return s.reading(ctx, func(r reads) error {
		begin := "SET LOCAL search_path TO DEFAULT"
		if !r.pooled { // through a pooler, reading has begun a transaction
			begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; " + begin
			defer rollBack(r.conn)
		}
		if _, err := r.conn.PgConn().Exec(ctx, begin).ReadAll(); err != nil {
			return err
		}
		return r.take(ctx, text, args, take)
	})
}

// query runs a statement and requests text for every column. Text has few formats, and the pinned settings fix them.
func (s *Source) query(ctx context.Context, text string, args []any, take func(pgx.Rows) error) error {
	return s.reading(ctx, func(r reads) error { return r.take(ctx, text, args, take) })
}

// take passes the rows of a statement to take, with text for every column.
func (r reads) take(ctx context.Context, text string, args []any, take func(pgx.Rows) error) error {
	rows, err := r.Query(ctx, text, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return take(rows)
}

// limitTime sets the server's time limit for a statement of ctx, unless it is already set. Setting it costs a round
// trip.
func limitTime(ctx context.Context, conn *pgconn.PgConn) error {
	const key = "bailiwick.statement_timeout"
	want := sqldriver.ServerTime(ctx)
	if have, ok := conn.CustomData()[key]; have == want || !ok && want == sqldriver.MaxTime {
		return nil
	}
	conn.CustomData()[key] = time.Duration(0) // until the statement has succeeded
	if _, err := conn.Exec(ctx, "SET statement_timeout = "+milliseconds(want)).ReadAll(); err != nil {
		return err
	}
	conn.CustomData()[key] = want
	return nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// stream yields the rows until yield returns false. The server sends values as text, and each column's type
// determines how the text is read. So numbers keep every digit. The row passed to yield is reused.
func (s *Source) stream(rows pgx.Rows, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	checked := plan.Native == nil
	out := make(value.Row, 0, len(st.Columns)+len(st.Order)+1)
	count := &schema.Field{Type: schema.Integer}
	for rows.Next() {
		if !checked { // before the first row, the server may still fail
			if err := returnsColumns(rows, plan); err != nil {
				return err
			}
			checked = true
		}
		raw := rows.RawValues()
		if plan.Count {
			out = append(out[:0], textValue(count, string(raw[0])))
		} else {
			var sizes string
			if st.Bounded != nil {
				sizes = string(raw[len(st.Columns)])
			}
			out = sqldriver.Row(st, len(plan.Columns), func(i int) value.Value { return valueOf(&st.Columns[i], raw[i]) }, sizes, out)
		}
		if !yield(out, nil) {
			return nil
		}
	}
	return rows.Err()
}

// returnsColumns checks that the columns of a result are those that the owner declared.
func returnsColumns(rows pgx.Rows, plan *policy.Plan) error {
	var names []string
	for _, f := range rows.FieldDescriptions() {
		names = append(names, f.Name)
	}
	return sqldriver.ReturnsColumns(names, plan)
}

// selectEstimates reads the planner's statistics.
const selectEstimates = `SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname::text END, c.relname::text, c.reltuples::int8
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'm') AND c.reltuples >= 0`

// Estimate implements source.Estimator from the planner's statistics. With one schema per tenant there is no
// estimate, because a class has a different table for each tenant.
func (s *Source) Estimate(ctx context.Context) (map[string]int64, error) {
	if s.template != "" {
		return nil, nil
	}
	type row struct {
		Space, Table string
		Records      int64
	}
	out := map[string]int64{}
	err := s.reading(ctx, func(r reads) error {
		rows, err := collect[row](ctx, r, selectEstimates)
		for _, x := range rows {
			if name, _ := s.choice.Of(x.Space, x.Table); name != "" {
				out[name] = x.Records
			}
		}
		return err
	})
	if err != nil {
		return nil, refuse(ctx, err)
	}
	return out, nil
}

// Explain implements source.Explainer. It returns PostgreSQL's own text for this query and its values.
func (s *Source) Explain(ctx context.Context, p policy.Permit) (string, error) {
	if of, err := p.Plan(); err == nil && of.Catalogue {
		return sqldriver.Catalogued, nil
	}
	st, err := sqlgen.SQL(p, engine{s}.Dialect())
	if err != nil {
		return "", err
	}
	var lines []string
	err = s.query(ctx, "EXPLAIN "+st.Text, st.Args, func(rows pgx.Rows) error {
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return "", refuse(ctx, err)
	}
	return strings.Join(lines, "\n"), nil
}

// Pool implements source.Pooled.
func (s *Source) Pool() source.Pool {
	p := s.pool.Stat()
	return source.Pool{Used: int(p.AcquiredConns()), Idle: int(p.IdleConns()), Most: int(p.MaxConns()), Waits: p.EmptyAcquireCount(), Waited: p.EmptyAcquireWaitTime()}
}
