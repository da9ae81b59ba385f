package change_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/write"
)

// books are the contents of a store and its log, after somebody has changed them.
type books struct {
	change.Store
	audit.Reader
	changes []*change.Change // as they are listed, newest first
	moved   []*change.Change // those that have moved on since
	waiting []audit.Record
	records []audit.Record
	size    int            // how many are listed at once
	late    []audit.Record // written since the others were read

	list, unrecorded, get, walk, again, find error
}

func (b *books) List(_ context.Context, f change.Filter) ([]*change.Change, bool, error) {
	older := slices.DeleteFunc(slices.Clone(b.changes), func(c *change.Change) bool { return f.Before != "" && c.ID >= f.Before })
	return older[:min(len(older), b.size)], len(older) > b.size, b.list
}

func (b *books) PendingRecords(context.Context, string, int) ([]audit.Record, error) {
	return b.waiting, b.unrecorded
}

func (b *books) Get(_ context.Context, id string) (*change.Change, error) {
	if b.get != nil {
		return nil, b.get
	}
	for _, c := range slices.Concat(b.moved, b.changes) {
		if c.ID == id {
			return c, nil
		}
	}
	return nil, change.ErrNone
}

func (b *books) Records(_ context.Context, from int64, yield func(audit.Record) bool) error {
	if b.again != nil && from > audit.First {
		return b.again
	}
	for _, r := range b.records {
		if r.Seq >= from && !yield(r) {
			return nil
		}
	}
	return b.walk
}

func (b *books) Find(_ context.Context, step string) (audit.Record, bool, error) {
	for _, r := range slices.Concat(b.records, b.late) {
		if r.Step == step {
			return r, true, b.find
		}
	}
	return audit.Record{}, false, b.find
}

// drop takes out the record of a step, and returns it.
func (b *books) drop(step string) audit.Record {
	i := slices.IndexFunc(b.records, func(r audit.Record) bool { return r.Step == step })
	r := b.records[i]
	b.records = slices.Delete(b.records, i, i+1)
	return r
}

// kept returns the books of an applied change, "a", and of a pending one, "b". They have a record of a read too, and
// one of a call that named no change.
func kept(t *testing.T) *books {
	t.Helper()
	h := newHall(t, change.Options{Audited: true})
	applied := h.propose(1)
	_, held, err := h.ApproveFor(t.Context(), applied.ID, person("ben"), change.Verdict{Digest: applied.Digest}, "here")
	if err != nil {
		t.Fatal(err)
	}
	if applied, err = h.Finish(t.Context(), held, change.EventApplied, change.Outcome{}); err != nil {
		t.Fatal(err)
	}
	pending := h.propose(1)
	b := &books{changes: []*change.Change{pending, applied}}
	if err := h.store.Records(t.Context(), audit.First, func(r audit.Record) bool { b.records = append(b.records, r); return true }); err != nil {
		t.Fatal(err)
	}
	name := strings.NewReplacer(applied.ID, "a", pending.ID, "b")
	for _, c := range b.changes {
		c.ID = name.Replace(c.ID)
	}
	for i := range b.records {
		r := &b.records[i]
		r.Change, r.Step = name.Replace(r.Change), name.Replace(r.Step)
	}
	b.records = append(b.records, audit.Record{Seq: 6, Tool: "get_schema"}, audit.Record{Seq: 7, Outcome: audit.Approved})
	return b
}

