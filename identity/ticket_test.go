package identity_test

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestTakes checks that the missing sign-in is named by its cause.
func TestTakes(t *testing.T) {
	const recent = "a sign-in of the last 5 min"
	if got := (identity.Principal{Proven: time.Now()}).Takes(5 * time.Minute); got != recent {
		t.Error(got)
	}
	if got := (identity.Principal{}).Takes(5 * time.Minute); !strings.HasPrefix(got, recent+", by a stronger proof than yours") {
		t.Error(got)
	}
}

// TestFresh checks the moments between which a proof counts.
func TestFresh(t *testing.T) {
	for _, tt := range []struct {
		ago, most time.Duration
		want      bool
	}{
		{0, time.Hour, true}, {time.Hour - 1, time.Hour, true}, {time.Hour, time.Hour, false},
		{identity.Fresh - 1, 0, true}, {identity.Fresh, 0, false},
		{1 - time.Minute, 0, true}, {-time.Minute, 0, false},
	} {
		if got := (identity.Principal{Proven: noon.Add(-tt.ago)}).Fresh(noon, tt.most); got != tt.want {
			t.Errorf("%v ago, at most %v: %t", tt.ago, tt.most, got)
		}
	}
	if (identity.Principal{}).Fresh(noon, 0) {
		t.Error("a person who never proved it is fresh")
	}
}

