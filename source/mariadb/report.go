package mariadb

import (
	"context"
	"strings"

	"github.com/bailiwick-dev/bailiwick/source"
)

// Report implements source.Reporter.
func (s *Source) Report(ctx context.Context) (source.Server, error) {
	conn, err := acquireSoon(ctx, s.db)
	if err != nil {
		return source.Server{}, refuse(ctx, err)
	}
	defer conn.Close()
	var out source.Server
	var version string
	const writes = `privilege_type IN ('INSERT', 'UPDATE', 'DELETE')`
	err = conn.QueryRowContext(ctx, `SELECT VERSION(), @@global.read_only, EXISTS (SELECT 1 FROM information_schema.user_privileges WHERE `+writes+`)
  OR EXISTS (SELECT 1 FROM information_schema.schema_privileges WHERE table_schema = DATABASE() AND `+writes+`)
  OR EXISTS (SELECT 1 FROM information_schema.table_privileges WHERE table_schema = DATABASE() AND `+writes+`)`).Scan(&version, &out.ReadOnly, &out.Writes)
	if err != nil {
		return out, refuse(ctx, err)
	}
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "5.5.5-"), "-")
	out.Version = "MariaDB " + version
	return out, nil
}
