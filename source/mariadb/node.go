package mariadb

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A node of JSON is an expression that returns the node's text. MariaDB's only lateral table is JSON_TABLE. Here it
// counts elements and contains the names of a path. A path built from these extracts the node from the document. In a
// path, [0] of a value that isn't a list is the value itself.

// Nodes implements sqlgen.Dialect. It follows a path. A value that isn't JSON counts as a string.
func (m dialect) Nodes(w *sqlgen.Writer, x sqlgen.Operand, path query.Path) (sqlgen.Operand, error) {
	root := x.Text
	if !x.Node() && x.Field.Native != computedJSON {
		root = "CASE WHEN JSON_VALID(" + x.Text + ") THEN " + x.Text + " ELSE JSON_QUOTE(" + x.Text + ") END"
	}
	if len(path) == 0 {
		w.Write("DUAL WHERE ")
		return sqlgen.Operand{Text: root}, nil
	}
	names := m.names(w, path)
	at, here := "'$'", root
	var objects []string
	for i := range path {
		e := w.Alias("n")
		w.Write(", JSON_TABLE(CASE JSON_TYPE(", here, ") WHEN 'ARRAY' THEN ", here,
			" WHEN 'OBJECT' THEN '[0]' ELSE '[]' END, '$[*]' COLUMNS (o FOR ORDINALITY)) AS ", e)
		at += ", '[', " + e + ".o - 1, ']'"
		objects = append(objects, "JSON_TYPE(JSON_EXTRACT("+root+", CONCAT("+at+"))) = 'OBJECT'")
		at += ", " + names + ".k" + strconv.Itoa(i)
		here = "JSON_EXTRACT(" + root + ", CONCAT(" + at + "))"
	}
	w.Write(" WHERE ")
	for _, o := range objects { // a scalar has no parts, and elements of a list that aren't objects are skipped
		w.Write(o, " AND ")
	}
	return sqlgen.Operand{Text: here}, nil
}

// names writes a table with one row. Its columns k0, k1, … contain the parts of a path in the form ."name".
func (dialect) names(w *sqlgen.Writer, parts []string) (alias string) {
	list := make([]value.Value, len(parts))
	columns := make([]string, len(parts))
	for i, part := range parts {
		list[i] = value.OfString(`."` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(part) + `"`)
		columns[i] = "k" + strconv.Itoa(i) + " LONGTEXT PATH '$[" + strconv.Itoa(i) + "]'"
	}
	alias = w.Alias("p")
	w.Write("JSON_TABLE(")
	w.Put(string(value.OfArray(list).AppendJSON(nil)), "")
	w.Write(", '$' COLUMNS (", strings.Join(columns, ", "), ")) AS ", alias)
	return alias
}

func (dialect) NodeElements(w *sqlgen.Writer, x sqlgen.Operand) sqlgen.Operand {
	e := w.Alias("n")
	w.Write("JSON_TABLE(CASE JSON_TYPE(", x.Text, ") WHEN 'ARRAY' THEN ", x.Text, " ELSE '[]' END, '$[*]' COLUMNS (o FOR ORDINALITY)) AS ", e)
	return sqlgen.Operand{Text: "JSON_EXTRACT(" + x.Text + ", CONCAT('$[', " + e + ".o - 1, ']'))"}
}

func (dialect) Is(x sqlgen.Operand, typ string) string {
	return "coalesce(JSON_TYPE(" + x.Text + "), 'NULL') = '" + strings.ToUpper(typ) + "'"
}

func (dialect) Length(x sqlgen.Operand) string {
	return "CASE JSON_TYPE(" + x.Text + ") WHEN 'ARRAY' THEN JSON_LENGTH(" + x.Text + ") END"
}

func nodeText(x string) string {
	return "CASE JSON_TYPE(" + x + ") WHEN 'STRING' THEN " + binaryUTF8("JSON_UNQUOTE("+x+")") + " END"
}

