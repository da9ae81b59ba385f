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

// after proposes an update of issue 1 as p. The change waits for the changes ids.
func (o *office) after(p identity.Principal, n int64, ids ...string) (string, string, error) {
	o.Helper()
	s, err := o.ask(p, policy.WriteRaw, write.Request{Tool: "propose_changes", After: ids,
		Writes: []write.Write{&write.Update{Class: "issues", ID: "2", Data: value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(n)}})}}})
	if err != nil {
		return "", "", err
	}
	return s.ID, s.Digest, nil
}

// TestAfter checks a change that waits for another change. It must wait until the other is applied. It must be
// refused if the other has already ended without being applied, and must end if that happens later.
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

// neverApplied checks a change that waits for a rejected one. Nobody can approve it, not even with break glass, and
// its sheet says why. It can still be rejected.
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

// TestTargetDown checks a proposal and an approval while the source can't be reached. They must fail with an error
// that says that a retry may succeed. The error isn't a refusal, and nothing may be decided.
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
	for name, err := range map[string]error{"Nothing was decided": approved, "the source could not answer": proposed} {
		p := problem.Of(err)
		if p == nil || p.Code != problem.Upstream || !p.Retryable() || !strings.Contains(p.Detail, name) || strings.Contains(p.Detail, "sql") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kept, err := o.store.Get(t.Context(), s.ID); err != nil || kept.State != change.Pending || len(kept.Decisions) != 0 {
		t.Errorf("%+v %v", kept, err)
	}
}

// TestAPIDown checks an approval while the API of a change doesn't answer. If the preview reads the API, nothing may
// be decided. A change that fails for this reason must say that a retry may succeed.
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
	if p := problem.Of(err); p == nil || p.Code != problem.Upstream || !p.Retryable() || !strings.Contains(p.Detail, "Nothing was decided") {
		t.Error(err)
	}
	if kept, err := o.store.Get(t.Context(), s.ID); err != nil || kept.State != change.Pending || len(kept.Decisions) != 0 {
		t.Errorf("%+v %v", kept, err)
	}
	if failed, err := ben.Approve(t.Context(), made.ID, made.Digest, ""); err != nil || failed.State != change.Failed || !strings.Contains(failed.Outcome, "Nothing was written. Proposed again, it may succeed later") {
		t.Errorf("%+v %v", failed, err)
	}
	up()
	if done, err := ben.Approve(t.Context(), s.ID, s.Digest, ""); err != nil || done.State != change.Applied {
		t.Errorf("%+v %v", done, err)
	}
}

// failing returns an error function for Execute that fails the test.
func failing(t *testing.T) func(error) {
	return func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
}
