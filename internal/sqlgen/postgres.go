package sqlgen

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	pgexpr "github.com/bailiwick-dev/bailiwick/internal/sqlgen/postgres"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/regex"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// postgres writes for PostgreSQL 12 or later. Every argument is cast, so that its type never depends on what it is
// compared with.
type postgres struct{ standard }

func (postgres) negation() (before, after string) { return "((", ") IS NOT TRUE)" }

func (postgres) placeholder(n int, cast string) string {
	if cast == "" {
		return "$" + strconv.Itoa(n)
	}
	return "$" + strconv.Itoa(n) + "::" + cast
}

// same compares text in the collation of an index, unless one of the two has a collation of its own.
func (p postgres) same(x string, f, other *schema.Field) string {
	switch {
	case f.Type != schema.String:
		return widened(x, f)
	case f.Unordered || other.Unordered:
		return p.text(x, f) + ` COLLATE "C"`
	}
	return p.text(x, f)
}

// key compares texts of unlike types or collations as same does: PostgreSQL refuses some of them. A foreign key's are
// alike.
func (p postgres) key(x string, f, other *schema.Field) string {
	plain := func(f *schema.Field) bool { return f.Native == "text" || f.Native == "varchar" }
	if f.Type == schema.String && (f.Unordered != other.Unordered || f.Native != other.Native && !(plain(f) && plain(other))) {
		return p.same(x, f, other)
	}
	return x
}

func (postgres) counts() bool { return true }

func (postgres) longest() int { return maxText }

func (postgres) limit(place string) string { return place }

func (postgres) computed(t schema.Type) *schema.Field {
	return &schema.Field{Type: t, Native: [...]string{schema.String: "text", schema.Integer: "int8", schema.Double: "float8", schema.Decimal: "numeric",
		schema.Boolean: "bool", schema.Date: "timestamp", schema.Day: "date", schema.UUID: "uuid", schema.Bytes: "bytea", schema.JSON: "jsonb", schema.Opaque: ""}[t]}
}

// read selects text where PostgreSQL's own output isn't in the form of the field's type.
func (p postgres) read(x string, f *schema.Field) string {
	switch {
	case f.Type == schema.Array:
		return "to_jsonb(" + x + ")"
	case f.Type == schema.String, f.Native == "inet" && f.Type == schema.Opaque:
		return p.text(x, f)
	case f.Native == "money":
		return widened(x, f)
	}
	return x
}

// text returns a column as text: text types with comparison rules of their own, and enums, are cast.
func (postgres) text(x string, f *schema.Field) string {
	switch f.Native {
	case "text", "varchar":
		return x
	case "inet":
		return pgexpr.Address(x)
	}
	return x + "::text"
}

func (p postgres) sorted(x string, f *schema.Field) (string, bool) {
	switch f.Type {
	case schema.String:
		return p.text(x, f) + ` COLLATE "C"`, false
	case schema.JSON, schema.Array, schema.Opaque, schema.Any:
		return x + `::text COLLATE "C"`, false
	}
	return widened(x, f), false
}

// widened returns a column as its value is shown. A single-precision 0.1 is shown as 0.1, and as a double it is
// 0.10000000149: it equals what a caller reads and writes only if it is converted through its text. Money is shown in
// the currency of the server.
func widened(x string, f *schema.Field) string {
	switch {
	case f.Native == "float4":
		return x + "::text::float8"
	case f.Native == "money" && f.Type == schema.Decimal:
		return x + "::numeric"
	}
	return x
}

// ordered puts nulls where the query language puts them; a column without nulls keeps the order of its index.
func (postgres) ordered(f *schema.Field, desc bool) string {
	switch {
	case f.NotNull:
		return ""
	case desc:
		return " NULLS LAST"
	}
	return " NULLS FIRST"
}

