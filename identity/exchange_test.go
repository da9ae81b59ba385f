package identity_test

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// spend uses a ticket up, as those who take tickets do: if another was faster, it is offered again.
func spend(ctx context.Context, t *identity.Tokens, use identity.TicketUse, secret string, remote netip.Addr) (identity.Principal, error) {
	for {
		o, err := t.Offer(ctx, use, secret, remote)
		if err != nil {
			return identity.Principal{}, err
		}
		_, first, err := t.Exchange(ctx, o, nil, func([]identity.Issued) ([]byte, error) { return nil, nil })
		if err != nil {
			return identity.Principal{}, err
		}
		if first {
			return o.Principal, nil
		}
	}
}

// TestOfferMisused checks which offers are refused and which can't be exchanged twice. A failure of the answer uses
// nothing up.
func TestOfferMisused(t *testing.T) {
	r, _, p := newTicketRoom(t, identity.Token{Owner: "ana"})
	ctx := t.Context()
	want := []identity.Ticket{{Use: identity.Access, Expires: r.at().Add(time.Hour)}}
	sent := func([]identity.Issued) ([]byte, error) { return []byte("sent"), nil }
	for _, use := range []identity.TicketUse{identity.Session, identity.Access, ""} {
		_, secret, err := r.Issue(ctx, p, identity.Ticket{Use: identity.Session, Expires: r.at().Add(time.Hour)})
		r.must(err)
		if o, err := r.Offer(ctx, use, secret, inside); kindOf(err) != "ticket_malformed" || o.Principal.ID != "" {
			t.Errorf("%q: %+v %v", use, o, err)
		}
	}
	if body, first, err := r.Exchange(ctx, identity.Offer{Principal: p}, want, sent); kindOf(err) != "ticket_ended" || first || body != nil {
		t.Error("an offer that nobody made:", body, first, err)
	}
	_, secret, err := r.Issue(ctx, p, identity.Ticket{Use: identity.Renewal, Expires: r.at().Add(time.Hour)})
	r.must(err)
	o, err := r.Offer(ctx, identity.Renewal, secret, inside)
	r.must(err)
	bad := errors.New("no answer")
	if body, first, err := r.Exchange(ctx, o, want, func([]identity.Issued) ([]byte, error) { return nil, bad }); !errors.Is(err, bad) || first || body != nil {
		t.Error("without an answer:", body, first, err)
	}
	if body, first, err := r.Exchange(ctx, o, []identity.Ticket{{Use: identity.Access, Expires: r.at()}}, sent); kindOf(err) != "ticket_expired" || first || body != nil {
		t.Error("for a ticket that has ended:", body, first, err)
	}
	if body, first, err := r.Exchange(ctx, o, want, sent); err != nil || !first || !bytes.Equal(body, []byte("sent")) {
		t.Error(string(body), first, err)
	}
	if body, first, err := r.Exchange(ctx, o, want, sent); err != nil || first || body != nil {
		t.Error("twice:", body, first, err)
	}
	again, err := r.Offer(ctx, identity.Renewal, secret, inside)
	if err != nil || string(again.Answer) != "sent" || again.Principal.ID != p.ID {
		t.Errorf("%+v %v", again, err)
	}
	if body, first, err := r.Exchange(ctx, again, want, sent); kindOf(err) != "ticket_ended" || first || body != nil {
		t.Error("an offer that was answered:", body, first, err)
	}
	r.after(identity.Repeat)
	if o, err := r.Offer(ctx, identity.Renewal, secret, inside); kindOf(err) != "ticket_ended" || o.Answer != nil {
		t.Errorf("too late: %+v %v", o, err)
	}
}
