package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
)

// A blockOffice is an office for a database with one schema per tenant.
type blockOffice struct {
	*office
	block *block
}

// openBlock opens an office. An agent without a tenant uses the schema of globex.
func openBlock(t *testing.T) blockOffice {
	b := newBlock(t)
	src := b.source()
	src.Divide("tenant_acme")
	writes, err := src.Writable(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writes.Close() })
	o := newOffice(t, func(o *bailiwick.Options, _ *change.Options) {
		o.Sources = map[string]source.Source{"app": writes}
		o.Rules = blockRules(`principal.tenant == "" ? "tenant_globex" : "tenant_" + principal.tenant`)
	})
	o.driver = "pgx"
	return blockOffice{o, b}
}

func blockRules(schema string) policy.Rules {
	return policy.Rules{Version: schema, Unlisted: true, Gates: policy.Gates{RawWrites: policy.Review, SchemaWrites: policy.Review}, Schemas: map[string]string{"app": schema}}
}

// agent returns an agent of a tenant. reviewer returns a person of a tenant.
func (o blockOffice) agent(tenant string) identity.Principal {
	return o.token(identity.Agent, "ana", tenant, identity.Read, identity.Write, identity.Delete, identity.Schema)
}

func (o blockOffice) reviewer(tenant string) bailiwick.Reviewer {
	return o.gateway.Reviewer(o.token(identity.Human, "ben", tenant, identity.Read, identity.Review), "visit")
}

// count returns the number of records in a tenant's table with a text in a column.
func (o blockOffice) count(tenant, table, column, text string) (n int) {
	o.Helper()
	name := `"tenant_` + strings.ReplaceAll(tenant, `"`, `""`) + `".` + table
	if err := o.block.db.QueryRow("SELECT count(*) FROM "+name+" WHERE "+column+" = $1", text).Scan(&n); err != nil {
		o.Fatal(err)
	}
	return n
}

const makesIssue = `{"op": "create", "class": "issues", "data": {"title": "made", "mood": "high", "author": "1"}}`

// TestSchemasWrite writes the same records as agents of several tenants. Each record must be in the schema of its
// tenant, and so must the writes of a trigger.
func TestSchemasWrite(t *testing.T) {
	o := openBlock(t)
	tenants := []string{"acme", "globex", hostileTenant}
	for n, tenant := range tenants {
		for _, w := range []string{makesIssue, `{"op": "update", "class": "issues", "id": "1", "data": {"title": "changed"}}`, `{"op": "delete", "class": "issues", "id": "2"}`} {
			s, err := o.propose(o.agent(tenant), w)
			if err != nil {
				t.Fatal(tenant, err)
			}
			if text := review.Text(s); strings.Contains(strings.ReplaceAll(text, "SCHEMA tenant_acme", ""), "tenant_") {
				t.Errorf("the agent of %s reads the name of a schema:\n%s", tenant, text)
			}
			seen, err := o.reviewer(tenant).Sheet(t.Context(), s.ID)
			if err != nil {
				t.Fatal(tenant, err)
			}
			done, err := o.reviewer(tenant).Approve(t.Context(), s.ID, seen.Digest, "")
			if err != nil || done.State != change.Applied {
				t.Fatal(tenant, w, err, done)
			}
		}
		for _, other := range append(tenants, "initech") {
			want := 0
			if at := slices.Index(tenants, other); at >= 0 && at <= n {
				want = 1
			}
			got := fmt.Sprint(o.count(other, "issues", "title", "made"), o.count(other, "log", "said", "made"), o.count(other, "issues", "title", "changed"), o.count(other, "log", "said", "changed"),
				1-o.count(other, "issues", "id", "2"), 1-o.count(other, "notes", "issue_id", "2"))
			if got != strings.TrimSpace(strings.Repeat(fmt.Sprint(want, " "), 6)) {
				t.Errorf("after the writes of %s, %s has %s", tenant, other, got)
			}
		}
	}
	for w, want := range map[string]string{
		`{"op": "create", "class": "users", "data": {"name": "ben of globex"}}`: "the source takes it",
		`{"op": "delete", "class": "users", "id": "1"}`:                         "records of issues lead to it",
		`{"op": "delete", "class": "issues", "id": "3"}`:                        `"cascades":[{"class":"notes","effect":"delete","records":1}]`,
	} {
		s, err := o.propose(o.agent("acme"), w)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := o.reviewer("acme").Sheet(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		told, err := json.Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(told), want) {
			t.Errorf("%s: a reviewer is told %s", w, told)
		}
	}
	for _, w := range []string{lifeOfAClass[0].write, strings.Replace(lifeOfAClass[3].write, "notes", "log", 1)} {
		if _, err := o.propose(o.agent("acme"), w); kindOf(err) != "schema_per_tenant" {
			t.Errorf("%s: %v", w, err)
		}
	}
}

