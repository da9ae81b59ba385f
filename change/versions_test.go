package change_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestVersions checks that approvals begin anew when a change is returned and with each version. A version is reviewed
// whatever the rules say. Only a change that can still be decided has another one.
func TestVersions(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	c := h.propose(2)
	if _, err := h.Approve(ctx, c.ID, person("ben"), change.Verdict{Digest: c.Digest}); err != nil {
		t.Fatal(err)
	}
	back, err := h.Ask(ctx, c.ID, person("cleo"), "less")
	if err != nil || back.State != change.Returned || len(back.Approvers()) != 0 {
		t.Fatal(back, err)
	}
	if _, err := h.Ask(ctx, c.ID, bot, "x"); kind(err) != "not_human" {
		t.Error("an agent asks for changes:", err)
	}
	answered, err := h.Answer(ctx, c.ID, bot, "it is the least")
	if err != nil || answered.State != change.Pending || len(answered.Approvers()) != 0 {
		t.Fatal(answered, err)
	}
	if _, err := h.Approve(ctx, c.ID, person("ben"), change.Verdict{Digest: c.Digest}); err != nil {
		t.Fatal(err)
	}
	old, err := h.Get(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	next := *c
	next.Mode, next.Need, next.Source = write.Allow, 0, "elsewhere"
	kept, err := h.Replace(ctx, old, &next)
	if err != nil || kept.State != change.Pending || kept.Need != 1 || len(kept.Approvers()) != 0 || kept.Replaces != c.ID || len(kept.Earlier) != 1 {
		t.Fatalf("%+v, %v", kept, err)
	}
	if ended, err := h.Get(ctx, c.ID); err != nil || ended.State != change.Replaced || ended.ReplacedBy != kept.ID {
		t.Errorf("%+v, %v", ended, err)
	}
	again := *c
	if _, err := h.Replace(ctx, old, &again); kind(err) != "moved" {
		t.Error("two versions of one:", err)
	}
	if _, err := h.Reject(ctx, kept.ID, person("ben"), "no"); err != nil {
		t.Fatal(err)
	}
	if rejected, err := h.Get(ctx, kept.ID); err != nil {
		t.Error(err)
	} else if _, err := h.Replace(ctx, rejected, &again); kind(err) != "state" {
		t.Error("a version of a change that was rejected:", err)
	}
}

// TestRate checks that the proposals of an account are bounded, and the text of the refusal.
func TestRate(t *testing.T) {
	h := newHall(t, change.Options{Rate: 3})
	for range 3 {
		h.propose(1)
	}
	_, err := h.Propose(t.Context(), &change.Change{Source: "app", Agent: change.PartyOf(bot), Mode: write.Review, Need: 1})
	if p := problem.Of(err); p.Code != problem.RateLimited || p.Kind != "proposals" || p.RetryAfter <= 0 || p.Suggestion == "" {
		t.Errorf("%+v", p)
	}
}
