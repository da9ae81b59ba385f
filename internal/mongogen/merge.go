package mongogen

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// MergeBSON returns an object or a list as BSON. was is the field's old value, or the zero RawValue. JSON shows dates,
// ids and decimals as text. A part of v that equals the value at the same place in was keeps its BSON type. If the
// value can't be stored, bad is the reason, otherwise "".
func MergeBSON(v value.Value, was bson.RawValue) (out any, bad string) { return mergeValue(v, was, 1) }

// mergeValue returns v as BSON. Unchanged parts of was, the stored value, keep their types, such as ObjectIDs and
// dates, which are texts in v. If v can't be stored, the text is the reason, otherwise "".
func mergeValue(v value.Value, was bson.RawValue, depth int) (any, string) {
	if was.Type != 0 && value.Equal(DecodeBSON(was, schema.JSON), v) {
		return was, ""
	}
	if depth >= maxDepth {
		return nil, fmt.Sprintf("it nests deeper than %d levels", maxDepth)
	}
	switch v.Kind() {
	case value.Array:
		return mergedList(v, was, depth)
	case value.Object:
		old, _ := was.DocumentOK()
		out := make(bson.D, len(v.Members()))
		for i, m := range v.Members() {
			before, err := old.LookupErr(m.Name)
			if err != nil && (m.Name == "" || strings.HasPrefix(m.Name, "$") || strings.ContainsAny(m.Name, ".\x00")) {
				return nil, fmt.Sprintf("a member can't be called %q: a name is not empty, doesn't begin with $ and holds no dot", problem.Cut(m.Name))
			}
			inner, bad := mergeValue(m.Value, before, depth+1)
			if bad != "" {
				return nil, bad
			}
			out[i] = bson.E{Key: m.Name, Value: inner}
		}
		return out, ""
	}
	x, ok := nestedBSON(v)
	if !ok {
		return nil, fmt.Sprintf("%s has no exact form in BSON", problem.Cut(v.String()))
	}
	return x, ""
}

// mergedList is mergeValue for a list. Elements are matched by position.
func mergedList(v value.Value, was bson.RawValue, depth int) (any, string) {
	var old []bson.RawValue
	if list, ok := was.ArrayOK(); ok {
		old, _ = list.Values()
	}
	out := make(bson.A, len(v.List()))
	for i, e := range v.List() {
		var before bson.RawValue
		if i < len(old) {
			before = old[i]
		}
		var bad string
		if out[i], bad = mergeValue(e, before, depth+1); bad != "" {
			return nil, bad
		}
	}
	return out, ""
}
