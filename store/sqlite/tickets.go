package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

const ticketColumns = `hash, id, use, expires, seen, ended, body`

// AddTicket implements identity.TicketStore. It also deletes expired tickets.
func (s *Store) AddTicket(ctx context.Context, k identity.Ticket) error {
	r, err := store.WriteTicket(&k)
	if err != nil {
		return err
	}
	return s.tokenFailure("add a ticket", s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return addTicket(ctx, tx, &r)
	}))
}

// TicketByHash implements identity.TicketStore.
func (s *Store) TicketByHash(ctx context.Context, hash [sha256.Size]byte) (identity.Ticket, error) {
	k, err := scanTicket(s.read.QueryRowContext(ctx, `SELECT `+ticketColumns+` FROM ticket WHERE hash = ?`, hash[:]))
	if errors.Is(err, sql.ErrNoRows) {
		return k, store.NoTicket()
	}
	return k, s.tokenFailure("read a ticket", err)
}

// Tickets implements identity.TicketStore.
func (s *Store) Tickets(ctx context.Context, use identity.TicketUse, persons []string) ([]identity.Ticket, error) {
	return listTokens(ctx, s, asking.Tickets(`k.hash, k.id, k.use, k.expires, k.seen, k.ended, k.body`, use, persons, now().UnixMicro()), scanTicket)
}

// SeeTicket implements identity.TicketStore.
func (s *Store) SeeTicket(ctx context.Context, id string, at time.Time) error {
	return s.tokenFailure("note the use of a ticket", s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE ticket SET seen = max(seen, ?) WHERE id = ?`, at.UnixMicro(), id)
		return err
	}))
}

// EndTicket implements identity.TicketStore.
func (s *Store) EndTicket(ctx context.Context, id string) (first bool, err error) {
	err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE ticket SET ended = 1 WHERE id = ? AND NOT ended`, id)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		first = n == 1
		return err
	})
	return first && err == nil, s.tokenFailure("end a ticket", err)
}

// ExchangeTicket implements identity.TicketStore.
func (s *Store) ExchangeTicket(ctx context.Context, id string, next []identity.Ticket) (first bool, err error) {
	rows, err := store.WriteTickets(next)
	if err != nil {
		return false, err
	}
	err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		first = false
		res, err := tx.ExecContext(ctx, `UPDATE ticket SET ended = 1 WHERE id = ? AND NOT ended`, id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != 1 {
			return err
		}
		for _, r := range rows {
			if err := addTicket(ctx, tx, &r); err != nil {
				return err
			}
		}
		first = true
		return nil
	})
	return first && err == nil, s.tokenFailure("exchange a ticket", err)
}

// addTicket adds a ticket, and deletes expired tickets.
func addTicket(ctx context.Context, tx *sql.Tx, r *store.TicketRow) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM ticket WHERE expires <= ?`, now().UnixMicro()); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO ticket (`+ticketColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		r.Hash, r.ID, r.Use, r.Expires.UnixMicro(), r.Seen.UnixMicro(), r.Ended, r.Body)
	return err
}

func scanTicket(row interface{ Scan(...any) error }) (identity.Ticket, error) {
	var r store.TicketRow
	var expires, seen int64
	if err := row.Scan(&r.Hash, &r.ID, &r.Use, &expires, &seen, &r.Ended, &r.Body); err != nil {
		return identity.Ticket{}, err
	}
	r.Expires, r.Seen = instant(expires), instant(seen)
	return r.Ticket()
}
