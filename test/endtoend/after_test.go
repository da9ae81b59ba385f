package endtoend

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// after has p propose an update of issue 1 that waits for other changes.
func (o *office) after(p identity.Principal, n int64, ids ...string) (string, string, error) {
	o.Helper()
	s, err := o.ask(p, policy.WriteRaw, write.Request{Tool: "propose_changes", After: ids,
		Writes: []write.Write{&write.Update{Class: "issues", ID: "2", Data: value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(n)}})}}})
	if err != nil {
		return "", "", err
	}
	return s.ID, s.Digest, nil
}

// TestAfter checks that a change waits for another until that is applied. None can be proposed after one that has ended
// otherwise, and a change ends if the one it waits for ends otherwise.
func TestAfter(t *testing.T) {
	o := newOffice(t, nil)
	bot, ben := o.bot(), o.person("ben")
	first, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`)
	if err != nil {
		t.Fatal(err)
	}
	second, digest, err := o.after(bot, 1, first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ben.Approve(t.Context(), second, digest, ""); err != nil || s.State != change.Granted {
		t.Fatal(s, err)
	}
	if due, err := o.store.Due(t.Context(), 10); err != nil || len(due) != 0 {
		t.Error("a change that waits for another is due:", due, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); o.gateway.Execute(ctx, failing(t)) }()
	defer func() { stop(); <-ended }()
	if _, err := ben.Reject(t.Context(), first.ID, "no"); err != nil {
		t.Fatal(err)
	}
	o.until(second, change.Failed)
	kept, err := o.store.Get(t.Context(), second)
	if err != nil || !strings.Contains(kept.Outcome.Detail, first.ID+", which is rejected") || o.holds("SELECT n FROM issues WHERE id = 2") != "" {
		t.Errorf("%+v %v", kept.Outcome, err)
	}
	_, _, err = o.after(bot, 2, first.ID)
	if p := problem.Of(err); kindOf(err) != "dependence" || p.Code != problem.Conflict || p.Pointer != "/after/0" || !strings.Contains(p.Detail, "rejected") {
		t.Error("after a rejected change:", err)
	}
	o.neverApplied(bot, ben)
	third, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 6}}`)
	if err != nil {
		t.Fatal(err)
	}
	fourth, digest, err := o.after(bot, 3, third.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ben.Approve(t.Context(), fourth, digest, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := ben.Approve(t.Context(), third.ID, third.Digest, ""); err != nil {
		t.Fatal(err)
	}
	o.until(fourth, change.Applied)
	if _, _, err = o.after(bot, 4, third.ID); err != nil {
		t.Error("after an applied change:", err)
	}
}

// neverApplied checks that a change which waits for a rejected one can't be approved, not by breaking the glass either, and that its sheet says why. It still
// can be rejected.
func (o *office) neverApplied(bot identity.Principal, ben bailiwick.Reviewer) {
	o.Helper()
	first, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 8}}`)
	if err != nil {
		o.Fatal(err)
	}
	second, digest, err := o.after(bot, 9, first.ID)
	if err != nil {
		o.Fatal(err)
	}
	if _, err := ben.Reject(o.Context(), first.ID, "no"); err != nil {
		o.Fatal(err)
	}
	says := "it was to run after " + first.ID + ", which is rejected: it would never be applied"
	_, approved := ben.Approve(o.Context(), second, digest, "")
	_, broken := ben.BreakGlass(o.Context(), second, digest, "now")
	for deed, err := range map[string]error{"approved": approved, "glass broken": broken} {
		if p := problem.Of(err); p == nil || p.Code != problem.Conflict || p.Kind != "dependence" || p.Detail != says {
			o.Errorf("%s: %v", deed, err)
		}
	}
	s, err := ben.Sheet(o.Context(), second)
	if err != nil || s.State != change.Pending || s.CanApprove || !slices.ContainsFunc(s.Checks, func(k review.Check) bool { return k.Detail == says && !k.OK }) {
		o.Errorf("%+v %v", s, err)
	}
	if s, err := ben.Reject(o.Context(), second, "nor this"); err != nil || s.State != change.Rejected {
		o.Error(s, err)
	}
}

// until waits until a change is in a state.
func (o *office) until(id string, want change.State) {
	o.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := o.store.Get(o.Context(), id)
		if err != nil || c.State == want {
			return
		}
		if time.Now().After(end) {
			o.Fatalf("%s is %s, want %s", id, c.State, want)
		}
	}
}

// TestTargetDown checks that a proposal or an approval while the source can't be reached fails. The error says that it
// may succeed later. It isn't a refusal, and nothing was decided.
func TestTargetDown(t *testing.T) {
	o := newOffice(t, nil)
	bot, ben := o.bot(), o.person("ben")
	const wish = `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`
	s, err := o.propose(bot, wish)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.sources["app"].(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	_, approved := ben.Approve(t.Context(), s.ID, s.Digest, "")
	_, proposed := o.propose(bot, strings.Replace(wish, "5", "6", 1))
	for name, err := range map[string]error{"nothing was decided": approved, "the source could not answer": proposed} {
		p := problem.Of(err)
		if p == nil || p.Code != problem.Upstream || !p.Retryable() || !strings.Contains(p.Detail, name) || strings.Contains(p.Detail, "sql") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kept, err := o.store.Get(t.Context(), s.ID); err != nil || kept.State != change.Pending || len(kept.Decisions) != 0 {
		t.Errorf("%+v %v", kept, err)
	}
}

// TestAPIDown checks that an approval while the API of a change gives no answer decides nothing, where a read of the
// API is part of its preview. A change that fails for that reason says that it may succeed later.
func TestAPIDown(t *testing.T) {
	o, h := newHall(t, nil)
	bot, ben := o.bot(), o.person("ben")
	s, err := o.call(bot, "patchMachine", `{"path": {"id": "m1"}, "body": {"size": 2}}`)
	if err != nil {
		t.Fatal(err)
	}
	made, err := o.call(bot, "makeMachine", `{"body": {"name": "nine"}}`)
	if err != nil {
		t.Fatal(err)
	}
	up := h.down(t)
	_, err = ben.Approve(t.Context(), s.ID, s.Digest, "")
	if p := problem.Of(err); p == nil || p.Code != problem.Upstream || !p.Retryable() || !strings.Contains(p.Detail, "nothing was decided") {
		t.Error(err)
	}
	if kept, err := o.store.Get(t.Context(), s.ID); err != nil || kept.State != change.Pending || len(kept.Decisions) != 0 {
		t.Errorf("%+v %v", kept, err)
	}
	if failed, err := ben.Approve(t.Context(), made.ID, made.Digest, ""); err != nil || failed.State != change.Failed || !strings.Contains(failed.Outcome, "nothing was written. Proposed again, it may succeed later") {
		t.Errorf("%+v %v", failed, err)
	}
	up()
	if done, err := ben.Approve(t.Context(), s.ID, s.Digest, ""); err != nil || done.State != change.Applied {
		t.Errorf("%+v %v", done, err)
	}
}

// failing returns what Execute reports to in a test where nothing fails.
func failing(t *testing.T) func(error) {
	return func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
}
