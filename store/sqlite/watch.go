package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// lookEvery is the interval of checks for writes by other processes. It is less than half of the time within which
// Await promises an event.
const lookEvery = 200 * time.Millisecond

// watch checks for writes by other processes until the store is closed. It retries after a failure. Meanwhile callers
// of Await keep waiting, and readers get their own errors.
func (s *Store) watch(ctx context.Context) {
	defer close(s.watched)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var w watcher
	defer w.close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := w.look(ctx, s); err != nil {
			w.close()
		}
	}
}

// A watcher has one connection. The connection's data version changes only by writes of other connections.
type watcher struct {
	conn    *sql.Conn
	version int64
}

// look wakes the callers of Await if another connection has written since the last call. PRAGMA data_version changes
// with each commit of another connection. Only then look reads the events.
func (w *watcher) look(ctx context.Context, s *Store) (err error) {
	if w.conn == nil {
		if w.conn, err = s.read.Conn(ctx); err != nil {
			return err
		}
		w.version = -1
	}
	var version int64
	if err := w.conn.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil {
		return err
	}
	if version == w.version {
		return nil
	}
	var seq int64
	if err := w.conn.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM change_event`).Scan(&seq); err != nil {
		return err
	}
	s.latest.Saw(seq)
	w.version = version
	return nil
}

func (w *watcher) close() {
	if w.conn != nil {
		w.conn.Close() // it was only used for reading
		w.conn = nil
	}
}
