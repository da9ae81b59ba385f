package mongodb

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A reading reads one plan.
type reading struct {
	s      *Source
	plan   *policy.Plan
	writer *mongogen.Writer
	budget interpret.Budget
}

func (s *Source) reading(ctx context.Context, p policy.Permit) (*reading, error) {
	planned, err := p.Plan()
	if err != nil {
		return nil, err
	}
	r := &reading{s: s, plan: &planned, budget: interpret.Budget{Rows: s.options.LocalRows}}
	r.writer = &mongogen.Writer{Level: s.level, Plan: &planned, Keys: func(t *policy.Through) (bson.A, error) { return r.keys(ctx, t) }}
	return r, nil
}

// Read implements source.Source. It reads the records when the rows are ranged over, after the caller has reserved
// memory for the answer.
func (s *Source) Read(ctx context.Context, p policy.Permit) (source.Rows, error) {
	if _, err := s.reading(ctx, p); err != nil {
		return nil, err
	}
	return func(yield func(value.Row, error) bool) {
		err := s.with(ctx, func(in *Source) error {
			r, err := in.reading(ctx, p)
			if err != nil {
				return err
			}
			rows, err := r.rows(ctx)
			if err != nil {
				return err
			}
			begun := false
			for row, err := range rows {
				if err != nil && !begun {
					return err // no row was yielded yet, so the call may run again
				}
				if begun = true; !yield(row, err) || err != nil {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}, nil
}

// rows runs a plan on the server as far as the server supports it. The gateway computes the rest.
func (r *reading) rows(ctx context.Context) (source.Rows, error) {
	switch {
	case r.plan.Program != nil && r.plan.Program.From >= 0:
		return r.program(ctx)
	case r.plan.Program != nil:
		return interpret.Rows(ctx, r.plan, r.records)
	case r.plan.Count:
		c, ok, err := r.writer.Count()
		if err != nil {
			return nil, err
		}
		if ok {
			return r.count(ctx, c)
		}
	}
	c, err := r.writer.Records(interpret.Need{View: r.plan.View})
	switch {
	case err != nil || !c.Whole:
		return interpret.Rows(ctx, r.plan, r.records)
	case len(r.plan.Joins) > 0:
		return r.rowsWithJoins(ctx, c), nil
	}
	return r.page(ctx, c), nil
}

// count returns the only value of the only document of c. If there is no document, it returns 0.
func (r *reading) count(ctx context.Context, c mongogen.Command) (source.Rows, error) {
	n := value.OfInt(0)
	err := r.s.aggregate(ctx, r.s.pool.db, c, func(doc bson.Raw) error {
		n = mongogen.DecodeBSON(doc.Lookup(c.Columns[0].Name), schema.Integer)
		return nil
	})
	if err != nil {
		return nil, refuse(ctx, err)
	}
	return func(yield func(value.Row, error) bool) { yield(value.Row{n}, nil) }, nil
}

// records implements interpret.Records.
func (r *reading) records(ctx context.Context, n interpret.Need) ([]value.Row, error) {
	c, err := r.writer.Records(n)
	if err != nil {
		return nil, err
	}
	return r.run(ctx, c, n.View.Name())
}

// run runs a command and decodes its documents. The documents count in the budget under the name of the view.
func (r *reading) run(ctx context.Context, c mongogen.Command, view string) ([]value.Row, error) {
	var out []value.Row
	err := r.s.aggregate(ctx, r.s.pool.db, c, func(doc bson.Raw) error {
		row, err := r.decode(doc, c.Columns, view)
		if err == nil {
			out, err = append(out, row), r.budget.Take(view, row)
		}
		return err
	})
	if err != nil {
		return nil, refuse(ctx, err)
	}
	return out, nil
}

// large is the size in bytes of a BSON value from which its weight is checked before decoding.
const large = 64 << 10

// decode returns the values of the columns in a document. Values that are only shown are limited to the size that may
// be shown. Other values are limited by the budget.
func (r *reading) decode(doc bson.Raw, columns []mongogen.Column, view string) (value.Row, error) {
	row := make(value.Row, len(columns))
	for i, c := range columns {
		v, err := doc.LookupErr(c.Name)
		if err != nil {
			continue
		}
		if len(v.Value) > large && !c.Shown {
			if err := r.budget.Room(view, mongogen.BSONWeight(v)); err != nil {
				return nil, err
			}
		}
		switch {
		case c.Shown:
			row[i] = mongogen.BoundedBSON(v, c.Type, r.most())
		case c.Computed:
			row[i] = mongogen.ComputedBSON(v, c.Type)
		default:
			row[i] = mongogen.DecodeBSON(v, c.Type)
		}
	}
	return row, nil
}

// keys returns the values of the key that a Through references.
func (r *reading) keys(ctx context.Context, t *policy.Through) (bson.A, error) {
	c, err := r.writer.KeysOf(t, nil)
	if err != nil {
		return nil, err
	}
	out := bson.A{}
	err = r.s.aggregate(ctx, r.s.pool.db, c, func(doc bson.Raw) error {
		v, err := doc.LookupErr(t.Key)
		if err != nil || v.Type == bson.TypeNull {
			return nil
		}
		out = append(out, bson.RawValue{Type: v.Type, Value: append([]byte(nil), v.Value...)})
		return r.budget.Take(t.View.Name(), value.Row{mongogen.DecodeBSON(v, schema.Any)})
	})
	if err != nil {
		return nil, refuse(ctx, err)
	}
	return out, nil
}

// aggregate runs a command and passes its documents to each until the end or the first error. The server stops the
// command when ctx ends. The driver sends the deadline as maxTimeMS.
func (s *Source) aggregate(ctx context.Context, db *mongo.Database, c mongogen.Command, each func(bson.Raw) error) error {
	name := comment()
	size := batches{most: batch}
	if s.level != mongogen.MongoDB {
		size.most = 1
	}
	command := bson.D{{Key: "aggregate", Value: c.Collection}, {Key: "pipeline", Value: c.Pipeline}, {Key: "cursor", Value: bson.D{{Key: "batchSize", Value: size.most}}},
		{Key: "allowDiskUse", Value: true}, {Key: "comment", Value: name}}
	if s.level == mongogen.MongoDB {
		command = append(command, bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}})
	}
	stopped := make(chan struct{})
	defer close(stopped)
	done := s.account.again(s.pool)
	go func() {
		defer done()
		s.watch(ctx, stopped, name)
	}()
	cursor, err := db.RunCommandCursor(ctx, command)
	if err != nil {
		return err
	}
	defer closeCursor(cursor)
	for cursor.Next(ctx) {
		size.largest = max(size.largest, len(cursor.Current))
		if cursor.RemainingBatchLength() == 0 {
			cursor.SetBatchSize(size.next())
		}
		if err := each(cursor.Current); err != nil {
			return err
		}
	}
	return cursor.Err()
}

// The maximum number of documents in a batch, and its size in bytes. MongoDB itself limits a batch to 16 MB. FerretDB
// doesn't, and fails for a batch of more than 48 MB. For FerretDB, the first batch has one document. The size of
// later batches depends on the sizes of the earlier documents.
const (
	batch      = 1000
	batchBytes = 2 << 20
)

// batches determines the sizes of the batches of a cursor.
type batches struct {
	most    int32 // the number of documents of the last batch
	largest int   // the size in bytes of the largest document so far
}

// next returns the size of the next batch.
func (b *batches) next() int32 {
	b.most = min(4*b.most, batch, int32(max(batchBytes/max(b.largest, 1), 1)))
	return b.most
}

func closeCursor(c *mongo.Cursor) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c.Close(ctx)
}

// watch stops a command on the server if ctx ends before the command. If the account lacks the right, the server may
// still notice that the connection is closed.
func (s *Source) watch(ctx context.Context, stopped <-chan struct{}, name string) {
	select {
	case <-stopped:
		return
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // ctx may contain the session of a transaction
	defer cancel()
	admin := s.pool.client.Database("admin")
	var running struct {
		Ops []struct {
			ID      any      `bson:"opid"`
			Command bson.Raw `bson:"command"`
		} `bson:"inprog"`
	}
	if err := admin.RunCommand(ctx, bson.D{{Key: "currentOp", Value: 1}, {Key: "command.comment", Value: name}}).Decode(&running); err != nil {
		return
	}
	for _, op := range running.Ops {
		if c, ok := op.Command.Lookup("comment").StringValueOK(); ok && c == name {
			admin.RunCommand(ctx, bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: op.ID}})
		}
	}
}
