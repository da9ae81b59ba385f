package duckdb

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// dialect writes statements for DuckDB 1.4. It writes only the parts that DuckDB computes exactly and without errors,
// and refuses the others. Package sqldriver computes those over the remaining records. Every argument is cast, and no
// comparison relies on DuckDB's implicit casts, because some of them raise errors for stored values. JSON is a
// VARCHAR that is always valid JSON, and a Decimal is DECIMAL(38,12). Decimals of stored columns are below 1e20 in
// magnitude, so that their sums are in range.
type dialect struct{ sqlgen.Standard }

// The maximum numbers of digits of computed decimals: in total and after the point.
const (
	decimalDigits = 38
	decimalScale  = 12
	whole         = 20 // the maximum number of digits before the point of a stored decimal
)

func unsupported(what string) error { return problem.New(problem.Unsupported, inexact(what)) }

// inexact returns the message that DuckDB doesn't compute what exactly.
func inexact(what string) string { return "DuckDB does not compute " + what + " exactly" }

// refuse returns the text for an operation that isn't supported.
func (d dialect) refuse(what string, args ...any) string {
	return sqlgen.Unwritable(inexact(fmt.Sprintf(what, args...)))
}

var natives = [...]string{schema.Any: "VARCHAR", schema.String: "VARCHAR", schema.Integer: "BIGINT", schema.Double: "DOUBLE", schema.Decimal: "DECIMAL(38,12)",
	schema.Boolean: "BOOLEAN", schema.Date: "TIMESTAMP", schema.Day: "DATE", schema.UUID: "UUID", schema.Bytes: "BLOB", schema.JSON: "VARCHAR", schema.Array: "VARCHAR", schema.Opaque: "VARCHAR"}

// computedType returns the name of DuckDB's type for a computed value of type t, as in a catalogue.
func computedType(t schema.Type) string {
	if t == schema.JSON || t == schema.Array {
		return "JSON"
	}
	name, _, _ := strings.Cut(natives[t], "(")
	return name
}

// jsonText returns the text of a column of JSON or of a nested type.
func jsonText(x string, f *schema.Field) string {
	if f.Native == "JSON" {
		return "(" + x + "::VARCHAR)"
	}
	return "(to_json(" + x + ")::VARCHAR)"
}

// validJSON returns the text of a column as JSON, or null if it isn't valid. So no function raises an error for it.
func validJSON(x string, f *schema.Field) string {
	x = jsonText(x, f)
	return "(CASE WHEN json_valid(" + x + ") THEN " + x + " END)"
}

// pointer returns the JSON pointer to the member of an object called name.
func pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// Writes implements sqlgen.Dialect. DuckDB sources are only read, so it returns only the parts for statements of the
// owner.
func (dialect) Writes() sqlgen.Writes {
	return sqlgen.Writes{Bind: bind, Quotes: `'"`, Comments: []string{"--"}, Dollars: true}
}

// bind returns a value as an argument of a statement of the owner. DuckDB casts a text to the type of its place.
func bind(v value.Value, _ *schema.Field) any {
	switch v.Kind() {
	case value.Int:
		return v.Int()
	case value.Float:
		return v.Float()
	case value.Bool:
		return v.Bool()
	case value.Bytes:
		return []byte(v.Text())
	}
	return v.String()
}

// Barrier implements sqlgen.Dialect. DuckDB needs no barrier, because it evaluates only expressions that a record
// needs.
func (dialect) Barrier() string { return "" }

// Correlates implements sqlgen.Dialect. DuckDB doesn't accept a LIMIT inside of a derived table that refers to the
// outer query.
func (dialect) Correlates() bool { return false }

// Start implements sqlgen.Dialect.
func (d dialect) Start(string, schema.Type) string { return d.refuse("$graphLookup") }

