package mongodb

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A step is one item of a plan with its document: the stored record, and the record after the item.
type step struct {
	w    *Writable
	item *writes.Item
	id   bson.ObjectID // for a new document without its own _id
	read *int          // the size in bytes of the records that steps of the plan have read
	all  []step        // all steps of the plan

	stored bson.Raw // nil if there is no document
	row    value.Row
	effect change.Effect
	sets   bson.D // the members to write. For a new document, all members
}

// class returns the class that the item writes to.
func (s *step) class() *schema.Class { return s.item.View.Class() }

// look reads the document that the item names, and computes the record after the item. It fails with problem.NotFound
// if the record is outside of the view, before or after.
func (s *step) look(ctx context.Context) error {
	s.effect, s.sets, s.stored = s.item.Effect(), bson.D{}, nil
	s.row = make(value.Row, len(s.class().Fields))
	if s.item.ID != nil {
		if err := s.find(ctx); err != nil {
			return err
		}
		if s.effect.Before.IsNull() {
			return s.item.NotFoundError()
		}
	}
	// A delete needs no record after the item.
	if s.item.Op == write.OpDelete {
		return nil
	}
	given := false
	item, _ := s.item.With(s.key)
	for _, set := range item.Sets {
		x, err := s.form(set)
		if err != nil {
			return err
		}
		if s.item.Op == write.OpCreate && set.Value.IsNull() {
			continue
		}
		given = given || set.Field.Name == "_id"
		s.sets = append(s.sets, bson.E{Key: set.Field.Name, Value: x})
	}
	if s.item.Op == write.OpCreate && !given {
		s.sets = append(bson.D{{Key: "_id", Value: s.id}}, s.sets...)
	}
	// The stored values must also be in the view when they are decoded as for an answer.
	doc, err := bson.Marshal(s.sets)
	if err != nil {
		return problem.New(problem.InvalidArgument, "the record is larger than a document can be (16 MB)")
	}
	s.row = s.withMembers(doc, s.row, nil)
	s.effect.After = s.visibleObject()
	if s.item.Op == write.OpCreate && !given {
		s.effect.After = without(s.effect.After, "_id") // it isn't known yet
	}
	if in, err := s.w.shows(ctx, s.item.View, s.row, s.item.SetsReference); err != nil || in {
		return err
	}
	return s.item.NotFoundError()
}

// key returns the key of the record that the n-th step creates. look must have run for that step.
func (s *step) key(n int) []value.Value {
	made := &s.all[n]
	id := make([]value.Value, len(made.class().Key))
	for i, name := range made.class().Key {
		id[i] = made.row[at(made.class(), name)]
	}
	return id
}

// withMembers returns row with the values of a document's members. names restricts it to some members, and nil means
// all.
func (s *step) withMembers(doc bson.Raw, row value.Row, names []string) value.Row {
	out := slices.Clone(row)
	for i, f := range s.class().Fields {
		if v, err := doc.LookupErr(f.Name); err == nil && (names == nil || slices.Contains(names, f.Name)) {
			out[i] = mongogen.DecodeBSON(v, f.Type)
		}
	}
	return out
}

// visibleObject returns the visible fields of the record as an Object.
func (s *step) visibleObject() value.Value {
	members := make([]value.Member, len(s.item.View.Fields()))
	for i, f := range s.item.View.Fields() {
		members[i] = value.Member{Name: f.Name, Value: s.row[at(s.class(), f.Name)]}
	}
	return value.OfObject(members)
}

// without returns an Object whose member called name is null.
func without(v value.Value, name string) value.Value {
	members := slices.Clone(v.Members())
	for i := range members {
		if members[i].Name == name {
			members[i].Value = value.Value{}
		}
	}
	return value.OfObject(members)
}

func at(c *schema.Class, field string) int {
	return slices.IndexFunc(c.Fields, func(f schema.Field) bool { return f.Name == field })
}

