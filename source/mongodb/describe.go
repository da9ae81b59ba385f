package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// The limits of the sample of a collection.
const (
	sampled   = 1000     // random documents, or the first documents if the server can't choose randomly
	newest    = 100      // documents with the greatest _id
	maxFields = 500      // fields of a class. More names come from data
	lookBytes = 64 << 20 // bytes of a sample
)

// Describe implements source.Source. The fields of a collection are the fields of its validator ($jsonSchema), then
// the fields of a limited sample. Any other field is missing until it is declared.
func (s *Source) Describe(ctx context.Context) (classes []schema.Class, warnings []string, err error) {
	err = s.with(ctx, func(in *Source) error {
		classes, warnings, err = in.classes(ctx)
		return err
	})
	return classes, warnings, err
}

// classes describes the collections with one client.
func (s *Source) classes(ctx context.Context) ([]schema.Class, []string, error) {
	all, err := s.collections(ctx)
	if err != nil {
		return nil, nil, refuse(ctx, err)
	}
	var classes []schema.Class
	var warnings []string
	for _, c := range all {
		name, _ := s.choice.Of("", c.Name)
		if name == "" || strings.HasPrefix(c.Name, "$") || strings.ContainsRune(c.Name, 0) {
			continue
		}
		class, more, err := s.class(ctx, c)
		if ctx.Err() == nil && lasting(err) {
			warnings = append(warnings, fmt.Sprintf("collection %q left out: %s", c.Name, problem.Of(refuse(ctx, err)).Err))
			continue
		}
		if err != nil {
			return nil, nil, refuse(ctx, err)
		}
		if class.Name == c.Name {
			class.Name = name
		}
		if slices.ContainsFunc(classes, func(o schema.Class) bool { return o.Name == class.Name }) {
			more = append(more, fmt.Sprintf("collection %q left out: another one is the class %q. Change the key rename", c.Name, class.Name))
		} else {
			classes = append(classes, class)
		}
		warnings = append(warnings, more...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.options.Collections)) {
		if !slices.ContainsFunc(all, func(c found) bool { return c.Name == name }) {
			warnings = append(warnings, fmt.Sprintf("collections names %s, which the database doesn't have", name))
		}
	}
	slices.SortFunc(classes, func(a, b schema.Class) int { return strings.Compare(a.Name, b.Name) })
	return classes, warnings, nil
}

// Choose implements source.Chooser.
func (s *Source) Choose(choice schema.Choice) { s.choice = choice }

// class describes one collection.
func (s *Source) class(ctx context.Context, c found) (schema.Class, []string, error) {
	class := schema.Class{Source: s.options.Name, Name: c.Name, Table: c.Name, View: c.Type == "view"}
	indexes, err := []index(nil), error(nil)
	if !class.View {
		if indexes, err = s.indexes(ctx, c.Name); err != nil {
			return class, nil, err
		}
	}
	look := &sample{name: c.Name, met: map[string]bool{}}
	if d, ok := s.options.Declared[c.Name]; ok {
		class.Fields, class.Relations, class.Description = d.Fields, d.Relations, d.Description
		class.Name = cmp.Or(d.Name, class.Name)
		class.Key = d.Key
		if !slices.Equal(d.Key, []string{"_id"}) && !slices.ContainsFunc(indexes, func(x index) bool { return x.unique(d.Key) }) {
			class.Key = nil
		}
	} else {
		closed := look.validator(c.Options.Validator.Schema)
		if !closed {
			if err := s.look(ctx, c.Name, look); err != nil {
				return class, nil, err
			}
		}
		for name, t := range s.options.Collections[c.Name].Fields {
			look.field(name).bound = []string{t}
		}
		class.Fields = look.fields()
		if f := class.Field("_id"); f != nil && !f.Type.IsStructured() && f.Type != schema.Any && f.Type != schema.Opaque {
			class.Key = []string{"_id"}
		}
	}
	for _, x := range indexes {
		x.describe(&class)
	}
	c.trace(&class)
	return class, append(look.warnings, s.setSearchIndex(&class)...), nil
}

// look reads a limited sample of a collection.
func (s *Source) look(ctx context.Context, name string, into *sample) error {
	some := bson.A{bson.D{{Key: "$limit", Value: int64(sampled)}}}
	if s.level == mongogen.MongoDB {
		some = bson.A{bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: int64(sampled)}}}}}
	}
	last := bson.A{bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: int32(-1)}}}}, bson.D{{Key: "$limit", Value: int64(newest)}}}
	for _, stages := range []bson.A{some, last} {
		left := lookBytes
		err := s.aggregate(ctx, s.pool.db, mongogen.Command{Collection: name, Pipeline: stages}, func(doc bson.Raw) error {
			if left -= len(doc); left < 0 {
				return errLooked
			}
			return into.document(doc)
		})
		if err != nil && !errors.Is(err, errLooked) {
			return err
		}
	}
	return nil
}

