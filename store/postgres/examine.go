package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// An Examination contains the facts about a store that can be read without changing it.
type Examination struct {
	Server     string              // "PostgreSQL 16.2"
	Version    int                 // the version of the tables, or 0 without tables
	Newest     int                 // the version to which this program migrates
	Pooled     bool                // whether a pooler in session mode is in front of the database
	Unwritable error               // the reason why the store accepts no records, or nil. Nil without tables of this version
	Lacks      []string            // the rights that the user doesn't have
	Clock      time.Duration       // how far this process's clock is ahead of the store's clock
	Replicas   []health.ReplicaRow // the processes that use it
}

// Examine examines the store at url. The error is the reason why the store can't be reached or used.
func Examine(ctx context.Context, url string) (*Examination, error) {
	s, err := connectStore(ctx, url, Options{})
	if err != nil {
		return nil, err
	}
	defer s.pool.Close()
	e := &Examination{Pooled: s.pooled}
	if e.Newest, err = store.NewestVersion(files); err != nil {
		return nil, err
	}
	err = s.again(ctx, "examine the store", func(ctx context.Context) error { return s.examine(ctx, e) })
	if err != nil || e.Version != e.Newest || len(e.Lacks) > 0 {
		return e, err
	}
	e.Unwritable = s.Ping(ctx)
	e.Replicas, err = s.Replicas(ctx)
	return e, err
}

// examine reads the server, the rights, the version and the clock.
func (s *Store) examine(ctx context.Context, e *Examination) error {
	var encoding string
	var schema, uses, creates bool
	err := s.pool.QueryRow(ctx, `SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1), current_setting('server_encoding'), n.oid IS NOT NULL,
  coalesce(has_schema_privilege(n.oid, 'USAGE'), false), has_database_privilege(current_database(), 'CREATE')
FROM (SELECT to_regnamespace('bailiwick') AS oid) AS n`).Scan(&e.Server, &encoding, &schema, &uses, &creates)
	if err != nil {
		return err
	}
	e.Lacks = nil // examine may run twice
	switch {
	case encoding != "UTF8":
		return errEncoding
	case !schema && !creates:
		e.Lacks = []string{"to create the schema bailiwick"}
	case schema && !uses:
		e.Lacks = []string{"to use the schema bailiwick"}
	case schema:
		if err := s.examineTables(ctx, e); err != nil {
			return err
		}
	}
	before, at := time.Now(), time.Time{}
	if err := s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at); err != nil {
		return err
	}
	e.Clock = before.Add(time.Since(before) / 2).Sub(at)
	return nil
}

// examineTables reads the version of the tables, and the tables that the user can't read and write.
func (s *Store) examineTables(ctx context.Context, e *Examination) error {
	rows, err := s.pool.Query(ctx, `SELECT 'to read and write bailiwick.' || c.relname FROM pg_class AS c WHERE c.relnamespace = to_regnamespace('bailiwick') AND c.relkind = 'r'
  AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
ORDER BY c.relname LIMIT 5`)
	if err != nil {
		return err
	}
	if e.Lacks, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return err
	}
	var made bool
	if err := s.pool.QueryRow(ctx, `SELECT to_regclass('bailiwick.migration') IS NOT NULL`).Scan(&made); err != nil || !made || len(e.Lacks) > 0 {
		return err
	}
	if err := s.pool.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM bailiwick.migration`).Scan(&e.Version); err != nil || e.Version == e.Newest {
		return err
	}
	var owns bool
	if err := s.pool.QueryRow(ctx, `SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'bailiwick'`).Scan(&owns); err != nil {
		return err
	}
	if !owns {
		e.Lacks = []string{"to change the tables of the schema bailiwick, which another user owns"}
	}
	return nil
}
