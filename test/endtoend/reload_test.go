package endtoend

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A versions log maps the correlation id of each record to the policy that the record names.
type versions struct{ of sync.Map }

func (v *versions) Append(_ context.Context, r *audit.Record) error {
	v.of.Store(r.Correlation, r.Policy)
	return nil
}

// regime returns the n-th rules of a sequence and their answer to a read of notes. In turn, the rules show other
// fields, other records, or nothing.
func regime(n int) (rules policy.Rules, answer string) {
	rule := policy.ClassRule{}
	switch n % 4 {
	case 0:
		answer = `[{"id":"1","text":"a"},{"id":"2","text":"b"}]`
	case 1:
		rule.Visible, answer = []string{"id"}, `[{"id":"1"},{"id":"2"}]`
	case 2:
		rule.Canonical, answer = query.Compare{Path: query.Path{"text"}, Op: query.Eq, Value: value.OfString("b")}, `[{"id":"2","text":"b"}]`
	case 3:
		rule.Hidden, answer = true, string(problem.NotFound)
	}
	return policy.Rules{Version: fmt.Sprint(n), Classes: map[string]policy.ClassRule{"notes": rule}}, answer
}

// notesOf returns the notes that a call reads.
func notesOf(ctx context.Context, c *bailiwick.Call) string {
	page, err := c.Read(ctx, &query.Find{Class: "notes", Limit: 5})
	if err != nil {
		return string(problem.CodeOf(err))
	}
	return string(page.AppendJSON(nil))
}

// TestReload makes 10,000 calls while rules are reloaded a hundred times. Each answer must be that of the rules in
// the call's record, even if the rules change during a call.
func TestReload(t *testing.T) {
	const calls, reloads, askers = 10_000, 100, 8
	log := &versions{}
	first, _ := regime(0)
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": newNotes()}, Rules: first, Audit: log,
		Limits: limit.Options{PerMinute: 1_000_000, Burst: 1_000_000, Concurrency: 1000, Queue: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	var asked, crossed atomic.Int64
	var mu sync.Mutex
	in := 0 // the number of the current rules
	reload := func() {
		mu.Lock()
		defer mu.Unlock()
		in++
		rules, _ := regime(in)
		if err := g.SetRules(t.Context(), rules, nil); err != nil {
			t.Error(err)
		}
	}
	var wg sync.WaitGroup
	answers := make([]sync.Map, askers)
	ask := func(asker, call int, long bool) {
		if asked.Add(1)%(calls/reloads) == 0 {
			reload()
		}
		id := fmt.Sprint(call)
		err := g.Do(t.Context(), reader, bailiwick.CallSpec{Tool: "t", Needs: identity.Read, Correlation: id}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			got := notesOf(ctx, c)
			answers[asker].Store(id, got)
			if !long {
				return 0, nil
			}
			reload()
			crossed.Add(1)
			if again := notesOf(ctx, c); again != got {
				t.Errorf("call %s began with %q and went on with %q", id, got, again)
			}
			return 0, nil
		})
		if err != nil {
			t.Errorf("call %s: %v", id, err)
		}
	}
	for a := range askers {
		wg.Go(func() {
			for i := a; i < calls; i += askers {
				ask(a, i, a == 0 && i%10 == 0)
			}
		})
	}
	wg.Wait()
	seen, used := map[string]int{}, map[string]bool{}
	for a := range answers {
		for id, got := range answers[a].Range {
			version, ok := log.of.Load(id)
			var n int
			if _, err := fmt.Sscan(fmt.Sprint(version), &n); err != nil || !ok {
				t.Fatalf("call %v is recorded with the rules %v", id, version)
			}
			if _, want := regime(n); got != want {
				t.Errorf("call %v by rules %d: got %q, want %q", id, n, got, want)
			}
			seen[got.(string)]++
			used[fmt.Sprint(version)] = true
		}
	}
	total := 0
	for _, n := range seen {
		total += n
	}
	if total != calls || len(seen) != 4 || len(used) < reloads*9/10 || crossed.Load() < 100 {
		t.Errorf("%d answers of %d kinds by %d rules, %d over a reload: too few to tell", total, len(seen), len(used), crossed.Load())
	}
	t.Logf("%d calls by %d rules: %v; %d ran on over a reload", total, len(used), seen, crossed.Load())
}

