package sqlgen

import (
	"math"
	"math/big"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The functions that the SQLite adapter adds to its connections, because the database has none that are total and exact:
// RegexFunction(pattern, text) matches RE2, EqualFunction(a, b) compares two JSON documents by value.
const (
	RegexFunction = expr.SQLiteMatches
	EqualFunction = "bailiwick_json_equal"
)

// sqlite writes for SQLite 3.45 or later. Its columns hold values of any type whatever is declared, so ordering
// comparisons test typeof first: 'abc' > 5 is true there.
type sqlite struct{ standard }

func (sqlite) placeholder(int, string) string { return "?" }

// held avoids the names true and false, which SQLite doesn't keep for the columns of derived tables: it calls them
// column1, column2 and so on.
func (sqlite) held(name string) string {
	if word := strings.ToLower(strings.TrimRight(name, "_")); word == "true" || word == "false" {
		return name + "_"
	}
	return name
}

// negation avoids IS NOT TRUE, which compares with the column true of a table that has one.
func (sqlite) negation() (before, after string) { return "(CASE WHEN ", " THEN 0 ELSE 1 END)" }

// limit adds a sign: SQLite includes a bare argument in its plan, and so would replan each time that one is bound.
func (sqlite) limit(place string) string { return "+" + place }

// same removes the declared types of two fields if they differ: otherwise SQLite would convert values from one to the
// other.
func (sqlite) same(x string, f, other *schema.Field) string {
	switch {
	case f.Type == schema.Date || f.Type == schema.Day:
		return millis(x, f)
	case f.Type == schema.UUID:
		return "lower(" + x + ")"
	case f.Native != other.Native || f.Unordered || other.Unordered:
		return "+" + x + " COLLATE BINARY"
	}
	return x
}

func (sqlite) key(x string, _, _ *schema.Field) string { return x }

func (sqlite) counts() bool { return false }

func (sqlite) longest() int { return maxText }

// milliseconds is the native type of a computed date: an integer, milliseconds since 1970 whatever its size.
const milliseconds = "milliseconds"

func (sqlite) computed(t schema.Type) *schema.Field {
	f := &schema.Field{Type: t}
	switch t {
	case schema.Date, schema.Day:
		f.Native = milliseconds
	case schema.Double:
		f.Native = "REAL"
	}
	return f
}

// read removes the declared type of a column, as a unary plus does, so that the driver returns what is stored.
func (sqlite) read(x string, _ *schema.Field) string { return "+" + x }

func (sqlite) sorted(x string, f *schema.Field) (string, bool) {
	switch {
	case f.Type == schema.Date || f.Type == schema.Day:
		return millis(x, f), true
	case f.Unordered:
		return x + " COLLATE BINARY", false
	}
	return x, false
}

func (sqlite) ordered(*schema.Field, bool) string { return "" }

// millis returns the instant that a column holds in milliseconds, null if it holds none. SQLite has no dates: text is
// read as ISO 8601, integers as seconds or, from 10^11 on, as milliseconds since 1970, reals as Julian days.
func millis(x string, f *schema.Field) string {
	if f.Native == milliseconds {
		return x
	}
	return "CASE typeof(" + x + ") WHEN 'text' THEN CASE WHEN " + x + " GLOB '[0-9][0-9][0-9][0-9]-*' THEN" +
		" CAST(round(unixepoch(" + x + ", 'subsec') * 1000) AS INTEGER) END" +
		" WHEN 'integer' THEN CASE WHEN " + x + " BETWEEN -99999999999 AND 99999999999 THEN " + x + " * 1000 ELSE " + x + " END" +
		" WHEN 'real' THEN CAST(round((" + x + " - 2440587.5) * 86400000) AS INTEGER) END"
}

func (s sqlite) compare(w *writer, x operand, op string, v any) error {
	if x.node() {
		return s.compareNode(w, x, op, v)
	}
	left := s.bare(x)
	guard := ""
	switch v := v.(type) {
	case moment:
		w.write(millis(x.text, x.field), " ", op, " ")
		w.arg(v.millis(), "")
		return nil
	case string:
		if x.field.Type == schema.UUID && op == "=" {
			s.equalUUID(w, x.text, v)
			return nil
		}
		guard = "typeof(" + x.text + ") = 'text'"
		if x.field.Unordered {
			left += " COLLATE BINARY"
		}
	case []byte:
		guard = "typeof(" + x.text + ") = 'blob'"
	default:
		guard = "typeof(" + x.text + ") IN ('integer', 'real')"
	}
	arg, ok := s.bind(op, v, x.field)
	switch {
	case !ok:
		w.write(never)
	case op == "=": // values of different types are never equal, so an index can be used alone
		w.write(left, " = ")
		w.arg(arg, "")
	default:
		w.write("(", left, " ", op, " ")
		w.arg(arg, "")
		w.write(" AND ", guard, ")")
	}
	return nil
}

// among lists the values, since SQLite has no arrays. It searches an index once for each.
func (s sqlite) among(w *writer, x operand, values []value.Value) error {
	left, guard := s.bare(x), ""
	switch {
	case x.node() && values[0].IsNumber():
		left, guard = x.text+".value", x.text+".type IN ('integer', 'real') AND "
	case x.node():
		left, guard = x.text+".value", x.text+".type = 'text' AND "
	case values[0].IsNumber():
		left = x.text
	case values[0].Kind() != value.String:
		left = millis(x.text, x.field)
	case x.field.Unordered:
		left += " COLLATE BINARY"
	}
	if x.field != nil && x.field.Type == schema.UUID {
		left = x.text // see equalUUID
	}
	w.write("(", guard, left, " IN (")
	sep := ""
	list := func(arg any) {
		w.write(sep)
		w.arg(arg, "")
		sep = ", "
	}
	for _, v := range values {
		arg := argument(v)
		if m, ok := arg.(moment); ok {
			list(m.millis())
			continue
		}
		arg, ok := s.bind("=", arg, x.field)
		if ok {
			list(arg)
		}
		if x.field != nil && x.field.Type == schema.UUID {
			list(strings.ToUpper(v.Text()))
		}
	}
	w.write("))")
	return nil
}

// bare returns the text of a column to be compared with text. A declared type that SQLite takes for numeric (UUID,
// MONEY) would convert the other operand to a number; a unary plus removes that type.
func (sqlite) bare(x operand) string {
	if !x.node() && (x.field.Type == schema.Any || x.field.Type == schema.UUID) && x.field.Native != "" {
		return "+" + x.text
	}
	return x.text
}

// equalUUID matches both cases: SQLite stores an id as it was written, and an index can still be used.
func (sqlite) equalUUID(w *writer, left, id string) {
	w.write(left, " IN (")
	w.arg(id, "")
	w.write(", ")
	w.arg(strings.ToUpper(id), "")
	w.write(")")
}

// bind converts an argument to what SQLite stores for it, so that left op argument holds exactly for equal, lesser or
// greater values; it returns false if a number equals no stored value.
func (sqlite) bind(op string, v any, f *schema.Field) (any, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1), true
		}
		return int64(0), true
	case number:
		switch {
		case doubles(f):
			return v.float, true
		case v.whole:
			return v.int, true
		case v.float == math.Trunc(v.float) && v.float >= -1<<63 && v.float < 1<<63:
			return v.beside(op), op != "=" // no integer equals it, though its double may
		}
		return v.float, true
	case int64:
		if doubles(f) {
			return float64(v), true
		}
	case document:
		return string(v), true
	}
	return v, true
}

