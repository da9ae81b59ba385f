package duckdb

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// numbers matches texts that are numbers.
const numbers = `'^[+-]?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$'`

// Convert implements sqlgen.Dialect.
func (d dialect) Convert(s sqlgen.Scope, x string, from, to schema.Type) string {
	if from == to || from == schema.Opaque && to == schema.String { // Stored already returns Opaque values as text
		return x
	}
	is := "(CASE WHEN " + x + " IS NOT NULL THEN TRUE END)"
	switch from {
	case schema.String, schema.Any, schema.Opaque:
		return d.convertText(s, x, to)
	case schema.Date, schema.Day:
		switch to {
		case schema.String:
			return dateText(x, from)
		case schema.Boolean:
			return is
		case schema.Date:
			return "(" + x + "::TIMESTAMP)"
		case schema.Integer, schema.Double, schema.Decimal:
			return "((epoch_us(" + x + "::TIMESTAMP) // 1000)::" + natives[to] + ")"
		}
	case schema.Boolean:
		switch to {
		case schema.String:
			return "(" + x + "::VARCHAR)"
		case schema.Integer, schema.Double, schema.Decimal:
			return "(" + x + "::INTEGER::" + natives[to] + ")"
		}
	case schema.UUID:
		switch to {
		case schema.String:
			return "(" + x + "::VARCHAR)"
		case schema.Boolean:
			return is
		}
	case schema.Integer, schema.Double, schema.Decimal:
		return d.convertNumber(s, x, from, to)
	case schema.JSON, schema.Array:
		return d.refuse("a conversion of JSON")
	}
	return "NULL::" + natives[to]
}

// convertNumber writes the conversion of a number. A test of the range precedes each cast. It refuses conversions
// that DuckDB doesn't do exactly, such as a Double to text. The gateway computes those.
func (d dialect) convertNumber(s sqlgen.Scope, x string, from, to schema.Type) string {
	switch to {
	case schema.Boolean:
		return "(" + x + " <> 0)"
	case schema.Integer:
		if from == schema.Decimal {
			return integer("trunc(" + x + ")")
		}
		x = s.Atom(x)
		return "(CASE WHEN " + x + " >= -9223372036854775808::DOUBLE AND " + x + " < 9223372036854775808::DOUBLE THEN " + integer("trunc("+x+")") + " END)"
	case schema.Double:
		return d.Widen(s, x, from, to)
	case schema.Decimal:
		if from == schema.Double {
			return d.refuse("a Double as a decimal")
		}
		return "(" + x + "::DECIMAL(38,12))"
	case schema.String:
		switch from {
		case schema.Integer:
			return "(" + x + "::VARCHAR)"
		case schema.Decimal:
			return trimmed(x)
		}
		return d.refuse("the text of a Double")
	case schema.Date:
		if from != schema.Integer {
			x = d.convertNumber(s, x, from, schema.Integer)
		}
		x = s.Atom(x)
		return "(CASE WHEN " + x + " BETWEEN -62135596800000 AND 253402300799999 THEN make_timestamp(" + x + " * 1000) END)"
	}
	return "NULL::" + natives[to]
}

// trimmed returns the text of a decimal without trailing zeros.
func trimmed(x string) string { return "rtrim(rtrim(" + x + "::VARCHAR, '0'), '.')" }

func dateText(x string, t schema.Type) string {
	if t == schema.Day {
		return "strftime(" + x + ", '%Y-%m-%d')"
	}
	return "(rtrim(rtrim(strftime(" + x + ", '%Y-%m-%dT%H:%M:%S.%f'), '0'), '.') || 'Z')"
}

// convertText writes the conversion of any text. It tests a pattern and a length before the cast. It refuses
// conversions that DuckDB doesn't do exactly. The gateway computes those.
func (d dialect) convertText(s sqlgen.Scope, x string, to schema.Type) string {
	switch to {
	case schema.Boolean:
		return "(CASE WHEN " + x + " IS NOT NULL THEN TRUE END)"
	case schema.Integer:
		x = s.Atom(x)
		return "(CASE WHEN length(" + x + ") <= 400 AND regexp_matches(" + x + ", '^[+-]?[0-9]+$') THEN TRY_CAST(" + x + " AS BIGINT) END)"
	case schema.Double:
		x = s.Atom(x)
		return "(CASE WHEN length(" + x + ") <= 400 AND regexp_matches(" + x + ", " + numbers + ") AND isfinite(TRY_CAST(" + x + " AS DOUBLE)) THEN TRY_CAST(" + x + " AS DOUBLE) END)"
	case schema.Decimal, schema.Date:
		return d.refuse("a %s of a text", to)
	}
	return "NULL::" + natives[to]
}

// Widen implements sqlgen.Dialect.
func (d dialect) Widen(_ sqlgen.Scope, x string, from, to schema.Type) string {
	switch {
	case from == to:
		return x
	case from == schema.Decimal: // a direct cast would round twice
		return "(" + x + "::VARCHAR::DOUBLE)"
	}
	return "(" + x + "::" + natives[to] + ")"
}

