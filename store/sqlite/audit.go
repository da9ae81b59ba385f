package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/store/records"
)

// Append seals r onto the chain and returns when it is on the disk. Records that come while others are being written
// go together in the next transaction, so many callers share one sync of the disk.
func (s *Store) Append(ctx context.Context, r *audit.Record) error {
	err := s.appends.Append(ctx, r)
	if errors.Is(err, records.ErrClosed) {
		return s.failed("append to the audit log", err)
	}
	return err
}

// appendBatch writes records that belong to several callers; the busy timeout bounds the wait.
func (s *Store) appendBatch(batch []*audit.Record) error {
	ctx := context.Background()
	err := s.transact(ctx, func(tx *sql.Tx) error { return s.chain.appendRecords(ctx, tx, batch) })
	if err != nil {
		return s.failed("append to the audit log", err)
	}
	return nil
}

// A chain holds the statements of the audit writer. They are parsed once: every call waits for what they take.
type chain struct{ head, insert, move *sql.Stmt }

// prepare parses the statements of the audit writer. They are closed with the database.
func (c *chain) prepare(ctx context.Context, db *sql.DB) (err error) {
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{{&c.head, headSQL}, {&c.insert, `INSERT INTO audit (seq, prev, hash, body) VALUES (?, ?, ?, ?)`}, {&c.move, `UPDATE audit_head SET seq = ?, hash = ?`}} {
		if *p.into, err = db.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

// appendRecords seals the batch onto the head as it is in the file now: another process may have moved it.
func (c *chain) appendRecords(ctx context.Context, tx *sql.Tx, batch []*audit.Record) error {
	head, err := readHead(tx.StmtContext(ctx, c.head).QueryRowContext(ctx))
	if err != nil {
		return err
	}
	insert := tx.StmtContext(ctx, c.insert)
	prev, err := hex.DecodeString(head.Hash)
	if err != nil {
		return err
	}
	var body []byte
	for _, r := range batch {
		head = audit.Seal(head, r)
		hash, err := hex.DecodeString(head.Hash)
		if err != nil {
			return err
		}
		body = r.AppendCanonical(body[:0])
		if _, err := insert.ExecContext(ctx, head.Seq, prev, hash, string(body)); err != nil {
			return fmt.Errorf("record %d: %w", head.Seq, err)
		}
		prev = hash
	}
	_, err = tx.StmtContext(ctx, c.move).ExecContext(ctx, head.Seq, prev)
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

// Head returns the end of the chain as the file keeps it, apart from the records.
func (s *Store) Head(ctx context.Context) (audit.Head, error) {
	h, err := readHead(s.read.QueryRowContext(ctx, headSQL))
	if err != nil {
		return audit.Head{}, s.failed("read the audit log", err)
	}
	return h, nil
}

// Records walks forwards, a page at a time, and holds no lock while yield runs.
func (s *Store) Records(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	return records.Forwards(ctx, s.page(`SELECT seq, prev, hash, body FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?`), from, yield)
}

// Backwards walks backwards likewise.
func (s *Store) Backwards(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	return records.Backwards(ctx, s.page(`SELECT seq, prev, hash, body FROM audit WHERE seq <= ? ORDER BY seq DESC LIMIT ?`), from, yield)
}

func (s *Store) page(query string) records.Page {
	return func(ctx context.Context, from int64) ([]records.Row, error) {
		page, err := s.readPage(ctx, query, from)
		if err != nil {
			return nil, s.failed("read the audit log", err)
		}
		return page, nil
	}
}

func (s *Store) readPage(ctx context.Context, query string, from int64) ([]records.Row, error) {
	rows, err := s.read.QueryContext(ctx, query, from, records.PageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	page := make([]records.Row, 0, records.PageSize)
	for rows.Next() {
		var r records.Row
		if err := rows.Scan(&r.Seq, &r.Prev, &r.Hash, &r.Body); err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, rows.Err()
}
