// Package postgres is the source for PostgreSQL databases.
package postgres

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
)

// A Source reads one PostgreSQL database. Its Writable method opens it for writing as well. It is safe for concurrent
// use.
type Source = sqldriver.Postgres

// Open connects to the database at url, such as postgres://user:password@host/database, as the source called name. Its sessions are
// read-only. Errors don't quote the URL, which may hold a password.
func Open(ctx context.Context, name, url string) (*Source, error) {
	return sqldriver.OpenPostgres(ctx, name, url)
}
