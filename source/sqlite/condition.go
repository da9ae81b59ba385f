package sqlite

import (
	"math"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Name implements sqlgen.Dialect.
func (dialect) Name() string { return "sqlite" }

// Home implements sqlgen.Dialect.
func (dialect) Home() string { return "main" }

func (dialect) Placeholder(int, string) string { return "?" }

// ViewColumn avoids the column names true and false. SQLite renames such columns of derived tables to column1,
// column2 and so on.
func (dialect) ViewColumn(name string) string {
	if word := strings.ToLower(strings.TrimRight(name, "_")); word == "true" || word == "false" {
		return name + "_"
	}
	return name
}

// Negation avoids IS NOT TRUE, because TRUE may be the name of a column.
func (dialect) Negation() (before, after string) { return "(CASE WHEN ", " THEN 0 ELSE 1 END)" }

// Limit adds a sign. Otherwise SQLite would include the argument in its plan, and would plan again for each argument.
func (dialect) Limit(w *sqlgen.Writer, n int64) string { return "+" + w.Arg(n, "") }

// Same removes the declared types of two fields if they differ. Otherwise SQLite would convert the value of one field
// to the type of the other.
func (dialect) Same(x string, f, other *schema.Field) string {
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

func (dialect) JoinKey(x string, _, _ *schema.Field) string { return x }

func (dialect) Counts() bool { return false }

func (dialect) Longest() int { return sqlgen.MaxText }

// ComputedField implements sqlgen.Dialect. Native is the declared type that matches the form of a computed value.
func (dialect) ComputedField(t schema.Type) *schema.Field {
	f := &schema.Field{Type: t}
	switch t {
	case schema.Date, schema.Day:
		f.Native = sqlgen.Milliseconds
	case schema.Double:
		f.Native = "REAL"
	}
	return f
}

// Read removes the declared type of a column with a unary plus, so that the driver returns the stored value.
func (dialect) Read(x string, _ *schema.Field) string { return "+" + x }

func (s dialect) OrderTerm(x string, f *schema.Field) (string, bool) {
	switch {
	case f.Type == schema.Date || f.Type == schema.Day:
		return millis(x, f), true
	case f.Unordered, s.wide:
		return byPoints(x, s.wide), false
	}
	return x, false
}

func (dialect) NullsClause(*schema.Field, bool) string { return "" }

// millis returns the instant in a column in sqlgen.Milliseconds, or null if the value isn't a date. SQLite has no
// date type. A text is read as ISO 8601. An integer is seconds since 1970 or, from 10^11 on, milliseconds. A real is
// a Julian day.
func millis(x string, f *schema.Field) string {
	if f.Native == sqlgen.Milliseconds {
		return x
	}
	return "CASE typeof(" + x + ") WHEN 'text' THEN CASE WHEN " + x + " GLOB '[0-9][0-9][0-9][0-9]-*' THEN" +
		" CAST(round(unixepoch(" + x + ", 'subsec') * 1000) AS INTEGER) END" +
		" WHEN 'integer' THEN CASE WHEN " + x + " BETWEEN -99999999999 AND 99999999999 THEN " + x + " * 1000 ELSE " + x + " END" +
		" WHEN 'real' THEN CAST(round((" + x + " - 2440587.5) * 86400000) AS INTEGER) END"
}

// CompareValue implements sqlgen.Dialect. An order needs a test of typeof, since SQLite orders values of all types.
// An equality needs no such test, so an index can answer it. A number that SQLite can't store gives Never.
func (s dialect) CompareValue(w *sqlgen.Writer, x sqlgen.Operand, op string, v any) error {
	if x.Node() {
		return s.compareNode(w, x, op, v)
	}
	left := s.bare(x)
	guard := ""
	switch v := v.(type) {
	case sqlgen.Moment:
		w.Write(millis(x.Text, x.Field), " ", op, " ")
		w.Put(millisOf(v), "")
		return nil
	case string:
		if x.Field.Type == schema.UUID && op == "=" {
			s.equalUUID(w, x.Text, v)
			return nil
		}
		guard = "typeof(" + x.Text + ") = 'text'"
		if x.Field.Unordered || s.wide && op != "=" {
			left = byPoints(left, s.wide)
		}
	case []byte:
		guard = "typeof(" + x.Text + ") = 'blob'"
	default:
		guard = "typeof(" + x.Text + ") IN ('integer', 'real')"
	}
	arg, ok := s.bind(op, v, x.Field)
	switch {
	case nan(v) && op[0] == '<': // NaN is greater than all numbers
		w.Write(guard)
	case !ok, nan(v):
		w.Write(sqlgen.Never)
	case op == "=": // values of different types are never equal, so an index needs no further test
		w.Write(left, " = ")
		w.Put(arg, "")
	default:
		w.Write("(", left, " ", op, " ")
		w.Put(arg, "")
		w.Write(" AND ", guard, ")")
	}
	return nil
}

// Among lists the values, since SQLite has no arrays. SQLite searches an index once for each value.
func (s dialect) Among(w *sqlgen.Writer, x sqlgen.Operand, values []value.Value) error {
	left, guard := s.bare(x), ""
	switch {
	case x.Node() && values[0].IsNumber():
		left, guard = x.Text+".value", x.Text+".type IN ('integer', 'real') AND "
	case x.Node():
		left, guard = x.Text+".value", x.Text+".type = 'text' AND "
	case values[0].IsNumber():
		left = x.Text
	case values[0].Kind() != value.String:
		left = millis(x.Text, x.Field)
	case x.Field.Unordered:
		left += " COLLATE BINARY"
	}
	if x.Field != nil && x.Field.Type == schema.UUID {
		left = x.Text // see equalUUID
	}
	w.Write("(", guard, left, " IN (")
	sep := ""
	list := func(arg any) {
		w.Write(sep)
		w.Put(arg, "")
		sep = ", "
	}
	for _, v := range values {
		arg := sqlgen.Argument(v)
		if m, ok := arg.(sqlgen.Moment); ok {
			list(millisOf(m))
			continue
		}
		arg, ok := s.bind("=", arg, x.Field)
		if ok && !nan(arg) {
			list(arg)
		}
		if x.Field != nil && x.Field.Type == schema.UUID {
			list(strings.ToUpper(v.Text()))
		}
	}
	w.Write("))")
	return nil
}

// bare returns the text of a column for a comparison with text. SQLite takes some declared types, such as UUID and
// AMOUNT, as numeric, and would convert the other operand to a number. A unary plus removes the declared type.
func (dialect) bare(x sqlgen.Operand) string {
	if !x.Node() && (x.Field.Type == schema.Any || x.Field.Type == schema.UUID) && x.Field.Native != "" {
		return "+" + x.Text
	}
	return x.Text
}

// equalUUID matches an id in lower or upper case, because SQLite stores it as written. An index can still be used.
func (dialect) equalUUID(w *sqlgen.Writer, left, id string) {
	w.Write(left, " IN (")
	w.Put(id, "")
	w.Write(", ")
	w.Put(strings.ToUpper(id), "")
	w.Write(")")
}

// bind converts an argument to the value that SQLite stores for it, so that "left op argument" is exact. It returns
// false if a number equals no stored value.
func (dialect) bind(op string, v any, f *schema.Field) (any, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1), true
		}
		return int64(0), true
	case sqlgen.Number:
		switch {
		case doubles(f):
			return v.Float, true
		case v.Whole:
			return v.Int, true
		case v.Float == math.Trunc(v.Float) && v.Float >= -1<<63 && v.Float < 1<<63:
			return beside(v, op), op != "=" // no integer equals it, although its nearest double may
		}
		return v.Float, true
	case int64:
		if doubles(f) {
			return float64(v), true
		}
	case sqlgen.Document:
		return string(v), true
	}
	return v, true
}

