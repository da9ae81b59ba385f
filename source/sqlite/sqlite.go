// Package sqlite is the source for SQLite files.
package sqlite

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
)

// A Source reads one SQLite file. Its Writable method opens it for writing as well. It is safe for concurrent use.
type Source = sqldriver.SQLite

// Open opens the SQLite file at path, which must exist, as the source called name. The connections can't write.
func Open(ctx context.Context, name, path string) (*Source, error) {
	return sqldriver.OpenSQLite(ctx, name, path)
}
