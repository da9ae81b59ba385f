package postgres

import (
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// dialect writes statements for PostgreSQL 13 or later. Every argument is cast, so that its type never depends on the
// other operand. All computed text has the collation "C", so that it compares by bytes and collations never conflict.
// A Decimal is below 1e600 in magnitude, so that no result of a computation can exceed the range of numeric.
type dialect struct {
	sqlgen.Standard
	// encoded is true for a database whose encoding orders texts differently from UTF-8. Then texts are converted
	// before they are ordered. Regular expressions are not supported, because their ranges would follow the encoding.
	encoded bool
}

// Dialect returns the dialect for PostgreSQL. Only packages of Bailiwick can use it.
func Dialect() sqlgen.Dialect { return dialect{} }

var pgTypes = [...]string{schema.Any: "text", schema.String: "text", schema.Integer: "int8", schema.Double: "float8", schema.Decimal: "numeric", schema.Boolean: "boolean",
	schema.Date: "timestamp", schema.Day: "date", schema.UUID: "uuid", schema.Bytes: "bytea", schema.JSON: "jsonb", schema.Array: "jsonb", schema.Opaque: "text"}

const (
	pgIntegers = "BETWEEN -9223372036854775808 AND 9223372036854775807"
	pgC        = ` COLLATE "C"`
)

// Barrier implements sqlgen.Dialect.
func (dialect) Barrier() string { return " OFFSET 0" }

// StoredValue implements sqlgen.Dialect.
func (p dialect) StoredValue(_ sqlgen.Scope, x string, f *schema.Field) string {
	switch f.Type {
	case schema.String:
		if (f.Native == "text" || f.Native == "varchar") && !f.Unordered {
			return "(" + x + pgC + ")"
		}
		return "(" + x + "::text" + pgC + ")"
	case schema.Integer:
		if f.Native != "int8" {
			return "(" + x + "::int8)"
		}
	case schema.Double:
		if f.Native == "float4" { // callers see its shortest text
			x += "::text::float8"
		}
		return "(" + x + " + 0)" // adding 0 turns negative zero into zero
	case schema.Decimal:
		if f.Native == "money" {
			x += "::numeric"
		}
		return pgDecimal(x)
	case schema.Date:
		if f.Native == "timestamptz" {
			return "(CASE WHEN " + x + " >= timestamptz '0001-01-01 00:00:00+00' AND " + x + " < timestamptz '10000-01-01 00:00:00+00' THEN " + x + " AT TIME ZONE 'UTC' END)"
		}
		return pgYears(x)
	case schema.Day:
		return "(CASE WHEN " + x + " >= date '0001-01-01' AND " + x + " < date '10000-01-01' THEN " + x + " END)"
	case schema.JSON:
		if f.Native == "json" {
			return "nullif(" + jsonText(x) + ", 'null')"
		}
		return "nullif(" + x + ", 'null')"
	case schema.Array:
		return "to_jsonb(" + x + ")"
	case schema.Opaque, schema.Any:
		if f.Native == "inet" {
			return "(" + address(x) + pgC + ")"
		}
		if f.Point {
			x = argumentOf(x, f)
		}
		return "(" + x + "::text" + pgC + ")"
	}
	return x
}

// address returns a PostgreSQL column x of type inet in the form that PostgreSQL shows. A cast would add /32 to a
// single address.
func address(x string) string { return "abbrev(" + x + ")" }

// jsonText returns a PostgreSQL column x of type json as jsonb. Its text may contain escaped NULs, lone surrogates or
// numbers beyond numeric, for which a cast would raise an error. Such a document counts as null.
func jsonText(x string) string {
	plain := `regexp_replace(` + x + `::text, '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}', '', 'g')`
	return `CASE WHEN ` + plain + ` ~ '\\u(0000|[dD][89a-fA-F])|[0-9][eE][+-]?[0-9]{4}' THEN NULL ELSE ` + x + `::jsonb END`
}

func pgDecimal(x string) string { return "(CASE WHEN abs(" + x + ") < 1e600 THEN " + x + " END)" }

// pgYears returns a timestamp, or null if it is outside of the years 1 to 9999.
func pgYears(x string) string {
	return "(CASE WHEN " + x + " >= timestamp '0001-01-01' AND " + x + " < timestamp '10000-01-01' THEN " + x + " END)"
}

func pgNull(t schema.Type) string {
	if t == schema.String {
		return "(NULL::text" + pgC + ")"
	}
	return "NULL::" + pgTypes[t]
}

// Const implements sqlgen.Dialect.
func (p dialect) Const(s sqlgen.Scope, v value.Value, t schema.Type) string {
	null := pgNull(t)
	if v.IsNull() {
		return null
	}
	switch t {
	case schema.String:
		return "(" + s.Arg(v.Text(), "text") + pgC + ")"
	case schema.Integer:
		n, _ := v.AsInt()
		return s.Arg(n, "int8")
	case schema.Double:
		x, _ := v.AsFloat()
		return s.Arg(x, "float8")
	case schema.Decimal:
		if far(v.String()) {
			return null
		}
		return s.Arg(v.String(), "numeric")
	case schema.Boolean:
		return s.Arg(v.Bool(), "boolean") // ORDER BY doesn't accept a bare TRUE
	case schema.Date:
		return s.Arg(time.UnixMicro(v.Micros()).UTC().Format("2006-01-02 15:04:05.999999"), "timestamp")
	case schema.Day:
		return s.Arg(time.UnixMicro(v.Micros()).UTC().Format(time.DateOnly), "date")
	case schema.UUID:
		return s.Arg(v.Text(), "uuid")
	case schema.Bytes:
		return s.Arg([]byte(v.Text()), "bytea")
	}
	return s.Arg(string(near(v).AppendJSON(nil)), "jsonb")
}

// far reports whether a number has an exponent or a length that a database may not accept.
func far(number string) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	return len(strings.TrimLeft(exponent, "+-0")) > 3 || len(number) > 600
}

