package change_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
)

// TestRecord checks what the audit says of each kind of step.
func TestRecord(t *testing.T) {
	actor := &change.Actor{Principal: "token:ben", Owner: "ben", Tenant: "acme", TokenID: "t1", Policy: "v1", Credential: "person ana"}
	done := &change.Outcome{Code: "conflict", Kind: "k", Receipt: &change.Receipt{Rows: 3}}
	decided := func(digest string, broken, single bool) []change.Decision {
		return []change.Decision{{Digest: "d", Broken: true}, {Digest: digest, Broken: broken, Single: single}}
	}
	for _, tt := range []struct {
		event     change.EventKind
		decisions []change.Decision
		outcome   *change.Outcome
		want      string // the outcome, the code, the kind and the rows
	}{
		{change.EventCreated, nil, nil, "proposed   0"},
		{change.EventCommented, nil, done, "ok   0"},
		{change.EventCancelled, nil, nil, "withdrawn   0"},
		{change.EventApproved, nil, nil, "approved  rule 0"},
		{change.EventApproved, decided("other", true, true), nil, "approved  rule 0"},
		{change.EventApproved, decided("d", true, true), nil, "approved  break_glass 0"},
		{change.EventApproved, decided("d", false, true), nil, "approved  single_operator 0"},
		{change.EventApproved, decided("d", false, false), nil, "approved   0"},
		{change.EventApproved, decided("d", false, false)[1:], nil, "approved   0"},
		{change.EventDecided, decided("d", false, true), nil, "approved  single_operator 0"},
		{change.EventApplied, nil, nil, "applied   0"},
		{change.EventApplied, nil, done, "applied conflict k 3"},
		{change.EventFailed, nil, &change.Outcome{Code: "conflict", Kind: "k"}, "failed conflict k 0"},
		{change.EventStale, nil, done, "refused conflict stale 3"},
		{change.EventUnknown, nil, done, "refused conflict unknown 3"},
	} {
		c := &change.Change{ID: "a", Correlation: "call-1", Classes: []string{"app.b", "app.c"}, Decisions: tt.decisions, Outcome: tt.outcome,
			History: []change.Step{{Event: change.EventCreated}, {Event: tt.event, Digest: "d", At: time.Unix(5, 0), Actor: actor}}}
		r := c.Record(2)
		if got := fmt.Sprint(r.Outcome, " ", r.Code, " ", r.Kind, " ", r.Rows); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.event, got, tt.want)
		}
		got := fmt.Sprint(r.Tool, r.Time.Unix(), r.Principal, r.Owner, r.Tenant, r.TokenID, r.Policy, r.Credential, r.Correlation, r.Change, r.Step, r.Digest, r.Class)
		if want := fmt.Sprint("changes/"+string(tt.event), int64(5), "token:ben", "ben", "acme", "t1", "v1", "person ana", "call-1", "a", "a:2", "d", "app.b"); got != want {
			t.Errorf("%s: %s, want %s", tt.event, got, want)
		}
		if c.Classes = nil; c.Record(2).Class != "" {
			t.Error("a change of no class has one in its record")
		}
		if c.Record(1) != nil {
			t.Error("a step of nobody has a record")
		}
	}
	c := &change.Change{ID: "a"}
	for _, e := range []change.EventKind{change.EventCreated, change.EventCommented, change.EventApproved, change.EventCommented} {
		c.History = append(c.History, change.Step{Event: e, Actor: actor})
	}
	for _, tt := range []struct {
		events []change.EventKind
		want   string
	}{
		{[]change.EventKind{change.EventCommented}, "a:4"}, {[]change.EventKind{change.EventCreated, change.EventApproved}, "a:3"},
		{[]change.EventKind{change.EventCreated}, "a:1"}, {[]change.EventKind{change.EventClaimed}, ""}, {nil, ""},
	} {
		got := ""
		if r := c.Last(tt.events...); r != nil {
			got = r.Step
		}
		if got != tt.want {
			t.Errorf("the last of %s: %q, want %q", tt.events, got, tt.want)
		}
	}
}

// TestUnder checks that steps are recorded with the rules under which they are taken.
func TestUnder(t *testing.T) {
	h := newHall(t, change.Options{})
	c := h.propose(1)
	c, err := h.Under("v7").Comment(t.Context(), c.ID, person("ben"), "hm")
	if err != nil || c.History[0].Actor.Policy != "" || c.History[1].Actor.Policy != "v7" {
		t.Errorf("%+v, %v", c.History, err)
	}
}

// later is a store whose clock is ahead.
type later struct {
	change.Store
	by     time.Duration
	now    error
	outbox error
}

func (l later) Now(ctx context.Context) (time.Time, error) {
	now, err := l.Store.Now(ctx)
	return now.Add(l.by), errors.Join(err, l.now)
}