func (p postgres) compare(w *writer, x operand, op string, v any) error {
	if x.node() {
		return p.compareNode(w, x, op, v)
	}
	left := widened(x.text, x.field)
	if x.field.Type == schema.String || x.field.Type == schema.Opaque {
		left = p.text(x.text, x.field)
		if op != "=" || x.field.Unordered {
			left += ` COLLATE "C"`
		}
	}
	w.write(left, " ", op, " ")
	return p.bind(w, x.field, v)
}

// among compares with one array, so that the text is the same for any number of values and an index is searched once.
func (p postgres) among(w *writer, x operand, values []value.Value) error {
	switch {
	case x.node() && values[0].IsNumber():
		w.write("CASE jsonb_typeof(", x.text, ") WHEN 'number' THEN (", x.text, ")::numeric = ANY(")
		w.arg(texts(values), "text[]")
		w.write("::numeric[]) END")
		return nil
	case x.node():
		w.write("(", p.string(x))
	case x.field.Type == schema.String, x.field.Type == schema.Opaque:
		w.write("(", p.text(x.text, x.field))
		if x.field.Unordered {
			w.write(` COLLATE "C"`)
		}
	default:
		w.write("(", widened(x.text, x.field))
	}
	w.write(" = ANY(")
	err := p.array(w, x, values)
	w.write("))")
	return err
}

// array writes values as an array of the type of the comparison.
func (p postgres) array(w *writer, x operand, values []value.Value) error {
	switch {
	case x.node() || x.field.Type == schema.String || x.field.Type == schema.Opaque:
		w.arg(texts(values), "text[]")
	case x.field.Type == schema.UUID:
		w.arg(texts(values), "uuid[]")
	case x.field.Type == schema.Double:
		list := make([]float64, len(values))
		for i, v := range values {
			list[i], _ = v.AsFloat()
		}
		w.arg(list, "float8[]")
	case x.field.Type == schema.Integer && !slices.ContainsFunc(values, func(v value.Value) bool { return v.Kind() != value.Int }):
		list := make([]int64, len(values))
		for i, v := range values {
			list[i] = v.Int()
		}
		w.arg(list, "int8[]")
	case x.field.Type == schema.Integer || x.field.Type == schema.Decimal:
		w.arg(texts(values), "text[]")
		w.write("::numeric[]")
	case x.field.Type == schema.Date || x.field.Type == schema.Day:
		list, cast := make([]string, len(values)), ""
		for i, v := range values {
			list[i], cast = moment{v.Micros()}.text(x.field)
		}
		w.arg(list, "text[]")
		w.write("::", cast, "[]")
	default:
		return unsupported("a list can't be compared with a column of type %s", x.field.Type)
	}
	return nil
}

// texts returns values in PostgreSQL's text format.
func texts(values []value.Value) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.String()
	}
	return out
}

// bind writes an argument in the type of the comparison.
func (postgres) bind(w *writer, f *schema.Field, v any) error {
	switch v := v.(type) {
	case bool:
		w.arg(v, "boolean")
	case int64:
		if f.Type == schema.Double {
			w.arg(float64(v), "float8")
		} else {
			w.arg(v, "int8")
		}
	case float64:
		w.arg(v, "float8")
	case number:
		if f.Type == schema.Double {
			w.arg(v.float, "float8")
		} else {
			w.arg(v.text, "numeric")
		}
	case string:
		switch f.Type {
		case schema.UUID:
			w.arg(v, "uuid")
		case schema.Date, schema.Day: // an infinite one, from a position in an order
			w.arg(v, f.Native)
		default:
			w.arg(v, "text")
		}
	case []byte:
		w.arg(v, "bytea")
	case moment:
		w.arg(v.text(f))
	default:
		return unsupported("%T can't be compared with a column of type %s", v, f.Type)
	}
	return nil
}

// text returns an instant in PostgreSQL's text format for a column, and the type to parse it as. There, years before 1
// are counted backwards, and there is no year 0.
func (m moment) text(f *schema.Field) (text, cast string) {
	t := time.UnixMicro(m.micros).UTC()
	zone, era := "", ""
	cast = "timestamp"
	if f.Native == "timestamptz" {
		zone, cast = "+00", "timestamptz"
	}
	year := t.Year()
	if year < 1 {
		year, era = 1-year, " BC"
	}
	return fmt.Sprintf("%04d-%s%s%s", year, t.Format("01-02 15:04:05.999999"), zone, era), cast
}

