package mongogen

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A cond is a filter in the query language of MongoDB. It matches every record for which the original filter holds. If
// exact is set, it matches no other records. A nil doc matches all records.
type cond struct {
	doc   bson.D
	exact bool
}

var (
	anything = cond{}                                                                                     // a condition that can't be written
	always   = cond{exact: true}                                                                          // no condition
	never    = cond{doc: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{}}}}}, exact: true} // no record
)

// columns returns the name of the member for a column and the field that describes its values. key is the key of the
// column. The name is "" if there is no such column.
type columns func(key string) (name string, f *schema.Field)

// A matcher writes filters in MongoDB's query language.
type matcher struct {
	level   Level
	columns columns
}

// match writes a filter. The result is exact only for conditions with the same meaning. A comparison with a part of
// JSON isn't exact if a stored value without a JSON type may satisfy it in another way.
func (m matcher) match(f query.Filter) cond {
	switch f := f.(type) {
	case nil:
		return always
	case query.And:
		return m.all(f)
	case query.Or:
		return m.some(f)
	case query.Not:
		return m.not(f.Part)
	case query.Never:
		return never
	case query.Compare:
		return m.compare(f)
	case query.In:
		if f.Not {
			f.Not = false
			return m.not(f)
		}
		return m.in(f)
	case query.Exists:
		return m.exists(f)
	case query.ElemMatch:
		return m.element(f)
	case query.StartsWith:
		return m.startsWith(f)
	case query.Regex:
		return m.regex(f)
	}
	return anything
}

// all combines conditions that must all hold.
func (m matcher) all(parts []query.Filter) cond {
	out := always
	var docs bson.A
	for _, p := range parts {
		c := m.match(p)
		out.exact = out.exact && c.exact
		if c.doc != nil {
			docs = append(docs, c.doc)
		}
	}
	switch len(docs) {
	case 0:
	case 1:
		out.doc = docs[0].(bson.D)
	default:
		out.doc = bson.D{{Key: "$and", Value: docs}}
	}
	return out
}

// some joins parts with OR. If one part can't be written, the result matches all records and isn't exact.
func (m matcher) some(parts []query.Filter) cond {
	out := always
	var docs bson.A
	for _, p := range parts {
		c := m.match(p)
		out.exact = out.exact && c.exact
		if c.doc == nil {
			return cond{exact: c.exact} // exact for a part that matches all records, otherwise the part is unknown
		}
		docs = append(docs, c.doc)
	}
	out.doc = bson.D{{Key: "$or", Value: docs}}
	return out
}

// not returns a condition for records that don't satisfy part. Only an exact condition can be negated, because an
// inexact one matches too many records.
func (m matcher) not(part query.Filter) cond {
	c := m.match(part)
	switch {
	case !c.exact:
		return anything
	case c.doc == nil:
		return never
	}
	return cond{doc: bson.D{{Key: "$nor", Value: bson.A{c.doc}}}, exact: true}
}

// A spot is the place to which a condition applies.
type spot struct {
	name   string // dotted
	field  *schema.Field
	inside bool // a part of JSON, or an element of a list
}

// withoutLists adds a condition to c if the whole value is compared (see query.Whole). Then neither the value at the
// spot nor a value on its path may be a list. This is needed because MongoDB's query language searches every list, and
// a document may have a list in a field of any type.
func (s spot) withoutLists(whole bool, c cond) cond {
	if !whole || c.doc == nil || s.name == "_id" { // an _id is never a list
		return c
	}
	docs := bson.A{c.doc}
	for i, r := range s.name + "." {
		if r == '.' {
			docs = append(docs, noList(s.name[:i]))
		}
	}
	c.doc = bson.D{{Key: "$and", Value: docs}}
	return c
}

// noList writes the condition that a value isn't a list with elements: it has no first element. FerretDB doesn't find
// lists by $type.
func noList(name string) bson.D {
	return bson.D{{Key: name + ".0", Value: bson.D{{Key: "$exists", Value: false}}}}
}