// StoredValue implements sqlgen.Dialect.
func (d dialect) StoredValue(_ sqlgen.Scope, x string, f *schema.Field) string {
	switch f.Type {
	case schema.Integer:
		if f.Native != "BIGINT" {
			return "(" + x + "::BIGINT)"
		}
	case schema.Double:
		return "(" + x + "::DOUBLE + 0)" // adding 0 turns negative zero into zero
	case schema.Decimal:
		return d.decimal(x, f)
	case schema.Date:
		switch f.Native {
		case "TIMESTAMPTZ":
			return "(CASE WHEN " + x + " >= TIMESTAMPTZ '0001-01-01 00:00:00+00' AND " + x + " < TIMESTAMPTZ '10000-01-01 00:00:00+00' THEN " + x + " AT TIME ZONE 'UTC' END)"
		case "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S":
			x = "TRY_CAST(" + x + " AS TIMESTAMP)"
		}
		return years(x)
	case schema.Day:
		return "(CASE WHEN " + x + " >= DATE '0001-01-01' AND " + x + " < DATE '10000-01-01' THEN " + x + " END)"
	case schema.JSON, schema.Array:
		return "nullif(" + validJSON(x, f) + ", 'null')"
	case schema.String:
		if f.Native == "VARCHAR" {
			return x
		}
		return "(" + x + "::VARCHAR)"
	case schema.Opaque, schema.Any:
		return "(" + x + "::VARCHAR)"
	}
	return x
}

// decimal writes a column as DECIMAL(38,12), the type of all Decimals in this dialect. It refuses a column with more
// digits, which the gateway computes.
func (d dialect) decimal(x string, f *schema.Field) string {
	const most = "100000000000000000000"
	switch {
	case f.Native == "DECIMAL" && f.Scale <= decimalScale && f.Digits-f.Scale <= whole:
		return "(" + x + "::DECIMAL(38,12))"
	case f.Native == "DECIMAL":
		return d.refuse("with decimals of more than %d digits before the point or %d after it", whole, decimalScale)
	case f.Native == "HUGEINT":
		return "(CASE WHEN " + x + " BETWEEN -" + most + " AND " + most + " THEN " + x + "::DECIMAL(38,12) END)"
	}
	return "(CASE WHEN " + x + " <= " + most + " THEN " + x + "::DECIMAL(38,12) END)"
}

// years returns a timestamp, or null if it is outside of the years 1 to 9999.
func years(x string) string {
	return "(CASE WHEN " + x + " >= TIMESTAMP '0001-01-01' AND " + x + " < TIMESTAMP '10000-01-01' THEN " + x + " END)"
}

// Const implements sqlgen.Dialect.
func (d dialect) Const(s sqlgen.Scope, v value.Value, t schema.Type) string {
	if v.IsNull() {
		return "NULL::" + natives[t]
	}
	switch t {
	case schema.String, schema.UUID:
		return s.Arg(v.Text(), natives[t])
	case schema.Integer:
		n, _ := v.AsInt()
		return s.Arg(n, natives[t])
	case schema.Double:
		x, _ := v.AsFloat()
		return s.Arg(x, natives[t])
	case schema.Decimal:
		return d.number(s, v.String())
	case schema.Boolean:
		return s.Arg(v.Bool(), natives[t])
	case schema.Date:
		return "make_timestamp(" + s.Arg(v.Micros(), "BIGINT") + ")"
	case schema.Day:
		const day = 24 * 60 * 60 * 1_000_000
		n := v.Micros() / day
		if v.Micros()%day < 0 {
			n--
		}
		return "(DATE '1970-01-01' + " + s.Arg(n, "INTEGER") + ")"
	case schema.Bytes:
		return s.Arg([]byte(v.Text()), natives[t])
	}
	return s.Arg(string(v.AppendJSON(nil)), "VARCHAR")
}

// number writes a constant decimal. It refuses a constant with too many digits.
func (d dialect) number(s sqlgen.Scope, text string) string {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return d.refuse("with a number that can't be read")
	}
	scaled := new(big.Rat).Mul(n, new(big.Rat).SetInt(power(decimalScale)))
	if !scaled.IsInt() || new(big.Int).Abs(scaled.Num()).Cmp(power(whole+decimalScale)) > 0 {
		return d.refuse("with decimals of more than %d digits before the point or %d after it", whole, decimalScale)
	}
	return s.Arg(n.FloatString(decimalScale), natives[schema.Decimal])
}