// beside returns a number that compares by op with every 64-bit integer as n does, which isn't one.
func (n number) beside(op string) any {
	exact, _ := new(big.Rat).SetString(n.text) // a JSON number always parses
	floor := new(big.Int).Div(exact.Num(), exact.Denom())
	if !floor.IsInt64() {
		return math.Nextafter(n.float, math.Inf(-1)) // below all integers; from 2^63 on, n isn't passed here
	}
	if op == "<" || op == ">=" {
		return floor.Int64() + 1
	}
	return floor.Int64()
}

// doubles reports whether a column stores only doubles. Others store whole numbers as integers, exactly.
func doubles(f *schema.Field) bool {
	if f == nil || f.Type != schema.Double {
		return false
	}
	native := strings.ToUpper(f.Native)
	return strings.Contains(native, "REAL") || strings.Contains(native, "FLOA") || strings.Contains(native, "DOUB")
}

// millis returns a whole number of milliseconds if possible, else a fraction.
func (m moment) millis() any {
	if m.micros%1000 == 0 {
		return m.micros / 1000
	}
	return float64(m.micros) / 1000
}

func (s sqlite) after(w *writer, x string, f *schema.Field, op string, v any) error {
	w.write(x, " ", op, " ")
	if m, ok := v.(moment); ok {
		v = m.millis()
	}
	arg, _ := s.bind(op, v, f) // equals something, since it was read from the column
	w.arg(arg, "")
	return nil
}

