package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"sync"
	"time"
)

// checkpointAfter is how long after a record a checkpoint covers it, if not earlier.
const checkpointAfter = time.Minute

// A Signer is a Log that puts checkpoints between the records. Any number of processes may sign one log.
type Signer struct {
	log  Log
	key  ed25519.PrivateKey
	long bool

	mu     sync.Mutex
	last   Head        // the newest record of this process
	signed int64       // the Seq up to which a checkpoint covers the log, as far as this process knows
	timer  *time.Timer // a checkpoint is due then; nil for none
	soon   bool        // it is due at once
	closed bool

	signing sync.Mutex // held while a checkpoint is written
}

// NewSigner returns a Signer that appends to log, which reads from. A process that runs long signs all that is not
// signed yet, its own records and older ones, and what is left when it closes; another one does so when much is. The
// caller closes it.
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
	if _, damaged := errors.AsType[*Damage](err); err != nil && !damaged { // damage is for Verify to find
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

// note has a checkpoint written when it is due.
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

// due is called when time is up. A log that can't be written tells so by the calls that it can't record; the next of them
// that it can has a checkpoint again.
func (s *Signer) due() { _ = s.sign(context.Background()) }

// sign writes a checkpoint over the newest record.
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

// Close signs what is left, where the process runs long, or where that is much. The log stays open.
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
