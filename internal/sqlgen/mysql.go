package sqlgen

import (
	"math/big"
	"strings"
	"time"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/regex"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// mysql writes for MariaDB 10.7 or later. Columns compare by collations in which different texts may be equal, ignoring
// trailing spaces: comparisons name a collation that is binary and doesn't pad.
type mysql struct{}

func (mysql) quote(name string) string {
	return "`" + strings.ReplaceAll(nameable(name), "`", "``") + "`"
}

func (mysql) held(name string) string { return name }

func (mysql) negation() (before, after string) { return "((", ") IS NOT TRUE)" }

func (mysql) placeholder(int, string) string { return "?" }

func (mysql) limit(place string) string { return place }

func (m mysql) same(x string, f, other *schema.Field) string {
	if f.Type == schema.String {
		return m.key(x, f, other)
	}
	return bits(x, f)
}

func (mysql) counts() bool { return false }

// longest returns the size of a statement that MariaDB plans in about two seconds: it examines each operand of an
// expression separately. Long lists of values, as in conditions, cost it little.
func (mysql) longest() int { return 1 << 20 }

// computedJSON is the native type of computed JSON, which is always valid. MariaDB itself calls its columns longtext.
const computedJSON = "json"

func (mysql) computed(t schema.Type) *schema.Field {
	return &schema.Field{Type: t, Native: [...]string{schema.String: "longtext", schema.Integer: "bigint", schema.Double: "double", schema.Decimal: "decimal",
		schema.Boolean: "tinyint", schema.Date: "datetime", schema.Day: "date", schema.UUID: "uuid", schema.Bytes: "longblob", schema.JSON: computedJSON, schema.Opaque: ""}[t]}
}

// key compares pointers by their bytes. If only one side is a number, both are compared as text: MariaDB would take any
// text that isn't a number for 0.
func (m mysql) key(x string, f, other *schema.Field) string {
	switch {
	case f.Type == schema.String && other.Type == schema.String && !f.Unordered && !other.Unordered:
		return x
	case f.Type == schema.String, f.Type != other.Type:
		return binary(x)
	}
	return x
}

func binary(x string) string { return "CONVERT(" + x + " USING utf8mb4) COLLATE utf8mb4_nopad_bin" }

// read converts what the driver has no type for to text or to a number.
func (m mysql) read(x string, f *schema.Field) string {
	switch {
	case f.Native == "geometry":
		return "ST_AsText(" + x + ")"
	case f.Type == schema.Opaque || f.Type == schema.UUID || f.Type == schema.Decimal:
		return "CAST(" + bits(x, f) + " AS CHAR)"
	}
	return bits(x, f)
}

// bits converts a BIT, which would be read as bytes, to a number.
func bits(x string, f *schema.Field) string {
	if f.Native == "bit" {
		return "(" + x + " + 0)"
	}
	return x
}

func (m mysql) sorted(x string, f *schema.Field) (string, bool) {
	switch f.Type {
	case schema.String, schema.UUID, schema.JSON, schema.Array, schema.Opaque, schema.Any:
		return m.text(x, f), false
	}
	return bits(x, f), false
}

func (mysql) text(x string, f *schema.Field) string {
	if f.Type == schema.String && !f.Unordered {
		return x
	}
	return binary(x)
}

// missing accounts for MariaDB taking 0000-00-00 for null in a column that can't be null.
func (mysql) missing(x string, f *schema.Field) string {
	if f.NotNull && (f.Type == schema.Date || f.Type == schema.Day) {
		return never
	}
	return x + " IS NULL"
}

func (mysql) ordered(*schema.Field, bool) string { return "" }

// among writes one equality per value: equality isn't a single comparison for any kind of value here.
func (mysql) among(w *writer, x operand, values []value.Value) error {
	parts := make([]func() error, len(values))
	for i, v := range values {
		parts[i] = func() error { return w.scalar(x, query.Eq, v) }
	}
	return w.either(parts)
}

func (m mysql) compare(w *writer, x operand, op string, v any) error {
	if x.node() {
		return m.compareNode(w, x.text, op, v)
	}
	left := bits(x.text, x.field)
	switch v := v.(type) {
	case string:
		if x.field.Type == schema.UUID && op == "=" {
			w.write(x.text, " = ")
			w.arg(v, "")
			return nil
		}
		m.compareText(w, x, op, v)
		return nil
	case number:
		if x.field.Type == schema.Double {
			w.write(left, " ", op, " ")
			w.arg(v.float, "")
			return nil
		}
		m.compareExact(w, left, op, v)
		return nil
	case moment:
		m.compareDate(w, x.text, op, v)
		return nil
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		w.write("(", left, " ", op, " ")
		w.arg(n, "")
		w.write(" AND ", left, " IN (0, 1))") // a tinyint(1) may hold other values, which aren't booleans
		return nil
	}
	w.write(left, " ", op, " ")
	return m.bind(w, x.field, v)
}

// compareText adds the column's own comparison, which can use an index: texts with equal bytes are equal in it too. The
// column may be of a limited character set, which is compared in one that has every character.
func (m mysql) compareText(w *writer, x operand, op, v string) {
	text := m.text(x.text, x.field)
	if op == "=" && x.field.Unordered && strings.IndexFunc(v, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		w.write("(", x.text, " = ")
		w.arg(v, "")
		w.write(" AND ", text, " = ")
		w.arg(v, "")
		w.write(")")
		return
	}
	w.write(text, " ", op, " ")
	w.arg(v, "")
}

// compareExact compares with a decimal of the same number of digits. MariaDB's have 65, at most 38 of them after the
// point: a longer number lies between two of them.
func (mysql) compareExact(w *writer, left, op string, n number) {
	exact, _ := new(big.Rat).SetString(n.text) // a JSON number always parses
	const most = 38
	scaled := new(big.Int).Mul(exact.Num(), new(big.Int).Exp(big.NewInt(10), big.NewInt(most), nil))
	floor, rest := new(big.Int).DivMod(scaled, exact.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		switch op {
		case "=":
			w.write(never)
			return
		case "<":
			op = "<="
		case ">=":
			op = ">"
		}
	}
	text := new(big.Rat).SetFrac(floor, new(big.Int).Exp(big.NewInt(10), big.NewInt(most), nil)).FloatString(most)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if len(whole)+len(fraction) > 65 {
		beyond(w, left, op, exact.Sign() > 0)
		return
	}
	w.write(left, " ", op, " CAST(")
	w.arg(text, "")
	w.write(" AS DECIMAL(65,", scale(len(whole)), "))")
}

// scale returns how many digits are left after the point if there are whole before it.
func scale(whole int) string {
	for _, s := range []struct {
		whole int
		text  string
	}{{27, "38"}, {35, "30"}, {65, "0"}} {
		if whole <= s.whole {
			return s.text
		}
	}
	return "0"
}

// beyond writes a comparison with a number above or below all that the column can hold.
func beyond(w *writer, left, op string, above bool) {
	if op != "=" && above == (op[0] == '<') {
		w.write(left, " IS NOT NULL")
		return
	}
	w.write(never)
}

// compareDate ignores invalid dates, such as 0000-00-00 and 2026-02-31.
func (mysql) compareDate(w *writer, x, op string, v moment) {
	t := time.UnixMicro(v.micros).UTC()
	isDate := "DAYOFMONTH(" + x + ") BETWEEN 1 AND DAYOFMONTH(LAST_DAY(" + x + "))"
	if t.Year() < 0 || t.Year() > 9999 {
		w.write("(")
		beyond(w, x, op, t.Year() > 9999)
		w.write(" AND ", isDate, ")")
		return
	}
	w.write("(", x, " ", op, " CAST(")
	w.arg(t.Format("2006-01-02 15:04:05.000000"), "")
	w.write(" AS DATETIME(6))")
	if op != "=" {
		w.write(" AND ", isDate)
	}
	w.write(")")
}

// bind writes an argument in the type of the comparison.
func (mysql) bind(w *writer, f *schema.Field, v any) error {
	switch v := v.(type) {
	case int64:
		if f.Type == schema.Double {
			w.arg(float64(v), "")
			return nil
		}
		w.arg(v, "")
	case float64:
		w.arg(v, "")
	case []byte: // the driver sends bytes as text
		const digits = "0123456789ABCDEF"
		hex := make([]byte, 0, 2*len(v))
		for _, b := range v {
			hex = append(hex, digits[b>>4], digits[b&15])
		}
		w.write("UNHEX(")
		w.arg(string(hex), "")
		w.write(")")
	default:
		return unsupported("%T can't be compared with a column of type %s", v, f.Type)
	}
	return nil
}

// after compares with a value read from the column: all of its values are in the order, valid dates or not.
func (m mysql) after(w *writer, x string, f *schema.Field, op string, v any) error {
	switch v := v.(type) {
	case moment:
		w.write(x, " ", op, " CAST(")
		w.arg(time.UnixMicro(v.micros).UTC().Format("2006-01-02 15:04:05.000000"), "")
		w.write(" AS DATETIME(6))")
	case number:
		if f.Type == schema.Double {
			w.write(x, " ", op, " ")
			w.arg(v.float, "")
			return nil
		}
		m.compareExact(w, x, op, v)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		w.write(x, " ", op, " ")
		w.arg(n, "")
	case string:
		w.write(x, " ", op, " ")
		if f.Type == schema.Date || f.Type == schema.Day { // an invalid date, which sorts by its digits
			w.write("CAST(")
			w.arg(v, "")
			w.write(" AS DATETIME(6))")
			return nil
		}
		w.arg(v, "")
	default:
		w.write(x, " ", op, " ")
		return m.bind(w, f, v)
	}
	return nil
}

func (m mysql) matches(w *writer, x operand, r query.Regex) error {
	pattern, err := regex.MariaDB(r)
	if err != nil {
		return err
	}
	w.write("(", m.string(x), " REGEXP ")
	w.arg(pattern, "")
	w.write(")")
	return nil
}

// begins writes a range, which can use an index over text in binary order.
func (m mysql) begins(w *writer, x operand, prefix string) {
	left := m.string(x)
	w.write("(", left, " >= ")
	w.arg(prefix, "")
	if next := successor(prefix); next != "" {
		w.write(" AND ", left, " < ")
		w.arg(next, "")
	}
	w.write(")")
}

// string returns the text that x holds, null if it holds none, compared by its bytes.
func (m mysql) string(x operand) string {
	if x.node() {
		return nodeText(x.text)
	}
	return m.text(x.text, x.field)
}
