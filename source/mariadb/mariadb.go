// Package mariadb is the source for MariaDB databases, 10.7 or later.
package mariadb

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
)

// A Source reads one MariaDB database. Its Writable method opens it for writing as well. It is safe for concurrent use.
type Source = sqldriver.MySQL

// Open connects to the database at url, such as mariadb://user:password@host/database, as the source called name. Its
// sessions are read-only. The query of the URL may have tls (true, skip-verify or preferred) and socket (a path); if the
// URL has no password, the environment variable MYSQL_PWD is used. Errors don't quote the URL.
func Open(ctx context.Context, name, url string) (*Source, error) {
	return sqldriver.OpenMySQL(ctx, name, url)
}