// at returns the spot of a path. It returns false if the query language follows the path differently: by positions in
// lists, not only by names.
func (m matcher) at(path query.Path) (spot, bool) {
	if len(path) == 0 {
		return spot{}, false
	}
	name, f := m.columns(path[0])
	if name == "" {
		return spot{}, false
	}
	for _, part := range path[1:] {
		if !Nameable(part) || numeric(part) {
			return spot{}, false
		}
		name += "." + part
	}
	return spot{name, f, f.Type.IsStructured()}, true
}

func numeric(name string) bool {
	_, err := strconv.ParseUint(name, 10, 64)
	return err == nil
}

// compare returns the condition of a comparison. It uses in for equality, not for inequality, and rangeCond for an
// order.
func (m matcher) compare(f query.Compare) cond {
	switch {
	case f.Op == query.Ne:
		f.Op = query.Eq
		return m.not(f)
	case f.Op == query.Eq:
		return m.in(query.In{Path: f.Path, Values: []value.Value{f.Value}, Whole: f.Whole})
	}
	s, ok := m.at(f.Path)
	if !ok || f.Value.IsNull() {
		return anything
	}
	return s.withoutLists(f.Whole, m.rangeCond(s, f.Op, f.Value))
}

var rangeOps = map[query.Op]string{query.Gt: "$gt", query.Gte: "$gte", query.Lt: "$lt", query.Lte: "$lte"}

// rangeCond writes a comparison by order.
func (m matcher) rangeCond(s spot, op query.Op, v value.Value) cond {
	x, ok := scalar(v, s.field.Type, m.level == MongoDB)
	if !ok || v.Kind() == value.Bytes || !s.inside && v.Kind() == value.String && s.field.Type == schema.String && !plainText(s.field) {
		return anything
	}
	if f, is := x.(float64); is && math.IsNaN(f) {
		return anything
	}
	doc := bson.D{{Key: s.name, Value: bson.D{{Key: rangeOps[op], Value: x}}}}
	switch {
	case s.inside && v.Kind() == value.String: // JSON shows dates and ids as text
		special := bson.D{{Key: s.name, Value: bson.D{{Key: "$type", Value: bson.A{"date", "objectId", "binData", "timestamp", "regex", "double", "decimal"}}}}}
		if m.level == FerretDB {
			return anything // it doesn't search lists by type
		}
		return cond{doc: bson.D{{Key: "$or", Value: bson.A{doc, special}}}}
	case s.inside:
		return cond{doc: doc} // JSON shows an infinity as text
	case s.field.Type == schema.Any:
		return cond{doc: doc}
	}
	return cond{doc: doc, exact: true}
}

// plainText reports whether the texts of a field are stored as strings.
func plainText(f *schema.Field) bool { return !bsonHolds(f, ObjectID) }

// in writes the condition that a value, or an element of a list, equals one of several values.
func (m matcher) in(f query.In) cond {
	s, ok := m.at(f.Path)
	if !ok {
		return anything
	}
	list := bson.A{}
	for _, v := range f.Values {
		xs, ok := m.equals(s, v)
		if !ok || v.IsNull() && strings.Contains(s.name, ".") {
			return anything
		}
		list = append(list, xs...)
	}
	if len(list) == 1 {
		return s.withoutLists(f.Whole, cond{doc: bson.D{{Key: s.name, Value: bson.D{{Key: "$eq", Value: list[0]}}}}, exact: true})
	}
	return s.withoutLists(f.Whole, cond{doc: bson.D{{Key: s.name, Value: bson.D{{Key: "$in", Value: list}}}}, exact: true})
}

// element writes the condition that a whole element of a list equals one of several values. Other conditions on
// elements aren't written.
func (m matcher) element(f query.ElemMatch) cond {
	s, ok := m.at(f.Path)
	in, is := f.Match.(query.In)
	if c, one := f.Match.(query.Compare); one && c.Op == query.Eq {
		in, is = query.In{Path: c.Path, Values: []value.Value{c.Value}, Whole: c.Whole}, true
	}
	if !ok || !s.inside || !is || in.Not || !in.Whole || len(in.Path) > 0 {
		return anything
	}
	list := bson.A{}
	for _, v := range in.Values {
		xs, ok := m.equals(s, v)
		if !ok || v.IsNull() {
			return anything
		}
		list = append(list, xs...)
	}
	return cond{doc: bson.D{{Key: s.name, Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: "$in", Value: list}}}}}}, exact: true}
}

