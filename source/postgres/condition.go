package postgres

import (
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Name implements sqlgen.Dialect.
func (dialect) Name() string { return "postgresql" }

// Home implements sqlgen.Dialect.
func (dialect) Home() string { return "public" }

func (dialect) Negation() (before, after string) { return "((", ") IS NOT TRUE)" }

func (dialect) Placeholder(n int, cast string) string {
	if cast == "" {
		return "$" + strconv.Itoa(n)
	}
	return "$" + strconv.Itoa(n) + "::" + cast
}

// Same compares text in the collation of the index, unless one of the two fields has its own collation.
func (p dialect) Same(x string, f, other *schema.Field) string {
	switch {
	case f.Type != schema.String:
		return widenColumn(x, f)
	case f.Unordered || other.Unordered:
		return p.textOf(x, f) + ` COLLATE "C"`
	}
	return p.textOf(x, f)
}

// JoinKey compares columns with different types or collations in the same way as Same, because PostgreSQL can't
// compare some of them directly. The two columns of a foreign key are alike.
func (p dialect) JoinKey(x string, f, other *schema.Field) string {
	if f.Unordered != other.Unordered || f.Native != other.Native {
		return p.Same(x, f, other)
	}
	return x
}

func (dialect) Counts() bool { return true }

func (dialect) Longest() int { return sqlgen.MaxText }

func (dialect) Limit(w *sqlgen.Writer, n int64) string { return w.Arg(n, "") }

func (dialect) ComputedField(t schema.Type) *schema.Field {
	return &schema.Field{Type: t, Native: [...]string{schema.String: "text", schema.Integer: "int8", schema.Double: "float8", schema.Decimal: "numeric",
		schema.Boolean: "bool", schema.Date: "timestamp", schema.Day: "date", schema.UUID: "uuid", schema.Bytes: "bytea", schema.JSON: "jsonb", schema.Opaque: ""}[t]}
}

// Read selects a column as text if PostgreSQL's own output doesn't have the form of the field's type.
func (p dialect) Read(x string, f *schema.Field) string {
	switch {
	case f.Type == schema.Array:
		return "to_jsonb(" + x + ")"
	case f.Type == schema.String, f.Native == "inet", f.Point:
		return p.textOf(x, f)
	case f.Native == "money":
		return widenColumn(x, f)
	}
	return x
}

// textOf returns a column as text. It casts enums, and text types with their own comparison rules.
func (dialect) textOf(x string, f *schema.Field) string {
	switch f.Native {
	case "text", "varchar":
		return x
	case "inet":
		return address(x)
	}
	if f.Point {
		x = argumentOf(x, f)
	}
	return x + "::text"
}

func (p dialect) OrderTerm(x string, f *schema.Field) (string, bool) {
	switch f.Type {
	case schema.String, schema.Opaque: // a key is ordered by its shown text, since that text is the position
		return byBytes(p.textOf(x, f), p.encoded), false
	case schema.JSON, schema.Array, schema.Any:
		return byBytes(x+"::text", p.encoded), false
	}
	return widenColumn(x, f), false
}

// widenColumn returns a column with the value that callers see. A single-precision 0.1 is shown as 0.1, but as a
// double it is 0.10000000149. It is therefore converted through its text, to be equal to the value that a caller reads and
// writes. Money is shown in the currency of the server.
func widenColumn(x string, f *schema.Field) string {
	switch {
	case f.Native == "float4":
		return x + "::text::float8"
	case f.Native == "money":
		return x + "::numeric"
	}
	return x
}

// NullsClause implements sqlgen.Dialect. It orders nulls as the query language specifies. A column without nulls
// needs no clause, so that its index can be used.
func (dialect) NullsClause(f *schema.Field, desc bool) string {
	switch {
	case f.NotNull:
		return ""
	case desc:
		return " NULLS LAST"
	}
	return " NULLS FIRST"
}

// CompareValue implements sqlgen.Dialect. Texts are ordered by code points (COLLATE "C"). An equality names the
// collation only for columns with their own collation, so that indexes of other columns can be used.
func (p dialect) CompareValue(w *sqlgen.Writer, x sqlgen.Operand, op string, v any) error {
	if x.Node() {
		return p.compareNode(w, x, op, v)
	}
	if _, truth := v.(bool); x.Field.Type == schema.Boolean && !truth {
		w.Write(sqlgen.Never)
		return nil
	}
	if text, ok := v.(string); ok && x.Field.Type == schema.Opaque {
		return p.compareOpaque(w, x, op, text)
	}
	left := widenColumn(x.Text, x.Field)
	if x.Field.Type == schema.String {
		left = p.textOf(x.Text, x.Field)
		if text, ok := v.(string); ok && op != "=" && p.encoded {
			w.Write(byBytes(left, true), " ", op, " ", byBytes(w.Arg(text, "text"), true))
			return nil
		}
		if op != "=" || x.Field.Unordered {
			left += ` COLLATE "C"`
		}
	}
	w.Write(left, " ", op, " ")
	return p.bind(w, x.Field, v)
}

// Among compares with one array. So the text is the same for any number of values, and an index is searched once.
func (p dialect) Among(w *sqlgen.Writer, x sqlgen.Operand, values []value.Value) error {
	switch {
	case !x.Node() && x.Field.Type == schema.Opaque:
		parts := make([]func() error, len(values))
		for i, v := range values {
			parts[i] = func() error { return p.compareOpaque(w, x, "=", v.Text()) }
		}
		return w.Either(parts)
	case x.Node() && values[0].IsNumber():
		w.Write("CASE jsonb_typeof(", x.Text, ") WHEN 'number' THEN (", x.Text, ")::numeric = ANY(")
		w.Put(texts(values), "text[]")
		w.Write("::numeric[]) END")
		return nil
	case x.Node():
		w.Write("(", p.string(x))
	case x.Field.Type == schema.String:
		w.Write("(", p.textOf(x.Text, x.Field))
		if x.Field.Unordered {
			w.Write(` COLLATE "C"`)
		}
	default:
		w.Write("(", widenColumn(x.Text, x.Field))
	}
	w.Write(" = ANY(")
	err := p.array(w, x, values)
	w.Write("))")
	return err
}

// array writes values as an array of the type that the comparison uses.
func (p dialect) array(w *sqlgen.Writer, x sqlgen.Operand, values []value.Value) error {
	switch {
	case x.Node() || x.Field.Type == schema.String:
		w.Put(texts(values), "text[]")
	case x.Field.Type == schema.UUID:
		w.Put(texts(values), "uuid[]")
	case x.Field.Type == schema.Double:
		list := make([]float64, len(values))
		for i, v := range values {
			list[i], _ = v.AsFloat()
		}
		w.Put(list, "float8[]")
	case x.Field.Type == schema.Integer && !slices.ContainsFunc(values, func(v value.Value) bool { return v.Kind() != value.Int }):
		list := make([]int64, len(values))
		for i, v := range values {
			list[i] = v.Int()
		}
		w.Put(list, "int8[]")
	case x.Field.Type == schema.Integer || x.Field.Type == schema.Decimal:
		w.Put(texts(values), "text[]")
		w.Write("::numeric[]")
	case x.Field.Type == schema.Date || x.Field.Type == schema.Day:
		list, cast := make([]string, len(values)), ""
		for i, v := range values {
			if v.Kind() == value.String { // an Endless date
				list[i], cast = v.Text(), x.Field.Native
				continue
			}
			list[i], cast = momentText(sqlgen.Moment{Micros: v.Micros()}, x.Field)
		}
		w.Put(list, "text[]")
		w.Write("::", cast, "[]")
	default:
		return sqlgen.UnsupportedError("a list can't be compared with a column of type %s", x.Field.Type)
	}
	return nil
}

// texts returns the texts of values in PostgreSQL's text format.
func texts(values []value.Value) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.String()
	}
	return out
}

