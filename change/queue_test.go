package change_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// when compiles a condition.
func when(t *testing.T, text string) *expression.Condition {
	t.Helper()
	c, err := expression.NewCompiler().CompileChange(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func doc(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// effects returns n effects of one operation on issues.
func effects(op write.Op, n int, asked ...string) []change.Effect {
	out := make([]change.Effect, n)
	for i := range out {
		out[i] = change.Effect{Op: op, Class: "tracker.issues", Key: fmt.Sprint(i), Asked: asked}
	}
	return out
}

// TestJudge checks the result of rules for proposed effects.
func TestJudge(t *testing.T) {
	two := change.Rule{Name: "review[0]", When: when(t, `change.op == "delete" || change.rows > 50`), Approvals: 2, Risk: change.High}
	labels := change.Rule{Name: "review[1]", When: when(t, `change.fields.all(f, f in ["assignee", "labels"])`), Mode: write.Allow}
	locked := change.Rule{Name: "review[2]", When: when(t, `"tracker.vaults" in change.classes`), Mode: write.Deny}
	broken := change.Rule{Name: "review[3]", When: when(t, `principal.claims.nothing.there == 1`), Approvals: 3}
	mine := change.Rule{Name: "review[4]", When: when(t, `principal.tenant == "acme" && change.action == "close" && change.tool == "close" && change.source == "tracker" && change.class == "tracker.issues"`), Risk: change.Medium}
	always := change.Rule{Name: "review[5]", Mode: write.Review}
	for _, tt := range []struct {
		name    string
		effects []change.Effect
		asked   write.Mode
		rules   []change.Rule
		want    string
	}{
		{"no rule", effects("update", 1, "status"), "", nil, "update 1 review 1 low "},
		{"a delete is high of itself", effects("delete", 1), "", nil, "delete 1 review 1 high "},
		{"the schema too", effects("schema", 1), "", nil, "schema 1 review 1 high "},
		{"ten records", effects("update", 10, "a"), "", nil, "update 10 review 1 low "},
		{"many records", effects("update", 11, "a"), "", nil, "update 11 review 1 medium "},
		{"several kinds", append(effects("update", 1, "a"), effects("create", 1, "a")...), "", nil, "group 2 review 1 low "},
		{"nothing", nil, "", nil, " 0 review 1 low "},
		{"a rule for deletes", effects("delete", 1), "", []change.Rule{two}, "delete 1 review 2 high review[0]"},
		{"a rule that doesn't hold", effects("update", 50, "a"), "", []change.Rule{two}, "update 50 review 1 medium "},
		{"a rule for many", effects("update", 51, "a"), "", []change.Rule{two}, "update 51 review 2 high review[0]"},
		{"let through by a rule", effects("update", 1, "labels"), "", []change.Rule{labels}, "update 1 allow 0 low review[1]"},
		{"not with another field", effects("update", 1, "labels", "status"), "", []change.Rule{labels}, "update 1 review 1 low "},
		{"approvals win over allow", effects("update", 51, "labels"), "", []change.Rule{two, labels}, "update 51 review 2 high review[0], review[1]"},
		{"review wins over allow", effects("update", 1, "labels"), "", []change.Rule{labels, always}, "update 1 review 1 low review[1], review[5]"},
		{"the class says review", effects("update", 1, "labels"), write.Review, []change.Rule{labels}, "update 1 review 1 low review[1]"},
		{"the class says allow", effects("update", 1, "status"), write.Allow, nil, "update 1 allow 0 low "},
		{"the class says allow, a rule of a mode and approvals", effects("update", 1, "status"), write.Allow, []change.Rule{{Name: "review[6]", Mode: write.Allow, Approvals: 2}}, "update 1 allow 0 low review[6]"},
		{"the class says allow, a rule of risk alone", effects("update", 1, "status"), write.Allow, []change.Rule{{Name: "review[7]", Risk: change.Medium}}, "update 1 allow 0 medium review[7]"},
		{"a call that destroys", []change.Effect{{Op: "call", Destroys: true}}, "", nil, "call 1 review 1 high "},
		{"the class says allow, a rule two", effects("delete", 1), write.Allow, []change.Rule{two}, "delete 1 review 2 high review[0]"},
		{"the class says deny", effects("update", 1, "labels"), write.Deny, []change.Rule{labels}, "update 1 deny 1 low review[1]"},
		{"a rule says deny", []change.Effect{{Op: "update", Class: "tracker.vaults"}}, write.Allow, []change.Rule{locked}, "update 1 deny 1 low review[2]"},
		{"a rule that fails holds", effects("update", 1, "a"), "", []change.Rule{broken}, "update 1 review 3 low review[3]"},
		{"all that a rule can ask", effects("update", 1, "a"), "", []change.Rule{mine}, "update 1 review 1 medium review[4]"},
	} {
		c := &change.Change{Effects: tt.effects, Action: "close", Tool: "close", Source: "tracker"}
		change.Judge(c, tt.rules, identity.Principal{ID: "x", Tenant: "acme"}, tt.asked)
		if got := fmt.Sprintf("%s %d %s %d %s %s", c.Op, c.Rows, c.Mode, c.Need, c.Risk, c.Rule); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	c := &change.Change{Effects: []change.Effect{{Op: "update", Class: "b", Asked: []string{"y", "x"}}, {Op: "update", Class: "a", Asked: []string{"x"}}, {Op: "update"}}}
	change.Judge(c, nil, identity.Principal{}, write.Allow)
	if got := fmt.Sprint(c.Classes, c.Fields); got != "[a b] [x y]" {
		t.Error(got)
	}
	if c.RequireReview(); c.Mode != write.Review || c.Need != 1 {
		t.Error("a gate of review lets it through", c.Mode, c.Need)
	}
	c.Mode, c.Need = write.Deny, 0
	if c.RequireReview(); c.Mode != write.Deny || c.Need != 0 {
		t.Error("a gate changed what is denied")
	}
}

// hall is a queue over a store in a file.
type hall struct {
	*testing.T
	*change.Queue
	store *sqlite.Store
	path  string
	n     int
}

func newHall(t *testing.T, o change.Options) *hall {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	o.Store = s
	return &hall{T: t, Queue: change.NewQueue(o), store: s, path: path}
}

// Claim is that of the queue, after recording the outbox.
func (h *hall) Claim(ctx context.Context, id, holder string) (change.Approved, error) {
	h.Helper()
	if _, err := audit.Drain(ctx, h.store, id, h.store); err != nil {
		h.Fatal(err)
	}
	return h.Queue.Claim(ctx, id, holder)
}

// later makes all changes in the store two days older, so that tests needn't wait.
func (h *hall) later() {
	h.Helper()
	db, err := sql.Open("sqlite", "file:"+h.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		h.Fatal(err)
	}
	defer db.Close()
	two := (48 * time.Hour).Microseconds()
	if _, err := db.ExecContext(h.Context(), `UPDATE change SET expires = expires - ?, lease = lease - ?`, two, two); err != nil {
		h.Fatal(err)
	}
}

func person(name string, scopes ...identity.Scope) identity.Principal {
	if scopes == nil {
		scopes = []identity.Scope{identity.Review}
	}
	return identity.Principal{ID: "token:" + name, Name: name, Kind: identity.Human, Owner: name, Scopes: scopes}
}

var bot = identity.Principal{ID: "token:bot", Name: "bot", Kind: identity.Agent, Owner: "Ana", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write}}

// propose files a change that needs this many approvals.
func (h *hall) propose(need int) *change.Change { return h.proposeAfter(need) }

// proposeAfter files a change that needs this many approvals, and waits for others.
func (h *hall) proposeAfter(need int, after ...string) *change.Change {
	h.Helper()
	h.n++
	c := &change.Change{Source: "app", Agent: change.PartyOf(bot), Mode: write.Review, Need: need, After: after,
		Writes:  []value.Value{write.Print(&write.Update{Class: "issues", ID: fmt.Sprint(h.n), Data: doc(h, `{"n": 9007199254740993}`)})},
		Effects: []change.Effect{{Op: "update", Class: "app.issues", Key: fmt.Sprint(h.n), Before: doc(h, `{"n": 1}`), After: doc(h, `{"n": 9007199254740993}`), Asked: []string{"n"}}}}
	kept, err := h.Propose(h.Context(), c)
	if err != nil {
		h.Fatal(err)
	}
	return kept
}

func kind(err error) string {
	if err == nil {
		return ""
	}
	return problem.Of(err).Kind
}

// TestWhoDecides checks who may approve a change of Ana's bot, and why others may not.
func TestWhoDecides(t *testing.T) {
	h := newHall(t, change.Options{})
	sub := person("ben")
	sub.Above = &bot
	agent := bot
	agent.Owner, agent.Scopes = "ben", []identity.Scope{identity.Review}
	robot := person("ben")
	robot.Kind = identity.Service
	nobody := person(" ")
	for _, tt := range []struct {
		name string
		who  identity.Principal
		want string
	}{
		{"another person", person("ben"), ""},
		{"the human behind the agent", person("Ana"), "four_eyes"},
		{"in other letters", person(" aNA "), "four_eyes"},
		{"in full width", person("ａｎａ"), "four_eyes"},
		{"with what shows nothing", person("a\u200bna\u2060"), "four_eyes"},
		{"with a tag", person("ana+bot"), "four_eyes"},
		{"with a dot at its end", person("Ana."), "four_eyes"},
		{"at a mail server", person("ana@example.org"), ""},
		{"a name that shows nothing", person("\u200b"), "no_owner"},
		{"an agent with the scope", agent, "not_human"},
		{"a service", robot, "not_human"},
		{"a sub-principal", sub, "not_human"},
		{"without the scope", person("ben", identity.Operator, identity.Audit), "scope"},
		{"without a name", nobody, "no_owner"},
		{"an administrator who is the human", person("ana", identity.Review, identity.Operator), "four_eyes"},
	} {
		c := h.propose(1)
		got, err := h.Approve(t.Context(), c.ID, tt.who, change.Verdict{Digest: c.Digest, Comment: "yes"})
		if kind(err) != tt.want || err == nil && (got.State != change.Granted || got.History[len(got.History)-1].Comment != "yes") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		_, err = h.Reject(t.Context(), h.propose(1).ID, tt.who, "no")
		if want := strings.Replace(tt.want, "four_eyes", "", 1); kind(err) != want {
			t.Errorf("%s rejects: %v, want %q", tt.name, err, want)
		}
	}
	c := h.propose(1)
	asker := change.PartyOf(person("Cleo"))
	c.Asker = &asker
	if err := h.Eligible(person("cleo"), c); kind(err) != "four_eyes" {
		t.Error("who asked for it decides:", err)
	}
	if h.Single() || !newHall(t, change.Options{Single: true}).Single() {
		t.Error("Single")
	}
}

// TestMost checks that the pending changes of a person's agents are counted together: other tokens, other spellings
// and sub-principals.
func TestMost(t *testing.T) {
	h := newHall(t, change.Options{Most: 5})
	filed := 0
	for i := range 18 {
		p := bot
		p.Owner = []string{"ana", "ANA", "ａｎａ", "an\u200ba"}[i%4]
		if i%2 == 1 {
			p.ID = fmt.Sprint("token:", i)
		}
		sub, err := identity.Derive(p, identity.Derivation{Name: fmt.Sprint("c", i), Scopes: p.Scopes})
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.Propose(t.Context(), &change.Change{Source: "app", Agent: change.PartyOf(sub), Mode: write.Review, Need: 1, Effects: effects("update", i+1)})
		if kind(err) != "" && kind(err) != "pending_changes" {
			t.Fatal(err)
		}
		if err == nil {
			filed++
		}
	}
	if filed != 5 {
		t.Errorf("%d of 18 proposals were filed under a cap of 5", filed)
	}
}

// TestBefore checks which change another one waits for: one that isn't applied, and of several one that never will be.
func TestBefore(t *testing.T) {
	h := newHall(t, change.Options{})
	pending, rejected, approved := h.propose(1), h.propose(1), h.propose(1)
	if _, err := h.Reject(t.Context(), rejected.ID, person("ben"), "no"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Approve(t.Context(), approved.ID, person("ben"), change.Verdict{Digest: approved.Digest}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after []*change.Change
		want  *change.Change
	}{
		{nil, nil},
		{[]*change.Change{pending}, pending},
		{[]*change.Change{approved}, approved},
		{[]*change.Change{rejected}, rejected},
		{[]*change.Change{pending, rejected, approved}, rejected},
	} {
		c := &change.Change{}
		for _, a := range tt.after {
			c.After = append(c.After, a.ID)
		}
		got, err := h.Before(t.Context(), c)
		if want := tt.want; err != nil || (got == nil) != (want == nil) || got != nil && got.ID != want.ID {
			t.Errorf("after %v: %v, %v", c.After, got, err)
		}
	}
}

// TestSingleOperator checks that the agent's human may decide alone if the configuration allows it, and that it is
// recorded.
func TestSingleOperator(t *testing.T) {
	h := newHall(t, change.Options{Single: true})
	for _, tt := range []struct{ comment, want string }{{"", "single operator"}, {"mine", "single operator: mine"}} {
		c := h.propose(1)
		c, err := h.Approve(t.Context(), c.ID, person("ana"), change.Verdict{Digest: c.Digest, Comment: tt.comment})
		if err != nil || c.State != change.Granted || !c.Decisions[0].Single || c.History[1].Comment != tt.want || c.History[1].By != "ana" {
			t.Fatal(c, err)
		}
	}
	c := h.propose(1)
	if c, err := h.Approve(t.Context(), c.ID, person("ben"), change.Verdict{Digest: c.Digest}); err != nil || c.Decisions[0].Single {
		t.Error(c.Decisions, err)
	}
	if _, err := h.Approve(t.Context(), h.propose(1).ID, person("ana", identity.Read), change.Verdict{Digest: c.Digest}); kind(err) != "scope" {
		t.Error("without the scope:", err)
	}
}

// TestBreakGlass checks that one operator can approve alone with a reason, and that it is recorded prominently.
func TestBreakGlass(t *testing.T) {
	h := newHall(t, change.Options{})
	c := h.propose(3)
	for _, tt := range []struct {
		name    string
		who     identity.Principal
		comment string
		want    string
	}{
		{"without the scope operator", person("ana"), "fire", "scope"},
		{"without the scope review", person("ana", identity.Operator), "fire", "scope"},
		{"without a reason", person("ana", identity.Review, identity.Operator), " ", ""},
	} {
		_, err := h.Approve(t.Context(), c.ID, tt.who, change.Verdict{Digest: c.Digest, Comment: tt.comment, Broken: true})
		if err == nil || kind(err) != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	// A person who has approved already may break the glass as well.
	other := h.propose(3)
	for _, v := range []change.Verdict{{Digest: other.Digest}, {Digest: other.Digest, Comment: "fire", Broken: true}} {
		done, err := h.Approve(t.Context(), other.ID, person("ben", identity.Review, identity.Operator), v)
		if err != nil || (done.State == change.Granted) != v.Broken || (done.History[len(done.History)-1].Comment == "") == v.Broken {
			t.Error(v.Broken, done, err)
		}
	}
	c = h.propose(3)
	done, err := h.Approve(t.Context(), c.ID, person("ana", identity.Review, identity.Operator), change.Verdict{Digest: c.Digest, Comment: "fire", Broken: true})
	if err != nil || done.State != change.Granted || !done.Decisions[0].Broken || done.History[1].Comment != "BREAK GLASS: fire" {
		t.Error(done, err)
	}
	events, err := h.store.Events(t.Context(), 0, 100)
	if err != nil || !events[len(events)-1].Broken || events[len(events)-2].Broken {
		t.Errorf("the event doesn't say so: %+v %v", events[len(events)-1], err)
	}
}

// TestApprovals checks that the required number of people must approve, each once, the digest they saw.
func TestApprovals(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	c := h.propose(2)
	approve := func(p identity.Principal, digest string) string {
		_, err := h.Approve(ctx, c.ID, p, change.Verdict{Digest: digest})
		return kind(err)
	}
	state := func() change.State {
		got, err := h.Get(ctx, strings.ToUpper(c.ID))
		if err != nil {
			t.Fatal(err)
		}
		return got.State
	}
	if got := approve(person("ben"), "another"); got != "digest" {
		t.Error(got)
	}
	if got := approve(person("ben"), c.Digest); got != "" || state() != change.Pending {
		t.Error(got, state())
	}
	twin := person("ben")
	twin.ID, twin.Owner = "token:other", "BEN "
	if got := approve(twin, c.Digest); got != "decided" || state() != change.Pending {
		t.Error("one person counts twice", got, state())
	}
	if got := approve(person("cleo"), c.Digest); got != "" || state() != change.Granted {
		t.Error(got, state())
	}
	if got := approve(person("dora"), c.Digest); got != "state" {
		t.Error(got)
	}
	// After a new preview, approvals start over.
	c = h.propose(2)
	old := c.Digest
	approve(person("ben"), old)
	c, _ = h.Get(ctx, c.ID)
	if err := h.Renew(ctx, c, change.Preview{Kind: change.Computed, Refusal: "no", Cascades: []change.Cascade{{Class: "x"}}, Effects: []change.Effect{{Op: "update", Before: doc(t, `{"n": 2}`)}}}, person("dora")); err != nil {
		t.Fatal(err)
	}
	if c.Digest == old || c.Decisions != nil || c.Preview != change.Computed || c.Refusal != "no" || len(c.Cascades) != 1 || c.History[2].By != "dora" {
		t.Errorf("%+v", c)
	}
	if got := approve(person("cleo"), old); got != "digest" {
		t.Error("what was renewed is approved as it was:", got)
	}
	if approve(person("ben"), c.Digest); state() != change.Pending {
		t.Error("an approval of the old preview counts")
	}
}

// TestPropose checks which changes are filed, which count as the same, the limit of pending changes, and the modes
// allow and deny.
func TestPropose(t *testing.T) {
	h, ctx := newHall(t, change.Options{Most: 3, Life: time.Hour}), t.Context()
	c := h.propose(1)
	if c.State != change.Pending || len(c.ID) != 34 || c.Version != 1 || c.Digest != c.Sum() || c.Expires.Sub(c.Created) != time.Hour || c.History[0].By != "bot" {
		t.Errorf("%+v", c)
	}
	again := *c
	same, err := h.Propose(ctx, &again)
	if err != nil || same.ID != c.ID {
		t.Error(same, err)
	}
	h.propose(1)
	h.propose(1)
	other := *c
	other.Source = "elsewhere"
	if _, err := h.Propose(ctx, &other); kind(err) != "pending_changes" || problem.CodeOf(err) != problem.BudgetExceeded {
		t.Error(err)
	}
	if _, err := h.Propose(ctx, &change.Change{Mode: write.Deny}); kind(err) != "review_denied" {
		t.Error(err)
	}
	if _, err := h.Cancel(ctx, c.ID, bot); err != nil {
		t.Error(err)
	}
	let := other
	let.Mode, let.Rule, let.Need = write.Allow, "review[0]", 0
	kept, err := h.Propose(ctx, &let)
	if err != nil || kept.State != change.Granted || kept.History[1].Comment != "let through by review[0]" || kept.History[1].By != "" {
		t.Errorf("%+v %v", kept, err)
	}
	if _, err := h.Get(ctx, "01jx"); problem.CodeOf(err) != problem.NotFound {
		t.Error(err)
	}
}

// TestCancel checks that only the proposing agent can cancel. For others the change doesn't exist.
func TestCancel(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	c := h.propose(1)
	other := bot
	other.ID = "token:other"
	if _, err := h.Cancel(ctx, c.ID, other); problem.CodeOf(err) != problem.NotFound {
		t.Error(err)
	}
	if got, err := h.Cancel(ctx, c.ID, bot); err != nil || got.State != change.Cancelled {
		t.Error(err)
	}
	if _, err := h.Cancel(ctx, c.ID, bot); kind(err) != "state" {
		t.Error(err)
	}
	if _, err := h.Reject(ctx, c.ID, person("ben"), ""); kind(err) != "state" {
		t.Error(err)
	}
	if _, err := h.Comment(ctx, c.ID, person("ben"), "why?"); kind(err) != "state" {
		t.Error(err)
	}
	c = h.propose(1)
	if _, err := h.Comment(ctx, c.ID, person("ben"), " \n"); problem.CodeOf(err) != problem.InvalidArgument {
		t.Error(err)
	}
	got, err := h.Comment(ctx, c.ID, person("ben"), "why?")
	if err != nil || got.State != change.Pending || got.History[1].Comment != "why?" || got.History[1].By != "ben" || got.History[1].At.IsZero() {
		t.Error(got, err)
	}
}

// approved returns a change that waits for an executor.
func (h *hall) approved() *change.Change {
	h.Helper()
	c := h.propose(1)
	c, err := h.Approve(h.Context(), c.ID, person("ben"), change.Verdict{Digest: c.Digest})
	if err != nil {
		h.Fatal(err)
	}
	return c
}

// TestLease checks that one executor holds the lease at a time, and loses it when it runs out.
func TestLease(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	if _, err := h.Claim(ctx, h.propose(1).ID, "one"); kind(err) != "state" {
		t.Error("a change that waits for people was claimed:", err)
	}
	if c, err := (change.Approved{}).Change(); c != nil || problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("the zero Approved", err)
	}
	c := h.approved()
	if _, err := h.Queue.Claim(ctx, c.ID, "one"); kind(err) != "unrecorded" {
		t.Error("a change was claimed whose approval isn't in the audit:", err)
	}
	first, err := h.Claim(ctx, c.ID, "one")
	if err != nil {
		t.Fatal(err)
	}
	held, err := first.Change()
	if err != nil || held.State != change.Applying || held.Lease.Fence != 1 || held.Lease.Holder != "one" || held.Lease.Until.IsZero() {
		t.Errorf("%+v %v", held, err)
	}
	if _, err := h.Claim(ctx, c.ID, "two"); kind(err) != "moved" {
		t.Error("a lease was taken that holds:", err)
	}
	h.later()
	second, err := h.Claim(ctx, c.ID, "two")
	if err != nil {
		t.Fatal(err)
	}
	if held, _ := second.Change(); held.Lease.Fence != 2 {
		t.Error(held.Lease)
	}
	if _, err := h.Finish(ctx, first, change.EventFailed, change.Outcome{}); kind(err) != "moved" {
		t.Error("who lost the lease ended the change:", err)
	}
	done, err := h.Finish(ctx, second, change.EventApplied, change.Outcome{Detail: "done", Receipt: &change.Receipt{Rows: 1}})
	if err != nil || done.State != change.Applied || done.Outcome.Receipt.Rows != 1 || done.History[len(done.History)-1].Comment != "done" {
		t.Error(done, err)
	}
	if _, err := h.Finish(ctx, second, change.EventApplied, change.Outcome{}); err == nil {
		t.Error("ended twice")
	}
	if _, err := h.Finish(ctx, change.Approved{}, change.EventApplied, change.Outcome{}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error(err)
	}
}

// TestSending checks that a change whose sending has begun is never sent again.
func TestSending(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	if err := h.Sending(ctx, change.Approved{}, ""); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("the zero Approved is sent:", err)
	}
	for event, sent := range map[change.EventKind]bool{change.EventUnknown: true, change.EventApplied: true, change.EventFailed: false, change.EventStale: false} {
		c := h.approved()
		a, err := h.Claim(ctx, c.ID, "one")
		if err != nil {
			t.Fatal(err)
		}
		if held, err := a.Change(); err != nil || held.Lease.Sent {
			t.Error("sent before it was:", err)
		}
		if err := h.Sending(ctx, a, "person ana"); err != nil {
			t.Fatal(err)
		}
		kept, err := h.Get(ctx, c.ID)
		if err != nil || !kept.Lease.Sent {
			t.Error("it isn't kept that it is sent:", err)
		}
		if r := kept.Record(len(kept.History)); r.Credential != "person ana" || r.Tool != "changes/sending" {
			t.Errorf("whose credential is sent isn't recorded: %+v", r)
		}
		if err := h.Sending(ctx, a, "person ana"); kind(err) != "sent" {
			t.Error("sent twice:", err)
		}
		done, err := h.Finish(ctx, a, event, change.Outcome{})
		if err != nil || done.Lease.Sent != sent {
			t.Errorf("%s: sent %v, %v", event, done.Lease.Sent, err)
		}
	}
}

// TestExpiry checks that a change expires by the store's clock before applying begins, and not after.
func TestExpiry(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	pending, granted, begun := h.propose(1), h.approved(), h.approved()
	a, err := h.Claim(ctx, begun.ID, "one")
	if err != nil {
		t.Fatal(err)
	}
	if expired, err := h.Expire(ctx, pending); expired || err != nil {
		t.Error("before its time:", expired, err)
	}
	h.later()
	if _, err := h.Approve(ctx, pending.ID, person("ben"), change.Verdict{Digest: pending.Digest}); kind(err) != "expired" {
		t.Error("approved after its time:", err)
	}
	if _, err := h.Claim(ctx, granted.ID, "one"); kind(err) != "expired" {
		t.Error("applied after its time:", err)
	}
	due, err := h.Due(ctx, 10)
	if err != nil || len(due) != 3 {
		t.Error(due, err)
	}
	for _, c := range []*change.Change{pending, granted} {
		if expired, err := h.Expire(ctx, c); !expired || err != nil || c.State != change.Expired {
			t.Error(c.State, expired, err)
		}
		if expired, err := h.Expire(ctx, c); expired || err != nil {
			t.Error("twice:", expired, err)
		}
	}
	begun, _ = h.Get(ctx, begun.ID)
	if expired, err := h.Expire(ctx, begun); expired || err != nil {
		t.Error("what is being applied expired:", err)
	}
	if _, err := h.Finish(ctx, a, change.EventApplied, change.Outcome{}); err != nil {
		t.Error(err)
	}
}

// TestSettle checks that a person can settle a change whose target didn't answer.
func TestSettle(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	for _, applied := range []bool{true, false} {
		c := h.approved()
		if _, err := h.Settle(ctx, c.ID, person("ben"), applied, ""); kind(err) != "state" {
			t.Error(err)
		}
		a, err := h.Claim(ctx, c.ID, "one")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Finish(ctx, a, change.EventUnknown, change.Outcome{}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Settle(ctx, c.ID, person("ana"), applied, ""); kind(err) != "four_eyes" {
			t.Error(err)
		}
		done, err := h.Settle(ctx, c.ID, person("ben"), applied, "I looked")
		want := map[bool]change.State{true: change.Applied, false: change.Failed}[applied]
		if err != nil || done.State != want || done.Outcome.Settled.Owner != "ben" || done.Outcome.Detail != "I looked" {
			t.Error(done, err)
		}
	}
}

// An approval of a queue whose store is the log takes the lease for the holder in the same transaction. It doesn't if
// another person has to approve, or if another change has to be applied before.
func TestApproveFor(t *testing.T) {
	for _, tt := range []struct {
		name    string
		audited bool
		need    int
		after   bool
		holder  string
		state   change.State
	}{
		{"at once", true, 1, false, "here", change.Applying},
		{"an outbox", false, 1, false, "here", change.Granted},
		{"two people", true, 2, false, "here", change.Pending},
		{"after another", true, 1, true, "here", change.Granted},
		{"no executor", true, 1, false, "", change.Granted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHall(t, change.Options{Audited: tt.audited})
			c := h.propose(tt.need)
			if tt.after {
				first := c
				c = h.proposeAfter(1, first.ID)
			}
			done, held, err := h.ApproveFor(t.Context(), c.ID, person("ben"), change.Verdict{Digest: c.Digest}, tt.holder)
			if err != nil || done.State != tt.state {
				t.Fatalf("%+v, %v", done, err)
			}
			mine, err := held.Change()
			if (err == nil) != (tt.state == change.Applying) || err == nil && (mine.Lease.Holder != "here" || mine.Lease.Fence != 1) {
				t.Errorf("%+v, %v", mine, err)
			}
			left, err := h.store.PendingRecords(t.Context(), c.ID, 9)
			if err != nil || (len(left) == 0) != tt.audited {
				t.Errorf("%d steps wait for the log, %v", len(left), err)
			}
			if tt.state != change.Applying {
				return
			}
			if _, err := h.Queue.Claim(t.Context(), c.ID, "there"); kind(err) != "moved" {
				t.Error("another executor takes it as well:", err)
			}
			if done, err = h.Finish(t.Context(), held, change.EventApplied, change.Outcome{}); err != nil || done.State != change.Applied || done.Version != 3 {
				t.Errorf("%+v, %v", done, err)
			}
			if held, err := change.Reconcile(t.Context(), h.store, h.store); err != nil || len(held.Lacks) > 0 || held.Steps != 4 {
				t.Errorf("%+v, %v", held, err)
			}
		})
	}
}
