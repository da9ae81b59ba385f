package identity

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// AccessStart is the prefix of the access tokens of agents that signed in.
const AccessStart = "bwa_"

// Fresh is the default for the maximum time since a person proved who they are. It applies to breaking the glass and to
// the creation of tokens and invitations.
const Fresh = 15 * time.Minute

// Fresh reports whether p proved who they are less than most before now. If most is zero, the constant Fresh applies. A
// person who never proved it, or whose proof is in the future, isn't fresh.
func (p Principal) Fresh(now time.Time, most time.Duration) bool {
	since := now.Sub(p.Proven)
	return since < cmp.Or(most, Fresh) && since > -time.Minute
}

// Takes describes the sign-in that p lacks, as a part of a sentence: a recent one. If p has no accepted proof at all,
// it must also be by a stronger proof.
func (p Principal) Takes(most time.Duration) string {
	last := cmp.Or(most, Fresh)
	span := last.String()
	if last >= time.Minute && last%time.Minute == 0 {
		span = fmt.Sprintf("%d min", last/time.Minute)
	}
	recent := "a sign-in of the last " + span
	if p.Proven.IsZero() {
		return recent + ", by a stronger proof than yours: the issuer didn't say that it was of the level asked for, and when it was"
	}
	return recent
}

// A TicketUse is the purpose of a ticket. A ticket of one use is never accepted for another.
type TicketUse string

// The uses of tickets.
const (
	Session TicketUse = "session" // for a person, in the cookie of the console
	Link    TicketUse = "link"    // signs a person in, once
	Code    TicketUse = "code"    // an authorization code: becomes Access and Renewal, once
	Access  TicketUse = "access"  // for an agent, sent with each request
	Renewal TicketUse = "renewal" // a refresh token: becomes another Access and Renewal, once
	reply   TicketUse = "reply"   // the encrypted answer to the exchange of a Renewal. Clients can't present it.
)

// start returns the prefix of tickets of use u, by which a ticket in the wrong place is recognized. It returns "" for
// an unknown use.
func (u TicketUse) start() string {
	return map[TicketUse]string{Session: "bws_", Link: "bwl_", Code: "bwc_", Access: AccessStart, Renewal: "bwr_"}[u]
}

// A Ticket is the record of a secret that is accepted instead of a token for a short time. It is only valid while the
// token is valid.
type Ticket struct {
	ID      string            `json:"-"`
	Hash    [sha256.Size]byte `json:"-"` // of the secret
	Use     TicketUse         `json:"-"`
	Expires time.Time         `json:"-"`
	Seen    time.Time         `json:"-"` // when it was last presented. Up to a minute late
	Ended   bool              `json:"-"` // the person signed out, or it is used up

	Token   string    `json:"token"`            // the ID of the token for which it is accepted
	Created time.Time `json:"created"`          //
	Proven  time.Time `json:"proven,omitzero"`  // for a session: when the person last proved who they are
	Label   string    `json:"label,omitempty"`  // for people: the browser
	Data    string    `json:"data,omitempty"`   // for a code: the grant. For a session: how it began
	Idle    int64     `json:"idle_s,omitempty"` // it ends after so many seconds without a use. 0 means never
	Scopes  string    `json:"scopes,omitempty"` // the scopes of its token that it has, or "" for all of them
}

// Open reports whether k is valid at now. It doesn't check the token of k.
func (k *Ticket) Open(now time.Time) bool {
	return !k.Ended && now.Before(k.Expires) && (k.Idle == 0 || now.Sub(k.Seen) < time.Duration(k.Idle)*time.Second)
}

