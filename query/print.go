package query

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// Print encodes f as a where object that ParseWhere, or ParseRule, parses to f. A nil filter, which matches all, gives
// {}.
func Print(f Filter) value.Value {
	switch f := f.(type) {
	case nil:
		return value.OfObject(nil)
	case Compare:
		return at(f.Path, f.Op.String(), literalText(f.Value))
	case In:
		list := make([]value.Value, len(f.Values))
		for i, v := range f.Values {
			list[i] = literalText(v)
		}
		op := "$in"
		if f.Not {
			op = "$nin"
		}
		return at(f.Path, op, value.OfArray(list))
	case Exists:
		return at(f.Path, "$exists", value.OfBool(f.Want))
	case Regex:
		if f.Contains != "" {
			return at(f.Path, "$contains", value.OfString(f.Contains))
		}
		if f.Options == "" {
			return at(f.Path, "$regex", value.OfString(f.Pattern))
		}
		both := value.OfObject([]value.Member{
			{Name: "$regex", Value: value.OfString(f.Pattern)}, {Name: "$options", Value: value.OfString(f.Options)}})
		if len(f.Path) == 0 {
			return both
		}
		return one(f.Path.String(), both)
	case StartsWith:
		return at(f.Path, "$startsWith", value.OfString(f.Prefix))
	case GeoWithin:
		if f.Near {
			return one(f.Path.String(), f.Area.Near())
		}
		return at(f.Path, "$geoWithin", f.Area.Value())
	case Size:
		return at(f.Path, "$size", value.OfInt(f.N))
	case ElemMatch:
		return at(f.Path, "$elemMatch", Print(f.Match))
	case InQuery:
		return printInQuery(f)
	case Deferred:
		op := f.Op.String()
		if f.List {
			op = map[Op]string{Eq: "$in", Ne: "$nin"}[f.Op]
		}
		return at(f.Path, op, one("$cel", value.OfString(f.CEL)))
	case And:
		return one("$and", printAll(f))
	case Or:
		return one("$or", printAll(f))
	case Not:
		return printNot(f)
	}
	return one("$never", value.OfBool(true)) // Never, which only typecheck makes and no parser accepts
}

// printInQuery encodes an InQuery by the operator that parses to it: with a key $select, else $inQuery, and their negations.
func printInQuery(f InQuery) value.Value {
	from := object("query", text("className", f.Class), when(f.Where != nil, "where", Print(f.Where)))
	op, operand := "$inQuery", from.Value
	switch {
	case f.Key == nil && f.Not:
		op = "$notInQuery"
	case f.Key != nil:
		op, operand = "$select", object("", from, text("key", f.Key.String())).Value
		if f.Not {
			op = "$dontSelect"
		}
	}
	return at(f.Path, op, operand)
}

func printNot(f Not) value.Value {
	if or, ok := f.Part.(Or); ok {
		return one("$nor", printAll(or))
	}
	return one("$not", Print(f.Part))
}

func printAll(parts []Filter) value.Value {
	list := make([]value.Value, len(parts))
	for i, p := range parts {
		list[i] = Print(p)
	}
	return value.OfArray(list)
}

// at returns {path: {op: v}}, or {op: v} for an empty path, which is the element of an $elemMatch.
func at(path Path, op string, v value.Value) value.Value {
	if len(path) == 0 {
		return one(op, v)
	}
	return one(strings.Join(path, "."), one(op, v))
}

func one(name string, v value.Value) value.Value {
	return value.OfObject([]value.Member{{Name: name, Value: v}})
}

func literalText(v value.Value) value.Value {
	if v.Kind() != value.Date && v.Kind() != value.Day {
		return v
	}
	return value.OfObject([]value.Member{
		{Name: "__type", Value: value.OfString("Date")}, {Name: "iso", Value: value.OfString(v.String())}})
}
