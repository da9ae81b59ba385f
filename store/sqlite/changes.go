package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// asking is the SQL dialect of this store's statements about changes.
var asking = store.ChangeQueries{Contains: "instr", Least: "min", Empty: "x''", Bytes: func(s string) any { return s },
	Words: `json_each(c.search) AS p JOIN change_place AS l ON l.name = p.key JOIN json_each(p.value) AS e`}

// Now implements change.Store, with this machine's time. All processes that share the file run on it.
func (s *Store) Now(ctx context.Context) (time.Time, error) { return now(), ctx.Err() }

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// sameSQL names the index. Otherwise SQLite would use an index in the order of ids and read all pending changes of
// the agent.
const sameSQL = `SELECT body FROM change INDEXED BY change_same WHERE principal = ? AND source = ? AND digest = ? AND state = 'pending' AND expires > ? ORDER BY id LIMIT 1`

// Put implements change.Store. It creates the row before the transaction, because others wait for the transaction.
// The transaction decides whether there is room, and whether the previous version has expired.
func (s *Store) Put(ctx context.Context, c *change.Change, f change.Filing) (*change.Change, error) {
	r, old, err := store.NewChangeRow(c, now(), f)
	if err != nil {
		return nil, err
	}
	kept, err := s.recent.Of(r)
	if err != nil {
		return nil, err
	}
	var seq int64
	var same string
	err = s.stepping(ctx, f.Log, func(ctx context.Context, tx *sql.Tx, waiting tally) error {
		at := now()
		same = ""
		// If the same proposal is already pending, it is returned instead of a second one.
		err := tx.QueryRowContext(ctx, sameSQL, r.Principal, r.Source, r.Digest, at.UnixMicro()).Scan(&same)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := waiting.room(ctx, tx, r, f, at); err != nil {
			return err
		}
		if old != nil {
			clear(waiting)
			if _, err := swap(ctx, tx, old, change.Guard{Unexpired: true, Log: f.Log}, at); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE change_after SET other = ? WHERE other = ?`, r.ID, old.ID); err != nil {
				return err
			}
		}
		if err := insertChange(ctx, tx, r); err != nil {
			return err
		}
		seq, err = addSteps(ctx, tx, r, f.Log)
		return err
	})
	switch {
	case err != nil:
		return nil, s.changeFailure("file a change", err)
	case same != "":
		return s.recent.Read(same)
	}
	s.latest.Saw(seq)
	return kept, nil
}

// room returns an error if the account of r has no room for another change. Otherwise it counts r.
func (counted tally) room(ctx context.Context, tx *sql.Tx, r *store.ChangeRow, f change.Filing, at time.Time) error {
	replaced := ""
	if f.Replaces != nil {
		replaced = f.Replaces.ID
	}
	var err error
	// The indexes return an upper limit of each number. Usually that is enough, and no row is read.
	waiting, known := counted[r.Account]
	if !known {
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM change WHERE account = ? AND state = 'pending'`, r.Account).Scan(&waiting)
	}
	counted[r.Account] = waiting + 1
	var filed int
	if err == nil && waiting >= f.Most {
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM change WHERE account = ? AND state = 'pending' AND +expires > ? AND id <> ?`, r.Account, at.UnixMicro(), replaced).Scan(&waiting)
	}
	if err == nil && f.PerMinute > 0 {
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM change WHERE id > ? LIMIT +?)`, r.Since, f.PerMinute).Scan(&filed)
	}
	if err == nil && f.PerMinute > 0 && filed >= f.PerMinute {
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM change WHERE id > ? AND +account = ?`, r.Since, r.Account).Scan(&filed)
	}
	switch {
	case err != nil:
		return err
	case waiting >= f.Most:
		return change.ErrFull
	case f.PerMinute > 0 && filed >= f.PerMinute:
		return change.ErrFast
	}
	return nil
}

// insertChange inserts a change with its classes, and with the changes that it waits for.
func insertChange(ctx context.Context, tx *sql.Tx, r *store.ChangeRow) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO change (id, version, state, op, risk, digest, principal, owner, tenant, source, expires, lease, search, body, account, closed, leased)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, r.Version, r.State, r.Op, r.Risk, r.Digest, r.Principal, r.Owner, r.Tenant, r.Source,
		r.Expires.UnixMicro(), micros(r.Lease), r.Search, r.Body, r.Account, r.Closed, micros(r.Leased))
	if err != nil {
		return err
	}
	for _, other := range r.After {
		if _, err := tx.ExecContext(ctx, `INSERT INTO change_after VALUES (?, ?)`, r.ID, other); err != nil {
			return err
		}
	}
	return addClasses(ctx, tx, r)
}

func addClasses(ctx context.Context, tx *sql.Tx, r *store.ChangeRow) error {
	for _, class := range r.Classes {
		if _, err := tx.ExecContext(ctx, `INSERT INTO change_class (class, state, id) VALUES (?, ?, ?)`, class, r.State, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// addSteps stores the records of the steps of r, in the log or in the outbox, and their events. It returns the Seq of
// the last event. Writing transactions are serialized, so Seq is in commit order.
func addSteps(ctx context.Context, tx *sql.Tx, r *store.ChangeRow, log bool) (seq int64, err error) {
	if log {
		err = appendRecords(ctx, tx, r.Records)
	} else {
		for _, one := range r.Records {
			err = errors.Join(err, post(ctx, tx, one))
		}
	}
	for _, event := range r.Events {
		if err == nil {
			err = tx.QueryRowContext(ctx, `INSERT INTO change_event (change, body) VALUES (?, ?) RETURNING seq`, r.ID, event).Scan(&seq)
		}
	}
	return seq, err
}

// Get implements change.Store.
func (s *Store) Get(ctx context.Context, id string) (*change.Change, error) {
	var body string
	err := s.read.QueryRowContext(ctx, `SELECT body FROM change WHERE id = ?`, id).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, change.ErrNone
	}
	if err != nil {
		return nil, s.operatorError("read a change", err)
	}
	return s.recent.Read(body)
}

// GetOf implements change.Store. The index contains the id and the column, so the row is read only on a match.
func (s *Store) GetOf(ctx context.Context, id string, of change.Of) (*change.Change, error) {
	column, is, ok := store.ChangesOf(of)
	if !ok {
		return nil, change.ErrNone
	}
	var body string
	err := s.read.QueryRowContext(ctx, `SELECT body FROM change INDEXED BY change_id_`+column+` WHERE id = ? AND `+column+` = ?`, id, is).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, change.ErrNone
	}
	if err != nil {
		return nil, s.operatorError("read a change", err)
	}
	return s.recent.Read(body)
}

// List implements change.Store.
func (s *Store) List(ctx context.Context, f change.Filter) ([]*change.Change, bool, error) {
	known, err := s.lexicon(ctx, f)
	if err != nil {
		return nil, false, err
	}
	bodies, err := column[string](ctx, s.read, asking.List(f, known))
	if err != nil {
		return nil, false, s.operatorError("list the changes", err)
	}
	return s.recent.Page(bodies, f)
}

// Counts implements change.Store.
func (s *Store) Counts(ctx context.Context, f change.Filter) (all, mine map[change.State]int, err error) {
	known, err := s.lexicon(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	ask := asking.Counts(f, known)
	rows, err := s.read.QueryContext(ctx, ask.Text, ask.Args...)
	if err != nil {
		return nil, nil, s.operatorError("count the changes", err)
	}
	defer rows.Close()
	all, mine = map[change.State]int{}, map[change.State]int{}
	for rows.Next() {
		var n store.ChangeCount
		if err := rows.Scan(&n.State, &n.All, &n.Mine); err != nil {
			return nil, nil, s.operatorError("count the changes", err)
		}
		n.AddTo(all, mine)
	}
	return all, mine, s.changeFailure("count the changes", rows.Err())
}

// Waiting returns the number and the age of pending changes by source and risk.
func (s *Store) Waiting(ctx context.Context) (out []store.Waiting, err error) {
	rows, err := s.read.QueryContext(ctx, asking.Waiting())
	if err != nil {
		return nil, s.operatorError("count the pending changes", err)
	}
	defer rows.Close()
	for rows.Next() {
		var w store.Waiting
		var oldest string
		if err := rows.Scan(&w.Source, &w.Risk, &w.Changes, &oldest); err != nil {
			return nil, s.operatorError("count the pending changes", err)
		}
		w.Oldest = store.ProposalTime(oldest)
		out = append(out, w)
	}
	return out, s.changeFailure("count the pending changes", rows.Err())
}

// Swap implements change.Store.
func (s *Store) Swap(ctx context.Context, c *change.Change, g change.Guard) error {
	r, err := store.NextChangeRow(c, now(), g)
	if err != nil {
		return err
	}
	kept, err := s.recent.Of(r)
	if err != nil {
		return err
	}
	var seq int64
	err = s.stepping(ctx, g.Log, func(ctx context.Context, tx *sql.Tx, waiting tally) (err error) {
		clear(waiting)
		seq, err = swap(ctx, tx, r, g, now())
		return err
	})
	if err != nil {
		return s.changeFailure("change a change", err)
	}
	*c = *kept
	s.latest.Saw(seq)
	return nil
}

// swap replaces the stored change by r and returns the Seq of its event. The stored change must have the previous
// version, and g must hold at the time at.
func swap(ctx context.Context, tx *sql.Tx, r *store.ChangeRow, g change.Guard, at time.Time) (seq int64, err error) {
	var version, expires int64
	var lease, leased sql.NullInt64
	err = tx.QueryRowContext(ctx, `SELECT version, expires, lease, leased FROM change WHERE id = ?`, r.ID).Scan(&version, &expires, &lease, &leased)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, change.ErrNone
	case err != nil:
		return 0, err
	case version != r.Version-1, g.Expired && expires > at.UnixMicro(), g.Lapsed && lease.Int64 > at.UnixMicro() && leased.Int64 <= at.UnixMicro():
		return 0, change.ErrMoved
	case g.Unexpired && expires <= at.UnixMicro():
		return 0, change.ErrExpired
	}
	if g.Recorded {
		var left bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM outbox WHERE change = ?)`, r.ID).Scan(&left); err != nil {
			return 0, err
		} else if left {
			return 0, change.ErrUnrecorded
		}
	}
	if err := updateChange(ctx, tx, r); err != nil {
		return 0, err
	}
	return addSteps(ctx, tx, r, g.Log)
}

