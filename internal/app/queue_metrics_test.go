package app_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A counter is a replica of a gateway over a small application, with its metrics over HTTP.
type counter struct {
	*testing.T
	*app.App
	url string
}

// newCounter serves the configuration in dir with the store at place.
func newCounter(t *testing.T, dir, place string) counter {
	t.Helper()
	c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), fmt.Appendf(nil, "store: %q\nsources: {app: {url: 'sqlite:app.db'}}\nclasses: {issues: {}, notes: {}}\n"+
		"gates: {writes: on, raw_writes: on}\nserver: {metrics: true}\n"+
		"review: {single_operator: true, rules: [{when: 'change.op == \"delete\"', approvals: 2}, {when: 'change.class == \"app.notes\" && change.op == \"create\"', mode: allow}]}\n", place), nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	p, err := app.BuildWithTelemetry(t.Context(), c, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	o := p.Door()
	o.Logger = log
	s, err := p.Serve(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.MCP.Close() })
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return counter{t, p, h.URL}
}

// token creates a credential and returns it with its principal.
func (d counter) token(kind identity.Kind, owner string, scopes ...identity.Scope) (identity.Principal, string) {
	d.Helper()
	kept, secret, err := d.Tokens.Create(d.Context(), identity.Local("ops"), identity.Token{Name: owner, Kind: kind, Owner: owner, Scopes: scopes})
	if err != nil {
		d.Fatal(err)
	}
	p, err := kept.Principal()
	if err != nil {
		d.Fatal(err)
	}
	return p, secret
}

// propose proposes one write of a class as the agent p and returns the change.
func (d counter) propose(p identity.Principal, op, more string) *change.Change {
	d.Helper()
	in, err := value.Read(fmt.Appendf(nil, `{"reason":"because","writes":[{"op":%q,%s}]}`, op, more), 0)
	if err != nil {
		d.Fatal(err)
	}
	res, err := d.Tools.Call(d.Context(), p, tool.Request{Name: "propose_changes", Arguments: in, Correlation: "c1"})
	if err != nil {
		d.Fatal(err)
	}
	id := regexp.MustCompile(`[0-9a-z]{34}`).FindString(res.Text)
	c, err := d.Store.Get(d.Context(), id)
	if err != nil {
		d.Fatal(res.Text, err)
	}
	return c
}

// queueFigures returns the figures of the queue in /metrics. The keys are names with labels.
func (d counter) queueFigures(secret string) map[string]float64 {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), http.MethodGet, d.url+"/metrics", nil)
	if err != nil {
		d.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		d.Fatal(res.Status, err)
	}
	out := map[string]float64{}
	for line := range strings.Lines(string(body)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(number, 64); err == nil && strings.HasPrefix(name, "bailiwick_change") && !strings.Contains(name, "_bucket{") && v != 0 {
			out[name] = v
		}
	}
	return out
}

// storedFigures computes the same figures from the changes in the store.
func (d counter) storedFigures() map[string]float64 {
	d.Helper()
	all, _, err := d.Store.List(d.Context(), change.Filter{Limit: 200})
	if err != nil {
		d.Fatal(err)
	}
	now, err := d.Store.Now(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	out := map[string]float64{}
	for _, c := range all {
		in := fmt.Sprintf(`risk=%q,source=%q`, c.Risk, c.Source)
		if c.State == change.Pending {
			out["bailiwick_changes_waiting{"+in+"}"]++
			out["bailiwick_changes_waiting_oldest_age_seconds{"+in+"}"] = now.Sub(c.Created).Seconds() // the list ends with the oldest
		}
		var approved time.Time
		for _, s := range c.History {
			decision := map[change.EventKind]string{"approved": "approved", "decided": "approved_by_one", "rejected": "rejected", "changes_requested": "changes_requested"}[s.Event]
			if decision != "" && c.Need > 0 {
				out[fmt.Sprintf("bailiwick_changes_decided_total{decision=%q,%s}", decision, in)]++
			}
			if decision != "" && decision != "approved_by_one" && c.Need > 0 {
				out["bailiwick_change_decision_duration_seconds_count{"+in+"}"]++
				out["bailiwick_change_decision_duration_seconds_sum{"+in+"}"] += s.At.Sub(c.Created).Seconds()
			}
			switch s.Event {
			case change.EventApproved:
				approved = s.At
			case change.EventApplied, change.EventFailed, change.EventStale, change.EventUnknown, change.EventExpired, change.EventCancelled:
				out[fmt.Sprintf("bailiwick_changes_outcomes_total{outcome=%q,%s}", s.Event, in)]++
			}
			if s.Event == change.EventApplied && c.Outcome.Settled == nil {
				out["bailiwick_change_apply_duration_seconds_count{"+in+"}"]++
				out["bailiwick_change_apply_duration_seconds_sum{"+in+"}"] += s.At.Sub(approved).Seconds()
			}
		}
	}
	return out
}

// alike reports whether two sets of figures agree. Ages may differ by the time between two looks.
func alike(want, got map[string]float64) bool {
	return len(want) == len(got) && !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(name string) bool {
		within := 1e-5
		if strings.Contains(name, "age_seconds") {
			within = 1
		}
		return math.Abs(want[name]-got[name]) > within
	})
}

