// Package people tests how a store stores people who sign in and the agents that they admit.
//
// It doesn't depend on a specific store. A store fails if it accepts a ticket twice or loses a restriction of a
// person. It also fails if another handle accepts an ended ticket for more than a second.
package people

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Run runs the suite. Each place is a new empty folder.
func Run(t *testing.T, open storetest.Open) {
	t.Run("tickets of two handles", func(t *testing.T) { testTickets(t, open) })
	t.Run("tickets exchanged by two handles", func(t *testing.T) { testExchange(t, open) })
	t.Run("people and their agents", func(t *testing.T) { testPeople(t, open) })
	t.Run("connections of two handles", func(t *testing.T) { testConnections(t, open) })
	t.Run("connections of people who leave", func(t *testing.T) { testLeaving(t, open) })
	t.Run("people of an issuer", func(t *testing.T) { testIssued(t, open) })
}

// testTickets checks that tickets are stored unchanged, and that every handle sees the end of a ticket at once.
// Exactly one of many callers may end it. Expired tickets are removed.
func testTickets(t *testing.T, open storetest.Open) {
	place, ctx := t.TempDir(), t.Context()
	here, there := storetest.Handle(t, open, place), storetest.Handle(t, open, place)
	now := time.Now().UTC().Truncate(time.Microsecond)
	ticket := func(id string, use identity.TicketUse, life time.Duration) identity.Ticket {
		return identity.Ticket{ID: id, Hash: sha256.Sum256([]byte(id)), Use: use, Token: "t", Created: now, Seen: now, Expires: now.Add(life), Proven: now.Add(-time.Hour),
			Label: "a browser", Data: `{"x":1}`, Idle: 60}
	}
	want := ticket("one", identity.Session, time.Hour)
	for _, k := range []identity.Ticket{ticket("old", identity.Session, -time.Second), want, ticket("two", identity.Session, time.Hour), ticket("link", identity.Link, time.Hour)} {
		if err := here.AddTicket(ctx, k); err != nil {
			t.Fatal(err)
		}
	}
	if err := here.AddTicket(ctx, want); err == nil {
		t.Error("one ticket twice")
	}
	if got, err := there.TicketByHash(ctx, want.Hash); err != nil || got != want {
		t.Errorf("%+v, want %+v: %v", got, want, err)
	}
	for _, hash := range [][sha256.Size]byte{sha256.Sum256([]byte("other")), sha256.Sum256([]byte("old"))} {
		if _, err := there.TicketByHash(ctx, hash); problem.CodeOf(err) != problem.NotFound {
			t.Error("there is none, or it has expired:", err)
		}
	}
	later := now.Add(time.Minute)
	if err := here.SeeTicket(ctx, "one", later); err != nil {
		t.Fatal(err)
	}
	if err := there.SeeTicket(ctx, "one", now); err != nil {
		t.Fatal(err)
	}
	if got, err := there.TicketByHash(ctx, want.Hash); err != nil || !got.Seen.Equal(later) {
		t.Error("last seen:", got.Seen, err)
	}
	testEnd(t, here, there)
}

// testEnd checks that exactly one of many callers ends a ticket first, and that both handles see the end.
func testEnd(t *testing.T, here, there storetest.Store) {
	ctx := t.Context()
	var first atomic.Int64
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			ok, err := []storetest.Store{here, there}[n%2].EndTicket(ctx, "two")
			if err != nil {
				t.Error(err)
			}
			if ok {
				first.Add(1)
			}
		})
	}
	wg.Wait()
	if first.Load() != 1 {
		t.Errorf("%d ended it first", first.Load())
	}
	for _, s := range []storetest.Store{here, there} {
		got, err := s.TicketByHash(ctx, sha256.Sum256([]byte("two")))
		if err != nil || !got.Ended {
			t.Error("an ended one:", got, err)
		}
		all, err := s.Tickets(ctx, identity.Session, nil)
		if err != nil || len(all) != 1 || all[0].ID != "one" {
			t.Error("the open sessions:", all, err)
		}
		if ok, err := s.EndTicket(ctx, "none"); err != nil || ok {
			t.Error("one that isn't there:", ok, err)
		}
	}
}

