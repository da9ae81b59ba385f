package sqlgen

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A node of JSON is an expression that returns its text. The only lateral table in MariaDB is JSON_TABLE, which here
// counts elements and holds the names of a path; the node itself is extracted from the document by a path assembled from
// them. In a path, [0] of a value that isn't a list is the value itself.

// nodes follows a path. A value that isn't JSON counts as a string.
func (m mysql) nodes(w *writer, x operand, path query.Path) (operand, error) {
	root := x.text
	if !x.node() && x.field.Native != computedJSON {
		root = "CASE WHEN JSON_VALID(" + x.text + ") THEN " + x.text + " ELSE JSON_QUOTE(" + x.text + ") END"
	}
	if len(path) == 0 {
		w.write("DUAL WHERE ")
		return operand{text: root}, nil
	}
	names := m.names(w, path)
	at, here := "'$'", root
	var objects []string
	for i := range path {
		e := w.alias("n")
		w.write(", JSON_TABLE(CASE JSON_TYPE(", here, ") WHEN 'ARRAY' THEN ", here,
			" WHEN 'OBJECT' THEN '[0]' ELSE '[]' END, '$[*]' COLUMNS (o FOR ORDINALITY)) AS ", e)
		at += ", '[', " + e + ".o - 1, ']'"
		objects = append(objects, "JSON_TYPE(JSON_EXTRACT("+root+", CONCAT("+at+"))) = 'OBJECT'")
		at += ", " + names + ".k" + strconv.Itoa(i)
		here = "JSON_EXTRACT(" + root + ", CONCAT(" + at + "))"
	}
	w.write(" WHERE ")
	for _, o := range objects { // a scalar has no parts; elements of a list that aren't objects are skipped
		w.write(o, " AND ")
	}
	return operand{text: here}, nil
}

// names writes a table of one row whose columns k0, k1, … hold the parts of a path: ."name".
func (mysql) names(w *writer, parts []string) (alias string) {
	list := make([]value.Value, len(parts))
	columns := make([]string, len(parts))
	for i, part := range parts {
		list[i] = value.OfString(`."` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(part) + `"`)
		columns[i] = "k" + strconv.Itoa(i) + " LONGTEXT PATH '$[" + strconv.Itoa(i) + "]'"
	}
	alias = w.alias("p")
	w.write("JSON_TABLE(")
	w.arg(string(value.OfArray(list).AppendJSON(nil)), "")
	w.write(", '$' COLUMNS (", strings.Join(columns, ", "), ")) AS ", alias)
	return alias
}

func (mysql) elements(w *writer, x operand) operand {
	e := w.alias("n")
	w.write("JSON_TABLE(CASE JSON_TYPE(", x.text, ") WHEN 'ARRAY' THEN ", x.text, " ELSE '[]' END, '$[*]' COLUMNS (o FOR ORDINALITY)) AS ", e)
	return operand{text: "JSON_EXTRACT(" + x.text + ", CONCAT('$[', " + e + ".o - 1, ']'))"}
}

func (mysql) is(x operand, typ string) string {
	return "coalesce(JSON_TYPE(" + x.text + "), 'NULL') = '" + strings.ToUpper(typ) + "'"
}

func (mysql) length(x operand) string {
	return "CASE JSON_TYPE(" + x.text + ") WHEN 'ARRAY' THEN JSON_LENGTH(" + x.text + ") END"
}

func nodeText(x string) string {
	return "CASE JSON_TYPE(" + x + ") WHEN 'STRING' THEN " + binary("JSON_UNQUOTE("+x+")") + " END"
}

func (m mysql) compareNode(w *writer, x, op string, v any) error {
	switch v := v.(type) {
	case document:
		doc, err := value.Read([]byte(v), 0)
		if err != nil {
			return err
		}
		return m.equalNode(w, x, doc)
	case string:
		w.write("(", nodeText(x), " ", op, " ")
		w.arg(v, "")
		w.write(")")
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		w.write("CASE JSON_TYPE(", x, ") WHEN 'BOOLEAN' THEN (", binary("JSON_UNQUOTE("+x+")"), " = 'true') ", op, " ")
		w.arg(n, "")
		w.write(" END")
	case int64:
		m.compareNumber(w, x, op, strconv.FormatInt(v, 10))
	case number:
		m.compareNumber(w, x, op, v.text)
	default:
		return unsupported("%T can't be compared with JSON", v)
	}
	return nil
}

// compareNumber compares as decimals of 35 and 30 digits, and as doubles if those are equal: both keep the order.
func (mysql) compareNumber(w *writer, x, op, text string) {
	const decimal, double = " AS DECIMAL(65,30))", " AS DOUBLE)"
	w.write("CASE WHEN JSON_TYPE(", x, ") IN ('INTEGER', 'DOUBLE') THEN ")
	x = "JSON_UNQUOTE(" + x + ")"
	if op != "=" {
		w.write("CAST(", x, decimal, " ", op[:1], " CAST(")
		w.arg(text, "")
		w.write(decimal, " OR ")
	}
	w.write("CAST(", x, decimal, " = CAST(")
	w.arg(text, "")
	w.write(decimal, " AND CAST(", x, double, " ", op, " CAST(")
	w.arg(text, "")
	w.write(double, " END")
}

// equalNode compares a document part by part: MariaDB's JSON_EQUALS rounds numbers.
func (m mysql) equalNode(w *writer, x string, v value.Value) error {
	switch v.Kind() {
	case value.Array:
		w.write("(JSON_TYPE(", x, ") = 'ARRAY' AND JSON_LENGTH(", x, ") = ", strconv.Itoa(len(v.List())))
		for i, e := range v.List() {
			w.write(" AND ")
			if err := m.equalNode(w, "JSON_EXTRACT("+x+", '$["+strconv.Itoa(i)+"]')", e); err != nil {
				return err
			}
		}
		w.write(")")
		return nil
	case value.Object:
		return m.equalObject(w, x, v.Members())
	case value.Null:
		w.write("coalesce(JSON_TYPE(", x, ") = 'NULL', FALSE)")
		return nil
	}
	return m.compareNode(w, x, "=", argument(v))
}

func (m mysql) equalObject(w *writer, x string, members []value.Member) error {
	w.write("(JSON_TYPE(", x, ") = 'OBJECT' AND JSON_LENGTH(", x, ") = ", strconv.Itoa(len(members)))
	if len(members) > 0 {
		names := make([]string, len(members))
		for i, member := range members {
			names[i] = member.Name
		}
		w.write(" AND EXISTS (SELECT 1 FROM ")
		p := m.names(w, names)
		w.write(" WHERE ")
		for i, member := range members {
			if i > 0 {
				w.write(" AND ")
			}
			if err := m.equalNode(w, "JSON_EXTRACT("+x+", CONCAT('$', "+p+".k"+strconv.Itoa(i)+"))", member.Value); err != nil {
				return err
			}
		}
		w.write(")")
	}
	w.write(")")
	return nil
}
