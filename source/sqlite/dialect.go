package sqlite

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Dialect returns the dialect of SQLite 3.45 or later with the functions that this package adds.
//
// The most frequent expressions are plain SQL: stored columns, comparisons, booleans, and groups by whole numbers,
// texts and dates. JSON is built from texts. SQLite never parses it, because its parser fails on deep nesting. An
// operand is repeated only where a comment of sqlgen.Dialect allows it, so the text grows no faster than the
// expression.
func Dialect() sqlgen.Dialect { return dialect{} }

// A dialect writes expressions for SQLite.
type dialect struct {
	sqlgen.Standard
	// wide is true for a file whose texts are in UTF-16. SQLite compares such texts by their bytes. So each order of
	// texts names a collation that compares code points.
	wide bool
	// first is true for a statement that is tried before the exact one, and costs less per record. A sum of integers
	// is one aggregate instead of two, and the statement fails beyond 64 bits. A group is a group of the column
	// itself. Its type is tested once per group instead of once per record, and a value of another type makes the
	// statement fail. A failed statement must run again with another dialect.
	first bool
	// apart is true for statements that compute their views before the rest of the query, and without an index. An
	// index contains values of records outside the view, and SQLite reads each value completely that it compares.
	apart bool
}

// Probes implements sqlgen.Dialect. SQLite computes a list of records completely, even if the statement reads one record.
func (d dialect) Probes() bool { return !d.apart }

// Ahead implements sqlgen.Dialect. To test the pointers of a record takes a microsecond, and to list all records of a
// tenant a tenth of it for each.
func (d dialect) Ahead() int {
	if d.first {
		return 1000
	}
	return 0
}

// call writes the call of a function.
func call(name string, args ...string) string { return name + "(" + strings.Join(args, ", ") + ")" }

// StoredValue implements sqlgen.Dialect. SQLite stores values of any type in a column. So a value of another type
// than the column's counts as null, unless the column rejects such values.
func (dialect) StoredValue(_ sqlgen.Scope, x string, f *schema.Field) string {
	if strict(f) {
		return "+" + x
	}
	switch f.Type {
	case schema.String:
		return "CASE WHEN typeof(" + x + ") = 'text' THEN " + x + " END"
	case schema.Integer:
		return "CASE WHEN typeof(" + x + ") = 'integer' THEN " + x + " END"
	case schema.Boolean:
		return "CASE WHEN typeof(" + x + ") = 'integer' AND " + x + " IN (0, 1) THEN " + x + " END"
	case schema.Bytes:
		return "CASE WHEN typeof(" + x + ") = 'blob' THEN " + x + " END"
	case schema.Double:
		return "CASE WHEN typeof(" + x + ") IN ('integer', 'real') THEN CAST(" + x + " AS REAL) + 0.0 END" // adding 0.0 turns negative zero into zero
	case schema.Decimal: // a whole real becomes an integer, so that equal decimals are identical
		return "CASE typeof(" + x + ") WHEN 'integer' THEN " + x + " WHEN 'real' THEN CASE WHEN " + x + " = CAST(" + x +
			" AS INTEGER) THEN CAST(" + x + " AS INTEGER) WHEN abs(" + x + ") < 9e999 THEN " + x + " END END"
	case schema.Date:
		if f.Stored != nil { // already converted
			return x
		}
		return call(fnInstant, x)
	case schema.Day:
		if f.Stored != nil {
			return x
		}
		return call(fnDay, x)
	case schema.UUID:
		return call(fnUUID, x)
	case schema.JSON, schema.Array:
		return call(fnJSON, x)
	}
	return "+" + x // the sign removes the affinity, so that the value compares as stored
}

// strict reports whether a column rejects values of other types than f's, and compares like an expression.
func strict(f *schema.Field) bool {
	switch f.Type {
	case schema.Integer, schema.String, schema.Bytes:
		return f.Typing == schema.Strict && !f.Unordered && f.Stored == nil
	}
	return false
}

// hasOneType reports whether every value of a column that equals a value of f's type has that type.
func hasOneType(f *schema.Field) bool {
	return strict(f) || f.Typing == schema.Converting && (f.Type == schema.Integer || f.Type == schema.String) && !f.Unordered && f.Stored == nil
}

