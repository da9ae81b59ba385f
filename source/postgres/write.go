package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/writing"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A WritableSource is a PostgreSQL source that can be written to. Reads stay in read-only sessions.
type WritableSource struct {
	*Source
	*writing.Writer
	pool *pgxpool.Pool
}

// writeSettings are those of sessions that write, besides settings. The server ends a transaction that is left idle,
// which releases its locks; a commit returns once it is on disk.
var writeSettings = map[string]string{
	"default_transaction_read_only":       "off",
	"default_transaction_isolation":       "read committed",
	"synchronous_commit":                  "on",
	"idle_in_transaction_session_timeout": "60000",
}

// Writable opens s for writing as well, with the account in url, or the reading account if url is "". It creates the
// marker table if there is none.
func (s *Source) Writable(ctx context.Context, url string) (*WritableSource, error) {
	cfg := s.pool.Config()
	if url != "" {
		var err error
		if cfg, err = parseURL(url); err != nil {
			return nil, fmt.Errorf("source %s: for writing: %w", s.name, err)
		}
	}
	maps.Copy(cfg.ConnConfig.RuntimeParams, writeSettings)
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	cfg.MaxConns, cfg.MinConns = 4, 0
	pool, err := connected(ctx, s.name, cfg)
	if err != nil {
		return nil, err
	}
	w := &WritableSource{Source: s, Writer: writing.New(writer{engine{s}, pool}), pool: pool}
	if err := sqldriver.MakeMarker(ctx, s.name, engine{s}, func(ctx context.Context, text string) error {
		_, err := pool.Exec(ctx, text)
		return err
	}); err != nil {
		pool.Close()
		return nil, err
	}
	return w, nil
}

// Close closes all connections.
func (w *WritableSource) Close() error {
	w.pool.Close()
	return w.Source.Close()
}

// writer implements writing.Database.
type writer struct {
	engine
	pool *pgxpool.Pool // shadows the connections that read
}

// Begin implements writing.Database.
func (w writer) Begin(ctx context.Context) (writing.Tx, error) {
	conn, err := w.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	t := &tx{conn: conn}
	if err := limitTime(ctx, conn.Conn().PgConn()); err != nil {
		conn.Release()
		return nil, err
	}
	if _, err := t.Exec(ctx, sqlgen.Statement{Text: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"}); err != nil {
		conn.Release()
		return nil, err
	}
	return t, nil
}

// A tx implements writing.Tx.
type tx struct {
	conn *pgxpool.Conn
	done bool
}

// run runs a statement with results as text, and calls each for every row; the values are valid until it returns.
func (t *tx) run(ctx context.Context, st sqlgen.Statement, each func([][]byte)) (pgconn.CommandTag, error) {
	rows, err := t.conn.Query(ctx, st.Text, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, st.Args...)...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer rows.Close()
	for rows.Next() {
		each(rows.RawValues())
	}
	rows.Close()
	return rows.CommandTag(), rows.Err()
}

// Exec implements writing.Tx.
func (t *tx) Exec(ctx context.Context, st sqlgen.Statement) (int64, error) {
	tag, err := t.run(ctx, st, func([][]byte) {})
	return tag.RowsAffected(), err
}

// Query implements writing.Tx.
func (t *tx) Query(ctx context.Context, st sqlgen.Statement) ([]value.Row, error) {
	var out []value.Row
	_, err := t.run(ctx, st, func(raw [][]byte) {
		row := make(value.Row, len(raw))
		for i := range raw {
			row[i] = valueOf(&st.Columns[i], raw[i])
		}
		out = append(out, row)
	})
	return out, err
}

// Settle implements writing.Tx.
func (t *tx) Settle(ctx context.Context) error {
	_, err := t.Exec(ctx, sqlgen.Statement{Text: "SET CONSTRAINTS ALL IMMEDIATE"})
	return err
}

// Commit implements writing.Tx. It isn't cancelled: then it would only be harder to know whether it happened.
func (t *tx) Commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sqldriver.CommitTime)
	defer cancel()
	tag, err := t.run(ctx, sqlgen.Statement{Text: "COMMIT"}, func([][]byte) {})
	if err == nil && tag.String() != "COMMIT" { // the server rolls back a transaction in which a statement has failed
		err = fmt.Errorf("a COMMIT was answered with %s", tag)
	}
	if err == nil {
		t.done = true
		t.conn.Release()
	}
	return err
}

// Rollback implements writing.Tx. The pool closes a connection that can't roll back.
func (t *tx) Rollback() {
	if t.done {
		return
	}
	t.done = true
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := t.Exec(ctx, sqlgen.Statement{Text: "ROLLBACK"}); err != nil {
		t.conn.Conn().Close(ctx) // the server rolls back when its client is gone
	}
	t.conn.Release()
}