// doubles reports whether a column stores only doubles. Other columns store whole numbers exactly, as integers.
func doubles(f *schema.Field) bool {
	if f == nil || f.Type != schema.Double {
		return false
	}
	native := strings.ToUpper(f.Native)
	return strings.Contains(native, "REAL") || strings.Contains(native, "FLOA") || strings.Contains(native, "DOUB")
}

// millisOf returns the milliseconds of an instant as an integer, or as a float if they have a fraction.
func millisOf(m sqlgen.Moment) any {
	if m.Micros%1000 == 0 {
		return m.Micros / 1000
	}
	return float64(m.Micros) / 1000
}

func (s dialect) After(w *sqlgen.Writer, x string, f *schema.Field, op string, v any) error {
	w.Write(x, " ", op, " ")
	if m, ok := v.(sqlgen.Moment); ok {
		v = millisOf(m)
	}
	arg, _ := s.bind(op, v, f) // it equals a value, since it was read from the column
	w.Put(arg, "")
	return nil
}

func (dialect) MatchText(w *sqlgen.Writer, x sqlgen.Operand, r query.Regex) error {
	w.Write("(", text(x), " AND ", fnMatches, "(")
	w.Put(r.Expression(), "")
	w.Write(", ", scalarOf(x), "))")
	return nil
}

// Begins writes a range condition, which can use an index.
func (s dialect) Begins(w *sqlgen.Writer, x sqlgen.Operand, prefix string) {
	left := s.bare(x)
	if x.Node() {
		left = scalarOf(x)
	}
	if s.wide || !x.Node() && x.Field.Unordered {
		left = byPoints(left, s.wide)
	}
	w.Write("(", left, " >= ")
	w.Put(prefix, "")
	if next := sqlgen.Successor(prefix); next != "" {
		w.Write(" AND ", left, " < ")
		w.Put(next, "")
	}
	w.Write(" AND ", text(x), ")")
}

