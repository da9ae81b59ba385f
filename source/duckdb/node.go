package duckdb

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A JSON node is represented by its text.

// Nodes writes the values at path in a JSON document as a FROM list. Each step unpacks a list, and treats an object
// as a list of one. It then selects the part of each object, as in MongoDB.
func (d dialect) Nodes(w *sqlgen.Writer, x sqlgen.Operand, path query.Path) (sqlgen.Operand, error) {
	n := w.Alias("n")
	root := x.Text
	if !x.Node() {
		root = validJSON(x.Text, x.Field)
	}
	w.Write("(SELECT ", root, " AS v) AS ", n)
	for _, part := range path {
		o, next := w.Alias("n"), w.Alias("n")
		w.Write(", LATERAL (SELECT unnest(CASE json_type(", n, ".v) WHEN 'ARRAY' THEN json_extract(", n, ".v, '$[*]')::VARCHAR[] WHEN 'OBJECT' THEN [",
			n, ".v::VARCHAR] ELSE []::VARCHAR[] END) AS v) AS ", o, ", LATERAL (SELECT json_extract(", o, ".v, ")
		w.Put(pointer(part), "VARCHAR")
		w.Write(")::VARCHAR AS v WHERE json_type(", o, ".v) = 'OBJECT') AS ", next)
		n = next
	}
	w.Write(" WHERE ")
	return sqlgen.Operand{Text: n + ".v"}, nil
}

func (dialect) NodeElements(w *sqlgen.Writer, x sqlgen.Operand) sqlgen.Operand {
	e := w.Alias("n")
	w.Write("(SELECT unnest(CASE json_type(", x.Text, ") WHEN 'ARRAY' THEN json_extract(", x.Text, ", '$[*]')::VARCHAR[] ELSE []::VARCHAR[] END) AS v) AS ", e)
	return sqlgen.Operand{Text: e + ".v"}
}

func (dialect) Is(x sqlgen.Operand, typ string) string {
	return "coalesce(json_type(" + x.Text + "), 'NULL') = '" + strings.ToUpper(typ) + "'"
}

func (dialect) Length(x sqlgen.Operand) string {
	return "(CASE json_type(" + x.Text + ") WHEN 'ARRAY' THEN json_array_length(" + x.Text + ")::BIGINT END)"
}

// compareNode compares numbers as decimals with 23 digits before the point and 15 after it. If these are equal or out
// of range, it compares whole numbers of 38 digits, and finally doubles. Each conversion keeps the order.
func (d dialect) compareNode(w *sqlgen.Writer, x sqlgen.Operand, op string, v any) error {
	text := ""
	switch v := v.(type) {
	case string:
		w.Write("(", d.string(x), " ", op, " ")
		w.Put(v, "VARCHAR")
		w.Write(")")
		return nil
	case bool:
		w.Write("(CASE json_type(", x.Text, ") WHEN 'BOOLEAN' THEN (", x.Text, " = 'true') ", op, " ")
		w.Put(v, "BOOLEAN")
		w.Write(" END)")
		return nil
	case int64:
		text = strconv.FormatInt(v, 10)
	case sqlgen.Number:
		text = v.Text
	default:
		return sqlgen.UnsupportedError("objects and lists of JSON are not compared by DuckDB")
	}
	arg := w.Arg(text, "VARCHAR")
	w.Write("(CASE WHEN json_type(", x.Text, ") NOT IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN NULL")
	for _, cast := range []string{" AS DECIMAL(38,15))", " AS DECIMAL(38,0))"} {
		left, right := "TRY_CAST("+x.Text+cast, "TRY_CAST("+arg+cast
		w.Write(" WHEN ", left, " <> ", right, " THEN ", left, " ", op, " ", right)
	}
	w.Write(" ELSE TRY_CAST(", x.Text, " AS DOUBLE) ", op, " TRY_CAST(", arg, " AS DOUBLE) END)")
	return nil
}

func (d dialect) Members(x sqlgen.Operand, key string, f *schema.Field) (node, other string) {
	if f.Type == schema.Integer {
		const decimal = " AS DECIMAL(38,15))"
		return "(CASE WHEN json_type(" + x.Text + ") IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN TRY_CAST(" + x.Text + decimal + " END)", "TRY_CAST(" + key + decimal
	}
	return d.string(x), "(" + key + "::VARCHAR)"
}
