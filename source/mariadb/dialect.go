// Package mariadb is the source for MariaDB databases, 10.7 or later.
//
//	Permit ─sqlgen, Dialect→ SELECT ─read-only session→ rows ─sqldriver→ source.Rows
//	write ─WritableSource: sqldriver, Dialect→ one transaction with its marker → receipt
//
// This package contains the parts that are specific to MariaDB: the dialect, the catalogue, the types of columns,
// time zones, errors, and writes. Package sqldriver contains the parts that it shares with source/sqlite and
// source/postgres.
//
// Open checks the server and its version, because the dialect relies on both. The server stops a statement when its
// context ends.
package mariadb

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// dialect writes statements for MariaDB 10.7 or later, in sessions with the settings of pins. The collation of the
// connection, of literals and of arguments is utf8mb4_nopad_bin, and no mode turns warnings into errors. An operation
// that could raise an error comes after a test, because the server evaluates a CASE in order.
//
//   - Texts of columns and of JSON functions have collations of their own, and mixing two is an error. So each text is
//     converted to the binary collation where it is read.
//   - Decimals are DECIMAL(65,30) throughout, since the server truncates values that don't fit the common type of
//     several. A Decimal of 1e35 or more is null in an expression, and places after the 30th are rounded.
//   - JSON is compact text in which each string has only one spelling, so that its first character determines its type.
type dialect struct{ sqlgen.Standard }

// Dialect returns the dialect for MariaDB. Only packages of Bailiwick can use it.
func Dialect() sqlgen.Dialect { return dialect{} }

const (
	nopad           = " COLLATE utf8mb4_nopad_bin"
	least64, most64 = "-9223372036854775808", "9223372036854775807"
	decimal         = "DECIMAL(65,30)"
	beyondDecimal   = "100000000000000000000000000000000000" // 1e35
)

// text returns x, of any character set, as text that compares by its bytes.
func (dialect) text(x string) string { return "(CONVERT(" + x + " USING utf8mb4)" + nopad + ")" }

// literal quotes a constant text of this package. All other texts are Args.
func (dialect) literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// fit returns the number x as a Decimal, or null if it is too large. x may occur several times.
func (dialect) fit(x string) string {
	return "(CASE WHEN ABS(" + x + ") < " + beyondDecimal + " THEN CAST(" + x + " AS " + decimal + ") END)"
}

// StoredValue implements sqlgen.Dialect.
func (m dialect) StoredValue(_ sqlgen.Scope, x string, f *schema.Field) string {
	number := x
	if f.Native == "bit" {
		number = "(" + x + " + 0)"
	}
	// A column can contain 0000-00-00 and, depending on sql_mode, 2026-02-31.
	date := "(CASE WHEN YEAR(" + x + ") > 0 AND DAYOFMONTH(" + x + ") BETWEEN 1 AND DAYOFMONTH(LAST_DAY(" + x + ")) THEN "
	switch f.Type {
	case schema.String:
		return "(" + binary(x, f) + ")"
	case schema.Integer:
		return "CAST(" + number + " AS SIGNED)"
	case schema.Double:
		return "(CAST(" + x + " AS DOUBLE) + 0e0)" // a FLOAT would have fewer digits, and zero a sign
	case schema.Decimal:
		return m.fit(number)
	case schema.Boolean:
		return "(CASE WHEN " + number + " IN (0, 1) THEN CAST(" + number + " AS SIGNED) END)"
	case schema.Date:
		return date + "CAST(" + x + " AS DATETIME(6)) END)"
	case schema.Day:
		return date + x + " END)"
	case schema.JSON, schema.Array:
		return m.document(x)
	case schema.Opaque:
		return "(" + binaryUTF8(dialect{}.Read(x, f)) + ")"
	}
	return x
}

// document returns stored JSON in the form of this dialect, or null if it isn't valid. It decodes unnecessary
// escapes. For that, it reads the document as a string in which they are the only escapes.
func (m dialect) document(x string) string {
	compact := "JSON_COMPACT(" + x + ")"
	// Pairs of backslashes are skipped. Before an escape to decode, one of the two backslashes is removed.
	const escapes = `(\\\\\\\\)|\\(?=\\(?:/|u(?!00[01]|0022|005[cC])))`
	undone := "JSON_UNQUOTE(REGEXP_REPLACE(JSON_QUOTE(" + compact + ")" + nopad + ", " + m.literal(escapes) + `, '\\1'))`
	return "(CASE WHEN JSON_VALID(" + x + ") THEN " + m.text("NULLIF(CASE WHEN "+m.text(x)+" REGEXP "+m.literal(`\\[/u]`)+
		" THEN "+m.text(undone)+" ELSE "+m.text(compact)+" END, 'null')") + " END)"
}

