package identity_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A failing log refuses records of some tools.
type failing struct {
	audit.Log
	tool string
}

func (f *failing) Append(ctx context.Context, r *audit.Record) error {
	if f.tool != "" && strings.HasPrefix(r.Tool, f.tool) {
		return errDisk
	}
	return f.Log.Append(ctx, r)
}

// TestRecorded checks that each step about a token is in the audit before it is answered. A token whose creation can't
// be recorded is revoked, and a revocation that can't be recorded is in force.
func TestRecorded(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{})
	log := &failing{Log: r.log}
	r.Tokens = identity.NewTokens(identity.TokenOptions{Store: r.store, Audit: log})
	good, secret, err := r.Create(t.Context(), operator, identity.Token{Name: "bot"})
	if err != nil {
		t.Fatal(err)
	}
	log.tool = "tokens/"
	if made, secret, err := r.Create(t.Context(), operator, identity.Token{Name: "lost"}); !errors.Is(err, errDisk) || secret != "" || made.ID != "" || problem.Of(err).Kind != "audit" {
		t.Error(made, secret, err)
	}
	if err := r.Revoke(t.Context(), operator, good.ID); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	if _, err := r.Authenticate(t.Context(), secret, nowhere); problem.CodeOf(err) != problem.Unauthorized {
		t.Error("a revoked token:", err)
	}
	all, err := r.List(t.Context(), operator, identity.TokenFilter{})
	if err != nil || len(all) != 2 || slices.ContainsFunc(all, func(k identity.Token) bool { return k.Revoked.IsZero() }) {
		t.Error(all, err)
	}
	held, err := identity.Reconcile(t.Context(), r.store, r.log)
	if err != nil || held.Tokens != 2 || held.Waiting != 3 || held.Lacks != nil || held.Older != 0 {
		t.Errorf("%+v, %v", held, err)
	}
	log.tool = ""
	if _, err := audit.Drain(t.Context(), r.store, "", log); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := r.log.Records(t.Context(), audit.First, func(rec audit.Record) bool {
		got = append(got, rec.Tool+" by "+rec.Principal)
		if (rec.Digest != "") != (rec.Tool == "tokens/created") {
			t.Errorf("%s with the digest %q", rec.Tool, rec.Digest)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"tokens/created by local:root", "tokens/created by local:root", "tokens/revoked by local:root", "tokens/revoked by local:root"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Without a log nothing is done.
	r.Tokens = identity.NewTokens(identity.TokenOptions{Store: r.store})
	_, _, made := r.Create(t.Context(), operator, identity.Token{Name: "x"})
	for _, err := range []error{made, r.Revoke(t.Context(), operator, good.ID)} {
		if problem.Of(err) == nil || problem.Of(err).Kind != "audit" {
			t.Error(err)
		}
	}
}

// TestReconcile checks that tokens without a record, or that allow other things than theirs, are named.
func TestReconcile(t *testing.T) {
	r, ctx := newRoom(t, identity.TokenOptions{}), t.Context()
	old := identity.Token{ID: "old", Prefix: "AAAAAAAA", Name: "old", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}, Created: noon.Add(-1e9), Expires: noon.Add(1e15)}
	add := func(k identity.Token) {
		t.Helper()
		step := "token:" + k.ID + ":created"
		if err := errors.Join(r.store.AddToken(ctx, k, audit.Record{Time: noon, Step: step}), r.store.RemoveSteps(ctx, step)); err != nil {
			t.Fatal(err)
		}
	}
	add(old)
	lacks := func() (out []string) {
		t.Helper()
		held, err := identity.Reconcile(ctx, r.store, r.log)
		if err != nil || held.Older != 1 {
			t.Fatalf("%+v, %v", held, err)
		}
		for _, l := range held.Lacks {
			out = append(out, l.Error())
		}
		return out
	}
	if got := lacks(); got != nil {
		t.Error(got)
	}
	made, _ := r.create(identity.Token{})
	r.store.list = func(all []identity.Token) { all[len(all)-1].Revoked = noon.Add(-1e9) } // before there were records
	if got := lacks(); got != nil {
		t.Error(got)
	}
	r.store.list = nil
	if err := r.Revoke(ctx, operator, old.ID); err != nil { // it has only a record of its end
		t.Fatal(err)
	}
	if got := lacks(); got != nil {
		t.Error(got)
	}
	forged := old
	forged.ID, forged.Prefix, forged.Created = "forged", "BBBBBBBB", noon.Add(1e9)
	add(forged)
	for _, rec := range []audit.Record{{Tool: "tokens/revoked", Step: "token:" + made.ID + ":revoked"}, {Tool: "tokens/created", Step: "token:gone:created", Principal: "eve", Time: noon}} {
		if err := r.log.Append(ctx, &rec); err != nil {
			t.Fatal(err)
		}
	}
	wider, _ := r.create(identity.Token{Scopes: []identity.Scope{identity.Read}})
	earlier, _ := r.create(identity.Token{})
	stopped, _ := r.create(identity.Token{})
	r.store.list = func(all []identity.Token) {
		for i := range all {
			switch all[i].ID {
			case wider.ID:
				all[i].Scopes = []identity.Scope{identity.Read, identity.Write}
			case earlier.ID: // than any record
				all[i].Created = noon.Add(-1e12)
			case stopped.ID:
				all[i].Revoked = noon
			}
		}
	}
	want := []string{"token forged: no record says who created it", "token gone: record 4 says tokens/created by eve, and no such token is kept",
		"token " + made.ID + ": record 3 says that it was revoked, and it is good", "token " + wider.ID + ": it allows other things than record 5 says",
		"token " + earlier.ID + ": it allows other things than record 6 says", "token " + stopped.ID + ": no record says who revoked it"}
	slices.Sort(want)
	if diff := cmp.Diff(want, lacks()); diff != "" {
		t.Error(diff)
	}
}

// TestReconcileFirst checks that the first record of a creation is the earliest one, in whatever order they were written.
func TestReconcileFirst(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{})
	for i, at := range []time.Duration{10, 5, 8} {
		k := identity.Token{ID: fmt.Sprint(i), Prefix: fmt.Sprint("AAAAAAA", i), Kind: identity.Agent, Created: noon.Add(6 * time.Second), Expires: noon.Add(time.Hour)}
		if err := r.store.AddToken(t.Context(), k, audit.Record{Tool: "tokens/created", Time: noon.Add(at * time.Second), Step: fmt.Sprint("token:other", i, ":created")}); err != nil {
			t.Fatal(err)
		}
	}
	if held, err := identity.Reconcile(t.Context(), r.store, r.log); err != nil || held.Older != 0 || len(held.Lacks) != 6 {
		t.Errorf("%+v, %v", held, err)
	}
}

