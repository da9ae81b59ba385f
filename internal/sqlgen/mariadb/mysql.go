// Package mariadb writes the expressions of algebra for MariaDB.
//
// It stands inside of compile, as one of the dialects of sqlgen/expr.
package mariadb

import (
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// dialect writes for MariaDB 10.7 or later, in sessions as sqldriver sets them: the collation of the connection is
// utf8mb4_nopad_bin, in which literals and arguments are, and modes don't make errors of warnings. What the server could
// raise an error for stands behind a test; it evaluates a CASE in its order.
//
//   - Texts of columns and of JSON functions are in collations of their own, and two that differ are an error: each is
//     given the binary one where it comes in.
//   - Decimals are DECIMAL(65,30) throughout, for the server cuts what doesn't fit the type of several: a Decimal of 1e35
//     or more is null in an expression, and places behind the 30th are rounded.
//   - JSON is compact text whose strings are written in one way alone, so that its first character tells what it is.
type dialect struct{ expr.Standard }

// Dialect returns the dialect of MariaDB.
func Dialect() expr.Dialect { return dialect{} }

const (
	nopad           = " COLLATE utf8mb4_nopad_bin"
	least64, most64 = "-9223372036854775808", "9223372036854775807"
	decimal         = "DECIMAL(65,30)"
	beyondDecimal   = "100000000000000000000000000000000000" // 1e35
)

// text is x, of any character set, as text that compares by its bytes.
func (dialect) text(x string) string { return "(CONVERT(" + x + " USING utf8mb4)" + nopad + ")" }

// literal quotes a text of ours; what comes from outside is an Arg.
func (dialect) literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// fit is the number x as a Decimal, null when it is too large for one. x may be repeated.
func (dialect) fit(x string) string {
	return "(CASE WHEN ABS(" + x + ") < " + beyondDecimal + " THEN CAST(" + x + " AS " + decimal + ") END)"
}

// Stored implements expr.Dialect.
func (m dialect) Stored(_ expr.Scope, x string, f *schema.Field) string {
	number := x
	if f.Native == "bit" {
		number = "(" + x + " + 0)"
	}
	// The server holds 0000-00-00 and, when it is told to, 2026-02-31.
	date := "(CASE WHEN YEAR(" + x + ") > 0 AND DAYOFMONTH(" + x + ") BETWEEN 1 AND DAYOFMONTH(LAST_DAY(" + x + ")) THEN "
	switch f.Type {
	case schema.String:
		return m.text(x)
	case schema.Integer:
		return "CAST(" + number + " AS SIGNED)"
	case schema.Double:
		return "(CAST(" + x + " AS DOUBLE) + 0e0)" // a FLOAT would be written in fewer digits; a zero has no sign
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
	}
	return x
}

// document is stored JSON as this dialect holds it: null for what is none. Escapes that needn't be are undone, by
// reading the document as a string in which they alone are escapes.
func (m dialect) document(x string) string {
	compact := "JSON_COMPACT(" + x + ")"
	// Pairs of backslashes are passed over; one of the two before an escape to undo is taken away.
	const escapes = `(\\\\\\\\)|\\(?=\\(?:/|u(?!00[01]|0022|005[cC])))`
	undone := "JSON_UNQUOTE(REGEXP_REPLACE(JSON_QUOTE(" + compact + ")" + nopad + ", " + m.literal(escapes) + `, '\\1'))`
	return "(CASE WHEN JSON_VALID(" + x + ") THEN " + m.text("NULLIF(CASE WHEN "+m.text(x)+" REGEXP "+m.literal(`\\[/u]`)+
		" THEN "+m.text(undone)+" ELSE "+m.text(compact)+" END, 'null')") + " END)"
}

// Const implements expr.Dialect.
func (m dialect) Const(s expr.Scope, v value.Value, t schema.Type) string {
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
		f, _ := v.AsFloat() // larger than all that columns hold here, or smaller; exact to 16 digits
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
		return "UNHEX(" + s.Arg(string(hex), "") + ")" // the driver sends bytes as text
	case schema.JSON:
		return m.text(s.Arg(string(v.AppendJSON(nil)), ""))
	}
	return m.text(s.Arg(v.String(), ""))
}

