package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A WritableSource is a PostgreSQL source that can be written to. It reads in read-only sessions.
type WritableSource struct {
	*Source
	*sqldriver.Writer
	pool *pgxpool.Pool
}

// Writable opens s for writing as well, with the account in url, or the reading account if url is "". It creates the
// marker table if it doesn't exist.
func (s *Source) Writable(ctx context.Context, url string) (*WritableSource, error) {
	cfg := s.pool.Config()
	if url != "" {
		var err error
		if cfg, err = parseLinkURL(url, s.link); err != nil {
			return nil, fmt.Errorf("source %s: for writing: %w", s.name, err)
		}
	}
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	cfg.MaxConns, cfg.MinConns = 4, 0
	pool, err := openPool(ctx, s.name, cfg)
	if err != nil {
		return nil, err
	}
	w := &WritableSource{Source: s, Writer: sqldriver.NewWriter(writer{engine{s}, pool}), pool: pool}
	if err := sqldriver.MakeMarker(ctx, s.name, engine{s}, w.runMarkerStatement); err != nil {
		pool.Close()
		return nil, err
	}
	return w, nil
}

// runMarkerStatement runs a statement about the marker table in its own transaction.
func (w *WritableSource) runMarkerStatement(ctx context.Context, text string) error {
	tx, err := writer{engine{w.Source}, w.pool}.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec(ctx, sqlgen.Statement{Text: text}); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// Close closes all connections.
func (w *WritableSource) Close() error {
	w.pool.Close()
	return w.Source.Close()
}

// writer implements sqldriver.WriteDatabase.
type writer struct {
	engine
	pool *pgxpool.Pool // shadows the pool for reading
}

// Begin implements sqldriver.WriteDatabase.
func (w writer) Begin(ctx context.Context) (sqldriver.WriteTx, error) {
	conn, err := acquire(ctx, w.pool)
	if err != nil {
		return nil, err
	}
	role := sessionOf(conn.Conn()).path
	t := &tx{conn: conn, path: "pg_catalog, " + role + ", pg_temp", in: func(space string) string { return w.pathIn(space, role) }}
	if err := beginTransaction(ctx, conn.Conn(), "READ WRITE", writePins); err != nil {
		t.Rollback()
		return nil, err
	}
	return t, nil
}

// A tx implements sqldriver.WriteTx.
type tx struct {
	conn *pgxpool.Conn
	path string // the search path of the application's own code
	in   func(space string) string
	of   string // the schema of the tenant that it writes to, or "" without tenants
	done bool
}

// run runs a statement with results as text, and calls each for every row. The values are valid only during that
// call.
func (t *tx) run(ctx context.Context, st sqlgen.Statement, each func([][]byte)) (pgconn.CommandTag, error) {
	if st.Foreign {
		return t.foreign(ctx, st, each)
	}
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

// setPath is the statement that sets the search path until the transaction ends.
const setPath = "SELECT pg_catalog.set_config('search_path', $1, true)"

// foreign runs a statement that may run code of the application, such as triggers. That code must find its names as
// in the application's own sessions. So foreign sends three statements at once, and the first and the last set the
// search path.
func (t *tx) foreign(ctx context.Context, st sqlgen.Statement, each func([][]byte)) (tag pgconn.CommandTag, err error) {
	args, err := textArgs(st.Args)
	if err != nil {
		return tag, err
	}
	if st.Tenant != "" && st.Tenant != t.of {
		if t.of != "" {
			return tag, errors.New("a transaction that writes records of two tenants")
		}
		t.of, t.path = st.Tenant, t.in(st.Tenant)
	}
	p := t.conn.Conn().PgConn().StartPipeline(ctx)
	p.SendQueryParams(setPath, [][]byte{[]byte(t.path)}, nil, nil, nil)
	p.SendQueryParams(st.Text, args, nil, nil, nil)
	p.SendQueryParams(setPath, [][]byte{[]byte(pinValue("search_path"))}, nil, nil, nil)
	err = p.Sync()
	for n := 0; err == nil; n++ {
		var result any
		if result, err = p.GetResults(); err != nil || result == nil {
			break
		}
		r, ok := result.(*pgconn.ResultReader)
		if !ok {
			break // the end of the three statements
		}
		for r.NextRow() {
			if n == 1 {
				each(r.Values())
			}
		}
		var ended pgconn.CommandTag
		if ended, err = r.Close(); n == 1 {
			tag = ended
		}
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	return tag, err
}

// textArgs returns arguments as texts. PostgreSQL infers the types from their places in the statement.
func textArgs(args []any) ([][]byte, error) {
	out := make([][]byte, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case nil:
		case string:
			out[i] = []byte(a)
		case int64:
			out[i] = strconv.AppendInt(nil, a, 10)
		case bool:
			out[i] = strconv.AppendBool(nil, a)
		case float64:
			out[i] = strconv.AppendFloat(nil, a, 'g', -1, 64)
		case []byte:
			out[i] = []byte(`\x` + hex.EncodeToString(a))
		default:
			return nil, fmt.Errorf("an argument of type %T", a)
		}
	}
	return out, nil
}

// Exec implements sqldriver.WriteTx.
func (t *tx) Exec(ctx context.Context, st sqlgen.Statement) (int64, error) {
	tag, err := t.run(ctx, st, func([][]byte) {})
	return tag.RowsAffected(), err
}

// Query implements sqldriver.WriteTx.
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

// Settle implements sqldriver.WriteTx. It sets the search path, because deferred triggers are code of the
// application.
func (t *tx) Settle(ctx context.Context) error {
	_, err := t.conn.Conn().PgConn().Exec(ctx, t.setPath(t.path)+"; SET CONSTRAINTS ALL IMMEDIATE; "+t.setPath(pinValue("search_path"))).ReadAll()
	return err
}

// setPath returns the statement that sets the search path until the transaction ends, with the path as a literal.
func (t *tx) setPath(path string) string {
	return "SELECT pg_catalog.set_config('search_path', '" + strings.ReplaceAll(path, "'", "''") + "', true)"
}

// Commit implements sqldriver.WriteTx. It ignores cancellation, because a cancelled commit might still take effect.
func (t *tx) Commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sqldriver.CommitTime)
	defer cancel()
	results, err := t.conn.Conn().PgConn().Exec(ctx, t.setPath(t.path)+"; COMMIT").ReadAll()
	if err != nil {
		return err
	}
	if tag := results[len(results)-1].CommandTag.String(); tag != "COMMIT" { // a statement had failed
		return fmt.Errorf("a COMMIT was answered with %s", tag)
	}
	t.done = true
	t.conn.Release()
	return nil
}

