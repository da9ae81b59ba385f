package rewrite

import (
	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/value"
)

// whereFromList returns the where object for a list of conditions that must all hold. Each has a field, an operator and
// a value. It refuses other values that are not objects. Objects stay unchanged.
func (w *writing) whereFromList(v value.Value, at string) value.Value {
	if v.Kind() == value.Object {
		return v
	}
	var parts []value.Value
	for _, e := range v.List() {
		part, ok := triple(e)
		if !ok {
			parts = nil
			break
		}
		parts = append(parts, part)
	}
	if parts == nil {
		w.refuse(at, `where is an object, as in {"status": "open", "total": {"$gte": 5}}; {"$or": [{…}, {…}]} holds if one of several does`)
		return v
	}
	return only("$and", value.OfArray(parts))
}

// triple returns the condition for {"field": "total", "op": ">", "value": 5}.
func triple(v value.Value) (value.Value, bool) {
	var field, op string
	operand := value.OfBool(true) // the operand of "is null"
	for _, m := range v.Members() {
		switch m.Name {
		case "field", "column", "key", "name", "property", "attribute":
			field = m.Value.Text()
		case "op", "operator", "comparator", "comparison", "condition":
			op = hint.Word(m.Value.Text())
		case "value", "values":
			operand = m.Value
		default:
			return v, false
		}
	}
	return only(field, only(op, operand)), field != "" && op != ""
}

func only(name string, v value.Value) value.Value {
	return value.OfObject([]value.Member{{Name: name, Value: v}})
}
