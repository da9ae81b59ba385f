package identity_test

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

const day = 24 * time.Hour

// is returns scopes by their names.
func is(names string) (out []identity.Scope) {
	for _, s := range strings.Fields(names) {
		out = append(out, identity.Scope(s))
	}
	return out
}

// invited returns a person who was invited and followed the link.
func (r *room) invited(want identity.Token) identity.Principal {
	r.t.Helper()
	_, link, err := r.Invite(r.t.Context(), operator, want, time.Hour)
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := spend(r.t.Context(), r.Tokens, identity.Link, link, inside)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// granted lets an agent in for a person.
func (r *room) granted(by identity.Principal, client string) identity.Principal {
	r.t.Helper()
	p, err := r.Grant(r.t.Context(), by, identity.Granting{Client: client, Name: client, Scopes: is("read"), Life: time.Hour})
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// session opens a session of a principal.
func (r *room) session(p identity.Principal, idle int64) (secret string) {
	r.t.Helper()
	_, secret, err := r.Issue(r.t.Context(), p, identity.Ticket{Use: identity.Session, Expires: r.at().Add(10 * day), Idle: idle})
	if err != nil {
		r.t.Fatal(err)
	}
	return secret
}

// kept returns the record of a token.
func (r *room) kept(id string) identity.Token {
	r.t.Helper()
	all, err := r.store.FindTokens(r.t.Context(), identity.TokenFilter{})
	if err != nil {
		r.t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(k identity.Token) bool { return k.ID == id })
	if i < 0 {
		r.t.Fatalf("no record %q", id)
	}
	return all[i]
}

// forge writes a record directly to the store.
func (r *room) forge(k identity.Token) {
	r.t.Helper()
	k.Prefix = fmt.Sprintf("%8s", k.ID)
	k.Kind = cmp.Or(k.Kind, identity.Human)
	k.Created, k.Expires = cmp.Or(k.Created, r.at()), cmp.Or(k.Expires, r.at().Add(day))
	if err := r.store.AddToken(r.t.Context(), k, audit.Record{Step: "token:" + k.ID + ":created"}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) ended(id string) bool { return !r.kept(id).Revoked.IsZero() }

func (r *room) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestSignsIn checks who has pages in the console.
func TestSignsIn(t *testing.T) {
	for _, tt := range []struct {
		who  identity.Principal
		want bool
	}{
		{identity.Principal{Kind: identity.Human, Scopes: is("review")}, true},
		{identity.Principal{Kind: identity.Human, Scopes: is("audit")}, true},
		{identity.Principal{Kind: identity.Human, Scopes: is("operator")}, true},
		{identity.Principal{Kind: identity.Human, Scopes: is("read write delete schema explain")}, false},
		{identity.Principal{Kind: identity.Service, Scopes: is("review audit operator")}, false},
		{identity.Principal{Kind: identity.Human, Scopes: is("review audit operator"), Depth: 1}, false},
	} {
		if got := tt.who.SignsIn(); got != tt.want {
			t.Errorf("%+v: %t", tt.who, got)
		}
	}
}

// TestPersonOfIssuer checks the record that is kept of a person of an issuer, and who doesn't count as a person.
func TestPersonOfIssuer(t *testing.T) {
	r, ctx := newOpenRoom(t), t.Context()
	claims := value.OfObject([]value.Member{{Name: "team", Value: value.OfString("eu")}})
	rosa := identity.Principal{ID: "oidc:7", Kind: identity.Human, Owner: "rosa", Tenant: "acme", Scopes: is("review read"), Claims: claims, Expires: r.at().Add(time.Hour), Proven: r.at().Add(-time.Minute),
		Tools: identity.List{Only: []string{"a"}}, Actions: identity.List{Only: []string{"b"}}, Classes: identity.List{Except: []string{"c"}},
		Filters: map[string]query.Filter{"default": rule(t, `{"d":1}`), "issues": rule(t, `{"e":2}`)}}
	got, err := r.Person(ctx, rosa)
	if err != nil {
		t.Fatal(err)
	}
	kept := r.kept(got.TokenID)
	if kept.Name != "rosa" || kept.Use != identity.UsePerson || kept.Subject != "oidc:7" || !kept.Expires.Equal(r.at().Add(365*day)) {
		t.Errorf("%+v", kept)
	}
	want := rosa
	want.TokenID, want.Name, want.Scopes = got.TokenID, "rosa", is("read review")
	if string(identity.Freeze(got)) != string(identity.Freeze(want)) || !got.Expires.Equal(rosa.Expires) || !got.Proven.Equal(rosa.Proven) {
		t.Errorf("%+v, want %+v", got, want)
	}
	ana := r.invited(identity.Token{Owner: "ana", Scopes: is("read")})
	if again, err := r.Person(ctx, ana); err != nil || again.TokenID != ana.TokenID || r.kept(ana.TokenID).Claims != "" {
		t.Errorf("one with a token is left as they are: %+v, %v", again, err)
	}
	plain, err := r.Person(ctx, identity.Principal{ID: "oidc:9", Kind: identity.Human, Owner: "max", Scopes: is("read")})
	if err != nil || r.kept(plain.TokenID).Claims != "" || kept.Claims != `{"team":"eu"}` {
		t.Errorf("%+v, %v", plain, err)
	}
	within := identity.List{Only: []string{"a"}}.And(identity.List{Except: []string{"b"}})
	for name, tt := range map[string]struct {
		edit func(*identity.Principal)
		kind string
	}{
		"a service":       {func(p *identity.Principal) { p.Kind = identity.Service; p.Scopes = is("read") }, "not_a_person"},
		"a sub-principal": {func(p *identity.Principal) { p.Depth = 1 }, "not_a_person"},
		"nobody":          {func(p *identity.Principal) { p.ID = "" }, "not_a_person"},
		"tools within":    {func(p *identity.Principal) { p.Tools = within }, "lists_within"},
		"actions within":  {func(p *identity.Principal) { p.Actions = within }, "lists_within"},
		"classes within":  {func(p *identity.Principal) { p.Classes = within }, "lists_within"},
		"no rights":       {func(p *identity.Principal) { p.Scopes = nil }, "no_rights"},
		"unknown rights":  {func(p *identity.Principal) { p.Scopes = is("read root") }, "unknown_scope"},
	} {
		p := rosa
		p.ID = "oidc:8"
		tt.edit(&p)
		if got, err := r.Person(ctx, p); kindOf(err) != tt.kind || got.ID != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if r.ended(got.TokenID) {
		t.Error("another person's record has ended")
	}
}

// TestPersonAgain checks when the record of a person is used again, when it is made anew, and which ones end with that.
func TestPersonAgain(t *testing.T) {
	rosa := identity.Principal{ID: "oidc:7", Name: "Rosa", Kind: identity.Human, Owner: "rosa", Tenant: "acme", Scopes: is("read review"), Claims: value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(1)}})}
	for _, tt := range []struct {
		name        string
		later       time.Duration
		edit        func(*identity.Principal)
		same, ended bool
	}{
		{"the same rights", 0, func(*identity.Principal) {}, true, false},
		{"in another order", 0, func(p *identity.Principal) { p.Scopes = is("review read") }, true, false},
		{"just before half of its life", 182*day + 12*time.Hour - time.Microsecond, func(*identity.Principal) {}, true, false},
		{"at half of its life", 182*day + 12*time.Hour, func(*identity.Principal) {}, false, false},
		{"other scopes", 0, func(p *identity.Principal) { p.Scopes = is("review") }, false, true},
		{"other claims", 0, func(p *identity.Principal) {
			p.Claims = value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(2)}})
		}, false, true},
		{"another tenant", 0, func(p *identity.Principal) { p.Tenant = "globex" }, false, true},
		{"a further restriction", 0, func(p *identity.Principal) { p.Tools.Only = []string{} }, false, true},
		{"other scopes when it has expired", 365 * day, func(p *identity.Principal) { p.Scopes = is("review") }, false, false},
		{"another person", 0, func(p *identity.Principal) { p.ID = "oidc:8" }, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, ctx := newOpenRoom(t), t.Context()
			first, err := r.Person(ctx, rosa)
			r.must(err)
			r.after(tt.later)
			p := rosa
			tt.edit(&p)
			next, err := r.Person(ctx, p)
			if err != nil || (next.TokenID == first.TokenID) != tt.same || r.ended(first.TokenID) != tt.ended || r.ended(next.TokenID) {
				t.Errorf("%+v after %+v, which has ended: %t: %v", next, first, r.ended(first.TokenID), err)
			}
		})
	}
	r, ctx := newOpenRoom(t), t.Context()
	first, err := r.Person(ctx, rosa)
	r.must(err)
	bot := r.granted(first, "oidc:7") // a client that calls itself what the person is called
	invited := r.invited(identity.Token{Owner: "rosa", Tenant: "acme", Scopes: is("audit")})
	if _, err := r.Person(ctx, rosa); err != nil || r.ended(bot.TokenID) || r.ended(invited.TokenID) || r.ended(first.TokenID) {
		t.Error("what isn't the issuer's record of them has ended:", err)
	}
	r.must(r.Revoke(ctx, operator, first.TokenID))
	if next, err := r.Person(ctx, rosa); err != nil || next.TokenID == first.TokenID {
		t.Errorf("a revoked record is good again: %+v, %v", next, err)
	}
	none := rosa
	none.Scopes = nil
	session := r.session(invited, 0)
	if _, err := r.Person(ctx, none); kindOf(err) != "no_rights" {
		t.Error(err)
	}
	if _, _, err := r.Present(ctx, identity.Session, session, inside); err != nil {
		t.Error("an invitation of the same name:", err)
	}
	all, err := r.store.FindTokens(ctx, identity.TokenFilter{})
	r.must(err)
	for _, k := range all {
		if k.Subject == "oidc:7" && k.Use == identity.UsePerson && k.Revoked.IsZero() {
			t.Errorf("a person without rights has a record: %+v", k)
		}
	}
	// Where the new record can't be made, the former one stays.
	first, err = r.Person(ctx, rosa)
	r.must(err)
	r.store.add = func() error { return errDisk }
	if _, err := r.Person(ctx, identity.Principal{ID: "oidc:7", Kind: identity.Human, Owner: "rosa", Scopes: is("audit")}); err == nil || r.ended(first.TokenID) {
		t.Error("the only record has ended:", err)
	}
}

