package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/audit"
)

const (
	mostAtOnce = 512 // records in one transaction
	pageSize   = 500 // records read at once
)

var errClosed = errors.New("the store is closed")

// waiting is a record on its way to the disk.
type waiting struct {
	record audit.Record
	done   chan error // gets one answer
}

// Append seals r onto the chain and returns when it is on the disk. Records that come while others are being written
// go together in the next transaction, so many callers share one sync of the disk.
func (s *Store) Append(ctx context.Context, r *audit.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.shut.Load() {
		return s.failed("append to the audit log", errClosed)
	}
	w := &waiting{record: r.Copy(), done: make(chan error, 1)} // the caller may go on with r before the writer is done
	select {
	case s.appends <- w:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return s.failed("append to the audit log", errClosed)
	}
	var err error
	select {
	case err = <-w.done:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		select {
		case err = <-w.done:
		default:
			err = s.failed("append to the audit log", errClosed)
		}
	}
	if err == nil {
		*r = w.record
	}
	return err
}

// appendAll is the audit writer: one transaction after another, each with all records that wait.
func (s *Store) appendAll() {
	defer close(s.closed)
	for {
		select {
		case w := <-s.appends:
			s.appendBatch(w)
		case <-s.closing:
			for {
				select {
				case w := <-s.appends:
					s.appendBatch(w)
				default:
					return
				}
			}
		}
	}
}

// appendBatch writes first and what waits behind it, and answers them all.
func (s *Store) appendBatch(first *waiting) {
	batch := []*waiting{first}
gather:
	for len(batch) < mostAtOnce {
		select {
		case w := <-s.appends:
			batch = append(batch, w)
		default:
			break gather
		}
	}
	ctx := context.Background() // the records belong to several callers; the busy timeout bounds the wait
	err := s.transact(ctx, func(tx *sql.Tx) error { return s.chain.appendRecords(ctx, tx, batch) })
	if err != nil {
		err = s.failed("append to the audit log", err)
	}
	for _, w := range batch {
		w.done <- err
	}
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
func (c *chain) appendRecords(ctx context.Context, tx *sql.Tx, batch []*waiting) error {
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
	for _, w := range batch {
		head = audit.Seal(head, &w.record)
		hash, err := hex.DecodeString(head.Hash)
		if err != nil {
			return err
		}
		body = w.record.AppendCanonical(body[:0])
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
	return s.walk(ctx, walkForwards, from, yield)
}

// Backwards walks backwards likewise.
func (s *Store) Backwards(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	return s.walk(ctx, walkBackwards, from, yield)
}

// The two ways to walk: what to read, and where the page behind the one that ends with seq begins.
var (
	walkForwards  = walkWay{`SELECT seq, prev, hash, body FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?`, +1, audit.Last}
	walkBackwards = walkWay{`SELECT seq, prev, hash, body FROM audit WHERE seq <= ? ORDER BY seq DESC LIMIT ?`, -1, audit.First}
)

type walkWay struct {
	sql  string
	step int64
	end  int64 // nothing lies beyond it
}

// A row is a record as stored.
type row struct {
	seq              int64
	prev, hash, body []byte
}

func (s *Store) walk(ctx context.Context, way walkWay, from int64, yield func(audit.Record) bool) error {
	for {
		page, err := s.page(ctx, way.sql, from)
		if err != nil {
			return s.failed("read the audit log", err)
		}
		for _, r := range page {
			record, err := audit.Parse(r.body)
			if err != nil {
				return &audit.Damage{Seq: r.seq, Last: r.seq, Kind: audit.Altered, Detail: "its text is not what a record's is"}
			}
			record.Prev, record.Hash = hex.EncodeToString(r.prev), hex.EncodeToString(r.hash)
			if !yield(record) {
				return nil
			}
		}
		if len(page) < pageSize || page[len(page)-1].seq == way.end {
			return nil
		}
		from = page[len(page)-1].seq + way.step
	}
}

func (s *Store) page(ctx context.Context, query string, from int64) ([]row, error) {
	rows, err := s.read.QueryContext(ctx, query, from, pageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	page := make([]row, 0, pageSize)
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.seq, &r.prev, &r.hash, &r.body); err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, rows.Err()
}
