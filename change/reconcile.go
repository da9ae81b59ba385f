package change

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Reconciliation is the result of Reconcile.
type Reconciliation struct {
	Changes int64  `json:"changes"` // changes read
	Steps   int64  `json:"steps"`   // steps of these changes that require a record
	Waiting int64  `json:"waiting"` // steps whose records are still in the outbox
	Lacks   []Lack `json:"lacks"`
}

// A Lack is a step of a change without its record, or a record without its step.
type Lack struct {
	Change string `json:"change"`
	Step   string `json:"step,omitzero"` // as audit.Record.Step, or "" for a change older than step records
	Detail string `json:"detail"`
}

// Error names the change and its fault.
func (l Lack) Error() string { return fmt.Sprintf("change %s: %s", l.Change, l.Detail) }

// Reconcile compares the changes of a store with the records of log. Each step of a change must have a record with the
// same principal, digest and rules. Each record of a step must have its change. Both may grow while Reconcile runs. It
// fails only if one of them can't be read.
func Reconcile(ctx context.Context, s Store, log audit.Reader) (Reconciliation, error) {
	r := reconciler{store: s, log: log, steps: map[key]int64{}, approved: map[key]bool{}}
	err := log.Records(ctx, audit.First, r.note)
	f := Filter{Limit: 200}
	for more := true; err == nil && more; {
		var page []*Change
		if page, more, err = s.List(ctx, f); err != nil {
			break
		}
		for _, c := range page {
			f.Before = c.ID
			if err = r.change(ctx, c); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = r.checkUnmatchedRecords(ctx)
	}
	slices.SortFunc(r.out.Lacks, func(a, b Lack) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Detail, b.Detail))
	})
	return r.out, err
}

// A key is a hash that identifies the record of a step, or a change.
type key [16]byte

func keyOf(parts ...string) (k key) {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	copy(k[:], sum[:])
	return k
}

func stepKey(r *audit.Record) key {
	return keyOf(r.Step, r.Change, r.Tool, r.Outcome, r.Principal, r.TokenID, r.Policy, r.Digest)
}

// A reconciler compares the changes of a store with the records of their steps. It reads the audit first. The steps
// that remain at the end have no change.
type reconciler struct {
	store    Store
	log      audit.Reader
	steps    map[key]int64 // records of steps without a matching change yet, with their Seq
	approved map[key]bool  // changes whose approval a record of a call reports
	out      Reconciliation
}

// note adds a record.
func (r *reconciler) note(rec audit.Record) bool {
	switch {
	case rec.Step != "" && rec.Change != "":
		r.steps[stepKey(&rec)] = rec.Seq
	case rec.Outcome == audit.Approved:
		r.approved[keyOf(rec.Change)] = true
	}
	return true
}

// change compares a change with the records.
func (r *reconciler) change(ctx context.Context, c *Change) error {
	r.out.Changes++
	for n := range c.History {
		want := c.Record(n + 1)
		switch {
		case want != nil:
			r.out.Steps++
			if err := r.step(ctx, c, n, want); err != nil {
				return err
			}
		case c.History[n].Event == EventApproved && c.Mode != write.Allow && c.State == Applied && !r.approved[keyOf(c.ID)]:
			r.lack(c.ID, "", "it was applied, and no record says who approved it")
		}
	}
	return nil
}

// step compares step n+1 of c with the records. Its record may have been written since they were read.
func (r *reconciler) step(ctx context.Context, c *Change, n int, want *audit.Record) error {
	if _, ok := r.steps[stepKey(want)]; ok {
		delete(r.steps, stepKey(want))
		return nil
	}
	waiting, err := r.store.PendingRecords(ctx, c.ID, len(c.History)+1)
	if err != nil {
		return err
	}
	found, ok, err := r.log.Find(ctx, want.Step)
	switch waits := slices.ContainsFunc(waiting, func(w audit.Record) bool { return stepKey(&w) == stepKey(want) }); {
	case err != nil:
		return err
	case stepKey(&found) == stepKey(want):
	case ok:
		r.lack(c.ID, want.Step, fmt.Sprintf("the change says %s by %s, and record %d another thing", want.Outcome, want.Principal, found.Seq))
	case waits && !slices.ContainsFunc(c.History[n+1:], func(s Step) bool { return s.Event == EventClaimed }):
		r.out.Waiting++
	default:
		r.lack(c.ID, want.Step, fmt.Sprintf("no record says that it was %s by %s", c.History[n].Event, want.Principal))
	}
	return nil
}

// checkUnmatchedRecords checks the records without a matching change: the change may have moved on since it was read.
func (r *reconciler) checkUnmatchedRecords(ctx context.Context) error {
	for k, seq := range r.steps {
		var rec audit.Record
		if err := r.log.Records(ctx, seq, func(found audit.Record) bool { rec = found; return false }); err != nil {
			return err
		}
		c, err := r.store.Get(ctx, rec.Change)
		if errors.Is(err, ErrNone) {
			c, err = &Change{}, nil
		}
		if err != nil {
			return err
		}
		there := false
		for n := range c.History {
			now := c.Record(n + 1)
			there = there || now != nil && stepKey(now) == k
		}
		if !there {
			r.lack(rec.Change, rec.Step, fmt.Sprintf("record %d says %s by %s, and no such change is kept", seq, rec.Outcome, rec.Principal))
		}
	}
	return nil
}

func (r *reconciler) lack(change, step, detail string) {
	r.out.Lacks = append(r.out.Lacks, Lack{change, step, detail})
}
