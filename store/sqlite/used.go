package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
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
func (s *Store) UsedUp(ctx context.Context, names ...string) (used []string, err error) {
	list, err := json.Marshal(names)
	if err != nil {
		return nil, fmt.Errorf("sqlite: encode names: %w", err)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT name FROM used WHERE name IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return nil, s.operatorError("look for what was used", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, s.operatorError("look for what was used", err)
		}
		used = append(used, name)
	}
	if err := rows.Err(); err != nil {
		return nil, s.operatorError("look for what was used", err)
	}
	return used, nil
}
