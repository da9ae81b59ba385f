package identity_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A faulty store fails one of its next calls.
type faulty struct {
	identity.TokenStore
	left int // calls until the one that fails
}

func (f *faulty) fails() error {
	f.left--
	if f.left == 0 {
		return errDisk
	}
	return nil
}

// of is the result of a call of a faulty store.
func of[T any](f *faulty, do func() (T, error)) (T, error) {
	if err := f.fails(); err != nil {
		var zero T
		return zero, err
	}
	return do()
}

func none(f *faulty, do func() error) error {
	_, err := of(f, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (f *faulty) TokenByPrefix(ctx context.Context, prefix string) (identity.Token, error) {
	return of(f, func() (identity.Token, error) { return f.TokenStore.TokenByPrefix(ctx, prefix) })
}

func (f *faulty) TokenVersion(ctx context.Context) (int64, error) {
	return of(f, func() (int64, error) { return f.TokenStore.TokenVersion(ctx) })
}

func (f *faulty) LatestTokenVersion(ctx context.Context) (int64, error) {
	return of(f, func() (int64, error) { return f.TokenStore.LatestTokenVersion(ctx) })
}

func (f *faulty) TouchTokens(ctx context.Context, used map[string]time.Time) error {
	return none(f, func() error { return f.TokenStore.TouchTokens(ctx, used) })
}

func (f *faulty) AddToken(ctx context.Context, k identity.Token, r audit.Record) error {
	return none(f, func() error { return f.TokenStore.AddToken(ctx, k, r) })
}

func (f *faulty) FindTokens(ctx context.Context, want identity.TokenFilter) ([]identity.Token, error) {
	return of(f, func() ([]identity.Token, error) { return f.TokenStore.FindTokens(ctx, want) })
}

func (f *faulty) RevokeToken(ctx context.Context, id string, r audit.Record) error {
	return none(f, func() error { return f.TokenStore.RevokeToken(ctx, id, r) })
}

func (f *faulty) EndConnections(ctx context.Context, person, tenant string) error {
	return none(f, func() error { return f.TokenStore.EndConnections(ctx, person, tenant) })
}

func (f *faulty) AddTicket(ctx context.Context, k identity.Ticket) error {
	return none(f, func() error { return f.TokenStore.AddTicket(ctx, k) })
}

func (f *faulty) TicketByHash(ctx context.Context, hash [sha256.Size]byte) (identity.Ticket, error) {
	return of(f, func() (identity.Ticket, error) { return f.TokenStore.TicketByHash(ctx, hash) })
}

func (f *faulty) Tickets(ctx context.Context, use identity.TicketUse, persons []string) ([]identity.Ticket, error) {
	return of(f, func() ([]identity.Ticket, error) { return f.TokenStore.Tickets(ctx, use, persons) })
}

func (f *faulty) SeeTicket(ctx context.Context, id string, at time.Time) error {
	return none(f, func() error { return f.TokenStore.SeeTicket(ctx, id, at) })
}

func (f *faulty) EndTicket(ctx context.Context, id string) (bool, error) {
	return of(f, func() (bool, error) { return f.TokenStore.EndTicket(ctx, id) })
}

func (f *faulty) ExchangeTicket(ctx context.Context, id string, next []identity.Ticket) (bool, error) {
	return of(f, func() (bool, error) { return f.TokenStore.ExchangeTicket(ctx, id, next) })
}

func (f *faulty) PendingRecords(ctx context.Context, subject string, limit int) ([]audit.Record, error) {
	return of(f, func() ([]audit.Record, error) { return f.TokenStore.PendingRecords(ctx, subject, limit) })
}

func (f *faulty) RemoveSteps(ctx context.Context, steps ...string) error {
	return none(f, func() error { return f.TokenStore.RemoveSteps(ctx, steps...) })
}

// A faultyLog fails as the store beside it does.
type faultyLog struct {
	*audit.Memory
	f *faulty
}

func (l faultyLog) Append(ctx context.Context, r *audit.Record) error {
	return none(l.f, func() error { return l.Memory.Append(ctx, r) })
}

func (l faultyLog) Records(ctx context.Context, from int64, yield func(audit.Record) bool) error {
	return none(l.f, func() error { return l.Memory.Records(ctx, from, yield) })
}

func (l faultyLog) Find(ctx context.Context, step string) (audit.Record, bool, error) {
	if err := l.f.fails(); err != nil {
		return audit.Record{}, false, err
	}
	return l.Memory.Find(ctx, step)
}

// TestFaults lets each call of the store and the log that an operation makes fail, once: it fails as well, with the cause, and
// gives nothing. No failure is taken for a refusal, or for the absence of data that couldn't be read.
func TestFaults(t *testing.T) {
	for name, op := range map[string]func(*house) (string, error){
		"authenticate": func(h *house) (string, error) {
			p, err := h.Authenticate(t.Context(), h.bot, nowhere)
			return p.ID, err
		},
		"an agent's access": func(h *house) (string, error) {
			p, err := h.Authenticate(t.Context(), h.access, nowhere)
			return p.ID, err
		},
		"a session": func(h *house) (string, error) {
			p, _, err := h.Present(t.Context(), identity.Session, h.session, nowhere)
			return p.ID, err
		},
		"a link": func(h *house) (string, error) {
			p, err := spend(t.Context(), h.Tokens, identity.Link, h.link, nowhere)
			return p.ID, err
		},
		"issue": func(h *house) (string, error) {
			_, secret, err := h.Issue(t.Context(), h.ana, identity.Ticket{Use: identity.Session, Expires: h.at().Add(time.Hour)})
			return secret, err
		},
		"one that may be new": func(h *house) (string, error) {
			_, secret, err := h.Issue(t.Context(), identity.Principal{TokenID: "x"}, identity.Ticket{Use: identity.Session, Expires: h.at().Add(time.Hour)})
			if kindOf(err) == "token_unknown" {
				err = nil
			}
			return secret, err
		},
		"sessions": func(h *house) (string, error) {
			all, err := h.Sessions(t.Context(), h.ana, identity.Session, nil)
			return some(all), err
		},
		"end": func(h *house) (string, error) { return "", h.End(t.Context(), h.ana, identity.Session, h.sessionID) },
		"create": func(h *house) (string, error) {
			_, secret, err := h.Create(t.Context(), operator, identity.Token{Name: "new"})
			return secret, err
		},
		"revoke": func(h *house) (string, error) { return "", h.Revoke(t.Context(), operator, h.ana.TokenID) },
		"revoke in a tenant": func(h *house) (string, error) {
			return "", h.Revoke(t.Context(), acme, h.ana.TokenID)
		},
		"list": func(h *house) (string, error) {
			all, err := h.List(t.Context(), operator, identity.TokenFilter{})
			return some(all), err
		},
		"a person again": func(h *house) (string, error) {
			p, err := h.Person(t.Context(), h.rosaAsIssued)
			return p.ID, err
		},
		"a person with other rights": func(h *house) (string, error) {
			p := h.rosaAsIssued
			p.Scopes = []identity.Scope{identity.Audit}
			p, err := h.Person(t.Context(), p)
			return p.ID, err
		},
		"invite": func(h *house) (string, error) {
			_, link, err := h.Invite(t.Context(), operator, identity.Token{Owner: "ana", Tenant: "acme", Scopes: []identity.Scope{identity.Audit}}, time.Hour)
			return link, err
		},
		"remove": func(h *house) (string, error) {
			_, err := h.Remove(t.Context(), operator, "ana", "acme")
			return "", err
		},
		"grant": func(h *house) (string, error) {
			p, err := h.Grant(t.Context(), h.ana, identity.Granting{Client: "c", Name: "bot", Scopes: []identity.Scope{identity.Read}, Life: time.Hour})
			return p.ID, err
		},
		"agents": func(h *house) (string, error) {
			all, err := h.Agents(t.Context(), h.ana)
			return some(all), err
		},
		"end a grant": func(h *house) (string, error) { return "", h.EndGrant(t.Context(), h.ana, h.grant) },
		"known": func(h *house) (string, error) {
			p, err := h.FindPerson(t.Context(), "ana", "acme")
			return p.ID, err
		},
		"refresh": func(h *house) (string, error) {
			p, err := h.Refresh(t.Context(), h.ana)
			return p.ID, err
		},
		"a stolen code": func(h *house) (string, error) {
			o, err := h.Offer(t.Context(), identity.Code, h.spent, nowhere)
			if kindOf(err) == "ticket_ended" {
				err = nil
			}
			return o.Principal.ID, err
		},
		"a refresh": func(h *house) (string, error) {
			o, err := h.Offer(t.Context(), identity.Renewal, h.renewal, nowhere)
			if err != nil {
				return o.Principal.ID, err
			}
			want := []identity.Ticket{{Use: identity.Access, Expires: h.at().Add(time.Minute)}}
			sent, _, err := h.Exchange(t.Context(), o, want, func([]identity.Issued) ([]byte, error) { return []byte("sent"), nil })
			return string(sent), err
		},
		"a repeated refresh": func(h *house) (string, error) {
			o, err := h.Offer(t.Context(), identity.Renewal, h.renewed, nowhere)
			return string(o.Answer), err
		},
		"flush": func(h *house) (string, error) {
			if _, err := h.Authenticate(t.Context(), h.bot, nowhere); err != nil {
				return "", err
			}
			return "", h.Flush(t.Context())
		},
		"reconcile": func(h *house) (string, error) {
			_, err := identity.Reconcile(t.Context(), h.store, h.log)
			return "", err
		},
		"reconcile with what was recorded meanwhile": func(h *house) (string, error) {
			_, err := identity.Reconcile(t.Context(), h.store, unread{h.log})
			return "", err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				h := newHouse(t)
				h.store.left = n
				got, err := op(h)
				if h.store.left > 0 { // it makes fewer calls
					if err != nil {
						t.Errorf("without a fault: %v", err)
					}
					if n == 1 {
						t.Error("it makes no call")
					}
					return
				}
				if !errors.Is(err, errDisk) || problem.CodeOf(err) == problem.Unauthorized || got != "" {
					t.Errorf("call %d fails: %q, %v", n, got, err)
				}
			}
		})
	}
}