func power(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// Compare implements sqlgen.Dialect.
func (d dialect) Compare(_ sqlgen.Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	if t == schema.JSON || t == schema.Array {
		return "", unsupported("comparisons of JSON")
	}
	return "(" + x + " " + sqlgen.Sign(op) + " " + y + ")", nil
}

// Matches implements sqlgen.Dialect.
func (dialect) Matches(s sqlgen.Scope, x string, r query.Regex) (string, error) {
	return "coalesce(regexp_matches(" + x + ", " + s.Arg(r.Expression(), "VARCHAR") + "), FALSE)", nil
}

// Order implements sqlgen.Dialect.
func (d dialect) Order(s sqlgen.Scope, x string, t schema.Type, desc bool) []string {
	direction := " NULLS FIRST"
	if desc {
		direction = " DESC NULLS LAST"
	}
	if t != schema.JSON && t != schema.Array {
		return []string{x + direction}
	}
	x = s.Atom(x)
	is := "(CASE json_type(" + x + ") WHEN "
	number := "(CASE WHEN json_type(" + x + ") IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN TRY_CAST(" + x + " AS "
	return []string{is + "'UBIGINT' THEN 1 WHEN 'BIGINT' THEN 1 WHEN 'DOUBLE' THEN 1 WHEN 'VARCHAR' THEN 2 WHEN 'OBJECT' THEN 3 WHEN 'ARRAY' THEN 4 WHEN 'BOOLEAN' THEN 6 END)" + direction,
		number + "DOUBLE) END)" + direction, number + "DECIMAL(38,0)) END)" + direction,
		is + "'VARCHAR' THEN json_extract_string(" + x + ", '$') WHEN 'BOOLEAN' THEN " + x + " END)" + direction}
}

// Written implements sqlgen.Dialect.
func (dialect) Written(x string) string { return x }

// Key implements sqlgen.Dialect.
func (d dialect) Key(_ sqlgen.Scope, x string, t schema.Type, _ bool) (by, show string) {
	switch t {
	case schema.Double:
		x = "(" + x + " + 0)"
	case schema.JSON, schema.Array:
		x = d.refuse("groups of JSON")
	}
	return x, x
}

// Accumulate implements sqlgen.Dialect.
func (d dialect) Accumulate(s sqlgen.Scope, op plan.Accumulate, x string, from schema.Type) (string, error) {
	if op != plan.Min && op != plan.Max && from == schema.Double {
		x = s.Atom(x)
	}
	switch op {
	case plan.Count:
		if x != "" {
			return "count(" + x + ")", nil
		}
		return "count(*)", nil
	case plan.CountDistinct:
		by, _ := d.Key(s, x, from, false)
		return "count(DISTINCT " + by + ")", nil
	case plan.Sum:
		return d.sum(x, from), nil
	case plan.Avg:
		return "(CASE WHEN count(" + x + ") > 0 THEN " + finite(total(x, from)) + " / count(" + x + ") END)", nil
	case plan.StdDevPop, plan.StdDevSamp:
		name := map[plan.Accumulate]string{plan.StdDevPop: "stddev_pop(", plan.StdDevSamp: "stddev_samp("}[op]
		return "(CASE WHEN bool_and(" + operands(x) + ") THEN " + name + "CASE WHEN " + operands(x) + " THEN " + x + " END) END)", nil
	case plan.Min, plan.Max:
		return d.extreme(op, x, from), nil
	}
	return "", problem.New(problem.Internal, fmt.Sprintf("sqlgen/duckdb can't write accumulator %d", op))
}

// tens returns the SQL condition that a Double is below 1e11 in magnitude and has at most 4 digits after the point,
// like most prices. It avoids a conversion to text, which would take twenty times as long.
func tens(x string) string {
	return "(abs(" + x + ") < 1e11 AND round(" + x + " * 10000) / 10000 = " + x + ")"
}

// short returns the SQL condition that a Double is below 1e11 in magnitude and has at most 18 digits after the point.
// The sum of a hundred million such numbers is in the range of decimals.
func short(x string) string {
	return "(CASE WHEN " + tens(x) + " THEN TRUE ELSE abs(" + x + ") < 1e11 AND TRY_CAST(" + x + "::VARCHAR AS DECIMAL(38,18))::VARCHAR::DOUBLE = " + x + " END)"
}

// entire returns the SQL condition that a Double is a whole number, and small enough for the sum of a hundred million
// of them to be in range.
func entire(x string) string { return "(abs(" + x + ") < 1e29 AND " + x + " = trunc(" + x + "))" }

// total returns the sum as a number that can be converted to a Double. It adds Doubles as decimals, or as whole
// numbers. If one of them has too many digits for both, it uses a compensated sum.
func total(x string, from schema.Type) string {
	switch from {
	case schema.Integer:
		return "sum(" + x + ")::DOUBLE"
	case schema.Decimal:
		return "sum(" + x + ")::VARCHAR::DOUBLE"
	}
	fast := "coalesce(sum(CASE WHEN " + tens(x) + " THEN round(" + x + " * 10000)::BIGINT END), 0)::DECIMAL(38,0) * 0.0001::DECIMAL(4,4)"
	slow := "coalesce(sum(CASE WHEN NOT " + tens(x) + " AND " + short(x) + " THEN " + x + "::VARCHAR::DECIMAL(38,18) END), 0)"
	return "(CASE WHEN bool_and(" + short(x) + ") THEN ((" + fast + ")::DECIMAL(38,18) + " + slow + ")::VARCHAR::DOUBLE WHEN bool_and(" + entire(x) +
		") THEN sum(CASE WHEN " + entire(x) + " THEN " + x + "::HUGEINT END)::DOUBLE ELSE fsum(" + x + ") END)"
}

// finite returns a Double, or null if the Double is infinite or NaN.
func finite(x string) string {
	return "(CASE WHEN isfinite(" + x + ") THEN " + x + " + 0 END)"
}

func (d dialect) sum(x string, from schema.Type) string {
	switch from {
	case schema.Decimal:
		return "coalesce(sum(" + x + "), 0)"
	case schema.Double:
		return "(CASE WHEN count(" + x + ") = 0 THEN 0 ELSE " + finite(total(x, from)) + " END)"
	}
	return "(CASE WHEN count(" + x + ") = 0 THEN 0 ELSE TRY_CAST(sum(" + x + ") AS BIGINT) END)"
}

// extreme writes the least or the greatest value of a group. It adds 0 to a Double, which turns negative zero into
// zero.
func (d dialect) extreme(op plan.Accumulate, x string, t schema.Type) string {
	name := map[plan.Accumulate]string{plan.Min: "min(", plan.Max: "max("}[op]
	switch t {
	case schema.Boolean:
		name = map[plan.Accumulate]string{plan.Min: "bool_and(", plan.Max: "bool_or("}[op]
	case schema.Double:
		return "(" + name + x + ") + 0)"
	case schema.JSON, schema.Array:
		return d.refuse("the least or greatest of JSON")
	}
	return name + x + ")"
}

// Pick implements sqlgen.Dialect.
func (dialect) Pick(_ sqlgen.Scope, x, when string, _ schema.Type) string {
	return "first(" + x + ") FILTER (WHERE " + when + ")"
}

// Collect implements sqlgen.Dialect.
func (dialect) Collect(_ sqlgen.Scope, l sqlgen.Gathered) string {
	most := strconv.Itoa(l.Most)
	tests := []string{l.Size + " <= " + most}
	if l.When != "" {
		tests = append(tests, l.When)
	}
	x := "coalesce(" + l.X + ", 'null'), ','"
	if len(l.Terms) > 0 {
		x += " ORDER BY " + strings.Join(l.Terms, ", ")
	}
	return "(CASE WHEN coalesce(max(" + l.Size + "), 0) <= " + most + " THEN '[' || coalesce(string_agg(" + x + ") FILTER (WHERE " + strings.Join(tests, " AND ") + "), '') || ']' END)"
}

// Size implements sqlgen.Dialect.
func (dialect) Size(_ sqlgen.Scope, x string) string {
	return "coalesce(strlen(" + x + "), 4) + " + strconv.Itoa(plan.ListElement)
}

// Digest implements sqlgen.Dialect.
func (d dialect) Digest(s sqlgen.Scope, seed string, xs []string, types []schema.Type) string {
	parts := []string{s.Arg(seed, "VARCHAR")}
	for i, x := range xs {
		if i > 0 {
			parts = append(parts, "chr(31)")
		}
		switch types[i] {
		case schema.Any, schema.Opaque:
			continue
		case schema.Bytes:
			x = "to_base64(" + x + ")"
		default:
			x = d.Convert(s, x, types[i], schema.String)
		}
		parts = append(parts, "coalesce("+x+", '')")
	}
	return "md5(" + strings.Join(parts, " || ") + ")"
}
