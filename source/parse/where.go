package parse

import (
	"math"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// mostEqual is the most values of a list that are sent.
const mostEqual = 100

// A condition is a where object of the REST API that holds for every record for which a filter does. If it is exact, it
// holds for no other record, whatever database Parse Server is on. A null where holds for all.
type condition struct {
	where value.Value
	exact bool
}

// all and none are the conditions that every record, and no record, satisfies.
var (
	all  = condition{exact: true}
	none = condition{where: restObject("objectId", restObject("$exists", value.OfBool(false))), exact: true}
)

// condition translates a filter over records of c. Operators on which Parse Server differs between databases, or from
// the language, are left out: order of texts, $nin and $not with nulls, lists, parts of objects.
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

// whole reports whether a path names a field by itself whose values the REST API compares as the language does.
func (c *class) whole(path query.Path) bool {
	if len(path) != 1 {
		return false
	}
	f := c.Field(path[0])
	return f != nil && f.Stored == nil && !slices.Contains(c.partly, f.Name) && (f.Type == schema.String || f.Type == schema.Double || f.Type == schema.Boolean || f.Type == schema.Date)
}

// and returns the condition of all parts: those that can't be sent are left out, and the condition isn't exact then.
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

// or returns the condition of one of parts. If one can't be sent, no condition can, as its records would be missing.
func (c *class) or(parts query.Or, trusted bool) condition {
	out := condition{exact: true}
	var sent []value.Value
	for _, p := range parts {
		part := c.condition(p, trusted)
		if part.where.IsNull() {
			return condition{exact: part.exact} // it holds for all, or for records that can't be asked for
		}
		out.exact = out.exact && part.exact
		sent = append(sent, part.where)
	}
	out.where = joinConditions("$or", sent)
	return out
}

// joinConditions returns the conditions under an operator, or null.
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

// in returns the condition of an In: a comparison for each value, at most mostEqual, joined with OR or, negated, with AND. A longer
// list, and a path into a field, are decided here.
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

// compare returns the condition of a comparison. Only orders of numbers and dates are sent, since Parse Server's databases order other
// types differently. A Date is compared for equality by its bounds.
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
	// With an option of Parse Server these are compared without regard to case.
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

// operand returns the value that a field is compared with, and false if the REST API can't hold it exactly.
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
