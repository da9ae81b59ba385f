package endtoend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// A keeper is a store of changes and their records.
type keeper interface {
	audit.Log
	audit.Reader
	change.Store
}

// A sink is an audit log that fails on demand.
type sink struct {
	audit.Log
	fails atomic.Pointer[func(*audit.Record) bool]
}

func (s *sink) fail(when func(*audit.Record) bool) { s.fails.Store(&when) }

func (s *sink) Append(ctx context.Context, r *audit.Record) error {
	if when := s.fails.Load(); when != nil && (*when)(r) {
		return errors.New("disk on fire")
	}
	return s.Log.Append(ctx, r)
}

func every(*audit.Record) bool { return true }
func none(*audit.Record) bool  { return false }

// An archive is an office whose changes and records are in one store. Its log can fail.
type archive struct {
	*office
	kept keeper
	log  *sink
	bot  identity.Principal
}

// onStores runs test with each kind of store for the changes and records.
func onStores(t *testing.T, test func(t *testing.T, a *archive), more func(*bailiwick.Options, *change.Options)) {
	t.Helper()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			a := &archive{log: &sink{}}
			if name == "postgres" {
				s, err := postgres.Open(t.Context(), services.Postgres(t))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				a.kept = s
			}
			a.office = newOffice(t, func(options *bailiwick.Options, changes *change.Options) {
				if a.kept == nil {
					a.kept = changes.Store.(keeper)
				}
				a.log.Log, options.Audit, options.History, changes.Store = a.kept, a.log, a.kept, a.kept
				if more != nil {
					more(options, changes)
				}
			})
			a.bot = a.office.bot()
			test(t, a)
		})
	}
}

// wish proposes a new value of n for issue 1.
func (a *archive) wish(n int) (id, digest string, err error) {
	s, err := a.propose(a.bot, fmt.Sprintf(`{"op": "update", "class": "issues", "id": "1", "data": {"n": %d}}`, n))
	if err != nil {
		return "", "", err
	}
	return s.ID, s.Digest, nil
}

func (a *archive) mustWish(n int) (id, digest string) {
	a.Helper()
	id, digest, err := a.wish(n)
	if err != nil {
		a.Fatal(err)
	}
	return id, digest
}

// becomes waits until a change is in a state.
func (a *archive) becomes(id string, want change.State) *change.Change {
	a.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := a.kept.Get(a.Context(), id)
		if err != nil {
			a.Fatal(err)
		}
		if c.State == want {
			return c
		}
		if time.Now().After(end) {
			a.Fatalf("%s is %s, want %s", id, c.State, want)
		}
	}
}

// execute runs an executor until the end of the test, or until stop is called.
func (a *archive) execute(g *bailiwick.Gateway) (stop func()) {
	ctx, cancel := context.WithCancel(a.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.Execute(ctx, nil)
	}()
	stop = func() {
		cancel()
		<-done
	}
	a.Cleanup(stop)
	return stop
}

// steps returns the records about a change: those of its steps and of calls about it.
func (a *archive) steps(id string) (out []string) {
	a.Helper()
	err := a.kept.Records(a.Context(), audit.First, func(r audit.Record) bool {
		if r.Change == id {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", r.Tool, r.Outcome, r.Owner, r.Policy, r.Kind)))
		}
		return true
	})
	if err != nil {
		a.Fatal(err)
	}
	return out
}

// reconciled fails unless each step of each change gets its record soon.
func (a *archive) reconciled() {
	a.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		held, err := change.Reconcile(a.Context(), a.kept, a.kept)
		if err != nil || len(held.Lacks) > 0 || held.Waiting > 0 && time.Now().After(end) {
			a.Fatalf("%+v, %v", held, err)
		}
		if held.Waiting == 0 {
			break
		}
	}
	report, err := audit.Verify(a.Context(), a.kept)
	if err != nil || !report.Whole() {
		a.Fatalf("%+v, %v", report, err)
	}
}