// Rollback implements sqldriver.WriteTx. If the rollback fails, the connection is closed.
func (t *tx) Rollback() {
	if t.done {
		return
	}
	t.done = true
	rollBack(t.conn.Conn())
	t.conn.Release()
}

// References implements sqldriver.WriteDatabase.
func (w writer) References(ctx context.Context, _ sqldriver.WriteTx) ([]schema.Reference, error) {
	var out []schema.Reference
	err := w.Source.reading(ctx, func(r reads) (err error) {
		out, err = references(ctx, r)
		return err
	})
	return out, err
}

// Sound implements sqldriver.WriteDatabase. It fails for foreign tables, because a write to another server isn't
// atomic with our marker.
func (w writer) Sound(ctx context.Context, _ sqldriver.WriteTx, c *schema.Class) error {
	kind, err := one[string](ctx, w.Source, `SELECT c.relkind::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relname = $1 AND n.nspname = $2`, c.Table, schemaOrPublic(c.Space))
	if errors.Is(err, pgx.ErrNoRows) {
		return sqldriver.Unwritable(c, "it isn't there any more")
	}
	if err == nil && kind != "r" && kind != "p" {
		return sqldriver.Unwritable(c, "it is no table of this database")
	}
	return err
}

// one returns the only row of a query of the catalogue.
func one[T any](ctx context.Context, s *Source, query string, args ...any) (out T, err error) {
	err = s.reading(ctx, func(r reads) error {
		rows, err := r.Query(ctx, query, args...)
		if err == nil {
			out, err = pgx.CollectOneRow(rows, pgx.RowTo[T])
		}
		return err
	})
	return out, err
}

func schemaOrPublic(space string) string {
	if space == "" {
		return "public"
	}
	return space
}

// Again implements sqldriver.WriteDatabase.
func (writer) Again(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "40001" || pg.Code == "40P01") // serialization_failure, deadlock_detected
}

// Problem implements sqldriver.WriteDatabase.
func (w writer) Problem(ctx context.Context, err error) error {
	return w.Errors().RefuseWrite(ctx, err)
}

