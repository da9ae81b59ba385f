package change_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// broken is a store in which one kind of call fails.
type broken struct {
	change.Store
	get, now, due, swap error
}

func (b *broken) Get(ctx context.Context, id string) (*change.Change, error) {
	if b.get != nil {
		return nil, b.get
	}
	return b.Store.Get(ctx, id)
}

func (b *broken) GetOf(ctx context.Context, id string, of change.Of) (*change.Change, error) {
	if b.get != nil {
		return nil, b.get
	}
	return b.Store.GetOf(ctx, id, of)
}

func (b *broken) Now(ctx context.Context) (time.Time, error) {
	if b.now != nil {
		return time.Time{}, b.now
	}
	return b.Store.Now(ctx)
}

func (b *broken) Due(ctx context.Context, limit int) ([]string, error) {
	if b.due != nil {
		return nil, b.due
	}
	return b.Store.Due(ctx, limit)
}

func (b *broken) Swap(ctx context.Context, c *change.Change, g change.Guard) error {
	if b.swap != nil {
		return b.swap
	}
	return b.Store.Swap(ctx, c, g)
}

// TestStoreFails checks that nothing is decided when the store fails, and that its error isn't shown to callers.
func TestStoreFails(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	down := errors.New("disk on fire")
	for _, tt := range []struct {
		name  string
		store broken
	}{
		{"reading", broken{get: down}}, {"the clock", broken{now: down}}, {"keeping", broken{swap: down}},
	} {
		tt.store.Store = h.store
		q := change.NewQueue(change.Options{Store: &tt.store})
		waits, due, unknown := h.propose(1), h.approved(), h.approved()
		a, err := h.Claim(ctx, unknown.ID, "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Finish(ctx, a, change.EventUnknown, change.Outcome{}); err != nil {
			t.Fatal(err)
		}
		ben := person("ben")
		for what, do := range map[string]func() error{
			"approve": func() error {
				_, err := q.Approve(ctx, waits.ID, ben, change.Verdict{Digest: waits.Digest})
				return err
			},
			"reject":  func() error { _, err := q.Reject(ctx, waits.ID, ben, ""); return err },
			"comment": func() error { _, err := q.Comment(ctx, waits.ID, ben, "x"); return err },
			"cancel":  func() error { _, err := q.Cancel(ctx, waits.ID, bot); return err },
			"claim":   func() error { _, err := q.Claim(ctx, due.ID, "x"); return err },
			"settle":  func() error { _, err := q.Settle(ctx, unknown.ID, ben, true, ""); return err },
		} {
			if needsClock := what == "approve" || what == "reject"; tt.store.now != nil && !needsClock {
				continue
			}
			err := do()
			if p := problem.Of(err); err == nil || p.Code != problem.Upstream || !p.Store || !p.Retryable() || p.Kind != "change_store" || !errors.Is(p.Err, down) {
				t.Errorf("%s fails, %s: %v", tt.name, what, err)
			}
		}
		if c, err := h.Get(ctx, waits.ID); tt.store.now == nil && (err != nil || c.State != change.Pending || len(c.Decisions)+len(c.History) > 1) {
			t.Error(c, err)
		}
	}
	q := change.NewQueue(change.Options{Store: &broken{Store: h.store, swap: down}})
	if expired, err := q.Expire(ctx, h.propose(1)); expired || kind(err) != "change_store" {
		t.Error(expired, err)
	}
	_, err := q.Propose(ctx, &change.Change{Source: "app", Agent: change.PartyOf(bot), Mode: "allow"})
	if p := problem.Of(err); err == nil || p.Kind != "may_run" || p.Retryable() || !errors.Is(p.Err, down) {
		t.Error("what a rule lets through is told as kept:", err)
	}
	q = change.NewQueue(change.Options{Store: &broken{Store: h.store, due: down}})
	if _, err := q.Due(ctx, 1); kind(err) != "change_store" {
		t.Error(err)
	}
}

// TestApprovers checks that approvals of the current digest are counted by person.
func TestApprovers(t *testing.T) {
	by := func(name string) change.Party { return change.Party{Owner: name} }
	c := &change.Change{Digest: "d", Decisions: []change.Decision{{By: by("Ben"), Approve: true, Digest: "d"}, {By: by("ben "), Approve: true, Digest: "d"},
		{By: by("cleo"), Approve: true, Digest: "old"}, {By: by("dora"), Digest: "d"}}}
	if got := c.Approvers(); len(got) != 1 || got[0] != "ben" {
		t.Error(got)
	}
}

// TestHistory checks the state, event, person and time of each step in the history.
func TestHistory(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	c := h.propose(1)
	if _, err := h.Comment(ctx, c.ID, person("ben"), "why?"); err != nil {
		t.Fatal(err)
	}
	c, err := h.Reject(ctx, c.ID, person("cleo"), "no")
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, s := range c.History {
		if s.At.IsZero() || s.Digest != c.Digest {
			t.Errorf("%+v", s)
		}
		got += string(s.State) + " " + string(s.Event) + " " + s.By + " " + s.Comment + "; "
	}
	if want := "pending created bot ; pending commented ben why?; rejected rejected cleo no; "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if d := c.Decisions[0]; d.Approve || d.By.Owner != "cleo" || d.Comment != "no" || d.At.IsZero() {
		t.Errorf("%+v", d)
	}
	// Another credential of the same human can't decide about the agent's changes.
	twin := person("zoe")
	twin.ID = bot.ID
	if err := h.Eligible(twin, c); kind(err) != "four_eyes" {
		t.Error(err)
	}
	// Of a change asked for by another person, only that person's own approval is marked as a single operator's.
	asker := change.PartyOf(person("cleo"))
	c.Asker = &asker
	if err := h.Eligible(person("ben"), c); err != nil {
		t.Error(err)
	}
	single := newHall(t, change.Options{Single: true})
	one := &change.Change{Source: "app", Agent: change.PartyOf(bot), Asker: &asker, Mode: "review", Need: 1}
	if one, err = single.Propose(ctx, one); err != nil {
		t.Fatal(err)
	}
	if by := one.History[0].By; by != "cleo" {
		t.Error("the history says that it was asked for by", by)
	}
	if one, err = single.Approve(ctx, one.ID, person("cleo"), change.Verdict{Digest: one.Digest}); err != nil || !one.Decisions[0].Single {
		t.Error(one, err)
	}
	if one, err = single.Propose(ctx, &change.Change{Source: "other", Agent: change.PartyOf(bot), Asker: &asker, Mode: "review", Need: 1}); err != nil {
		t.Fatal(err)
	}
	if one, err = single.Approve(ctx, one.ID, person("ben"), change.Verdict{Digest: one.Digest, Comment: "ok"}); err != nil || one.Decisions[0].Single || one.History[1].Comment != "ok" {
		t.Error("somebody else's, by somebody else", one, err)
	}
	if _, err := single.Settle(ctx, one.ID, identity.Principal{}, true, ""); kind(err) != "not_human" {
		t.Error(err)
	}
}
