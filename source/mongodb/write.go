package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Writable is a Source that can be written to.
//
// On a replica set or a sharded cluster, a change and its marker are written in one transaction. On other servers, a
// change writes only one record, in three steps. First an entry records that the change has begun. Then one command
// writes the record, on the condition that the record hasn't changed since the comparison. At last a second entry
// records that the change was applied.
//
// If an executor finds only the first entry, the state of the record decides. If the record is in the state after the
// change, the change was applied. If the record is in the reviewed state, the executor writes the change now, and the
// condition of a slower executor fails. Otherwise the outcome is unknown.
type Writable struct {
	*Source
	writer *account
	to     *pool         // the pool of writer for the call that uses this copy, or nil outside of calls
	alone  chan struct{} // held while a change is written, for servers whose commands aren't atomic
	looks  chan struct{} // held while a record of unknown size is read. A document has at most 16 MB
}

// Writable opens s for writing as well, with the account in writeURL, or the reading account if writeURL is "".
func (s *Source) Writable(ctx context.Context, writeURL string) (*Writable, error) {
	writer, err := s.options.open(ctx, cmp.Or(writeURL, s.options.URL), writeconcern.Majority())
	if err != nil {
		return nil, err
	}
	return &Writable{Source: s, writer: writer, alone: make(chan struct{}, 1), looks: make(chan struct{}, 4)}, nil
}

// Close closes all connections.
func (w *Writable) Close() error { return errors.Join(w.writer.close(), w.Source.Close()) }

const (
	tries = 8                // of a change that conflicts with others
	most  = 60 * time.Second // of a call without a deadline
)

func withTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, most)
}

// unknownOutcomeError returns the error of a change if it is unknown whether it was written.
func unknownOutcomeError(why string) error {
	return &problem.Error{Code: problem.Upstream, Kind: "unknown_outcome", Detail: "whether the change was written isn't known: " + why, Err: change.ErrUnknown}
}

// sound rejects plans that this source can't write.
func (w *Writable) sound(plan *writes.Plan) error {
	if len(plan.Items) > 1 && !w.sets {
		return &problem.Error{Code: problem.Unsupported, Kind: "no_transactions", Detail: fmt.Sprintf("%s has no transactions, so that %d writes can't be made all or none", plan.Source, len(plan.Items)),
			Suggestion: "propose a change for each write. Use after to make one wait for another. A replica set of MongoDB has transactions"}
	}
	for i := range plan.Items {
		it := &plan.Items[i]
		switch {
		case it.Op != write.OpCreate && it.Op != write.OpUpdate && it.Op != write.OpDelete:
			return problem.New(problem.Unsupported, fmt.Sprintf("a MongoDB database has no write of the kind %s. Records are created, updated and deleted", it.Op))
		case it.View == nil:
			return problem.New(problem.Internal, "a write without a view")
		case it.View.Class().View:
			return problem.New(problem.Unsupported, it.View.Name()+" is a view of the database. Only collections can be written to")
		case len(it.View.Class().Key) == 0:
			return problem.New(problem.Unsupported, fmt.Sprintf("records of %s have no key, so none can be named to be written", it.View.Name()))
		}
	}
	return nil
}

// steps returns the steps of a plan.
func (w *Writable) steps(plan *writes.Plan) []step {
	out := make([]step, len(plan.Items))
	read := new(int)
	for i := range plan.Items {
		out[i] = step{w: w, item: &plan.Items[i], id: bson.NewObjectID(), read: read, all: out}
	}
	return out
}

// Preview implements source.Writer. It writes nothing, because MongoDB doesn't change the requested record. Of the
// reasons why the server may refuse the change, it checks only unique indexes.
func (w *Writable) Preview(ctx context.Context, d writes.Draft) (change.Preview, error) {
	p := change.Preview{Kind: change.Computed}
	plan, err := d.Plan()
	if err == nil {
		err = w.sound(&plan)
	}
	if err != nil {
		return p, err
	}
	ctx, cancel := withTimeLimit(ctx)
	defer cancel()
	err = w.with(ctx, func(in *Writable) error {
		p, err = in.preview(ctx, &plan)
		return err
	})
	return p, err
}

// preview returns the effects of a plan, from the records that one client reads.
func (w *Writable) preview(ctx context.Context, plan *writes.Plan) (change.Preview, error) {
	p := change.Preview{Kind: change.Computed}
	steps := w.steps(plan)
	for i := range steps {
		s := &steps[i]
		err := s.look(ctx)
		why := ""
		if err == nil {
			why, err = s.clash(ctx)
		}
		if err != nil {
			return p, refuse(ctx, err)
		}
		if why != "" && len(plan.Items) > 1 {
			why = fmt.Sprintf("write %d: %s", i+1, why)
		}
		p.Refusal = problem.Sentences(p.Refusal, why)
		p.Effects = append(p.Effects, s.effect)
	}
	return p, nil
}