// ParseJSON implements sqlgen.Dialect.
func (d dialect) ParseJSON(string) string { return d.refuse("JSON of a text") }

// DerivedColumn implements sqlgen.Dialect.
func (dialect) DerivedColumn(x string, _ schema.Type) string { return x }

// Part implements sqlgen.Dialect.
func (dialect) Part(s sqlgen.Scope, x string, path query.Path) (string, error) {
	for _, part := range path {
		x = s.Atom(x)
		x = "nullif(CASE json_type(" + x + ") WHEN 'OBJECT' THEN json_extract(" + x + ", " + s.Arg(pointer(part), "VARCHAR") + ")::VARCHAR END, 'null')"
	}
	return x, nil
}

// SetPart implements sqlgen.Dialect.
func (dialect) SetPart(sqlgen.Scope, string, query.Path, string) (string, error) {
	return "", unsupported("a change of a part of JSON")
}

// Over implements sqlgen.Dialect.
func (dialect) Over(sqlgen.Scope, sqlgen.Over) (string, error) {
	return "", unsupported("operators of lists")
}

// Object implements sqlgen.Dialect.
func (dialect) Object(s sqlgen.Scope, names, values []string) string {
	var b strings.Builder
	b.WriteString("('{'")
	for i, name := range names {
		sep := ""
		if i > 0 {
			sep = ","
		}
		b.WriteString(" || " + s.Arg(sep+quotedJSON(name)+":", "VARCHAR") + " || coalesce(" + values[i] + ", 'null')")
	}
	return b.String() + " || '}')"
}

// List implements sqlgen.Dialect.
func (dialect) List(_ sqlgen.Scope, values []string) string {
	if len(values) == 0 {
		return "'[]'"
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = "coalesce(" + v + ", 'null')"
	}
	return "('[' || " + strings.Join(parts, " || ',' || ") + " || ']')"
}

// As implements sqlgen.Dialect.
func (d dialect) As(s sqlgen.Scope, x string, _, t schema.Type) string {
	x = s.Atom(x)
	typ := "json_type(" + x + ")"
	number := typ + " IN ('UBIGINT', 'BIGINT', 'DOUBLE')"
	switch t {
	case schema.String:
		return "(CASE " + typ + " WHEN 'VARCHAR' THEN json_extract_string(" + x + ", '$') END)"
	case schema.Integer:
		double, decimal := "TRY_CAST("+x+" AS DOUBLE)", "TRY_CAST("+x+" AS DECIMAL(38,12))"
		return "(CASE WHEN " + number + " THEN CASE WHEN " + double + " = trunc(" + double + ") THEN CASE WHEN " + decimal + " = trunc(" + decimal + ") THEN " + integer(decimal) + " END END END)"
	case schema.Double:
		return "(CASE WHEN " + number + " THEN CASE WHEN isfinite(TRY_CAST(" + x + " AS DOUBLE)) THEN TRY_CAST(" + x + " AS DOUBLE) + 0 END END)"
	case schema.Boolean:
		return "(CASE " + typ + " WHEN 'BOOLEAN' THEN " + x + " = 'true' END)"
	case schema.JSON:
		return x
	}
	return d.refuse("a %s in JSON", t)
}

// ToJSON implements sqlgen.Dialect.
func (d dialect) ToJSON(s sqlgen.Scope, x string, from schema.Type) string {
	switch from {
	case schema.JSON, schema.Array:
		return x
	case schema.Integer, schema.Boolean:
		return "(" + x + "::VARCHAR)"
	case schema.Decimal:
		return trimmed(x)
	case schema.Double:
		x = s.Atom(x)
		return "(CASE WHEN isnan(" + x + ") THEN '\"NaN\"' WHEN isinf(" + x + ") THEN CASE WHEN " + x + " > 0 THEN '\"Infinity\"' ELSE '\"-Infinity\"' END ELSE regexp_replace(to_json(" + x + ")::VARCHAR, '\\.0$', '') END)"
	case schema.Date, schema.Day:
		return "('\"' || " + dateText(x, from) + " || '\"')"
	case schema.UUID:
		return "('\"' || " + x + "::VARCHAR || '\"')"
	case schema.Bytes:
		return "('\"' || to_base64(" + x + ") || '\"')"
	}
	return "(to_json(" + x + ")::VARCHAR)"
}

// Elements implements sqlgen.Dialect. A value other than a list counts as a list of itself.
func (dialect) Elements(s sqlgen.Scope, x string) (from, element, position string) {
	x = s.Atom(x)
	e := s.Alias("e")
	list := "(CASE WHEN " + x + " IS NULL THEN []::VARCHAR[] WHEN json_type(" + x + ") = 'ARRAY' THEN json_extract(" + x + ", '$[*]')::VARCHAR[] ELSE [" + x + "] END)"
	from = "LATERAL (SELECT unnest(" + list + ") AS v, generate_subscripts(" + list + ", 1) AS o) AS " + e
	return from, "nullif(" + e + ".v, 'null')", "(" + e + ".o - 1)"
}

// quotedJSON returns a text as JSON.
func quotedJSON(text string) string { return string(value.OfString(text).AppendJSON(nil)) }
