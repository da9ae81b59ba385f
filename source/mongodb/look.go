package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// find reads the document that the item names. It reads the members that are visible, that the view's conditions
// read, or that are written. Before stays Null if the view doesn't contain the record. find rejects a record in the
// view that is too large for a change, considering only its visible size. It checks the view first.
func (s *step) find(ctx context.Context) error {
	select {
	case s.w.looks <- struct{}{}:
		defer func() { <-s.w.looks }()
	case <-ctx.Done():
		return ctx.Err()
	}
	found, err := s.document(ctx)
	if err != nil || found == nil {
		return err
	}
	seen := s.item.View.Fields()
	size, weight := 0, int64(0)
	for _, f := range seen {
		v := found.Lookup(f.Name)
		size, weight = size+len(v.Value), weight+mongogen.BSONWeight(v)
	}
	large := size > writes.MostRecord || weight > mostWeight
	in, err := s.w.shows(ctx, s.item.View, s.withMembers(found, s.row, s.deciding()), func(string) bool { return false })
	if err != nil || !in {
		return err
	}
	switch *s.read += size; {
	case large:
		return writes.TooLarge(s.item.View)
	case *s.read > mostRead:
		return writes.TooLargeTogether()
	}
	s.stored, s.row = found, s.withMembers(found, s.row, nil)
	s.effect.Before = s.visibleObject()
	return nil
}

// mostWeight is the maximum memory for the values of a record. mostRead is the maximum size in bytes of all records
// that a plan reads.
const (
	mostWeight = 4 * writes.MostRecord
	mostRead   = writes.MostRecord
)

// document returns the required members of the document, or nil if there is no document.
func (s *step) document(ctx context.Context) (bson.Raw, error) {
	c := s.class()
	key, err := mongogen.Key(s.w.level, c, s.item.ID)
	if err != nil {
		return nil, err
	}
	names := append(s.deciding(), s.concernedFields()...)
	for _, f := range s.item.View.Fields() {
		names = append(names, f.Name)
	}
	cursor, err := s.w.to.db.RunCommandCursor(ctx, bson.D{{Key: "find", Value: c.Table}, {Key: "filter", Value: key}, {Key: "projection", Value: projection(names)}, {Key: "limit", Value: int64(2)}, {Key: "singleBatch", Value: true}})
	if err != nil {
		return nil, err
	}
	defer closeCursor(cursor)
	if !cursor.Next(ctx) {
		return nil, cursor.Err()
	}
	if cursor.RemainingBatchLength() > 0 {
		return nil, problem.New(problem.Conflict, fmt.Sprintf("several records of %s have this key", s.item.View.Name()))
	}
	return cursor.Current, nil // the cursor isn't read any further
}

// deciding returns the key and the fields that the view's conditions read.
func (s *step) deciding() []string {
	names := append([]string{"_id"}, s.class().Key...)
	for _, l := range s.item.View.Layers() {
		if l.Through != nil {
			names = append(names, l.Through.Field)
		} else {
			policy.FilterFields(l.Filter, func(name string) { names = append(names, name) })
		}
	}
	return names
}

// concernedFields returns the fields that are compared and written.
func (s *step) concernedFields() []string {
	names := slices.Clone(s.item.Concerned)
	for _, set := range s.item.Sets {
		names = append(names, set.Field.Name)
	}
	return names
}

// projection returns a projection to the members called names.
func projection(names []string) bson.D {
	out := bson.D{}
	for _, name := range names {
		if mongogen.Nameable(name) && !slices.ContainsFunc(out, func(e bson.E) bool { return e.Key == name }) {
			out = append(out, bson.E{Key: name, Value: int32(1)})
		}
	}
	return out
}

// members returns members of the stored document, even hidden ones. It returns nil for a new document.
func (s *step) members(ctx context.Context, names []string) (bson.Raw, error) {
	if s.stored == nil {
		return nil, nil
	}
	is := bson.D{{Key: "_id", Value: s.stored.Lookup("_id")}}
	found, err := s.w.to.db.Collection(s.class().Table).FindOne(ctx, is, options.FindOne().SetProjection(projection(append(names[:len(names):len(names)], "_id")))).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return found, err
}
