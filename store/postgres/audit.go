package postgres

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// Append implements audit.Log for the chain that all replicas share. It returns after the record is committed.
// Records that arrive during a write share the next statement and commit.
func (s *Store) Append(ctx context.Context, r *audit.Record) error {
	err := s.appends.Append(ctx, r)
	if errors.Is(err, store.ErrClosed) {
		return s.operatorError("append to the audit log", err)
	}
	return err
}

// unnumbered is the beginning of the canonical form of a record without a place in the chain.
var unnumbered = []byte(`{"seq":0`)

// appendBatch writes the records of several callers. If a loss is known, it then writes the record of the loss. Only
// one goroutine calls it.
func (s *Store) appendBatch(batch []*audit.Record) error {
	before, after, err := s.write(batch)
	if err != nil {
		return err
	}
	if gone, ok := s.last.lostHead(before); ok {
		loss := audit.LossOf(gone)
		if _, after, err = s.write([]*audit.Record{&loss}); err != nil {
			return nil // the batch is written, and the loss will be recorded with the next batch
		}
		s.last.tell(gone)
	}
	s.last.set(after)
	return nil
}

// write appends a batch and returns the ends of the chain before and after the batch. It doesn't retry after a lost
// connection, since the records may already have been written.
func (s *Store) write(batch []*audit.Record) (before, after audit.Head, err error) {
	size := 0
	bodies, steps := make([]string, len(batch)), make([]string, len(batch))
	for i, r := range batch {
		audit.Seal(audit.Head{Seq: -1}, r)
		body, ok := bytes.CutPrefix(r.AppendCanonical(nil), unnumbered)
		if !ok {
			return before, after, fmt.Errorf("append to the audit log: a record begins with %.20q", body)
		}
		bodies[i], steps[i] = string(body), r.Step
		size += len(body)
	}
	err = s.try(context.Background(), "append to the audit log", func(ctx context.Context) error {
		var prev, hash []byte
		var seq int64
		var there []bool
		if err := s.pool.QueryRow(ctx, `SELECT * FROM bailiwick.append_audit($1, $2)`, bodies, steps).Scan(&prev, &seq, &hash, &there); err != nil {
			return err
		}
		head := audit.Head{Seq: seq, Hash: hex.EncodeToString(prev)}
		for _, known := range there {
			if !known {
				head.Seq--
			}
		}
		before = head
		for i, r := range batch {
			if !there[i] {
				head = audit.Seal(head, r)
			} else if err := s.find(ctx, r.Step, r); err != nil {
				return err
			}
		}
		if head.Hash != hex.EncodeToString(hash) {
			return fmt.Errorf("record %d was sealed as another one than was given", seq)
		}
		after = head
		return nil
	})
	s.probe.noteAppend(err, size)
	return before, after, err
}

// find reads the record of a step into r.
func (s *Store) find(ctx context.Context, step string, r *audit.Record) error {
	rows, err := s.pool.Query(ctx, `SELECT a.seq, a.prev, a.hash, a.body FROM bailiwick.audit_step AS s JOIN bailiwick.audit AS a ON a.seq = s.seq WHERE s.step = $1`, step)
	if err != nil {
		return err
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[store.RecordRow])
	if err != nil {
		return err
	}
	*r, err = row.Record()
	return err
}

// Find implements audit.Reader.
func (s *Store) Find(ctx context.Context, step string) (r audit.Record, ok bool, err error) {
	if !text(step) {
		return r, false, nil
	}
	err = s.again(ctx, "read the audit log", func(ctx context.Context) error {
		err := s.find(ctx, step, &r)
		if ok = err == nil; errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return r, ok, err
}

// PendingRecords implements audit.Outbox.
func (s *Store) PendingRecords(ctx context.Context, subject string, limit int) ([]audit.Record, error) {
	if !text(subject) {
		return nil, nil
	}
	ask := store.ChangeLookup{Text: `SELECT body FROM bailiwick.outbox WHERE change = $1 ORDER BY id LIMIT $2`, Args: []any{subject, limit}}
	if subject == "" {
		ask = store.ChangeLookup{Text: `SELECT body FROM bailiwick.outbox ORDER BY id LIMIT $1`, Args: []any{limit}}
	}
	bodies, err := column(ctx, s, "read the outbox of the audit log", ask)
	if err != nil {
		return nil, err
	}
	return store.DecodeOutbox(bodies)
}

// RemoveSteps implements audit.Outbox. If this store is also the log, Append has already removed the records.
func (s *Store) RemoveSteps(ctx context.Context, steps ...string) error {
	return s.again(ctx, "empty the outbox of the audit log", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `DELETE FROM bailiwick.outbox WHERE step = ANY ($1)`, steps)
		return err
	})
}

// Head implements audit.Reader.
func (s *Store) Head(ctx context.Context) (h audit.Head, err error) {
	err = s.again(ctx, "read the audit log", func(ctx context.Context) error {
		var hash []byte
		if err := s.pool.QueryRow(ctx, `SELECT seq, hash FROM bailiwick.audit_head`).Scan(&h.Seq, &hash); err != nil {
			return fmt.Errorf("the head of the audit log can't be read: %w", err)
		}
		h.Hash = hex.EncodeToString(hash)
		return nil
	})
	return h, err
}

// Records implements audit.Reader. It reads one page at a time and holds no connection while yield runs.
func (s *Store) Records(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	return store.ReadForwards(ctx, s.page(`SELECT seq, prev, hash, body FROM bailiwick.audit WHERE seq >= $1 ORDER BY seq LIMIT $2`), from, yield)
}

// Backwards implements audit.Reader, in the same way as Records.
func (s *Store) Backwards(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	return store.ReadBackwards(ctx, s.page(`SELECT seq, prev, hash, body FROM bailiwick.audit WHERE seq <= $1 ORDER BY seq DESC LIMIT $2`), from, yield)
}

// page returns the reader of pages of query. It retries if the connection is lost.
func (s *Store) page(query string) store.RecordPage {
	return func(ctx context.Context, from int64) (page []store.RecordRow, err error) {
		err = s.again(ctx, "read the audit log", func(ctx context.Context) error {
			rows, err := s.pool.Query(ctx, query, from, store.PageSize)
			if err != nil {
				return err
			}
			page, err = pgx.AppendRows(make([]store.RecordRow, 0, store.PageSize), rows, pgx.RowToStructByPos[store.RecordRow])
			return err
		})
		return page, err
	}
}
