package sqlite

import (
	"context"
	"database/sql"
	"os"
	"sync"
	"time"
)

// Times of Ping.
const (
	probeEvery = 2 * time.Second  // between tries to write, at least
	failsFor   = 10 * time.Second // how long a record that couldn't be appended counts, unless a later one could
)

// A probe is the last try to write, the last appended record, and the last fold of the journal.
type probe struct {
	mu                         sync.Mutex
	at, appendedAt             time.Time
	last, appendFail, foldFail error
}

// appended notes the outcome of an append. A full disk can have room for what Ping writes, and none for a record.
func (p *probe) appended(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.appendedAt, p.appendFail = time.Now(), err
}

// folded notes the outcome of a fold. Records that can't be folded are safe in the journal until that is full.
func (p *probe) folded(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.foldFail = err
}

// Ping returns nil if the file can be read and written. It writes a row as it is, at most every two seconds, and looks at how
// the last append and the last fold ended.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.there(); err != nil {
		return s.failed("write", err)
	}
	var n int
	if err := s.read.QueryRowContext(ctx, `SELECT 1 FROM token_version`).Scan(&n); err != nil {
		return s.failed("read", err)
	}
	p := &s.probe
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.at.IsZero() || now.Sub(p.at) >= probeEvery {
		ctx := context.WithoutCancel(ctx) // the outcome is kept for others
		p.at, p.last = now, s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE token_version SET version = version`)
			return err
		})
	}
	if p.appendFail != nil && time.Since(p.appendedAt) < failsFor {
		return s.failed("append to the audit log", p.appendFail)
	}
	if p.foldFail != nil {
		return s.failed("move records into the audit log", p.foldFail)
	}
	if p.last != nil {
		return s.failed("write", p.last)
	}
	return nil
}

// there returns an error if the file isn't the one that was opened. A file that was removed can still be written to, and
// all that was promised would be lost with it.
func (s *Store) there() error {
	if s.file == nil {
		return nil
	}
	now, err := os.Stat(s.path)
	if err != nil || !os.SameFile(now, s.file) {
		return errMoved
	}
	return nil
}