// errLooked ends a sample that is large enough.
var errLooked = errors.New("mongodb: the sample is large enough")

// A sample contains the known facts about the fields of a collection.
type sample struct {
	name     string
	order    []string // the names in the order of their first occurrence
	known    map[string]*seen
	dropped  map[string]bool // names that no field can have
	met      map[string]bool // the _id of each document, as bytes
	warnings []string
}

// seen contains the types of a field in the sample, and the facts of the validator about it.
type seen struct {
	schema.Field
	types map[string]int
	bound []string // types in the validator
}

// field returns the known facts about a field. It adds the field if it is new.
func (s *sample) field(name string) *seen {
	if s.known == nil {
		s.known, s.dropped = map[string]*seen{}, map[string]bool{}
	}
	f := s.known[name]
	if f == nil {
		f = &seen{Field: schema.Field{Name: name}, types: map[string]int{}}
		s.known[name] = f
		s.order = append(s.order, name)
	}
	return f
}

// document records the fields and types of a document, once per _id. It records names that no field can have, such as
// names with a dot, separately.
func (s *sample) document(doc bson.Raw) error {
	elements, err := doc.Elements()
	if err != nil {
		return nil // an invalid document has no fields
	}
	if id, err := doc.LookupErr("_id"); err == nil {
		key := string(id.Type) + string(id.Value)
		if s.met[key] {
			return nil // it was in the first part of the sample
		}
		s.met[key] = true
	}
	for _, e := range elements {
		name := e.Key()
		if name == "" || strings.HasPrefix(name, "$") || strings.ContainsAny(name, ".\x00") || len(name) > 128 || strings.ToValidUTF8(name, "") != name {
			s.field("_id")
			s.dropped[name] = true
			continue
		}
		s.field(name).types[native(e.Value())]++
	}
	return nil
}

// validator reads the fields of a $jsonSchema, and reports whether documents can't have other fields.
func (s *sample) validator(v bson.Raw) bool {
	properties, ok := v.Lookup("properties").DocumentOK()
	if !ok {
		return false
	}
	required := names(v.Lookup("required"))
	elements, _ := properties.Elements()
	for _, e := range elements {
		p, ok := e.Value().DocumentOK()
		if !ok || strings.HasPrefix(e.Key(), "$") || strings.ContainsAny(e.Key(), ".\x00") || e.Key() == "" {
			continue
		}
		f := s.field(e.Key())
		f.bound = names(p.Lookup("bsonType"))
		if f.bound == nil {
			f.bound = jsonTypes(names(p.Lookup("type")))
		}
		f.Description, _ = p.Lookup("description").StringValueOK()
		f.NotNull = f.bound != nil && slices.Contains(required, f.Name) && !slices.Contains(f.bound, "null")
		f.Required = f.NotNull && f.Name != "_id"
	}
	more, is := v.Lookup("additionalProperties").BooleanOK()
	if closed := is && !more; !closed {
		return false
	}
	id := s.field("_id")
	if id.bound == nil {
		id.bound = []string{"objectId"}
	}
	return true
}

// names returns the texts of a list. It returns a single text as a list.
func names(v bson.RawValue) []string {
	if one, ok := v.StringValueOK(); ok {
		return []string{one}
	}
	list, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	var out []string
	values, _ := list.Values()
	for _, v := range values {
		if one, ok := v.StringValueOK(); ok {
			out = append(out, one)
		}
	}
	return out
}

// jsonTypes returns the BSON types of types of JSON Schema.
func jsonTypes(types []string) []string {
	of := map[string][]string{"boolean": {"bool"}, "number": {"double"}, "integer": {"long"}, "string": {"string"}, "object": {"object"}, "array": {"array"}, "null": {"null"}}
	var out []string
	for _, t := range types {
		out = append(out, of[t]...)
	}
	return out
}

