package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A TicketRow is a ticket in the form that both stores use.
type TicketRow struct {
	Hash          []byte
	ID, Use       string
	Expires, Seen time.Time
	Ended         bool
	Body          string
}

// WriteTicket encodes k.
func WriteTicket(k *identity.Ticket) (TicketRow, error) {
	body, err := json.Marshal(k)
	return TicketRow{k.Hash[:], k.ID, string(k.Use), k.Expires, k.Seen, k.Ended, string(body)}, err
}

// WriteTickets encodes several tickets.
func WriteTickets(all []identity.Ticket) ([]TicketRow, error) {
	rows := make([]TicketRow, len(all))
	for i := range all {
		var err error
		if rows[i], err = WriteTicket(&all[i]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Ticket decodes r.
func (r *TicketRow) Ticket() (identity.Ticket, error) {
	k := identity.Ticket{ID: r.ID, Use: identity.TicketUse(r.Use), Expires: r.Expires.UTC(), Seen: r.Seen.UTC(), Ended: r.Ended}
	if len(r.Hash) != len(k.Hash) {
		return k, fmt.Errorf("ticket %s has a hash of %d bytes", r.ID, len(r.Hash))
	}
	copy(k.Hash[:], r.Hash)
	if err := json.Unmarshal([]byte(r.Body), &k); err != nil {
		return identity.Ticket{}, fmt.Errorf("ticket %s: %w", r.ID, err)
	}
	return k, nil
}

// NoTicket returns the error for a ticket that doesn't exist.
func NoTicket() *problem.Error { return problem.New(problem.NotFound, "There is no such ticket") }
