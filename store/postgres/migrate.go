package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/store"
)

//go:embed migrations/*.sql
var files embed.FS

// migrationLock is the advisory lock that serializes migrations of processes that start at the same time: "bailiwic"
// as a number.
const migrationLock = 0x6261696c69776963

// ErrNone is the error that OpenWith wraps, with the option There, if a database has no store.
var ErrNone = errors.New("the database has none")

var errEncoding = errors.New("its encoding is not UTF8. Make it with ENCODING 'UTF8' TEMPLATE template0")

// migrate updates the store to the current version, completely or not at all. Processes that start at the same time
// wait for each other.
func (s *Store) migrate(ctx context.Context, steps fs.FS, there bool) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		return store.Migrate(steps, target{ctx, tx, there})
	})
}

// A target implements store.MigrationTarget.
type target struct {
	ctx   context.Context //nolint:containedctx // of the one transaction
	tx    pgx.Tx
	there bool // whether a missing store is an error
}

// Version implements store.MigrationTarget.
func (t target) Version() (int, error) {
	now, err := version(t.ctx, t.tx)
	if err == nil && now == 0 && t.there {
		err = ErrNone
	}
	return now, err
}

// Run implements store.MigrationTarget.
func (t target) Run(text string) error { return run(t.ctx, t.tx.Conn(), text) }

// SetVersion implements store.MigrationTarget.
func (t target) SetVersion(version int) error {
	_, err := t.tx.Exec(t.ctx, `INSERT INTO bailiwick.migration (version) VALUES ($1)`, version)
	return err
}

// version returns the store's version, or 0 for a new store. If necessary, it creates the schema and the table that
// contains the version. It holds the migration lock until tx ends.
func version(ctx context.Context, tx pgx.Tx) (n int, err error) {
	var encoding string
	var schema, table bool
	if err := tx.QueryRow(ctx, `SHOW server_encoding`).Scan(&encoding); err != nil {
		return 0, err
	}
	if encoding != "UTF8" {
		return 0, errEncoding
	}
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `SELECT to_regnamespace('bailiwick') IS NOT NULL, to_regclass('bailiwick.migration') IS NOT NULL`).Scan(&schema, &table)
	if err != nil {
		return 0, err
	}
	if !schema { // "IF NOT EXISTS" would require the right to create one even if it exists
		if err := run(ctx, tx.Conn(), `CREATE SCHEMA bailiwick`); err != nil {
			return 0, err
		}
	}
	if !table {
		return 0, run(ctx, tx.Conn(), `CREATE TABLE bailiwick.migration (version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())`)
	}
	err = tx.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM bailiwick.migration`).Scan(&n)
	return n, err
}

// run runs one statement without arguments. pgx itself would use the simple protocol, which allows several
// statements.
func run(ctx context.Context, c *pgx.Conn, text string) error {
	return c.PgConn().ExecParams(ctx, text, nil, nil, nil, nil).Read().Err
}