func (p postgres) after(w *writer, x string, f *schema.Field, op string, v any) error {
	w.write(x, " ", op, " ")
	return p.bind(w, f, v)
}

func (p postgres) matches(w *writer, x operand, r query.Regex) error {
	pattern, err := regex.PostgreSQL(r)
	if err != nil {
		return err
	}
	w.write("(", p.string(x), " ~ ")
	w.arg(pattern, "text")
	w.write(")")
	return nil
}

func (p postgres) begins(w *writer, x operand, prefix string) {
	w.write("starts_with(", p.string(x), ", ")
	w.arg(prefix, "text")
	w.write(")")
}

// string returns the text that x holds, null if it holds none, compared by its bytes.
func (p postgres) string(x operand) string {
	if x.node() {
		return "CASE jsonb_typeof(" + x.text + ") WHEN 'string' THEN " + x.text + ` #>> '{}' END COLLATE "C"`
	}
	return p.text(x.text, x.field) + ` COLLATE "C"`
}

// document returns a JSON column as jsonb.
func (postgres) document(x operand) string {
	switch {
	case x.field.Type == schema.Array:
		return "to_jsonb(" + x.text + ")"
	case x.field.Native == "json":
		return pgexpr.JSONText(x.text)
	}
	return x.text
}

func (p postgres) nodes(w *writer, x operand, path query.Path) (operand, error) {
	n := w.alias("n")
	root := x.text
	if !x.node() {
		root = p.document(x)
	}
	w.write("(SELECT ", root, " AS v) AS ", n)
	for _, part := range path {
		o, next := w.alias("n"), w.alias("n")
		w.write(", LATERAL jsonb_array_elements(CASE jsonb_typeof(", n, ".v) WHEN 'array' THEN ", n, ".v WHEN 'object' THEN jsonb_build_array(",
			n, ".v) ELSE '[]' END) AS ", o, "(v), LATERAL (SELECT ", o, ".v -> ")
		w.arg(part, "text")
		w.write(" AS v WHERE jsonb_typeof(", o, ".v) = 'object') AS ", next)
		n = next
	}
	w.write(" WHERE ")
	return operand{text: n + ".v"}, nil
}

func (postgres) elements(w *writer, x operand) operand {
	e := w.alias("n")
	w.write("jsonb_array_elements(CASE jsonb_typeof(", x.text, ") WHEN 'array' THEN ", x.text, " ELSE '[]' END) AS ", e, "(v)")
	return operand{text: e + ".v"}
}

func (postgres) is(x operand, typ string) string {
	return "coalesce(jsonb_typeof(" + x.text + "), 'null') = '" + typ + "'"
}

func (postgres) length(x operand) string {
	return "CASE jsonb_typeof(" + x.text + ") WHEN 'array' THEN jsonb_array_length(" + x.text + ") END"
}

// compareNode casts a node only after a test of its type; CASE keeps the order of the two.
func (p postgres) compareNode(w *writer, x operand, op string, v any) error {
	typ, cast := "number", "::numeric"
	switch v := v.(type) {
	case document:
		w.write(x.text, " = ")
		w.arg(string(v), "jsonb")
		return nil
	case string:
		w.write("(", p.string(x), " ", op, " ")
		w.arg(v, "text")
		w.write(")")
		return nil
	case bool:
		typ, cast = "boolean", "::boolean"
	}
	w.write("CASE jsonb_typeof(", x.text, ") WHEN '", typ, "' THEN (", x.text, ")", cast, " ", op, " ")
	switch v := v.(type) {
	case bool:
		w.arg(v, "boolean")
	case int64:
		w.arg(v, "int8")
	case number:
		w.arg(v.text, "numeric")
	default:
		return unsupported("%T can't be compared with JSON", v)
	}
	w.write(" END")
	return nil
}
