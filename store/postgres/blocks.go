package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

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
func (s *Store) BlockNumbers(ctx context.Context, of store.ChangeLookup) (out []int64, err error) {
	err = s.again(ctx, "read the summaries of the audit", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, of.Text, of.Args...)
		if err != nil {
			return err
		}
		out, err = pgx.AppendRows([]int64(nil), rows, pgx.RowTo[int64])
		return err
	})
	return out, err
}

// Blocks implements store.BlockStore.
func (s *Store) Blocks(ctx context.Context, numbers []int64) (out []store.Block, err error) {
	err = s.again(ctx, "read the summaries of the audit", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT number, body FROM bailiwick.audit_block WHERE number = ANY ($1)`, numbers)
		if err != nil {
			return err
		}
		out = nil
		var b store.Block
		_, err = pgx.ForEachRow(rows, []any{&b.Number, &b.Body}, func() error {
			out = append(out, b)
			b.Body = nil
			return nil
		})
		return err
	})
	return out, err
}

// AddBlock implements store.BlockStore. It locks the base of the log, so that no archive takes the block's records.
func (s *Store) AddBlock(ctx context.Context, b store.Block, base audit.Head) error {
	return s.again(ctx, "write the summaries of the audit", func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if now, err := readBase(tx.QueryRow(ctx, baseSQL+` FOR SHARE`)); err != nil || now != base {
				return err
			}
			for _, ask := range []store.ChangeLookup{
				{Text: `INSERT INTO bailiwick.audit_block VALUES ($1, $2, $3, $4, $5) ON CONFLICT (number) DO UPDATE SET hash = $2, first = $3, last = $4, body = $5`,
					Args: []any{b.Number, b.Hash, b.First, b.Last, b.Body}},
				{Text: `DELETE FROM bailiwick.audit_word WHERE block = $1`, Args: []any{b.Number}},
				{Text: `INSERT INTO bailiwick.audit_word SELECT unnest($2::text[]), $1 ON CONFLICT DO NOTHING`, Args: []any{b.Number, b.Words}},
				{Text: `INSERT INTO bailiwick.audit_name SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, Args: []any{b.Names}},
			} {
				if _, err := tx.Exec(ctx, ask.Text, ask.Args...); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// RecordsAt returns the records with the given numbers, in any order. It omits records that don't exist.
func (s *Store) RecordsAt(ctx context.Context, numbers []int64) (out []audit.Record, err error) {
	err = s.again(ctx, "read the audit log", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT seq, prev, hash, body FROM bailiwick.audit WHERE seq = ANY ($1)`, numbers)
		if err != nil {
			return err
		}
		found, err := pgx.AppendRows([]store.RecordRow(nil), rows, pgx.RowToStructByPos[store.RecordRow])
		if err != nil {
			return err
		}
		out = make([]audit.Record, len(found))
		for i, r := range found {
			if out[i], err = r.Record(); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}
