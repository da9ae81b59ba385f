package sqlite

import (
	"database/sql/driver"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ofText makes a function of one text argument.
func ofText(f func(text string) driver.Value) function {
	return function{1, func(args []driver.Value) driver.Value {
		if text, ok := args[0].(string); ok {
			return f(text)
		}
		return nil
	}}
}

// json returns the functions over JSON texts: equality, keys and orders for groups and sorts, parts of objects, and lists. An argument
// that isn't JSON of the expected kind gives null, never an error, because an error would show what a hidden record holds.
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

// partOf returns the value at a path, args[1:], in the JSON text args[0], or null if there is none.
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

// item returns element args[1] of a list as a list of its text, and an empty list if there is none. So null and absent
// differ.
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

// storedJSON returns the JSON that a JSON column holds, as the adapter shows it.
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

// plainValue converts a number or text of SQLite.
func plainValue(v driver.Value) value.Value {
	switch v := v.(type) {
	case int64:
		return value.OfInt(v)
	case float64:
		return value.OfFloat(v + 0) // + 0 turns negative zero into zero
	case string:
		return value.OfString(strings.ToValidUTF8(v, "\uFFFD"))
	case []byte:
		return value.OfBytes(string(v))
	}
	return value.Value{}
}

// asJSON writes a SQLite value as JSON.
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

// compareJSON returns -1, 0 or 1, or 2 for two objects or two lists that differ.
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

// setPart returns the JSON text args[0] with the part at a path, args[2:], replaced by the JSON args[1], null if that
// is not text. A missing member is added to an existing object. Otherwise the text stays as it is. The other bytes are
// untouched, so that numbers keep their digits.
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

// elementAt returns element args[1] of the list args[0], from 0, or from the end if it is negative, or null if there is none.
func elementAt(args []driver.Value) driver.Value {
	text, ok := args[0].(string)
	at, aok := args[1].(int64)
	if !ok || !aok {
		return nil
	}
	if at < 0 {
		// Counts the elements, so that -1 becomes the index of the last.
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

// slice returns at most args[2] elements of the list args[0] from index args[1], or from the end if that is negative.
// Beyond the beginning it starts at the first. Null for no list, and for a count below 1, which MongoDB refuses.
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

// joinLists returns the elements of all arguments as one list, or null if one isn't a list, or if the result would exceed longest bytes.
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

// items returns the list of the texts of the elements, with null for null. It is null if text isn't a list.
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

// list makes a function of a list that returns result of the sum of its numbers.
func list(result func(*sum) driver.Value) function {
	return ofText(func(text string) driver.Value {
		s := &sum{}
		if !numbersIn(text, func(f float64) { s.add(f) }) {
			return nil
		}
		return result(s)
	})
}

// extreme makes a function of a list that returns the least (sign -1) or the greatest (1) of its numbers, or null without one.
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

// numbersIn yields the numbers in a list as doubles, and reports whether text is a list.
func numbersIn(text string, yield func(float64)) bool {
	return elements(text, func(raw string) bool {
		if raw != "" && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
			f, _ := value.OfDecimal(raw).AsFloat()
			yield(f + 0)
		}
		return true
	})
}
