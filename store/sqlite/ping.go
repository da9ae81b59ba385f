package sqlite

import (
	"context"
	"database/sql"
	"os"
	"sync"
	"time"
)

// probeEvery is the minimum time between two attempts of Ping to write.
const probeEvery = 2 * time.Second

// A probe contains the results of the last attempt to write, of the last append, and of the last fold of the journal.
type probe struct {
	mu                         sync.Mutex
	at                         time.Time // the time of the last attempt
	last, appendFail, foldFail error
}

// noteAppend stores the result of an append. A full disk may have room for the write of Ping, but not for a record.
func (p *probe) noteAppend(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.appendFail = err
}

// noteFold stores the result of a fold. Records that can't be folded are safe in the journal until it is full.
func (p *probe) noteFold(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.foldFail = err
}

// Ping returns nil if the file can be read and written. It tries to write at most every two seconds. It also returns
// the errors of the last append and the last fold. A failed append counts until another append succeeds, or until an
// attempt shows that it would succeed.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.there(); err != nil {
		return s.operatorError("write", err)
	}
	var n int
	if err := s.read.QueryRowContext(ctx, `SELECT 1 FROM token_version`).Scan(&n); err != nil {
		return s.operatorError("read", err)
	}
	p := &s.probe
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.at.IsZero() || now.Sub(p.at) >= probeEvery {
		p.at, p.last = now, s.transact(context.WithoutCancel(ctx), tryWrite) // the result is kept for other callers
		if p.appendFail != nil && p.last == nil && s.journal != nil {
			p.appendFail = s.journal.Try()
		} else if p.appendFail != nil {
			p.appendFail = p.last
		}
	}
	if p.appendFail != nil {
		return s.operatorError("append to the audit log", p.appendFail)
	}
	if p.foldFail != nil {
		return s.operatorError("move records into the audit log", p.foldFail)
	}
	if p.last != nil {
		return s.operatorError("write", p.last)
	}
	return nil
}

// tryWrite writes a row without changing it, and inserts a record that it rolls back.
func tryWrite(ctx context.Context, tx *sql.Tx) error {
	for _, statement := range []string{`UPDATE token_version SET version = version`, `SAVEPOINT try`,
		`INSERT INTO audit (seq, prev, hash, body) SELECT seq + 1, hash, zeroblob(32), '{}' FROM audit_head`, `ROLLBACK TO try`, `RELEASE try`} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// there returns an error if the file at the path isn't the file that was opened. A removed file can still be written
// to, but these writes would be lost.
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