// TestSchemasReview checks what people and agents of other tenants see of a tenant's change.
func TestSchemasReview(t *testing.T) {
	o := openBlock(t)
	bot := o.agent("acme")
	s, err := o.propose(bot, makesIssue)
	if err != nil {
		t.Fatal(err)
	}
	none := func(what string, err error) {
		t.Helper()
		if p := problem.Of(err); p == nil || p.Code != problem.NotFound || p.Error() != change.NotFoundError().Error() {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, tenant := range []string{"globex", "", hostileTenant, "nobody"} {
		ben := o.reviewer(tenant)
		_, err := ben.Sheet(t.Context(), s.ID)
		none("sheet", err)
		_, err = ben.Approve(t.Context(), s.ID, s.Digest, "")
		none("approve", err)
		_, err = ben.BreakGlass(t.Context(), s.ID, s.Digest, "now")
		none("break_glass", err)
		_, err = ben.Reject(t.Context(), s.ID, "no")
		none("reject", err)
		_, err = ben.Comment(t.Context(), s.ID, "hm")
		none("comment", err)
		_, err = ben.Renew(t.Context(), s.ID)
		none("renew", err)
		rows, more, err := ben.Queue(t.Context(), change.Filter{})
		counts, _, failed := ben.Counts(t.Context(), change.Filter{})
		events, wrong := ben.Events(t.Context(), 0)
		if got := fmt.Sprint(len(rows), more, err, counts[change.Pending], failed, len(events), wrong); got != "0 false <nil> 0 <nil> 0 <nil>" {
			t.Errorf("a reviewer of %q: %s", tenant, got)
		}
	}
	ann := o.reviewer("acme")
	rows, _, err := ann.Queue(t.Context(), change.Filter{})
	counts, _, failed := ann.Counts(t.Context(), change.Filter{})
	events, wrong := ann.Events(t.Context(), 0)
	if got := fmt.Sprint(len(rows), err, counts[change.Pending], failed, len(events), wrong); got != "1 <nil> 1 <nil> 1 <nil>" {
		t.Errorf("the reviewer: %s", got)
	}
	other := bot
	other.Tenant = "globex" // the same agent, but with another tenant
	err = o.as(other, func(ctx context.Context, c *bailiwick.Call) error {
		_, err := c.Change(ctx, s.ID)
		none("change", err)
		_, err = c.CancelChange(ctx, s.ID)
		none("cancel", err)
		_, err = c.Answer(ctx, s.ID, "hm")
		none("answer", err)
		mine, _, err := c.Changes(ctx, change.Filter{})
		if len(mine) != 0 {
			t.Errorf("%d changes", len(mine))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSchemasEnd checks approved changes whose schema was removed or changed, or is no longer that of the agent. They
// must end without being applied.
func TestSchemasEnd(t *testing.T) {
	const gone = "the schema that it was proposed for is gone, or is no longer like those of other tenants. Nothing was written"
	for name, tt := range map[string]struct {
		before func(o blockOffice)
		want   change.State
		detail string
	}{
		"nothing": {func(blockOffice) {}, change.Applied, ""},
		"dropped": {func(o blockOffice) { o.block.run("initech", "DROP SCHEMA tenant_initech CASCADE") }, change.Failed, gone},
		"changed": {func(o blockOffice) { o.block.run("initech", "ALTER TABLE users ADD more text") }, change.Failed, gone},
		"other rules": {func(o blockOffice) {
			if err := o.gateway.SetRules(t.Context(), blockRules(`"tenant_globex"`), nil); err != nil {
				t.Fatal(err)
			}
		}, change.Failed, "the schema that it was proposed for is not that of its agent any more. Nothing was written"},
		"no rule": {func(o blockOffice) {
			rules := blockRules("")
			rules.Schemas = nil
			if err := o.gateway.SetRules(t.Context(), rules, nil); err != nil {
				t.Fatal(err)
			}
		}, change.Failed, "the schema that it was proposed for is not that of its agent any more. Nothing was written"},
	} {
		t.Run(name, func(t *testing.T) {
			o := openBlock(t)
			s, err := o.propose(o.agent("initech"), makesIssue)
			if err != nil {
				t.Fatal(err)
			}
			ben := o.token(identity.Human, "ben", "initech", identity.Read, identity.Review)
			if _, err := o.queue.Approve(t.Context(), s.ID, ben, change.Verdict{Digest: s.Digest}); err != nil {
				t.Fatal(err)
			}
			tt.before(o)
			if _, err := o.gateway.RefreshDrifting(t.Context(), nil, false); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go o.gateway.Execute(ctx, nil)
			o.until(s.ID, tt.want)
			c, err := o.queue.Get(t.Context(), s.ID)
			if err != nil || c.Outcome.Detail != tt.detail {
				t.Errorf("%v %+v", err, c.Outcome)
			}
			made := 0
			for _, tenant := range []string{"acme", "globex", "initech"} {
				if tenant != "initech" || name != "dropped" {
					made += o.count(tenant, "issues", "title", "made")
				}
			}
			if want := map[bool]int{true: 1}[tt.want == change.Applied]; made != want {
				t.Errorf("%d records were made", made)
			}
		})
	}
}
