package postgres

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Each cast comes after a test of its operand, so that no cast raises an error.
const (
	pgNumber = `'^[+-]?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?0*[0-9]{1,3})?$'`
	pgDate   = `'^([0-9]{4})-([0-9]{2})-([0-9]{2})([T ]([0-9]{1,2}):([0-9]{2})(:([0-9]{2})([.,]([0-9]+))?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$'`
)

// Convert implements sqlgen.Dialect.
func (p dialect) Convert(s sqlgen.Scope, x string, from, to schema.Type) string {
	if from == to || from == schema.Opaque && to == schema.String { // a stored Opaque value is already a text
		return x
	}
	switch from {
	case schema.JSON, schema.Array:
		return p.convertJSON(s, x, to)
	case schema.String, schema.Any, schema.Opaque:
		return p.convertText(s, x, to)
	case schema.Date, schema.Day:
		return p.convertDate(s, x, from, to)
	case schema.Boolean:
		switch to {
		case schema.String:
			return "(" + x + "::text" + pgC + ")"
		case schema.Integer, schema.Double, schema.Decimal:
			return "(" + x + "::int4::" + pgTypes[to] + ")"
		}
	case schema.UUID:
		switch to {
		case schema.String:
			return "(" + x + "::text" + pgC + ")"
		case schema.Boolean:
			return "(CASE WHEN " + x + " IS NOT NULL THEN TRUE END)"
		}
	case schema.Integer, schema.Double, schema.Decimal:
		return p.convertNumber(s, x, from, to)
	}
	return pgNull(to)
}

// convertNumber writes the conversion of a number. A test of the range precedes each cast, so that no cast fails. A
// Double becomes a Decimal by its shortest text, not by its binary value.
func (p dialect) convertNumber(s sqlgen.Scope, x string, from, to schema.Type) string {
	if from == schema.Double && to != schema.Boolean {
		x = s.Atom(x)
	}
	switch to {
	case schema.Boolean:
		return "(" + x + " <> 0)"
	case schema.Integer:
		if from == schema.Decimal {
			return pgInteger(s.Atom(x))
		}
		return "(CASE WHEN " + x + " >= -9223372036854775808 AND " + x + " < 9223372036854775808 THEN trunc(" + x + ")::int8 END)"
	case schema.Double:
		return p.Widen(s, x, from, to)
	case schema.Decimal:
		if from == schema.Double {
			return "(CASE WHEN abs(" + x + ") < 'Infinity' THEN " + x + "::text::numeric END)"
		}
		return "(" + x + "::numeric)"
	case schema.String:
		switch from {
		case schema.Integer:
			return "(" + x + "::text" + pgC + ")"
		case schema.Decimal:
			return "(trim_scale(" + x + ")::text" + pgC + ")"
		}
		// The form is the same as in value.AppendText, which writes more numbers without an exponent than PostgreSQL.
		return "(CASE WHEN abs(" + x + ") >= 1e-6 AND abs(" + x + ") < 1e21 THEN trim_scale(" + x + "::text::numeric)::text ELSE " + x + "::text END" + pgC + ")"
	case schema.Date:
		if from != schema.Integer {
			x = p.convertNumber(s, x, from, schema.Integer)
		}
		return p.instant(s, x)
	}
	return pgNull(to)
}

// instant returns the instant ms milliseconds after the beginning of 1970.
func (dialect) instant(s sqlgen.Scope, ms string) string {
	ms = s.Atom(ms)
	return "(CASE WHEN " + ms + " BETWEEN -62135596800000 AND 253402300799999 THEN timestamp '1970-01-01' + (" + ms + " / 1000) * interval '1 second' + (" +
		ms + " % 1000) * interval '1 millisecond' END)"
}

// convertDate writes the conversion of a date. A number is its milliseconds since 1970, a Boolean is true, and a Day
// is null unless the date is at midnight.
func (p dialect) convertDate(s sqlgen.Scope, x string, from, to schema.Type) string {
	switch to {
	case schema.String:
		return pgDateText(x, from)
	case schema.Boolean:
		return "(CASE WHEN " + x + " IS NOT NULL THEN TRUE END)"
	case schema.Date:
		return "(" + x + "::timestamp)"
	case schema.Day:
		return "(CASE WHEN " + x + " = date_trunc('day', " + x + ") THEN " + x + "::date END)"
	case schema.Integer, schema.Double, schema.Decimal:
		ms := "trunc(extract(epoch FROM " + x + ")::numeric * 1000)::int8"
		if to != schema.Integer {
			ms += "::" + pgTypes[to]
		}
		return ms
	}
	return pgNull(to)
}

// pgDateText returns a Date or a Day in ISO 8601.
func pgDateText(x string, t schema.Type) string {
	if t == schema.Day {
		return "(to_char(" + x + ", 'YYYY-MM-DD')" + pgC + ")"
	}
	return `(rtrim(rtrim(to_char(` + x + `, 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z'` + pgC + `)`
}

// convertText writes the conversion of any text. It first tests a pattern and a limit of 400 characters, because
// PostgreSQL would compute a numeric of any length. As a Boolean, every text is true, as in MongoDB.
func (p dialect) convertText(s sqlgen.Scope, x string, to schema.Type) string {
	switch to {
	case schema.Boolean:
		return "(CASE WHEN " + x + " IS NOT NULL THEN TRUE END)"
	case schema.Integer:
		x = s.Atom(x)
		return pgInteger(s.Atom("(CASE WHEN length(" + x + ") <= 400 AND " + x + " ~ '^[+-]?[0-9]+$' THEN " + x + "::numeric END)"))
	case schema.Double, schema.Decimal:
		x = s.Atom(x)
		n := "(CASE WHEN length(" + x + ") <= 400 AND " + x + " ~ " + pgNumber + " THEN " + x + "::numeric END)"
		if to == schema.Double {
			return pgDouble(s.Atom(n))
		}
		return pgDecimal(s.Atom(n))
	case schema.Date:
		return p.dateOfText(s, x)
	}
	return pgNull(to)
}