// TestInvite checks who may invite which people, for how long the link is good, and what ends with a new invitation.
func TestInvite(t *testing.T) {
	r, ctx := newOpenRoom(t), t.Context()
	for name, tt := range map[string]struct {
		by   identity.Principal
		want identity.Token
		code problem.Code
		says string
	}{
		"an agent":             {identity.Principal{Kind: identity.Agent, Scopes: is("operator")}, identity.Token{Owner: "ana", Scopes: is("read")}, problem.PermissionDenied, "Only an operator can manage tokens, and never an agent"},
		"nobody":               {operator, identity.Token{Name: "x", Owner: "\u200b", Scopes: is("read")}, problem.InvalidArgument, "An invitation names the person, such as ana@example.com"},
		"no scopes":            {operator, identity.Token{Owner: "ana"}, problem.InvalidArgument, "An invitation names the person's scopes, such as review"},
		"an unknown scope":     {operator, identity.Token{Owner: "ana", Scopes: is("read root")}, problem.InvalidArgument, "There is no scope “root”"},
		"someone of elsewhere": {acme, identity.Token{Owner: "ana", Tenant: "globex", Scopes: is("read")}, problem.PermissionDenied, "An operator of “acme” makes tokens only of that tenant"},
	} {
		if made, link, err := r.Invite(ctx, tt.by, tt.want, time.Hour); problem.CodeOf(err) != tt.code || problem.Of(err).Detail != tt.says || link != "" || made.ID != "" {
			t.Errorf("%s: %+v, %q, %v", name, made, link, err)
		}
	}
	made, link, err := r.Invite(ctx, acme, identity.Token{Owner: "ana", Kind: identity.Agent, Subject: "x", Parent: "y", Scopes: is("review read"), Expires: r.at().Add(time.Hour)}, time.Hour)
	if err != nil || made.Use != identity.UsePerson || made.Kind != identity.Human || made.Name != "ana" || made.Tenant != "acme" || made.Subject != "" || made.Parent != "" ||
		!made.Expires.Equal(r.at().Add(365*day)) || fmt.Sprint(made.Scopes) != "[read review]" {
		t.Errorf("%+v, %v", made, err)
	}
	r.after(time.Hour - time.Microsecond)
	if p, _, err := r.Present(ctx, identity.Link, link, inside); err != nil || p.ID != "token:"+made.ID {
		t.Errorf("%+v, %v", p, err)
	}
	r.after(time.Microsecond)
	if _, _, err := r.Present(ctx, identity.Link, link, inside); kindOf(err) != "ticket_ended" {
		t.Error("a link an hour later:", err)
	}
	again, _, err := r.Invite(ctx, operator, identity.Token{Owner: "ana", Tenant: "acme", Scopes: is("read review")}, time.Hour)
	if err != nil || again.ID != made.ID {
		t.Errorf("a second invitation: %+v, %v", again, err)
	}
	bot, _ := r.create(identity.Token{Owner: "ana", Tenant: "acme"})
	bob := r.invited(identity.Token{Owner: "bob", Tenant: "acme", Scopes: is("read")})
	far := r.invited(identity.Token{Owner: "ana", Tenant: "globex", Scopes: is("read")})
	issued, err := r.Person(ctx, identity.Principal{ID: "oidc:1", Kind: identity.Human, Owner: "ana", Tenant: "acme", Scopes: is("audit")})
	r.must(err)
	next := r.invited(identity.Token{Owner: "Ana", Tenant: "acme", Name: "Ana A.", Scopes: is("audit")})
	if !r.ended(made.ID) || r.ended(bot.ID) || r.ended(bob.TokenID) || r.ended(far.TokenID) || r.ended(issued.TokenID) || next.Name != "Ana A." {
		t.Errorf("other rights: %+v", next)
	}
}

