package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// The database may be restored, or replaced by a standby with fewer records, while this process uses it. Then its
// chain is undamaged, but lacks promised records. A process that has appended one of them detects the loss, and
// records it in the chain (see audit.LossOf).

// last contains the last record that this process appended.
type last struct {
	mu     sync.Mutex
	head   audit.Head // the zero Head if there is none
	gone   bool       // Ping did not find the record
	notice func(gone audit.Head)
}

func (l *last) set(h audit.Head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head, l.gone = h, false
}

// lostHead returns the last record, and true if the chain that ended at before can't contain it.
func (l *last) lostHead(before audit.Head) (audit.Head, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	back := before.Seq < l.head.Seq || before.Seq == l.head.Seq && before != l.head
	return l.head, l.gone || back
}

func (l *last) get() audit.Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head
}

// miss marks h as lost, if it is still the last record.
func (l *last) miss(h audit.Head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = l.head == h
}

func (l *last) tell(gone audit.Head) {
	l.mu.Lock()
	notice := l.notice
	l.mu.Unlock()
	if notice != nil {
		notice(gone)
	}
}

// OnLoss sets f to be called if a record that this process had appended is no longer in the database. f is called
// after the audit contains the loss.
func (s *Store) OnLoss(f func(gone audit.Head)) {
	s.last.mu.Lock()
	defer s.last.mu.Unlock()
	s.last.notice = f
}

// lookBack searches for the last record that this process appended. The number of records can't show the loss,
// because other processes may have appended since.
func (s *Store) lookBack(ctx context.Context) error {
	h := s.last.get()
	if h.Seq == 0 {
		return nil
	}
	return s.again(ctx, "read the audit log", func(ctx context.Context) error {
		var hash []byte
		var both pgx.Batch // one transaction
		both.Queue(`SELECT set_config('lock_timeout', '2s', true)`)
		both.Queue(`SELECT hash FROM bailiwick.audit WHERE seq = $1`, h.Seq).QueryRow(func(row pgx.Row) error { return row.Scan(&hash) })
		err := s.pool.SendBatch(ctx, &both).Close()
		if errors.Is(err, pgx.ErrNoRows) {
			base, err := readBase(s.pool.QueryRow(ctx, baseSQL))
			if err == nil && base.Seq < h.Seq { // the record is not in an archive
				s.last.miss(h)
			}
			return err
		}
		if err == nil && hex.EncodeToString(hash) != h.Hash {
			s.last.miss(h)
		}
		return err
	})
}