// Const implements sqlgen.Dialect.
func (m dialect) Const(s sqlgen.Scope, v value.Value, t schema.Type) string {
	if v.IsNull() {
		return m.nothing(t)
	}
	switch t {
	case schema.Integer:
		n, _ := v.AsInt()
		return "CAST(" + s.Arg(n, "") + " AS SIGNED)"
	case schema.Double:
		f, _ := v.AsFloat()
		return "CAST(" + s.Arg(f, "") + " AS DOUBLE)"
	case schema.Decimal:
		if text, ok := plainDecimal(v.String()); ok {
			return "CAST(" + s.Arg(text, "") + " AS " + decimal + ")"
		}
		f, _ := v.AsFloat() // out of the range of columns, exact to 16 digits
		return "CAST(" + s.Arg(max(min(f, math.MaxFloat64), -math.MaxFloat64), "") + " AS DOUBLE)"
	case schema.Boolean:
		n := int64(0)
		if v.Bool() {
			n = 1
		}
		return "CAST(" + s.Arg(n, "") + " AS SIGNED)"
	case schema.Date, schema.Day:
		at := time.UnixMicro(v.Micros()).UTC()
		if at.Year() < 1 || at.Year() > 9999 {
			return m.nothing(t)
		}
		if t == schema.Day {
			return "CAST(" + s.Arg(at.Format(time.DateOnly), "") + " AS DATE)"
		}
		return "CAST(" + s.Arg(at.Format("2006-01-02 15:04:05.000000"), "") + " AS DATETIME(6))"
	case schema.UUID:
		return "CAST(" + s.Arg(v.Text(), "") + " AS UUID)"
	case schema.Bytes:
		const digits = "0123456789ABCDEF"
		hex := make([]byte, 0, 2*len(v.Text()))
		for _, b := range []byte(v.Text()) {
			hex = append(hex, digits[b>>4], digits[b&15])
		}
		return "UNHEX(" + s.Arg(string(hex), "") + ")" // the driver would send bytes as text
	case schema.JSON:
		return m.text(s.Arg(string(v.AppendJSON(nil)), ""))
	}
	return m.text(s.Arg(v.String(), ""))
}

// nothing returns null as a value of type t. An untyped null would be bytes.
func (m dialect) nothing(t schema.Type) string {
	switch t {
	case schema.Integer, schema.Boolean:
		return "CAST(NULL AS SIGNED)"
	case schema.Double:
		return "CAST(NULL AS DOUBLE)"
	case schema.Decimal:
		return "CAST(NULL AS " + decimal + ")"
	case schema.Date:
		return "CAST(NULL AS DATETIME(6))"
	case schema.Day:
		return "CAST(NULL AS DATE)"
	case schema.UUID:
		return "CAST(NULL AS UUID)"
	case schema.Bytes:
		return "CAST(NULL AS BINARY)"
	}
	return m.text("NULL")
}

// plainDecimal returns a number without an exponent, rounded to 30 places. It returns false if the number is not a
// Decimal: 1e35 or more, or so small that rounding loses digits.
func plainDecimal(text string) (string, bool) {
	f, _, err := new(big.Float).Parse(text, 10)
	if err != nil || f.IsInf() || f.MantExp(nil) > 118 || f.MantExp(nil) < -120 { // 2^118 is above 1e35
		return "", false
	}
	exact, _ := new(big.Rat).SetString(text) // parsed above, so this succeeds
	text = exact.FloatString(30)
	rounded, _ := new(big.Rat).SetString(text)
	if f.MantExp(nil) < -83 && rounded.Cmp(exact) != 0 { // below 1e-25
		return "", false
	}
	return text, len(strings.TrimPrefix(text, "-")) <= 35+1+30
}

// whole contains the native types of signed integers of at most 64 bits, which compare as integers. It omits YEAR,
// which accepts 25 for 2025.
var whole = []string{"tinyint", "smallint", "mediumint", "int", "bigint"}

// Find implements sqlgen.Dialect. Texts with equal bytes are also equal in the column's collation, but two different
// collations can't be compared.
func (dialect) Find(x string, f *schema.Field, y string, g *schema.Field) (test string, exact bool) {
	if f.Type == schema.Integer && g.Type == schema.Integer {
		return "(" + x + " = " + y + ")", slices.Contains(whole, f.Native) && slices.Contains(whole, g.Native)
	}
	if f.Type == g.Type && (f.Type == schema.UUID || f.Type == schema.String && !f.Unordered && !g.Unordered) {
		return "(" + x + " = " + y + ")", false
	}
	return "", false
}

