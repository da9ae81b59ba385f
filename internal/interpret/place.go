package interpret

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A place is the context of an expression: a record, and the lists around the record.
type place struct {
	*reading
	shape *plan.Shape
	row   value.Row
	outer *place // the record for which a Nest makes its list
	overs []over // the elements of the surrounding Overs, the innermost last
	used  bool   // a query inside has read a value of the record
}

// An over contains the values to which the body of an Over can refer.
type over struct{ element, before value.Value }

// within returns a copy of at with one more Over.
func (at *place) within(o over) *place {
	inner := *at
	inner.overs = append(slices.Clip(at.overs), o)
	return &inner
}

// leaves returns the values at a path of a filter. The path begins with the key of a column. Filters read stored
// values.
func (at *place) leaves(path query.Path) []value.Value {
	i := at.shape.Find(path[0])
	if i < 0 {
		at.fail("the records have no column %q", path[0])
		return nil
	}
	return leaves(at.row[i], path[1:])
}

// column returns the value of column i as expressions read it.
func (at *place) column(i int) value.Value {
	return columnValue(&at.shape.Columns[i], at.row[i])
}

// above returns the outer record of a surrounding Nest. The nearest Nest has up 1.
func (at *place) above(up int) *place {
	for range up {
		if at = at.outer; at == nil {
			return nil
		}
	}
	return at
}

// columnValue returns the value v of a column as expressions read it. It is null if v isn't of the column's type.
func columnValue(c *plan.Column, v value.Value) value.Value {
	if c.Field == nil {
		return v
	}
	switch c.Type {
	case schema.Any, schema.Opaque:
		return v
	case schema.JSON, schema.Array:
		return JSON(v)
	case schema.Date, schema.Day:
		return seenDate(c.Type, v)
	case schema.Double, schema.Decimal:
		if !v.IsNumber() {
			return value.Value{}
		}
		return Widen(v, c.Type)
	case schema.UUID:
		if id, ok := value.OfUUIDText(v.Text()); ok && v.Kind() == value.String {
			return id
		}
		return value.Value{}
	}
	if v.Kind() != kindOf(c.Type) {
		return value.Value{}
	}
	return v
}

// kindOf returns the kind of the values of a type that has one kind, and Null for other types.
func kindOf(t schema.Type) value.Kind {
	switch t {
	case schema.String:
		return value.String
	case schema.Integer:
		return value.Int
	case schema.Boolean:
		return value.Bool
	case schema.Bytes:
		return value.Bytes
	}
	return value.Null
}