// A TicketStore stores tickets. It may drop expired tickets.
type TicketStore interface {
	AddTicket(ctx context.Context, k Ticket) error
	// TicketByHash returns a ticket, even if it has ended. It returns problem.NotFound if there is none.
	TicketByHash(ctx context.Context, hash [sha256.Size]byte) (Ticket, error)
	// Tickets returns the tickets of a use that have neither ended nor expired, in any order. Unless of is nil, only those
	// of tokens of these people are needed, by canonical name.
	Tickets(ctx context.Context, use TicketUse, of []string) ([]Ticket, error)
	// SeeTicket sets Seen.
	SeeTicket(ctx context.Context, id string, at time.Time) error
	// EndTicket sets Ended, for all processes at once, and reports whether it was the first to do so.
	EndTicket(ctx context.Context, id string) (first bool, err error)
	// ExchangeTicket does the same as EndTicket and adds next, in one transaction. It adds nothing if it was not the
	// first to end the ticket.
	ExchangeTicket(ctx context.Context, id string, next []Ticket) (first bool, err error)
}

// Issue makes a ticket for p, which must have authenticated with a token of t, and returns the ticket with its secret.
// want has Use, Expires, Proven, Label, Data, Idle and Scopes. The ticket ends with p's token at the latest.
func (t *Tokens) Issue(ctx context.Context, p Principal, want Ticket) (Ticket, string, error) {
	made, secret, err := t.prepare(ctx, p, want)
	if err != nil {
		return Ticket{}, "", err
	}
	if err := t.store.AddTicket(ctx, made); err != nil {
		return Ticket{}, "", storeError(err)
	}
	return made, secret, nil
}

// prepare makes the ticket for Issue without storing it.
func (t *Tokens) prepare(ctx context.Context, p Principal, want Ticket) (Ticket, string, error) {
	latest, err := t.latest(ctx) // a credential must not come from one that another process has revoked
	if err != nil {
		return Ticket{}, "", err
	}
	token, parent, err := latest.valid(ctx, p.TokenID)
	if err != nil {
		return Ticket{}, "", err
	}
	var random [tokenBytes]byte
	rand.Read(random[:]) // never fails
	secret := want.Use.start() + base64.RawURLEncoding.EncodeToString(random[:])
	now := t.now().UTC().Truncate(time.Microsecond)
	want.ID, want.Hash, want.Token, want.Ended = newID(), sha256.Sum256([]byte(secret)), token.ID, false
	want.Created, want.Seen = now, now
	for _, end := range []time.Time{token.Expires, parent.Expires, p.Expires} {
		if !end.IsZero() && end.Before(want.Expires) {
			want.Expires = end
		}
	}
	want.Expires, want.Proven = want.Expires.UTC().Truncate(time.Microsecond), want.Proven.UTC().Truncate(time.Microsecond)
	if want.Use.start() == "" || !now.Before(want.Expires) {
		return Ticket{}, "", UnauthorizedError("ticket_expired", nil)
	}
	return want, secret, nil
}

// seeing is the minimum time between two records of a ticket's use.
const seeing = time.Minute

// Present checks a ticket of a use that is presented from remote, and returns its principal and the ticket. Every
// refusal is Unauthorized. Any other error is a failure of the store. Present returns an existing ticket even with a
// refusal.
func (t *Tokens) Present(ctx context.Context, use TicketUse, secret string, remote netip.Addr) (Principal, Ticket, error) {
	if rest, ok := strings.CutPrefix(secret, use.start()); !ok || len(rest) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return Principal{}, Ticket{}, UnauthorizedError("ticket_malformed", nil)
	}
	k, err := t.store.TicketByHash(ctx, sha256.Sum256([]byte(secret)))
	if problem.CodeOf(err) == problem.NotFound || err == nil && k.Use != use {
		return Principal{}, Ticket{}, UnauthorizedError("ticket_unknown", nil)
	}
	if err != nil {
		return Principal{}, Ticket{}, storeError(err)
	}
	now := t.now().UTC()
	if !k.Open(now) {
		return Principal{}, k, UnauthorizedError("ticket_ended", nil)
	}
	p, err := t.principalOf(ctx, &k, remote)
	if err != nil {
		if problem.CodeOf(err) != problem.Unauthorized {
			k = Ticket{}
		}
		return Principal{}, k, err
	}
	// A use is only stored at intervals, so that not every request writes.
	pause := seeing
	if k.Idle > 0 {
		pause = min(pause, time.Duration(k.Idle)*time.Second/4)
	}
	if (use == Session || use == Access) && now.Sub(k.Seen) >= pause {
		if err := t.store.SeeTicket(ctx, k.ID, now); err != nil {
			return Principal{}, Ticket{}, storeError(err)
		}
		k.Seen = now
		t.used.note(k.Token, now, t)
	}
	return p, k, nil
}

