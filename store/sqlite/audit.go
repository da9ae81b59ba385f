package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// Append implements audit.Log. It returns after the record is on disk. Records that arrive during a write share the
// next write and disk sync.
func (s *Store) Append(ctx context.Context, r *audit.Record) error {
	err := s.appends.Append(ctx, r)
	if errors.Is(err, store.ErrClosed) {
		return s.operatorError("append to the audit log", err)
	}
	return err
}

// stepsLast is the time after a step in which records are written to the tables instead of the journal. Between the
// steps of a change there are other calls. With the journal, each of those calls would create a segment, which the
// next step would have to fold in a separate commit.
const stepsLast = 50 * time.Millisecond

// appendBatch writes the records of several callers into the journal. If the batch has steps, which also change the
// outbox, or if there were steps shortly before, it writes into the tables. The busy timeout limits the wait.
func (s *Store) appendBatch(batch []*audit.Record) (err error) {
	defer func() {
		if s.probe.noteAppend(err); err != nil {
			err = s.operatorError("append to the audit log", err)
		}
	}()
	if err := s.there(); err != nil {
		return err
	}
	if slices.ContainsFunc(batch, func(r *audit.Record) bool { return r.Step != "" }) {
		s.stepped.Store(time.Now().UnixNano())
	} else if s.journal != nil && time.Now().UnixNano() > s.stepped.Load()+int64(stepsLast) {
		if err := s.journal.Append(batch); !errors.Is(err, store.ErrDirect) {
			s.foldSoon()
			return err
		}
	}
	return s.wait(context.Background(), &part{logs: true, do: func(ctx context.Context, tx *sql.Tx) error { return appendRecords(ctx, tx, batch) }})
}

// stepping is like transact, for steps of changes. If log is true, the records of the steps are written to the tables
// of the audit. Records of other calls are then written to the tables for a while, too.
func (s *Store) stepping(ctx context.Context, log bool, do func(context.Context, *sql.Tx, tally) error) error {
	if log {
		s.stepped.Store(time.Now().UnixNano())
	}
	own := &part{logs: log}
	own.do = func(ctx context.Context, tx *sql.Tx) error { return do(ctx, tx, own.waiting) }
	return s.wait(ctx, own)
}

// Statements that append to the audit log.
const (
	insertSQL = `INSERT INTO audit (seq, prev, hash, body) VALUES (?, ?, ?, ?)`
	moveSQL   = `UPDATE audit_head SET seq = ?, hash = ?, moves = moves + 1`
	postedSQL = `DELETE FROM outbox WHERE step = ?`
)

// newRecord removes the step of r from the outbox, and reports whether the log lacks r. If the log lacks it, the
// caller must append r as record seq. Otherwise newRecord sets r to the log's record.
func newRecord(ctx context.Context, tx *sql.Tx, r *audit.Record, seq int64) (bool, error) {
	if r.Step == "" {
		return true, nil
	}
	if _, err := tx.ExecContext(ctx, postedSQL, r.Step); err != nil {
		return false, err
	}
	done, err := tx.ExecContext(ctx, `INSERT INTO audit_step (step, seq) VALUES (?, ?) ON CONFLICT DO NOTHING`, r.Step, seq)
	if err != nil {
		return false, err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return n == 1, err
	}
	*r, err = scanStep(tx.QueryRowContext(ctx, findSQL, r.Step))
	return false, err
}

// appendRecords seals the batch and appends it to the current head in the file. Another process may have moved the
// head.
func appendRecords(ctx context.Context, tx *sql.Tx, batch []*audit.Record) error {
	if len(batch) == 0 {
		return nil
	}
	head, err := readHead(tx.QueryRowContext(ctx, headSQL))
	if err != nil {
		return err
	}
	prev, err := hex.DecodeString(head.Hash)
	if err != nil {
		return err
	}
	var body []byte
	for _, r := range batch {
		if fresh, err := newRecord(ctx, tx, r, head.Seq+1); err != nil {
			return fmt.Errorf("the record of %s: %w", r.Step, err)
		} else if !fresh {
			continue
		}
		body, head = audit.AppendSealedRecord(body[:0], head, r)
		hash, err := hex.DecodeString(head.Hash)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, insertSQL, head.Seq, prev, hash, string(body)); err != nil {
			return fmt.Errorf("record %d: %w", head.Seq, err)
		}
		prev = hash
	}
	_, err = tx.ExecContext(ctx, moveSQL, head.Seq, prev)
	return err
}

const findSQL = `SELECT a.seq, a.prev, a.hash, a.body FROM audit_step AS s JOIN audit AS a ON a.seq = s.seq WHERE s.step = ?`

func scanStep(row *sql.Row) (audit.Record, error) {
	var r store.RecordRow
	if err := row.Scan(&r.Seq, &r.Prev, &r.Hash, &r.Body); err != nil {
		return audit.Record{}, err
	}
	return r.Record()
}

// Find implements audit.Reader.
func (s *Store) Find(ctx context.Context, step string) (audit.Record, bool, error) {
	// The journal never contains steps.
	r, err := scanStep(s.read.QueryRowContext(ctx, findSQL, step))
	if errors.Is(err, sql.ErrNoRows) {
		return audit.Record{}, false, nil
	}
	if err != nil {
		return audit.Record{}, false, s.operatorError("read the audit log", err)
	}
	return r, true, nil
}

