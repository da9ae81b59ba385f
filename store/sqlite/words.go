package sqlite

import (
	"context"
	"database/sql"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// lexicon returns what the store knows about the words that f searches for.
func (s *Store) lexicon(ctx context.Context, f change.Filter) (known store.Lexicon, err error) {
	if f.Text == "" {
		return known, nil
	}
	places, err := s.read.QueryContext(ctx, `SELECT place, name FROM change_place`)
	if err != nil {
		return known, s.operatorError("read the places of words", err)
	}
	defer places.Close()
	for places.Next() {
		var p store.Place
		if err := places.Scan(&p.Number, &p.Name); err != nil {
			return known, s.operatorError("read the places of words", err)
		}
		known.Places = append(known.Places, p)
	}
	if err := places.Err(); err != nil {
		return known, s.operatorError("read the places of words", err)
	}
	ask, ok := asking.Weigh(f, known.Places)
	if !ok {
		return known, nil
	}
	rows, err := s.read.QueryContext(ctx, ask.Text, ask.Args...)
	if err != nil {
		return known, s.operatorError("weigh words", err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var common bool
		if err := rows.Scan(&n, &common); err != nil {
			return known, s.operatorError("weigh words", err)
		}
		known.Common = append(known.Common, common)
	}
	return known, s.changeFailure("weigh words", rows.Err())
}

// fillWords stores the words of changes that an older program stored. It takes them in parts, so that other processes
// can write meanwhile.
func (s *Store) fillWords(ctx context.Context) error {
	for {
		ids, err := column[string](ctx, s.write, store.ChangeLookup{Text: `SELECT id FROM change INDEXED BY change_wordless WHERE substr(search, 1, 1) <> '{' LIMIT 200`})
		if err != nil || len(ids) == 0 {
			return err
		}
		err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
			for _, id := range ids {
				var body string
				if err := tx.QueryRowContext(ctx, `SELECT body FROM change WHERE id = ?`, id).Scan(&body); err != nil {
					return err
				}
				if _, err := tx.ExecContext(ctx, `UPDATE change SET search = ? WHERE id = ?`, store.WordsOf(body), id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}