func (sqlite) matches(w *writer, x operand, r query.Regex) error {
	w.write("(", text(x), " AND ", RegexFunction, "(")
	w.arg(r.Expression(), "")
	w.write(", ", scalarOf(x), "))")
	return nil
}

// begins writes a range, which can use an index.
func (s sqlite) begins(w *writer, x operand, prefix string) {
	left := s.bare(x)
	if x.node() {
		left = scalarOf(x)
	}
	if !x.node() && x.field.Unordered {
		left += " COLLATE BINARY"
	}
	w.write("(", left, " >= ")
	w.arg(prefix, "")
	if next := successor(prefix); next != "" {
		w.write(" AND ", left, " < ")
		w.arg(next, "")
	}
	w.write(" AND ", text(x), ")")
}

// successor returns the least text above all that begin with prefix, "" if there is none.
func successor(prefix string) string {
	runes := []rune(prefix)
	for len(runes) > 0 {
		last := &runes[len(runes)-1]
		switch {
		case *last == 0xD7FF:
			*last = 0xE000 // the surrogates in between aren't characters
			return string(runes)
		case *last < 0x10FFFF:
			*last++
			return string(runes)
		}
		runes = runes[:len(runes)-1]
	}
	return ""
}

func text(x operand) string {
	if x.node() {
		return x.text + ".type = 'text'"
	}
	return "typeof(" + x.text + ") = 'text'"
}

func scalarOf(x operand) string {
	if x.node() {
		return x.text + ".value"
	}
	return x.text
}

// nodes uses json_each, whose rows have a type and a value. A value that isn't JSON counts as a string.
func (s sqlite) nodes(w *writer, x operand, path query.Path) (operand, error) {
	n := w.alias("n")
	if x.node() {
		w.write("json_each(json_array(CASE ", x.text, ".type WHEN 'array' THEN json(", x.text, ".value) WHEN 'object' THEN json(",
			x.text, ".value) WHEN 'true' THEN json('true') WHEN 'false' THEN json('false') ELSE ", x.text, ".value END)) AS ", n)
	} else {
		w.write("json_each(json_array(json(CASE WHEN typeof(", x.text, ") = 'blob' THEN NULL WHEN json_valid(", x.text, ") THEN ",
			x.text, " ELSE json_quote(", x.text, ") END))) AS ", n)
	}
	var objects []string
	for _, part := range path {
		if strings.ContainsAny(part, `"\`) {
			return operand{}, unsupported("%q: a JSON key with a quote or a backslash can't be filtered in SQLite", part)
		}
		o, next := w.alias("n"), w.alias("n")
		w.write(", json_each(CASE ", n, ".type WHEN 'array' THEN ", n, ".value WHEN 'object' THEN json_array(json(", n, ".value)) ELSE '[]' END) AS ", o,
			", json_each(json_array(json(CASE ", o, ".type WHEN 'object' THEN ", o, ".value -> ")
		w.arg(`$."`+part+`"`, "")
		w.write(" END))) AS ", next)
		objects = append(objects, o)
		n = next
	}
	w.write(" WHERE ")
	for _, o := range objects { // a scalar has no parts; elements of a list that aren't objects are skipped
		w.write(o, ".type = 'object' AND ")
	}
	return operand{text: n}, nil
}

func (sqlite) elements(w *writer, x operand) operand {
	e := w.alias("n")
	w.write("json_each(CASE ", x.text, ".type WHEN 'array' THEN ", x.text, ".value ELSE '[]' END) AS ", e)
	return operand{text: e}
}

func (sqlite) is(x operand, typ string) string { return x.text + ".type = '" + typ + "'" }

func (sqlite) length(x operand) string {
	return "CASE " + x.text + ".type WHEN 'array' THEN json_array_length(" + x.text + ".value) END"
}

func (s sqlite) compareNode(w *writer, x operand, op string, v any) error {
	left := x.text + ".value"
	arg, ok := s.bind(op, v, nil)
	if !ok {
		w.write(never)
		return nil
	}
	switch v := v.(type) {
	case document:
		w.write("(", x.text, ".type IN ('array', 'object') AND ", EqualFunction, "(", left, ", ")
		w.arg(string(v), "")
		w.write("))")
		return nil
	case bool:
		w.write("(", x.text, ".type IN ('true', 'false') AND ", left, " ", op, " ")
	case string:
		w.write("(", x.text, ".type = 'text' AND ", left, " ", op, " ")
	default:
		w.write("(", x.text, ".type IN ('integer', 'real') AND ", left, " ", op, " ")
	}
	w.arg(arg, "")
	w.write(")")
	return nil
}
