package endtoend

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
)

// TestReviewIsEnough checks that a person with only the scope review sees and approves a change of their tenant.
func TestReviewIsEnough(t *testing.T) {
	o := newOffice(t, nil)
	s, err := o.propose(o.bot(), `{"op": "update", "class": "issues", "id": "1", "data": {"status": "Done"}}`)
	if err != nil {
		t.Fatal(err)
	}
	desk := o.gateway.Reviewer(o.token(identity.Human, "ben", "acme", identity.Review), "visit")
	sheet, err := desk.Sheet(t.Context(), s.ID)
	if err != nil || !sheet.CanApprove {
		t.Fatalf("%v %+v", err, sheet)
	}
	done, err := desk.Approve(t.Context(), s.ID, s.Digest, "")
	if err != nil || done.State != change.Applied {
		t.Fatal(err, done)
	}
}

// TestFeedOfATenant files many events of other tenants before and after an event of the person's own tenant. A read
// must find that event, and the next read must wait.
func TestFeedOfATenant(t *testing.T) {
	o := newOffice(t, nil)
	ctx := t.Context()
	theirs := 0
	others := func(n int) {
		for range n {
			theirs++
			_, err := o.store.Put(ctx, &change.Change{ID: fmt.Sprintf("%026d", theirs), State: change.Pending, Digest: fmt.Sprint(theirs), Agent: change.Party{Principal: "token:x", Tenant: "globex"},
				History: []change.Step{{State: change.Pending, Event: change.EventCreated}}}, change.Filing{Life: time.Hour, Most: 10_000})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	others(700)
	s, err := o.propose(o.bot(), `{"op": "delete", "class": "issues", "id": "2"}`)
	if err != nil {
		t.Fatal(err)
	}
	others(3)
	desk := o.person("ben")
	events, err := desk.Events(ctx, 0)
	if err != nil || len(events) != 1 || events[0].Change != s.ID {
		t.Fatal(events, err)
	}
	if err := desk.Await(ctx, 0); err != nil {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if err := desk.Await(short, events[0].Seq); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("events of others woke a tenant's person:", err)
	}
}