// updateChange replaces the previous version of a change by r. It fails if the previous version isn't stored. It also
// replaces the classes.
func updateChange(ctx context.Context, tx *sql.Tx, r *store.ChangeRow) error {
	res, err := tx.ExecContext(ctx, `UPDATE change SET version = ?, state = ?, op = ?, risk = ?, digest = ?, principal = ?, owner = ?, tenant = ?, source = ?,
		expires = ?, lease = ?, search = ?, body = ?, closed = ?, leased = ? WHERE id = ? AND version = ?`, r.Version, r.State, r.Op, r.Risk, r.Digest, r.Principal, r.Owner, r.Tenant, r.Source,
		r.Expires.UnixMicro(), micros(r.Lease), r.Search, r.Body, r.Closed, micros(r.Leased), r.ID, r.Version-1)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("%d changes were changed", n), err)
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM change_class WHERE id = ?`, r.ID); err != nil {
		return err
	}
	return addClasses(ctx, tx, r)
}

// Due implements change.Store.
func (s *Store) Due(ctx context.Context, limit int) ([]string, error) {
	ids, err := column[string](ctx, s.read, asking.Due(now().UnixMicro(), limit))
	return ids, s.changeFailure("look for changes that are due", err)
}

// Events implements change.Store.
func (s *Store) Events(ctx context.Context, after int64, limit int) (out []change.Event, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT seq, body FROM change_event WHERE seq > ? ORDER BY seq LIMIT ?`, after, limit)
	if err != nil {
		return nil, s.operatorError("read the events of changes", err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var body string
		if err := rows.Scan(&seq, &body); err != nil {
			return nil, s.operatorError("read the events of changes", err)
		}
		e, err := store.ReadEvent(seq, body)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, s.changeFailure("read the events of changes", rows.Err())
}

// LastEvent implements change.Store.
func (s *Store) LastEvent(ctx context.Context) (seq int64, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM change_event`).Scan(&seq)
	return seq, s.changeFailure("read the events of changes", err)
}

// Await implements change.Store. It includes events of all processes that have the file open.
func (s *Store) Await(ctx context.Context, after int64) error {
	seq, err := s.LastEvent(ctx)
	if err != nil {
		return err
	}
	s.latest.Saw(seq)
	return s.latest.Await(ctx, after)
}

// changeFailure returns nil and the errors of change.Store unchanged. It turns any other error into an error for
// operators.
func (s *Store) changeFailure(doing string, err error) error {
	for _, is := range []error{change.ErrNone, change.ErrMoved, change.ErrExpired, change.ErrFull, change.ErrFast, change.ErrUnrecorded} {
		if errors.Is(err, is) {
			return is
		}
	}
	if err == nil {
		return nil
	}
	return s.operatorError(doing, err)
}

// column returns the values that the query ask selects, one per row.
func column[T any](ctx context.Context, db *sql.DB, ask store.ChangeLookup) (out []T, err error) {
	rows, err := db.QueryContext(ctx, ask.Text, ask.Args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}