// dateOfText parses the same texts as value.OfDateText. A text of the right form is a date only if its parts are in
// their ranges.
func (dialect) dateOfText(s sqlgen.Scope, x string) string {
	m := s.Atom("(regexp_match(" + x + ", " + pgDate + "))")
	part := func(i string) string { return m + "[" + i + "]" }
	number := func(i string) string { return "coalesce(" + part(i) + ", '0')::int4" }
	year, month, day := part("1")+"::int4", part("2")+"::int4", part("3")+"::int4"
	offset := "coalesce(nullif(" + part("11") + ", 'Z'), '+00:00')"
	hours, minutes := "substr("+offset+", 2, 2)::int4", "substr("+offset+", 5, 2)::int4"
	last := "CASE WHEN " + month + " IN (4, 6, 9, 11) THEN 30 WHEN " + month + " <> 2 THEN 31 WHEN " + year + " % 4 = 0 AND (" + year + " % 100 <> 0 OR " + year + " % 400 = 0) THEN 29 ELSE 28 END"
	valid := strings.Join([]string{year + " > 0", month + " BETWEEN 1 AND 12", day + " BETWEEN 1 AND " + last, number("5") + " < 24", number("6") + " < 60", number("8") + " < 60",
		hours + " <= 24", minutes + " <= 60"}, " AND ")
	at := s.Atom("(CASE WHEN " + valid + " THEN make_timestamp(" + strings.Join([]string{year, month, day, number("5"), number("6"), number("8") + "::float8"}, ", ") + ") + left(rpad(coalesce(" +
		part("10") + ", ''), 6, '0'), 6)::int4 * interval '1 microsecond' - (left(" + offset + ", 1) || '1')::int4 * (" + hours + " * 60 + " + minutes + ") * interval '1 minute' END)")
	return pgYears(at)
}

// convertJSON converts the JSON value in x. A fractional number becomes a Double, or a Decimal if that is the target.
func (p dialect) convertJSON(s sqlgen.Scope, x string, to schema.Type) string {
	x = s.Atom(x)
	n := s.Atom("(CASE jsonb_typeof(" + x + ") WHEN 'number' THEN " + x + "::numeric END)")
	text := "(CASE jsonb_typeof(" + x + ") WHEN 'string' THEN " + x + " #>> '{}' END" + pgC + ")"
	boolean := "(CASE jsonb_typeof(" + x + ") WHEN 'boolean' THEN " + x + "::boolean END)"
	whole := "(CASE WHEN " + n + " = trunc(" + n + ") AND " + n + " " + pgIntegers + " THEN " + n + "::int8 END)"
	switch to {
	case schema.Decimal:
		return "coalesce(" + pgDecimal(n) + ", " + p.convertText(s, text, to) + ", " + boolean + "::int4::numeric)"
	case schema.Double:
		return "coalesce(" + pgDouble(n) + ", " + p.convertText(s, text, to) + ", " + boolean + "::int4::float8)"
	case schema.Boolean:
		return "coalesce(" + boolean + ", " + n + " <> 0, " + text + " IS NOT NULL OR NULL)"
	}
	double := pgDouble(n)
	parts := []string{p.convertNumber(s, whole, schema.Integer, to), p.convertNumber(s, double, schema.Double, to)}
	if to == schema.Integer {
		parts[0] = whole
	}
	switch to {
	case schema.String:
		parts = append(parts, text, p.Convert(s, boolean, schema.Boolean, to))
	case schema.Date:
		parts = append(parts, p.convertText(s, text, to))
	default:
		parts = append(parts, p.convertText(s, text, to), p.Convert(s, boolean, schema.Boolean, to))
	}
	return "coalesce(" + strings.Join(parts, ", ") + ")"
}

// mostNested is the maximum depth of objects and lists in a text that is parsed as JSON.
const mostNested = 24

// ParseJSON implements sqlgen.Dialect. The result is also null for JSON that jsonb can't represent. Before version
// 16, PostgreSQL has no test for that, and a cast raises an error. So the text is reduced from its innermost values
// outwards. Strings become ", other scalars 0, and each list or object of such values 0. If the text is JSON, the
// result is " or 0. The pattern doesn't match numbers with too many digits, so they aren't reduced.
func (dialect) ParseJSON(x string) string {
	replaced := func(x, pattern, by string) string {
		return "regexp_replace(" + x + ", '" + pattern + "', '" + by + "', 'g')"
	}
	text := replaced(x, `"(?:[^"\\\u0001-\u001F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"`, `"`)
	text = replaced(text, `-?(?:0|[1-9][0-9]{0,200})(?:\.[0-9]{1,200})?(?:[eE][+-]?[0-9]{1,3})?|true|false|null`, "0")
	text = replaced(text, `[ \t\n\r]+`, "")
	for range mostNested {
		text = replaced(text, `\[(?:[0"](?:,[0"])*)?\]|\{(?:":[0"](?:,":[0"])*)?\}`, "0")
	}
	return "(CASE WHEN " + text + ` ~ '^[0"]$' THEN ` + jsonText(x) + " END)"
}

// DerivedColumn implements sqlgen.Dialect. It removes the zeros at the end of a Decimal, which PostgreSQL would show.
func (dialect) DerivedColumn(x string, t schema.Type) string {
	if t == schema.Decimal {
		return "trim_scale(" + x + ")"
	}
	return x
}
