package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock that serializes the migrations of processes starting at once: "bailiwic" as a
// number.
const migrationLock = 0x6261696c69776963

// ErrNone is in the error of OpenThere if a database has no store.
var ErrNone = errors.New("the database has none")

var (
	errNewer    = errors.New("a newer Bailiwick made it; use that one, or another database")
	errEncoding = errors.New("its encoding is not UTF8; make it with ENCODING 'UTF8' TEMPLATE template0")
)

// A migration is a step from one version of the store's schema to the next.
type migration struct {
	version    int
	statements []string
}

// steps reads the migrations in order. A paragraph is one statement, run by itself with the extended protocol.
func steps() ([]migration, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	out := make([]migration, 0, len(names))
	for _, name := range names { // in lexical order
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != len(out)+1 {
			return nil, fmt.Errorf("%s: the number must be %d", name, len(out)+1)
		}
		m := migration{version: version}
		for p := range strings.SplitSeq(string(text), "\n\n") {
			if !comment(p) {
				m.statements = append(m.statements, p)
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// comment reports whether a paragraph consists of comments only.
func comment(paragraph string) bool {
	for line := range strings.Lines(paragraph) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return false
		}
	}
	return true
}

// migrate updates the store to the current version, entirely or not at all. Processes that start at once wait for
// each other.
func (s *Store) migrate(ctx context.Context, there bool) error {
	all, err := steps()
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		now, err := version(ctx, tx)
		switch {
		case err != nil:
			return err
		case now == 0 && there:
			return ErrNone
		case now > len(all):
			return errNewer
		}
		for _, m := range all[now:] {
			for _, text := range m.statements {
				if err := run(ctx, tx.Conn(), text); err != nil {
					return fmt.Errorf("migration %d: %w", m.version, err)
				}
			}
			if _, err := tx.Exec(ctx, `INSERT INTO bailiwick.migration (version) VALUES ($1)`, m.version); err != nil {
				return fmt.Errorf("migration %d: %w", m.version, err)
			}
		}
		return nil
	})
}

// version returns the store's version, 0 for none, and makes the schema and the table that hold it. It holds the
// migration lock until tx ends.
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

// run runs one statement without arguments; pgx itself would use the simple protocol, which allows several.
func run(ctx context.Context, c *pgx.Conn, text string) error {
	return c.PgConn().ExecParams(ctx, text, nil, nil, nil, nil).Read().Err
}
