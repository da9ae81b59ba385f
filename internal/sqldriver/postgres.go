package sqldriver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/catalogue"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Postgres is a source in a PostgreSQL database. It is safe for concurrent use.
type Postgres struct {
	name string
	pool *pgxpool.Pool
}

// settings are those of every session: read-only, and output that doesn't depend on the server's configuration.
var settings = map[string]string{
	"default_transaction_read_only": "on",
	"timezone":                      "UTC",
	"datestyle":                     "ISO",
	"intervalstyle":                 "iso_8601",
	"extra_float_digits":            "1",
	"bytea_output":                  "hex",
	"standard_conforming_strings":   "on",
	"statement_timeout":             milliseconds(maxTime),
	"application_name":              "bailiwick",
}

// OpenPostgres connects to the database at url as the source called name. It opens a read-only session and checks that
// the server answers.
func OpenPostgres(ctx context.Context, name, url string) (*Postgres, error) {
	cfg, err := postgresConfig(url)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	pool, err := connected(ctx, name, cfg)
	if err != nil {
		return nil, err
	}
	return &Postgres{name, pool}, nil
}

// postgresConfig parses a URL. Its error doesn't quote it, since it may hold a password.
func postgresConfig(url string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database url can't be read")
	}
	maps.Copy(cfg.ConnConfig.RuntimeParams, settings)
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	cfg.MaxConnIdleTime = 5 * time.Minute
	// When a context ends, cancel the statement on the server and keep the connection.
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 2 * time.Second}
	}
	return cfg, nil
}

// connected opens a pool and checks that the server answers.
func connected(ctx context.Context, name string, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("source %s: can't connect to %s:%d: %w", name, cfg.ConnConfig.Host, cfg.ConnConfig.Port, err)
	}
	return pool, nil
}

// Close closes all connections.
func (s *Postgres) Close() error {
	s.pool.Close()
	return nil
}

// Ping implements source.Pinger.
func (s *Postgres) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return s.refuse(ctx, err)
	}
	return nil
}

// Describe implements source.Source.
func (s *Postgres) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	return catalogue.Postgres(ctx, s.pool, s.name)
}

// Read implements source.Source. The statement runs when the rows are ranged over.
func (s *Postgres) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	return read(ctx, s, sqlgen.PostgreSQL, p)
}

// Compile implements source.Compiler.
func (s *Postgres) Compile(p policy.Permit) (string, error) { return textOf(p, sqlgen.PostgreSQL) }

func (s *Postgres) run(ctx context.Context, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	return s.query(ctx, st.Text, st.Args, func(rows pgx.Rows) error { return s.stream(rows, st, plan, yield) })
}

// query requests text for every column: its formats are few and fixed by settings.
func (s *Postgres) query(ctx context.Context, text string, args []any, take func(pgx.Rows) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := limitTime(ctx, conn.Conn().PgConn()); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, text, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return take(rows)
}

// limitTime tells the server how long a statement of ctx may run, unless that limit is already set: it costs a round
// trip.
func limitTime(ctx context.Context, conn *pgconn.PgConn) error {
	const key = "bailiwick.statement_timeout"
	want := serverTime(ctx)
	if have, ok := conn.CustomData()[key]; have == want || !ok && want == maxTime {
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

func (s *Postgres) stream(rows pgx.Rows, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	out := make(value.Row, 0, len(st.Columns)+len(st.Order)+1)
	count := &schema.Field{Type: schema.Integer}
	for rows.Next() {
		raw := rows.RawValues()
		if plan.Count {
			out = append(out[:0], textValue(count, string(raw[0])))
		} else {
			var sizes string
			if st.Bounded != nil {
				sizes = string(raw[len(st.Columns)])
			}
			out = row(st, len(plan.Columns), func(i int) value.Value { return postgresValue(&st.Columns[i], raw[i]) }, sizes, out)
		}
		if !yield(out, nil) {
			return nil
		}
	}
	return rows.Err()
}

// postgresValue converts raw, PostgreSQL's text, to a value of the column's field; nil is null.
func postgresValue(c *sqlgen.Column, raw []byte) value.Value {
	switch {
	case raw == nil:
		return value.Value{}
	case c.Field.Type == schema.Bytes:
		return bytesOf(raw)
	}
	return textValue(c.Field, string(raw))
}

// bytesOf decodes the hex form of a bytea: \x6869.
func bytesOf(text []byte) value.Value {
	out := make([]byte, 0, len(text)/2)
	digit := func(c byte) byte {
		if c >= 'a' {
			return c - 'a' + 10
		}
		return c - '0'
	}
	for i := 2; i+1 < len(text); i += 2 {
		out = append(out, digit(text[i])<<4|digit(text[i+1]))
	}
	return value.OfBytes(string(out))
}

// refuse turns an error of PostgreSQL into one for the caller: its statement timeout is problem.Timeout.
func (s *Postgres) refuse(ctx context.Context, err error) error {
	e := refuse(ctx, err)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "57014" && ctx.Err() == nil { // query_canceled, by statement_timeout
		p := problem.Of(e)
		p.Code, p.Detail = problem.Timeout, "the query took too long and was stopped"
	}
	return e
}

// Estimate implements source.Estimator from the planner's statistics.
func (s *Postgres) Estimate(ctx context.Context) (map[string]int64, error) {
	rows, err := s.pool.Query(ctx, `SELECT CASE n.nspname WHEN 'public' THEN c.relname ELSE n.nspname || '_' || c.relname END, c.reltuples::int8
		FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'm') AND c.reltuples >= 0`)
	if err != nil {
		return nil, s.refuse(ctx, err)
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, s.refuse(ctx, err)
		}
		out[name] = n
	}
	return out, rows.Err()
}
