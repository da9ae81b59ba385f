package storetest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// manyTokens adds twelve tokens of two people and an issuer's person, the first of which is the oldest.
func manyTokens(t *testing.T, s Store) {
	t.Helper()
	for i := range 12 {
		id := fmt.Sprintf("t%02d", i)
		k := identity.Token{ID: id, Prefix: "pre" + id, Hash: sha256.Sum256([]byte(id)), Name: "Bot " + id, Kind: identity.Agent, Owner: "ANA  b", Tenant: "acme",
			Scopes: []identity.Scope{identity.Read}, Created: noon.Add(time.Duration(i/2) * time.Second), Expires: noon.Add(time.Hour)}
		switch i {
		case 3:
			k.Classes = identity.List{Except: []string{"tracker.users"}}
		case 4:
			k.Filters = map[string]string{"default": `{"a":1}`}
		case 5:
			k.Kind, k.Use, k.Owner, k.Scopes = identity.Human, identity.UsePerson, "Ana B", []identity.Scope{identity.Review, identity.Read}
		case 6:
			k.Kind, k.Owner, k.Scopes = identity.Human, "ana b", []identity.Scope{identity.Read, identity.Audit}
		case 7:
			k.Use, k.Parent, k.Tenant = identity.UseGrant, "t05", "acme"
		case 8:
			k.Kind, k.Use, k.Owner, k.Subject, k.Tenant = identity.Human, identity.UsePerson, "Zoé", "oidc:7", ""
		case 9:
			k.Kind, k.Owner, k.Tenant = identity.Human, "ana b", "globex"
		case 10:
			k.Expires, k.Owner = noon, ""
		case 11:
			k.Owner = ""
		}
		if err := s.AddToken(t.Context(), k, tokenRecord(id, "created", noon)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RevokeToken(t.Context(), "t11", tokenRecord("t11", "revoked", noon)); err != nil {
		t.Fatal(err)
	}
}

// testFindTokens checks each condition of a filter, and that pages return every token once.
func testFindTokens(t *testing.T, open Open) {
	s, ctx := Handle(t, open, t.TempDir()), t.Context()
	manyTokens(t, s)
	for _, tt := range []struct {
		name, want string
		f          identity.TokenFilter
	}{
		{"all", "11 10 09 08 07 06 05 04 03 02 01 00", identity.TokenFilter{}},
		{"a page", "06 05", identity.TokenFilter{After: "t07", Limit: 2}},
		{"after a token of the same time", "08 07", identity.TokenFilter{After: "t09", Limit: 2}},
		{"after the last", "", identity.TokenFilter{After: "t00"}},
		{"after an unknown one", "", identity.TokenFilter{After: "nobody' OR 1=1"}},
		{"by id", "06 03", identity.TokenFilter{IDs: []string{"t03", "t06", "nobody"}}},
		{"no id", "", identity.TokenFilter{IDs: []string{}}},
		{"valid", "09 08 07", identity.TokenFilter{Valid: true, Limit: 3}},
		{"ended", "11 10", identity.TokenFilter{Ended: true}},
		{"both", "", identity.TokenFilter{Ended: true, Valid: true, IDs: []string{}}},
		{"humans", "09 08 06 05", identity.TokenFilter{Kind: identity.Human}},
		{"services", "", identity.TokenFilter{Kind: identity.Service}},
		{"of a tenant", "09", identity.TokenFilter{Tenant: "globex"}},
		{"of a person, however the name is written", "09 07 06 05 04", identity.TokenFilter{Person: "ana b", Limit: 5}},
		{"after, of a person", "03 02 01 00", identity.TokenFilter{Person: "ana b", After: "t04"}},
		{"of a subject", "08", identity.TokenFilter{Subject: "oidc:7"}},
		{"narrowed", "04 03", identity.TokenFilter{Narrowed: true, Valid: true}},
		{"text", "05", identity.TokenFilter{Text: "ana BOT t05"}},
		{"text without a match", "", identity.TokenFilter{Text: "ana zoé"}},
		{"text of a prefix", "08", identity.TokenFilter{Text: "pret08"}},
		{"text with a wildcard", "", identity.TokenFilter{Text: "t0%"}},
		{"all together", "06", identity.TokenFilter{Text: "bot", Kind: identity.Human, Tenant: "acme", Person: "ana b", Valid: true, Limit: 1}},
	} {
		tt.f.At = noon.Add(time.Second)
		found, err := s.FindTokens(ctx, tt.f)
		var ids []string
		for _, k := range found {
			ids = append(ids, strings.TrimPrefix(k.ID, "t"))
		}
		if got := strings.Join(ids, " "); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

// testPeople checks that people are listed once, by their canonical name and tenant, with the rights of all valid tokens.
func testPeople(t *testing.T, open Open) {
	s, ctx := Handle(t, open, t.TempDir()), t.Context()
	manyTokens(t, s)
	if err := s.TouchTokens(ctx, map[string]time.Time{"t06": noon.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	acme := identity.PersonEntry{Owner: "Ana B", Tenant: "acme", Scopes: []identity.Scope{"audit", "read", "review"}, From: "invited", Agents: 1, Seen: noon.Add(time.Minute)}
	globex := identity.PersonEntry{Owner: "ana b", Tenant: "globex", Scopes: []identity.Scope{"read"}, From: "token"}
	zoe := identity.PersonEntry{Owner: "Zoé", Scopes: []identity.Scope{"read"}, From: "issuer"}
	for _, tt := range []struct {
		name string
		f    identity.TokenFilter
		want []identity.PersonEntry
	}{
		{"all", identity.TokenFilter{}, []identity.PersonEntry{acme, globex, zoe}},
		{"a page", identity.TokenFilter{Limit: 1, After: acme.Place()}, []identity.PersonEntry{globex}},
		{"after the last", identity.TokenFilter{After: zoe.Place()}, nil},
		{"of a tenant", identity.TokenFilter{Tenant: "globex"}, []identity.PersonEntry{globex}},
		{"one", identity.TokenFilter{Person: "zoé"}, []identity.PersonEntry{zoe}},
		{"text", identity.TokenFilter{Text: "ZO"}, []identity.PersonEntry{zoe}},
		{"later", identity.TokenFilter{At: noon.Add(time.Hour)}, nil},
	} {
		if tt.f.At.IsZero() {
			tt.f.At = noon
		}
		got, err := s.People(ctx, tt.f)
		for i := range got {
			slices.Sort(got[i].Scopes)
			if got[i].Owner == "ana b" && got[i].Tenant == "acme" {
				got[i].Owner = "Ana B" // one of their spellings
			}
		}
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
	later := time.Now().Add(time.Hour)
	for _, id := range []string{"t05", "t08"} {
		k := identity.Ticket{ID: "of" + id, Hash: sha256.Sum256([]byte(id)), Use: identity.Session, Token: id, Created: noon, Seen: noon, Expires: later}
		if err := s.AddTicket(ctx, k); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		of   []string
		want string
	}{{nil, "oft05 oft08"}, {[]string{"ana b"}, "oft05"}, {[]string{"zoé", "nobody"}, "oft08"}, {[]string{"nobody"}, ""}} {
		open, err := s.Tickets(ctx, identity.Session, tt.of)
		var ids []string
		for _, k := range open {
			ids = append(ids, k.ID)
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); err != nil || got != tt.want {
			t.Errorf("tickets of %q: %q, %v, want %q", tt.of, got, err, tt.want)
		}
	}
}