// TestTicketOpen checks the moments at which a ticket ends.
func TestTicketOpen(t *testing.T) {
	for name, tt := range map[string]struct {
		k    identity.Ticket
		want bool
	}{
		"before its end":      {identity.Ticket{Expires: noon.Add(1)}, true},
		"at its end":          {identity.Ticket{Expires: noon}, false},
		"ended":               {identity.Ticket{Expires: noon.Add(time.Hour), Ended: true}, false},
		"not yet idle":        {identity.Ticket{Expires: noon.Add(time.Hour), Idle: 60, Seen: noon.Add(1 - time.Minute)}, true},
		"idle":                {identity.Ticket{Expires: noon.Add(time.Hour), Idle: 60, Seen: noon.Add(-time.Minute)}, false},
		"idle without a rule": {identity.Ticket{Expires: noon.Add(time.Hour), Seen: noon.Add(-time.Hour)}, true},
	} {
		if got := tt.k.Open(noon); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// newOpenRoom returns a room whose clock begins now, since stores drop what has expired by their own clock.
func newOpenRoom(t *testing.T) *room {
	t.Helper()
	r := newRoom(t, identity.TokenOptions{})
	r.now.Store(time.Now().Truncate(time.Second).UnixMicro())
	return r
}

// newTicketRoom returns an open room with a token and its principal.
func newTicketRoom(t *testing.T, want identity.Token) (*room, identity.Token, identity.Principal) {
	t.Helper()
	r := newOpenRoom(t)
	token, secret := r.create(want)
	p, err := r.Authenticate(t.Context(), secret, inside)
	if err != nil {
		t.Fatal(err)
	}
	return r, token, p
}

func (r *room) at() time.Time { return time.UnixMicro(r.now.Load()).UTC() }

func (r *room) after(d time.Duration) { r.now.Store(r.at().Add(d).UnixMicro()) }

func kindOf(err error) string {
	if err == nil {
		return ""
	}
	return problem.Of(err).Kind
}

// TestIssue checks that a ticket ends with the token and the principal that it presents at the latest, and which
// tickets Issue refuses.
func TestIssue(t *testing.T) {
	r, token, p := newTicketRoom(t, identity.Token{Owner: "ana", Expires: time.Now().Add(2 * time.Hour)})
	ctx := t.Context()
	for _, tt := range []struct {
		want, until, end time.Duration // asked for, the principal's end if any, and what comes of it
	}{{time.Hour, 0, time.Hour}, {3 * time.Hour, 0, 0}, {time.Hour, time.Minute, time.Minute}} {
		p.Expires = time.Time{}
		if tt.until > 0 {
			p.Expires = r.at().Add(tt.until)
		}
		end := token.Expires
		if tt.end > 0 {
			end = r.at().Add(tt.end)
		}
		k, _, err := r.Issue(ctx, p, identity.Ticket{Use: identity.Session, Expires: r.at().Add(tt.want)})
		if err != nil || !k.Expires.Equal(end) || !k.Created.Equal(r.at()) || !k.Seen.Equal(r.at()) || k.Token != token.ID {
			t.Errorf("%v: %+v, want the end %v: %v", tt, k, end, err)
		}
	}
	p.Expires = time.Time{}
	for name, want := range map[string]identity.Ticket{"no use": {Expires: r.at().Add(time.Hour)}, "an unknown use": {Use: "key", Expires: r.at().Add(time.Hour)}, "ended": {Use: identity.Link, Expires: r.at()}, "no end": {Use: identity.Link}} {
		if _, secret, err := r.Issue(ctx, p, want); kindOf(err) != "ticket_expired" || secret != "" {
			t.Error(name, secret, err)
		}
	}
	if _, _, err := r.Issue(ctx, identity.Principal{TokenID: "none"}, identity.Ticket{Use: identity.Session, Expires: r.at().Add(time.Hour)}); kindOf(err) == "" {
		t.Error("a ticket of no token")
	}
	if err := r.Revoke(ctx, operator, token.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Issue(ctx, p, identity.Ticket{Use: identity.Session, Expires: r.at().Add(time.Hour)}); kindOf(err) == "" {
		t.Error("a ticket of a revoked token")
	}
}

// TestPresent checks every reason for which a ticket is refused, the principal of a good one, and when its use is
// noted.
func TestPresent(t *testing.T) {
	r, _, p := newTicketRoom(t, identity.Token{Owner: "ana", IPs: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	ctx := t.Context()
	proven := r.at().Add(-time.Minute)
	k, secret, err := r.Issue(ctx, p, identity.Ticket{Use: identity.Session, Expires: r.at().Add(time.Hour), Proven: proven})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		use    identity.TicketUse
		secret string
		from   netip.Addr
		kind   string
	}{
		"another prefix":   {identity.Session, "bwl_" + secret[4:], inside, "ticket_malformed"},
		"too short":        {identity.Session, secret[:len(secret)-1], inside, "ticket_malformed"},
		"too long":         {identity.Session, secret + "a", inside, "ticket_malformed"},
		"another use":      {identity.Link, "bwl_" + secret[4:], inside, "ticket_unknown"},
		"another secret":   {identity.Session, secret[:4] + strings.Repeat("a", len(secret)-4), inside, "ticket_unknown"},
		"another address":  {identity.Session, secret, netip.MustParseAddr("198.51.100.1"), "token_address"},
		"an unknown usage": {"", secret, inside, "ticket_malformed"},
	} {
		if got, _, err := r.Present(ctx, tt.use, tt.secret, tt.from); kindOf(err) != tt.kind || got.ID != "" {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	got, _, err := r.Present(ctx, identity.Session, secret, inside)
	if err != nil || got.ID != p.ID || !got.Expires.Equal(k.Expires) || !got.Proven.Equal(proven) {
		t.Errorf("%+v: %v", got, err)
	}
	for _, pause := range []struct {
		since time.Duration
		noted bool
	}{{time.Minute - time.Microsecond, false}, {time.Microsecond, true}, {time.Minute - time.Microsecond, false}, {time.Microsecond, true}} {
		r.after(pause.since)
		if _, k, err := r.Present(ctx, identity.Session, secret, inside); err != nil || k.Seen.Equal(r.at()) != pause.noted {
			t.Errorf("after %v: last seen %v at %v: %v", pause.since, k.Seen, r.at(), err)
		}
	}
	r.now.Store(k.Expires.UnixMicro())
	if _, old, err := r.Present(ctx, identity.Session, secret, inside); kindOf(err) != "ticket_ended" && kindOf(err) != "ticket_unknown" {
		t.Error("at its end:", old, err)
	}
}

// TestIdleTicket checks that uses of a ticket that ends when it isn't used are noted often enough, and that it ends.
func TestIdleTicket(t *testing.T) {
	r, _, p := newTicketRoom(t, identity.Token{Owner: "ana"})
	_, secret, err := r.Issue(t.Context(), p, identity.Ticket{Use: identity.Session, Expires: r.at().Add(time.Hour), Idle: 60})
	if err != nil {
		t.Fatal(err)
	}
	for _, since := range []time.Duration{14 * time.Second, time.Second, 59 * time.Second, 59 * time.Second} {
		r.after(since)
		_, k, err := r.Present(t.Context(), identity.Session, secret, inside)
		if err != nil || k.Seen.Equal(r.at()) != (since != 14*time.Second) {
			t.Fatalf("after %v: last seen %v at %v: %v", since, k.Seen, r.at(), err)
		}
	}
	r.after(time.Minute)
	if _, _, err := r.Present(t.Context(), identity.Session, secret, inside); kindOf(err) != "ticket_ended" {
		t.Error("idle:", err)
	}
}

// TestSpend checks that a ticket is used up by its first use. A second use ends the grant of an agent whose code was
// stolen. It ends nothing of a person whose link was opened twice.
func TestSpend(t *testing.T) {
	for use, stolen := range map[identity.TicketUse]bool{identity.Code: true, identity.Renewal: true, identity.Link: false} {
		r, _, p := newTicketRoom(t, identity.Token{Owner: "ana"})
		ctx := t.Context()
		_, secret, err := r.Issue(ctx, p, identity.Ticket{Use: use, Expires: r.at().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		_, session, err := r.Issue(ctx, p, identity.Ticket{Use: identity.Session, Expires: r.at().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := spend(ctx, r.Tokens, use, secret, inside); err != nil || got.ID != p.ID {
			t.Errorf("%s: %+v %v", use, got, err)
		}
		r.after(identity.Repeat) // a refresh is repeated until then
		if got, err := spend(ctx, r.Tokens, use, secret, inside); kindOf(err) != "ticket_ended" || got.ID != "" {
			t.Errorf("%s twice: %+v %v", use, got, err)
		}
		if _, _, err := r.Present(ctx, identity.Session, session, inside); (err != nil) != stolen {
			t.Errorf("%s twice: the grant: %v", use, err)
		}
	}
}

// TestSessions checks whose sessions a person sees and can end, and in which order.
func TestSessions(t *testing.T) {
	r, _, bot := newTicketRoom(t, identity.Token{Owner: "ana", Tenant: "acme"})
	ctx := t.Context()
	var ids []string
	for range 2 {
		r.after(time.Second)
		k, _, err := r.Issue(ctx, bot, identity.Ticket{Use: identity.Session, Expires: r.at().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append([]string{k.ID}, ids...) // the newest first
	}
	person := func(owner, tenant string, kind identity.Kind) identity.Principal {
		return identity.Principal{ID: "oidc:1", Kind: kind, Owner: owner, Tenant: tenant, Scopes: []identity.Scope{identity.Read}}
	}
	for name, tt := range map[string]struct {
		by   identity.Principal
		many int
		mine bool
	}{
		"ana": {person("ana", "acme", identity.Human), 2, true}, "an operator": {operator, 2, false}, "bob": {person("bob", "acme", identity.Human), 0, false},
		"ana of another tenant": {person("ana", "globex", identity.Human), 0, false}, "an agent of ana's": {person("ana", "acme", identity.Agent), 0, false}, "nobody": {person("", "acme", identity.Human), 0, false},
	} {
		all, err := r.Sessions(ctx, tt.by, identity.Session, nil)
		if err != nil || len(all) != tt.many {
			t.Errorf("%s: %d sessions: %v", name, len(all), err)
			continue
		}
		for i, s := range all {
			if s.ID != ids[i] || s.Mine != tt.mine || s.Of.Owner != "ana" {
				t.Errorf("%s: session %d is %+v", name, i, s)
			}
		}
		if tt.many == 0 {
			if err := r.End(ctx, tt.by, identity.Session, ids[0]); problem.CodeOf(err) != problem.NotFound {
				t.Errorf("%s ends one: %v", name, err)
			}
		}
	}
	if err := r.End(ctx, person("ana", "acme", identity.Human), identity.Session, ids[0]); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Sessions(ctx, operator, identity.Session, nil); err != nil || len(all) != 1 || all[0].ID != ids[1] {
		t.Error("after one has ended:", all, err)
	}
}

// TestTicketTimes checks that a ticket is kept with the times that the store can hold.
func TestTicketTimes(t *testing.T) {
	r, _, p := newTicketRoom(t, identity.Token{})
	elsewhere := time.FixedZone("", 7200)
	k, secret, err := r.Issue(t.Context(), p, identity.Ticket{Use: identity.Session, Expires: r.at().Add(time.Hour + 1500).In(elsewhere), Proven: r.at().Add(1500).In(elsewhere)})
	if err != nil || k.Expires != r.at().Add(time.Hour+1000) || k.Proven != r.at().Add(1000) {
		t.Errorf("%v, %v: %v", k.Expires, k.Proven, err)
	}
	if _, got, err := r.Present(t.Context(), identity.Session, secret, inside); err != nil || got != k {
		t.Errorf("%+v, want %+v: %v", got, k, err)
	}
}

// TestUsesNoted checks of which tickets a use is noted, and that it is one of the token, too.
func TestUsesNoted(t *testing.T) {
	for use, noted := range map[identity.TicketUse]bool{identity.Session: true, identity.Access: true, identity.Link: false, identity.Code: false, identity.Renewal: false} {
		r, token, p := newTicketRoom(t, identity.Token{})
		_, secret, err := r.Issue(t.Context(), p, identity.Ticket{Use: use, Expires: r.at().Add(time.Hour)})
		r.must(err)
		r.after(time.Hour / 2)
		_, k, err := r.Present(t.Context(), use, secret, inside)
		r.must(err)
		r.must(r.Flush(t.Context()))
		if k.Seen.Equal(r.at()) != noted || r.kept(token.ID).LastUsed.Equal(r.at()) != noted {
			t.Errorf("%s: seen %v, the token %v", use, k.Seen, r.kept(token.ID).LastUsed)
		}
	}
}

// forgeTicket writes a ticket directly to the store and returns its secret.
func (r *room) forgeTicket(use identity.TicketUse, token, secret string) string {
	r.t.Helper()
	r.must(r.store.AddTicket(r.t.Context(), identity.Ticket{ID: secret, Hash: sha256.Sum256([]byte(secret)), Use: use, Token: token, Created: r.at(), Seen: r.at(), Expires: r.at().Add(time.Hour)}))
	return secret
}

// TestForged checks what is refused though the store holds it: tickets of another use, and tokens that nothing here makes.
func TestForged(t *testing.T) {
	r, token, _ := newTicketRoom(t, identity.Token{Owner: "ana"})
	bound, _ := r.create(identity.Token{IPs: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}})
	grant := identity.Token{Use: identity.UseGrant, Kind: identity.Agent, Owner: "ana", Scopes: is("read")}
	for id, parent := range map[string]string{"good": token.ID, "bound": bound.ID, "second": "good", "lost": "nobody"} {
		grant.ID, grant.Parent = id, parent
		r.forge(grant)
	}
	r.forge(identity.Token{ID: "root", Scopes: is("root")})
	text := strings.Repeat("a", 42)
	for name, tt := range map[string]struct{ secret, kind string }{
		"a good one":                    {r.forgeTicket(identity.Session, token.ID, "bws_"+text+"0"), ""},
		"an agent":                      {r.forgeTicket(identity.Session, "good", "bws_"+text+"1"), ""},
		"another use":                   {r.forgeTicket(identity.Link, token.ID, "bws_"+text+"2"), "ticket_unknown"},
		"no prefix":                     {r.forgeTicket(identity.Session, token.ID, text+"3"), "ticket_malformed"},
		"an unknown scope":              {r.forgeTicket(identity.Session, "root", "bws_"+text+"4"), "token_invalid"},
		"an agent at another address":   {r.forgeTicket(identity.Session, "bound", "bws_"+text+"5"), "token_address"},
		"an agent that an agent let in": {r.forgeTicket(identity.Session, "second", "bws_"+text+"6"), "token_invalid"},
		"an agent of nobody":            {r.forgeTicket(identity.Session, "lost", "bws_"+text+"7"), "token_unknown"},
	} {
		if p, _, err := r.Present(t.Context(), identity.Session, tt.secret, inside); kindOf(err) != tt.kind || (p.ID == "") != (tt.kind != "") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if _, err := r.Refresh(t.Context(), identity.Principal{ID: "token:root", TokenID: "root"}); kindOf(err) != "token_invalid" {
		t.Error(err)
	}
}

// A second process uses a ticket up just before this one does.
type second struct{ identity.TokenStore }

func (s second) ExchangeTicket(ctx context.Context, id string, next []identity.Ticket) (bool, error) {
	if _, err := s.TokenStore.EndTicket(ctx, id); err != nil {
		return false, err
	}
	return s.TokenStore.ExchangeTicket(ctx, id, next)
}

// TestSpendFails checks that a code that another process used up ends the grant, and one that is refused for another reason
// doesn't.
func TestSpendFails(t *testing.T) {
	for _, rivals := range []bool{true, false} {
		r, token, p := newTicketRoom(t, identity.Token{IPs: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
		_, code, err := r.Issue(t.Context(), p, identity.Ticket{Use: identity.Code, Expires: r.at().Add(time.Hour)})
		r.must(err)
		tokens, from, kind := r.Tokens, netip.MustParseAddr("198.51.100.1"), "token_address"
		if rivals {
			tokens, from, kind = identity.NewTokens(identity.TokenOptions{Store: second{r.store}, Audit: r.log, Now: r.at}), inside, "ticket_ended"
		}
		if got, err := spend(t.Context(), tokens, identity.Code, code, from); kindOf(err) != kind || got.ID != "" || r.ended(token.ID) != rivals {
			t.Errorf("%+v, %v, the grant has ended: %t", got, err, r.ended(token.ID))
		}
	}
}

// TestOpenSessions checks which sessions each principal lists, and that the chosen one ends.
func TestOpenSessions(t *testing.T) {
	r, token, p := newTicketRoom(t, identity.Token{Owner: "ana", Tenant: "acme"})
	gone, _ := r.create(identity.Token{Owner: "ana", Tenant: "acme"})
	nobodys, _ := r.create(identity.Token{Tenant: "acme"})
	for _, k := range []identity.Token{gone, nobodys} {
		who, err := k.Principal()
		r.must(err)
		r.session(who, 0)
	}
	r.session(p, 60)
	r.must(r.Revoke(t.Context(), operator, gone.ID))
	r.after(time.Minute)
	r.session(p, 60)
	r.after(time.Second)
	r.session(p, 0)
	ana := identity.Principal{ID: "oidc:1", Kind: identity.Human, Owner: "ana", Tenant: "acme"}
	nobody := identity.Principal{ID: "oidc:2", Kind: identity.Human, Tenant: "acme"}
	globex := acme
	globex.Tenant = "globex"
	list := func(by identity.Principal) (out []identity.OpenTicket) {
		t.Helper()
		out, err := r.Sessions(t.Context(), by, identity.Session, nil)
		r.must(err)
		return out
	}
	for who, many := range map[*identity.Principal]int{&ana: 2, &operator: 3, &acme: 3, &globex: 0, &nobody: 0} {
		if got := list(*who); len(got) != many {
			t.Errorf("%s of %s sees %d sessions, want %d", who.ID, who.Tenant, len(got), many)
		}
	}
	all := list(ana)
	bob, _ := r.create(identity.Token{Owner: "bob", Tenant: "acme"})
	bobs, err := bob.Principal()
	r.must(err)
	r.session(bobs, 0)
	bobs.Kind = identity.Human
	if err := r.End(t.Context(), bobs, identity.Session, all[0].ID); problem.CodeOf(err) != problem.NotFound || len(list(ana)) != 2 {
		t.Error("one who has a session ends another's:", err)
	}
	r.must(r.End(t.Context(), ana, identity.Session, all[1].ID))
	if left := list(ana); len(left) != 1 || left[0].ID != all[0].ID || left[0].Token != token.ID {
		t.Error("the other one has ended:", left)
	}
}
