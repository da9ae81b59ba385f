package mongogen

import (
	"math"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// op writes an operator with its operands.
func op(name string, args ...any) bson.D { return bson.D{{Key: name, Value: bson.A(args)}} }

// of writes an operator whose operand is a document.
func of(name string, members ...any) bson.D {
	doc := bson.D{}
	for i := 0; i < len(members); i += 2 {
		doc = append(doc, bson.E{Key: members[i].(string), Value: members[i+1]})
	}
	return bson.D{{Key: name, Value: doc}}
}

func literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }

func cond3(test, then, otherwise any) bson.D { return op("$cond", test, then, otherwise) }

// isType tests the type of x by the names that $type uses.
func isType(x any, names ...string) bson.D {
	typ := bson.D{{Key: "$type", Value: x}}
	if len(names) == 1 {
		return op("$eq", typ, literal(names[0]))
	}
	list := bson.A{}
	for _, n := range names {
		list = append(list, n)
	}
	return op("$in", typ, literal(list))
}

// to writes a conversion of x. The result is null if the conversion is impossible.
func to(x any, typ string) bson.D {
	return of("$convert", "input", x, "to", literal(typ), "onError", nil, "onNull", nil)
}

// let gives x a name, so that it is computed only once.
func let(x any, in func(x string) any) bson.D {
	return of("$let", "vars", bson.D{{Key: "x", Value: x}}, "in", in("$$x"))
}

// expr writes an expression whose value is never missing. It returns false if the server's expression has another
// meaning.
func (f *flow) expr(e plan.Expr) (any, bool) {
	if f.w.Level != MongoDB {
		return nil, false
	}
	switch e := e.(type) {
	case plan.Ref:
		return f.columnExpression(e.Column)
	case plan.Const:
		if e.Value.IsNull() {
			return literal(nil), true
		}
		if e.T == schema.JSON || e.T == schema.Decimal || e.T == schema.Bytes || e.T == schema.Day {
			return nil, false
		}
		x, ok := scalar(coerceConst(e), e.T, true)
		return literal(x), ok
	case plan.Case:
		return f.cases(e)
	case plan.Apply:
		return f.apply(e)
	case plan.ToJSON:
		if t := e.X.Type(); t == schema.Decimal || t == schema.Bytes || t == schema.UUID || t == schema.Day {
			return nil, false
		}
		return f.expr(e.X) // decoding turns values without a JSON type into text
	case plan.Part:
		return f.part(e)
	case plan.As:
		return f.as(e)
	case plan.Object:
		return f.object(e)
	}
	return f.date(e)
}

// coerceConst returns the value of a constant as expressions read it.
func coerceConst(e plan.Const) value.Value {
	if e.T == schema.Double {
		return interpret.Widen(e.Value, schema.Double)
	}
	return e.Value
}

// columnExpression writes the value of a column as expressions read it. It is null if the value isn't of the column's
// type.
func (f *flow) columnExpression(i int) (any, bool) {
	c := &f.shape.Columns[i]
	if !Nameable(f.names[i]) || c.Mask != nil {
		return nil, false
	}
	x := "$" + f.names[i]
	if c.Field == nil {
		return op("$ifNull", x, nil), c.Type != schema.Decimal
	}
	switch c.Type {
	case schema.String:
		if c.Field.Native == ObjectID {
			return cond3(isType(x, "objectId"), bson.D{{Key: "$toString", Value: x}}, cond3(isType(x, "string"), x, nil)), true
		}
		return cond3(isType(x, "string"), x, nil), plainText(c.Field)
	case schema.Boolean:
		return cond3(isType(x, "bool"), x, nil), true
	case schema.Integer:
		whole := op("$eq", op("$trunc", x), x)
		return cond3(bson.D{{Key: "$isNumber", Value: x}}, cond3(whole, to(x, "long"), nil), nil), true
	case schema.Double:
		return cond3(bson.D{{Key: "$isNumber", Value: x}}, to(x, "double"), nil), true
	case schema.Date:
		return cond3(op("$and", isType(x, "date"), op("$gte", x, literal(firstDate)), op("$lte", x, literal(lastDate))), x, nil), true
	case schema.JSON, schema.Array:
		return op("$ifNull", x, nil), true
	}
	return nil, false
}

// The first and the last date that expressions support.
var (
	firstDate = bson.NewDateTimeFromTime(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC))
	lastDate  = bson.NewDateTimeFromTime(time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC))
)

// all writes the expressions es. It returns false if MongoDB can't compute one of them exactly.
func (f *flow) all(es []plan.Expr) ([]any, bool) {
	out := make([]any, len(es))
	for i, e := range es {
		var ok bool
		if out[i], ok = f.expr(e); !ok {
			return nil, false
		}
	}
	return out, true
}

// cases writes a Case as nested $cond. It returns false if MongoDB can't compute a part exactly.
func (f *flow) cases(e plan.Case) (any, bool) {
	out := any(literal(nil))
	if e.Else != nil {
		var ok bool
		if out, ok = f.expr(e.Else); !ok {
			return nil, false
		}
	}
	for i := len(e.If) - 1; i >= 0; i-- {
		test, ok := f.expr(e.If[i])
		then, also := f.expr(e.Then[i])
		if !ok || !also {
			return nil, false
		}
		out = cond3(test, then, out)
	}
	return out, true
}

