package query

import "github.com/bailiwick-dev/bailiwick/value"

// Print encodes f as a where object that ParseWhere or ParseRule parses to f. For a nil filter, which matches all, it
// returns {}.
func Print(f Filter) value.Value {
	switch f := f.(type) {
	case nil:
		return value.OfObject(nil)
	case And:
		return one("$and", printAll(f))
	case Or:
		return one("$or", printAll(f))
	case Not:
		return printNot(f)
	case Condition:
		path, _ := f.Place()
		if len(path) == 0 { // the element of an $elemMatch
			return f.operators()
		}
		return one(path.String(), f.operators())
	}
	return one("$never", value.OfBool(true)) // Never, which only typecheck makes and no parser accepts
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