// TestRulesRecorded checks that new rules are in the audit before they take effect. The old rules must stay if the
// change can't be recorded.
func TestRulesRecorded(t *testing.T) {
	kept := &audit.Memory{}
	log := &sink{Log: kept}
	first, _ := regime(0)
	second, _ := regime(1)
	g := gateway(t, bailiwick.Options{Audit: log, Rules: first})
	log.fail(every)
	if err := g.SetRules(t.Context(), second, nil); err == nil || g.PolicyVersion() != first.Version {
		t.Errorf("unrecorded: %v, in force: %s", err, g.PolicyVersion())
	}
	log.fail(func(r *audit.Record) bool {
		if g.PolicyVersion() != first.Version {
			t.Error("in force before its record:", r)
		}
		return false
	})
	if err := g.SetRules(t.Context(), second, nil); err != nil || g.PolicyVersion() != second.Version {
		t.Errorf("recorded: %v, in force: %s", err, g.PolicyVersion())
	}
	var got []string
	if err := kept.Records(t.Context(), audit.First, func(r audit.Record) bool {
		got = append(got, r.Tool+" "+r.Outcome+" "+r.Policy)
		return true
	}); err != nil || len(got) != 1 || got[0] != "rules/changed ok "+second.Version {
		t.Error(got, err)
	}
}

// TestSetRules checks that invalid rules change nothing, and that a reload of the sources keeps the current rules.
func TestSetRules(t *testing.T) {
	first, _ := regime(0)
	g := gateway(t, bailiwick.Options{Audit: &audit.Memory{}, Rules: first})
	var told []string
	defer g.Subscribe(func(c bailiwick.Event) { told = append(told, string(c)) })()
	look := func() (got string) {
		err := g.Do(t.Context(), reader, bailiwick.CallSpec{Tool: "t", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			got = notesOf(ctx, c)
			return 0, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	second, want := regime(1)
	if err := g.SetRules(t.Context(), second, nil); err != nil || look() != want {
		t.Errorf("%v, and then %q, want %q", err, look(), want)
	}
	bad, _ := regime(2)
	bad.Classes["nots"] = policy.ClassRule{}
	if err := g.SetRules(t.Context(), bad, nil); err == nil || err.Error() != "classes.nots: there is no such class. Did you mean notes?" {
		t.Errorf("rules of a class that isn't there: %v", err)
	}
	if _, err := g.Refresh(t.Context()); err != nil || look() != want {
		t.Errorf("after bad rules and a look at the sources: %v, %q, want %q", err, look(), want)
	}
	if d := cmp.Diff([]string{"rules", "catalogue"}, told); d != "" {
		t.Error(d)
	}
	write := bailiwick.CallSpec{Tool: "put", Needs: identity.Write}
	writer := reader
	writer.Scopes = []identity.Scope{identity.Read, identity.Write}
	run := func(context.Context, *bailiwick.Call) (int, error) { return 0, nil }
	if p := problem.Of(g.Do(t.Context(), writer, write, run)); p == nil || p.Kind != "gate" || g.May(writer, write) == nil {
		t.Errorf("a write under review: %v", p)
	}
	second.Gates.Writes = policy.On
	if err := g.SetRules(t.Context(), second, nil); err != nil {
		t.Fatal(err)
	}
	if err := g.Do(t.Context(), writer, write, run); err != nil || g.May(writer, write) != nil {
		t.Errorf("a write where writes are on: %v", err)
	}
}
