package identity

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Repeat is how long the answer to a Renewal can be repeated. A client that lost it, or that sent two requests at once,
// gets the same answer.
const Repeat = 5 * time.Second

// An Offer is a presented ticket for single use that is not used up yet.
type Offer struct {
	Principal Principal
	Ticket    Ticket
	Answer    []byte // the answer of the exchange that used up the ticket a moment ago, or nil

	secret string
}

// Offer checks a Link, a Code or a Renewal that is presented from remote, and returns it with its principal. It fails
// like Present. For a Renewal that was used up less than Repeat ago, it returns the Answer. If any other Renewal or a
// Code was used up, somebody has stolen it, so Offer ends the agent's grant.
func (t *Tokens) Offer(ctx context.Context, use TicketUse, secret string, remote netip.Addr) (Offer, error) {
	if use != Link && use != Code && use != Renewal {
		return Offer{}, UnauthorizedError("ticket_malformed", nil)
	}
	p, k, err := t.Present(ctx, use, secret, remote)
	if err == nil {
		return Offer{Principal: p, Ticket: k, secret: secret}, nil
	}
	if problem.CodeOf(err) != problem.Unauthorized || !k.Ended || use == Link {
		return Offer{}, err
	}
	answer, failed := t.findAnswer(ctx, &k, secret)
	if failed != nil {
		return Offer{}, failed
	}
	if answer == nil {
		if failed := t.endFamily(ctx, &k); failed != nil {
			return Offer{}, failed
		}
		return Offer{}, err
	}
	if p, err = t.principalOf(ctx, &k, remote); err != nil {
		return Offer{}, err
	}
	return Offer{Principal: p, Ticket: k, Answer: answer, secret: secret}, nil
}

// An Issued is a ticket with its secret.
type Issued struct {
	Ticket
	Secret string
}

// Exchange uses o up and makes the tickets in want like Issue, in one transaction of the store. A failure leaves o
// unused. The function answer returns the answer for the client. first is false if another request has used up o in the
// meantime. Then Exchange makes nothing.
func (t *Tokens) Exchange(ctx context.Context, o Offer, want []Ticket, answer func([]Issued) ([]byte, error)) (sent []byte, first bool, err error) {
	if o.secret == "" || o.Answer != nil {
		return nil, false, UnauthorizedError("ticket_ended", nil)
	}
	p := o.Principal
	p.Expires = time.Time{} // the new tickets may outlive o, but not the grant
	var made []Issued
	var next []Ticket
	for _, w := range want {
		k, secret, err := t.prepare(ctx, p, w)
		if err != nil {
			return nil, false, err
		}
		made, next = append(made, Issued{k, secret}), append(next, k)
	}
	if sent, err = answer(made); err != nil {
		return nil, false, err
	}
	if o.Ticket.Use == Renewal {
		k, err := t.sealAnswer(&o, sent)
		if err != nil {
			return nil, false, err
		}
		next = append(next, k)
	}
	first, err = t.store.ExchangeTicket(ctx, o.Ticket.ID, next)
	if err != nil {
		if t.hasTickets(ctx, next) {
			return sent, true, nil
		}
		return nil, false, storeError(err)
	}
	if !first {
		return nil, false, nil
	}
	return sent, true, nil
}

// hasTickets reports whether the tickets of an exchange are in the store although it returned an error. The connection
// may have been lost after the end of the transaction.
func (t *Tokens) hasTickets(ctx context.Context, next []Ticket) bool {
	if len(next) == 0 {
		return false
	}
	_, err := t.store.TicketByHash(ctx, next[0].Hash)
	return err == nil
}

// sealAnswer encrypts the answer to the exchange of a Renewal and returns it as a Ticket. Decryption requires the
// Renewal's secret, of which the store has only a digest.
func (t *Tokens) sealAnswer(o *Offer, answer []byte) (Ticket, error) {
	box, place, err := replyBox(o.secret)
	if err != nil {
		return Ticket{}, err
	}
	now := t.now().UTC().Truncate(time.Microsecond)
	data := box.Seal(nil, nil, answer, []byte(o.Ticket.ID))
	return Ticket{ID: newID(), Hash: place, Use: reply, Token: o.Ticket.Token, Created: now, Seen: now, Expires: now.Add(Repeat), Data: base64.StdEncoding.EncodeToString(data)}, nil
}

// findAnswer returns the answer of the exchange that used up k, or nil if it is too old or can't be repeated.
func (t *Tokens) findAnswer(ctx context.Context, k *Ticket, secret string) ([]byte, error) {
	if k.Use != Renewal {
		return nil, nil
	}
	box, place, err := replyBox(secret)
	if err != nil {
		return nil, err
	}
	was, err := t.store.TicketByHash(ctx, place)
	if problem.CodeOf(err) == problem.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, storeError(err)
	}
	if now := t.now(); was.Use != reply || was.Token != k.Token || !was.Open(now) || !k.Expires.After(now) || was.Expires.Sub(now) > Repeat {
		return nil, nil
	}
	data, err := base64.StdEncoding.DecodeString(was.Data)
	if err != nil {
		return nil, storeError(err)
	}
	answer, err := box.Open(nil, nil, data, []byte(k.ID))
	if err != nil {
		return nil, storeError(err)
	}
	return answer, nil
}

// replyBox returns the cipher for the answer to a Renewal, and the hash under which the store keeps it.
func replyBox(secret string) (cipher.AEAD, [sha256.Size]byte, error) {
	key := sha256.Sum256([]byte("bailiwick answer\x00" + secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, [sha256.Size]byte{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return aead, sha256.Sum256([]byte("bailiwick place\x00" + secret)), err
}