// principalOf returns the principal of k if its token is valid now and allowed from remote. It fails like Present.
func (t *Tokens) principalOf(ctx context.Context, k *Ticket, remote netip.Addr) (Principal, error) {
	now, err := t.current(ctx)
	if err != nil {
		return Principal{}, err
	}
	token, parent, err := now.valid(ctx, k.Token)
	if err != nil {
		return Principal{}, err
	}
	if !token.allows(remote) || !parent.allows(remote) {
		return Principal{}, UnauthorizedError("token_address", nil)
	}
	p, err := token.Principal()
	if err != nil {
		return Principal{}, UnauthorizedError("token_invalid", err)
	}
	p.Expires, p.Proven = k.Expires, k.Proven
	if k.Scopes != "" {
		names := strings.Fields(k.Scopes)
		p.Scopes = slices.DeleteFunc(slices.Clone(p.Scopes), func(s Scope) bool { return !slices.Contains(names, string(s)) })
		if len(p.Scopes) == 0 {
			return Principal{}, UnauthorizedError("ticket_scopes", nil)
		}
	}
	return p, nil
}

// endFamily ends the grant of a ticket that was used twice, with all its tickets.
func (t *Tokens) endFamily(ctx context.Context, k *Ticket) error {
	return t.end(ctx, Principal{ID: "token:" + k.Token, TokenID: k.Token}, k.Token)
}

// End ends a ticket of by's own person. If by is an operator, it also ends tickets of people whose tokens by manages.
// It returns problem.NotFound for other tickets.
func (t *Tokens) End(ctx context.Context, by Principal, use TicketUse, id string) error {
	all, err := t.Sessions(ctx, by, use, nil)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.ID == id {
			_, err := t.store.EndTicket(ctx, id)
			return err
		}
	}
	return problem.New(problem.NotFound, "There is no such session, or it has ended")
}

// An OpenTicket is a ticket with its token.
type OpenTicket struct {
	Ticket
	Of   Token
	Mine bool // it belongs to the person who asks
}

// Sessions returns the open tickets of a use, the newest first. These are the tickets of by's own person and, if by is
// an operator, of everyone whose tokens by manages. Unless of is nil, they are of these people only, by canonical name.
func (t *Tokens) Sessions(ctx context.Context, by Principal, use TicketUse, of []string) ([]OpenTicket, error) {
	operates := mayManage(by) == nil
	if !operates {
		of = []string{by.Person()}
		if by.Person() == "" {
			return nil, nil
		}
	}
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	list, err := t.store.Tickets(ctx, use, of)
	if err != nil {
		return nil, storeError(err)
	}
	ids := map[string]bool{}
	for _, k := range list {
		ids[k.Token] = true
	}
	if err := now.load(ctx, ids); err != nil {
		return nil, err
	}
	var out []OpenTicket
	for _, k := range list {
		token, _, err := now.valid(ctx, k.Token)
		if err != nil && !refused(err) {
			return nil, err
		}
		mine := by.Kind == Human && by.Person() != "" && Person(token.Owner) == by.Person() && token.Tenant == by.Tenant
		if err == nil && k.Open(t.now()) && (of == nil || slices.Contains(of, Person(token.Owner))) && (mine || operates && manages(by, token)) {
			out = append(out, OpenTicket{k, token, mine})
		}
	}
	slices.SortFunc(out, func(a, b OpenTicket) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}