// TestQueueMetrics proposes, decides and applies changes at two replicas. The figures of the queue in /metrics of both
// must be those of the store.
func TestQueueMetrics(t *testing.T) {
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			db, err := sql.Open("sqlite", filepath.Join(dir, "app.db")+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("CREATE TABLE issues (id INTEGER PRIMARY KEY, title TEXT UNIQUE); CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO issues VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (6, 'f'), (7, 'g')"); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			place := "sqlite:" + filepath.Join(t.TempDir(), "store.db")
			if kind == "postgres" {
				place = services.Postgres(t)
			}
			one, two := newCounter(t, dir, place), newCounter(t, dir, place)
			_, auditor := one.token(identity.Human, "ops", identity.Audit)
			if got := one.queueFigures(auditor); len(got) > 0 {
				t.Errorf("before: %v", got)
			}
			play(one, two, func(statement string) {
				if _, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				}
			})
			want := one.storedFigures()
			for _, d := range []counter{one, two} {
				got := d.queueFigures(auditor)
				for end := time.Now().Add(20 * time.Second); !alike(want, got) && time.Now().Before(end); want, got = one.storedFigures(), d.queueFigures(auditor) {
					time.Sleep(500 * time.Millisecond) // the numbers of waiting changes are reused for some seconds
				}
				if diff := cmp.Diff(want, got); !alike(want, got) {
					t.Errorf("(-store +metrics)\n%s", diff)
				}
			}
			for _, word := range []string{"approved", "approved_by_one", "rejected", "changes_requested", "applied", "failed", "stale", "unknown", "expired", "cancelled", "changes_waiting{", "high", "low"} {
				if !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(name string) bool { return strings.Contains(name, word) }) {
					t.Errorf("the store has no figure for %s: %v", word, want)
				}
			}
		})
	}
}

// play gives changes each decision and outcome, at both replicas.
func play(one, two counter, exec func(string)) {
	ctx := one.Context()
	bot, _ := one.token(identity.Agent, "ana", identity.Read, identity.Write, identity.Delete)
	ben, _ := one.token(identity.Human, "ben", identity.Read, identity.Review)
	eve, _ := one.token(identity.Human, "eve", identity.Read, identity.Review)
	update := func(id int, title string) *change.Change {
		return one.propose(bot, "update", fmt.Sprintf(`"class_name":"issues","object_id":"%d","data":{"title":%q}`, id, title))
	}
	approve := func(d counter, p identity.Principal, c *change.Change, want change.State) {
		one.Helper()
		s, err := d.Gateway.Reviewer(p, "visit").Approve(ctx, c.ID, c.Digest, "")
		if err != nil || s.State != want {
			one.Fatal(s, err)
		}
	}
	approve(one, ben, update(1, "applied"), change.Applied)
	approve(two, ben, update(2, "applied at the other"), change.Applied)
	deleted := two.propose(bot, "delete", `"class_name":"issues","object_id":"3"`)
	approve(one, ben, deleted, change.Pending)
	approve(two, eve, deleted, change.Applied)
	if c := one.propose(bot, "create", `"class_name":"notes","data":{"text":"allowed without review"}`); c.State != change.Applied {
		one.Fatal(c.State, c.Rule)
	}

	stale := update(4, "stale")
	exec("UPDATE issues SET title = 'moved' WHERE id = 4")
	approve(one, ben, stale, change.Stale)
	reviewer := two.Gateway.Reviewer(ben, "visit")
	if _, err := reviewer.Reject(ctx, update(6, "rejected").ID, "no"); err != nil {
		one.Fatal(err)
	}
	if _, err := reviewer.Ask(ctx, update(6, "returned").ID, "why?"); err != nil {
		one.Fatal(err)
	}
	queue := change.NewQueue(change.Options{Store: one.Store, Audited: true, Life: time.Microsecond})
	if _, err := queue.Cancel(ctx, update(6, "cancelled").ID, bot); err != nil {
		one.Fatal(err)
	}
	unknown := update(7, "unknown")
	for c, event := range map[*change.Change]change.EventKind{unknown: change.EventUnknown, update(5, "failed"): change.EventFailed} {
		_, held, err := queue.ApproveFor(ctx, c.ID, ben, change.Verdict{Digest: c.Digest}, "executor")
		if err != nil {
			one.Fatal(err)
		}
		if _, err := queue.Finish(ctx, held, event, change.Outcome{Detail: "no answer"}); err != nil {
			one.Fatal(err)
		}
	}
	if _, err := queue.Settle(ctx, unknown.ID, ben, true, "it is there"); err != nil {
		one.Fatal(err)
	}
	late := *update(6, "expired")
	if _, err := queue.Cancel(ctx, late.ID, bot); err != nil {
		one.Fatal(err)
	}
	if expired, err := queue.Propose(ctx, &late); err != nil {
		one.Fatal(err)
	} else if done, err := queue.Expire(context.WithoutCancel(ctx), expired); err != nil || !done {
		one.Fatal(done, err)
	}
	for i := range 3 {
		update(6, fmt.Sprint("waits ", i))
	}
	one.propose(bot, "delete", `"class_name":"issues","object_id":"6"`)
}
