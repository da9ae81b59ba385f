package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

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
	return s.try(ctx, "add a ticket", func(ctx context.Context) error {
		if _, err := s.pool.Exec(ctx, dropTickets); err != nil {
			return err
		}
		_, err := s.pool.Exec(ctx, insertTicket, r.Hash, r.ID, r.Use, r.Expires, r.Seen, r.Ended, r.Body)
		return err
	})
}

const (
	dropTickets  = `DELETE FROM bailiwick.ticket WHERE expires <= clock_timestamp()`
	insertTicket = `INSERT INTO bailiwick.ticket (` + ticketColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7)`
)

// ExchangeTicket implements identity.TicketStore. After a broken connection it is unknown whether the ticket was
// exchanged. If it was, the tickets of next exist. Expired tickets are deleted before the transaction. Otherwise two
// transactions that delete the same tickets in different orders would wait for each other.
func (s *Store) ExchangeTicket(ctx context.Context, id string, next []identity.Ticket) (first bool, err error) {
	rows, err := store.WriteTickets(next)
	if err != nil || !text(id) {
		return false, err
	}
	err = s.try(ctx, "exchange a ticket", func(ctx context.Context) error {
		if _, err := s.pool.Exec(ctx, dropTickets); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, `UPDATE bailiwick.ticket SET ended = true WHERE id = $1 AND NOT ended`, id)
			if err != nil || tag.RowsAffected() != 1 {
				return err
			}
			for _, r := range rows {
				if _, err := tx.Exec(ctx, insertTicket, r.Hash, r.ID, r.Use, r.Expires, r.Seen, r.Ended, r.Body); err != nil {
					return err
				}
			}
			first = true
			return nil
		})
	})
	return first && err == nil, err
}

// TicketByHash implements identity.TicketStore.
func (s *Store) TicketByHash(ctx context.Context, hash [sha256.Size]byte) (k identity.Ticket, err error) {
	err = s.again(ctx, "read a ticket", func(ctx context.Context) error {
		k, err = scanTicket(s.pool.QueryRow(ctx, `SELECT `+ticketColumns+` FROM bailiwick.ticket WHERE hash = $1`, hash[:]))
		if errors.Is(err, pgx.ErrNoRows) {
			return store.NoTicket()
		}
		return err
	})
	return k, err
}

// Tickets implements identity.TicketStore.
func (s *Store) Tickets(ctx context.Context, use identity.TicketUse, persons []string) ([]identity.Ticket, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	return listTokens(ctx, s, asking.Tickets(`k.hash, k.id, k.use, k.expires, k.seen, k.ended, k.body`, use, persons, now), scanTicket)
}

// SeeTicket implements identity.TicketStore.
func (s *Store) SeeTicket(ctx context.Context, id string, at time.Time) error {
	return s.again(ctx, "note the use of a ticket", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `UPDATE bailiwick.ticket SET seen = greatest(seen, $2) WHERE id = $1`, id, at)
		return err
	})
}

// EndTicket implements identity.TicketStore. After a broken connection it is unknown whether the ticket was ended.
// The caller gets an error, and must treat the ticket as used.
func (s *Store) EndTicket(ctx context.Context, id string) (first bool, err error) {
	if !text(id) {
		return false, nil
	}
	err = s.try(ctx, "end a ticket", func(ctx context.Context) error {
		tag, err := s.pool.Exec(ctx, `UPDATE bailiwick.ticket SET ended = true WHERE id = $1 AND NOT ended`, id)
		first = tag.RowsAffected() == 1
		return err
	})
	return first && err == nil, err
}

func scanTicket(row pgx.Row) (identity.Ticket, error) {
	var r store.TicketRow
	if err := row.Scan(&r.Hash, &r.ID, &r.Use, &r.Expires, &r.Seen, &r.Ended, &r.Body); err != nil {
		return identity.Ticket{}, err
	}
	return r.Ticket()
}
