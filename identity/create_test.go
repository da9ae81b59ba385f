package identity_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestCreate checks which fields of a token are taken from the request and which are set.
func TestCreate(t *testing.T) {
	is := func(s ...identity.Scope) []identity.Scope { return s }
	late := noon.Add(time.Hour)
	for _, tt := range []struct {
		name string
		by   identity.Principal
		want identity.Token
		kept string // kind, scopes, created, expires, last used, revoked
	}{
		{"the least", operator, identity.Token{}, "agent [read] 2026-07-28T12:00:00Z 2026-10-26T12:00:00Z - -"},
		{"by a service", identity.Principal{Kind: identity.Service, Scopes: is("operator")}, identity.Token{Kind: identity.Service}, "service [read] 2026-07-28T12:00:00Z 2026-10-26T12:00:00Z - -"},
		{"the longest names", operator, identity.Token{Name: strings.Repeat("n", 200), Owner: strings.Repeat("o", 200), Tenant: strings.Repeat("t", 200)}, "agent [read] 2026-07-28T12:00:00Z 2026-10-26T12:00:00Z - -"},
		{"what isn't looked at", operator, identity.Token{ID: "mine", Prefix: "AAAAAAAA", Hash: [32]byte{1}, Use: identity.UsePerson, Parent: "mine", Subject: "mine", Created: late, LastUsed: late, Revoked: late}, "agent [read] 2026-07-28T12:00:00Z 2026-10-26T12:00:00Z - -"},
		{"an end elsewhere", operator, identity.Token{Expires: late.Add(1500).In(time.FixedZone("", 7200))}, "agent [read] 2026-07-28T12:00:00Z 2026-07-28T13:00:00.000001Z - -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t, identity.TokenOptions{})
			tt.want.Name = cmp.Or(tt.want.Name, "bot")
			token, secret, err := r.Create(t.Context(), tt.by, tt.want)
			if err != nil {
				t.Fatal(err)
			}
			all, err := r.List(t.Context(), operator, identity.TokenFilter{})
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			at := func(when time.Time) string {
				if when.IsZero() {
					return "-"
				}
				return when.Format(time.RFC3339Nano)
			}
			for _, got := range []identity.Token{token, all[0]} {
				kept := fmt.Sprint(got.Kind, " ", got.Scopes, " ", at(got.Created), " ", at(got.Expires), " ", at(got.LastUsed), " ", at(got.Revoked))
				if kept != tt.kept || got.ID == "mine" || got.Prefix != secret[3:11] || got.Hash == tt.want.Hash || got.Name != tt.want.Name || got.Use != identity.UseCredential || got.Parent != "" || got.Subject != "" {
					t.Errorf("%s, want %s: %+v", kept, tt.kept, got)
				}
			}
		})
	}
}

// TestCreateTriesAgain checks that Create tries another prefix if one is taken, but not if the store fails.
func TestCreateTriesAgain(t *testing.T) {
	taken := problem.New(problem.Conflict, "taken")
	for _, tt := range []struct {
		fails []error
		tries int
		want  error
	}{
		{[]error{nil}, 1, nil},
		{[]error{taken, nil}, 2, nil},
		{[]error{taken, taken, taken, nil}, 3, taken},
		{[]error{errDisk, nil}, 1, errDisk},
	} {
		r := newRoom(t, identity.TokenOptions{})
		tries := 0
		r.store.add = func() error { tries++; return tt.fails[tries-1] }
		token, secret, err := r.Create(t.Context(), operator, identity.Token{Name: "bot"})
		if !errors.Is(err, tt.want) || tries != tt.tries || (err == nil) != (secret != "") || (err == nil) != (token.ID != "") {
			t.Errorf("%v: %v after %d tries, %q", tt.fails, err, tries, secret)
		}
		if all, err := r.List(t.Context(), operator, identity.TokenFilter{}); err != nil || slices.ContainsFunc(all, func(k identity.Token) bool { return k.ID != token.ID }) {
			t.Errorf("%v: %v, %v", tt.fails, all, err)
		}
	}
}
