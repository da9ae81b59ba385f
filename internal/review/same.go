package review

import "github.com/bailiwick-dev/bailiwick/value"

// same reports whether two values are equal. It compares numbers of all kinds by their exact value. It compares dates
// and bytes as texts, because stored changes contain them as texts.
func same(a, b value.Value) bool {
	switch {
	case a.IsNumber() && b.IsNumber():
		c, _ := value.Compare(exact(a), exact(b))
		return c == 0
	case !haveParts(a, b):
		return jsonKind(a) == jsonKind(b) && jsonKind(a) != value.Array && jsonKind(a) != value.Object && a.String() == b.String()
	case a.Kind() == value.Array:
		if len(a.List()) != len(b.List()) {
			return false
		}
		for i, v := range a.List() {
			if !same(v, b.List()[i]) {
				return false
			}
		}
		return true
	}
	if len(a.Members()) != len(b.Members()) {
		return false
	}
	others := index(b.Members())
	for _, m := range a.Members() {
		if v, ok := others[m.Name]; !ok || !same(m.Value, v) {
			return false
		}
	}
	return true
}

// exact returns a number in a form that can be compared without rounding.
func exact(v value.Value) value.Value {
	if v.Kind() != value.Float {
		return v
	}
	return value.OfDecimal(v.String())
}

// jsonKind returns the kind that v has in JSON.
func jsonKind(v value.Value) value.Kind {
	switch v.Kind() {
	case value.Date, value.Day, value.Bytes:
		return value.String
	}
	return v.Kind()
}

func index(members []value.Member) map[string]value.Value {
	out := make(map[string]value.Value, len(members))
	for _, m := range members {
		out[m.Name] = m.Value
	}
	return out
}
