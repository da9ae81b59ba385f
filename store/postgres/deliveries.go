package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

// FedTo implements webhook.Store.
func (s *Store) FedTo(ctx context.Context) (seq int64, begun bool, err error) {
	err = s.again(ctx, "read how far events were followed", func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, `SELECT seq FROM bailiwick.delivered`).Scan(&seq)
		if begun = err == nil; errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return seq, begun, err
}

// Feed implements webhook.Store, in one statement.
func (s *Store) Feed(ctx context.Context, from, to int64, list []webhook.Delivery) error {
	hooks, changes, events, due := make([]string, len(list)), make([]string, len(list)), make([]string, len(list)), make([]time.Time, len(list))
	for i, d := range list {
		event, err := json.Marshal(d.Event)
		if err != nil {
			return err
		}
		hooks[i], changes[i], events[i], due[i] = d.Hook, d.Event.Change, string(event), d.Due
	}
	move := `UPDATE bailiwick.delivered SET seq = $1 WHERE seq = $2 RETURNING seq`
	if from < 0 {
		move = `INSERT INTO bailiwick.delivered SELECT 1, $1::bigint WHERE $2::bigint < 0 ON CONFLICT DO NOTHING RETURNING seq`
	}
	return s.try(ctx, "keep deliveries", func(ctx context.Context) error {
		var moved int
		err := s.pool.QueryRow(ctx, `WITH moved AS (`+move+`), kept AS (
			INSERT INTO bailiwick.delivery (hook, change, event, state, attempts, fence, due, status, failure, updated)
			SELECT u.hook, u.change, u.event, 'waiting', 0, 0, greatest(clock_timestamp(), u.due), 0, '', clock_timestamp()
			FROM moved, unnest($3::text[], $4::text[], $5::text[], $8::timestamptz[]) WITH ORDINALITY AS u (hook, change, event, due, n) ORDER BY u.n
		), forgotten AS (
			DELETE FROM bailiwick.delivery WHERE state <> 'waiting' AND updated < clock_timestamp() - CASE state WHEN 'sent' THEN $6::interval ELSE $7::interval END
		) SELECT count(*) FROM moved`, to, from, hooks, changes, events, webhook.SentKept, webhook.DeadKept, due).Scan(&moved)
		if err == nil && moved == 0 {
			return webhook.ErrMoved
		}
		return err
	})
}

const deliveryColumns = `d.id, d.hook, d.event, d.state, d.attempts, d.fence, d.due, d.status, d.failure, d.updated`

// deliveries reads rows of deliveryColumns. It also accepts the query's error err, so that calls can be nested.
func deliveries(rows pgx.Rows, err error) ([]webhook.Delivery, error) {
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]webhook.Delivery(nil), rows, func(row pgx.CollectableRow) (d webhook.Delivery, err error) {
		var event, state string
		if err := row.Scan(&d.ID, &d.Hook, &event, &state, &d.Attempts, &d.Fence, &d.Due, &d.Status, &d.Failure, &d.Updated); err != nil {
			return d, err
		}
		d.State, d.Due, d.Updated = webhook.State(state), d.Due.UTC(), d.Updated.UTC()
		if err := json.Unmarshal([]byte(event), &d.Event); err != nil {
			return d, fmt.Errorf("delivery %d: %w", d.ID, err)
		}
		return d, nil
	})
}

// Claim implements webhook.Store. Concurrent replicas claim different deliveries.
func (s *Store) Claim(ctx context.Context, hooks []string, n int, lease time.Duration) (out []webhook.Delivery, err error) {
	err = s.try(ctx, "claim deliveries", func(ctx context.Context) (err error) {
		out, err = deliveries(s.pool.Query(ctx, `WITH due AS (
			SELECT id FROM bailiwick.delivery WHERE state = 'waiting' AND due <= clock_timestamp() AND hook = ANY ($1) ORDER BY due, id LIMIT $2 FOR UPDATE SKIP LOCKED
		) UPDATE bailiwick.delivery AS d SET due = clock_timestamp() + $3::interval, updated = clock_timestamp(), attempts = attempts + 1, fence = fence + 1
		FROM due WHERE d.id = due.id RETURNING `+deliveryColumns, hooks, n, lease))
		return err
	})
	return out, err
}

// Finish implements webhook.Store.
func (s *Store) Finish(ctx context.Context, d webhook.Delivery, after time.Duration) error {
	return s.try(ctx, "keep what became of a delivery", func(ctx context.Context) error {
		done, err := s.pool.Exec(ctx, `UPDATE bailiwick.delivery SET state = $1, status = $2, failure = $3, due = clock_timestamp() + $4::interval, updated = clock_timestamp()
			WHERE id = $5 AND fence = $6 AND state = 'waiting'`, string(d.State), d.Status, d.Failure, after, d.ID, d.Fence)
		return one(done, err, webhook.ErrMoved)
	})
}

// one returns an error if a statement has not changed exactly one row. The argument otherwise is this error.
func one(done pgconn.CommandTag, err, otherwise error) error {
	if err == nil && done.RowsAffected() != 1 {
		return otherwise
	}
	return err
}

// Deliveries implements webhook.Store.
func (s *Store) Deliveries(ctx context.Context, f webhook.Filter) (found []webhook.Delivery, more bool, err error) {
	var where strings.Builder
	args := []any{f.Most() + 1}
	for _, is := range []struct {
		text  string
		value any
		asked bool
	}{{`d.state = `, string(f.State), f.State != ""}, {`d.hook = `, f.Hook, f.Hook != ""}, {`d.change = `, f.Change, f.Change != ""}, {`d.id < `, f.Before, f.Before > 0}} {
		if v, ok := is.value.(string); ok && is.asked && !text(v) {
			return nil, false, nil // the database can't store such a text
		}
		if is.asked {
			args = append(args, is.value)
			fmt.Fprintf(&where, ` AND %s$%d`, is.text, len(args))
		}
	}
	err = s.again(ctx, "list the deliveries", func(ctx context.Context) (err error) {
		found, err = deliveries(s.pool.Query(ctx, `SELECT `+deliveryColumns+` FROM bailiwick.delivery AS d WHERE true`+where.String()+` ORDER BY d.id DESC LIMIT $1`, args...))
		return err
	})
	return found[:min(len(found), f.Most())], len(found) > f.Most(), err
}

// Redeliver implements webhook.Store.
func (s *Store) Redeliver(ctx context.Context, id int64) error {
	return s.try(ctx, "send a delivery again", func(ctx context.Context) error {
		done, err := s.pool.Exec(ctx, `UPDATE bailiwick.delivery SET state = 'waiting', attempts = 0, due = clock_timestamp(), updated = clock_timestamp()
			WHERE id = $1 AND state <> 'waiting'`, id)
		return one(done, err, webhook.ErrNone)
	})
}
