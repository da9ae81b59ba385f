package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// asking is the SQL dialect of this store's statements about changes.
var asking = store.ChangeQueries{Schema: "bailiwick.", Contains: "strpos", Least: "least", Empty: "''::bytea", Numbered: true, Bytes: func(s string) any { return []byte(s) },
	Words: `jsonb_each(c.search::jsonb) AS p JOIN bailiwick.change_place AS l ON l.name = p.key
		CROSS JOIN LATERAL (SELECT v COLLATE "C" AS value FROM jsonb_array_elements_text(p.value) AS j (v)) AS e`}

// Now implements change.Store, with the database's time.
func (s *Store) Now(ctx context.Context) (at time.Time, err error) {
	err = s.again(ctx, "read the clock", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at)
	})
	return at.UTC(), err
}

// rowAt returns the SQL of a change as 17 arguments from $from on. Four more arguments follow: its classes, its
// events, its steps with an audit record, and these records.
func rowAt(from int) string {
	var out strings.Builder
	for i, kind := range []string{"text", "bigint", "text", "text", "text", "text", "bytea", "bytea", "bytea", "bytea", "timestamptz", "timestamptz", "text", "text", "bytea", "text", "timestamptz"} {
		fmt.Fprintf(&out, ", $%d::%s", from+i, kind)
	}
	return fmt.Sprintf("ROW(%s)::bailiwick.change, $%d::bytea[], $%d, $%d, $%d", out.String()[2:], from+17, from+18, from+19, from+20)
}

// rowSize is the number of arguments of rowAt.
const rowSize = 21

// rowArgs returns the rowSize arguments of a row. For nil it returns nulls, and the statement writes no row. Texts
// that may contain any bytes are bytea.
func rowArgs(r *store.ChangeRow) []any {
	if r == nil {
		return make([]any, rowSize)
	}
	classes := make([][]byte, len(r.Classes))
	for i, class := range r.Classes {
		classes[i] = []byte(class)
	}
	steps, entries := make([]string, len(r.Records)), make([]string, len(r.Records))
	for i, one := range r.Records {
		steps[i], entries[i] = one.Step, store.RecordBody(one)
	}
	return []any{r.ID, r.Version, r.State, r.Op, r.Risk, r.Digest, []byte(r.Principal), []byte(r.Owner), []byte(r.Tenant), []byte(r.Source),
		r.Expires, instant(r.Lease), r.Search, r.Body, []byte(r.Account), r.Closed, instant(r.Leased), classes, r.Events, steps, entries}
}

// Put implements change.Store. A single statement decides, so a delay of the process doesn't matter.
func (s *Store) Put(ctx context.Context, c *change.Change, f change.Filing) (kept *change.Change, err error) {
	at, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	r, old, err := store.NewChangeRow(c, at, f)
	if err != nil {
		return nil, err
	}
	args := slices.Concat(rowArgs(r), rowArgs(old), []any{f.Most, r.Since, f.PerMinute, r.After, f.Log})
	err = s.try(ctx, "file a change", func(ctx context.Context) error {
		var outcome string
		var body *string
		err := s.pool.QueryRow(ctx, `SELECT * FROM bailiwick.put_change(`+rowAt(1)+`, `+rowAt(1+rowSize)+`, $43, $44, $45, $46, $47)`, args...).Scan(&outcome, &body)
		switch {
		case err != nil:
			return err
		case outcome == "kept":
			kept, err = s.recent.Of(r)
		case outcome == "same" && body != nil:
			kept, err = s.recent.Read(*body)
		default:
			err = outcomeOf(outcome)
		}
		return err
	})
	return kept, err
}

// outcomeOf returns the error for the outcome that a function of the schema returns.
func outcomeOf(outcome string) error {
	err, ok := map[string]error{"full": change.ErrFull, "fast": change.ErrFast, "none": change.ErrNone, "moved": change.ErrMoved, "expired": change.ErrExpired,
		"unrecorded": change.ErrUnrecorded}[outcome]
	if !ok {
		return fmt.Errorf("an outcome %q", outcome)
	}
	return err
}

// Swap implements change.Store. A single statement decides, as in Put.
func (s *Store) Swap(ctx context.Context, c *change.Change, g change.Guard) error {
	at, err := s.Now(ctx)
	if err != nil {
		return err
	}
	r, err := store.NextChangeRow(c, at, g)
	if err != nil {
		return err
	}
	kept, err := s.recent.Of(r)
	if err != nil {
		return err
	}
	return s.try(ctx, "change a change", func(ctx context.Context) error {
		var outcome string
		err := s.pool.QueryRow(ctx, `SELECT bailiwick.swap_change(`+rowAt(1)+`, $22, $23, $24, $25, $26)`, append(rowArgs(r), g.Unexpired, g.Expired, g.Lapsed, g.Recorded, g.Log)...).Scan(&outcome)
		if err != nil {
			return err
		}
		if outcome != "kept" {
			return outcomeOf(outcome)
		}
		*c = *kept
		return nil
	})
}

