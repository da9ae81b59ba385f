package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/source"
)

// Report implements source.Reporter.
func (s *Source) Report(ctx context.Context) (source.Server, error) {
	var out source.Server
	err := s.reading(ctx, func(r reads) error {
		out.Pooled = r.pooled
		rows, err := r.Query(ctx, `SELECT 'PostgreSQL ' || pg_catalog.split_part(pg_catalog.current_setting('server_version'), ' ', 1), pg_catalog.pg_is_in_recovery(), EXISTS (
  SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
  WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}') AND n.nspname OPERATOR(pg_catalog.<>) 'information_schema' AND NOT n.nspname OPERATOR(pg_catalog.~) '^pg_'
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE'))`)
		if err != nil {
			return err
		}
		_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
			return struct{}{}, row.Scan(&out.Version, &out.ReadOnly, &out.Writes)
		})
		return err
	})
	if err != nil {
		return out, refuse(ctx, err)
	}
	return out, nil
}