// Find implements sqlgen.Dialect. A value of another type than its column's never equals a value of the column's
// type, so the columns themselves can be compared. Columns of Doubles can't, because they may contain whole numbers
// that no Double can represent. If one of the columns rejects values of other types, the test is exact.
func (dialect) Find(x string, f *schema.Field, y string, g *schema.Field) (test string, exact bool) {
	if f.Type != g.Type || f.Unordered || g.Unordered {
		return "", false
	}
	switch f.Type {
	case schema.Integer, schema.String, schema.Boolean:
		return "(" + x + " = " + y + ")", hasOneType(f) && hasOneType(g) && (strict(f) || strict(g))
	case schema.UUID: // as written: in lower or upper case, most often both in the same case
		return "(" + x + " IN (" + y + ", lower(" + y + "), upper(" + y + ")))", false
	}
	return "", false
}

// Const implements sqlgen.Dialect. It returns an argument in the form in which Stored has values of type t. Dates are
// milliseconds, Booleans are 0 and 1, and UUIDs are in lower case.
func (dialect) Const(s sqlgen.Scope, v value.Value, t schema.Type) string {
	if v.IsNull() {
		return "NULL"
	}
	switch t {
	case schema.Integer:
		return s.Arg(v.Int(), "")
	case schema.Double:
		f, _ := v.AsFloat()
		return s.Arg(f, "")
	case schema.Decimal:
		if n, whole := v.AsInt(); whole {
			return s.Arg(n, "")
		}
		f, _ := v.AsFloat()
		return s.Arg(f, "")
	case schema.Boolean:
		if v.Bool() {
			return s.Arg(int64(1), "")
		}
		return s.Arg(int64(0), "")
	case schema.Date, schema.Day:
		return s.Arg(floorDiv(v.Micros(), 1000), "")
	case schema.UUID:
		return s.Arg(strings.ToLower(v.Text()), "")
	case schema.Bytes:
		return s.Arg([]byte(v.Text()), "")
	case schema.JSON, schema.Array:
		return s.Arg(string(v.AppendJSON(nil)), "")
	}
	return s.Arg(v.String(), "")
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}

func (dialect) Part(s sqlgen.Scope, x string, path query.Path) (string, error) {
	return call(fnPart, append([]string{x}, names(s, path)...)...), nil
}

func (dialect) SetPart(s sqlgen.Scope, x string, path query.Path, v string) (string, error) {
	return call(fnSetPart, append([]string{x, v}, names(s, path)...)...), nil
}

func names(s sqlgen.Scope, path query.Path) []string {
	out := make([]string, len(path))
	for i, part := range path {
		out[i] = s.Arg(part, "")
	}
	return out
}

// Object implements sqlgen.Dialect. It concatenates texts, because json_object would change numbers. names are
// arguments.
func (dialect) Object(s sqlgen.Scope, names, values []string) string {
	if len(names) == 0 {
		return "'{}'"
	}
	parts := make([]string, 0, 2*len(names)+1)
	for i, name := range names {
		before := ","
		if i == 0 {
			before = "{"
		}
		parts = append(parts, s.Arg(before+string(value.AppendQuote(nil, name))+":", ""), orNull(values[i]))
	}
	return concatTexts(append(parts, "'}'"))
}

// List implements sqlgen.Dialect in the same way as Object.
func (dialect) List(_ sqlgen.Scope, values []string) string {
	if len(values) == 0 {
		return "'[]'"
	}
	parts := make([]string, 0, 2*len(values)+1)
	for i, v := range values {
		before := "','"
		if i == 0 {
			before = "'['"
		}
		parts = append(parts, before, orNull(v))
	}
	return concatTexts(append(parts, "']'"))
}

// orNull returns a text for use inside of JSON, with null as the text null.
func orNull(x string) string { return "coalesce(" + x + ", 'null')" }

// concatTexts concatenates texts as a tree, because SQLite doesn't accept a chain of a thousand.
func concatTexts(parts []string) string {
	if len(parts) > 16 {
		half := len(parts) / 2
		parts = []string{concatTexts(parts[:half]), concatTexts(parts[half:])}
	}
	return "(" + strings.Join(parts, " || ") + ")"
}

// As implements sqlgen.Dialect. It returns x if its value already has the type to, and null otherwise. A number from
// a column without a type is first converted to JSON, unless to is Double.
func (d dialect) As(_ sqlgen.Scope, x string, from, to schema.Type) string {
	if from == schema.Any {
		if to == schema.Double {
			return call(fnAnyDouble, x)
		}
		x = call(fnOfAny, x)
	}
	switch to {
	case schema.String:
		return call(fnAsString, x)
	case schema.Integer:
		return call(fnAsInteger, x)
	case schema.Double:
		return call(fnAsDouble, x)
	case schema.Decimal:
		return call(fnAsDecimal, x)
	case schema.Boolean:
		return call(fnAsBoolean, x)
	case schema.Date:
		return call(fnAsDate, x)
	}
	return "NULL"
}

