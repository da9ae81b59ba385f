package sqlite

import (
	"database/sql/driver"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ofText returns a function with one text argument. It returns null for other arguments.
func ofText(f func(text string) driver.Value) function {
	return function{1, func(args []driver.Value) driver.Value {
		if text, ok := args[0].(string); ok {
			return f(text)
		}
		return nil
	}}
}

// json returns the functions over JSON texts: equality, keys and orders for groups and sorts, parts of objects, and
// lists. An argument that isn't JSON of the expected kind gives null. It never gives an error, because an error would
// reveal something about a hidden record.
func json() map[string]function {
	return map[string]function{
		fnJSONEqual: {2, func(args []driver.Value) driver.Value {
			a, aok := args[0].(string)
			b, bok := args[1].(string)
			return truth(aok && bok && value.Equal(read(a), read(b)))
		}},
		fnOn: {2, func(args []driver.Value) driver.Value {
			x, ok := args[0].(string)
			text, also := args[1].(string)
			part, known := literals.ReadArea(text)
			return truth(ok && also && known && part.Holds(read(x)))
		}},
		fnDistance: {2, func(args []driver.Value) driver.Value {
			x, ok := args[0].(string)
			text, also := args[1].(string)
			part, known := literals.ReadArea(text)
			if d := part.Distance(read(x)); ok && also && known && !d.IsNull() {
				return d.Int()
			}
			return nil
		}},
		fnJSON:        {1, storedJSON},
		fnJSONCompare: {2, func(args []driver.Value) driver.Value { return compareJSON(args[0], args[1]) }},
		fnJSONKey:     ofText(func(text string) driver.Value { return string(appendKey(nil, read(text))) }),
		fnJSONOrder:   ofText(func(text string) driver.Value { return appendOrder(nil, read(text)) }),
		fnPart:        {-1, partOf},
		fnSetPart:     {-1, setPart},
		fnTruth:       {1, holds},
		fnSize:        ofText(length),
		fnElement:     {2, elementAt},
		fnInList:      {2, inList},
		fnSlice:       {3, slice},
		fnJoin:        {-1, joinLists},
		fnCommon:      {2, func(args []driver.Value) driver.Value { return setOf(args, true) }},
		fnWithout:     {2, func(args []driver.Value) driver.Value { return setOf(args, false) }},
		fnPairs:       {1, pairs},
		fnObjectOf:    {1, objectOf},
		fnJoinTexts:   {2, joinTexts},
		fnList: ofText(func(text string) driver.Value {
			if text == "" || text[0] != '[' {
				return nil
			}
			return text
		}),
		fnItems:  ofText(func(text string) driver.Value { return items(text) }),
		fnItem:   {2, item},
		fnUnwind: ofText(unwind),
		fnBounded: ofText(func(text string) driver.Value {
			if len(text) > plan.MostBefore {
				return nil
			}
			return text
		}),
		fnSumList: list(func(s *sum) driver.Value { return s.value() }),
		fnAvgList: list(func(s *sum) driver.Value { s.average = true; return s.value() }),
		fnMinList: extreme(-1),
		fnMaxList: extreme(1),
	}
}

// partOf returns the value at a path, args[1:], in the JSON text args[0], or null if it doesn't exist.
func partOf(args []driver.Value) driver.Value {
	text, ok := args[0].(string)
	if !ok {
		return nil
	}
	from, to, ok := find(text, path(args[1:]))
	if !ok {
		return nil
	}
	return jsonText(text[from:to])
}

func holds(args []driver.Value) driver.Value {
	text, _ := args[0].(string)
	return truth(text != "" && text != "null" && text != "false" && (text[0] > '9' || strings.ContainsAny(text[:1], `"`) || decimalOf(text).digits != ""))
}

func length(text string) driver.Value {
	n := int64(0)
	if !elements(text, func(string) bool { n++; return true }) {
		return nil
	}
	return n
}

// item returns element args[1] of a list as a list with its text. It returns an empty list if the element doesn't
// exist. So a null element differs from a missing one.
func item(args []driver.Value) driver.Value {
	text, _ := args[0].(string)
	at, ok := args[1].(int64)
	out := "[]"
	elements(text, func(raw string) bool {
		if at--; ok && at < 0 {
			out = items("[" + raw + "]").(string)
		}
		return at >= 0
	})
	return out
}

func unwind(text string) driver.Value {
	if text == "" || text == "null" {
		return nil
	}
	if text[0] != '[' {
		text = "[" + text + "]"
	}
	return items(text)
}

func path(args []driver.Value) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i], _ = a.(string)
	}
	return out
}

// storedJSON returns the JSON in a JSON column, in the form that the adapter shows.
func storedJSON(args []driver.Value) driver.Value {
	switch v := args[0].(type) {
	case string:
		if text := strings.Trim(v, " \t\r\n"); valid(text) {
			return jsonText(text)
		}
		return quoteJSON(v)
	case nil:
		return nil
	}
	return asJSON(args[0])
}

// plainValue converts a number, a text or bytes of SQLite to a value.
func plainValue(v driver.Value) value.Value {
	switch v := v.(type) {
	case int64:
		return value.OfInt(v)
	case float64:
		return value.OfFloat(v + 0) // adding 0 turns negative zero into zero
	case string:
		return value.OfString(strings.ToValidUTF8(v, "\uFFFD"))
	case []byte:
		return value.OfBytes(string(v))
	}
	return value.Value{}
}

// asJSON returns the JSON text of a SQLite value.
func asJSON(v driver.Value) string {
	if text, ok := v.(string); ok {
		return quoteJSON(text)
	}
	return string(plainValue(v).AppendJSON(nil))
}