// TestUnrecordedApproval checks that a decision has no effect before it is in the audit, for any person and any time
// at which the log fails.
func TestUnrecordedApproval(t *testing.T) {
	onStores(t, func(t *testing.T, a *archive) {
		a.execute(a.gateway)
		id, digest := a.mustWish(5)
		approvals := func(r *audit.Record) bool { return r.Change == id && r.Outcome == audit.Approved }
		a.log.fail(approvals)
		if _, err := a.person("ben").Approve(t.Context(), id, digest, ""); kindOf(err) != "audit" {
			t.Error("an approval that is not recorded:", err)
		}
		// Other changes are applied meanwhile, so executors have also looked at this change.
		for n := range 3 {
			other, seen := a.mustWish(100 + n)
			if _, err := a.person("ben").Approve(t.Context(), other, seen, ""); err != nil {
				t.Fatal(err)
			}
			a.becomes(other, change.Applied)
		}
		time.Sleep(1500 * time.Millisecond) // longer than a round of an executor. On a slow machine the check is less strict
		if c := a.becomes(id, change.Granted); a.holds("SELECT n FROM issues WHERE id = 1") != "102" {
			t.Fatalf("it was applied, and its approval is not recorded: %+v", c)
		}
		a.log.fail(none)
		// By then, the change is stale, because the values differ from the reviewed values.
		a.becomes(id, change.Stale)
		a.reconciled()
		want := []string{"changes/created proposed ana v1", "propose_changes proposed ana v1", "changes/approve failed ben v1 audit", "changes/approved approved ben v1",
			"changes/claimed applying ana v1", "changes/stale refused ana v1 stale"}
		if got := a.steps(id); !slices.Equal(got, want) {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
	}, nil)
}

// TestUnrecordedClaim checks that nothing is written before the log contains the claim of the change.
func TestUnrecordedClaim(t *testing.T) {
	onStores(t, func(t *testing.T, a *archive) {
		a.execute(a.gateway)
		id, digest := a.mustWish(5)
		var tried atomic.Int32
		a.log.fail(func(r *audit.Record) bool { return r.Tool == "changes/claimed" && tried.Add(1) > 0 })
		ben, answered := a.person("ben"), make(chan error, 1)
		go func() {
			_, err := ben.Approve(t.Context(), id, digest, "")
			answered <- err
		}()
		for end := time.Now().Add(time.Minute); tried.Load() < 3; time.Sleep(10 * time.Millisecond) { // the executor keeps trying
			if time.Now().After(end) {
				t.Fatal("the claim was never to be recorded")
			}
		}
		if c, err := a.kept.Get(t.Context(), id); err != nil || c.State != change.Applying || a.holds("SELECT n FROM issues WHERE id = 1") == "5" {
			t.Fatalf("it was written, and the log lacks that: %+v, %v", c, err)
		}
		a.log.fail(none)
		a.becomes(id, change.Applied)
		a.reconciled()
		if err := <-answered; err != nil && kindOf(err) != "audit" {
			t.Error(err)
		}
	}, func(_ *bailiwick.Options, c *change.Options) { c.Lease = 2 * time.Second })
}

// TestUnrecordedProposal checks that a proposal that returned an error doesn't wait for review.
func TestUnrecordedProposal(t *testing.T) {
	for name, when := range map[string]func(*audit.Record) bool{
		"nothing can be recorded": every,
		"nor the step":            func(r *audit.Record) bool { return r.Tool == "changes/created" },
		"nor the call":            func(r *audit.Record) bool { return r.Tool == "propose_changes" },
	} {
		t.Run(name, func(t *testing.T) {
			onStores(t, func(t *testing.T, a *archive) {
				a.log.fail(when)
				if _, _, err := a.wish(5); kindOf(err) != "audit" {
					t.Error("a proposal that is not recorded:", err)
				}
				all, _, err := a.kept.List(t.Context(), change.Filter{})
				if err != nil || len(all) != 1 || all[0].State != change.Cancelled {
					t.Fatalf("%+v, %v", all, err)
				}
				a.log.fail(none)
				a.execute(a.gateway)
				a.reconciled()
			}, nil)
		})
	}
}

// TestDecisionsRecordedLate checks decisions of people and agents while the log fails. They must be in the audit
// after the log works again.
func TestDecisionsRecordedLate(t *testing.T) {
	onStores(t, func(t *testing.T, a *archive) {
		ben := a.person("ben")
		ids := map[string]func(id string) error{
			"changes/rejected rejected ben v1": func(id string) error { _, err := ben.Reject(t.Context(), id, "no"); return err },
			"changes/cancelled withdrawn ana v1": func(id string) error {
				return a.gateway.Do(t.Context(), a.bot, bailiwick.CallSpec{Tool: "cancel_change", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
					_, err := c.CancelChange(ctx, id)
					return 0, err
				})
			},
			"changes/commented ok ben v1": func(id string) error { _, err := ben.Comment(t.Context(), id, "why?"); return err },
			"changes/previewed ok ben v1": func(id string) error { _, err := ben.Renew(t.Context(), id); return err },
		}
		late := map[string]string{}
		for want, do := range ids {
			id, _ := a.mustWish(10 + len(late))
			a.log.fail(every)
			if err := do(id); kindOf(err) != "audit" {
				t.Errorf("%s: %v", want, err)
			}
			a.log.fail(none)
			late[id] = want
		}
		a.execute(a.gateway)
		a.reconciled()
		for id, want := range late {
			if got := a.steps(id); !slices.Contains(got, want) {
				t.Errorf("want %s:\n%s", want, strings.Join(got, "\n"))
			}
		}
	}, nil)
}

// TestBrokenGlassRecorded checks that the record of a break-glass approval says that one person has decided alone.
func TestBrokenGlassRecorded(t *testing.T) {
	onStores(t, func(t *testing.T, a *archive) {
		id, digest := a.mustWish(5)
		boss := a.gateway.Reviewer(a.token(identity.Human, "ana", "acme", identity.Read, identity.Review, identity.Operator), "visit")
		if _, err := boss.BreakGlass(t.Context(), id, digest, "the house burns"); err != nil {
			t.Fatal(err)
		}
		a.becomes(id, change.Applied)
		if got := a.steps(id); !slices.Contains(got, "changes/approved approved ana v1 break_glass") {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
		a.reconciled()
	}, nil)
}

// TestUnanswered checks a change that was filed by a process which ended before it could answer. Another process must
// withdraw the change.
func TestUnanswered(t *testing.T) {
	o := newOffice(t, nil)
	a := &archive{office: o, kept: o.store, bot: o.bot()}
	id, _ := a.mustWish(5)
	left, err := a.kept.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	left.ID, left.Effects = "", nil // another digest, and therefore another change
	filed, err := o.queue.Under("v1").Propose(t.Context(), left)
	if err != nil || filed.ID == id {
		t.Fatal(filed, err)
	}
	db, err := sql.Open("sqlite", "file:"+o.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// Instead of waiting, the test backdates the step by more than the maximum time of an answer.
	if _, err := db.ExecContext(t.Context(), `UPDATE outbox SET body = replace(body, '"time":"202', '"time":"201')`); err != nil {
		t.Fatal(err)
	}
	a.execute(o.gateway)
	a.becomes(filed.ID, change.Cancelled)
	if c := a.becomes(id, change.Pending); c.Version != 1 {
		t.Errorf("%+v", c)
	}
	a.reconciled()
}

// A slow source writes at once, but returns only when the test releases it.
type slow struct {
	source.Source
	source.Writer
	wrote  chan struct{}
	goes   chan struct{}
	stands atomic.Bool
}

// again makes the next write wait for its release.
func (s *slow) again() {
	s.wrote, s.goes = make(chan struct{}), make(chan struct{})
	s.stands.Store(false)
}

func (s *slow) Apply(ctx context.Context, p writes.Permit) (change.Receipt, error) {
	r, err := s.Writer.Apply(context.WithoutCancel(ctx), p)
	if s.stands.CompareAndSwap(false, true) { // only the first executor
		close(s.wrote)
		<-s.goes
	}
	return r, err
}

// TestWokenReplica suspends an executor after the write until another executor has its lease. There must be one write
// and one record of it. The record must name the rules that decided, although other rules have taken effect
// meanwhile.
func TestWokenReplica(t *testing.T) {
	s := &slow{}
	onStores(t, func(t *testing.T, a *archive) {
		rules := a.rules
		rules.Version = "v2"
		id, digest := a.mustWish(5)
		if _, err := a.queue.Under("v1").Approve(t.Context(), id, a.token(identity.Human, "ben", "acme", identity.Read, identity.Review), change.Verdict{Digest: digest}); err != nil {
			t.Fatal(err)
		}
		stop := a.execute(a.gateway)
		<-s.wrote
		if err := a.gateway.SetRules(a.Context(), rules, nil); err != nil {
			t.Fatal(err)
		}
		other, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: a.sources, Rules: rules, Audit: a.log, History: a.kept, Refresher: a.tokens, Changes: a.queue})
		if err != nil {
			t.Fatal(err)
		}
		a.execute(other)
		a.becomes(id, change.Applied) // the other executor has found the marker
		close(s.goes)
		stop() // waits until the first executor has finished
		want := []string{"changes/created proposed ana v1", "propose_changes proposed ana v1", "changes/approved approved ben v1", "changes/claimed applying ana v1",
			"changes/claimed applying ana v2", "changes/applied applied ana v2"}
		a.reconciled()
		if got := a.steps(id); !slices.Equal(got, want) {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
	}, func(options *bailiwick.Options, changes *change.Options) {
		s.Source, s.Writer = options.Sources["app"], options.Sources["app"].(source.Writer)
		s.again()
		options.Sources = map[string]source.Source{"app": s}
		changes.Lease = 300 * time.Millisecond
	})
}

// TestRulesOfRecord checks the record of an applied change. It must not name rules that took effect while the change
// was being applied.
func TestRulesOfRecord(t *testing.T) {
	s := &slow{}
	onStores(t, func(t *testing.T, a *archive) {
		rules := a.rules
		rules.Version = "v2"
		id, digest := a.mustWish(5)
		if _, err := a.queue.Under("v1").Approve(t.Context(), id, a.token(identity.Human, "ben", "acme", identity.Read, identity.Review), change.Verdict{Digest: digest}); err != nil {
			t.Fatal(err)
		}
		a.execute(a.gateway)
		<-s.wrote
		if err := a.gateway.SetRules(a.Context(), rules, nil); err != nil {
			t.Fatal(err)
		}
		close(s.goes)
		a.becomes(id, change.Applied)
		a.reconciled()
		if got := a.steps(id); !slices.Equal(got[2:], []string{"changes/approved approved ben v1", "changes/claimed applying ana v1", "changes/applied applied ana v1"}) {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
	}, func(options *bailiwick.Options, changes *change.Options) {
		s.Source, s.Writer = options.Sources["app"], options.Sources["app"].(source.Writer)
		s.again()
		options.Sources = map[string]source.Source{"app": s}
	})
}
