package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"sync"
	"time"
)

// checkpointAfter is the maximum time until a checkpoint covers a record.
const checkpointAfter = time.Minute

// A Signer is a Log that adds signed checkpoints between the records. Several processes may sign one log.
type Signer struct {
	log  Log
	key  ed25519.PrivateKey
	long bool

	mu     sync.Mutex
	last   Head        // the newest record of this process
	signed int64       // the Seq up to which checkpoints cover the log, according to this process
	timer  *time.Timer // fires when a checkpoint is due, or nil
	soon   bool        // the checkpoint is due at once
	closed bool

	signing sync.Mutex // held while a checkpoint is written
}

// NewSigner returns a Signer that appends to log. from reads the same log. A long-running process (long) signs all
// unsigned records, including older ones, and signs the rest when it closes. Any other process only signs if at least
// 500 records are unsigned or one is a minute old. The caller closes the Signer.
func NewSigner(ctx context.Context, log Log, from Reader, key ed25519.PrivateKey, long bool) (*Signer, error) {
	s := &Signer{log: log, key: key, long: long}
	head, err := from.Head(ctx)
	if err != nil {
		return nil, err
	}
	s.signed = max(head.Seq-checkpointEvery, 0)
	n := 0
	err = from.Backwards(ctx, head.Seq, func(r Record) bool {
		if n++; r.Checkpoint == "" {
			return n < checkpointEvery
		}
		s.signed = r.Seq
		return false
	})
	if _, damaged := errors.AsType[*Damage](err); err != nil && !damaged { // Verify reports damage
		return nil, err
	}
	if long && head.Seq > s.signed {
		s.note(head)
	}
	return s, nil
}

// Append implements Log.
func (s *Signer) Append(ctx context.Context, r *Record) error {
	err := s.log.Append(ctx, r)
	if err == nil {
		s.note(Head{Seq: r.Seq, Hash: r.Hash})
	}
	return err
}

// note schedules a checkpoint after record h.
func (s *Signer) note(h Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.Seq > s.last.Seq {
		s.last = h
	}
	many := s.last.Seq-s.signed >= checkpointEvery
	switch {
	case s.closed || s.soon:
	case s.timer == nil && many:
		s.timer, s.soon = time.AfterFunc(0, s.due), true
	case s.timer == nil:
		s.timer = time.AfterFunc(checkpointAfter, s.due)
	case many:
		s.soon = true
		s.timer.Reset(0)
	}
}

// due is called by the timer. It ignores errors, because calls fail anyway if the log can't be written. The next
// successful call schedules a checkpoint again.
func (s *Signer) due() { _ = s.sign(context.Background()) }

// sign appends a checkpoint over the newest record.
func (s *Signer) sign(ctx context.Context) error {
	s.signing.Lock()
	defer s.signing.Unlock()
	s.mu.Lock()
	last, signed := s.last, s.signed
	s.timer, s.soon = nil, false
	s.mu.Unlock()
	if last.Seq <= signed {
		return nil
	}
	r := Record{Time: time.Now(), Principal: "gateway", Tool: CheckpointTool, Outcome: OK, Checkpoint: checkpoint(s.key, last)}
	if err := s.log.Append(ctx, &r); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signed = last.Seq
	return nil
}

// Close signs the remaining records if the process is long-running or at least 500 remain. The log stays open.
func (s *Signer) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.timer != nil {
		s.timer.Stop()
	}
	again := s.closed
	s.closed = true
	few := s.last.Seq-s.signed < checkpointEvery
	s.mu.Unlock()
	if again || few && !s.long {
		return nil
	}
	return s.sign(ctx)
}