func text(x sqlgen.Operand) string {
	if x.Node() {
		return x.Text + ".type = 'text'"
	}
	return "typeof(" + x.Text + ") = 'text'"
}

func scalarOf(x sqlgen.Operand) string {
	if x.Node() {
		return x.Text + ".value"
	}
	return x.Text
}

// Nodes uses json_each, which returns a type and a value per row. A value that isn't JSON counts as a string.
func (s dialect) Nodes(w *sqlgen.Writer, x sqlgen.Operand, path query.Path) (sqlgen.Operand, error) {
	n := w.Alias("n")
	if x.Node() {
		w.Write("json_each(json_array(CASE ", x.Text, ".type WHEN 'array' THEN json(", x.Text, ".value) WHEN 'object' THEN json(",
			x.Text, ".value) WHEN 'true' THEN json('true') WHEN 'false' THEN json('false') ELSE ", x.Text, ".value END)) AS ", n)
	} else {
		w.Write("json_each(json_array(json(CASE WHEN typeof(", x.Text, ") = 'blob' THEN NULL WHEN json_valid(", x.Text, ") THEN ",
			x.Text, " ELSE json_quote(", x.Text, ") END))) AS ", n)
	}
	var objects []string
	for _, part := range path {
		if strings.ContainsAny(part, `"\`) {
			return sqlgen.Operand{}, sqlgen.UnsupportedError("%q: a JSON key with a quote or a backslash can't be filtered in SQLite", part)
		}
		o, next := w.Alias("n"), w.Alias("n")
		w.Write(", json_each(CASE ", n, ".type WHEN 'array' THEN ", n, ".value WHEN 'object' THEN json_array(json(", n, ".value)) ELSE '[]' END) AS ", o,
			", json_each(json_array(json(CASE ", o, ".type WHEN 'object' THEN ", o, ".value -> ")
		w.Put(`$."`+part+`"`, "")
		w.Write(" END))) AS ", next)
		objects = append(objects, o)
		n = next
	}
	w.Write(" WHERE ")
	for _, o := range objects { // a scalar has no parts, and elements of a list that aren't objects are skipped
		w.Write(o, ".type = 'object' AND ")
	}
	return sqlgen.Operand{Text: n}, nil
}

func (dialect) NodeElements(w *sqlgen.Writer, x sqlgen.Operand) sqlgen.Operand {
	e := w.Alias("n")
	w.Write("json_each(CASE ", x.Text, ".type WHEN 'array' THEN ", x.Text, ".value ELSE '[]' END) AS ", e)
	return sqlgen.Operand{Text: e}
}

func (dialect) Is(x sqlgen.Operand, typ string) string { return x.Text + ".type = '" + typ + "'" }

func (dialect) Length(x sqlgen.Operand) string {
	return "CASE " + x.Text + ".type WHEN 'array' THEN json_array_length(" + x.Text + ".value) END"
}

// compareNode compares an element of json_each by its type and its value. Lists and objects are compared as JSON
// values, not as text, because members have no order.
func (s dialect) compareNode(w *sqlgen.Writer, x sqlgen.Operand, op string, v any) error {
	left := x.Text + ".value"
	arg, ok := s.bind(op, v, nil)
	if !ok {
		w.Write(sqlgen.Never)
		return nil
	}
	switch v := v.(type) {
	case sqlgen.Document:
		w.Write("(", x.Text, ".type IN ('array', 'object') AND ", fnJSONEqual, "(", left, ", ")
		w.Put(string(v), "")
		w.Write("))")
		return nil
	case bool:
		w.Write("(", x.Text, ".type IN ('true', 'false') AND ", left, " ", op, " ")
	case string:
		if s.wide && op != "=" {
			left = byPoints(left, true)
		}
		w.Write("(", x.Text, ".type = 'text' AND ", left, " ", op, " ")
	default:
		w.Write("(", x.Text, ".type IN ('integer', 'real') AND ", left, " ", op, " ")
	}
	w.Put(arg, "")
	w.Write(")")
	return nil
}

func (s dialect) Members(x sqlgen.Operand, key string, f *schema.Field) (node, other string) {
	if f.Type == schema.Integer {
		return "CASE WHEN " + x.Text + ".type IN ('integer', 'real') THEN " + x.Text + ".value END", "+" + key
	}
	return "CASE " + x.Text + ".type WHEN 'text' THEN " + x.Text + ".value END", s.Same(key, f, &schema.Field{Type: f.Type, Unordered: true})
}

// mostPieced is the maximum size in bytes of a value from which SQLite reads pieces. SQLite reads the whole value
// into the memory of this process.
const mostPieced = "16777216"

func (dialect) Pieces() (characters, most string) { return "length", mostPieced }

func (dialect) AsText(x string, _ *schema.Field) string { return x }
