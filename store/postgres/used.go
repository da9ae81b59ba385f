package postgres

import (
	"context"
	"time"
)

// UseUp notes that what is called name was used, and reports whether this was the first time. It is kept until until.
// Where the connection breaks it is an error, and nobody may use it again: whether it was noted isn't known.
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

// UsedUp reports whether what is called name was used.
func (s *Store) UsedUp(ctx context.Context, name string) (used bool, err error) {
	err = s.again(ctx, "look for what was used", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM bailiwick.used WHERE name = $1)`, name).Scan(&used)
	})
	return used, err
}