// bind writes v as an argument of the type that the comparison uses.
func (dialect) bind(w *sqlgen.Writer, f *schema.Field, v any) error {
	switch v := v.(type) {
	case bool:
		w.Put(v, "boolean")
	case int64:
		if f.Type == schema.Double {
			w.Put(float64(v), "float8")
		} else {
			w.Put(v, "int8")
		}
	case float64:
		if f.Type == schema.Decimal { // the value may be too large for a double, which would raise an error
			w.Put(value.OfFloat(v).String(), "text")
			w.Write("::numeric")
		} else {
			w.Put(v, "float8")
		}
	case sqlgen.Number:
		if f.Type == schema.Double {
			w.Put(v.Float, "float8")
		} else {
			w.Put(v.Text, "numeric")
		}
	case string:
		switch f.Type {
		case schema.UUID:
			w.Put(v, "uuid")
		case schema.Date, schema.Day: // an Endless date
			w.Put(v, f.Native)
		default:
			w.Put(v, "text")
		}
	case []byte:
		w.Put(v, "bytea")
	case sqlgen.Moment:
		w.Put(momentText(v, f))
	default:
		return sqlgen.UnsupportedError("%T can't be compared with a column of type %s", v, f.Type)
	}
	return nil
}

func (p dialect) After(w *sqlgen.Writer, x string, f *schema.Field, op string, v any) error {
	w.Write(x, " ", op, " ")
	if text, ok := v.(string); ok && p.encoded && f.Type != schema.UUID && f.Type != schema.Date && f.Type != schema.Day {
		w.Write(byBytes(w.Arg(text, "text"), true))
		return nil
	}
	return p.bind(w, f, v)
}

