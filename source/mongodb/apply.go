package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// completeChange completes a change that an earlier attempt has begun, if the record is already in the state after
// the change.
func (w *Writable) completeChange(ctx context.Context, id string, at entry) (receipt change.Receipt, yes bool, err error) {
	if at.Kind != begun {
		return receipt, false, nil
	}
	if yes, err = w.stands(ctx, at.Writes); err != nil || !yes {
		return receipt, false, err
	}
	if _, err = w.add(ctx, id, at, entry{Kind: applied, Fence: at.Fence, Digest: at.Digest, Receipt: at.Receipt}); err != nil {
		return receipt, false, err
	}
	receipt, err = at.receipt()
	receipt.Again = true
	return receipt, err == nil, err
}

// single applies a plan of one item without a transaction. The field at is the last entry of its change. The function
// single updates this field.
func (w *Writable) single(ctx context.Context, plan *writes.Plan, at *entry) (change.Receipt, error) {
	none := change.Receipt{}
	first := at.Kind != begun
	steps := w.steps(plan)
	s := &steps[0]
	if id, err := at.key(); err == nil && id.Type == bson.TypeObjectID {
		s.id = id.ObjectID() // the same document as in the earlier attempt
	}
	if err := compare(ctx, steps); err != nil {
		return none, err
	}
	receipt := receiptOf(steps)
	kept, err := encodeReceipt(receipt)
	if err != nil {
		return none, err
	}
	doc, err := s.expectedState()
	if err != nil {
		return none, err
	}
	mine, err := w.add(ctx, plan.Change, *at, entry{Kind: begun, Fence: plan.Fence, Digest: plan.Digest, Writes: doc, Receipt: kept})
	if err != nil {
		return none, err
	}
	*at = mine
	if err := s.write(ctx); err != nil {
		if first && refusedBy(err) {
			err = s.conflict(ctx, err)
		}
		return none, err
	}
	_, err = w.add(ctx, plan.Change, mine, entry{Kind: applied, Fence: plan.Fence, Digest: plan.Digest, Receipt: kept})
	return receipt, err
}

// together applies a plan and adds its last entry in one transaction.
func (w *Writable) together(ctx context.Context, plan *writes.Plan, at entry) (change.Receipt, error) {
	none := change.Receipt{}
	session, err := w.to.client.StartSession()
	if err != nil {
		return none, err
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	if err := session.StartTransaction(options.Transaction().SetReadConcern(readconcern.Snapshot()).SetWriteConcern(writeconcern.Majority())); err != nil {
		return none, err
	}
	in := mongo.NewSessionContext(ctx, session)
	receipt, err := w.inside(in, plan, at)
	if err == nil {
		return receipt, session.CommitTransaction(in)
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(in), 5*time.Second)
	defer cancel()
	if failed := session.AbortTransaction(back); failed != nil && refusedBy(err) {
		return none, failed
	}
	if refused, is := errors.AsType[*refusal](err); is {
		return none, refused.step.conflict(ctx, refused.err)
	}
	return none, err
}

// A refusal is the error of a step that the server rejects.
type refusal struct {
	step *step
	err  error
}

func (r *refusal) Error() string { return "mongodb: the server refuses a write" }

// inside applies a plan in the transaction of ctx.
func (w *Writable) inside(ctx context.Context, plan *writes.Plan, at entry) (change.Receipt, error) {
	steps := w.steps(plan)
	if err := compare(ctx, steps); err != nil {
		return change.Receipt{}, err
	}
	for i := range steps {
		if err := steps[i].write(ctx); refusedBy(err) {
			return change.Receipt{}, &refusal{&steps[i], err}
		} else if err != nil {
			return change.Receipt{}, err
		}
	}
	receipt := receiptOf(steps)
	kept, err := encodeReceipt(receipt)
	if err != nil {
		return receipt, err
	}
	_, err = w.add(ctx, plan.Change, at, entry{Kind: applied, Fence: plan.Fence, Digest: plan.Digest, Receipt: kept})
	return receipt, err
}

// write sends the command of the step. It fails with errMet if the record has changed since the comparison.
func (s *step) write(ctx context.Context) error {
	c := s.w.to.db.Collection(s.class().Table)
	var err error
	switch s.item.Op {
	case write.OpCreate:
		_, err = c.InsertOne(ctx, s.sets)
	case write.OpUpdate:
		o := options.FindOneAndUpdate()
		if s.w.level == mongogen.MongoDB { // FerretDB can return only whole documents, and runs one change at a time
			o.SetProjection(projection([]string{"_id"}))
		}
		err = c.FindOneAndUpdate(ctx, s.unchangedFilter(), bson.D{{Key: "$set", Value: s.sets}}, o).Err()
	case write.OpDelete:
		o := options.FindOneAndDelete()
		if s.w.level == mongogen.MongoDB {
			o.SetProjection(projection([]string{"_id"}))
		}
		err = c.FindOneAndDelete(ctx, s.unchangedFilter(), o).Err()
	}
	if errors.Is(err, mongo.ErrNoDocuments) {
		return errMet
	}
	return err
}

// refusedBy reports whether the server itself has rejected the write.
func refusedBy(err error) bool {
	server, is := errors.AsType[mongo.ServerError](err)
	return is && !mongo.IsNetworkError(err) && !mongo.IsTimeout(err) && !server.HasErrorLabel("RetryableWriteError") && !server.HasErrorLabel("TransientTransactionError")
}

// conflict returns the error for the caller that applies a change, after the server has rejected a write.
func (s *step) conflict(ctx context.Context, err error) error {
	why, looked := s.clash(ctx)
	if looked != nil {
		return looked
	}
	p := &problem.Error{Code: problem.Conflict, Kind: "refused", Detail: "the database doesn't write exactly this record", Err: &failure{err}}
	server, _ := errors.AsType[mongo.ServerError](err)
	switch {
	case why != "":
		p.Kind, p.Detail = "unique", why
	case mongo.IsDuplicateKeyError(err):
		p.Kind, p.Detail = "unique", "another record has the same values"
	case server.HasErrorCode(documentInvalid):
		p.Kind, p.Detail = "check", "a constraint on the record doesn't hold"
	case server.HasErrorCode(unauthorized):
		p.Kind, p.Detail = "denied", "the source's account may not write it"
	}
	return p
}

// Error codes of the server.
const (
	unauthorized         = 13
	authenticationFailed = 18
	documentInvalid      = 121
)
