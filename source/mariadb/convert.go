package mariadb

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

const (
	// The text of a number in JSON, but with any signs, zeros and points at its beginning.
	numeric = `^[+-]?([0-9]+(\\.[0-9]+)?|\\.[0-9]+)([eE][+-]?[0-9]+)?\\z`
	// The forms of value.OfDateText. The server decides which of these texts are dates.
	isoDate = `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?(Z|[+-]([01][0-9]|2[0-4]):([0-5][0-9]|60))?)?\\z`
	epoch   = "TIMESTAMP'1970-01-01 00:00:00'"
)

// As implements sqlgen.Dialect.
func (m dialect) As(s sqlgen.Scope, x string, from, to schema.Type) string {
	if from != schema.JSON { // from is Any, and MariaDB has no columns of this type
		return m.nothing(to)
	}
	switch to {
	case schema.Boolean:
		return "(CASE " + x + " WHEN 'true' THEN 1 WHEN 'false' THEN 0 END)"
	case schema.String:
		x = s.Atom(x)
		return "(CASE WHEN " + m.begins(x, `"`) + " THEN " + m.unquoteJSON(x) + " END)"
	case schema.Date:
		return m.dateOf(s, m.As(s, x, from, schema.String))
	case schema.Integer:
		x = s.Atom(x)
		n := "CAST(" + x + " AS " + decimal + ")" // also 0 for a number that is too small
		return "(CASE WHEN " + m.isNumber(x) + " AND " + n + " = TRUNCATE(" + n + ", 0) AND (" + n + " <> 0 OR " + x + " NOT REGEXP '^-?[0.]*[1-9]')" +
			" AND " + n + " BETWEEN " + least64 + " AND " + most64 + " THEN CAST(" + n + " AS SIGNED) END)"
	case schema.Double, schema.Decimal:
		x = s.Atom(x)
		return "(CASE WHEN " + m.isNumber(x) + " THEN " + m.numberOf(x, to) + " END)"
	}
	return m.nothing(to)
}

// numberOf returns the number in the text x as a Double or Decimal, or null if it is too large. x may occur several
// times. For a number out of range the server returns the largest Double.
func (dialect) numberOf(x string, to schema.Type) string {
	f := "CAST(" + x + " AS DOUBLE)"
	if to == schema.Double {
		return "CASE WHEN ABS(" + f + ") < 1.7976931348623157e308 OR JSON_NORMALIZE(TRIM(LEADING '-' FROM " + x + "))" + nopad +
			" = '1.7976931348623157E308' THEN " + f + " + 0e0 END"
	}
	return "CASE WHEN ABS(" + f + ") < 1e35 THEN CAST(" + x + " AS " + decimal + ") END"
}

// ToJSON implements sqlgen.Dialect.
func (m dialect) ToJSON(s sqlgen.Scope, x string, from schema.Type) string {
	switch from {
	case schema.Boolean:
		return "ELT(" + x + " + 1, 'false', 'true')"
	case schema.Integer, schema.Double, schema.Decimal:
		return m.valueText(s, x, from)
	case schema.Bytes:
		return "CONCAT('\"', " + m.base64(x) + ", '\"')"
	case schema.String:
		return "(JSON_QUOTE(" + x + ")" + nopad + ")"
	case schema.Date, schema.Day, schema.UUID:
		return "CONCAT('\"', " + m.valueText(s, x, from) + ", '\"')"
	}
	return m.nothing(schema.JSON)
}

// base64 encodes bytes on one line. The server would insert line breaks.
func (dialect) base64(x string) string { return `REPLACE(TO_BASE64(` + x + `), '\n', '')` }

