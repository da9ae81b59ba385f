package parse

import (
	"math"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// mostEqual is the maximum number of values of a list that are sent.
const mostEqual = 100

// A condition is a where object of the REST API that includes every record that matches a filter. If it is exact, it
// includes no other record, regardless of Parse Server's database. A null where includes all records.
type condition struct {
	where value.Value
	exact bool
}

// all is the condition of every record, and none the condition of no record.
var (
	all  = condition{exact: true}
	none = condition{where: restObject("objectId", restObject("$exists", value.OfBool(false))), exact: true}
)

// condition translates a filter over records of c. It omits operators for which Parse Server's databases differ from
// each other or from the query language. These are orders of texts, $nin and $not with nulls, lists, and parts of
// objects.
func (c *class) condition(f query.Filter, trusted bool) condition {
	switch f := f.(type) {
	case nil:
		return all
	case query.Never:
		return none
	case query.And:
		return c.and(f, trusted)
	case query.Or:
		return c.or(f, trusted)
	case query.Not:
		if _, never := f.Part.(query.Never); never {
			return all
		}
	case query.Exists:
		return c.exists(f, trusted)
	case query.In:
		return c.in(f, trusted)
	case query.Compare:
		return c.compare(f)
	}
	return condition{}
}

// whole reports whether a path is a single field whose values the REST API compares like the query language.
func (c *class) whole(path query.Path) bool {
	if len(path) != 1 {
		return false
	}
	f := c.Field(path[0])
	return f != nil && f.Stored == nil && !slices.Contains(c.partly, f.Name) && (f.Type == schema.String || f.Type == schema.Double || f.Type == schema.Boolean || f.Type == schema.Date)
}

// and returns the condition of all parts. Parts that can't be sent are omitted, and then the condition isn't exact.
func (c *class) and(parts query.And, trusted bool) condition {
	out := condition{exact: true}
	var sent []value.Value
	for _, p := range parts {
		part := c.condition(p, trusted)
		out.exact = out.exact && part.exact
		if !part.where.IsNull() {
			sent = append(sent, part.where)
		}
	}
	out.where = joinConditions("$and", sent)
	return out
}

// or returns the condition that at least one of parts holds. If one part can't be sent, the condition includes all
// records, because otherwise records of that part would be missing.
func (c *class) or(parts query.Or, trusted bool) condition {
	out := condition{exact: true}
	var sent []value.Value
	for _, p := range parts {
		part := c.condition(p, trusted)
		if part.where.IsNull() {
			return condition{exact: part.exact} // the part is true for all records, or can't be sent
		}
		out.exact = out.exact && part.exact
		sent = append(sent, part.where)
	}
	out.where = joinConditions("$or", sent)
	return out
}

// joinConditions joins conditions with an operator. It returns null if there are none.
func joinConditions(op string, conditions []value.Value) value.Value {
	switch len(conditions) {
	case 0:
		return value.Value{}
	case 1:
		return conditions[0]
	}
	return restObject(op, value.OfArray(conditions))
}

func (c *class) exists(f query.Exists, trusted bool) condition {
	if !c.whole(f.Path) && (len(f.Path) != 1 || f.Path[0] != readers || !trusted) {
		return condition{}
	}
	if f.Want {
		return condition{restObject(f.Path[0], restObject("$ne", value.Value{})), true}
	}
	return condition{restObject(f.Path[0], value.Value{}), true}
}

// in returns the condition of an In. It compares with each value, up to mostEqual, and joins the comparisons with OR
// or, if negated, with AND. The gateway evaluates a longer list, and a path into a field.
func (c *class) in(f query.In, trusted bool) condition {
	if len(f.Path) == 1 && f.Path[0] == readers && trusted && !f.Not {
		return condition{restObject(readers, restObject("$in", value.OfArray(f.Values))), true}
	}
	if !c.whole(f.Path) || len(f.Values) > mostEqual {
		return condition{}
	}
	parts := make([]query.Filter, len(f.Values))
	for i, v := range f.Values {
		parts[i] = query.Compare{Path: f.Path, Op: query.Eq, Value: v}
		if f.Not {
			parts[i] = query.Compare{Path: f.Path, Op: query.Ne, Value: v}
		}
	}
	switch {
	case len(parts) == 0 && f.Not:
		return all
	case len(parts) == 0:
		return none
	case f.Not:
		return c.and(parts, trusted)
	}
	return c.or(parts, trusted)
}

// compare returns the condition of a comparison. Only orders of numbers and dates are sent, since Parse Server's
// databases order other types differently. An equality of dates is sent as two bounds.
func (c *class) compare(f query.Compare) condition {
	if !c.whole(f.Path) {
		return condition{}
	}
	name := f.Path[0]
	field := c.Field(name)
	if f.Value.IsNull() {
		switch f.Op {
		case query.Eq:
			return condition{restObject(name, value.Value{}), true}
		case query.Ne:
			return condition{restObject(name, restObject("$ne", value.Value{})), true}
		}
		return condition{}
	}
	v, ok := c.operand(field, f.Value)
	if !ok {
		return condition{}
	}
	// Depending on an option of Parse Server, these are compared without regard to case.
	exact := c.Name != "_User" || name != "username" && name != "email"
	switch {
	case f.Op == query.Eq && field.Type == schema.Date:
		return condition{restObject(name, value.OfObject([]value.Member{{Name: "$gte", Value: v}, {Name: "$lte", Value: v}})), true}
	case f.Op == query.Eq:
		return condition{restObject(name, v), exact}
	case f.Op == query.Ne && field.Type != schema.Date && exact:
		return condition{restObject(name, restObject("$ne", v)), true}
	case f.Op != query.Ne && (field.Type == schema.Double || field.Type == schema.Date):
		return condition{restObject(name, restObject(f.Op.String(), v)), true}
	}
	return condition{}
}

// operand returns the value to compare a field with. It returns false if the REST API can't represent it exactly.
func (c *class) operand(f *schema.Field, v value.Value) (value.Value, bool) {
	switch f.Type {
	case schema.String:
		if v.Kind() != value.String || strings.ContainsRune(v.Text(), 0) {
			return v, false
		}
		if c.types[f.Name] == "Pointer" {
			return restPointer(c.target(f.Name), v.Text()), true
		}
		return v, true
	case schema.Double:
		x, ok := v.AsFloat()
		back, alike := value.Compare(value.OfFloat(x), v)
		return value.OfFloat(x), ok && alike && back == 0 && !math.IsNaN(x) && !math.IsInf(x, 0)
	case schema.Boolean:
		return v, v.Kind() == value.Bool
	case schema.Date:
		return restDate(v), v.Kind() == value.Date && v.Micros()%1000 == 0 && inYears(v)
	}
	return v, false
}
