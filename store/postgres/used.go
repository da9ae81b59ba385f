package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// UseUp implements once.Store. If the connection breaks, it returns an error, since it is unknown whether name was
// recorded. The caller must then treat name as used.
func (s *Store) UseUp(ctx context.Context, name string, until time.Time) (first bool, err error) {
	err = s.try(ctx, "note what was used", func(ctx context.Context) error {
		if _, err := s.pool.Exec(ctx, `DELETE FROM bailiwick.used WHERE until <= clock_timestamp()`); err != nil {
			return err
		}
		tag, err := s.pool.Exec(ctx, `INSERT INTO bailiwick.used VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, until)
		first = tag.RowsAffected() == 1
		return err
	})
	return first && err == nil, err
}

// UsedUp implements once.Store.
func (s *Store) UsedUp(ctx context.Context, names ...string) (used []string, err error) {
	err = s.again(ctx, "look for what was used", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT name FROM bailiwick.used WHERE name = ANY($1)`, names)
		if err != nil {
			return err
		}
		used, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return used, err
}