// some is text unless a list is empty.
func some[T any](all []T) string {
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprint(all)
}

// An unread log has records that a reader didn't see, since they were written after it.
type unread struct{ faultyLog }

func (u unread) Records(context.Context, int64, func(audit.Record) bool) error { return nil }

// A house has a bot with a token. Ana of acme, who was invited, has a session and an agent. Rosa is a person of an
// issuer. The memory of its Tokens is empty, and all uses are to be noted. A further token is revoked.
type house struct {
	*identity.Tokens
	*room
	store *faulty
	log   faultyLog

	bot, link, session, access, spent string // secrets
	renewal, renewed                  string // refresh tokens: one that is good, and one that was exchanged a moment ago
	sessionID, grant                  string
	ana, rosaAsIssued                 identity.Principal
}

var acme = identity.Principal{ID: "local:acme", Kind: identity.Human, Tenant: "acme", Scopes: []identity.Scope{identity.Operator}}

func newHouse(t *testing.T) *house {
	t.Helper()
	r := newOpenRoom(t)
	h := &house{room: r, store: &faulty{TokenStore: r.store}, rosaAsIssued: identity.Principal{ID: "oidc:7", Kind: identity.Human, Owner: "rosa", Scopes: []identity.Scope{identity.Review}}}
	h.log = faultyLog{r.log, h.store}
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, h.bot = r.create(identity.Token{})
	h.ana = r.invited(identity.Token{Owner: "ana", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Review}})
	_, err := r.Person(ctx, h.rosaAsIssued)
	must(err)
	agent, err := r.Grant(ctx, h.ana, identity.Granting{Client: "c", Name: "bot", Scopes: []identity.Scope{identity.Read}, Life: time.Hour})
	must(err)
	h.grant = agent.TokenID
	hour := r.at().Add(time.Hour)
	k, secret, err := r.Issue(ctx, h.ana, identity.Ticket{Use: identity.Session, Expires: hour})
	must(err)
	h.session, h.sessionID = secret, k.ID
	_, h.link, err = r.Issue(ctx, h.ana, identity.Ticket{Use: identity.Link, Expires: hour})
	must(err)
	_, h.access, err = r.Issue(ctx, agent, identity.Ticket{Use: identity.Access, Expires: hour})
	must(err)
	_, h.spent, err = r.Issue(ctx, agent, identity.Ticket{Use: identity.Code, Expires: hour})
	must(err)
	_, err = spend(ctx, r.Tokens, identity.Code, h.spent, nowhere)
	must(err)
	r.after(time.Second) // it is the last one, so that each run makes the same calls
	gone, _ := r.create(identity.Token{})
	must(r.Revoke(ctx, operator, gone.ID))
	r.after(2 * time.Minute)
	_, h.renewal, err = r.Issue(ctx, agent, identity.Ticket{Use: identity.Renewal, Expires: hour})
	must(err)
	_, h.renewed, err = r.Issue(ctx, agent, identity.Ticket{Use: identity.Renewal, Expires: hour})
	must(err)
	o, err := r.Offer(ctx, identity.Renewal, h.renewed, nowhere)
	must(err)
	_, _, err = r.Exchange(ctx, o, []identity.Ticket{{Use: identity.Access, Expires: hour}}, func([]identity.Issued) ([]byte, error) { return []byte("sent"), nil })
	must(err)
	h.Tokens = identity.NewTokens(identity.TokenOptions{Store: h.store, Audit: h.log, Touch: time.Hour, Now: r.at})
	return h
}