// valueText returns the text of a value that isn't JSON, in the form of value.AppendText.
func (m dialect) valueText(s sqlgen.Scope, x string, from schema.Type) string {
	const zeros = `'(\\.[0-9]*[1-9])0+\\z|\\.0*\\z', '\\1')`
	switch from {
	case schema.Boolean:
		return "ELT(" + x + " + 1, 'false', 'true')"
	case schema.Decimal:
		return "REGEXP_REPLACE(CAST(" + x + " AS CHAR), " + zeros
	case schema.Double: // the server also writes the fewest digits, but uses exponents from 1e15 on
		x = s.Atom(x)
		return "(CASE WHEN " + x + " = 0 THEN '0' WHEN ABS(" + x + ") >= 1e-6 AND ABS(" + x + ") < 1e21" +
			" THEN REGEXP_REPLACE(CAST(CAST(" + x + " AS " + decimal + ") AS CHAR), " + zeros +
			" ELSE " + m.scientific(x) + " END)"
	case schema.Date:
		return "REGEXP_REPLACE(DATE_FORMAT(" + x + `, '%Y-%m-%dT%H:%i:%s.%fZ'), '\\.?0*Z\\z', 'Z')`
	case schema.Day:
		return "DATE_FORMAT(" + x + ", '%Y-%m-%d')"
	}
	return "CAST(" + x + " AS CHAR)"
}

// scientific writes a Double with an exponent of at least two digits. JSON_NORMALIZE writes 1.0E-7 regardless of the
// server's own form.
func (dialect) scientific(x string) string {
	return "REGEXP_REPLACE(REPLACE(REPLACE(REPLACE(JSON_NORMALIZE(CAST(" + x + " AS CHAR))" + nopad +
		`, '.0E', 'E'), 'E-', 'e-'), 'E', 'e+'), 'e-([0-9])\\z', 'e-0\\1')`
}

// Widen implements sqlgen.Dialect.
func (m dialect) Widen(_ sqlgen.Scope, x string, from, to schema.Type) string {
	switch {
	case from == schema.Day:
		return "CAST(" + x + " AS DATETIME(6))"
	case to == schema.Double:
		return "CAST(" + x + " AS DOUBLE)"
	case from == schema.Double:
		return "(CASE WHEN ABS(" + x + ") < 1e35 THEN CAST(" + x + " AS " + decimal + ") END)"
	case to == schema.Decimal:
		return "CAST(" + x + " AS " + decimal + ")"
	}
	return "CAST(" + x + " AS CHAR)"
}

// Convert implements sqlgen.Dialect.
func (m dialect) Convert(s sqlgen.Scope, x string, from, to schema.Type) string {
	if from == to || from == schema.Opaque && to == schema.String { // Stored already returns Opaque values as text
		return x
	}
	if from == schema.JSON {
		return m.convertJSON(s, s.Atom(x), to)
	}
	if from == schema.Bytes {
		return m.nothing(to)
	}
	switch to {
	case schema.String:
		return m.valueText(s, x, from)
	case schema.Day: // the source is a Date
		return "(CASE WHEN " + x + " = DATE(" + x + ") THEN DATE(" + x + ") END)"
	case schema.Boolean:
		if from == schema.Integer || from == schema.Double || from == schema.Decimal {
			return "(" + x + " <> 0)"
		}
		return "(CASE WHEN " + x + " IS NOT NULL THEN 1 END)"
	case schema.Integer:
		return m.integerOf(s, x, from)
	case schema.Double, schema.Decimal:
		switch from {
		case schema.Integer, schema.Double, schema.Decimal, schema.Boolean:
			return m.Widen(s, x, from, to)
		case schema.String:
			x = s.Atom(x)
			return "(CASE WHEN " + x + " REGEXP '" + numeric + "' THEN " + m.numberOf(x, to) + " END)"
		}
		return m.Widen(s, m.integerOf(s, x, from), schema.Integer, to)
	case schema.Date:
		switch from {
		case schema.Day:
			return m.Widen(s, x, from, to)
		case schema.String:
			return m.dateOf(s, x)
		case schema.Integer:
			x = s.Atom(x)
			return "(CASE WHEN " + x + " BETWEEN -62135596800000 AND 253402300799999 THEN CAST(" + epoch + " AS DATETIME(6)) + INTERVAL " + x + " * 1000 MICROSECOND END)"
		case schema.Double, schema.Decimal:
			return m.Convert(s, m.integerOf(s, x, from), schema.Integer, to)
		}
	}
	return m.nothing(to)
}

