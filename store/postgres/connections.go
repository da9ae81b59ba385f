package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiwick-dev/bailiwick/internal/connect"
)

const connectionColumns = `source, tenant, person, version, busy, ended, changed, sealed`

// Connection implements connect.Store.
func (s *Store) Connection(ctx context.Context, k connect.Key) (r connect.Row, err error) {
	if !text(k.Tenant) || !text(k.Person) {
		return connect.Row{Key: k}, nil
	}
	err = s.again(ctx, "read a connection", func(ctx context.Context) error {
		r, err = scanConnection(s.pool.QueryRow(ctx, `SELECT `+connectionColumns+` FROM bailiwick.connection WHERE source = $1 AND tenant = $2 AND person = $3`, k.Source, k.Tenant, k.Person))
		if errors.Is(err, pgx.ErrNoRows) {
			r, err = connect.Row{Key: k}, nil
		}
		return err
	})
	return r, err
}

// Connections implements connect.Store.
func (s *Store) Connections(ctx context.Context) (all []connect.Row, err error) {
	err = s.again(ctx, "list the connections", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT `+connectionColumns+` FROM bailiwick.connection`)
		if err != nil {
			return err
		}
		all, err = pgx.AppendRows([]connect.Row(nil), rows, func(row pgx.CollectableRow) (connect.Row, error) { return scanConnection(row) })
		return err
	})
	return all, err
}

// SwapConnection implements connect.Store. If the database connection breaks, it returns an error, since the outcome
// of the swap is unknown.
func (s *Store) SwapConnection(ctx context.Context, was int64, r connect.Row) (done bool, err error) {
	err = s.try(ctx, "change a connection", func(ctx context.Context) error {
		var tag pgconn.CommandTag
		var err error
		switch {
		case was == 0:
			tag, err = s.pool.Exec(ctx, `INSERT INTO bailiwick.connection (`+connectionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp(), $7) ON CONFLICT DO NOTHING`,
				r.Source, r.Tenant, r.Person, r.Version, r.Busy, r.Ended, r.Sealed)
		case r.Sealed == nil:
			tag, err = s.pool.Exec(ctx, `DELETE FROM bailiwick.connection WHERE source = $1 AND tenant = $2 AND person = $3 AND version = $4`, r.Source, r.Tenant, r.Person, was)
		default:
			tag, err = s.pool.Exec(ctx, `UPDATE bailiwick.connection SET version = $5, busy = $6, ended = $7, changed = clock_timestamp(), sealed = $8 WHERE source = $1 AND tenant = $2 AND person = $3 AND version = $4`,
				r.Source, r.Tenant, r.Person, was, r.Version, r.Busy, r.Ended, r.Sealed)
		}
		done = tag.RowsAffected() == 1
		return err
	})
	return done && err == nil, err
}

// EndConnections implements identity.TokenStore.
func (s *Store) EndConnections(ctx context.Context, person, tenant string) error {
	if !text(person) || !text(tenant) {
		return nil
	}
	return s.again(ctx, "end the connections of a person", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `UPDATE bailiwick.connection SET ended = true, version = version + 1, changed = clock_timestamp() WHERE person = $1 AND tenant = $2`, person, tenant)
		return err
	})
}

func scanConnection(row pgx.Row) (r connect.Row, err error) {
	err = row.Scan(&r.Source, &r.Tenant, &r.Person, &r.Version, &r.Busy, &r.Ended, &r.Changed, &r.Sealed)
	r.Changed = r.Changed.UTC()
	return r, err
}