// fields returns the fields. The first is _id.
func (s *sample) fields() []schema.Field {
	s.field("_id")
	s.order = append([]string{"_id"}, slices.DeleteFunc(s.order, func(n string) bool { return n == "_id" })...)
	if len(s.order) > maxFields {
		s.warnings = append(s.warnings, fmt.Sprintf("%s: %d names of fields were found. The first %d are described. Declare the fields that are meant", s.name, len(s.order), maxFields))
		s.order = s.order[:maxFields]
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range s.dropped {
			if !yield(n) {
				return
			}
		}
	}) {
		s.warnings = append(s.warnings, fmt.Sprintf("%s: documents have members called %q, which can't be a field. They are left out", s.name, name))
	}
	out := make([]schema.Field, len(s.order))
	for i, name := range s.order {
		f := s.known[name]
		// The validator's types take precedence over the types in the sample, which may be incomplete.
		types := f.bound
		if types == nil {
			for t := range f.types {
				types = append(types, t)
			}
		}
		types = slices.DeleteFunc(slices.Sorted(slices.Values(types)), func(t string) bool { return t == "null" })
		all := types
		if f.bound == nil && name != "_id" { // a stray key must be found as well
			types, f.Strays, f.Looked = f.usual(types)
		}
		f.Type, f.Native = typeOf(types), strings.Join(types, "|")
		types = all
		if name == "_id" { // the server generates only ObjectIds
			f.NotNull, f.Generated = true, len(types) == 0 || slices.Contains(types, mongogen.ObjectID)
			f.Required = !f.Generated
		}
		if len(types) > 1 && f.bound == nil {
			var mixed []string
			for _, t := range types {
				mixed = append(mixed, fmt.Sprintf("%s %d times", t, f.types[t]))
			}
			warning := fmt.Sprintf("%s.%s: the sample has values of several types (%s). It is described as %s", s.name, name, strings.Join(mixed, ", "), f.Type)
			if f.Type == schema.Any {
				warning += ", whose dates and numbers are not found by texts. collections." + s.name + ".fields can declare one type"
			}
			s.warnings = append(s.warnings, warning)
		}
		out[i] = f.Field
	}
	return out
}

// usual returns the BSON types that form one type of a field, if at least nine of ten values have that type. It also
// returns the number of other values and the number of all values. So one bad value doesn't change the type of the
// field. Otherwise it returns all types.
func (f *seen) usual(types []string) (of []string, strays, looked int) {
	count := map[schema.Type]int{}
	for _, t := range types {
		count[family(t)] += f.types[t]
		looked += f.types[t]
	}
	for is, n := range count {
		if strays = looked - n; strays == 0 || strays*10 > looked || is.IsStructured() || is == schema.Opaque {
			continue
		}
		return slices.DeleteFunc(slices.Clone(types), func(t string) bool { return family(t) != is }), strays, looked
	}
	return types, 0, 0
}

// family returns the type of a field for one BSON type. It returns the same type for all numbers.
func family(t string) schema.Type {
	of, ok := fieldTypes[t]
	switch {
	case !ok:
		return schema.Opaque
	case of == schema.Integer || of == schema.Decimal:
		return schema.Double
	}
	return of
}

// fieldTypes maps each BSON type to the type of a field with only such values.
var fieldTypes = map[string]schema.Type{"double": schema.Double, "string": schema.String, "object": schema.JSON, "array": schema.Array,
	"binData": schema.Bytes, "uuid": schema.UUID, "objectId": schema.String, "bool": schema.Boolean, "date": schema.Date, "int": schema.Integer,
	"long": schema.Integer, "decimal": schema.Decimal, "number": schema.Double}

// typeOf returns the type of a field whose values have several BSON types.
func typeOf(types []string) schema.Type {
	var of []schema.Type
	for _, name := range types {
		t, ok := fieldTypes[name]
		if !ok {
			t = schema.Opaque
		}
		if !slices.Contains(of, t) {
			of = append(of, t)
		}
	}
	numeric := []schema.Type{schema.Integer, schema.Double, schema.Decimal}
	only := func(ts ...schema.Type) bool {
		return !slices.ContainsFunc(of, func(t schema.Type) bool { return !slices.Contains(ts, t) })
	}
	switch {
	case len(of) == 0:
		return schema.Any
	case len(of) == 1:
		return of[0]
	case only(numeric...) && slices.Contains(of, schema.Decimal):
		return schema.Decimal
	case only(numeric...):
		return schema.Double
	case slices.Contains(of, schema.Opaque):
		return schema.Opaque
	case slices.Contains(of, schema.JSON) || slices.Contains(of, schema.Array):
		return schema.JSON
	}
	return schema.Any
}

// native returns the name of a BSON type, as in $type. UUIDs count as a separate type.
func native(v bson.RawValue) string {
	if kind, data, ok := v.BinaryOK(); ok && kind == 4 && len(data) == 16 {
		return "uuid"
	}
	of := map[bson.Type]string{bson.TypeDouble: "double", bson.TypeString: "string", bson.TypeEmbeddedDocument: "object", bson.TypeArray: "array",
		bson.TypeBinary: "binData", bson.TypeObjectID: "objectId", bson.TypeBoolean: "bool", bson.TypeDateTime: "date", bson.TypeNull: "null",
		bson.TypeUndefined: "null", bson.TypeInt32: "int", bson.TypeInt64: "long", bson.TypeDecimal128: "decimal", bson.TypeTimestamp: "timestamp",
		bson.TypeRegex: "regex", bson.TypeJavaScript: "javascript", bson.TypeSymbol: "symbol"}
	if name, ok := of[v.Type]; ok {
		return name
	}
	return "other"
}
