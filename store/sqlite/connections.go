package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bailiwick-dev/bailiwick/internal/connect"
)

const connectionColumns = `source, tenant, person, version, busy, ended, changed, sealed`

// Connection implements connect.Store.
func (s *Store) Connection(ctx context.Context, k connect.Key) (connect.Row, error) {
	r, err := scanConnection(s.read.QueryRowContext(ctx, `SELECT `+connectionColumns+` FROM connection WHERE source = ? AND tenant = ? AND person = ?`, k.Source, k.Tenant, k.Person))
	if errors.Is(err, sql.ErrNoRows) {
		return connect.Row{Key: k}, nil
	}
	if err != nil {
		return r, s.operatorError("read a connection", err)
	}
	return r, nil
}

// Connections implements connect.Store.
func (s *Store) Connections(ctx context.Context) (out []connect.Row, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+connectionColumns+` FROM connection`)
	if err != nil {
		return nil, s.operatorError("list the connections", err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanConnection(rows)
		if err != nil {
			return nil, s.operatorError("list the connections", err)
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, s.operatorError("list the connections", err)
	}
	return out, nil
}

// SwapConnection implements connect.Store.
func (s *Store) SwapConnection(ctx context.Context, was int64, r connect.Row) (done bool, err error) {
	err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var res sql.Result
		var err error
		switch {
		case was == 0:
			res, err = tx.ExecContext(ctx, `INSERT INTO connection (`+connectionColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
				r.Source, r.Tenant, r.Person, r.Version, r.Busy, r.Ended, now().UnixMicro(), r.Sealed)
		case r.Sealed == nil:
			res, err = tx.ExecContext(ctx, `DELETE FROM connection WHERE source = ? AND tenant = ? AND person = ? AND version = ?`, r.Source, r.Tenant, r.Person, was)
		default:
			res, err = tx.ExecContext(ctx, `UPDATE connection SET version = ?, busy = ?, ended = ?, changed = ?, sealed = ? WHERE source = ? AND tenant = ? AND person = ? AND version = ?`,
				r.Version, r.Busy, r.Ended, now().UnixMicro(), r.Sealed, r.Source, r.Tenant, r.Person, was)
		}
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		done = n == 1
		return err
	})
	if err != nil {
		return false, s.operatorError("change a connection", err)
	}
	return done, nil
}

// EndConnections implements identity.TokenStore.
func (s *Store) EndConnections(ctx context.Context, person, tenant string) error {
	err := s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE connection SET ended = 1, version = version + 1, changed = ? WHERE person = ? AND tenant = ?`, now().UnixMicro(), person, tenant)
		return err
	})
	if err != nil {
		return s.operatorError("end the connections of a person", err)
	}
	return nil
}

func scanConnection(row interface{ Scan(...any) error }) (r connect.Row, err error) {
	var changed int64
	err = row.Scan(&r.Source, &r.Tenant, &r.Person, &r.Version, &r.Busy, &r.Ended, &changed, &r.Sealed)
	r.Changed = instant(changed)
	return r, err
}