// compareNode compares JSON x with a constant, depending on the constant's kind. It compares lists and objects as
// values, and numbers exactly. A value of another kind doesn't match.
func (m dialect) compareNode(w *sqlgen.Writer, x, op string, v any) error {
	switch v := v.(type) {
	case sqlgen.Document:
		doc, err := value.Read([]byte(v), 0)
		if err != nil {
			return err
		}
		m.equalNode(w, x, doc)
	case string:
		m.compareString(w, x, op, v)
	case bool:
		m.compareBool(w, x, op, v)
	case int64:
		m.compareNumber(w, x, op, strconv.FormatInt(v, 10))
	case sqlgen.Number:
		m.compareNumber(w, x, op, v.Text)
	default:
		return sqlgen.UnsupportedError("%T can't be compared with JSON", v)
	}
	return nil
}

func (dialect) compareString(w *sqlgen.Writer, x, op, v string) {
	w.Write("(", nodeText(x), " ", op, " ")
	w.Put(v, "")
	w.Write(")")
}

func (dialect) compareBool(w *sqlgen.Writer, x, op string, v bool) {
	n := int64(0)
	if v {
		n = 1
	}
	w.Write("CASE JSON_TYPE(", x, ") WHEN 'BOOLEAN' THEN (", binaryUTF8("JSON_UNQUOTE("+x+")"), " = 'true') ", op, " ")
	w.Put(n, "")
	w.Write(" END")
}

// compareNumber compares as decimals with 35 and 30 digits. If these are equal, it compares as doubles. Both
// conversions keep the order.
func (dialect) compareNumber(w *sqlgen.Writer, x, op, text string) {
	const decimal, double = " AS DECIMAL(65,30))", " AS DOUBLE)"
	w.Write("CASE WHEN JSON_TYPE(", x, ") IN ('INTEGER', 'DOUBLE') THEN ")
	x = "JSON_UNQUOTE(" + x + ")"
	if op != "=" {
		w.Write("CAST(", x, decimal, " ", op[:1], " CAST(")
		w.Put(text, "")
		w.Write(decimal, " OR ")
	}
	w.Write("CAST(", x, decimal, " = CAST(")
	w.Put(text, "")
	w.Write(decimal, " AND CAST(", x, double, " ", op, " CAST(")
	w.Put(text, "")
	w.Write(double, " END")
}

// equalNode compares a document part by part, because MariaDB's JSON_EQUALS rounds numbers. v was read from JSON.
func (m dialect) equalNode(w *sqlgen.Writer, x string, v value.Value) {
	switch v.Kind() {
	case value.Array:
		w.Write("(JSON_TYPE(", x, ") = 'ARRAY' AND JSON_LENGTH(", x, ") = ", strconv.Itoa(len(v.List())))
		for i, e := range v.List() {
			w.Write(" AND ")
			m.equalNode(w, "JSON_EXTRACT("+x+", '$["+strconv.Itoa(i)+"]')", e)
		}
		w.Write(")")
	case value.Object:
		m.equalObject(w, x, v.Members())
	case value.Null:
		w.Write("coalesce(JSON_TYPE(", x, ") = 'NULL', FALSE)")
	case value.Bool:
		m.compareBool(w, x, "=", v.Bool())
	case value.String:
		m.compareString(w, x, "=", v.Text())
	default:
		m.compareNumber(w, x, "=", v.String())
	}
}

// equalObject writes the condition that x is an object with exactly these members, in any order. The paths of the
// members are arguments, since names may contain any character.
func (m dialect) equalObject(w *sqlgen.Writer, x string, members []value.Member) {
	w.Write("(JSON_TYPE(", x, ") = 'OBJECT' AND JSON_LENGTH(", x, ") = ", strconv.Itoa(len(members)))
	if len(members) > 0 {
		names := make([]string, len(members))
		for i, member := range members {
			names[i] = member.Name
		}
		w.Write(" AND EXISTS (SELECT 1 FROM ")
		p := m.names(w, names)
		w.Write(" WHERE ")
		for i, member := range members {
			if i > 0 {
				w.Write(" AND ")
			}
			m.equalNode(w, "JSON_EXTRACT("+x+", CONCAT('$', "+p+".k"+strconv.Itoa(i)+"))", member.Value)
		}
		w.Write(")")
	}
	w.Write(")")
}