// ToJSON implements sqlgen.Dialect. A value that is not JSON, a number or a Boolean becomes a text in quotes. Only a
// String needs escapes.
func (d dialect) ToJSON(s sqlgen.Scope, x string, from schema.Type) string {
	switch from {
	case schema.JSON, schema.Array:
		return x
	case schema.Integer:
		return "CAST(" + x + " AS TEXT)"
	case schema.Double, schema.Decimal:
		return call(fnNumber, x)
	case schema.Any:
		return call(fnAnyJSON, x)
	case schema.String:
		return call(fnQuote, x)
	case schema.Boolean:
		return d.text(x, from)
	}
	return `('"' || ` + d.text(x, from) + ` || '"')`
}

// text returns x in the form of value.AppendText. Numbers stay unchanged.
func (d dialect) text(x string, from schema.Type) string {
	switch from {
	case schema.Boolean:
		return "CASE " + x + " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
	case schema.Date:
		return call(fnDateText, x)
	case schema.Day:
		return call(fnDayText, x)
	case schema.Bytes:
		return call(fnBase64, x)
	}
	return x
}

// Convert implements sqlgen.Dialect. A pair of types without a conversion gives NULL. A Date is a Day only at
// midnight. All other conversions are functions, one for each target type, with a suffix for JSON and Decimals.
func (d dialect) Convert(_ sqlgen.Scope, x string, from, to schema.Type) string {
	suffix := ""
	switch from {
	case to:
		return x
	case schema.Bytes, schema.Opaque:
		return "NULL"
	case schema.UUID:
		switch to {
		case schema.String:
			return x
		case schema.Boolean:
			return call(fnToBoolean, x)
		}
		return "NULL"
	case schema.Any:
		x, suffix = call(fnOfAny, x), fnOfJSON
	case schema.JSON, schema.Array:
		suffix = fnOfJSON
	case schema.Decimal:
		if to == schema.String {
			suffix = fnOfDecimals
		}
	case schema.Boolean:
		switch to {
		case schema.String:
			return d.text(x, from)
		case schema.Date:
			return "NULL"
		}
	case schema.Date, schema.Day:
		switch to {
		case schema.String:
			return d.text(x, from)
		case schema.Boolean:
			return "CASE WHEN " + x + " IS NOT NULL THEN 1 END"
		case schema.Date:
			return x
		case schema.Day:
			return "CASE WHEN " + x + " % 86400000 = 0 THEN " + x + " END"
		}
	}
	name, ok := conversions[to]
	if !ok {
		return "NULL"
	}
	return call(name+suffix, x)
}

var conversions = map[schema.Type]string{
	schema.Integer: fnToInteger, schema.Double: fnToDouble, schema.Decimal: fnToDecimal,
	schema.String: fnToString, schema.Boolean: fnToBoolean, schema.Date: fnToDate,
}

func (dialect) Widen(_ sqlgen.Scope, x string, _, to schema.Type) string {
	if to == schema.Double {
		return "CAST(" + x + " AS REAL)"
	}
	return x // in SQLite, an integer is a valid decimal, a day is the milliseconds of its midnight, and a UUID is text
}

func (dialect) Matches(s sqlgen.Scope, x string, r query.Regex) (string, error) {
	return call(fnMatches, s.Arg(r.Expression(), ""), x), nil
}

func (dialect) DatePart(s sqlgen.Scope, x, part, zone string) string {
	return call(fnDatePart, x, s.Arg(part, ""), s.Arg(zone, ""))
}

func (dialect) DateTrunc(s sqlgen.Scope, x string, e plan.DateTrunc) string {
	return call(fnDateTrunc, x, s.Arg(e.Unit, ""), s.Arg(e.Zone, ""), s.Arg(int64(e.WeekStart), ""))
}

func (dialect) DateText(s sqlgen.Scope, x, format, zone string) string {
	return call(fnDateWrite, x, s.Arg(format, ""), s.Arg(zone, ""))
}

func (dialect) DateShift(s sqlgen.Scope, x, amount, unit, zone string) string {
	return call(fnDateShift, x, amount, s.Arg(unit, ""), s.Arg(zone, ""))
}

func (dialect) DateDiff(s sqlgen.Scope, from, to string, e plan.DateDiff) string {
	return call(fnDateDiff, from, to, s.Arg(e.Unit, ""), s.Arg(e.Zone, ""), s.Arg(int64(e.WeekStart), ""))
}

// ParseJSON implements sqlgen.Dialect.
func (dialect) ParseJSON(x string) string {
	return "CASE WHEN json_valid(" + x + ") THEN " + x + " END"
}

// DerivedColumn implements sqlgen.Dialect.
func (dialect) DerivedColumn(x string, _ schema.Type) string { return x }