// nothing is null as a value of a type: without one it would be bytes.
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

// plainDecimal writes a number without an exponent, rounded to 30 places, and reports whether it is a Decimal: below 1e35,
// and not so small that rounding takes its digits.
func plainDecimal(text string) (string, bool) {
	f, _, err := new(big.Float).Parse(text, 10)
	if err != nil || f.IsInf() || f.MantExp(nil) > 118 || f.MantExp(nil) < -120 { // 2^118 is above 1e35
		return "", false
	}
	exact, _ := new(big.Rat).SetString(text) // it has been read above
	text = exact.FloatString(30)
	rounded, _ := new(big.Rat).SetString(text)
	if f.MantExp(nil) < -83 && rounded.Cmp(exact) != 0 { // below 1e-25
		return "", false
	}
	return text, len(strings.TrimPrefix(text, "-")) <= 35+1+30
}

// Find implements expr.Dialect. Text is equal in its collation wherever its bytes are, but two collations don't compare.
func (dialect) Find(x string, f *schema.Field, y string, g *schema.Field) string {
	if f.Type == g.Type && (f.Type == schema.Integer || f.Type == schema.UUID || f.Type == schema.String && !f.Unordered && !g.Unordered) {
		return "(" + x + " = " + y + ")"
	}
	return ""
}

// Compare implements expr.Dialect.
func (m dialect) Compare(s expr.Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	switch {
	case t == schema.JSON && op == plan.Eq:
		return "(" + m.key(s, x) + " = " + m.key(s, y) + ")", nil
	case t == schema.JSON:
		text := m.place(s, x) + " " + expr.Sign(op)[:1] + " " + m.place(s, y)
		if op == plan.Gte || op == plan.Lte {
			text += " OR " + m.key(s, x) + " = " + m.key(s, y)
		}
		return "(" + text + ")", nil
	case t == schema.UUID && op != plan.Eq: // they have an order of their own
		x, y = m.Widen(s, x, t, schema.String), m.Widen(s, y, t, schema.String)
	}
	return "(" + x + " " + expr.Sign(op) + " " + y + ")", nil
}

// Order implements expr.Dialect: null is least anyway.
func (m dialect) Order(s expr.Scope, x string, t schema.Type, desc bool) []string {
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

// Written implements expr.Dialect.
func (dialect) Written(x string) string { return x }

// Key implements expr.Dialect.
func (m dialect) Key(s expr.Scope, x string, t schema.Type, short bool) (by, show string) {
	switch t {
	case schema.JSON:
		return m.short(s, m.key(s, x)), "MIN(" + x + ")"
	case schema.String:
		if !short {
			return m.short(s, x), "MIN(" + x + ")"
		}
	case schema.UUID:
		return x, "CAST(MIN(" + m.Widen(s, x, t, schema.String) + ") AS UUID)"
	}
	return x, "MIN(" + x + ")"
}

// short is a text that is the same for the same x and never long: the server groups texts by their beginning alone when
// it groups by sorting (max_sort_length).
func (dialect) short(s expr.Scope, x string) string {
	x = s.Atom(x)
	return "CONCAT(LEFT(" + x + ", 200), CASE WHEN CHAR_LENGTH(" + x + ") > 200 THEN SHA2(" + x + ", 256) ELSE '' END)"
}

// Digest implements expr.Dialect.
func (m dialect) Digest(s expr.Scope, seed string, xs []string, types []schema.Type) string {
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

// Barrier implements expr.Dialect.
func (dialect) Barrier() string { return " LIMIT 18446744073709551615" }

// Materialized implements expr.Dialect: MariaDB materializes what is read more than once.
func (dialect) Materialized(bool) string { return "" }

// Start implements expr.Dialect. MariaDB gives a recursion the types of where it starts, and fails for what is longer.
// What is repeated a number of times that isn't known is of any length.
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

// Correlates implements expr.Dialect: MariaDB has no lateral derived tables.
func (dialect) Correlates() bool { return false }
