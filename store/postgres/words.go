package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// lexicon returns what the store knows about the words that f searches for.
func (s *Store) lexicon(ctx context.Context, f change.Filter) (known store.Lexicon, err error) {
	if f.Text == "" {
		return known, nil
	}
	err = s.again(ctx, "weigh words", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT place, name FROM bailiwick.change_place`)
		if err != nil {
			return err
		}
		if known.Places, err = pgx.AppendRows([]store.Place(nil), rows, pgx.RowToStructByPos[store.Place]); err != nil {
			return err
		}
		known.Common = nil
		ask, ok := asking.Weigh(f, known.Places)
		if !ok {
			return nil
		}
		if rows, err = s.pool.Query(ctx, ask.Text, ask.Args...); err != nil {
			return err
		}
		var n int
		var common bool
		_, err = pgx.ForEachRow(rows, []any{&n, &common}, func() error { known.Common = append(known.Common, common); return nil })
		return err
	})
	return known, err
}

// fillWords stores the words of changes that an older program stored. It takes them in parts, so that other processes
// can write meanwhile.
func (s *Store) fillWords(ctx context.Context) error {
	for more := true; more; {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, `SELECT id, body FROM bailiwick.change WHERE left(search, 1) <> '{' ORDER BY id LIMIT 200 FOR UPDATE`)
			if err != nil {
				return err
			}
			old, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ ID, Body string }])
			if err != nil {
				return err
			}
			more = len(old) > 0
			for _, c := range old {
				if _, err := tx.Exec(ctx, `UPDATE bailiwick.change SET search = $2 WHERE id = $1`, c.ID, store.WordsOf(c.Body)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