// kinds maps states to refusals. All other states of class 22 mean that a value doesn't fit.
var kinds = map[string]sqldriver.RefusalKind{
	"23505": sqldriver.RefusedUnique, "23503": sqldriver.RefusedForeignKey, "23001": sqldriver.RefusedReferenced, "23502": sqldriver.RefusedNotNull, "23514": sqldriver.RefusedCheck,
	"23P01": sqldriver.RefusedExclusion, "P0001": sqldriver.RefusedTrigger, "428C9": sqldriver.RefusedComputed, "42501": sqldriver.RefusedDenied, "44000": sqldriver.RefusedCheck,
	"42P07": sqldriver.RefusedExists, "2BP01": sqldriver.RefusedReferenced, "09000": sqldriver.RefusedTrigger, "27000": sqldriver.RefusedTrigger, "54000": sqldriver.RefusedMisfit, "21000": sqldriver.RefusedTrigger,
}

// parameter matches PostgreSQL's message about an argument that isn't a value of the column's type.
var parameter = regexp.MustCompile(`^(?:unnamed portal|portal "[^"]*") parameter \$(\d+)`)

// Refusal implements sqldriver.WriteDatabase. PostgreSQL reports the constraint and the column separately from the
// message.
func (w writer) Refusal(ctx context.Context, c *schema.Class, op write.Op, err error) *sqldriver.Refusal {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return nil
	}
	kind, ok := kinds[pg.Code]
	if !ok && pg.Code[:2] != "22" {
		return nil
	}
	if !ok {
		kind = sqldriver.RefusedMisfit
	}
	r := &sqldriver.Refusal{Kind: kind}
	if m := parameter.FindStringSubmatch(pg.Where); m != nil && (kind == sqldriver.RefusedMisfit || kind == sqldriver.RefusedCheck) { // before the statement ran
		r.Argument, _ = strconv.Atoi(m[1])
	}
	if pg.ColumnName != "" {
		r.Fields = []string{pg.ColumnName}
	}
	own := pg.TableName == "" || pg.TableName == c.Table && pg.SchemaName == schemaOrPublic(c.Space)
	elsewhere := c.Spaces != nil && pg.TableName != "" && pg.SchemaName != schemaOrPublic(c.Space) // such a table is another tenant's
	if !own && !elsewhere {
		r.Class = pg.TableName
		if pg.SchemaName != "public" && c.Spaces == nil {
			r.Class = pg.SchemaName + "_" + pg.TableName
		}
	}
	if pg.ConstraintName == "" {
		return r
	}
	if kind == sqldriver.RefusedCheck {
		r.Name = pg.ConstraintName
	}
	leads := false
	r.Fields, leads = w.constraint(ctx, pg, c)
	if kind == sqldriver.RefusedForeignKey && leads && (!own || op == write.OpDelete) {
		r.Kind = sqldriver.RefusedReferenced
	}
	if elsewhere {
		r.Fields, r.Name = nil, ""
	}
	return r
}

// constraint returns the columns of a constraint or unique index, if they can be found. leads reports whether the
// constraint is a foreign key that references c.
func (w writer) constraint(ctx context.Context, pg *pgconn.PgError, c *schema.Class) (fields []string, leads bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	const query = `SELECT coalesce(ARRAY(SELECT a.attname::text FROM unnest(x.columns) WITH ORDINALITY AS u (at, n)
			JOIN pg_catalog.pg_attribute AS a ON a.attrelid = x.relation AND a.attnum = u.at ORDER BY u.n), '{}'),
		coalesce(x.target = (SELECT t.oid FROM pg_catalog.pg_class AS t JOIN pg_catalog.pg_namespace AS s ON s.oid = t.relnamespace
			WHERE t.relname = $4 AND s.nspname = $5), false)
		FROM (SELECT k.conrelid AS relation, k.conkey AS columns, k.confrelid AS target, k.conname AS name FROM pg_catalog.pg_constraint AS k
			UNION ALL SELECT i.indrelid, i.indkey::int2[], 0, r.relname FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS r ON r.oid = i.indexrelid) AS x
		JOIN pg_catalog.pg_class AS c ON c.oid = x.relation JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE x.name = $1 AND c.relname = $2 AND n.nspname = $3 LIMIT 1`
	type row struct {
		Fields []string
		Leads  bool
	}
	err := w.Source.reading(ctx, func(r reads) error {
		found, err := collect[row](ctx, r, query, pg.ConstraintName, pg.TableName, pg.SchemaName, c.Table, schemaOrPublic(c.Space))
		if err == nil && len(found) == 1 {
			fields, leads = found[0].Fields, found[0].Leads
		}
		return err
	})
	if err != nil {
		return nil, false // the kind of the refusal is already known
	}
	return fields, leads
}