// A late store has records in its outbox that it hadn't when all of them were asked for, at most so many of a token.
type late struct {
	identity.TokenStore
	most int
}

func (l late) PendingRecords(ctx context.Context, subject string, limit int) ([]audit.Record, error) {
	if subject == "" {
		return nil, nil
	}
	return l.TokenStore.PendingRecords(ctx, subject, min(limit, l.most))
}

// TestReconcileMeanwhile checks that a record that is written while tokens and records are compared isn't missed, in the log or
// in the outbox.
func TestReconcileMeanwhile(t *testing.T) {
	h := newHouse(t)
	if held, err := identity.Reconcile(t.Context(), h.store, unread{h.log}); err != nil || held.Tokens != 5 || held.Older != 0 || held.Lacks != nil {
		t.Errorf("%+v, %v", held, err)
	}
	h = newHouse(t)
	h.Tokens = identity.NewTokens(identity.TokenOptions{Store: h.room.store, Audit: &failing{Log: h.room.log, tool: "tokens/"}, Now: h.at})
	if err := h.Revoke(t.Context(), operator, h.grant); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	if held, err := identity.Reconcile(t.Context(), late{h.room.store, 2}, h.room.log); err != nil || held.Tokens != 5 || held.Older != 0 || held.Lacks != nil {
		t.Errorf("%+v, %v", held, err)
	}
	// Its creation isn't taken for its end.
	if _, _, err := h.Create(t.Context(), operator, identity.Token{Name: "lost"}); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	if held, err := identity.Reconcile(t.Context(), late{h.room.store, 1}, h.room.log); err != nil || len(held.Lacks) != 1 || held.Lacks[0].Detail != "no record says who revoked it" {
		t.Errorf("%+v, %v", held, err)
	}
}