// integerOf converts a value that isn't JSON to an Integer.
func (m dialect) integerOf(s sqlgen.Scope, x string, from schema.Type) string {
	switch from {
	case schema.Boolean:
		return x
	case schema.Date, schema.Day:
		return "(TIMESTAMPDIFF(MICROSECOND, " + epoch + ", " + x + ") DIV 1000)"
	case schema.Double:
		x = s.Atom(x)
		return "(CASE WHEN " + x + " >= -9223372036854775808e0 AND " + x + " < 9223372036854775808e0 THEN CAST(TRUNCATE(" + x + ", 0) AS SIGNED) END)"
	case schema.Decimal:
		return m.within64("TRUNCATE(" + s.Atom(x) + ", 0)")
	case schema.String:
		x = s.Atom(x)
		return `(CASE WHEN ` + x + ` REGEXP '^[+-]?[0-9]+\\z' THEN ` + m.within64("CAST("+x+" AS DECIMAL(65,0))") + " END)"
	}
	return m.nothing(schema.Integer)
}

// convertJSON converts JSON to another type, depending on the type of its value.
func (m dialect) convertJSON(s sqlgen.Scope, x string, to schema.Type) string {
	text := s.Atom(m.As(s, x, schema.JSON, schema.String))
	truth := s.Atom(m.As(s, x, schema.JSON, schema.Boolean))
	var number string
	switch to {
	case schema.Decimal:
		number = m.numberOf(x, to)
	case schema.Boolean:
		number = m.Convert(s, m.As(s, x, schema.JSON, schema.Double), schema.Double, to)
	default:
		whole, real := s.Atom(m.As(s, x, schema.JSON, schema.Integer)), s.Atom(m.As(s, x, schema.JSON, schema.Double))
		number = "COALESCE(" + m.Convert(s, whole, schema.Integer, to) + ", " + m.Convert(s, real, schema.Double, to) + ")"
		if to == schema.Double {
			number = real
		}
	}
	truth = m.Convert(s, truth, schema.Boolean, to)
	return "(CASE WHEN " + m.isNumber(x) + " THEN " + number + " ELSE COALESCE(" + m.Convert(s, text, schema.String, to) + ", " + truth + ") END)"
}

// dateOf returns the date in the text x.
func (m dialect) dateOf(s sqlgen.Scope, x string) string {
	x = s.Atom(x)
	const zone = `'[+-][0-9]{2}:[0-9]{2}\\z'`
	clock := `REPLACE(REGEXP_REPLACE(SUBSTRING(` + x + `, 12), '(Z|[+-][0-9]{2}:[0-9]{2})\\z', ''), ',', '.')`
	at := "CAST(CONCAT(LEFT(" + x + ", 10), ' ', CASE WHEN CHAR_LENGTH(" + x + ") > 10 THEN " + clock + " ELSE '00:00' END) AS DATETIME(6))"
	offset := "CASE WHEN " + x + " REGEXP " + zone + " THEN CAST(CONCAT(SUBSTRING(" + x + ", -6, 1), SUBSTRING(" + x + ", -5, 2) * 3600 + RIGHT(" + x + ", 2) * 60) AS SIGNED) ELSE 0 END"
	return "(CASE WHEN " + x + " REGEXP '" + isoDate + "' AND " + x + " NOT LIKE '0000%' THEN " + at + " - INTERVAL " + offset + " SECOND END)"
}

// ParseJSON implements sqlgen.Dialect.
func (dialect) ParseJSON(x string) string {
	return "(CASE WHEN JSON_VALID(" + x + ") THEN " + x + " END)"
}

// DerivedColumn implements sqlgen.Dialect.
func (dialect) DerivedColumn(x string, _ schema.Type) string { return x }