// shows reports whether a view contains a record of its class. row contains the values of all fields. If made reports
// true for a field, the field points to a record that the same change creates, which counts as a record in the view.
func (w *Writable) shows(ctx context.Context, v *policy.View, row value.Row, made func(field string) bool) (bool, error) {
	for _, l := range v.Layers() {
		holds := false
		var err error
		if l.Through != nil && made(l.Through.Field) {
			continue
		}
		if l.Through == nil {
			holds, err = interpret.Holds(ctx, l.Filter, v.Class(), row)
		} else if to := row[at(v.Class(), l.Through.Field)]; !to.IsNull() {
			holds, err = w.leads(ctx, l.Through, to)
		}
		if err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

// leads reports whether a pointer references a record in the view of a Through.
func (w *Writable) leads(ctx context.Context, t *policy.Through, to value.Value) (bool, error) {
	r := &reading{s: w.Source, budget: interpret.Budget{Rows: w.options.LocalRows}}
	r.writer = &mongogen.Writer{Level: w.level, Keys: func(t *policy.Through) (bson.A, error) { return r.keys(ctx, t) }}
	c, err := r.writer.KeysOf(t, []value.Value{to})
	if err != nil {
		return false, err
	}
	found := false
	err = w.aggregate(ctx, w.to.db, c, func(bson.Raw) error { found = true; return nil })
	return found, err
}

// form returns a value in the form that the document stores. Unchanged parts of a document or a list keep their type.
func (s *step) form(set writes.Set) (any, error) {
	wrong := func(format string, args ...any) error {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/data/" + set.Field.Name, Detail: fmt.Sprintf(format, args...)}
	}
	if !mongogen.Nameable(set.Field.Name) {
		return nil, wrong("%s can't be written: its name begins with $ or holds a dot", set.Field.Name)
	}
	was := bson.RawValue{}
	if s.stored != nil {
		was = s.stored.Lookup(set.Field.Name)
	}
	if k := set.Value.Kind(); k == value.Object || k == value.Array {
		x, bad := mongogen.MergeBSON(set.Value, was)
		if bad != "" {
			return nil, wrong("%s: %s", set.Field.Name, bad)
		}
		return x, nil
	}
	x, ok := mongogen.StoredBSON(set.Value, set.Field)
	if !ok {
		return nil, wrong("%s can't hold %s exactly", set.Field.Name, problem.Cut(set.Value.String()))
	}
	return x, nil
}

// unchangedFilter returns the condition that the fields that the item concerns haven't changed since the comparison.
func (s *step) unchangedFilter() bson.D {
	docs := bson.A{bson.D{{Key: "_id", Value: s.stored.Lookup("_id")}}}
	for _, name := range s.item.Concerned {
		if v, err := s.stored.LookupErr(name); name != "_id" && err == nil {
			docs = append(docs, bson.D{{Key: name, Value: bson.D{{Key: "$eq", Value: v}}}})
		} else if name != "_id" {
			docs = append(docs, bson.D{{Key: name, Value: bson.D{{Key: "$exists", Value: false}}}})
		}
	}
	return bson.D{{Key: "$and", Value: docs}}
}

// expectedState returns the expected record after the item, in the form for stands.
func (s *step) expectedState() ([]byte, error) {
	e := expected{Collection: s.class().Table, Gone: s.item.Op == write.OpDelete, Sums: map[string][]byte{}}
	doc, err := bson.Marshal(s.sets)
	if err != nil {
		return nil, err
	}
	if e.Key = bson.Raw(doc).Lookup("_id"); s.stored != nil {
		e.Key = s.stored.Lookup("_id")
	}
	elements, err := bson.Raw(doc).Elements()
	for _, m := range elements {
		e.Sums[m.Key()] = checksum(m.Value())
	}
	if err != nil {
		return nil, err
	}
	return bson.Marshal(e)
}

// An expected is the expected state of the record after a change of one record.
type expected struct {
	Collection string            `bson:"collection"`
	Key        bson.RawValue     `bson:"key"` // the _id
	Gone       bool              `bson:"gone"`
	Sums       map[string][]byte `bson:"sums"` // SHA-256 by member name
}

func checksum(v bson.RawValue) []byte {
	sum := sha256.Sum256(append([]byte{byte(v.Type)}, v.Value...))
	return sum[:]
}

// stands reports whether the record is in the expected state.
func (w *Writable) stands(ctx context.Context, doc []byte) (bool, error) {
	var e expected
	if err := bson.Unmarshal(doc, &e); err != nil {
		return false, err
	}
	members := bson.D{{Key: "_id", Value: int32(1)}}
	for name := range e.Sums {
		if name != "_id" {
			members = append(members, bson.E{Key: name, Value: int32(1)})
		}
	}
	found, err := w.to.db.Collection(e.Collection).FindOne(ctx, bson.D{{Key: "_id", Value: e.Key}}, options.FindOne().SetProjection(members)).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return e.Gone, nil
	}
	if err != nil || e.Gone {
		return false, err
	}
	for name, sum := range e.Sums {
		if v, err := found.LookupErr(name); err != nil || !bytes.Equal(checksum(v), sum) {
			return false, nil
		}
	}
	return true, nil
}

// clash returns the reason why a unique index rejects the item's write, or "" if none does.
func (s *step) clash(ctx context.Context) (string, error) {
	if s.item.Op == write.OpDelete {
		return "", nil
	}
	all, err := s.w.indexes(ctx, s.class().Table)
	if err != nil {
		return "", err
	}
	doc, err := bson.Marshal(s.sets)
	if err != nil {
		return "", err
	}
	for _, x := range all {
		names, more := x.leading()
		if more || !x.unique(names) {
			continue
		}
		// The values of the record after the write. A missing value counts as null, as in the index.
		is := bson.A{}
		stored, err := s.members(ctx, names)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			v, err := bson.Raw(doc).LookupErr(name)
			if err != nil && stored != nil {
				v, err = stored.LookupErr(name)
			}
			if err != nil {
				is = append(is, bson.D{{Key: name, Value: nil}})
			} else {
				is = append(is, bson.D{{Key: name, Value: bson.D{{Key: "$eq", Value: v}}}})
			}
		}
		if s.stored != nil {
			is = append(is, bson.D{{Key: "_id", Value: bson.D{{Key: "$ne", Value: s.stored.Lookup("_id")}}}})
		}
		err = s.w.to.db.Collection(s.class().Table).FindOne(ctx, bson.D{{Key: "$and", Value: is}}, options.FindOne().SetProjection(bson.D{{Key: "_id", Value: int32(1)}})).Err()
		if err == nil {
			return "another record has the same " + strings.Join(names, ", "), nil
		}
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return "", err
		}
	}
	return "", nil
}