// TestReconcile checks that a step without its record is found, and a record without its step. Neither is found when a
// change or the log has only grown since it was read.
func TestReconcile(t *testing.T) {
	old := func(b *books) { // from before steps had records
		for i := range b.changes[1].History {
			b.changes[1].History[i].Actor = nil
		}
		b.records = b.records[4:]
	}
	const nobody = "2 changes, 1 steps, 0 waiting; a : it was applied, and no record says who approved it"
	for i, tt := range []struct {
		name string
		edit func(*books)
		want string
	}{
		{"as they are", func(b *books) { b.get = errors.New("nothing is left to look for") }, "2 changes, 5 steps, 0 waiting"},
		{"a step has no record", func(b *books) { b.drop("a:2") }, "2 changes, 5 steps, 0 waiting; a a:2: no record says that it was approved by token:ben"},
		{"two have none", func(b *books) { b.drop("b:1"); b.drop("a:1"); b.drop("a:4") },
			"2 changes, 5 steps, 0 waiting; a a:1: no record says that it was created by token:bot; a a:4: no record says that it was applied by token:bot; b b:1: no record says that it was created by token:bot"},
		{"it is still in the outbox", func(b *books) { b.waiting = []audit.Record{{}, b.drop("b:1")} }, "2 changes, 5 steps, 1 waiting"},
		{"the last is", func(b *books) { b.waiting = []audit.Record{b.drop("a:4")} }, "2 changes, 5 steps, 1 waiting"},
		{"it was applied before its approval was recorded", func(b *books) { b.waiting = []audit.Record{b.drop("a:2")} },
			"2 changes, 5 steps, 0 waiting; a a:2: no record says that it was approved by token:ben"},
		{"another is in the outbox", func(b *books) {
			r := b.drop("b:1")
			r.Principal = "token:eve"
			b.waiting = []audit.Record{r}
		}, "2 changes, 5 steps, 0 waiting; b b:1: no record says that it was created by token:bot"},
		{"it was written since", func(b *books) { b.late = []audit.Record{b.drop("b:1")} }, "2 changes, 5 steps, 0 waiting"},
		{"written and no longer in the outbox", func(b *books) { b.waiting = []audit.Record{b.drop("b:1")}; b.late = b.waiting }, "2 changes, 5 steps, 0 waiting"},
		{"the record is of somebody else", func(b *books) { b.records[1].Principal = "token:eve" },
			"2 changes, 5 steps, 0 waiting; a a:2: record 2 says approved by token:eve, and no such change is kept; a a:2: the change says approved by token:ben, and record 2 another thing"},
		{"the change is gone", func(b *books) { b.changes = b.changes[:1]; b.records = b.records[1:] },
			"1 changes, 1 steps, 0 waiting; a a:2: record 2 says approved by token:ben, and no such change is kept; a a:3: record 3 says applying by token:bot, and no such change is kept; a a:4: record 4 says applied by token:bot, and no such change is kept"},
		{"it has moved on since", func(b *books) {
			before := *b.changes[1]
			before.History, before.State = before.History[:2], change.Granted
			b.moved, b.changes[1] = []*change.Change{b.changes[1]}, &before
		}, "2 changes, 3 steps, 0 waiting"},
		{"its first steps are older than records", func(b *books) {
			b.changes[1].History[0].Actor = nil
			b.records = b.records[1:]
			b.records[2].Outcome = "x"
		},
			"2 changes, 4 steps, 0 waiting; a a:4: record 4 says x by token:bot, and no such change is kept; a a:4: the change says applied by token:bot, and record 4 another thing"},
		{"no record of an old approval", old, nobody},
		{"a record of an old approval", func(b *books) { old(b); b.records[1] = audit.Record{Change: "a", Outcome: audit.Approved} }, "2 changes, 1 steps, 0 waiting"},
		{"a record of an old call", func(b *books) { old(b); b.records[1] = audit.Record{Change: "a", Outcome: audit.OK} }, nobody},
		{"a record of an approval of another", func(b *books) { old(b); b.records[1] = audit.Record{Change: "b", Outcome: audit.Approved} }, nobody},
		{"an old one that a rule let through", func(b *books) { old(b); b.changes[1].Mode = write.Allow }, "2 changes, 1 steps, 0 waiting"},
		{"an old one that failed", func(b *books) { old(b); b.changes[1].State = change.Failed }, "2 changes, 1 steps, 0 waiting"},
		{"a step of no change", func(b *books) { b.records = append(b.records, audit.Record{Seq: 8, Step: "c:1"}) }, "2 changes, 5 steps, 0 waiting"},
		{"a call about no change's step", func(b *books) { b.records = append(b.records, audit.Record{Seq: 8, Change: "c", Outcome: audit.OK}) }, "2 changes, 5 steps, 0 waiting"},
	} {
		b := kept(t)
		b.size = 1 + i%2
		tt.edit(b)
		got, err := change.Reconcile(t.Context(), b, b)
		text := fmt.Sprintf("%d changes, %d steps, %d waiting", got.Changes, got.Steps, got.Waiting)
		for _, l := range got.Lacks {
			text += fmt.Sprintf("; %s %s: %s", l.Change, l.Step, l.Detail)
		}
		if err != nil || text != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.name, err, text, tt.want)
		}
	}
	if text := (change.Lack{Change: "a", Detail: "b"}).Error(); text != "change a: b" {
		t.Error(text)
	}
}

// TestReconcileFails checks that unreadable records don't count as in order.
func TestReconcileFails(t *testing.T) {
	down := errors.New("disk on fire")
	for name, edit := range map[string]func(*books){
		"the list of changes": func(b *books) { b.list = down },
		"the outbox":          func(b *books) { b.drop("b:1"); b.unrecorded = down },
		"the log":             func(b *books) { b.walk = down },
		"a record":            func(b *books) { b.changes = nil; b.again = down },
		"a step":              func(b *books) { b.drop("b:1"); b.find = down },
		"a change":            func(b *books) { b.changes = nil; b.get = down },
	} {
		for size := 1; size < 3; size++ {
			b := kept(t)
			edit(b)
			b.size = size
			if _, err := change.Reconcile(t.Context(), b, b); !errors.Is(err, down) {
				t.Errorf("%s can't be read: %v", name, err)
			}
		}
	}
}
