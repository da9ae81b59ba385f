package value

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// RoundTrip returns the result of MarshalJSON followed by UnmarshalJSON, without calling them. ok is false if the
// result may differ or may be an error. That is the case for texts that aren't UTF-8, for an object with a duplicate
// name, and for values that are nested too deeply.
func (v Value) RoundTrip() (stored Value, ok bool) { return v.roundTrip(keptDepth) }

// roundTrip is RoundTrip for a value with at most depth levels.
func (v Value) roundTrip(depth int) (Value, bool) {
	switch v.kind {
	case Null, Cut:
		return Value{}, true
	case Bool, Int:
		return v, true
	case Float:
		f := v.Float()
		if text := string(appendFloat(nil, f)); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return number(text), true
		}
		return OfString(v.String()), true
	case Decimal:
		n := jsontext.Value(v.str)
		if n.Kind() != '0' || !n.IsValid() || v.str[len(v.str)-1] <= ' ' {
			return v, false
		}
		return number(v.str), true
	case String:
		return v, utf8.ValidString(v.str)
	case Date, Day, Bytes:
		return OfString(string(v.AppendText(nil))), true
	}
	if depth == 0 {
		return v, false
	}
	if v.kind == Array {
		list := make([]Value, len(v.List()))
		for i, e := range v.List() {
			var ok bool
			if list[i], ok = e.roundTrip(depth - 1); !ok {
				return v, false
			}
		}
		return OfArray(list), true
	}
	members := slices.Clone(v.Members())
	if members == nil {
		members = []Member{}
	}
	for i, m := range members {
		var ok bool
		if members[i].Value, ok = m.Value.roundTrip(depth - 1); !ok || !utf8.ValidString(m.Name) {
			return v, false
		}
	}
	return OfObject(members), distinct(members)
}

// distinct reports whether the names of the members are certainly different.
func distinct(members []Member) bool {
	const most = 64 // up to this number, names are compared with each other
	if len(members) > most {
		names := make(map[string]bool, len(members))
		for _, m := range members {
			names[m.Name] = true
		}
		return len(names) == len(members)
	}
	for i, m := range members {
		for _, other := range members[:i] {
			if other.Name == m.Name {
				return false
			}
		}
	}
	return true
}
