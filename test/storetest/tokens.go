package storetest

import (
	"crypto/sha256"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

var noon = time.Date(2026, 7, 28, 12, 0, 0, 123456000, time.UTC)

// token returns a token with every field set.
func token(id string) identity.Token {
	return identity.Token{
		ID: id, Prefix: "pre" + id, Hash: sha256.Sum256([]byte(id)), Name: "Écrivain ‘" + id + "’", Kind: identity.Agent,
		Owner: "ana@example.com", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write},
		Tools:   identity.List{Only: []string{"query_class"}, Except: []string{"call_api"}},
		Actions: identity.List{Only: []string{"archive", "issues.close"}, Except: []string{"ban"}},
		Classes: identity.List{Only: []string{}, Except: []string{"tracker.api_keys"}}, // an empty Only allows no class
		Filters: map[string]string{"default": `{"org_id":9007199254740993}`, "tracker.issues": `{"a":{"$ne":"b c"}}`},
		IPs:     []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")},
		Created: noon, Expires: noon.Add(identity.TokenLife),
	}
}

var sameToken = cmp.Options{cmpopts.EquateComparable(netip.Prefix{})}

// testTokens checks that tokens are stored with every field, found only by their prefix, and revoked once. The time
// of the last use must never move back.
func testTokens(t *testing.T, open Open) {
	s, ctx := Handle(t, open, t.TempDir()), t.Context()
	full := token("full")
	plain := identity.Token{ID: "plain", Prefix: "preplain", Hash: sha256.Sum256([]byte("p")), Name: "p", Kind: identity.Human,
		Scopes: []identity.Scope{identity.Read}, Created: noon.Add(time.Second), Expires: noon.Add(time.Hour)}
	for _, want := range []identity.Token{full, plain} {
		if err := s.AddToken(ctx, want, tokenRecord(want.ID, "created", noon)); err != nil {
			t.Fatal(err)
		}
		got, err := s.TokenByPrefix(ctx, want.Prefix)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameToken); diff != "" {
			t.Error("stored, and read otherwise (-want +got):\n", diff)
		}
	}
	refusals := []struct {
		name string
		err  error
		want problem.Code
	}{
		{"the same id", s.AddToken(ctx, withPrefix(full, "other"), tokenRecord("full", "again", noon)), problem.Conflict},
		{"the same prefix", s.AddToken(ctx, withID(full, "other"), tokenRecord("other", "created", noon)), problem.Conflict},
		{"revoke an unknown one", s.RevokeToken(ctx, "nobody", tokenRecord("nobody", "revoked", noon)), problem.NotFound},
	}
	for _, r := range refusals {
		if problem.CodeOf(r.err) != r.want {
			t.Errorf("%s: %v, want %s", r.name, r.err, r.want)
		}
	}
	for _, prefix := range []string{"", "nobody", "PREFULL", "pre%", "prefull' OR '1'='1"} {
		if _, err := s.TokenByPrefix(ctx, prefix); problem.CodeOf(err) != problem.NotFound {
			t.Errorf("prefix %q: %v, want not_found", prefix, err)
		}
	}

	// Only the first revocation counts. The time of the last use never moves back. An unknown id is ignored.
	for _, err := range []error{
		s.RevokeToken(ctx, "full", tokenRecord("full", "revoked", noon.Add(time.Minute))), s.RevokeToken(ctx, "full", tokenRecord("full", "revoked", noon.Add(time.Hour))),
		s.TouchTokens(ctx, map[string]time.Time{"full": noon.Add(2 * time.Second), "plain": noon, "nobody": noon}),
		s.TouchTokens(ctx, map[string]time.Time{"full": noon.Add(time.Second)}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	full.Revoked, full.LastUsed, plain.LastUsed = noon.Add(time.Minute), noon.Add(2*time.Second), noon
	all, err := s.FindTokens(ctx, identity.TokenFilter{})
	if diff := cmp.Diff([]identity.Token{plain, full}, all, sameToken); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	wantTokenRecords(t, s)
}

// wantTokenRecords checks that the outbox contains the steps of testTokens once, and no refused step.
func wantTokenRecords(t *testing.T, s Store) {
	t.Helper()
	if diff := cmp.Diff([]string{"token:full:created ok cli", "token:full:revoked ok cli"}, outboxSteps(t, s, "token:full")); diff != "" {
		t.Error(diff)
	}
	if got := outboxSteps(t, s, ""); len(got) != 3 {
		t.Error(got)
	}
	drain(t, s, "")
	wantWhole(t, s, 3)
}

// tokenRecord returns the record of a step of a token.
func tokenRecord(id, event string, at time.Time) audit.Record {
	return audit.Record{Time: at, Principal: "cli", Tool: "tokens/" + event, Outcome: audit.OK, Step: "token:" + id + ":" + event}
}

func withID(t identity.Token, id string) identity.Token { t.ID = id; return t }

func withPrefix(t identity.Token, prefix string) identity.Token { t.Prefix = prefix; return t }

// testTokenHandles checks when a change of a token becomes visible. That must be at once on the same handle, and
// within a second on another handle.
func testTokenHandles(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	a, b := Handle(t, open, place), Handle(t, open, place)
	version := func(s Store) int64 {
		v, err := s.TokenVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	changes := []struct {
		name string
		do   func() error
	}{
		{"add", func() error { return a.AddToken(ctx, token("x"), tokenRecord("x", "created", noon)) }},
		{"revoke", func() error { return a.RevokeToken(ctx, "x", tokenRecord("x", "revoked", noon)) }},
	}
	for _, c := range changes {
		beforeA, beforeB := version(a), version(b)
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		changed := time.Now()
		if version(a) == beforeA {
			t.Errorf("%s: not seen at once", c.name)
		}
		if latest, err := b.LatestTokenVersion(ctx); err != nil || latest == beforeB {
			t.Errorf("%s: another handle that reads the store doesn't see it: %d, %v", c.name, latest, err)
		}
		for version(b) == beforeB {
			if time.Since(changed) > 30*time.Second {
				t.Fatalf("%s: not seen by another handle", c.name)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	before := version(a)
	if err := a.TouchTokens(ctx, map[string]time.Time{"x": noon}); err != nil || version(a) != before {
		t.Error("a use counts as a change", err)
	}
	if got, err := b.TokenByPrefix(ctx, "prex"); err != nil || got.Revoked.IsZero() {
		t.Error("another handle reads an old token", got, err)
	}
}
