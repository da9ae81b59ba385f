package sqlite

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// typeNames maps types to the results of SQLite's typeof.
var typeNames = map[schema.Type]string{schema.Integer: "integer", schema.String: "text"}

// KeyOf implements sqlgen.Dialect. If a key is an expression, SQLite sorts it in addition to the columns that the
// expression reads. Records with equal values in a typed column have the same type. Texts never equal values of other
// types, and only an integer equals an integer there.
func (d dialect) KeyOf(x string, f *schema.Field) (by, show string) {
	switch {
	case !d.first || !hasOneType(f) || f.Type == schema.Bytes:
		return "", ""
	case strict(f):
		return x, "+" + x
	}
	return x, "CASE WHEN typeof(" + x + ") IN ('" + typeNames[f.Type] + "', 'null') THEN " + x + " ELSE " + call(fnDoubt, x) + " END"
}

// AccumulateOf implements sqlgen.Dialect. A filter of an aggregate costs less than a CASE inside it.
func (d dialect) AccumulateOf(op plan.Accumulate, x string, f *schema.Field) string {
	if !d.first || strict(f) || typeNames[f.Type] == "" || f.Unordered || f.Stored != nil {
		return ""
	}
	of := "(" + x + ") FILTER (WHERE typeof(" + x + ") = '" + typeNames[f.Type] + "')"
	switch {
	case op == plan.Sum && f.Type == schema.Integer:
		return "coalesce(sum" + of + ", 0)"
	case op == plan.Count:
		return "count" + of
	case op == plan.Min:
		return "min" + of
	case op == plan.Max:
		return "max" + of
	}
	return ""
}
