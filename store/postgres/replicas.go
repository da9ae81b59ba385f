package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/health"
)

// Beat implements health.ReplicaStore. It is a single statement. It skips old rows that another process is already
// removing.
func (s *Store) Beat(ctx context.Context, r health.ReplicaRow) (at time.Time, err error) {
	err = s.again(ctx, "note this process", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `WITH ended AS (DELETE FROM bailiwick.replica WHERE id IN (
  SELECT o.id FROM bailiwick.replica AS o WHERE o.id <> $1 AND abs(extract(epoch FROM clock_timestamp() - o.seen)) > $7 FOR UPDATE SKIP LOCKED))
INSERT INTO bailiwick.replica (id, name, rules, key, program, clock, seen) VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp())
ON CONFLICT (id) DO UPDATE SET name = excluded.name, rules = excluded.rules, key = excluded.key, program = excluded.program, clock = excluded.clock, seen = clock_timestamp()
RETURNING clock_timestamp()`, r.ID, r.Name, r.Rules, r.Key, r.Program, r.Clock.Microseconds(), health.Lasting.Seconds()).Scan(&at)
	})
	return at.UTC(), err
}

// Replicas implements health.ReplicaStore.
func (s *Store) Replicas(ctx context.Context) (all []health.ReplicaRow, err error) {
	err = s.again(ctx, "read which processes there are", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT id, name, rules, key, program, clock FROM bailiwick.replica WHERE abs(extract(epoch FROM clock_timestamp() - seen)) <= $1 ORDER BY name, id`, health.Lasting.Seconds())
		if err != nil {
			return err
		}
		all, err = pgx.AppendRows([]health.ReplicaRow(nil), rows, scanReplica)
		return err
	})
	return all, err
}

// scanReplica reads one row.
func scanReplica(row pgx.CollectableRow) (r health.ReplicaRow, err error) {
	var clock int64
	err = row.Scan(&r.ID, &r.Name, &r.Rules, &r.Key, &r.Program, &clock)
	r.Clock = time.Duration(clock) * time.Microsecond
	return r, err
}

// Leave implements health.ReplicaStore.
func (s *Store) Leave(ctx context.Context, id string) error {
	return s.again(ctx, "remove the note of this process", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `DELETE FROM bailiwick.replica WHERE id = $1`, id)
		return err
	})
}
