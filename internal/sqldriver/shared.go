package sqldriver

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Single is a WriteDatabase whose transactions can only run one after another. Waiting parts share the next
// transaction. Changes share a transaction that is committed, and previews share one that is rolled back. Settle of a
// Single fails if Commit would fail because of the transaction's writes.
type Single interface {
	WriteDatabase
	Single()
}

// Bounds of a shared transaction.
const (
	mostParts = 32
	mostHeld  = 100 * time.Millisecond // no part begins later, because others wait for the lock
)

// partPoint is the savepoint of each part.
const partPoint = "bailiwick_part"

// errAlone is the result of a part that must run again in its own transaction.
var errAlone = errors.New("a part that doesn't share the transaction")

// A writingPart is one change or one preview that can share a transaction.
type writingPart struct {
	fair.Turn
	ctx     context.Context //nolint:containedctx // of the caller, who waits
	plan    *writes.Plan
	applies bool // whether it is a change
	receipt change.Receipt
	preview change.Preview
}

// in runs the part in the transaction of r.
func (p *writingPart) in(ctx context.Context, r *run) (err error) {
	r.plan = p.plan
	if p.applies {
		p.receipt, err = r.apply(ctx)
	} else {
		p.preview, err = r.preview(ctx)
	}
	return err
}

// commitAlone applies the part in a transaction of its own.
func (p *writingPart) commitAlone(ctx context.Context, w *Writer) error {
	return w.within(ctx, func(ctx context.Context, tx WriteTx) error { return p.in(ctx, &run{Writer: w, tx: tx}) })
}

// runSafely calls commitAlone in the goroutine of another caller, and returns a panic as an error.
func (p *writingPart) runSafely(w *Writer) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = problem.PanicError(r)
		}
	}()
	return p.commitAlone(p.ctx, w)
}

// shares reports whether the plan can share a transaction. A plan that changes the schema can't, because the
// transaction may cache the schema for other parts.
func (w *Writer) shares(plan *writes.Plan) bool {
	_, single := w.db.(Single)
	return single && !slices.ContainsFunc(plan.Items, func(it writes.Item) bool { return it.Op == write.OpSchema })
}

// wait runs a part. If nothing else runs, the part runs at once. Otherwise it runs in the next transaction, together
// with the other waiting parts.
func (w *Writer) wait(ctx context.Context, own *writingPart) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if !w.shares(own.plan) {
		return own.commitAlone(ctx, w)
	}
	own.ctx = ctx
	late, err := w.queue.Do(ctx, own)
	switch {
	case late:
		return w.db.Problem(ctx, err)
	case err == errAlone:
		return own.commitAlone(ctx, w)
	}
	return err
}

// round runs parts. All of them are changes, or all are previews.
func (w *Writer) round(parts []*writingPart) {
	if len(parts) == 1 {
		parts[0].End(parts[0].runSafely(w))
		return
	}
	w.together(parts)
}

// writingAlike reports whether two parts can share a transaction.
func writingAlike(p, next *writingPart) bool { return p.applies == next.applies }

// together runs parts in one transaction. All of them are changes, or all are previews. A part that fails runs again
// in its own transaction, which decides its result. If the shared transaction can't be committed, all parts run
// again. A change then finds its marker if the failed commit took effect nevertheless.
func (w *Writer) together(parts []*writingPart) {
	good := make([]bool, len(parts))
	if w.share(parts, good) != nil {
		clear(good)
	}
	for i, p := range parts {
		if good[i] {
			p.End(nil)
		} else {
			p.End(errAlone)
		}
	}
}

// share runs parts in one transaction, each in a savepoint. It sets good for each part that succeeds. After an error
// no part has succeeded.
func (w *Writer) share(parts []*writingPart, good []bool) (err error) {
	// SQLite rolls back the whole transaction when a write is interrupted. So if one caller cancels, the transaction
	// ends for all, and the others run in their own transactions.
	ctx, cancel := context.WithCancel(context.WithoutCancel(parts[0].ctx))
	defer cancel()
	for _, p := range parts {
		defer context.AfterFunc(p.ctx, cancel)()
		_, running := trace.Start(p.ctx, "source")
		defer func() { trace.End(running, err) }()
	}
	defer func() {
		if r := recover(); r != nil {
			err = problem.PanicError(r)
		}
	}()
	return w.attempt(ctx, func(ctx context.Context, tx WriteTx) error {
		begun := time.Now()
		for i, p := range parts {
			if time.Since(begun) > mostHeld {
				break
			}
			if good[i], err = w.apart(ctx, tx, p); err != nil {
				return err
			}
		}
		if !parts[0].applies {
			return nil // attempt rolls back
		}
		return tx.Commit(ctx)
	})
}

// apart runs a part in a savepoint, and rolls back to the savepoint unless the part can be committed. It fails if the
// transaction can't continue.
func (w *Writer) apart(ctx context.Context, tx WriteTx, p *writingPart) (good bool, err error) {
	r := &run{Writer: w, tx: tx, shared: true}
	if err := r.do(ctx, "SAVEPOINT "+partPoint); err != nil {
		return false, err
	}
	failed := p.in(ctx, r)
	if failed != nil || !r.whole {
		if err := r.do(ctx, "ROLLBACK TO SAVEPOINT "+partPoint); err != nil {
			return false, errors.Join(failed, err)
		}
	}
	return failed == nil, r.do(ctx, "RELEASE SAVEPOINT "+partPoint)
}

// commit commits the transaction. In a shared transaction it only checks that the part's writes won't make the later
// commit fail for all.
func (r *run) commit(ctx context.Context) error {
	if !r.shared {
		return r.tx.Commit(ctx)
	}
	err := r.tx.Settle(ctx)
	r.whole = err == nil
	return err
}