func (l later) PendingRecords(ctx context.Context, subject string, limit int) ([]audit.Record, error) {
	found, err := l.Store.PendingRecords(ctx, subject, limit)
	return found, errors.Join(err, l.outbox)
}

// full is a log that takes nothing.
type full struct{ error }

func (f full) Append(context.Context, *audit.Record) error { return f.error }

// recorded returns the outcomes in the log.
func (h *hall) recorded() (out []string) {
	h.Helper()
	if err := h.store.Records(h.Context(), audit.First, func(r audit.Record) bool { out = append(out, r.Outcome); return true }); err != nil {
		h.Fatal(err)
	}
	return out
}

// TestRecordInLog checks that the records of steps get into the log, and that a queue whose store is the log leaves that to it.
func TestRecordInLog(t *testing.T) {
	h, disk := newHall(t, change.Options{}), errors.New("disk on fire")
	c := h.propose(1)
	audited := change.NewQueue(change.Options{Store: h.store, Audited: true})
	if err := audited.Record(t.Context(), c.ID, h.store); err != nil || len(h.recorded()) != 0 {
		t.Error(h.recorded(), err)
	}
	if err := h.Record(t.Context(), c.ID, full{disk}); !errors.Is(err, disk) || kind(err) != "audit" {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := audited.Drain(gone, c.ID, h.store); err != nil || fmt.Sprint(h.recorded()) != "[proposed]" {
		t.Error(h.recorded(), err)
	}
}

// TestCatchUp checks the records that another process has left. They are recorded once that process must be gone, and a
// proposal of which its agent can't know is withdrawn.
func TestCatchUp(t *testing.T) {
	down := errors.New("disk on fire")
	for _, tt := range []struct {
		name    string
		approve bool
		store   later
		fails   bool
		want    string // the log, and the state
	}{
		{"a moment ago", false, later{by: time.Second}, false, "[] pending"},
		{"its process is gone", false, later{by: 3 * time.Second}, false, "[proposed] pending"},
		{"nobody was told", false, later{by: 2 * time.Minute}, false, "[proposed withdrawn] cancelled"},
		{"a decision", true, later{by: 2 * time.Minute}, false, "[proposed approved] approved"},
		{"without a clock", false, later{by: 2 * time.Minute, now: down}, true, "[] pending"},
		{"without an outbox", false, later{by: 2 * time.Minute, outbox: down}, true, "[] pending"},
	} {
		h := newHall(t, change.Options{})
		c := h.propose(1)
		if tt.approve {
			if err := h.Record(t.Context(), c.ID, h.store); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Approve(t.Context(), c.ID, person("ben"), change.Verdict{Digest: c.Digest}); err != nil {
				t.Fatal(err)
			}
		}
		tt.store.Store = h.store
		err := change.NewQueue(change.Options{Store: tt.store}).CatchUp(t.Context(), h.store)
		now, gerr := h.Get(t.Context(), c.ID)
		if gerr != nil {
			t.Fatal(gerr)
		}
		if got := fmt.Sprint(h.recorded(), " ", now.State); errors.Is(err, down) != tt.fails || !tt.fails && err != nil || got != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
	h := newHall(t, change.Options{})
	if err := change.NewQueue(change.Options{Store: later{Store: h.store, now: down}}).CatchUp(t.Context(), h.store); err != nil {
		t.Error("nothing was left, and it asks for more:", err)
	}
	h.propose(1)
	if err := change.NewQueue(change.Options{Store: later{Store: h.store, by: time.Hour}}).CatchUp(t.Context(), full{down}); !errors.Is(err, down) {
		t.Error("what can't be recorded is taken for recorded:", err)
	}
}

// TestWithdraw checks that a proposal that wasn't answered is withdrawn, unless it has been applied or was never filed.
func TestWithdraw(t *testing.T) {
	h := newHall(t, change.Options{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	pending, done := h.propose(1), h.approved()
	if _, err := h.Claim(t.Context(), done.ID, "here"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{pending.ID, done.ID, "none"} {
		if err := h.Withdraw(gone, id, "nobody was told", h.store); err != nil {
			t.Error(id, err)
		}
	}
	pending, err := h.Get(t.Context(), pending.ID)
	if err != nil || pending.State != change.Cancelled || pending.History[1].Comment != "nobody was told" || pending.History[1].Actor.Principal != bot.ID {
		t.Error(pending, err)
	}
	if log := h.recorded(); log[len(log)-1] != audit.Withdrawn {
		t.Error("the audit doesn't say so:", log)
	}
	if done, err = h.Get(t.Context(), done.ID); err != nil || done.State != change.Applying {
		t.Error(done, err)
	}
	down := errors.New("disk on fire")
	if err := change.NewQueue(change.Options{Store: &broken{Store: h.store, get: down}}).Withdraw(t.Context(), done.ID, "x", h.store); !errors.Is(err, down) {
		t.Error(err)
	}
}
