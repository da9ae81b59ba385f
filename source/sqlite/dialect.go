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
// The most frequent expressions are plain SQL: stored columns, comparisons, booleans, and groups by whole numbers, texts
// and dates. JSON is joined from texts and never parsed by SQLite, which fails on deep nesting. No operand is repeated
// except where a comment of sqlgen.Dialect allows it, so text grows no faster than the expression.
func Dialect() sqlgen.Dialect { return dialect{} }

// A dialect writes expressions for SQLite.
type dialect struct {
	sqlgen.Standard
	// wide is for a file whose texts are in UTF-16. SQLite compares those by their bytes, so that each order of texts names a collation
	// that compares code points.
	wide bool
	// first is for a statement that is tried before another, and does less for each record. A sum of integers is one
	// aggregate in place of two, and ends the statement beyond 64 bits. Groups are those of the column itself. Its type
	// is looked at once in each group and not in each record, and a value of another type ends the statement. A
	// statement that ended so must run again with another dialect.
	first bool
	// apart is for views that are computed before what the caller asks for, and without an index. An index holds values of records that
	// aren't in the view, and SQLite reads those whole that it compares with.
	apart bool
}

// call writes the call of a function.
func call(name string, args ...string) string { return name + "(" + strings.Join(args, ", ") + ")" }

// StoredValue implements sqlgen.Dialect. SQLite keeps values of any type in a column, so a value of another type than the column's counts as
// null, unless it is one that refuses them.
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
		return "CASE WHEN typeof(" + x + ") IN ('integer', 'real') THEN CAST(" + x + " AS REAL) + 0.0 END" // + 0.0 turns negative zero into zero
	case schema.Decimal: // a whole real becomes an integer, so that equal decimals are the same
		return "CASE typeof(" + x + ") WHEN 'integer' THEN " + x + " WHEN 'real' THEN CASE WHEN " + x + " = CAST(" + x +
			" AS INTEGER) THEN CAST(" + x + " AS INTEGER) WHEN abs(" + x + ") < 9e999 THEN " + x + " END END"
	case schema.Date:
		if f.Stored != nil { // converted already
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
	return "+" + x // the sign removes the affinity, so that it compares as stored
}

// strict reports whether a column refuses values of other types than f's, and compares as expressions do.
func strict(f *schema.Field) bool {
	switch f.Type {
	case schema.Integer, schema.String, schema.Bytes:
		return f.Typing == schema.Strict && !f.Unordered && f.Stored == nil
	}
	return false
}

// hasOneType reports whether all values of a column that equal one of f's type are of that type.
func hasOneType(f *schema.Field) bool {
	return strict(f) || f.Typing == schema.Converting && (f.Type == schema.Integer || f.Type == schema.String) && !f.Unordered && f.Stored == nil
}

// Find implements sqlgen.Dialect. A value that isn't of its column's type never equals one that is, so the columns
// themselves can be compared. Columns of Doubles can't, because they may hold whole numbers that no Double can. If one
// of them refuses values of other types, no others are equal.
func (dialect) Find(x string, f *schema.Field, y string, g *schema.Field) (test string, exact bool) {
	if f.Type != g.Type || f.Unordered || g.Unordered {
		return "", false
	}
	switch f.Type {
	case schema.Integer, schema.String, schema.Boolean:
		return "(" + x + " = " + y + ")", hasOneType(f) && hasOneType(g) && (strict(f) || strict(g))
	case schema.UUID: // as written: in lower or upper case, most often both in the same
		return "(" + x + " IN (" + y + ", lower(" + y + "), upper(" + y + ")))", false
	}
	return "", false
}

// Const implements sqlgen.Dialect: an argument in the form in which Stored has values of type t: dates as milliseconds, Booleans as 0 and
// 1, UUIDs in lower case.
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

// Object implements sqlgen.Dialect. It joins texts rather than call json_object, which would change numbers. names are
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

// List implements sqlgen.Dialect, as Object does.
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

// orNull returns a text for use inside of JSON.
func orNull(x string) string { return "coalesce(" + x + ", 'null')" }

// concatTexts joins texts as a tree: SQLite refuses a chain of a thousand.
func concatTexts(parts []string) string {
	if len(parts) > 16 {
		half := len(parts) / 2
		parts = []string{concatTexts(parts[:half]), concatTexts(parts[half:])}
	}
	return "(" + strings.Join(parts, " || ") + ")"
}

// As implements sqlgen.Dialect: x if it is of type to already, else null. A number of a column without a type is read as JSON first,
// except as a Double.
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

// ToJSON implements sqlgen.Dialect. A value that is neither JSON, a number nor a Boolean is a text in quotes. Only a
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

// text returns x as value.AppendText writes it. Numbers stay as they are.
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

// Convert implements sqlgen.Dialect. Pairs of types that never convert give NULL. A Date is a Day only at midnight. The rest are
// functions by the type that they give, with a suffix for JSON and Decimals.
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
	return x // an integer is a decimal here, a day the milliseconds of its midnight, a UUID text
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
