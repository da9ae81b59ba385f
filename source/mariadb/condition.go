package mariadb

import (
	"math/big"
	"strings"
	"time"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Name implements sqlgen.Dialect.
func (dialect) Name() string { return "mariadb" }

func (dialect) Quote(name string) string {
	return "`" + strings.ReplaceAll(sqlgen.Nameable(name), "`", "``") + "`"
}

func (dialect) Negation() (before, after string) { return "((", ") IS NOT TRUE)" }

func (dialect) Placeholder(int, string) string { return "?" }

func (dialect) Limit(w *sqlgen.Writer, n int64) string { return w.Arg(n, "") }

func (m dialect) Same(x string, f, other *schema.Field) string {
	if f.Type == schema.String {
		return m.JoinKey(x, f, other)
	}
	return withoutBits(x, f)
}

func (dialect) Counts() bool { return false }

// Longest returns the maximum size of a statement. MariaDB needs about two seconds to plan one of this size, since it
// examines each operand of an expression separately. Long lists of values, as in conditions, cost little.
func (dialect) Longest() int { return 1 << 20 }

// computedJSON is the native type of computed JSON, which is always valid. MariaDB's own JSON columns have the type
// longtext.
const computedJSON = "json"

func (dialect) ComputedField(t schema.Type) *schema.Field {
	return &schema.Field{Type: t, Native: [...]string{schema.String: "longtext", schema.Integer: "bigint", schema.Double: "double", schema.Decimal: "decimal",
		schema.Boolean: "tinyint", schema.Date: "datetime", schema.Day: "date", schema.UUID: "uuid", schema.Bytes: "longblob", schema.JSON: computedJSON, schema.Opaque: ""}[t]}
}

// JoinKey compares pointers by their bytes. If only one side is a number, it compares both as text. Otherwise MariaDB
// would treat any text that isn't a number as 0.
func (m dialect) JoinKey(x string, f, other *schema.Field) string {
	switch {
	case f.Type == schema.String && other.Type == schema.String && !f.Unordered && !other.Unordered:
		return x
	case f.Type == schema.String, f.Type != other.Type:
		return binary(x, f)
	}
	return x
}

// binary returns the column x as text that compares by its bytes. It avoids the conversion for Unicode columns,
// because converting a value costs as much as comparing it twice.
func binary(x string, f *schema.Field) string {
	if f.Type == schema.String && f.Unicode {
		return x + nopad
	}
	return binaryUTF8(x)
}

// binaryUTF8 is like binary, for text of any character set.
func binaryUTF8(x string) string { return "CONVERT(" + x + " USING utf8mb4)" + nopad }

// Read converts values of types that the driver doesn't know to text or to a number.
func (m dialect) Read(x string, f *schema.Field) string {
	switch {
	case f.Native == "geometry":
		return "ST_AsText(" + x + ")"
	case f.Type == schema.Opaque || f.Type == schema.UUID || f.Type == schema.Decimal:
		return "CAST(" + withoutBits(x, f) + " AS CHAR)"
	}
	return withoutBits(x, f)
}

// withoutBits converts a BIT to a number. The driver would read it as bytes.
func withoutBits(x string, f *schema.Field) string {
	if f.Native == "bit" {
		return "(" + x + " + 0)"
	}
	return x
}

func (m dialect) OrderTerm(x string, f *schema.Field) (string, bool) {
	switch f.Type {
	case schema.String, schema.UUID, schema.JSON, schema.Array, schema.Opaque, schema.Any:
		return m.sortable(x, f), false
	}
	return withoutBits(x, f), false
}

func (dialect) sortable(x string, f *schema.Field) string {
	if f.Type == schema.String && !f.Unordered {
		return x
	}
	return binary(x, f)
}

// Missing implements sqlgen.Dialect. MariaDB treats 0000-00-00 as null in a column that can't be null.
func (dialect) Missing(x string, f *schema.Field) string {
	if f.NotNull && (f.Type == schema.Date || f.Type == schema.Day) {
		return sqlgen.Never
	}
	return x + " IS NULL"
}

func (dialect) NullsClause(*schema.Field, bool) string { return "" }

// Among writes one equality per value, because equality isn't a single comparison for any kind of value.
func (m dialect) Among(w *sqlgen.Writer, x sqlgen.Operand, values []value.Value) error {
	parts := make([]func() error, len(values))
	for i, v := range values {
		parts[i] = func() error { return m.CompareValue(w, x, "=", sqlgen.Argument(v)) }
	}
	return w.Either(parts)
}

// CompareValue implements sqlgen.Dialect. UUIDs have their own type, which compares without a collation. Numbers are
// compared exactly, except with a column of Doubles. A Boolean is 0 or 1.
func (m dialect) CompareValue(w *sqlgen.Writer, x sqlgen.Operand, op string, v any) error {
	if x.Node() {
		return m.compareNode(w, x.Text, op, v)
	}
	left := withoutBits(x.Text, x.Field)
	switch v := v.(type) {
	case string:
		if x.Field.Type == schema.UUID && op == "=" {
			w.Write(x.Text, " = ")
			w.Put(v, "")
			return nil
		}
		if x.Field.Type == schema.Opaque {
			return m.compareOpaque(w, x, op, v)
		}
		m.compareText(w, x, op, v)
		return nil
	case sqlgen.Number:
		if x.Field.Type == schema.Double {
			w.Write(left, " ", op, " ")
			w.Put(v.Float, "")
			return nil
		}
		m.compareExact(w, left, op, v)
		return nil
	case float64:
		if above, infinite := sqlgen.Infinite(v); infinite { // MariaDB has no infinite numbers
			sqlgen.Beyond(w, left, op, above)
			return nil
		}
	case sqlgen.Moment:
		m.compareDate(w, x.Text, op, v)
		return nil
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		w.Write("(", left, " ", op, " ")
		w.Put(n, "")
		w.Write(" AND ", left, " IN (0, 1))") // a tinyint(1) may contain other values, which aren't Booleans
		return nil
	}
	w.Write(left, " ", op, " ")
	return m.bind(w, x.Field, v)
}

// compareText compares texts by their bytes. For an equality it adds the column's own comparison, which can use an
// index. Texts with equal bytes are also equal in that comparison. A column with a limited character set is converted
// to a character set that has every character.
func (m dialect) compareText(w *sqlgen.Writer, x sqlgen.Operand, op, v string) {
	text := m.sortable(x.Text, x.Field)
	if op == "=" && x.Field.Unordered && strings.IndexFunc(v, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		w.Write("(", x.Text, " = ")
		w.Put(v, "")
		w.Write(" AND ", text, " = ")
		w.Put(v, "")
		w.Write(")")
		return
	}
	w.Write(text, " ", op, " ")
	w.Put(v, "")
}

// compareExact compares with a decimal without rounding it. MariaDB's decimals have 65 digits, at most 38 of them
// after the point. A longer number lies between two such decimals.
func (dialect) compareExact(w *sqlgen.Writer, left, op string, n sqlgen.Number) {
	exact, _ := new(big.Rat).SetString(n.Text) // a JSON number always parses
	const most = 38
	scaled := new(big.Int).Mul(exact.Num(), new(big.Int).Exp(big.NewInt(10), big.NewInt(most), nil))
	floor, rest := new(big.Int).DivMod(scaled, exact.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		var some bool
		if op, some = sqlgen.AboveFloor(op); !some {
			w.Write(sqlgen.Never)
			return
		}
	}
	text := new(big.Rat).SetFrac(floor, new(big.Int).Exp(big.NewInt(10), big.NewInt(most), nil)).FloatString(most)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if len(whole)+len(fraction) > 65 {
		sqlgen.Beyond(w, left, op, exact.Sign() > 0)
		return
	}
	w.Write(left, " ", op, " CAST(")
	w.Put(text, "")
	w.Write(" AS DECIMAL(65,", scale(len(whole)), "))")
}

// scale returns the number of digits that remain after the point if there are whole digits before it.
func scale(whole int) string {
	for _, s := range []struct {
		whole int
		text  string
	}{{27, "38"}, {35, "30"}, {65, "0"}} {
		if whole <= s.whole {
			return s.text
		}
	}
	return "0"
}

// compareDate ignores invalid dates, such as 0000-00-00 and 2026-02-31.
func (dialect) compareDate(w *sqlgen.Writer, x, op string, v sqlgen.Moment) {
	t := time.UnixMicro(v.Micros).UTC()
	isDate := "DAYOFMONTH(" + x + ") BETWEEN 1 AND DAYOFMONTH(LAST_DAY(" + x + "))"
	if t.Year() < 0 || t.Year() > 9999 {
		w.Write("(")
		sqlgen.Beyond(w, x, op, t.Year() > 9999)
		w.Write(" AND ", isDate, ")")
		return
	}
	w.Write("(", x, " ", op, " CAST(")
	w.Put(t.Format("2006-01-02 15:04:05.000000"), "")
	w.Write(" AS DATETIME(6))")
	if op != "=" {
		w.Write(" AND ", isDate)
	}
	w.Write(")")
}

// bind writes v as an argument of the type that the comparison uses.
func (dialect) bind(w *sqlgen.Writer, f *schema.Field, v any) error {
	switch v := v.(type) {
	case int64:
		if f.Type == schema.Double {
			w.Put(float64(v), "")
			return nil
		}
		w.Put(v, "")
	case float64:
		w.Put(v, "")
	case []byte: // the driver would send bytes as text
		const digits = "0123456789ABCDEF"
		hex := make([]byte, 0, 2*len(v))
		for _, b := range v {
			hex = append(hex, digits[b>>4], digits[b&15])
		}
		w.Write("UNHEX(")
		w.Put(string(hex), "")
		w.Write(")")
	default:
		return sqlgen.UnsupportedError("%T can't be compared with a column of type %s", v, f.Type)
	}
	return nil
}

// After compares with a value that was read from the column. Invalid dates are part of the order too.
func (m dialect) After(w *sqlgen.Writer, x string, f *schema.Field, op string, v any) error {
	switch v := v.(type) {
	case sqlgen.Moment:
		w.Write(x, " ", op, " CAST(")
		w.Put(time.UnixMicro(v.Micros).UTC().Format("2006-01-02 15:04:05.000000"), "")
		w.Write(" AS DATETIME(6))")
	case sqlgen.Number:
		if f.Type == schema.Double {
			w.Write(x, " ", op, " ")
			w.Put(v.Float, "")
			return nil
		}
		m.compareExact(w, x, op, v)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		w.Write(x, " ", op, " ")
		w.Put(n, "")
	case string:
		w.Write(x, " ", op, " ")
		if f.Type == schema.Date || f.Type == schema.Day { // an invalid date is ordered by its digits
			w.Write("CAST(")
			w.Put(v, "")
			w.Write(" AS DATETIME(6))")
			return nil
		}
		w.Put(v, "")
	default:
		w.Write(x, " ", op, " ")
		return m.bind(w, f, v)
	}
	return nil
}

// MatchText implements sqlgen.Dialect with an expression of PCRE2.
func (m dialect) MatchText(w *sqlgen.Writer, x sqlgen.Operand, r query.Regex) error {
	pattern, err := regexes().Translate(r)
	if err != nil {
		return err
	}
	w.Write("(", m.string(x), " REGEXP ")
	w.Put(pattern, "")
	w.Write(")")
	return nil
}

// Begins writes a range condition, which can use an index over text in binary order.
func (m dialect) Begins(w *sqlgen.Writer, x sqlgen.Operand, prefix string) {
	left := m.string(x)
	w.Write("(", left, " >= ")
	w.Put(prefix, "")
	if next := sqlgen.Successor(prefix); next != "" {
		w.Write(" AND ", left, " < ")
		w.Put(next, "")
	}
	w.Write(")")
}

// string returns the text in x, or null if x isn't a text. The text is compared by its bytes.
func (m dialect) string(x sqlgen.Operand) string {
	if x.Node() {
		return nodeText(x.Text)
	}
	return m.sortable(x.Text, x.Field)
}

func (m dialect) Members(x sqlgen.Operand, key string, f *schema.Field) (node, other string) {
	if f.Type == schema.Integer {
		const decimal = " AS DECIMAL(65,30))"
		return "CASE WHEN JSON_TYPE(" + x.Text + ") IN ('INTEGER', 'DOUBLE') THEN CAST(JSON_UNQUOTE(" + x.Text + ")" + decimal + " END", "CAST(" + key + decimal
	}
	return nodeText(x.Text), binary(key, f)
}

func (dialect) Pieces() (characters, most string) { return "char_length", "" }

func (m dialect) AsText(x string, f *schema.Field) string { return m.Read(x, f) }

// Search implements sqlgen.Dialect.
func (dialect) Search(sqlgen.SearchedView, string, *policy.Search) error {
	return sqlgen.UnsupportedError("full-text indexes of MariaDB are not searched")
}
