package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/bailiwick-dev/bailiwick/event"
)

// eventLife is how long an event is kept for processes that look seldom: they look five times a second.
const eventLife = time.Minute

// Notify tells all who listen in processes that have the file open.
func (s *Store) Notify(ctx context.Context, e event.Event) error {
	if err := e.Check(); err != nil {
		return err
	}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		at := now()
		if _, err := tx.ExecContext(ctx, `DELETE FROM event WHERE at < ?`, at.Add(-eventLife).UnixMicro()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO event (at, body) VALUES (?, ?)`, at.UnixMicro(), string(body))
		return err
	})
	if err != nil {
		return s.failed("tell of an event", err)
	}
	if s.read == s.write {
		s.events.Tell(e)
		return nil
	}
	select {
	case s.told <- struct{}{}:
	default: // the watcher is told already
	}
	return nil
}

// Listen hears what is told in any process that has the file open.
func (s *Store) Listen(ctx context.Context, hear func(event.Event)) error {
	return s.events.Listen(ctx, hear)
}

// tellEvents tells of the events behind the last one that the watcher has seen.
func (w *watcher) tellEvents(ctx context.Context, hub *event.Hub) error {
	var first, last sql.NullInt64
	if err := w.conn.QueryRowContext(ctx, `SELECT min(seq), max(seq) FROM event`).Scan(&first, &last); err != nil {
		return err
	}
	if w.heard < 0 { // what was told before this process began is none of its business
		w.heard = last.Int64
		return nil
	}
	if last.Int64 <= w.heard {
		return nil
	}
	if first.Int64 > w.heard+1 {
		hub.Tell(event.Missed)
	}
	rows, err := w.conn.QueryContext(ctx, `SELECT seq, body FROM event WHERE seq > ? ORDER BY seq`, w.heard)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var body string
		if err := rows.Scan(&w.heard, &body); err != nil {
			return err
		}
		var e event.Event
		if json.Unmarshal([]byte(body), &e) == nil { // what can't be read is of a newer version
			hub.Tell(e)
		}
	}
	return rows.Err()
}
