package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/store/changes"
	"github.com/bailiwick-dev/bailiwick/internal/store/records"
)

// asking is the SQL dialect of this store's statements about changes.
var asking = changes.Dialect{Schema: "bailiwick.", Contains: "strpos", Numbered: true, Bytes: func(s string) any { return []byte(s) }}

// Now implements change.Store, with the database's time.
func (s *Store) Now(ctx context.Context) (at time.Time, err error) {
	err = s.again(ctx, "read the clock", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at)
	})
	return at.UTC(), err
}

// rowOf is a change as arguments $1 to $15; $16 to $19 are its classes, its event, and its step with the audit
// record.
const rowOf = `ROW($1::text, $2::bigint, $3::text, $4::text, $5::text, $6::text, $7::bytea, $8::bytea, $9::bytea, $10::bytea,
	$11::timestamptz, $12::timestamptz, $13::text, $14::text, $15::bytea)::bailiwick.change, $16, $17, $18, $19`

func rowArgs(r *changes.Row, more ...any) []any {
	classes := make([][]byte, len(r.Classes))
	for i, class := range r.Classes {
		classes[i] = []byte(class)
	}
	var step, record string
	if r.Record != nil {
		step, record = r.Record.Step, records.Body(r.Record)
	}
	return append([]any{r.ID, r.Version, r.State, r.Op, r.Risk, r.Digest, []byte(r.Principal), []byte(r.Owner), []byte(r.Tenant), []byte(r.Source),
		r.Expires, instant(r.Lease), r.Search, r.Body, []byte(r.Account), classes, r.Event, step, record}, more...)
}

// Put implements change.Store. One statement decides, so a delay of the process doesn't matter.
func (s *Store) Put(ctx context.Context, c *change.Change, life time.Duration, most int) (kept *change.Change, err error) {
	at, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	r, err := changes.New(c, at, life)
	if err != nil {
		return nil, err
	}
	err = s.try(ctx, "file a change", func(ctx context.Context) error {
		var outcome string
		var body *string
		err := s.pool.QueryRow(ctx, `SELECT * FROM bailiwick.put_change(`+rowOf+`, $20, $21)`, rowArgs(r, most, r.After)...).Scan(&outcome, &body)
		switch {
		case err != nil:
			return err
		case outcome == "kept":
			kept, err = changes.Read(r.Body)
		case outcome == "same" && body != nil:
			kept, err = changes.Read(*body)
		case outcome == "full":
			err = change.ErrFull
		default:
			err = fmt.Errorf("an outcome %q", outcome)
		}
		return err
	})
	return kept, err
}

// Swap implements change.Store. One statement decides, as in Put.
func (s *Store) Swap(ctx context.Context, c *change.Change, g change.Guard) error {
	at, err := s.Now(ctx)
	if err != nil {
		return err
	}
	r, err := changes.Next(c, at, g)
	if err != nil {
		return err
	}
	kept, err := changes.Read(r.Body)
	if err != nil {
		return err
	}
	return s.try(ctx, "change a change", func(ctx context.Context) error {
		var outcome string
		err := s.pool.QueryRow(ctx, `SELECT bailiwick.swap_change(`+rowOf+`, $20, $21, $22, $23)`, rowArgs(r, g.Unexpired, g.Expired, g.Lapsed, g.Recorded)...).Scan(&outcome)
		if err != nil {
			return err
		}
		switch outcome {
		case "kept":
			*c = *kept
			return nil
		case "none":
			return change.ErrNone
		case "moved":
			return change.ErrMoved
		case "expired":
			return change.ErrExpired
		case "unrecorded":
			return change.ErrUnrecorded
		}
		return fmt.Errorf("an outcome %q", outcome)
	})
}

// Get implements change.Store.
func (s *Store) Get(ctx context.Context, id string) (*change.Change, error) {
	return s.one(ctx, id, `SELECT body FROM bailiwick.change WHERE id = $1`)
}

// GetOf implements change.Store.
func (s *Store) GetOf(ctx context.Context, id string, of change.Of) (*change.Change, error) {
	column, is, ok := changes.Of(of)
	if !ok {
		return nil, change.ErrNone
	}
	return s.one(ctx, id, `SELECT body FROM bailiwick.change WHERE id = $1 AND `+column+` = $2`, []byte(is))
}

// one returns the change whose body the query ask returns for an id and more arguments.
func (s *Store) one(ctx context.Context, id, ask string, more ...any) (c *change.Change, err error) {
	if !text(id) {
		return nil, change.ErrNone
	}
	err = s.again(ctx, "read a change", func(ctx context.Context) error {
		var body string
		err := s.pool.QueryRow(ctx, ask, append([]any{id}, more...)...).Scan(&body)
		if errors.Is(err, pgx.ErrNoRows) {
			return change.ErrNone
		}
		if err != nil {
			return err
		}
		c, err = changes.Read(body)
		return err
	})
	return c, err
}

// List implements change.Store.
func (s *Store) List(ctx context.Context, f change.Filter) ([]*change.Change, bool, error) {
	bodies, err := column(ctx, s, "list the changes", asking.List(f))
	if err != nil {
		return nil, false, err
	}
	return changes.Page(bodies, f)
}

// Counts implements change.Store.
func (s *Store) Counts(ctx context.Context, f change.Filter) (out map[change.State]int, err error) {
	ask := asking.Counts(f)
	err = s.again(ctx, "count the changes", func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, ask.Text, ask.Args...)
		if err != nil {
			return err
		}
		out = map[change.State]int{}
		var state string
		var n int
		_, err = pgx.ForEachRow(rows, []any{&state, &n}, func() error {
			if n > 0 {
				out[change.State(state)] = n
			}
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
			e, err := changes.ReadEvent(seq, body)
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

// column returns the texts that the query ask returns, one per row.
func column(ctx context.Context, s *Store, doing string, ask changes.Lookup) (out []string, err error) {
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
