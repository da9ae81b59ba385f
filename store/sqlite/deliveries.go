package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

// FedTo implements webhook.Store.
func (s *Store) FedTo(ctx context.Context) (seq int64, begun bool, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT seq FROM delivered`).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return seq, err == nil, s.deliveryFailure("read how far events were followed", err)
}

// Feed implements webhook.Store.
func (s *Store) Feed(ctx context.Context, from, to int64, list []webhook.Delivery) error {
	err := s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		at := now().UnixMicro()
		done, err := tx.ExecContext(ctx, `UPDATE delivered SET seq = ? WHERE seq = ?`, to, from)
		if from < 0 {
			done, err = tx.ExecContext(ctx, `INSERT INTO delivered (one, seq) VALUES (1, ?) ON CONFLICT DO NOTHING`, to)
		}
		if err := one(done, err, webhook.ErrMoved); err != nil {
			return err
		}
		for _, d := range list {
			event, err := json.Marshal(d.Event)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO delivery (hook, change, event, state, attempts, fence, due, status, failure, updated)
				VALUES (?, ?, ?, 'waiting', 0, 0, ?, 0, '', ?)`, d.Hook, d.Event.Change, string(event), max(at, d.Due.UnixMicro()), at)
			if err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM delivery WHERE state <> 'waiting' AND updated < CASE state WHEN 'sent' THEN ? ELSE ? END`,
			at-webhook.SentKept.Microseconds(), at-webhook.DeadKept.Microseconds())
		return err
	})
	return s.deliveryFailure("keep deliveries", err)
}

// one returns an error if a statement has not changed exactly one row. The argument otherwise is this error.
func one(done sql.Result, err, otherwise error) error {
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return otherwise
}

const deliveryColumns = `id, hook, event, state, attempts, fence, due, status, failure, updated`

// deliveries reads rows of deliveryColumns, and closes rows. It also accepts the query's error err, so that calls can
// be nested.
func (s *Store) deliveries(rows *sql.Rows, err error) ([]webhook.Delivery, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []webhook.Delivery
	for rows.Next() {
		var d webhook.Delivery
		var event string
		var due, updated int64
		if err := rows.Scan(&d.ID, &d.Hook, &event, &d.State, &d.Attempts, &d.Fence, &due, &d.Status, &d.Failure, &updated); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(event), &d.Event); err != nil {
			return nil, fmt.Errorf("delivery %d: %w", d.ID, err)
		}
		d.Due, d.Updated = time.UnixMicro(due).UTC(), time.UnixMicro(updated).UTC()
		out = append(out, d)
	}
	return out, rows.Err()
}

// Claim implements webhook.Store. It writes only if a delivery is due.
func (s *Store) Claim(ctx context.Context, hooks []string, n int, lease time.Duration) (out []webhook.Delivery, err error) {
	at := now()
	in := `(` + strings.TrimSuffix(strings.Repeat(`?, `, len(hooks)), `, `) + `)`
	args := []any{at.UnixMicro()}
	for _, h := range hooks {
		args = append(args, h)
	}
	due := `FROM delivery WHERE state = 'waiting' AND due <= ? AND hook IN ` + in
	var some bool
	if err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 `+due+`)`, args...).Scan(&some); err != nil || !some {
		return nil, s.deliveryFailure("look for deliveries that are due", err)
	}
	err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		args := append([]any{at.Add(lease).UnixMicro(), at.UnixMicro()}, append(args, n)...)
		out, err = s.deliveries(tx.QueryContext(ctx, `UPDATE delivery SET due = ?, updated = ?, attempts = attempts + 1, fence = fence + 1
			WHERE id IN (SELECT id `+due+` ORDER BY due, id LIMIT ?) RETURNING `+deliveryColumns, args...))
		return err
	})
	return out, s.deliveryFailure("claim deliveries", err)
}

// Finish implements webhook.Store.
func (s *Store) Finish(ctx context.Context, d webhook.Delivery, after time.Duration) error {
	err := s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		at := now()
		done, err := tx.ExecContext(ctx, `UPDATE delivery SET state = ?, status = ?, failure = ?, due = ?, updated = ? WHERE id = ? AND fence = ? AND state = 'waiting'`,
			d.State, d.Status, d.Failure, at.Add(after).UnixMicro(), at.UnixMicro(), d.ID, d.Fence)
		return one(done, err, webhook.ErrMoved)
	})
	return s.deliveryFailure("keep what became of a delivery", err)
}

// Deliveries implements webhook.Store.
func (s *Store) Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, bool, error) {
	var where strings.Builder
	var args []any
	for _, is := range []struct {
		text  string
		value any
		asked bool
	}{{`state = ?`, f.State, f.State != ""}, {`hook = ?`, f.Hook, f.Hook != ""}, {`change = ?`, f.Change, f.Change != ""}, {`id < ?`, f.Before, f.Before > 0}} {
		if is.asked {
			where.WriteString(` AND ` + is.text)
			args = append(args, is.value)
		}
	}
	found, err := s.deliveries(s.read.QueryContext(ctx, `SELECT `+deliveryColumns+` FROM delivery WHERE true`+where.String()+` ORDER BY id DESC LIMIT ?`, append(args, f.Most()+1)...))
	if err != nil {
		return nil, false, s.deliveryFailure("list the deliveries", err)
	}
	return found[:min(len(found), f.Most())], len(found) > f.Most(), nil
}

// Redeliver implements webhook.Store.
func (s *Store) Redeliver(ctx context.Context, id int64) error {
	err := s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		at := now().UnixMicro()
		done, err := tx.ExecContext(ctx, `UPDATE delivery SET state = 'waiting', attempts = 0, due = ?, updated = ? WHERE id = ? AND state <> 'waiting'`, at, at, id)
		return one(done, err, webhook.ErrNone)
	})
	return s.deliveryFailure("send a delivery again", err)
}

// deliveryFailure returns nil and the errors of webhook.Store unchanged. It turns any other error into an error for
// operators.
func (s *Store) deliveryFailure(doing string, err error) error {
	for _, is := range []error{webhook.ErrNone, webhook.ErrMoved} {
		if errors.Is(err, is) {
			return is
		}
	}
	if err == nil {
		return nil
	}
	return s.operatorError(doing, err)
}
