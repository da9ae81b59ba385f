package sqlite

import (
	"context"
	"os"

	"github.com/bailiwick-dev/bailiwick/source"
)

// Report implements source.Reporter.
func (s *Source) Report(ctx context.Context) (source.Server, error) {
	out := source.Server{}
	if err := s.db.QueryRowContext(ctx, "SELECT 'SQLite ' || sqlite_version()").Scan(&out.Version); err != nil {
		return out, refuse(ctx, err)
	}
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	out.Writes, out.ReadOnly = err == nil, err != nil
	if err == nil {
		f.Close() //nolint:errcheck // nothing was written
	}
	return out, nil
}
