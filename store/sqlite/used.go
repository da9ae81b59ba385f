package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// UseUp implements once.Store.
func (s *Store) UseUp(ctx context.Context, name string, until time.Time) (first bool, err error) {
	err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM used WHERE until <= ?`, now().UnixMicro()); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO used VALUES (?, ?) ON CONFLICT DO NOTHING`, name, until.UnixMicro())
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		first = n == 1
		return err
	})
	if err != nil {
		return false, s.operatorError("note what was used", err)
	}
	return first, nil
}

// UsedUp implements once.Store.
func (s *Store) UsedUp(ctx context.Context, name string) (bool, error) {
	var one int
	err := s.read.QueryRowContext(ctx, `SELECT 1 FROM used WHERE name = ?`, name).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, s.operatorError("look for what was used", err)
	}
	return true, nil
}
