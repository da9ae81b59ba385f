package argcheck

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// TooLarge is the message for a value that Decode can't convert.
const TooLarge = "a number is larger than can be compared"

// Decode converts v to the types of encoding/json with exact numbers. It returns false if a number is too large to
// compare.
func Decode(v value.Value) (any, bool) {
	switch v.Kind() {
	case value.Bool:
		return v.Bool(), true
	case value.Int, value.Decimal, value.Float:
		text := v.String()
		return json.Number(text), Comparable(text)
	case value.Null:
		return nil, true
	case value.Array:
		list := make([]any, len(v.List()))
		for i, e := range v.List() {
			in, ok := Decode(e)
			if !ok {
				return nil, false
			}
			list[i] = in
		}
		return list, true
	case value.Object:
		object := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			in, ok := Decode(m.Value)
			if !ok {
				return nil, false
			}
			object[m.Name] = in
		}
		return object, true
	}
	return v.String(), true
}

// maxExponent is the maximum exponent of a number. Exact arithmetic expands all digits of a number.
const maxExponent = 400

// Comparable reports whether a number can be compared exactly at a low cost.
func Comparable(number string) bool {
	if len(number) > 1000 {
		return false
	}
	at := strings.IndexAny(number, "eE")
	if at < 0 {
		return true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(number[at+1:], "+"))
	return err == nil && -maxExponent <= n && n <= maxExponent
}