func jsonOf(v driver.Value) value.Value {
	if text, ok := v.(string); ok {
		return read(text)
	}
	return value.Value{}
}

// compareJSON returns -1, 0 or 1. It returns 2 for two objects or two lists that differ.
func compareJSON(x, y driver.Value) driver.Value {
	s, sok := x.(string)
	t, tok := y.(string)
	if sok && tok && s == t {
		return int64(0)
	}
	a, b := jsonOf(x), jsonOf(y)
	if k := a.Kind(); k == b.Kind() && (k == value.Object || k == value.Array) {
		if value.Equal(a, b) {
			return int64(0)
		}
		return int64(2)
	}
	return int64(value.Order(a, b))
}

// setPart replaces the part at a path, args[2:], in the JSON text args[0] by the JSON args[1], and returns the text.
// It returns null if args[0] isn't a text. A null args[1] counts as JSON's null. It adds a missing member to an
// existing object, and otherwise leaves the text unchanged. The other bytes stay the same, so numbers keep their
// digits.
func setPart(args []driver.Value) driver.Value {
	text, ok := args[0].(string)
	if !ok || len(args) < 2 {
		return nil
	}
	part, ok := args[1].(string)
	if !ok {
		part = "null"
	}
	names := path(args[2:])
	if from, to, ok := find(text, names); ok {
		return jsonText(text[:from] + part + text[to:])
	}
	if len(names) == 0 {
		return text
	}
	last := len(names) - 1
	from, to, ok := find(text, names[:last])
	if holder := text[from:to]; !ok || holder == "" || holder[0] != '{' {
		return text
	}
	if (&scanJSON{text: text, at: from + 1}).more() {
		return text[:to-1] + "," + quoteJSON(names[last]) + ":" + part + text[to-1:]
	}
	return text[:from] + "{" + quoteJSON(names[last]) + ":" + part + "}" + text[to:]
}

// elementAt returns element args[1] of the list args[0], counted from 0. A negative index counts from the end. It
// returns null if there is no such element.
func elementAt(args []driver.Value) driver.Value {
	text, ok := args[0].(string)
	at, aok := args[1].(int64)
	if !ok || !aok {
		return nil
	}
	if at < 0 {
		// The loop counts the elements, so that -1 becomes the index of the last element.
		elements(text, func(string) bool { at++; return true })
		if at < 0 {
			return nil
		}
	}
	var out driver.Value
	elements(text, func(raw string) bool {
		if at == 0 {
			out = jsonText(raw)
		}
		at--
		return at >= 0
	})
	return out
}

func inList(args []driver.Value) driver.Value {
	text, _ := args[1].(string)
	x, found := jsonOf(args[0]), false
	elements(text, func(raw string) bool {
		found = value.Equal(x, read(raw))
		return !found
	})
	return truth(found)
}

// slice returns at most args[2] elements of the list args[0] from index args[1]. A negative index counts from the
// end, or means the first element if it is before the beginning. The result is null if args[0] isn't a list, and for
// a count below 1, which MongoDB rejects.
func slice(args []driver.Value) driver.Value {
	text, ok := args[0].(string)
	from, fok := args[1].(int64)
	most, mok := args[2].(int64)
	if !ok || !fok || !mok || most < 1 || text == "" || text[0] != '[' {
		return nil
	}
	if from < 0 {
		elements(text, func(string) bool { from++; return true })
		from = max(0, from)
	}
	var out []string
	elements(text, func(raw string) bool {
		if from > 0 {
			from--
			return true
		}
		out = append(out, raw)
		return int64(len(out)) < most
	})
	return "[" + strings.Join(out, ",") + "]"
}

// joinLists returns the elements of all arguments as one list. It returns null if an argument isn't a list, or if the
// result would exceed longest bytes.
func joinLists(args []driver.Value) driver.Value {
	var out strings.Builder
	out.WriteByte('[')
	for _, a := range args {
		text, _ := a.(string)
		if !elements(text, func(raw string) bool {
			if out.Len() > 1 {
				out.WriteByte(',')
			}
			out.WriteString(raw)
			return out.Len() <= longest
		}) || out.Len() > longest {
			return nil
		}
	}
	return out.String() + "]"
}

// items returns a list of the JSON texts of a list's elements, with null for null. It returns null if text isn't a
// list.
func items(text string) driver.Value {
	out := []byte{'['}
	if !elements(text, func(raw string) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		if raw == "null" {
			out = append(out, raw...)
		} else {
			out = value.AppendQuote(out, raw)
		}
		return true
	}) {
		return nil
	}
	return string(append(out, ']'))
}

// list returns a function that adds the numbers in a list and passes the sum to result.
func list(result func(*sum) driver.Value) function {
	return ofText(func(text string) driver.Value {
		s := &sum{}
		if !numbersIn(text, func(f float64) { s.add(f) }) {
			return nil
		}
		return result(s)
	})
}

// extreme returns a function that returns the least (sign -1) or greatest (sign 1) number in a list. It returns null
// if the list has no numbers.
func extreme(sign float64) function {
	return ofText(func(text string) driver.Value {
		var out driver.Value
		numbersIn(text, func(f float64) {
			if have, ok := out.(float64); !ok || (f-have)*sign > 0 {
				out = f
			}
		})
		return out
	})
}

// numbersIn passes the numbers in a list to yield as doubles, and reports whether text is a list.
func numbersIn(text string, yield func(float64)) bool {
	return elements(text, func(raw string) bool {
		if raw != "" && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
			f, _ := value.OfDecimal(raw).AsFloat()
			yield(f + 0)
		}
		return true
	})
}