// document returns a JSON column as jsonb.
func (dialect) document(x sqlgen.Operand) string {
	switch {
	case x.Field.Type == schema.Array:
		return "to_jsonb(" + x.Text + ")"
	case x.Field.Native == "json":
		return jsonText(x.Text)
	}
	return x.Text
}

// Nodes writes the values at path in a JSON document as a FROM list. Each step unpacks a list, and treats an object
// as a list of one. It then selects the part of each object, as in MongoDB. The CASE prevents errors of
// jsonb_array_elements for other values.
func (p dialect) Nodes(w *sqlgen.Writer, x sqlgen.Operand, path query.Path) (sqlgen.Operand, error) {
	n := w.Alias("n")
	root := x.Text
	if !x.Node() {
		root = p.document(x)
	}
	w.Write("(SELECT ", root, " AS v) AS ", n)
	for _, part := range path {
		o, next := w.Alias("n"), w.Alias("n")
		w.Write(", LATERAL jsonb_array_elements(CASE jsonb_typeof(", n, ".v) WHEN 'array' THEN ", n, ".v WHEN 'object' THEN jsonb_build_array(",
			n, ".v) ELSE '[]' END) AS ", o, "(v), LATERAL (SELECT ", o, ".v -> ")
		w.Put(part, "text")
		w.Write(" AS v WHERE jsonb_typeof(", o, ".v) = 'object') AS ", next)
		n = next
	}
	w.Write(" WHERE ")
	return sqlgen.Operand{Text: n + ".v"}, nil
}

func (dialect) NodeElements(w *sqlgen.Writer, x sqlgen.Operand) sqlgen.Operand {
	e := w.Alias("n")
	w.Write("jsonb_array_elements(CASE jsonb_typeof(", x.Text, ") WHEN 'array' THEN ", x.Text, " ELSE '[]' END) AS ", e, "(v)")
	return sqlgen.Operand{Text: e + ".v"}
}

func (dialect) Is(x sqlgen.Operand, typ string) string {
	return "coalesce(jsonb_typeof(" + x.Text + "), 'null') = '" + typ + "'"
}

func (dialect) Length(x sqlgen.Operand) string {
	return "CASE jsonb_typeof(" + x.Text + ") WHEN 'array' THEN jsonb_array_length(" + x.Text + ") END"
}

// compareNode casts a node only after a test of its type. CASE guarantees the order of the test and the cast.
func (p dialect) compareNode(w *sqlgen.Writer, x sqlgen.Operand, op string, v any) error {
	typ, cast := "number", "::numeric"
	switch v := v.(type) {
	case sqlgen.Document:
		w.Write(x.Text, " = ")
		w.Put(string(v), "jsonb")
		return nil
	case string:
		if p.encoded && op != "=" {
			w.Write("(", byBytes(p.string(x), true), " ", op, " ", byBytes(w.Arg(v, "text"), true), ")")
			return nil
		}
		w.Write("(", p.string(x), " ", op, " ")
		w.Put(v, "text")
		w.Write(")")
		return nil
	case bool:
		typ, cast = "boolean", "::boolean"
	}
	w.Write("CASE jsonb_typeof(", x.Text, ") WHEN '", typ, "' THEN (", x.Text, ")", cast, " ", op, " ")
	switch v := v.(type) {
	case bool:
		w.Put(v, "boolean")
	case int64:
		w.Put(v, "int8")
	case sqlgen.Number:
		w.Put(v.Text, "numeric")
	default:
		return sqlgen.UnsupportedError("%T can't be compared with JSON", v)
	}
	w.Write(" END")
	return nil
}

func (p dialect) Members(x sqlgen.Operand, key string, f *schema.Field) (node, other string) {
	if f.Type == schema.Integer {
		return "CASE jsonb_typeof(" + x.Text + ") WHEN 'number' THEN " + x.Text + "::numeric END", key + "::numeric"
	}
	return p.string(x), p.textOf(key, f) + ` COLLATE "C"`
}

func (dialect) Pieces() (characters, most string) { return "length", "" }

func (p dialect) AsText(x string, f *schema.Field) string {
	if x = p.Read(x, f); f.Type == schema.String || f.Type == schema.Bytes {
		return x
	}
	return x + "::text"
}