// Compare implements sqlgen.Dialect.
func (m dialect) Compare(s sqlgen.Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	switch {
	case t == schema.JSON && op == plan.Eq:
		return "(" + m.key(s, x) + " = " + m.key(s, y) + ")", nil
	case t == schema.JSON:
		text := m.place(s, x) + " " + sqlgen.Sign(op)[:1] + " " + m.place(s, y)
		if op == plan.Gte || op == plan.Lte {
			text += " OR " + m.key(s, x) + " = " + m.key(s, y)
		}
		return "(" + text + ")", nil
	case t == schema.UUID && op != plan.Eq: // MariaDB orders UUIDs in its own way
		x, y = m.Widen(s, x, t, schema.String), m.Widen(s, y, t, schema.String)
	}
	return "(" + x + " " + sqlgen.Sign(op) + " " + y + ")", nil
}

// Order implements sqlgen.Dialect. Null sorts first by default.
func (m dialect) Order(s sqlgen.Scope, x string, t schema.Type, desc bool) []string {
	switch t {
	case schema.JSON:
		x = m.place(s, x)
	case schema.UUID:
		x = m.Widen(s, x, t, schema.String)
	}
	if desc {
		x += " DESC"
	}
	return []string{x}
}

// Written implements sqlgen.Dialect.
func (dialect) Written(x string) string { return x }

// Key implements sqlgen.Dialect. If equal values have only one form, the value of any record is shown. The SQL mode
// of the sessions allows such a column beside aggregates. Computing the least value would read it for each record.
func (m dialect) Key(s sqlgen.Scope, x string, t schema.Type, short bool) (by, show string) {
	switch t {
	case schema.JSON:
		return m.short(s, m.key(s, x)), "MIN(" + x + ")"
	case schema.String:
		if !short {
			return m.short(s, x), "MIN(" + x + ")"
		}
		return x, x
	case schema.Integer, schema.Boolean, schema.Date, schema.Day:
		return x, x
	case schema.UUID:
		return x, "CAST(MIN(" + m.Widen(s, x, t, schema.String) + ") AS UUID)"
	}
	return x, "MIN(" + x + ")"
}

// short returns a short key of x. Different texts have different keys. When the server groups by sorting, it compares
// only the beginnings of texts (max_sort_length).
func (dialect) short(s sqlgen.Scope, x string) string {
	x = s.Atom(x)
	return "CONCAT(LEFT(" + x + ", 200), CASE WHEN CHAR_LENGTH(" + x + ") > 200 THEN SHA2(" + x + ", 256) ELSE '' END)"
}

// Digest implements sqlgen.Dialect.
func (m dialect) Digest(s sqlgen.Scope, seed string, xs []string, types []schema.Type) string {
	parts := []string{s.Arg(seed, "")}
	for i, x := range xs {
		if i > 0 {
			parts = append(parts, m.text("X'1F'"))
		}
		switch types[i] {
		case schema.Bytes:
			x = m.base64(x)
		case schema.Any, schema.Opaque:
			continue
		case schema.String:
		default:
			x = m.Convert(s, x, types[i], schema.String)
		}
		parts = append(parts, "COALESCE("+x+", '')")
	}
	return "MD5(CONCAT(" + strings.Join(parts, ", ") + "))"
}

// Barrier implements sqlgen.Dialect.
func (dialect) Barrier() string { return " LIMIT 18446744073709551615" }

// MaterializedKeyword implements sqlgen.Dialect. MariaDB itself materializes a table that is read more than once.
func (dialect) MaterializedKeyword(bool) string { return "" }

// Start implements sqlgen.Dialect. MariaDB gives a recursion the types of its start, and fails for longer values. A
// text that is repeated an unknown number of times has no maximum length.
func (dialect) Start(x string, t schema.Type) string {
	switch t {
	case schema.String:
		return "(CAST(" + x + " AS CHAR(16777215) CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin)"
	case schema.Bytes:
		return "REPEAT(" + x + ", IF(RAND() < 0, 0, 1))"
	case schema.Integer:
		return "CAST(" + x + " AS SIGNED)"
	case schema.Decimal:
		return "CAST(" + x + " AS DECIMAL(65,30))"
	}
	return x
}

// Correlates implements sqlgen.Dialect. MariaDB has no lateral derived tables.
func (dialect) Correlates() bool { return false }
