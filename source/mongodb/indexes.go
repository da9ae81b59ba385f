package mongodb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// An index is one index of a collection.
type index struct {
	Name    string   `bson:"name"`
	Key     bson.D   `bson:"key"`
	Unique  bool     `bson:"unique"`
	Sparse  bool     `bson:"sparse"`
	Hidden  bool     `bson:"hidden"`
	Partial bson.Raw `bson:"partialFilterExpression"`
	Weights bson.D   `bson:"weights"`
}

func (s *Source) indexes(ctx context.Context, collection string) ([]index, error) {
	cursor, err := s.pool.db.RunCommandCursor(ctx, bson.D{{Key: "listIndexes", Value: collection}})
	if err != nil {
		return nil, err
	}
	var out []index
	return out, cursor.All(ctx, &out)
}

// unique reports whether the index guarantees that no two records have the same values of fields.
func (x *index) unique(fields []string) bool {
	names, more := x.leading()
	return len(fields) > 0 && !more && (x.Unique || x.Name == "_id_") && !x.Sparse && x.Partial == nil && slices.Equal(names, fields)
}

// leading returns the fields by which an index is ordered, up to the first field of another kind.
func (x *index) leading() (fields []string, more bool) {
	for _, k := range x.Key {
		switch v := k.Value.(type) {
		case int32, int64, float64:
			if !strings.Contains(k.Key, ".") {
				fields = append(fields, k.Key)
				continue
			}
		default:
			_ = v
		}
		return fields, true
	}
	return fields, x.Partial != nil
}

// describe adds the index to a class.
func (x *index) describe(c *schema.Class) {
	if x.Hidden {
		return
	}
	if len(x.Weights) > 0 {
		var in []string
		for _, w := range x.Weights {
			if f := c.Field(w.Key); f == nil || f.Type != schema.String {
				return // it searches parts of documents, or fields of any type
			}
			in = append(in, w.Key)
		}
		slices.Sort(in)
		c.Text = append(c.Text, schema.TextIndex{Name: x.Name, Fields: in, Column: in[0]})
		return
	}
	fields, more := x.leading()
	if len(fields) > 0 {
		c.Indexes = append(c.Indexes, schema.Index{Name: x.Name, Fields: fields, More: more, Unique: x.unique(fields)})
	}
}

// setSearchIndex replaces the text indexes of a class by its declared index of Atlas Search, because only one can
// begin an aggregation. It returns warnings about fields that aren't texts.
func (s *Source) setSearchIndex(class *schema.Class) (warnings []string) {
	declared := s.options.Collections[class.Table]
	if declared.Index == "" {
		return nil
	}
	x := schema.TextIndex{Name: declared.Index, Config: mongogen.Atlas}
	for _, name := range declared.Search {
		if f := class.Field(name); f != nil && f.Type == schema.String && f.Native == "string" {
			x.Fields = append(x.Fields, name)
		} else {
			warnings = append(warnings, fmt.Sprintf("%s: search names %s, which is no field of strings", class.Name, name))
		}
	}
	if class.Text = nil; x.Fields != nil && s.level == mongogen.MongoDB {
		class.Text = []schema.TextIndex{x}
	}
	return warnings
}
