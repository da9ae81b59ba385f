package endtoend

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// A pooled is a source with a maximum number of connections. A read with a connection waits until the test releases
// it.
type pooled struct {
	notes
	most    int
	begun   atomic.Int32
	release chan struct{}
}

func (p *pooled) Pool() source.Pool { return source.Pool{Most: p.most} }

func (p *pooled) Read(ctx context.Context, permit policy.Permit) (source.Rows, error) {
	rows, err := p.notes.Read(ctx, permit)
	if err != nil {
		return nil, err
	}
	return func(yield func(value.Row, error) bool) {
		p.begun.Add(1)
		<-p.release
		rows(yield)
	}, nil
}

// agentOf returns an agent with its own token.
func agentOf(id, owner, tenant string) identity.Principal {
	return identity.Principal{ID: id, Owner: owner, Tenant: tenant, Scopes: []identity.Scope{identity.Read}}
}

// childOf returns a sub-principal of p.
func childOf(t *testing.T, p identity.Principal, name string) identity.Principal {
	t.Helper()
	child, err := identity.Derive(p, identity.Derivation{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return child
}

// TestSharedCapacity checks the shares of connections and of memory for answers. Of sixteen places, a token with its
// sub-principals may use ten, a person in any spelling of the name eleven, and a tenant twelve. Other callers must
// get a place at once.
func TestSharedCapacity(t *testing.T) {
	for name, tt := range map[string]struct {
		connections int
		memory      int64
	}{"connections": {16, 1 << 40}, "memory": {0, 16 * limit.AnswerMemory}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := &pooled{notes: newNotes(), most: tt.connections, release: make(chan struct{})}
				g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": from}, Audit: &audit.Memory{}, Memory: tt.memory, Rules: policy.Rules{Unlisted: true},
					Sampling: bailiwick.Sampling{Off: true}})
				if err != nil {
					t.Fatal(err)
				}
				child := childOf(t, reader, "helper")
				var calls sync.WaitGroup
				for _, step := range []struct {
					who   identity.Principal
					times int
					reads bool
				}{
					{child, 5, true},
					{reader, 5, true},
					{child, 1, false},
					{childOf(t, child, "another"), 1, false},
					{agentOf("b", "ＡＮＮ\u200b", "acme"), 1, true},
					{agentOf("c", " Ann", "acme"), 1, false},
					{agentOf("d", "bob", "acme"), 1, true},
					{agentOf("e", "carl", "acme"), 1, false},
					{agentOf("f", "dora", "other"), 1, true},
				} {
					for range step.times {
						before := from.begun.Load()
						calls.Go(func() {
							if _, err := g.Read(t.Context(), step.who, &query.Find{Class: "notes", Limit: 5}); err != nil {
								t.Error(step.who.ID, err)
							}
						})
						synctest.Wait()
						if reads := from.begun.Load() > before; reads != step.reads {
							t.Errorf("%s of %q: reads %v, want %v", step.who.ID, step.who.Owner, reads, step.reads)
						}
					}
				}
				close(from.release)
				calls.Wait()
			})
		})
	}
}

// TestSharedAllowances checks rates and budgets. Sub-principals use those of their token. All tokens of a person use
// those of the person, in any spelling of the name. The third call must be refused.
func TestSharedAllowances(t *testing.T) {
	child := childOf(t, reader, "helper")
	token := []identity.Principal{reader, child, childOf(t, child, "another")}
	person := []identity.Principal{reader, agentOf("b", "ＡＮＮ\u200b", "acme"), childOf(t, agentOf("c", " Ann", "acme"), "helper")}
	now := func() time.Time { return time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC) }
	for name, tt := range map[string]struct {
		limits limit.Options
		who    []identity.Principal
		want   problem.Code
	}{
		"rate of a token":    {limit.Options{TokenPerMinute: 1, TokenBurst: 2}, token, problem.RateLimited},
		"rate of a person":   {limit.Options{PerMinute: 1, Burst: 2}, person, problem.RateLimited},
		"budget of a token":  {limit.Options{TokenDaily: limit.Use{Calls: 2}}, token, problem.BudgetExceeded},
		"budget of a person": {limit.Options{Daily: limit.Use{Calls: 2}}, person, problem.BudgetExceeded},
	} {
		tt.limits.Now = now
		g := gateway(t, bailiwick.Options{Audit: &audit.Memory{}, Limits: tt.limits, Now: now})
		for i, who := range append(tt.who, agentOf("d", "bob", "acme")) {
			want := map[int]problem.Code{2: tt.want}[i]
			if _, err := g.Read(t.Context(), who, &query.Find{Class: "notes", Limit: 1}); err == nil && want != "" || err != nil && problem.CodeOf(err) != want {
				t.Errorf("%s: call %d, by %s of %q: %v, want %q", name, i, who.ID, who.Owner, err, want)
			}
		}
	}
}

// TestSharedPlaces checks that the sub-principals of one token share its places for running calls. Sub-principals of
// one generation share together.
func TestSharedPlaces(t *testing.T) {
	g := gateway(t, bailiwick.Options{Audit: &audit.Memory{}, Limits: limit.Options{Concurrency: 1, Queue: -1}})
	ask := bailiwick.CallSpec{Tool: "t", Needs: identity.Read}
	none := func(context.Context, *bailiwick.Call) (int, error) { return 0, nil }
	one, two := childOf(t, reader, "one"), childOf(t, reader, "two")
	err := g.Do(t.Context(), one, ask, func(ctx context.Context, _ *bailiwick.Call) (int, error) {
		if err := g.Do(ctx, two, ask, none); problem.CodeOf(err) != problem.RateLimited {
			t.Errorf("a second sub-principal beside the first: %v", err)
		}
		for _, who := range []identity.Principal{reader, childOf(t, one, "below"), childOf(t, agentOf("b", "ann", "acme"), "one")} {
			if err := g.Do(ctx, who, ask, none); err != nil {
				t.Error(who.ID, err)
			}
		}
		return 0, nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := g.Do(t.Context(), two, ask, none); err != nil {
		t.Error("after it:", err)
	}
}
