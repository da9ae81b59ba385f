package memory

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A place is the context of an expression: a record, and the lists around it.
type place struct {
	*reading
	shape *plan.Shape
	row   value.Row
	outer *place // the record for which a Nest makes its list
	overs []over // the elements of the surrounding Overs, the innermost last
}

// An over is what the body of an Over can refer to.
type over struct{ element, before value.Value }

// within returns at with one more Over.
func (at *place) within(o over) *place {
	inner := *at
	inner.overs = append(slices.Clip(at.overs), o)
	return &inner
}

// leaves makes a record between stages the root of paths: their first part is a column's key. Filters see stored values.
func (at *place) leaves(path query.Path) []value.Value {
	i := at.shape.Find(path[0])
	if i < 0 {
		at.fail("the records have no column %q", path[0])
		return nil
	}
	return leaves(at.row[i], path[1:])
}

// column returns the value of column i as expressions see it.
func (at *place) column(i int) value.Value {
	return seen(&at.shape.Columns[i], at.row[i])
}

// above returns the record around the Nest that is up levels out, from 1.
func (at *place) above(up int) *place {
	for range up {
		if at = at.outer; at == nil {
			return nil
		}
	}
	return at
}

// seen returns the value v of a column as expressions see it: null if v isn't of the column's type.
func seen(c *plan.Column, v value.Value) value.Value {
	if c.Field == nil {
		return v
	}
	switch c.Type {
	case schema.Any, schema.Opaque:
		return v
	case schema.JSON, schema.Array:
		return inJSON(v)
	case schema.Date, schema.Day:
		return seenDate(c.Type, v)
	case schema.Double, schema.Decimal:
		if !v.IsNumber() {
			return value.Value{}
		}
		return widened(v, c.Type)
	case schema.UUID:
		if id, ok := value.OfUUIDText(v.Text()); ok && v.Kind() == value.String {
			return id
		}
		return value.Value{}
	}
	kinds := map[schema.Type]value.Kind{schema.String: value.String, schema.Integer: value.Int, schema.Boolean: value.Bool, schema.Bytes: value.Bytes}
	if v.Kind() != kinds[c.Type] {
		return value.Value{}
	}
	return v
}

// seenDate converts a day to its midnight, and a midnight to its day.
func seenDate(t schema.Type, v value.Value) value.Value {
	if v.Kind() != value.Date && v.Kind() != value.Day {
		return value.Value{}
	}
	v = dateOf(v.Micros())
	switch {
	case v.IsNull() || t == schema.Date:
		return v
	case v.Micros()%day != 0:
		return value.Value{}
	}
	return value.OfDay(v.Micros())
}

const day = int64(24 * time.Hour / time.Microsecond)

// dateOf returns an instant in the years 1 to 9999, null outside of them.
func dateOf(micros int64) value.Value {
	if t := time.UnixMicro(micros).UTC(); t.Year() < 1 || t.Year() > 9999 {
		return value.Value{}
	}
	return value.OfDate(micros)
}

// inJSON returns v as JSON holds it: values without a JSON type become text, and numbers Int or Decimal.
func inJSON(v value.Value) value.Value {
	switch v.Kind() {
	case value.Date, value.Day, value.Bytes:
		return value.OfString(v.String())
	case value.Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return value.OfString(v.String())
		}
		d, _ := decimalOf(v)
		if n, err := strconv.ParseInt(d.String(), 10, 64); err == nil {
			return value.OfInt(n)
		}
		return d.decimal()
	case value.Array:
		list := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = inJSON(e)
		}
		return value.OfArray(list)
	case value.Object:
		members := make([]value.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = value.Member{Name: m.Name, Value: inJSON(m.Value)}
		}
		return value.OfObject(members)
	}
	return v
}