// Apply implements source.Writer.
func (w *Writable) Apply(ctx context.Context, p writes.Permit) (change.Receipt, error) {
	none := change.Receipt{}
	plan, err := p.Plan()
	if err == nil {
		err = w.sound(&plan)
	}
	if err != nil {
		return none, err
	}
	if plan.Change == "" || plan.Fence < 1 {
		return none, problem.New(problem.Internal, "a permit without a change or a lease")
	}
	ctx, cancel := withTimeLimit(ctx)
	defer cancel()
	if w.level != mongogen.MongoDB {
		select {
		case w.alone <- struct{}{}:
			defer func() { <-w.alone }()
		case <-ctx.Done():
			return none, refuse(ctx, ctx.Err())
		}
	}
	receipt := none
	err = w.with(ctx, func(in *Writable) error {
		receipt, err = in.attempts(ctx, &plan)
		return err
	})
	if err != nil {
		return none, passOrRefuse(ctx, err)
	}
	return receipt, nil
}

// passOrRefuse returns an error that has a meaning for the caller unchanged, and passes other errors to refuse.
func passOrRefuse(ctx context.Context, err error) error {
	if _, moved := errors.AsType[*change.Moved](err); moved || errors.Is(err, change.ErrFenced) {
		return err
	}
	return refuse(ctx, err)
}

// attempts applies a plan, and repeats it after conflicts with others.
func (w *Writable) attempts(ctx context.Context, plan *writes.Plan) (receipt change.Receipt, err error) {
	var at entry
	for n := 0; n < tries && ctx.Err() == nil; n++ {
		if n > 0 && !errors.Is(err, errTaken) {
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(n*n) * 10 * time.Millisecond):
			}
		}
		if at, err = w.last(ctx, plan.Change); err != nil {
			continue
		}
		switch {
		case at.Kind == applied && at.Digest != plan.Digest:
			return receipt, problem.New(problem.Internal, "the change was applied with another digest")
		case at.Kind == applied:
			receipt, err = at.receipt()
			receipt.Again = true
			return receipt, err
		case at.Fence > plan.Fence:
			return receipt, change.ErrFenced
		}
		maybe := at.Kind == begun // an earlier attempt may have written the change
		var done bool
		if receipt, done, err = w.completeChange(ctx, plan.Change, at); err == nil && !done {
			if w.sets {
				receipt, err = w.together(ctx, plan, at)
			} else {
				receipt, err = w.single(ctx, plan, &at)
			}
		}
		switch {
		case err == nil:
			return receipt, nil
		case maybe && definite(err):
			// The earlier attempt may have written after we read the record.
			if late, yes, failed := w.completeChange(ctx, plan.Change, at); failed == nil && yes {
				return late, nil
			}
			return receipt, unknownOutcomeError("an earlier attempt had begun to write it, and the record is neither as it was reviewed nor as the change leaves it")
		case definite(err) || !maybe && errors.Is(err, errMet):
			// The change was not written, and the caller will rely on that. So no holder of an older lease may write
			// the change later.
			if _, failed := w.add(ctx, plan.Change, at, entry{Kind: ended, Fence: plan.Fence}); failed == nil && definite(err) {
				return receipt, err
			}
		case !again(err):
			return receipt, err
		}
	}
	return receipt, cmp.Or(err, ctx.Err(), errTaken)
}

// again reports whether another attempt may succeed.
func again(err error) bool {
	labelled, is := errors.AsType[mongo.LabeledError](err)
	return errors.Is(err, errTaken) || errors.Is(err, errMet) || mongo.IsNetworkError(err) ||
		is && (labelled.HasErrorLabel("TransientTransactionError") || labelled.HasErrorLabel("UnknownTransactionCommitResult"))
}

// errMet is the error of a command if no document met its condition.
var errMet = errors.New("mongodb: the record has changed in between")

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

// compare reads all records again, and fails with *change.Moved if one has changed since the review.
func compare(ctx context.Context, steps []step) error {
	var now []change.Effect
	var first error
	moved := false
	for i := range steps {
		s := &steps[i]
		err := s.look(ctx)
		gone := problem.CodeOf(err) == problem.NotFound && s.effect.Before.IsNull()
		if err != nil && (s.item.ID == nil || !gone) && first == nil {
			first = err
		}
		moved = moved || s.item.ID != nil && (err == nil || gone) && s.item.HasChanged(s.effect.Before)
		is := s.effect
		is.After = value.Value{}
		now = append(now, is)
	}
	if moved {
		return &change.Moved{Now: now}
	}
	return first
}

// receiptOf returns the receipt for all steps.
func receiptOf(steps []step) (r change.Receipt) {
	for i := range steps {
		s := &steps[i]
		key, after := "", s.effect.After
		if s.item.Op != write.OpDelete {
			after = s.visibleObject()
		}
		if s.item.View.Key() != nil {
			var id []value.Value
			for _, name := range s.class().Key {
				id = append(id, s.row[at(s.class(), name)])
			}
			key = writes.KeyText(id)
		}
		r.Keys, r.After, r.Rows = append(r.Keys, key), append(r.After, after), r.Rows+1
	}
	return r
}
