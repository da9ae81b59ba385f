package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/health"
)

// Beat implements health.ReplicaStore. The time of a file is the machine's time.
func (s *Store) Beat(ctx context.Context, r health.ReplicaRow) (time.Time, error) {
	at := now()
	err := s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		at = now() // others may have written before
		if _, err := tx.ExecContext(ctx, `DELETE FROM replica WHERE id <> ? AND abs(seen - ?) > ?`, r.ID, at.UnixMicro(), health.Lasting.Microseconds()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO replica (id, name, rules, key, program, clock, seen) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, rules = excluded.rules, key = excluded.key, program = excluded.program, clock = excluded.clock, seen = excluded.seen`,
			r.ID, r.Name, r.Rules, r.Key, r.Program, r.Clock.Microseconds(), at.UnixMicro())
		return err
	})
	if err != nil {
		return at, s.operatorError("note this process", err)
	}
	return at, nil
}

// Replicas implements health.ReplicaStore.
func (s *Store) Replicas(ctx context.Context) ([]health.ReplicaRow, error) {
	all, err := replicasOf(ctx, s.read)
	if err != nil {
		return nil, s.operatorError("read which processes there are", err)
	}
	return all, nil
}

// replicasOf returns the rows of a file that are not too old.
func replicasOf(ctx context.Context, db *sql.DB) (out []health.ReplicaRow, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, name, rules, key, program, clock FROM replica WHERE abs(seen - ?) <= ? ORDER BY name, id`, now().UnixMicro(), health.Lasting.Microseconds())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r health.ReplicaRow
		var clock int64
		if err := rows.Scan(&r.ID, &r.Name, &r.Rules, &r.Key, &r.Program, &clock); err != nil {
			return nil, err
		}
		r.Clock = time.Duration(clock) * time.Microsecond
		out = append(out, r)
	}
	return out, rows.Err()
}

// Leave implements health.ReplicaStore.
func (s *Store) Leave(ctx context.Context, id string) error {
	err := s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM replica WHERE id = ?`, id)
		return err
	})
	if err != nil {
		return s.operatorError("remove the note of this process", err)
	}
	return nil
}