// near returns v with null in place of each number that is far.
func near(v value.Value) value.Value {
	if v.Kind() == value.Decimal && far(v.Text()) {
		return value.Value{}
	}
	return v.Map(near)
}

// Compare implements sqlgen.Dialect. If one side is a stored column, and the other is one or a constant, the
// comparison can use an index.
func (p dialect) Compare(s sqlgen.Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	if t == schema.JSON && op != plan.Eq {
		return p.compareJSON(s, op, x, y), nil
	}
	x, y = p.sides(op, x, y, t)
	return "(" + x + " " + sqlgen.Sign(op) + " " + y + ")", nil
}

// sides returns the two sides of a comparison.
func (p dialect) sides(op plan.Op, x, y string, t schema.Type) (left, right string) {
	switch {
	case op == plan.Eq && t == schema.String:
		if a, b := bothBare(x, y, pgC+")"); a != x {
			return a, b + ` COLLATE "default"` // the index's collation, since two columns may differ
		}
	case t == schema.String && p.encoded:
		return byBytes(x, true), byBytes(y, true)
	case t == schema.Integer:
		return bothBare(x, y, "::int8)")
	}
	return x, y
}

// bothBare removes a cast from both sides if each is a column or an argument that needs no cast. Otherwise it returns
// both unchanged.
func bothBare(x, y, cast string) (string, string) {
	a, okA := bare(x, cast)
	b, okB := bare(y, cast)
	if okA && okB {
		return a, b
	}
	return x, y
}

// bare returns the column or argument x without its cast, and true. If x isn't a column or argument with this cast,
// it returns x and false.
func bare(x, cast string) (string, bool) {
	inner, ok := strings.CutSuffix(x, cast)
	if !ok {
		return x, cast == "::int8)" && strings.HasSuffix(x, "\x00") && strings.Count(x, "\x00") == 2
	}
	inner = strings.TrimPrefix(inner, "(")
	if strings.ContainsAny(inner, " ():") {
		return x, false
	}
	return inner, true
}

// pgRank returns the position of a JSON value's type in the order of values.
func pgRank(x string) string {
	return "(CASE jsonb_typeof(" + x + ") WHEN 'number' THEN 1 WHEN 'string' THEN 2 WHEN 'object' THEN 3 WHEN 'array' THEN 4 WHEN 'boolean' THEN 6 END)"
}

func (p dialect) compareJSON(s sqlgen.Scope, op plan.Op, x, y string) string {
	x, y = s.Atom(x), s.Atom(y)
	same := "FALSE"
	if op == plan.Gte || op == plan.Lte {
		same = x + " = " + y
	}
	return fmt.Sprintf("(CASE WHEN %[4]s IS NULL OR %[5]s IS NULL THEN NULL WHEN %[1]s <> %[2]s THEN %[1]s %[3]s %[2]s WHEN jsonb_typeof(%[4]s) IN ('object', 'array') THEN %[6]s WHEN jsonb_typeof(%[4]s) = 'string' THEN "+
		byBytes("(%[4]s #>> '{}')", p.encoded)+" %[3]s "+byBytes("(%[5]s #>> '{}')", p.encoded)+" ELSE %[4]s %[3]s %[5]s END)", pgRank(x), pgRank(y), sqlgen.Sign(op), x, y, same)
}

// Matches implements sqlgen.Dialect.
func (p dialect) Matches(s sqlgen.Scope, x string, r query.Regex) (string, error) {
	pattern, err := p.pattern(r)
	if err != nil {
		return "", err
	}
	return "coalesce(" + x + pgC + " ~ " + s.Arg(pattern, "text") + ", FALSE)", nil
}

// Widen implements sqlgen.Dialect.
func (p dialect) Widen(s sqlgen.Scope, x string, from, to schema.Type) string {
	switch {
	case from == to:
		return x
	case from == schema.UUID:
		return "(" + x + "::text" + pgC + ")"
	case from == schema.Decimal: // the target is a Double
		return pgDouble(s.Atom(x))
	}
	return "(" + x + "::" + pgTypes[to] + ")"
}

// pgDouble returns the Double nearest to a numeric, or null if it is out of range. The text contains x several times.
func pgDouble(x string) string {
	return "(CASE WHEN abs(" + x + ") < 2.5e-324 THEN 0 WHEN abs(" + x + ") <= 1.7976931348623158e308 THEN " + x + "::float8 END)"
}

// pgInteger truncates a numeric to an Integer. It returns null if the result is out of range. The text contains x
// several times.
func pgInteger(x string) string {
	return "(CASE WHEN trunc(" + x + ") " + pgIntegers + " THEN trunc(" + x + ")::int8 END)"
}

// pgNumeric returns a Double as the number with its shortest decimal text, or NaN if it isn't finite.
func pgNumeric(x string) string {
	return "(CASE WHEN abs(" + x + ") = 'Infinity' THEN 'NaN' ELSE " + x + "::text END)::numeric"
}