// part writes the value at a path, which leads through objects.
func (f *flow) part(e plan.Part) (any, bool) {
	x, ok := f.expr(e.X)
	for _, name := range e.Path {
		if !Nameable(name) {
			return nil, false
		}
		x = let(x, func(x string) any {
			return cond3(isType(x, "object"), op("$ifNull", of("$getField", "field", literal(name), "input", x), nil), nil)
		})
	}
	return x, ok
}

// as writes a JSON value, or null if it isn't of the type. A nested date or id becomes text, as in decoding.
func (f *flow) as(e plan.As) (any, bool) {
	x, ok := f.expr(e.X)
	if !ok || e.X.Type() == schema.Any {
		return nil, false
	}
	switch e.T {
	case schema.String:
		return let(x, func(x string) any {
			return cond3(isType(x, "string"), x, cond3(isType(x, "objectId"), bson.D{{Key: "$toString", Value: x}}, cond3(isType(x, "date"), isoText(x), nil)))
		}), true
	case schema.Boolean:
		return let(x, func(x string) any { return cond3(isType(x, "bool"), x, nil) }), true
	case schema.Double:
		return let(x, func(x string) any {
			return cond3(op("$and", bson.D{{Key: "$isNumber", Value: x}}, op("$gte", x, literal(-math.MaxFloat64)), op("$lte", x, literal(math.MaxFloat64))), to(x, "double"), nil)
		}), true
	}
	return nil, false
}

// isoText writes a date in the form of AppendText: with milliseconds only if they aren't 0, and without trailing zeros.
func isoText(x string) any {
	fraction := of("$rtrim", "input", of("$dateToString", "date", x, "format", ".%L"), "chars", literal("0"))
	whole := of("$dateToString", "date", x, "format", "%Y-%m-%dT%H:%M:%S")
	return op("$concat", whole, cond3(op("$eq", bson.D{{Key: "$millisecond", Value: x}}, literal(int64(0))), literal(""), fraction), literal("Z"))
}

// object writes an object. It returns false for an object without members, or with a name that MongoDB can't have.
func (f *flow) object(e plan.Object) (any, bool) {
	values, ok := f.all(e.Values)
	if !ok {
		return nil, false
	}
	out := bson.D{}
	for i, name := range e.Names {
		if !Nameable(name) {
			return nil, false
		}
		out = append(out, bson.E{Key: name, Value: values[i]})
	}
	return out, len(out) > 0
}

// parts are the operators that read parts of a date.
var parts = map[string]string{"year": "$year", "month": "$month", "dayOfMonth": "$dayOfMonth", "dayOfYear": "$dayOfYear", "dayOfWeek": "$dayOfWeek",
	"isoDayOfWeek": "$isoDayOfWeek", "isoWeek": "$isoWeek", "isoWeekYear": "$isoWeekYear", "hour": "$hour", "minute": "$minute", "second": "$second",
	"millisecond": "$millisecond"}

// weekdays are the names of the days on which a week may begin.
var weekdays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// date writes an expression over dates.
func (f *flow) date(e plan.Expr) (any, bool) {
	switch e := e.(type) {
	case plan.DatePart:
		name, known := parts[e.Part]
		return f.onClock(e.X, e.Zone, known, func(x, zone any) any { return ofDate(name, x, zone) })
	case plan.DateTrunc:
		// Here, a unit shorter than a day begins with the zone offset of the date. On the server, it begins with the
		// offset of the beginning.
		known := e.Zone == "" || e.Unit != "hour" && e.Unit != "minute" && e.Unit != "second"
		return f.onClock(e.X, e.Zone, known && e.WeekStart >= 0 && e.WeekStart < 7, func(x, zone any) any {
			return let(ofDate("$dateTrunc", x, zone, "unit", e.Unit, "startOfWeek", weekdays[e.WeekStart]), func(began string) any {
				return cond3(op("$gte", began, literal(firstDate)), began, nil) // a unit may begin before the first date
			})
		})
	case plan.DateText:
		return f.onClock(e.X, e.Zone, !strings.Contains(e.Format, "$"), func(x, zone any) any {
			return ofDate("$dateToString", x, zone, "format", e.Format)
		})
	}
	return nil, false
}

// ofDate writes an operator on a date in a zone. A nil zone means UTC.
func ofDate(name string, x, zone any, members ...any) bson.D {
	if zone != nil {
		members = append(members, "timezone", zone)
	}
	return of(name, append([]any{"date", x}, members...)...)
}

// onClock writes in(x) for a date whose local year is within 1 to 9999, and null for other dates.
func (f *flow) onClock(e plan.Expr, zone string, known bool, in func(x, zone any) any) (any, bool) {
	x, ok := f.expr(e)
	if !ok || !known {
		return nil, false
	}
	if zone == "" {
		return let(x, func(x string) any { return cond3(op("$eq", x, nil), nil, in(x, nil)) }), true
	}
	at := zone // an offset or an IANA name: neither can be read as a field path
	return let(x, func(x string) any {
		year := of("$year", "date", x, "timezone", at)
		inside := op("$and", op("$ne", x, nil), op("$gte", year, literal(int64(1))), op("$lte", year, literal(int64(9999))))
		return cond3(inside, in(x, at), nil)
	}), true
}
