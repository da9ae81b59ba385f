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

// The minimum time between two attempts of Ping to write: while the store accepts records, and after it has failed.
const (
	tryEvery  = 2 * time.Second
	tryFailed = 250 * time.Millisecond
)

// maxTry is the maximum size in bytes of a record that Ping tries to write.
const maxTry = 1 << 20

// A probe contains the results of the last appended batch, and of the last attempt to write.
type probe struct {
	trying sync.Mutex // held by the Ping that makes an attempt

	mu    sync.Mutex
	at    time.Time // the time of the last written record or attempt
	fails error     // the reason why the last append or attempt failed
	size  int       // the size of the last failed batch
}

// noteAppend stores the result of an append of size bytes.
func (p *probe) noteAppend(err error, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails = err; err != nil {
		p.size = min(size, maxTry)
		return
	}
	p.at, p.size = time.Now(), 0
}

// noteTry stores the result of an attempt.
func (p *probe) noteTry(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at, p.fails = time.Now(), err; err == nil {
		p.size = 0
	}
}

// due returns the number of bytes to try to write. ok is false if the last result is recent.
func (p *probe) due() (size int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := tryEvery
	if p.fails != nil {
		every = tryFailed
	}
	return p.size, p.at.IsZero() || time.Since(p.at) >= every
}

// failure returns the reason why the store accepts no records, or nil.
func (p *probe) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fails
}

// Ping returns nil if the database answers and accepts records of the audit. A failed append counts until another
// append succeeds, or until an attempt shows that it would succeed. An attempt writes as much as the failed append,
// because a full disk may have room for less.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.writable(ctx); err != nil {
		return err
	}
	p := &s.probe
	p.trying.Lock()
	defer p.trying.Unlock()
	if size, ok := p.due(); ok {
		p.noteTry(s.again(context.WithoutCancel(ctx), "append to the audit log", func(ctx context.Context) error { // the result is kept for other callers
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

// tryAppend returns a statement that appends a record of size bytes and rolls it back. It is a single statement, so
// that a frozen process can't hold the head of the chain. The bytes are random, so that the database can't compress
// them.
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