// testExchange checks that exactly one of many callers exchanges a ticket. Only the new tickets of this caller may be
// added. A failure must leave the ticket unchanged.
func testExchange(t *testing.T, open storetest.Open) {
	place, ctx := t.TempDir(), t.Context()
	handles := []storetest.Store{storetest.Handle(t, open, place), storetest.Handle(t, open, place)}
	now := time.Now().UTC().Truncate(time.Microsecond)
	ticket := func(id string) identity.Ticket {
		return identity.Ticket{ID: id, Hash: sha256.Sum256([]byte(id)), Use: identity.Renewal, Token: "t", Created: now, Seen: now, Expires: now.Add(time.Hour)}
	}
	for _, id := range []string{"old", "taken"} {
		if err := handles[0].AddTicket(ctx, ticket(id)); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := handles[1].ExchangeTicket(ctx, "old", []identity.Ticket{ticket("new"), ticket("taken")}); err == nil || ok {
		t.Error("a ticket that is there already:", ok, err)
	}
	if k, err := handles[0].TicketByHash(ctx, ticket("old").Hash); err != nil || k.Ended {
		t.Error("a failure ended it:", k, err)
	}
	if k, err := handles[0].TicketByHash(ctx, ticket("new").Hash); problem.CodeOf(err) != problem.NotFound {
		t.Error("a failure added one:", k, err)
	}
	var wg sync.WaitGroup
	won := make([]bool, 16)
	for n := range won {
		wg.Go(func() {
			ok, err := handles[n%2].ExchangeTicket(ctx, "old", []identity.Ticket{ticket(fmt.Sprint("a", n)), ticket(fmt.Sprint("b", n))})
			if won[n] = ok; err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	many := 0
	for n, ok := range won {
		if ok {
			many++
		}
		for _, id := range []string{fmt.Sprint("a", n), fmt.Sprint("b", n)} {
			if _, err := handles[0].TicketByHash(ctx, ticket(id).Hash); (err == nil) != ok {
				t.Errorf("ticket %s of caller %d, who was first: %t: %v", id, n, ok, err)
			}
		}
	}
	if k, err := handles[1].TicketByHash(ctx, ticket("old").Hash); many != 1 || err != nil || !k.Ended {
		t.Errorf("%d callers were first: %+v %v", many, k, err)
	}
	if ok, err := handles[0].ExchangeTicket(ctx, "none", []identity.Ticket{ticket("of none")}); err != nil || ok {
		t.Error("one that isn't there:", ok, err)
	}
}

// testPeople checks the people, sessions and agents of identity.Tokens with two handles. It checks which of them end
// together, and that no restriction of a person is lost.
func testPeople(t *testing.T, open storetest.Open) {
	place, ctx := t.TempDir(), t.Context()
	stores := []storetest.Store{storetest.Handle(t, open, place), storetest.Handle(t, open, place)}
	here, there := identity.NewTokens(identity.TokenOptions{Store: stores[0], Audit: stores[0]}), identity.NewTokens(identity.TokenOptions{Store: stores[1], Audit: stores[1]})
	operator := identity.Local("test")
	rights := []identity.Scope{identity.Read, identity.Write, identity.Review}
	record, link, err := here.Invite(ctx, operator, identity.Token{Owner: "Ana@example.com", Tenant: "acme", Scopes: rights, Classes: identity.List{Only: []string{"issues"}},
		Filters: map[string]string{"issues": `{"archived": false}`}}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	o, err := there.Offer(ctx, identity.Link, link, netip.Addr{})
	ana := o.Principal
	if err != nil || ana.TokenID != record.ID || ana.Owner != "Ana@example.com" || ana.Tenant != "acme" || !slices.Equal(ana.Scopes, rights) || ana.Filters["issues"] == nil {
		t.Fatalf("%+v: %v", ana, err)
	}
	var session identity.Ticket
	var secret string
	begin := func(made []identity.Issued) ([]byte, error) {
		session, secret = made[0].Ticket, made[0].Secret
		return nil, nil
	}
	if _, first, err := there.Exchange(ctx, o, []identity.Ticket{{Use: identity.Session, Expires: time.Now().Add(time.Hour)}}, begin); err != nil || !first {
		t.Fatal(first, err)
	}
	if _, err := here.Offer(ctx, identity.Link, link, netip.Addr{}); problem.CodeOf(err) != problem.Unauthorized {
		t.Error("a link twice:", err)
	}
	for _, use := range []identity.TicketUse{identity.Access, identity.Link, identity.Renewal} { // a session can't be used as another kind of ticket
		if _, _, err := here.Present(ctx, use, secret, netip.Addr{}); problem.CodeOf(err) != problem.Unauthorized {
			t.Error(use, err)
		}
	}
	if _, err := here.Authenticate(ctx, secret, netip.Addr{}); problem.CodeOf(err) != problem.Unauthorized {
		t.Error("a session as a credential:", err)
	}
	again, _, err := here.Invite(ctx, operator, identity.Token{Owner: "ana@EXAMPLE.com", Tenant: "acme", Scopes: rights, Classes: identity.List{Only: []string{"issues"}},
		Filters: map[string]string{"issues": `{"archived": false}`}}, time.Hour)
	if err != nil || again.ID == record.ID {
		t.Error("another spelling is another record:", again.ID, err) // with a different digest
	}
	refusedSoon(t, "a session of a replaced record", func() error {
		_, _, err := there.Present(ctx, identity.Session, secret, netip.Addr{})
		return err
	})
	if n, err := here.Remove(ctx, operator, "ANA@example.com", "acme"); err != nil || n != 1 {
		t.Error("removed:", n, err)
	}
	if err := here.End(ctx, ana, identity.Session, session.ID); problem.CodeOf(err) != problem.NotFound {
		t.Error(err)
	}
}

// testIssued checks people from an issuer with two handles. Their rights must be those of the last sign-in. Agents
// that they admitted must not have more rights.
func testIssued(t *testing.T, open storetest.Open) {
	place, ctx := t.TempDir(), t.Context()
	stores := []storetest.Store{storetest.Handle(t, open, place), storetest.Handle(t, open, place)}
	here, there := identity.NewTokens(identity.TokenOptions{Store: stores[0], Audit: stores[0]}), identity.NewTokens(identity.TokenOptions{Store: stores[1], Audit: stores[1]})
	operator, rights := identity.Local("test"), []identity.Scope{identity.Read, identity.Write, identity.Review}
	rosa, err := here.Person(ctx, identity.Principal{ID: "oidc:7", Name: "Rosa", Kind: identity.Human, Owner: "rosa", Scopes: rights,
		Claims: value.OfObject([]value.Member{{Name: "region", Value: value.OfString("eu")}}), Filters: map[string]query.Filter{"issues": query.Compare{Path: query.Path{"org"}, Op: query.Eq, Value: value.OfInt(3)}}})
	if err != nil || rosa.ID != "oidc:7" || rosa.TokenID == "" || !rosa.Has(identity.Review) {
		t.Fatalf("%+v: %v", rosa, err)
	}
	same, err := there.Person(ctx, identity.Principal{ID: "oidc:7", Name: "Rosa", Kind: identity.Human, Owner: "rosa", Scopes: rights, Claims: rosa.Claims, Filters: rosa.Filters})
	if err != nil || same.TokenID != rosa.TokenID {
		t.Errorf("the same person again: %+v: %v", same, err)
	}
	for name, scopes := range map[string][]identity.Scope{"review": {identity.Read, identity.Review}, "more": {identity.Read, identity.Delete}, "none": nil} {
		if _, err := here.Grant(ctx, rosa, identity.Granting{Client: "c", Name: "bot", Scopes: scopes, Life: time.Hour}); problem.CodeOf(err) != problem.PermissionDenied {
			t.Error(name, err)
		}
	}
	bot, err := here.Grant(ctx, rosa, identity.Granting{Client: "https://client.example", Name: "bot", Scopes: []identity.Scope{identity.Read}, Life: time.Hour})
	if err != nil || bot.Kind != identity.Agent || bot.Owner != "rosa" || len(bot.Scopes) != 1 || bot.Filters["issues"] == nil || bot.Claims.String() != rosa.Claims.String() {
		t.Fatalf("%+v: %v", bot, err)
	}
	_, access, err := here.Issue(ctx, bot, identity.Ticket{Use: identity.Access, Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := there.Authenticate(ctx, access, netip.Addr{}); err != nil || got.ID != bot.ID || got.Claims.String() != rosa.Claims.String() {
		t.Errorf("%+v: %v", got, err)
	}
	// New rights from the issuer end everything that depends on the former rights, including agents.
	if _, err := there.Person(ctx, identity.Principal{ID: "oidc:7", Name: "Rosa", Kind: identity.Human, Owner: "rosa", Scopes: []identity.Scope{identity.Audit}}); err != nil {
		t.Fatal(err)
	}
	refusedSoon(t, "an agent of a person with other rights", func() error {
		_, err := here.Authenticate(ctx, access, netip.Addr{})
		return err
	})
	testRightless(t, here, there)
	if n, err := here.Remove(ctx, operator, "ROSA", ""); err != nil || n != 1 { // the record of the agent
		t.Error("removed:", n, err)
	}
	if found, err := identity.Reconcile(ctx, stores[0], stores[0]); err != nil || found.Lacks != nil {
		t.Errorf("%+v %v", found, err)
	}
}

// testRightless checks a person without rights from the issuer. The person must be refused, and everything that
// depends on the person's earlier rights must end.
func testRightless(t *testing.T, here, there *identity.Tokens) {
	t.Helper()
	ctx, who := t.Context(), identity.Principal{ID: "oidc:7", Name: "Rosa", Kind: identity.Human, Owner: "rosa"}
	auditor := who
	auditor.Scopes = []identity.Scope{identity.Audit}
	auditor, err := here.Person(ctx, auditor)
	if err != nil {
		t.Fatal(err)
	}
	_, session, err := here.Issue(ctx, auditor, identity.Ticket{Use: identity.Session, Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := there.Person(ctx, who); problem.CodeOf(err) != problem.Unauthorized || p.ID != "" {
		t.Errorf("without rights: %+v: %v", p, err)
	}
	refusedSoon(t, "a session of a person without rights", func() error {
		_, _, err := here.Present(ctx, identity.Session, session, netip.Addr{})
		return err
	})
	if _, _, err := here.Invite(ctx, identity.Local("test"), identity.Token{Owner: "rosa"}, time.Hour); problem.CodeOf(err) != problem.InvalidArgument {
		t.Error("an invitation without scopes:", err)
	}
}

// refusedSoon checks that do is refused as Unauthorized within the time in which one handle sees changes by another.
func refusedSoon(t *testing.T, what string, do func() error) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := do()
		if problem.CodeOf(err) == problem.Unauthorized {
			return
		}
		if err != nil || time.Now().After(end) {
			t.Errorf("%s: %v", what, err)
			return
		}
	}
}
