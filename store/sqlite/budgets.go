package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bailiwick-dev/bailiwick/limit"
)

const (
	askBudget   = `SELECT calls, rows, bytes, tokens, cost FROM budget WHERE day = ? AND account = ?`
	spendBudget = `INSERT INTO budget (day, account, calls, rows, bytes, tokens, cost) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (day, account) DO UPDATE SET calls = calls + excluded.calls, rows = rows + excluded.rows,
			bytes = bytes + excluded.bytes, tokens = tokens + excluded.tokens, cost = cost + excluded.cost
		RETURNING calls, rows, bytes, tokens, cost`
)

// Spend implements limit.Ledger, in one transaction. If all entries only read, it writes nothing.
func (s *Store) Spend(ctx context.Context, entries []limit.Entry) ([]limit.Use, error) {
	out := make([]limit.Use, len(entries))
	asks := true
	for _, e := range entries {
		asks = asks && e.Use == limit.Use{}
	}
	if asks {
		for i, e := range entries {
			err := scanUse(s.read.QueryRowContext(ctx, askBudget, e.Day.String(), e.Key), &out[i])
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, s.operatorError("read the budgets", err)
			}
		}
		return out, nil
	}
	err := s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for i, e := range entries {
			u := e.Use
			row := tx.QueryRowContext(ctx, spendBudget, e.Day.String(), e.Key, u.Calls, u.Rows, u.Bytes, u.Tokens, u.Cost)
			if err := scanUse(row, &out[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.operatorError("add to the budgets", err)
	}
	return out, nil
}

func scanUse(row *sql.Row, u *limit.Use) error {
	return row.Scan(&u.Calls, &u.Rows, &u.Bytes, &u.Tokens, &u.Cost)
}
