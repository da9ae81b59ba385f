package mongodb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/bailiwick-dev/bailiwick/change"
)

// markers is the name of the collection with the entries of changes.
const markers = own + "applied"

// The kinds of entries.
const (
	begun   = "begun"   // the holder of the fence has begun to write the change
	ended   = "ended"   // nothing was or will be written with a lower fence
	applied = "applied" // the change was written
)

// An entry is one step of a change, stored in the database. The entries of a change are numbered from 0 and never
// modified. The last entry is the state of the change. Each number is inserted once, by the first executor, because
// every server rejects a second document with the same _id. So the entries are ordered without a transaction.
type entry struct {
	ID      string `bson:"_id"`
	Kind    string `bson:"kind"`
	Fence   int64  `bson:"fence"` // of begun and applied: its fence. Of ended: the lowest fence that may still apply the change
	Digest  string `bson:"digest"`
	Writes  []byte `bson:"writes,omitempty"`  // of begun: the expected record, as a document
	Receipt string `bson:"receipt,omitempty"` // of applied: the receipt as JSON. Of begun: the receipt after success

	n int
}

// errTaken is the error for an entry whose number already exists.
var errTaken = errors.New("mongodb: another entry came first")

// maxReceipt is the maximum length of a receipt that is stored with the written records. A longer receipt is stored
// only with the keys.
const maxReceipt = 1 << 20

// encodeReceipt returns a receipt in its stored form.
func encodeReceipt(r change.Receipt) (string, error) {
	text, err := json.Marshal(r)
	if len(text) > maxReceipt {
		r.After = nil
		text, err = json.Marshal(r)
	}
	return string(text), err
}

// receipt returns the receipt of an entry.
func (e *entry) receipt() (r change.Receipt, err error) {
	if err := json.Unmarshal([]byte(e.Receipt), &r); err != nil {
		return r, fmt.Errorf("the receipt of a change can't be read: %w", err)
	}
	return r, nil
}

// entryID returns the _id of an entry.
func entryID(id string, n int) string { return fmt.Sprintf("%s#%d", id, n) }

// last returns the last entry of a change. Its n is -1 if the change has no entry.
func (w *Writable) last(ctx context.Context, id string) (entry, error) {
	out := entry{n: -1}
	for n := 0; ; n++ {
		next := entry{n: n}
		err := w.to.db.Collection(markers).FindOne(ctx, bson.D{{Key: "_id", Value: entryID(id, n)}}).Decode(&next)
		switch {
		case errors.Is(err, mongo.ErrNoDocuments):
			return out, nil
		case err != nil:
			return out, err
		}
		out = next
	}
}

// add inserts the entry that follows the entry after. It fails with errTaken if that number already exists.
func (w *Writable) add(ctx context.Context, id string, after, e entry) (entry, error) {
	e.n = after.n + 1
	e.ID = entryID(id, e.n)
	_, err := w.to.db.Collection(markers).InsertOne(ctx, e)
	if mongo.IsDuplicateKeyError(err) {
		err = errTaken
	}
	return e, err
}

// Bar implements source.Writer. If an executor had begun to write the change without a transaction, the record
// decides the outcome. If the record is in the state after the change, the change was applied. Otherwise that
// executor may still write, and the error wraps change.ErrUnknown.
func (w *Writable) Bar(ctx context.Context, id string, fence int64) (receipt change.Receipt, applied bool, err error) {
	ctx, cancel := withTimeLimit(ctx)
	defer cancel()
	err = w.with(ctx, func(in *Writable) error {
		receipt, applied, err = in.bar(ctx, id, fence)
		return err
	})
	return receipt, applied, err
}

// bar implements Bar with one client. It can run again with another client.
func (w *Writable) bar(ctx context.Context, id string, fence int64) (change.Receipt, bool, error) {
	for range tries {
		at, err := w.last(ctx, id)
		if err != nil {
			return change.Receipt{}, false, refuse(ctx, err)
		}
		switch {
		case at.Kind == applied:
			r, err := at.receipt()
			r.Again = true
			return r, true, err
		case at.Kind == begun:
			_, done, err := w.completeChange(ctx, id, at)
			switch {
			case err != nil && !errors.Is(err, errTaken):
				return change.Receipt{}, false, refuse(ctx, err)
			case err == nil && !done:
				return change.Receipt{}, false, unknownOutcomeError("an executor had begun to write it and may still do so")
			}
			continue
		case at.Kind == ended && at.Fence > fence:
			return change.Receipt{}, false, nil
		}
		_, err = w.add(ctx, id, at, entry{Kind: ended, Fence: fence + 1})
		if err == nil {
			return change.Receipt{}, false, nil
		}
		if !errors.Is(err, errTaken) {
			return change.Receipt{}, false, refuse(ctx, err)
		}
	}
	return change.Receipt{}, false, refuse(ctx, errTaken)
}

// key returns the _id of the record in an entry.
func (e *entry) key() (bson.RawValue, error) {
	var is expected
	err := bson.Unmarshal(e.Writes, &is)
	return is.Key, err
}