// Get implements change.Store.
func (s *Store) Get(ctx context.Context, id string) (*change.Change, error) {
	return s.one(ctx, id, `SELECT body FROM bailiwick.change WHERE id = $1`)
}

// GetOf implements change.Store. The index covers the id and the column together, so the database reads no other
// owner's row.
func (s *Store) GetOf(ctx context.Context, id string, of change.Of) (*change.Change, error) {
	column, is, ok := store.ChangesOf(of)
	if !ok {
		return nil, change.ErrNone
	}
	return s.one(ctx, id+" "+hex.EncodeToString([]byte(is)), `SELECT body FROM bailiwick.change WHERE id || ' ' || encode(`+column+`, 'hex') = $1`)
}

// one returns the change whose body the query ask selects for a key.
func (s *Store) one(ctx context.Context, key, ask string) (c *change.Change, err error) {
	if !text(key) {
		return nil, change.ErrNone
	}
	err = s.again(ctx, "read a change", func(ctx context.Context) error {
		var body string
		err := s.pool.QueryRow(ctx, ask, key).Scan(&body)
		if errors.Is(err, pgx.ErrNoRows) {
			return change.ErrNone
		}
		if err != nil {
			return err
		}
		c, err = s.recent.Read(body)
		return err
	})
	return c, err
}

// List implements change.Store.
func (s *Store) List(ctx context.Context, f change.Filter) ([]*change.Change, bool, error) {
	known, err := s.lexicon(ctx, f)
	if err != nil {
		return nil, false, err
	}
	bodies, err := column(ctx, s, "list the changes", asking.List(f, known))
	if err != nil {
		return nil, false, err
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
	err = s.again(ctx, "count the changes", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, ask.Text, ask.Args...)
		if err != nil {
			return err
		}
		all, mine = map[change.State]int{}, map[change.State]int{}
		var n store.ChangeCount
		_, err = pgx.ForEachRow(rows, []any{&n.State, &n.All, &n.Mine}, func() error { n.AddTo(all, mine); return nil })
		return err
	})
	return all, mine, err
}

// Waiting returns the number and the age of pending changes by source and risk.
func (s *Store) Waiting(ctx context.Context) (out []store.Waiting, err error) {
	err = s.again(ctx, "count the pending changes", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, asking.Waiting())
		if err != nil {
			return err
		}
		out = nil
		var from []byte
		var w store.Waiting
		var oldest string
		_, err = pgx.ForEachRow(rows, []any{&from, &w.Risk, &w.Changes, &oldest}, func() error {
			w.Source, w.Oldest = string(from), store.ProposalTime(oldest)
			out = append(out, w)
			return nil
		})
		return err
	})
	return out, err
}

// Due implements change.Store.
func (s *Store) Due(ctx context.Context, limit int) ([]string, error) {
	at, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	return column(ctx, s, "look for changes that are due", asking.Due(at, limit))
}

// Events implements change.Store.
func (s *Store) Events(ctx context.Context, after int64, limit int) (out []change.Event, err error) {
	err = s.again(ctx, "read the events of changes", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT seq, body FROM bailiwick.change_event WHERE seq > $1 ORDER BY seq LIMIT $2`, after, limit)
		if err != nil {
			return err
		}
		out = nil
		var seq int64
		var body string
		_, err = pgx.ForEachRow(rows, []any{&seq, &body}, func() error {
			e, err := store.ReadEvent(seq, body)
			out = append(out, e)
			return err
		})
		return err
	})
	return out, err
}

// LastEvent implements change.Store.
func (s *Store) LastEvent(ctx context.Context) (seq int64, err error) {
	err = s.again(ctx, "read the events of changes", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT seq FROM bailiwick.change_event_head`).Scan(&seq)
	})
	return seq, err
}

// Await implements change.Store.
func (s *Store) Await(ctx context.Context, after int64) error {
	seq, err := s.LastEvent(ctx)
	if err != nil {
		return err
	}
	s.latest.Saw(seq)
	return s.latest.Await(ctx, after)
}

// column returns the texts that the query ask selects, one per row.
func column(ctx context.Context, s *Store, doing string, ask store.ChangeLookup) (out []string, err error) {
	err = s.again(ctx, doing, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, ask.Text, ask.Args...)
		if err != nil {
			return err
		}
		out, err = pgx.AppendRows([]string(nil), rows, pgx.RowTo[string])
		return err
	})
	return out, err
}