// equals returns the stored values that equal v.
func (m matcher) equals(s spot, v value.Value) ([]any, bool) {
	switch {
	case v.IsNull():
		return []any{nil}, true
	case v.Kind() == value.Array || v.Kind() == value.Object:
		return nil, false // the order of members matters in MongoDB
	case v.Kind() == value.Bytes:
		return nil, false // the subtype of the stored bytes is unknown
	case s.inside && v.Kind() == value.String:
		if _, err := strconv.ParseFloat(v.Text(), 64); err == nil && !finite(v.Text()) {
			return nil, false // JSON shows infinities and NaN as text
		}
		return texts(v.Text()), true
	case v.Kind() == value.String && s.field.Type == schema.Any:
		return nil, false
	case v.Kind() == value.String && bsonHolds(s.field, ObjectID):
		if id, ok := oid(v.Text()); ok && s.field.Native == ObjectID {
			return []any{id}, true
		} else if ok {
			return []any{id, v.Text()}, true
		}
		return []any{v.Text()}, true
	case v.IsNumber() && (s.inside || s.field.Type == schema.Double):
		if x, ok := v.AsFloat(); !ok || math.Abs(x) >= 1<<53 {
			return nil, false // doubles are compared by their decimal form
		}
	}
	x, ok := scalar(v, s.field.Type, m.level == MongoDB)
	if f, is := x.(float64); is && math.IsNaN(f) {
		return nil, false
	}
	return []any{x}, ok
}

func finite(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	return err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// exists writes the condition that a value isn't null. For a whole value it can't use $ne, which also tests the
// elements of a list.
func (m matcher) exists(f query.Exists) cond {
	s, ok := m.at(f.Path)
	if !ok || s.inside {
		return anything
	}
	isNull := s.withoutLists(f.Whole, cond{doc: bson.D{{Key: s.name, Value: bson.D{{Key: "$eq", Value: nil}}}}, exact: true})
	switch {
	case !f.Want:
		return isNull
	case f.Whole:
		return cond{doc: bson.D{{Key: "$nor", Value: bson.A{isNull.doc}}}, exact: true}
	}
	return cond{doc: bson.D{{Key: s.name, Value: bson.D{{Key: "$ne", Value: nil}}}}, exact: true}
}

// startsWith writes a regular expression without options, for which an index can be used.
func (m matcher) startsWith(f query.StartsWith) cond {
	s, ok := m.at(f.Path)
	if !ok || s.inside || s.field.Type != schema.String || !plainText(s.field) || !portable(f.Prefix) {
		return anything
	}
	return s.withoutLists(f.Whole, cond{doc: bson.D{{Key: s.name, Value: bson.D{{Key: "$regex", Value: "^" + regexp.QuoteMeta(f.Prefix)}}}}, exact: true})
}

// portable reports whether a text, with its special characters quoted, matches only itself in regular expressions of
// every kind.
func portable(text string) bool {
	return !slices.ContainsFunc([]rune(text), func(r rune) bool { return r < ' ' || r > 0xFFFF || r == '\uFFFD' })
}

// regex writes a regular expression for FerretDB, whose regular expressions are the same as ours. MongoDB's are
// different.
func (m matcher) regex(f query.Regex) cond {
	s, ok := m.at(f.Path)
	if !ok || s.inside || m.level != FerretDB || s.field.Type != schema.String || !plainText(s.field) {
		return anything
	}
	return s.withoutLists(f.Whole, cond{doc: bson.D{{Key: s.name, Value: bson.D{{Key: "$regex", Value: f.Expression()}}}}, exact: true})
}
