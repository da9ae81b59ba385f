package mongodb

import (
	"cmp"
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// most returns the maximum size in bytes of a value in the answer.
func (r *reading) most() int { return cmp.Or(r.plan.Most, policy.MostValue) }

// errEnough ends a command when the reader wants no more records.
var errEnough = errors.New("mongodb: the reader wants no more records")

// each yields a row for each document of a command, one by one. So it keeps only one document beside the server's
// current batch.
func (r *reading) each(ctx context.Context, c mongogen.Command, row func(bson.Raw) value.Row) source.Rows {
	return func(yield func(value.Row, error) bool) {
		n := 0
		err := r.s.aggregate(ctx, r.s.pool.db, c, func(doc bson.Raw) error {
			if n++; n <= r.plan.Skip {
				return nil
			}
			if !yield(row(doc), nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, refuse(ctx, err))
		}
	}
}

// page yields the records of a find of one class, if the server runs the whole find.
func (r *reading) page(ctx context.Context, c mongogen.Command) source.Rows {
	return r.each(ctx, c, func(doc bson.Raw) value.Row {
		return interpret.Leaving(r.plan, func(_ int, f *schema.Field, piece *policy.Piece) value.Value {
			v, err := doc.LookupErr(f.Name)
			if err != nil {
				return value.Value{}
			}
			if piece == nil {
				return mongogen.BoundedBSON(v, f.Type, r.most())
			}
			some, ok := mongogen.BSONPiece(v, f.Type, mongogen.BSONRange{From: piece.Offset, Length: piece.Length, Size: piece.Size})
			if !ok {
				some = interpret.Piece(mongogen.DecodeBSON(v, f.Type), piece)
			}
			return some
		})
	})
}

// rowsWithJoins yields the records of a find with the records that their pointers reference, if the server runs the
// whole find. It processes one batch of the server at a time.
func (r *reading) rowsWithJoins(ctx context.Context, c mongogen.Command) source.Rows {
	return func(yield func(value.Row, error) bool) {
		var some []value.Row
		bytes, n := 0, 0
		flush := func() error {
			plan := *r.plan
			plan.Skip, plan.Limit = 0, len(some)
			r.budget = interpret.Budget{Rows: r.s.options.LocalRows}
			rows, err := interpret.Rows(ctx, &plan, func(ctx context.Context, need interpret.Need) ([]value.Row, error) {
				if need.View == plan.View && need.Key == "" {
					return some, nil
				}
				return r.records(ctx, need)
			})
			if err != nil {
				return err
			}
			for row, err := range rows {
				if err != nil {
					return err
				}
				if !yield(row, nil) {
					return errEnough
				}
			}
			some, bytes = nil, 0
			return nil
		}
		err := r.s.aggregate(ctx, r.s.pool.db, c, func(doc bson.Raw) error {
			if n++; n <= r.plan.Skip {
				return nil
			}
			row, err := r.decode(doc, c.Columns, r.plan.View.Name())
			if err != nil {
				return err
			}
			some, bytes = append(some, row), bytes+len(doc)
			if bytes < batchBytes {
				return nil
			}
			return flush()
		})
		if err == nil && len(some) > 0 {
			err = flush()
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, refuse(ctx, err))
		}
	}
}

// program runs a pipeline on the server as far as the server supports it. The gateway computes the rest.
func (r *reading) program(ctx context.Context) (source.Rows, error) {
	c, err := r.writer.Program()
	if err != nil {
		return nil, err
	}
	if c.Whole {
		return r.result(ctx, c), nil
	}
	rest, err := interpret.Narrow(ctx, r.plan, c.Stages, r.records, &r.budget)
	if err != nil {
		return nil, err
	}
	view := r.plan.Views[r.plan.Program.From].Name()
	err = r.s.aggregate(ctx, r.s.pool.db, c, func(doc bson.Raw) error {
		row, err := r.decode(doc, c.Columns, view)
		if err == nil {
			err = rest.Take(row)
		}
		return err
	})
	if err != nil {
		return nil, refuse(ctx, err)
	}
	return rest.Rows()
}

// result yields the records of a pipeline, if the server runs the whole pipeline.
func (r *reading) result(ctx context.Context, c mongogen.Command) source.Rows {
	shape := r.plan.Program.Out()
	return r.each(ctx, c, func(doc bson.Raw) value.Row {
		var row value.Row
		for i := range shape.Columns {
			if column := &shape.Columns[i]; column.Path != nil {
				v := doc.Lookup(c.Columns[i].Name)
				x := mongogen.BoundedBSON(v, column.Type, r.most())
				if c.Columns[i].Computed && x.Kind() != value.Cut {
					x = mongogen.ComputedBSON(v, column.Type)
				}
				if x.IsNull() && column.List && column.NotNull { // the list was too large
					x = value.OfCut(value.Unmeasured)
				}
				row = append(row, x)
			}
		}
		return row
	})
}
