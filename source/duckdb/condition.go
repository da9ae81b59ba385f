package duckdb

import (
	"math/big"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Name implements sqlgen.Dialect.
func (dialect) Name() string { return "duckdb" }

func (dialect) Negation() (before, after string) { return "((", ") IS NOT TRUE)" }

func (dialect) Placeholder(n int, cast string) string {
	if cast == "" {
		return "$" + strconv.Itoa(n)
	}
	return "$" + strconv.Itoa(n) + "::" + cast
}

func (dialect) Counts() bool { return true }

// Longest returns the maximum size of a statement. DuckDB plans one of this size in about a second.
func (dialect) Longest() int { return 1 << 20 }

// Limit writes at most 2^62, the maximum that DuckDB accepts. It writes a constant instead of an argument, because
// DuckDB requires that for a correlated sub-query.
func (dialect) Limit(_ *sqlgen.Writer, n int64) string {
	return strconv.FormatInt(min(n, 1<<62), 10)
}

func (dialect) ComputedField(t schema.Type) *schema.Field {
	f := &schema.Field{Type: t, Native: computedType(t)}
	if t == schema.Decimal {
		f.Digits, f.Scale, f.Scaled = decimalDigits, decimalScale, true
	}
	return f
}

// JoinKey compares pointers of one type directly. DuckDB would cast a text to a number, which fails for some texts.
// It would cast a number to a decimal, which may not be able to represent it.
func (d dialect) JoinKey(x string, f, other *schema.Field) string {
	switch {
	case f.Type == other.Type && (f.Type != schema.Decimal || f.Scale == other.Scale && f.Native == other.Native):
		return d.column(x, f)
	case numeric(f) && numeric(other):
		return "TRY_CAST(" + x + " AS DOUBLE)"
	case dated(f) && dated(other):
		return "TRY_CAST(" + x + " AS TIMESTAMP)"
	}
	return "(" + x + "::VARCHAR)"
}

func numeric(f *schema.Field) bool {
	return f.Type == schema.Integer || f.Type == schema.Decimal || f.Type == schema.Double
}

func dated(f *schema.Field) bool { return f.Type == schema.Date || f.Type == schema.Day }

func (d dialect) Same(x string, f, other *schema.Field) string { return d.JoinKey(x, f, other) }

// column returns a column in a type that compares without errors.
func (dialect) column(x string, f *schema.Field) string {
	switch f.Native {
	case "ENUM":
		return "(" + x + "::VARCHAR)"
	case "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S":
		return "TRY_CAST(" + x + " AS TIMESTAMP)"
	case "FLOAT":
		return "(" + x + "::DOUBLE)"
	}
	return x
}

// Read selects a column as text if the driver has no exact type for it.
func (d dialect) Read(x string, f *schema.Field) string {
	switch f.Type {
	case schema.Array, schema.JSON:
		return jsonText(x, f)
	case schema.Decimal, schema.UUID, schema.Opaque, schema.Any:
		return "(" + x + "::VARCHAR)"
	}
	return d.column(x, f)
}

func (dialect) Pieces() (characters, most string) { return "length", "" }

func (d dialect) AsText(x string, f *schema.Field) string { return d.Read(x, f) }

func (dialect) Bytes(x string, f *schema.Field) string {
	if f.Type == schema.Bytes {
		return "octet_length(" + x + ")"
	}
	return "strlen(" + x + ")"
}

func (d dialect) Slice(x string, f *schema.Field, first, length string) string {
	if f.Type == schema.Bytes {
		return "unhex(substr(hex(" + x + "), 2 * " + first + " - 1, 2 * " + length + "))"
	}
	return d.Standard.Slice(x, f, first, length)
}

func (d dialect) OrderTerm(x string, f *schema.Field) (string, bool) {
	switch f.Type {
	case schema.JSON, schema.Array, schema.Opaque, schema.Any:
		return d.Read(x, f), false
	}
	return d.column(x, f), false
}

func (dialect) NullsClause(_ *schema.Field, desc bool) string {
	if desc {
		return " NULLS LAST"
	}
	return " NULLS FIRST"
}

func (d dialect) CompareValue(w *sqlgen.Writer, x sqlgen.Operand, op string, v any) error {
	if x.Node() {
		return d.compareNode(w, x, op, v)
	}
	if _, truth := v.(bool); x.Field.Type == schema.Boolean && !truth {
		w.Write(sqlgen.Never)
		return nil
	}
	return d.After(w, d.column(x.Text, x.Field), x.Field, op, v)
}

// Own implements sqlgen.Dialect.
func (dialect) Own(w *sqlgen.Writer, x sqlgen.Operand, text string) {
	w.Write(x.Text, " = ")
	w.Put(text, "VARCHAR")
}

// After compares values of the column's type.
func (d dialect) After(w *sqlgen.Writer, x string, f *schema.Field, op string, v any) error {
	switch v := v.(type) {
	case int64:
		switch f.Type {
		case schema.Integer:
			w.Write(x, " ", op, " ")
			w.Put(v, "BIGINT")
			return nil
		case schema.Double:
			w.Write(x, " ", op, " ")
			w.Put(float64(v), "DOUBLE")
			return nil
		}
		d.compareExact(w, x, f, op, strconv.FormatInt(v, 10))
		return nil
	case sqlgen.Number:
		if f.Type != schema.Double {
			d.compareExact(w, x, f, op, v.Text)
			return nil
		}
		w.Write(x, " ", op, " ")
		w.Put(v.Float, "DOUBLE")
		return nil
	case sqlgen.Moment:
		d.compareDate(w, x, f, op, v.Micros)
		return nil
	}
	value, cast, err := d.bound(f, v)
	if err != nil {
		return err
	}
	w.Write(x, " ", op, " ")
	w.Put(value, cast)
	return nil
}

// bound returns an argument of a comparison and the type of the argument.
func (dialect) bound(f *schema.Field, v any) (arg any, cast string, err error) {
	switch v := v.(type) {
	case bool:
		return v, "BOOLEAN", nil
	case float64:
		return v, "DOUBLE", nil
	case []byte:
		return v, "BLOB", nil
	case string:
		switch {
		case f.Type == schema.UUID:
			return v, "UUID", nil
		case dated(f): // an infinite date, from a position in an order
			return v, map[bool]string{true: "DATE", false: "TIMESTAMP"}[f.Native == "DATE"], nil
		}
		return v, "VARCHAR", nil
	}
	return nil, "", sqlgen.UnsupportedError("%T can't be compared with a column of type %s", v, f.Type)
}

// compareExact compares with the greatest number of the column's scale that is not above the given number.
func (dialect) compareExact(w *sqlgen.Writer, x string, f *schema.Field, op, text string) {
	exact, _ := new(big.Rat).SetString(text) // a JSON number always parses
	scale := 0
	if f.Native == "DECIMAL" {
		scale = f.Scale
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	floor, rest := new(big.Int).DivMod(new(big.Int).Mul(exact.Num(), power), exact.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		var some bool
		if op, some = sqlgen.AboveFloor(op); !some {
			w.Write(sqlgen.Never)
			return
		}
	}
	least, most, cast := bounds(f, scale)
	if floor.Cmp(least) < 0 || floor.Cmp(most) > 0 {
		sqlgen.Beyond(w, x, op, exact.Sign() > 0)
		return
	}
	w.Write(x, " ", op, " ")
	w.Put(new(big.Rat).SetFrac(floor, power).FloatString(scale), cast)
}

// bounds returns the least and the greatest number of a type, in units of the last digit, and the name of the type.
func bounds(f *schema.Field, scale int) (least, most *big.Int, cast string) {
	one := big.NewInt(1)
	switch {
	case f.Native == "DECIMAL":
		most, cast = new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil), "DECIMAL(38,"+strconv.Itoa(scale)+")"
		most.Sub(most, one)
		return new(big.Int).Neg(most), most, cast
	case f.Native == "UHUGEINT", f.Native == "UBIGINT":
		most = new(big.Int).Lsh(one, 128)
		return new(big.Int), most.Sub(most, one), "UHUGEINT"
	case f.Type == schema.Integer:
		most, cast = new(big.Int).Lsh(one, 63), "BIGINT"
	default:
		most, cast = new(big.Int).Lsh(one, 127), "HUGEINT"
	}
	least = new(big.Int).Neg(most)
	return least, most.Sub(most, one), cast
}

// compareDate compares a date with the day of an instant, so that no date is cast.
func (dialect) compareDate(w *sqlgen.Writer, x string, f *schema.Field, op string, micros int64) {
	const day = int64(24 * time.Hour / time.Microsecond)
	switch f.Native {
	case "DATE":
		n := micros / day
		if micros%day < 0 {
			n--
		}
		if micros%day != 0 {
			var some bool
			if op, some = sqlgen.AboveFloor(op); !some {
				w.Write(sqlgen.Never)
				return
			}
		}
		w.Write(x, " ", op, " (DATE '1970-01-01' + ")
		w.Put(n, "INTEGER")
		w.Write(")")
		return
	case "TIMESTAMPTZ":
		w.Write(x, " ", op, " make_timestamptz(")
	default:
		w.Write(x, " ", op, " make_timestamp(")
	}
	w.Put(micros, "BIGINT")
	w.Write(")")
}

// Among writes one list, whose text depends on the number of values, or one equality per value.
func (d dialect) Among(w *sqlgen.Writer, x sqlgen.Operand, values []value.Value) error {
	plain := !x.Node() && (x.Field.Type == schema.String || x.Field.Type == schema.UUID)
	if !x.Node() && x.Field.Type == schema.Integer {
		plain = true
		for _, v := range values {
			plain = plain && v.Kind() == value.Int
		}
	}
	if !plain {
		parts := make([]func() error, len(values))
		for i, v := range values {
			parts[i] = func() error { return d.CompareValue(w, x, "=", sqlgen.Argument(v)) }
		}
		return w.Either(parts)
	}
	w.Write("(", d.column(x.Text, x.Field), " IN (")
	for i, v := range values {
		if i > 0 {
			w.Write(", ")
		}
		if n, ok := sqlgen.Argument(v).(int64); ok {
			w.Put(n, "BIGINT")
			continue
		}
		arg, cast, err := d.bound(x.Field, sqlgen.Argument(v))
		if err != nil {
			return err
		}
		w.Put(arg, cast)
	}
	w.Write("))")
	return nil
}

// MatchText passes the expression on: DuckDB has RE2, in which it is written.
func (d dialect) MatchText(w *sqlgen.Writer, x sqlgen.Operand, r query.Regex) error {
	w.Write("regexp_matches(", d.string(x), ", ")
	w.Put(r.Expression(), "VARCHAR")
	w.Write(")")
	return nil
}

func (d dialect) Begins(w *sqlgen.Writer, x sqlgen.Operand, prefix string) {
	w.Write("starts_with(", d.string(x), ", ")
	w.Put(prefix, "VARCHAR")
	w.Write(")")
}

// string returns the text in x, or null if x isn't a text.
func (d dialect) string(x sqlgen.Operand) string {
	if x.Node() {
		return "(CASE json_type(" + x.Text + ") WHEN 'VARCHAR' THEN json_extract_string(" + x.Text + ", '$') END)"
	}
	if x.Field.Type != schema.String {
		return "(" + x.Text + "::VARCHAR)"
	}
	return d.column(x.Text, x.Field)
}

func (dialect) Search(sqlgen.SearchedView, string, *policy.Search) error {
	return sqlgen.UnsupportedError("DuckDB has no full-text index that is searched")
}
