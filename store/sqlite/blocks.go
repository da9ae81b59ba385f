package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// BlockSQL implements store.BlockStore.
func (s *Store) BlockSQL() store.ChangeQueries { return asking }

// Search passes the records of a period that may have some words to yield. See store.RecordQuery and store.LookBack.
func (s *Store) Search(ctx context.Context, period [2]time.Time, before int64, words map[string]string, yield func(*audit.Record) bool) error {
	return store.LookBack(ctx, s, store.RecordQuery{From: period[0], To: period[1], Before: before, Words: words}, yield)
}

// BlockNumbers implements store.BlockStore.
func (s *Store) BlockNumbers(ctx context.Context, of store.ChangeLookup) ([]int64, error) {
	out, err := column[int64](ctx, s.read, of)
	return out, s.changeFailure("read the summaries of the audit", err)
}

// Blocks implements store.BlockStore.
func (s *Store) Blocks(ctx context.Context, numbers []int64) (out []store.Block, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT number, body FROM audit_block WHERE number IN (`+store.JoinNumbers(numbers)+`)`)
	if err != nil {
		return nil, s.operatorError("read the summaries of the audit", err)
	}
	defer rows.Close()
	for rows.Next() {
		var b store.Block
		if err := rows.Scan(&b.Number, &b.Body); err != nil {
			return nil, s.operatorError("read the summaries of the audit", err)
		}
		out = append(out, b)
	}
	return out, s.changeFailure("read the summaries of the audit", rows.Err())
}

// AddBlock implements store.BlockStore.
func (s *Store) AddBlock(ctx context.Context, b store.Block, base audit.Head) error {
	err := s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if now, err := readHead(tx.QueryRowContext(ctx, baseSQL)); err != nil || now != base {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM audit_word WHERE block = ?`, b.Number); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO audit_block VALUES (?, ?, ?, ?, ?)`, b.Number, b.Hash, b.First, b.Last, b.Body); err != nil {
			return err
		}
		for _, w := range b.Words {
			if _, err := tx.ExecContext(ctx, `INSERT INTO audit_word VALUES (?, ?)`, w, b.Number); err != nil {
				return err
			}
		}
		for _, w := range b.Names {
			if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO audit_name VALUES (?)`, w); err != nil {
				return err
			}
		}
		return nil
	})
	return s.changeFailure("write the summaries of the audit", err)
}

// RecordsAt returns the records with the given numbers, in any order. It omits records that don't exist.
func (s *Store) RecordsAt(ctx context.Context, numbers []int64) (out []audit.Record, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT seq, prev, hash, body FROM audit WHERE seq IN (`+store.JoinNumbers(numbers)+`)`)
	if err != nil {
		return nil, s.operatorError("read the audit log", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r store.RecordRow
		if err := rows.Scan(&r.Seq, &r.Prev, &r.Hash, &r.Body); err != nil {
			return nil, s.operatorError("read the audit log", err)
		}
		one, err := r.Record()
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, s.changeFailure("read the audit log", rows.Err())
}