// TestRemove checks what ends with a person, and who may remove them.
func TestRemove(t *testing.T) {
	r, ctx := newOpenRoom(t), t.Context()
	var left []string
	r.store.leave = func(person, tenant string) { left = append(left, person+" of "+tenant) }
	old, _ := r.create(identity.Token{Owner: "ana", Tenant: "acme", Expires: r.at().Add(time.Minute)})
	r.after(time.Minute)
	ana := r.invited(identity.Token{Owner: "ana", Tenant: "acme", Scopes: is("read")})
	bot := r.granted(ana, "c")
	own, _ := r.create(identity.Token{Owner: "Ana", Tenant: "acme"})
	var others []string
	for _, k := range []identity.Token{{Owner: "ana", Tenant: "globex"}, {Owner: "ana"}, {Owner: "bob", Tenant: "acme"}, {Tenant: "acme"}, {}} {
		made, _ := r.create(k)
		others = append(others, made.ID)
	}
	for name, tt := range map[string]struct {
		by            identity.Principal
		owner, tenant string
		code          problem.Code
	}{
		"by an agent":              {identity.Principal{Kind: identity.Agent, Scopes: is("operator")}, "ana", "acme", problem.PermissionDenied},
		"someone of elsewhere":     {acme, "ana", "globex", problem.NotFound},
		"nobody":                   {operator, "\u200b", "", problem.NotFound},
		"nobody, in a tenant":      {operator, "", "acme", problem.NotFound},
		"someone who isn't there":  {operator, "eve", "acme", problem.NotFound},
		"someone in another place": {operator, "bob", "", problem.NotFound},
	} {
		if n, err := r.Remove(ctx, tt.by, tt.owner, tt.tenant); problem.CodeOf(err) != tt.code || n != 0 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	slices.Sort(left)
	if got := strings.Join(left, ", "); got != "bob of , eve of acme" {
		t.Error("whose connections have ended:", got)
	}
	left = nil
	if n, err := r.Remove(ctx, acme, "ANA", "acme"); err != nil || n != 3 || !r.ended(ana.TokenID) || !r.ended(bot.TokenID) || !r.ended(own.ID) || r.ended(old.ID) || fmt.Sprint(left) != "[ana of acme]" {
		t.Error(n, left, err)
	}
	for _, id := range others {
		if r.ended(id) {
			t.Errorf("removed, too: %+v", r.kept(id))
		}
	}
	if n, err := r.Remove(ctx, acme, "ana", "acme"); problem.CodeOf(err) != problem.NotFound || n != 0 {
		t.Error("twice:", n, err)
	}
}

// TestGrant checks what a person can hand to an agent, and that it ends with the person.
func TestGrant(t *testing.T) {
	r, ctx := newOpenRoom(t), t.Context()
	ana := r.invited(identity.Token{Owner: "ana", Tenant: "acme", Scopes: is("read write review"), Classes: identity.List{Only: []string{"issues"}}, Filters: map[string]string{"issues": `{"a":1}`},
		IPs: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	got, err := r.Grant(ctx, ana, identity.Granting{Client: "https://client.example", Name: "bot", Scopes: is("write read"), Life: time.Hour})
	r.must(err)
	kept := r.kept(got.TokenID)
	if kept.Use != identity.UseGrant || kept.Parent != ana.TokenID || kept.Subject != "https://client.example" || kept.Kind != identity.Agent || kept.Name != "bot" || fmt.Sprint(kept.Scopes) != "[read write]" ||
		kept.Owner != "ana" || kept.Tenant != "acme" || kept.Filters["issues"] == "" || len(kept.IPs) != 1 || !kept.Expires.Equal(r.at().Add(time.Hour)) || got.ID != "token:"+kept.ID || got.Classes.Allows("users") {
		t.Errorf("%+v as %+v", kept, got)
	}
	edit := func(p identity.Principal, do func(*identity.Principal)) identity.Principal {
		do(&p)
		return p
	}
	nobody, _ := r.create(identity.Token{Kind: identity.Human, Scopes: is("read")})
	nobodys, err := nobody.Principal()
	r.must(err)
	for name, tt := range map[string]struct {
		by     identity.Principal
		scopes string
		kind   string
	}{
		"review":           {ana, "read review", "not_lendable"},
		"what they lack":   {ana, "delete", "not_lendable"},
		"nothing":          {ana, "", "not_lendable"},
		"by a service":     {edit(ana, func(p *identity.Principal) { p.Kind = identity.Service }), "read", "not_lendable"},
		"by nobody":        {nobodys, "read", "not_lendable"},
		"by an agent":      {edit(ana, func(p *identity.Principal) { p.TokenID = got.TokenID }), "read", "not_lendable"},
		"without a record": {edit(ana, func(p *identity.Principal) { p.TokenID = "x" }), "read", "token_unknown"},
	} {
		if p, err := r.Grant(ctx, tt.by, identity.Granting{Client: "c", Name: "bot", Scopes: is(tt.scopes), Life: time.Hour}); kindOf(err) != tt.kind || p.ID != "" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	short, _ := r.create(identity.Token{Kind: identity.Human, Owner: "ana", Expires: r.at().Add(time.Minute)})
	by, err := short.Principal()
	r.must(err)
	if k := r.kept(r.granted(by, "c").TokenID); !k.Expires.Equal(short.Expires) {
		t.Error("it ends with the person's record:", k.Expires)
	}
	secret := r.session(got, 0)
	r.must(r.Revoke(ctx, operator, ana.TokenID))
	if _, _, err := r.Present(ctx, identity.Session, secret, inside); kindOf(err) != "token_revoked" {
		t.Error("an agent of a person who has left:", err)
	}
	if _, err := r.Refresh(ctx, got); kindOf(err) != "token_revoked" {
		t.Error("an agent of a person who has left:", err)
	}
}

// TestAgents checks whose agents a person sees and ends.
func TestAgents(t *testing.T) {
	r, ctx := newOpenRoom(t), t.Context()
	ana := r.invited(identity.Token{Owner: "ana", Tenant: "acme", Scopes: is("read")})
	bob := r.invited(identity.Token{Owner: "bob", Tenant: "acme", Scopes: is("read")})
	far := r.invited(identity.Token{Owner: "ana", Tenant: "globex", Scopes: is("read")})
	var want []string
	for _, client := range []string{"a", "b", "c"} {
		r.after(time.Second)
		want = append([]string{r.granted(ana, client).TokenID}, want...) // the newest first
	}
	r.granted(bob, "d")
	r.granted(far, "e")
	r.create(identity.Token{Owner: "ana", Tenant: "acme"})
	gone := r.granted(ana, "f")
	r.forge(identity.Token{ID: "nobodys", Use: identity.UseGrant, Kind: identity.Agent, Parent: ana.TokenID, Scopes: is("read"), Tenant: "acme"})
	nobody := identity.Principal{ID: "token:x", Tenant: "acme", Kind: identity.Human, Scopes: is("read")}
	for name, tt := range map[string]struct {
		by identity.Principal
		id string
	}{
		"bob's": {bob, want[0]}, "ana of another tenant": {far, want[0]}, "nobody": {nobody, "nobodys"}, "no such agent": {ana, "x"}, "her own record": {ana, ana.TokenID},
	} {
		if err := r.EndGrant(ctx, tt.by, tt.id); problem.CodeOf(err) != problem.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.must(r.EndGrant(ctx, ana, gone.TokenID))
	if !r.ended(gone.TokenID) {
		t.Error("it hasn't ended")
	}
	list := func(by identity.Principal) (out []string) {
		all, err := r.Agents(ctx, by)
		r.must(err)
		for _, k := range all {
			out = append(out, k.ID)
		}
		return out
	}
	if got := list(ana); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := list(nobody); got != nil {
		t.Error("nobody's:", got)
	}
	r.after(time.Hour)
	if got := list(ana); got != nil {
		t.Error("an hour later:", got)
	}
}

// TestKnown checks who is known for a decision elsewhere, with which rights.
func TestKnown(t *testing.T) {
	r, ctx := newOpenRoom(t), t.Context()
	known := func(owner, tenant string) string {
		t.Helper()
		first, err := r.FindPerson(ctx, owner, tenant)
		if kind := kindOf(err); (kind != "") != (first.ID == "") || kind != "" && kind != "person" && (kind != "person_tenant" || tenant != "" || owner != "ana") {
			t.Fatalf("%+v, %v", first, err)
		}
		for range 20 { // whatever the order
			if p, _ := r.FindPerson(ctx, owner, tenant); p.TokenID != first.TokenID {
				t.Errorf("%s of %s: %q and %q", owner, tenant, first.TokenID, p.TokenID)
			}
		}
		return first.TokenID
	}
	ana := r.invited(identity.Token{Owner: "ana", Tenant: "acme", Scopes: is("review")})
	r.create(identity.Token{Owner: "bot", Tenant: "acme", Kind: identity.Human, Scopes: is("review")})
	for _, tt := range []struct{ owner, tenant, want string }{
		{"ana", "acme", ana.TokenID}, {"ANA ", "acme", ana.TokenID}, {"ana", "", ""}, {"ana", "globex", ""}, {"eve", "acme", ""}, {"", "acme", ""}, {"bot", "acme", ""},
	} {
		if got := known(tt.owner, tt.tenant); got != tt.want {
			t.Errorf("%s of %s: %q", tt.owner, tt.tenant, got)
		}
	}
	// People of an issuer are known while they have a session.
	rosa, err := r.Person(ctx, identity.Principal{ID: "oidc:7", Kind: identity.Human, Owner: "rosa", Scopes: is("review")})
	r.must(err)
	nobody, err := r.Person(ctx, identity.Principal{ID: "oidc:8", Name: "Eve", Kind: identity.Human, Scopes: is("audit")})
	r.must(err)
	r.session(nobody, 0)
	if got := known("rosa", "") + known("", ""); got != "" {
		t.Error("without a session:", got)
	}
	r.session(rosa, 60)
	if got := known("rosa", ""); got != rosa.TokenID {
		t.Error("with a session:", got)
	}
	r.after(time.Minute)
	if got := known("rosa", ""); got != "" {
		t.Error("an idle session:", got)
	}
	// The newest record counts, of those that are good.
	for i := range 6 {
		k := identity.Token{ID: fmt.Sprint("ana", i), Use: identity.UsePerson, Owner: "ana", Tenant: "acme", Scopes: is("review"), Created: r.at().Add(time.Duration(i) * time.Second)}
		if i == 4 {
			k.Scopes = is("root")
		}
		r.forge(k)
	}
	r.must(r.Revoke(ctx, operator, "ana5"))
	if got := known("ana", "acme"); got != "ana3" {
		t.Error("the newest good one:", got)
	}
	r.after(2 * day)
	if got := known("ana", "acme"); got != ana.TokenID {
		t.Error("those of a day have expired:", got)
	}
}

// TestWithoutAudit checks that nothing is made for people where no log records it.
func TestWithoutAudit(t *testing.T) {
	r := newOpenRoom(t)
	ana := r.invited(identity.Token{Owner: "ana", Scopes: is("read")})
	tokens := identity.NewTokens(identity.TokenOptions{Store: r.store, Now: r.at})
	for name, do := range map[string]func(context.Context) error{
		"a person": func(ctx context.Context) error {
			_, err := tokens.Person(ctx, identity.Principal{ID: "oidc:7", Kind: identity.Human, Scopes: is("read")})
			return err
		},
		"an agent": func(ctx context.Context) error {
			_, err := tokens.Grant(ctx, ana, identity.Granting{Name: "bot", Scopes: is("read"), Life: time.Hour})
			return err
		},
		"an invitation": func(ctx context.Context) error {
			_, _, err := tokens.Invite(ctx, operator, identity.Token{Owner: "bob", Scopes: is("read")}, time.Hour)
			return err
		},
	} {
		if err := do(t.Context()); kindOf(err) != "audit" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := r.store.FindTokens(t.Context(), identity.TokenFilter{}); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}
