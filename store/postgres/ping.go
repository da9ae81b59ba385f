package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// The least time between two tries of Ping to write: while the store takes records, and after it took none.
const (
	tryEvery  = 2 * time.Second
	tryFailed = 250 * time.Millisecond
)

// maxTry is the most bytes of a record that Ping tries to write.
const maxTry = 1 << 20

// A probe has the known facts about writing to the store: the last appended batch, and the last try.
type probe struct {
	trying sync.Mutex // held by the one Ping that tries

	mu    sync.Mutex
	at    time.Time // of the last record written, and of the last try
	fails error     // why the last append or try failed
	size  int       // of the last batch that failed
}

// noteAppend notes the outcome of an append of size bytes.
func (p *probe) noteAppend(err error, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails = err; err != nil {
		p.size = min(size, maxTry)
		return
	}
	p.at, p.size = time.Now(), 0
}

// noteTry notes the outcome of a try.
func (p *probe) noteTry(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at, p.fails = time.Now(), err; err == nil {
		p.size = 0
	}
}

// due returns how many bytes to try to write. ok is false if the last outcome is recent.
func (p *probe) due() (size int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := tryEvery
	if p.fails != nil {
		every = tryFailed
	}
	return p.size, p.at.IsZero() || time.Since(p.at) >= every
}

// failure returns why the store takes no records, or nil.
func (p *probe) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fails
}

// Ping returns nil if the database answers and takes records of the audit. An append that failed counts until one succeeds, or a try finds
// that one would. A try writes as much as the append that failed: a full disk may have room for less.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.writable(ctx); err != nil {
		return err
	}
	p := &s.probe
	p.trying.Lock()
	defer p.trying.Unlock()
	if size, ok := p.due(); ok {
		p.noteTry(s.again(context.WithoutCancel(ctx), "append to the audit log", func(ctx context.Context) error { // the outcome is kept for others
			_, err := s.pool.Exec(ctx, tryAppend(size))
			return err
		}))
	}
	if err := p.failure(); err != nil {
		return err
	}
	return s.lookBack(ctx)
}

// writable returns nil if the database answers and is not read-only.
func (s *Store) writable(ctx context.Context) error {
	return s.again(ctx, "write", func(ctx context.Context) error {
		var readOnly bool
		err := s.pool.QueryRow(ctx, `SELECT current_setting('transaction_read_only')::boolean`).Scan(&readOnly)
		if err == nil && readOnly {
			err = &pgconn.PgError{Code: "25006", Message: "the server takes no writes"}
		}
		return err
	})
}

// tryAppend returns a statement that appends a record of size bytes and takes it back. It is one statement, so that a process that stands
// still can't hold the head of the chain. The bytes are random, so that the database can't compress them.
func tryAppend(size int) string {
	text := make([]byte, size/2)
	rand.Read(text)
	return fmt.Sprintf(`DO $$
BEGIN
  PERFORM set_config('lock_timeout', '2s', true);
  BEGIN
    PERFORM bailiwick.append_audit(ARRAY['%s'], ARRAY['']);
    RAISE SQLSTATE 'BW000';
  EXCEPTION WHEN SQLSTATE 'BW000' THEN NULL;
  END;
END $$`, hex.EncodeToString(text))
}
