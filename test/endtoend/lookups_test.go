package endtoend

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A noted store records the requests to it. It supports one call at a time.
type noted struct {
	change.Store
	asked []string
}

func (n *noted) note(what ...any) { n.asked = append(n.asked, fmt.Sprintln(what...)) }

func (n *noted) Put(ctx context.Context, c *change.Change, f change.Filing) (*change.Change, error) {
	n.note("put")
	return n.Store.Put(ctx, c, f)
}

func (n *noted) Get(ctx context.Context, id string) (*change.Change, error) {
	n.note("get", id)
	return n.Store.Get(ctx, id)
}

func (n *noted) GetOf(ctx context.Context, id string, of change.Of) (*change.Change, error) {
	n.note("get", id, "of", of)
	return n.Store.GetOf(ctx, id, of)
}

func (n *noted) List(ctx context.Context, f change.Filter) ([]*change.Change, bool, error) {
	n.note("list", f)
	return n.Store.List(ctx, f)
}

func (n *noted) Swap(ctx context.Context, c *change.Change, g change.Guard) error {
	n.note("swap", c.ID)
	return n.Store.Swap(ctx, c, g)
}

func (n *noted) PendingRecords(ctx context.Context, subject string, limit int) ([]audit.Record, error) {
	n.note("unrecorded", subject)
	return n.Store.PendingRecords(ctx, subject, limit)
}

func (n *noted) LastEvent(ctx context.Context) (int64, error) {
	n.note("last event")
	return n.Store.LastEvent(ctx)
}

func (n *noted) Await(ctx context.Context, after int64) error {
	n.note("await")
	return n.Store.Await(ctx, after)
}

func (n *noted) Now(ctx context.Context) (time.Time, error) {
	n.note("now")
	return n.Store.Now(ctx)
}

// TestLookups checks that a request about another owner's change is refused like a request about a missing change.
// The words, the earlier requests to the store and the record must be the same. The two cases therefore can't be
// distinguished by the time they take. For each store, TestLookedUp limits the cost of one request.
func TestLookups(t *testing.T) {
	store := &noted{}
	o := newOffice(t, func(_ *bailiwick.Options, c *change.Options) {
		store.Store = c.Store
		c.Store, c.Edit = store, true
	})
	own, ctx := o.bot(), t.Context()
	filed, err := o.propose(own, `{"op": "update", "class": "issues", "id": "2", "data": {"n": 41}}`)
	if err != nil {
		t.Fatal(err)
	}
	other := o.token(identity.Agent, "cleo", "acme", identity.Read, identity.Write, identity.Delete)
	judge := o.gateway.Reviewer(o.token(identity.Human, "gil", "globex", identity.Read, identity.Review, identity.Operator), "visit")
	agent := func(f func(ctx context.Context, c *bailiwick.Call, id string) error) func(string) error {
		return func(id string) error {
			return o.as(other, func(ctx context.Context, c *bailiwick.Call) error { return f(ctx, c, id) })
		}
	}
	sheet := func(_ *review.Sheet, err error) error { return err }
	absent := "01k" + strings.Repeat("0", len(filed.ID)-3)
	for name, ask := range map[string]func(id string) error{
		"get":    agent(func(ctx context.Context, c *bailiwick.Call, id string) error { return sheet(c.Change(ctx, id)) }),
		"cancel": agent(func(ctx context.Context, c *bailiwick.Call, id string) error { return sheet(c.CancelChange(ctx, id)) }),
		"answer": agent(func(ctx context.Context, c *bailiwick.Call, id string) error { return sheet(c.Answer(ctx, id, "so")) }),
		"wait": agent(func(ctx context.Context, c *bailiwick.Call, id string) error {
			return sheet(c.WaitForChange(ctx, id, time.Minute))
		}),
		"after":   func(id string) error { _, _, err := o.after(other, 5, id); return err },
		"replace": func(id string) error { return sheet(o.again(o.gateway, other, id, `{"n": 5}`)) },
		"sheet":   func(id string) error { return sheet(judge.Sheet(ctx, id)) },
		"value":   func(id string) error { _, err := judge.Value(ctx, id, review.Place{}); return err },
		"approve": func(id string) error { return sheet(judge.Approve(ctx, id, filed.Digest, "")) },
		"glass":   func(id string) error { return sheet(judge.BreakGlass(ctx, id, filed.Digest, "because")) },
		"reject":  func(id string) error { return sheet(judge.Reject(ctx, id, "no")) },
		"comment": func(id string) error { return sheet(judge.Comment(ctx, id, "hm")) },
		"view":    func(id string) error { return sheet(judge.View(ctx, id, filed.Digest, 0)) },
		"ask":     func(id string) error { return sheet(judge.Ask(ctx, id, "why")) },
		"edit":    func(id string) error { return sheet(judge.Edit(ctx, id, review.Revision{})) },
		"renew":   func(id string) error { return sheet(judge.Renew(ctx, id)) },
		"revert":  func(id string) error { return sheet(judge.Revert(ctx, id, "back")) },
		"settle":  func(id string) error { return sheet(judge.Settle(ctx, id, true, "it did")) },
	} {
		t.Run(name, func(t *testing.T) {
			outcome := func(id string) string {
				store.asked = nil
				err := ask(id)
				p := problem.Of(err)
				if p == nil || p.Code != problem.NotFound {
					t.Fatalf("%s: %v", id, err)
				}
				var last audit.Record
				if err := o.store.Backwards(ctx, audit.Last, func(r audit.Record) bool { last = r; return false }); err != nil {
					t.Fatal(err)
				}
				last.Seq, last.Time, last.Hash, last.Prev, last.Micros = 0, time.Time{}, "", "", 0
				return strings.ReplaceAll(fmt.Sprintf("%+v\n%s\n%+v", *p, strings.Join(store.asked, ""), last), id, "ID")
			}
			foreign, none := outcome(filed.ID), outcome(absent)
			if foreign != none {
				t.Errorf("another's:\n%s\nabsent:\n%s", foreign, none)
			}
			if !strings.Contains(foreign, "get ID of") || strings.Count(foreign, "get ID") != 1 {
				t.Errorf("the store was asked otherwise:\n%s", foreign)
			}
		})
	}
}
