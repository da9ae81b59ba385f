package sqldriver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A WriteDatabase is the part of writing that differs between databases.
type WriteDatabase interface {
	// Dialect returns the dialect of its statements.
	Dialect() sqlgen.Dialect
	// Begin begins a read-write transaction. Each of its statements sees all writes that others committed before the
	// statement began.
	Begin(context.Context) (WriteTx, error)
	// References returns the foreign keys of the database.
	References(context.Context, WriteTx) ([]schema.Reference, error)
	// Sound fails with problem.Unsupported if writes to c can't be rolled back.
	Sound(ctx context.Context, tx WriteTx, c *schema.Class) error
	// Refusal returns the refusal behind err, for the operation op on a record of c, or nil if err is not a refusal.
	Refusal(ctx context.Context, c *schema.Class, op write.Op, err error) *Refusal
	// Again reports whether the database rolled back the transaction only because of a conflict with another
	// transaction.
	Again(err error) bool
	// Problem turns an error of the database into an error for the caller.
	Problem(context.Context, error) error
}

// A WriteTx is a transaction. Rollback after Commit does nothing.
type WriteTx interface {
	// Exec runs a statement and returns the number of written rows.
	Exec(context.Context, sqlgen.Statement) (int64, error)
	// Query runs a statement and returns its rows.
	Query(context.Context, sqlgen.Statement) ([]value.Row, error)
	// Settle runs the checks that the database would otherwise defer to the commit.
	Settle(context.Context) error
	// Commit commits. If it fails with an error that Refusal recognises, nothing was written. After any other error
	// the outcome is unknown.
	Commit(context.Context) error
	// Rollback rolls back, even if the context has ended.
	Rollback()
}

// A Writer implements source.Writer over a WriteDatabase.
type Writer struct {
	db         WriteDatabase
	statements atomic.Pointer[map[string]string] // of actions, by their SHA-256 in hex, or nil
	queue      fair.Queue[*writingPart]          // of a Single
}

// NewWriter returns the Writer of a database. The marker table must already exist.
func NewWriter(db WriteDatabase) *Writer {
	w := &Writer{db: db}
	w.queue.Round, w.queue.Most, w.queue.Alike = w.round, mostParts, writingAlike
	return w
}

const (
	tries = 5                     // of a transaction that conflicts with others
	pause = 20 * time.Millisecond // the maximum wait before the next try, times the number of failed tries
	most  = 300 * time.Second     // for a call without a deadline
)

// Preview implements source.Writer.
func (w *Writer) Preview(ctx context.Context, d writes.Draft) (change.Preview, error) {
	plan, err := d.Plan()
	if err != nil {
		return change.Preview{}, err
	}
	return w.preview(ctx, &plan)
}

func (w *Writer) preview(ctx context.Context, plan *writes.Plan) (change.Preview, error) {
	p := &writingPart{plan: plan}
	err := w.wait(ctx, p)
	return p.preview, err
}

// Apply implements source.Writer.
func (w *Writer) Apply(ctx context.Context, p writes.Permit) (change.Receipt, error) {
	plan, err := p.Plan()
	if err != nil {
		return change.Receipt{}, err
	}
	return w.apply(ctx, &plan)
}

// apply runs an approved change once. It writes the effect and a marker with the fence in one transaction. After a
// definite failure it raises the fence. So an executor with an older lease can't later write a change that was
// reported as not written.
func (w *Writer) apply(ctx context.Context, plan *writes.Plan) (change.Receipt, error) {
	if plan.Change == "" || plan.Fence < 1 {
		return change.Receipt{}, problem.New(problem.Internal, "a permit without a change or a lease")
	}
	p := &writingPart{plan: plan, applies: true}
	err := w.wait(ctx, p)
	if !definite(err) {
		return p.receipt, err
	}
	// The change was not written, and the caller will rely on that. So no holder of an older lease may write the
	// change later.
	earlier, applied, failed := w.raise(ctx, plan.Change, plan.Fence)
	switch {
	case failed != nil:
		return change.Receipt{}, failed
	case applied:
		return earlier, nil
	}
	return change.Receipt{}, err
}

// definite reports whether err means that nothing was written and that a retry would fail too.
func definite(err error) bool {
	if _, moved := errors.AsType[*change.Moved](err); moved {
		return true
	}
	switch problem.CodeOf(err) {
	case problem.Conflict, problem.NotFound, problem.InvalidArgument, problem.Unsupported:
		return true
	}
	return false
}

// Bar implements source.Writer.
func (w *Writer) Bar(ctx context.Context, id string, fence int64) (change.Receipt, bool, error) {
	return w.raise(ctx, id, fence+1)
}

// raise prevents permits with a lower fence from applying a change. If the change was already applied, raise returns
// its receipt and true.
func (w *Writer) raise(ctx context.Context, id string, fence int64) (earlier change.Receipt, applied bool, err error) {
	err = w.within(ctx, func(ctx context.Context, tx WriteTx) error {
		if h, ok := tx.(Holder); ok { // schema changes don't hold a lock on the marker
			if err := h.Hold(ctx, id); err != nil {
				return err
			}
		}
		m, err := writingClaim(ctx, w.db.Dialect(), tx, marker{change: id, fence: fence})
		if err != nil {
			return err
		}
		if applied = m.receipt != nil; applied {
			earlier = *m.receipt
			return nil
		}
		if m.fence < fence {
			if err := m.raise(ctx, w.db.Dialect(), tx, fence); err != nil {
				return err
			}
		}
		return tx.Commit(ctx)
	})
	return earlier, applied, err
}

// within calls do in a transaction, and repeats it if it conflicts with others. Writes that do hasn't committed are
// rolled back. Errors of do that have no meaning for the caller yet are treated as errors of the database.
func (w *Writer) within(ctx context.Context, do func(context.Context, WriteTx) error) (err error) {
	ctx, running := trace.Start(ctx, "source")
	defer func() { trace.End(running, err) }()
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	for n := 1; ; n++ {
		err = w.attempt(ctx, do)
		if err == nil || hasMeaning(err) {
			return err
		}
		if n == tries || !w.db.Again(err) || ctx.Err() != nil {
			return w.db.Problem(ctx, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(time.Duration(n) * pause)):
		}
	}
}

// withDeadline returns ctx with a deadline.
func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, most)
}

func (w *Writer) attempt(ctx context.Context, do func(context.Context, WriteTx) error) error {
	tx, err := w.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return do(ctx, tx)
}

// hasMeaning reports whether err already has a meaning for the caller.
func hasMeaning(err error) bool {
	_, said := errors.AsType[*problem.Error](err)
	_, moved := errors.AsType[*change.Moved](err)
	return said || moved || errors.Is(err, change.ErrFenced)
}

// unsupportedError returns the error for a write that this source doesn't support.
func unsupportedError(format string, args ...any) error {
	return problem.New(problem.Unsupported, fmt.Sprintf(format, args...))
}