const unrecordedSQL = `SELECT body FROM outbox WHERE change = ? ORDER BY id LIMIT ?`

// PendingRecords implements audit.Outbox.
func (s *Store) PendingRecords(ctx context.Context, subject string, limit int) ([]audit.Record, error) {
	ask := store.ChangeLookup{Text: unrecordedSQL, Args: []any{subject, limit}}
	if subject == "" {
		ask = store.ChangeLookup{Text: `SELECT body FROM outbox ORDER BY id LIMIT ?`, Args: []any{limit}}
	}
	bodies, err := column[string](ctx, s.read, ask)
	if err != nil {
		return nil, s.operatorError("read the outbox of the audit log", err)
	}
	return store.DecodeOutbox(bodies)
}

// RemoveSteps implements audit.Outbox. If this store is also the log, Append has already removed the records.
func (s *Store) RemoveSteps(ctx context.Context, steps ...string) error {
	for _, step := range steps {
		left, err := column[int](ctx, s.read, store.ChangeLookup{Text: `SELECT 1 FROM outbox WHERE step = ?`, Args: []any{step}})
		if err == nil && len(left) > 0 {
			err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, postedSQL, step)
				return err
			})
		}
		if err != nil {
			return s.operatorError("empty the outbox of the audit log", err)
		}
	}
	return nil
}

// post puts a record into the outbox, in the transaction that stores its step. The column change contains the
// subject.
func post(ctx context.Context, tx *sql.Tx, r *audit.Record) error {
	if r == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO outbox (step, change, body) VALUES (?, ?, ?)`, r.Step, r.Subject(), store.RecordBody(r))
	return err
}

const headSQL = `SELECT seq, hash FROM audit_head`

func readHead(row *sql.Row) (audit.Head, error) {
	var h audit.Head
	var hash []byte
	if err := row.Scan(&h.Seq, &hash); err != nil {
		return audit.Head{}, fmt.Errorf("the head of the audit log can't be read: %w", err)
	}
	h.Hash = hex.EncodeToString(hash)
	return h, nil
}

// Head implements audit.Reader.
func (s *Store) Head(ctx context.Context) (audit.Head, error) {
	rows, err := s.foldForRead(ctx)
	if err != nil {
		return audit.Head{}, s.operatorError("read the audit log", err)
	}
	if n := len(rows); n > 0 {
		return audit.Head{Seq: rows[n-1].Seq, Hash: hex.EncodeToString(rows[n-1].Hash)}, nil
	}
	h, err := readHead(s.read.QueryRowContext(ctx, headSQL))
	if err != nil {
		return audit.Head{}, s.operatorError("read the audit log", err)
	}
	return h, nil
}

// Records implements audit.Reader. It reads one page at a time and holds no lock while yield runs.
func (s *Store) Records(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	rest, err := s.foldForRead(ctx)
	if err != nil {
		return s.operatorError("read the audit log", err)
	}
	return store.ReadForwards(ctx, func(ctx context.Context, from int64) ([]store.RecordRow, error) {
		page, err := s.page(ctx, `SELECT seq, prev, hash, body FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?`, from)
		for _, r := range rest {
			if err == nil && len(page) < store.PageSize && r.Seq >= from && (len(page) == 0 || r.Seq > page[len(page)-1].Seq) {
				page = append(page, r)
			}
		}
		return page, err
	}, from, yield)
}

// Backwards implements audit.Reader, in the same way as Records.
func (s *Store) Backwards(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	rest, err := s.foldForRead(ctx)
	if err != nil {
		return s.operatorError("read the audit log", err)
	}
	return store.ReadBackwards(ctx, func(ctx context.Context, from int64) (page []store.RecordRow, err error) {
		for _, r := range slices.Backward(rest) {
			if len(page) < store.PageSize && r.Seq <= from {
				page, from = append(page, r), r.Seq-1
			}
		}
		if len(page) == store.PageSize {
			return page, nil
		}
		more, err := s.page(ctx, `SELECT seq, prev, hash, body FROM audit WHERE seq <= ? ORDER BY seq DESC LIMIT ?`, from)
		return append(page, more[:min(len(more), store.PageSize-len(page))]...), err
	}, from, yield)
}

func (s *Store) page(ctx context.Context, query string, from int64) ([]store.RecordRow, error) {
	page, err := s.readPage(ctx, query, from)
	if err != nil {
		return nil, s.operatorError("read the audit log", err)
	}
	return page, nil
}

// readPage returns at most store.PageSize rows of query, which begins at sequence number from.
func (s *Store) readPage(ctx context.Context, query string, from int64) ([]store.RecordRow, error) {
	rows, err := s.read.QueryContext(ctx, query, from, store.PageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	page := make([]store.RecordRow, 0, store.PageSize)
	for rows.Next() {
		var r store.RecordRow
		if err := rows.Scan(&r.Seq, &r.Prev, &r.Hash, &r.Body); err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, rows.Err()
}