// References implements writing.Database.
func (w writer) References(ctx context.Context, _ writing.Tx) ([]schema.Reference, error) {
	return references(ctx, w.Source.pool)
}

// Sound implements writing.Database. A write to another server isn't atomic with our marker.
func (w writer) Sound(ctx context.Context, _ writing.Tx, c *schema.Class) error {
	var kind string
	err := w.Source.pool.QueryRow(ctx, `SELECT c.relkind::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relname = $1 AND n.nspname = $2`, c.Table, spaced(c.Space)).Scan(&kind)
	if errors.Is(err, pgx.ErrNoRows) {
		return sqldriver.Unwritable(c, "it isn't there any more")
	}
	if err == nil && kind != "r" && kind != "p" {
		return sqldriver.Unwritable(c, "it is no table of this database")
	}
	return err
}

func spaced(space string) string {
	if space == "" {
		return "public"
	}
	return space
}

// Again implements writing.Database.
func (writer) Again(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "40001" || pg.Code == "40P01") // serialization_failure, deadlock_detected
}

// Problem implements writing.Database.
func (w writer) Problem(ctx context.Context, err error) error {
	return w.Errors().RefuseWrite(ctx, err)
}

// kinds are the refusals that a state identifies. All others of class 22 are about values.
var kinds = map[string]writing.Kind{
	"23505": writing.Unique, "23503": writing.ForeignKey, "23001": writing.Referenced, "23502": writing.NotNull, "23514": writing.Check,
	"23P01": writing.Exclusion, "P0001": writing.Trigger, "428C9": writing.Computed, "42501": writing.Denied, "44000": writing.Check,
	"42P07": writing.Exists, "2BP01": writing.Referenced, "09000": writing.Trigger, "27000": writing.Trigger, "54000": writing.Misfit, "21000": writing.Trigger,
}

// Refusal implements writing.Database. PostgreSQL reports constraints and columns separately from its message.
func (w writer) Refusal(ctx context.Context, c *schema.Class, op write.Op, err error) *writing.Refusal {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return nil
	}
	kind, ok := kinds[pg.Code]
	if !ok && pg.Code[:2] != "22" {
		return nil
	}
	if !ok {
		kind = writing.Misfit
	}
	r := &writing.Refusal{Kind: kind}
	if pg.ColumnName != "" {
		r.Fields = []string{pg.ColumnName}
	}
	own := pg.TableName == "" || pg.TableName == c.Table && pg.SchemaName == spaced(c.Space)
	if !own {
		r.Class = pg.TableName
		if pg.SchemaName != "public" {
			r.Class = pg.SchemaName + "_" + pg.TableName
		}
	}
	if pg.ConstraintName == "" {
		return r
	}
	if kind == writing.Check {
		r.Name = pg.ConstraintName
	}
	leads := false
	r.Fields, leads = w.constraint(ctx, pg, c)
	if kind == writing.ForeignKey && leads && (!own || op == write.OpDelete) {
		r.Kind = writing.Referenced
	}
	return r
}

// constraint returns the columns of a constraint or unique index, as far as they can be found, and whether it is a
// foreign key that references c.
func (w writer) constraint(ctx context.Context, pg *pgconn.PgError, c *schema.Class) (fields []string, leads bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := w.Source.pool.QueryRow(ctx, `SELECT coalesce(ARRAY(SELECT a.attname::text FROM unnest(x.columns) WITH ORDINALITY AS u (at, n)
			JOIN pg_catalog.pg_attribute AS a ON a.attrelid = x.relation AND a.attnum = u.at ORDER BY u.n), '{}'),
		coalesce(x.target = (SELECT t.oid FROM pg_catalog.pg_class AS t JOIN pg_catalog.pg_namespace AS s ON s.oid = t.relnamespace
			WHERE t.relname = $4 AND s.nspname = $5), false)
		FROM (SELECT k.conrelid AS relation, k.conkey AS columns, k.confrelid AS target, k.conname AS name FROM pg_catalog.pg_constraint AS k
			UNION ALL SELECT i.indrelid, i.indkey::int2[], 0, r.relname FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS r ON r.oid = i.indexrelid) AS x
		JOIN pg_catalog.pg_class AS c ON c.oid = x.relation JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE x.name = $1 AND c.relname = $2 AND n.nspname = $3 LIMIT 1`,
		pg.ConstraintName, pg.TableName, pg.SchemaName, c.Table, spaced(c.Space)).Scan(&fields, &leads)
	if err != nil {
		return nil, false // the kind of the refusal is known without it
	}
	return fields, leads
}
