package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// mostParts is the maximum number of transactions that share a commit.
const mostParts = 64

// A part is one caller's transaction.
type part struct {
	fair.Turn
	ctx     context.Context //nolint:containedctx // without cancellation
	do      func(context.Context, *sql.Tx) error
	logs    bool  // whether do appends to the tables of the audit. Meanwhile the journal must be empty
	waiting tally // of the transaction in which do runs
}

// A tally contains the number of pending changes by account, as counted in one transaction, including those that it
// has filed. Other writers wait meanwhile. So further changes in the same transaction need no new count.
type tally map[string]int

// transact runs do in a transaction that holds the write lock from its start. It may run do twice if the first run is
// rolled back. The context of do isn't cancelled, because SQLite would roll back all parts of the transaction. If ctx
// ends before the transaction has begun, do doesn't run.
func (s *Store) transact(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	return s.wait(ctx, &part{do: do})
}

// wait implements transact for a part with its do and logs.
func (s *Store) wait(ctx context.Context, own *part) error {
	if err := errors.Join(ctx.Err(), s.there()); err != nil {
		return err
	}
	own.ctx = context.WithoutCancel(ctx)
	_, err := s.group.Do(ctx, own)
	return err
}

// logging is like together, but folds and locks the journal if any of the parts appends to the tables of the audit.
// In every process, this lock comes before the lock of the file. If the lock fails, those parts end with its error,
// and only the others run.
func (s *Store) logging(parts []*part) {
	logs := func(p *part) bool { return p.logs }
	if s.journal == nil || !slices.ContainsFunc(parts, logs) {
		s.together(parts)
		return
	}
	begun := false
	err := s.journal.Exclusive(func() error {
		begun = true
		s.together(parts)
		return nil
	})
	if begun {
		return
	}
	for _, p := range parts {
		if p.logs {
			p.End(err)
		}
	}
	s.together(slices.DeleteFunc(parts, logs))
}

// together runs parts in one transaction. If one of them makes that impossible, each runs in a separate transaction.
// After a failed commit, or a timeout for a lock of the database, no part runs again, because each would wait as
// long.
func (s *Store) together(parts []*part) {
	if len(parts) > 1 {
		results := make([]error, len(parts))
		waiting := tally{}
		for _, p := range parts {
			p.waiting = waiting
		}
		final, err := s.once(parts[0].ctx, func(tx *sql.Tx) error { return each(tx, parts, results) })
		if final {
			for i, p := range parts {
				p.End(cmp.Or(err, results[i]))
			}
			return
		}
	}
	for _, p := range parts {
		p.waiting = tally{}
		_, err := s.once(p.ctx, p.run)
		p.End(err)
	}
}

// each runs every part in a savepoint, and rolls back the parts that fail. It stores their errors in results. It
// fails if the transaction can't continue.
func each(tx *sql.Tx, parts []*part, results []error) error {
	for i, p := range parts {
		if _, err := tx.ExecContext(p.ctx, `SAVEPOINT part`); err != nil {
			return err
		}
		if results[i] = p.run(tx); results[i] != nil {
			clear(p.waiting)
			if _, err := tx.ExecContext(p.ctx, `ROLLBACK TO part`); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(p.ctx, `RELEASE part`); err != nil {
			return err
		}
	}
	return nil
}

// run calls do. It returns a panic as an error, since the goroutine may belong to another caller.
func (p *part) run(tx *sql.Tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = problem.PanicError(r)
		}
	}()
	return p.do(p.ctx, tx)
}

// once runs do in a separate transaction. final reports whether the transaction didn't begin, or reached the commit.
func (s *Store) once(ctx context.Context, do func(*sql.Tx) error) (final bool, err error) {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return true, err
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return false, err
	}
	return true, tx.Commit()
}
