package mariadb_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A place is a Scope without columns of a stage. Its expressions use constants and stored columns.
type place struct {
	args    []any
	aliases int
}

func (p *place) Alias(prefix string) string {
	p.aliases++
	return prefix + strconv.Itoa(p.aliases)
}

func (p *place) Atom(x string) string                    { return x }
func (p *place) Column(int) string                       { return "" }
func (p *place) Field(plan.Expr) (string, *schema.Field) { return "", nil }
func (p *place) Outer(int, int) (string, error)          { return "", errors.New("no list is made") }

func (p *place) Arg(v any, _ string) string {
	p.args = append(p.args, v)
	return "\x00" + strconv.Itoa(len(p.args)-1) + "\x00"
}

// resolve replaces the marks of arguments by placeholders, and returns the arguments.
func (p *place) resolve(text string) (string, []any) {
	parts := strings.Split(text, "\x00")
	var args []any
	for i := 1; i < len(parts); i += 2 {
		n, _ := strconv.Atoi(parts[i])
		args = append(args, p.args[n])
		parts[i] = "?"
	}
	return strings.Join(parts, ""), args
}

// open opens a new database with the session settings that expressions rely on.
func open(t testing.TB) *sql.DB {
	t.Helper()
	u, err := url.Parse(services.MariaDB(t))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	db, err := sql.Open("mysql", u.User.Username()+":"+password+"@tcp("+u.Host+")"+u.Path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for _, s := range []string{"SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin", `SET SESSION sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00', default_regex_flags = '',
		group_concat_max_len = 67108864, max_sort_length = 16384, sort_buffer_size = 16777216, collation_connection = 'utf8mb4_nopad_bin'`} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// ask returns the rows of a statement. Values are separated by | and rows by newlines.
func ask(t testing.TB, db *sql.DB, p *place, text string) string {
	t.Helper()
	text, args := p.resolve(text)
	rows, err := db.Query(text, args...)
	if err != nil {
		t.Errorf("%v in %s %v", err, text, args)
		return "error"
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var lines []string
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Error(err)
		}
		line := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case nil:
				line[i] = "null"
			case []byte:
				line[i] = string(v)
			default:
				line[i] = fmt.Sprint(v)
			}
		}
		lines = append(lines, strings.Join(line, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Errorf("%v in %s %v", err, text, args)
	}
	return strings.Join(lines, "\n")
}

// TestExpressions tests operators on values for which the server could raise an error or return another result.
func TestExpressions(t *testing.T) {
	db := open(t)
	i, d, m, s, j, b, at := schema.Integer, schema.Double, schema.Decimal, schema.String, schema.JSON, schema.Boolean, schema.Date
	list := document(`[3,null,"a",1.0,{"x":[1]}]`)
	for _, tt := range []struct {
		e    plan.Expr
		want string
	}{
		{op(plan.Add, i, number(9223372036854775807), number(1)), "null"},
		{op(plan.Add, i, number(9223372036854775807), number(-1), number(1)), "9223372036854775807"},
		{op(plan.Sub, i, number(-9223372036854775808), number(1)), "null"},
		{op(plan.Mul, i, number(9223372036854775807), number(9223372036854775807)), "null"},
		{op(plan.Mod, i, number(-7), number(3)), "-1"}, {op(plan.Mod, i, number(-9223372036854775808), number(-1)), "0"}, {op(plan.Mod, i, number(1), number(0)), "null"},
		{op(plan.BitAnd, i, number(-3), number(9223372036854775807)), "9223372036854775805"}, {op(plan.BitOr, i, number(-9223372036854775808), number(5)), "-9223372036854775803"},
		{op(plan.BitXor, i, number(-9223372036854775808), number(9223372036854775807)), "-1"}, {op(plan.BitXor, i, number(-3), number(7)), "-6"}, {op(plan.BitOr, i, null(i), number(7)), "null"},
		{op(plan.Abs, i, number(-9223372036854775808)), "null"},
		{op(plan.Mul, d, real(1e200), real(1e200)), "null"}, {op(plan.Add, d, real(0.1), real(0.2)), "0.30000000000000004"},
		{op(plan.Div, d, real(1), real(0)), "null"}, {op(plan.Div, d, real(1e150), real(1e-150)), "9.999999999999999e+299"}, {op(plan.Mul, d, real(-1), real(0)), "0"}, {op(plan.Div, d, real(0), real(-2)), "0"},
		{op(plan.Mul, m, exact("99999999999999999999999999999999999"), exact("99999999999999999999999999999999999")), "null"},
		{op(plan.Mul, m, exact("1e308"), exact("1e308")), "null"}, {op(plan.Lt, b, exact("99999999999999999999999999999999999"), exact("1e400")), "1"}, {plan.ToJSON{X: exact("1e100")}, "1e100"},
		{op(plan.Add, m, exact("0.1"), exact("0.2")), "0.300000000000000000000000000000"},
		{op(plan.Round, d, real(1.005), number(2)), "1.01"}, {op(plan.Round, d, real(-2.5), number(0)), "-3"}, {op(plan.Round, d, real(1e300), number(2)), "null"},
		{op(plan.Round, i, number(9223372036854775807), number(-1)), "null"}, {op(plan.Trunc, i, number(129), number(-1)), "120"},
		{op(plan.Ceil, d, real(-0.5)), "0"}, {op(plan.Floor, m, exact("-0.5")), "-1.000000000000000000000000000000"},

		{op(plan.Eq, b, text("a"), text("a ")), "0"}, {op(plan.Gt, b, text("é"), text("z")), "1"}, {op(plan.Lt, b, null(i), number(0)), "1"},
		{op(plan.Eq, b, document(`{"a":1,"b":[1.0]}`), document(`{"b":[1],"a":1e0}`)), "1"}, {op(plan.Eq, b, document(`9007199254740993`), document(`9007199254740992`)), "0"},
		{op(plan.Lt, b, document(`-10`), document(`-9.5`)), "1"}, {op(plan.Gt, b, document(`1e999`), document(`1e99`)), "1"}, {op(plan.Gte, b, document(`{}`), document(`{"a":1}`)), "0"},

		{op(plan.Lower, s, text("ÄB😀")), "Äb😀"}, {op(plan.Upper, s, text("äb😀")), "äB😀"},
		{op(plan.Substr, s, text("a😀b"), number(1), number(9223372036854775807)), "😀b"}, {op(plan.Substr, s, text("ab"), number(9223372036854775807), number(1)), ""},
		{op(plan.Substr, s, text("ab"), number(-1), number(1)), "null"}, {op(plan.IndexOf, i, text("a😀b"), text("b")), "2"}, {op(plan.IndexOf, i, text("aB"), text("b")), "-1"},
		{op(plan.Trim, s, text(`]x\-]`), text(`]-\`)), "x"}, {op(plan.TrimRight, s, text("\n a \n"), text(" \n")), "\n a"},
		{op(plan.Split, j, text("a\nbn\"c\\n"), text("n")), `["a\nb","\"c\\",""]`}, {op(plan.Split, j, text("a\\b\\"), text(`\`)), `["a","b",""]`}, {op(plan.Split, j, text("\x01u0"), text("0")), `["\u0001u",""]`},
		{op(plan.ReplaceAll, s, text("aAa"), text("a"), text("x")), "xAx"}, {op(plan.ReplaceAll, s, text("a"), text(""), null(s)), "null"},
		{op(plan.Reverse, s, text("a😀é")), "é😀a"}, {op(plan.Capitalize, s, text("an OLD-house 3rd o'neil éLAN [x]")), "An Old-House 3rd O'Neil élan [X]"}, {op(plan.Capitalize, s, text("")), ""}, {op(plan.Capitalize, s, null(s)), "null"},
		{op(plan.ReplaceMatches, s, text("+47 22-33"), text("[^0-9]+"), text("")), "472233"}, {op(plan.ReplaceMatches, s, text("aéA"), text("(?i)a"), text(`\1$1`)), "\\1$1é\\1$1"},
		{op(plan.ReplaceMatches, s, text("x\naéa"), text("a"), text(`\`), truth(false)), "x\n\\éa"}, {op(plan.ReplaceMatches, s, text("aaa"), text("^a"), text("b")), "baa"}, {op(plan.ReplaceMatches, s, null(s), text("a"), text("b")), "null"},
		{op(plan.FindMatch, j, text("x\né12-b"), text("([0-9])+(x)?-(b)$")), `{"match":"12-b","idx":3,"captures":["2",null,"b"]}`}, {op(plan.FindMatch, j, text("ab"), text("^b")), "null"},
		{op(plan.FindMatch, j, text("\"\\"), text(`\\`)), `{"match":"\\","idx":1,"captures":[]}`}, {op(plan.FindMatch, j, null(s), text("a")), "null"}, {op(plan.FindMatch, j, text(strings.Repeat("a", plan.MostSearched+1)), text("a")), "null"},
		{op(plan.FindMatch, j, text(strings.Repeat("b", plan.MostSearched-1)+"a"), text("(a)")), `{"match":"a","idx":1048575,"captures":["a"]}`},
		{plan.Matches{X: text("x\n"), Regex: query.Regex{Pattern: "^x$"}}, "0"}, {plan.Matches{X: null(s), Regex: query.Regex{Pattern: "x"}}, "0"},

		{plan.Convert{X: text("9223372036854775808"), T: i}, "null"}, {plan.Convert{X: text("+007"), T: i}, "7"}, {plan.Convert{X: text("7\n"), T: i}, "null"},
		{plan.Convert{X: text("1e400"), T: d}, "null"}, {plan.Convert{X: text(".5e1"), T: d}, "5"}, {plan.Convert{X: text("0x1"), T: d}, "null"},
		{plan.Convert{X: real(1e21), T: s}, "1e+21"}, {plan.Convert{X: real(1e20), T: s}, "100000000000000000000"}, {plan.Convert{X: real(1.5e-7), T: s}, "1.5e-07"},
		{plan.Convert{X: real(9.3e18), T: i}, "null"}, {plan.Convert{X: real(1 << 62), T: i}, "4611686018427387904"}, {plan.Convert{X: real(-1 << 63), T: i}, "-9223372036854775808"}, {plan.Convert{X: real(-1.9), T: i}, "-1"}, {plan.Convert{X: exact("1.50"), T: s}, "1.5"},
		{plan.Convert{X: text("2026-02-31"), T: at}, "null"}, {plan.Convert{X: text("0000-00-00"), T: at}, "null"},
		{plan.Convert{X: text("2026-02-28 1:30:05,5+05:30"), T: at}, "2026-02-27 20:00:05.500000"}, {plan.Convert{X: text("2026-02-28T24:00"), T: at}, "null"},
		{plan.Convert{X: number(253402300800000), T: at}, "null"}, {plan.Convert{X: number(-1), T: at}, "1969-12-31 23:59:59.999000"},
		{plan.As{X: document("1.0"), T: i}, "1"}, {plan.As{X: document("1e-400"), T: i}, "null"}, {plan.As{X: document("1.7976931348623157e308"), T: d}, "1.7976931348623157e+308"}, {plan.As{X: document("1e309"), T: d}, "null"},
		{plan.ToJSON{X: text("a\"\\\x01😀")}, `"a\"\\\u0001😀"`}, {plan.ToJSON{X: date("2026-01-31T10:00:00.120Z")}, `"2026-01-31T10:00:00.12Z"`},

		{plan.DatePart{X: date("2027-01-01T00:00:00Z"), Part: "isoWeekYear"}, "2026"}, {plan.DatePart{X: date("9999-12-31T23:00:00Z"), Part: "year", Zone: "+05:30"}, "null"},
		{plan.DatePart{X: date("2026-03-29T01:00:00Z"), Part: "hour", Zone: "Europe/Oslo"}, "3"}, {plan.DatePart{X: date("3000-07-01T00:00:00Z"), Part: "hour", Zone: "America/New_York"}, "20"},
		{plan.DateTrunc{X: date("2026-10-25T12:00:00Z"), Unit: "day", Zone: "Europe/Oslo"}, "2026-10-24 22:00:00.000000"}, {plan.DateTrunc{X: date("0001-01-01T00:00:00Z"), Unit: "week"}, "null"},
		{plan.DateTrunc{X: date("2026-11-01T12:00:00Z"), Unit: "month", Zone: "America/New_York"}, "2026-11-01 04:00:00.000000"},
		{plan.DateShift{X: date("2026-03-28T01:30:00Z"), Amount: number(1), Unit: "day", Zone: "Europe/Oslo"}, "2026-03-29 01:30:00.000000"},
		{plan.DateShift{X: date("2026-01-31T00:00:00Z"), Amount: number(1), Unit: "month"}, "2026-02-28 00:00:00.000000"},
		{plan.DateShift{X: date("2026-01-31T00:00:00Z"), Amount: number(9223372036854775807), Unit: "millisecond"}, "null"}, {plan.DateShift{X: date("0001-01-31T00:00:00Z"), Amount: number(-1), Unit: "month"}, "null"},
		{plan.DateDiff{From: date("2026-10-25T00:30:00Z"), To: date("2026-10-25T02:30:00Z"), Unit: "hour", Zone: "Europe/Oslo"}, "2"},
		{plan.DateText{X: date("2026-01-31T10:20:30.123456Z"), Format: "%Y'%% %L %G-W%V-%u %j", Zone: "+05:30"}, "2026'% 123 2026-W05-6 031"},

		{plan.Part{X: document(`{"a\"b":{"c":null,"d":[1]}}`), Path: query.Path{`a"b`, "d"}}, "[1]"}, {plan.Part{X: document(`[{"a":1}]`), Path: query.Path{"a"}}, "null"},
		{plan.SetPart{X: document(`{"a":{}}`), Path: query.Path{"a", "b"}, V: null(j)}, `{"a": {"b": null}}`}, {plan.SetPart{X: document(`{"a":1}`), Path: query.Path{"a", "b"}, V: document("1")}, `{"a": 1}`},
		{plan.Object{Names: []string{"a\"", "b"}, Values: []plan.Expr{document("12345678901234567890"), null(j)}}, `{"a\"":12345678901234567890,"b":null}`},
		{plan.Object{}, "{}"}, {plan.List{}, "[]"}, {plan.List{Elements: []plan.Expr{document("true"), document(`"x"`), null(j)}}, `[true,"x",null]`},
		{op(plan.ElemAt, j, list, number(-1)), `{"x": [1]}`}, {op(plan.ElemAt, j, list, number(1)), "null"}, {op(plan.ElemAt, j, document(`["null"]`), number(0)), `"null"`}, {plan.Part{X: document(`{"a":"null"}`), Path: query.Path{"a"}}, `"null"`},
		{plan.Over{Do: plan.MapEach, Input: document(`["null",null]`), Body: plan.Element{}}, `["null",null]`}, {op(plan.ElemAt, j, list, number(9223372036854775807)), "null"},
		{op(plan.InList, b, null(j), list), "1"}, {op(plan.InList, b, document("1"), list), "1"}, {op(plan.InList, b, document("1"), document("1")), "0"},
		{op(plan.SliceList, j, list, number(-2), number(1)), "[1.0]"}, {op(plan.SliceList, j, list, number(9223372036854775807), number(9223372036854775807)), "[]"}, {op(plan.SliceList, j, list, number(0), number(0)), "null"},
		{op(plan.SumList, d, list), "4"}, {op(plan.MinList, d, list), "1"}, {op(plan.AvgList, d, document("[]")), "null"}, {op(plan.Size, i, document("{}")), "null"},
		{op(plan.JoinLists, j, document("[1.50]"), document(`[["x"],null]`)), `[1.50, ["x"], null]`}, {op(plan.JoinLists, j, list, document("1")), "null"},
		{op(plan.TypeOf, s, document("-1")), "number"}, {op(plan.TypeOf, s, null(j)), "null"}, {op(plan.Truth, b, document("-0.0e5")), "0"}, {op(plan.Truth, b, document(`""`)), "1"},
		{plan.Over{Do: plan.MapEach, Input: list, Body: plan.List{Elements: []plan.Expr{plan.Element{}}}}, `[[3],[null],["a"],[1.0],[{"x":[1]}]]`},
		{plan.Over{Do: plan.SelectEach, Input: list, Limit: number(1), Body: op(plan.Gte, b, plan.Element{}, document("3"))}, `[3]`},
		{plan.Over{Do: plan.SelectEach, Input: document("1"), Body: truth(true)}, "null"},
	} {
		p := &place{}
		text, err := sqlgen.WriteExpr(mariadb.Dialect(), p, tt.e)
		if err != nil {
			t.Errorf("%s: %v", fmt.Sprintf("%+v", tt.e), err)
			continue
		}
		if got := ask(t, db, p, "SELECT "+text); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", fmt.Sprintf("%+v", tt.e), got, tt.want)
		}
	}
	_, err := sqlgen.WriteExpr(mariadb.Dialect(), &place{}, plan.Over{Do: plan.ReduceEach, Input: list, Initial: number(0), Body: plan.Before{}})
	if problem.CodeOf(err) != problem.Unsupported || !strings.Contains(problem.Of(err).Detail, "$reduce") {
		t.Errorf("a reduce: %v, want that it is refused by name", err)
	}
}

// TestStored tests the values that expressions see for values that only MariaDB can store.
func TestStored(t *testing.T) {
	db := open(t)
	for _, s := range []string{"SET sql_mode = 'ALLOW_INVALID_DATES'", `CREATE TABLE t (id int PRIMARY KEY, s varchar(20) CHARACTER SET latin1, u int unsigned, big decimal(65,0), bits bit(8), flag tinyint(1), f float,
			d date, at datetime(6), ts timestamp NULL, id2 uuid, raw varbinary(9), doc longtext)`,
		`INSERT INTO t VALUES (1, 'é ', 5, 1.5, 200, 1, 0.1, '2026-01-31', '2026-01-31 10:00:00.5', '2026-01-31 10:00:00', 'C0FFEE00-0000-4000-8000-000000000001', 'a', '{"a" : "\\u00e9\\/\\\\u0041\\u0022\\ud83d\\ude00"}'),
			(2, '', 0, 123456789012345678901234567890123456789012345, 0, 7, NULL, '0000-00-00', '2026-02-31', NULL, NULL, '', 'null'),
			(3, NULL, NULL, NULL, NULL, NULL, NULL, '2026-02-31', '0000-00-00', NULL, NULL, NULL, '{'),
			(4, NULL, NULL, NULL, NULL, NULL, NULL, '0000-05-01', '2026-00-10', NULL, NULL, NULL, ' "x\\/" ')`, "SET sql_mode = 'STRICT_ALL_TABLES'"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	p := &place{}
	var columns []string
	for _, f := range []schema.Field{{Name: "s", Type: schema.String, Unordered: true}, {Name: "u", Type: schema.Integer, Native: "int"}, {Name: "big", Type: schema.Decimal}, {Name: "bits", Type: schema.Integer, Native: "bit"},
		{Name: "flag", Type: schema.Boolean}, {Name: "f", Type: schema.Double, Native: "float"}, {Name: "d", Type: schema.Day}, {Name: "at", Type: schema.Date}, {Name: "ts", Type: schema.Date},
		{Name: "id2", Type: schema.UUID}, {Name: "raw", Type: schema.Bytes}, {Name: "doc", Type: schema.JSON}} {
		columns = append(columns, mariadb.Dialect().StoredValue(p, "t."+f.Name, &f))
	}
	want := `é |5|1.500000000000000000000000000000|200|1|0.10000000149011612|2026-01-31|2026-01-31 10:00:00.500000|2026-01-31 10:00:00.000000|c0ffee00-0000-4000-8000-000000000001|a|{"a":"é/\\u0041\u0022😀"}
|0|null|0|null|null|null|null|null|null||null
null|null|null|null|null|null|null|null|null|null|null|null
null|null|null|null|null|null|null|null|null|null|null|"x/"`
	want = strings.Replace(want, "1.500000000000000000000000000000", "2.000000000000000000000000000000", 1) // the column has no decimal places
	if got := ask(t, db, p, "SELECT "+strings.Join(columns, ", ")+" FROM t ORDER BY id"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestGroups tests accumulators over groups.
func TestGroups(t *testing.T) {
	db := open(t)
	my := mariadb.Dialect()
	long := strings.Repeat("x", 3000)
	for _, tt := range []struct {
		from   schema.Type
		column string
		values []any
		want   string // Sum Avg Min Max Count StdDevPop StdDevSamp, as far as the type has them
	}{
		{schema.Integer, "bigint", []any{1, nil, 2}, "3|1.5|1|2|3"}, {schema.Integer, "bigint", nil, "0|null|null|null|0"},
		{schema.Integer, "bigint", []any{int64(9223372036854775807), int64(9223372036854775807)}, "null|9.223372036854776e+18|9223372036854775807|9223372036854775807|2"},
		{schema.Double, "double", []any{0.1, 0.2, nil}, "0.3|0.15|0.1|0.2|3|0.05|0.07071067811865475"}, {schema.Double, "double", nil, "0|null|null|null|0|null|null"},
		{schema.Double, "double", []any{1e16, 1.0, -1e16}, "1|0.3333333333333333|-1e+16|1e+16|3|8.16496580927726e+15|1e+16"}, {schema.Double, "double", []any{2.0}, "2|2|2|2|1|0|null"},
		{schema.Double, "double", []any{1e-300, 1.0}, "null|null|1e-300|1|2|null|null"}, {schema.Double, "double", []any{5.551115123125783e-17, 5.551115123125783e-17}, "1.1102230246251565e-16|5.551115123125783e-17|5.551115123125783e-17|5.551115123125783e-17|2"},
		{schema.Double, "double", []any{5.551115123125783e-17, 1e-40, 0.1, 0.0}, "0.10000000000000006|0.025000000000000015|0|0.1|4"}, {schema.Double, "double", []any{1e33, -1e33, 1e-13}, "1e-13|3.3333333333333334e-14|-1e+33|1e+33|3"},
		{schema.Double, "double", []any{1e308, 1e308}, "null|null|1e+308|1e+308|2|null|null"}, {schema.Double, "double", []any{1000000000.1, 1000000000.2, 1000000000.3}, "3.0000000006e+09|1.0000000001999999e+09|1.0000000001e+09|1.0000000003e+09|3|0.0816496580927726|0.1"},
		{schema.Decimal, "decimal(65,30)", []any{"0.1", "0.2"}, "0.300000000000000000000000000000|0.15|0.100000000000000000000000000000|0.200000000000000000000000000000|2"},
		{schema.JSON, "longtext", []any{`"a"`, `10`, `-1.5e1`, `-14`, `{"a":1}`, nil}, `-1.5e1|{"a":1}`}, {schema.JSON, "longtext", []any{"true", "[]", "false"}, "[]|true"},
		{schema.UUID, "uuid", []any{"c0ffee00-0000-4000-8000-000000000001", "00000000-0000-4000-9000-000000000001"}, "00000000-0000-4000-9000-000000000001|c0ffee00-0000-4000-8000-000000000001"},
	} {
		fill(t, db, tt.column, tt.values)
		ops := []plan.Accumulate{plan.Sum, plan.Avg, plan.Min, plan.Max, plan.Count, plan.StdDevPop, plan.StdDevSamp}[:strings.Count(tt.want, "|")+1]
		if tt.from == schema.JSON || tt.from == schema.UUID {
			ops = []plan.Accumulate{plan.Min, plan.Max}
		}
		p := &place{}
		texts := make([]string, len(ops))
		for i, o := range ops {
			x := "t.x"
			if tt.from == schema.JSON {
				x = my.StoredValue(p, x, &schema.Field{Type: schema.JSON})
			}
			if o == plan.Count {
				x = "" // all records
			}
			var err error
			if texts[i], err = my.Accumulate(p, o, x, tt.from); err != nil {
				t.Fatal(err)
			}
		}
		if got := ask(t, db, p, "SELECT "+strings.Join(texts, ", ")+" FROM t"); got != tt.want {
			t.Errorf("%s of %v\n got %s\nwant %s", tt.from, tt.values, got, tt.want)
		}
	}

	fill(t, db, "longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin", []any{`"b"`, "1", nil, "1.0", `{"a":1,"b":2}`, `{"b":2, "a":1.0}`, "[]", "true", `"b"`, "-3"})
	p := &place{}
	x := my.StoredValue(p, "t.x", &schema.Field{Type: schema.JSON})
	got := ask(t, db, p, "SELECT "+my.Collect(p, sqlgen.Gathered{X: x, Terms: []string{"t.n DESC"}, Most: 1000})+", "+my.Pick(p, x, "t.n = 4", schema.JSON)+" FROM t")
	want := `[-3,"b",true,[],{"b":2,"a":1.0},{"a":1,"b":2},1.0,null,1,"b"]|{"a":1,"b":2}`
	if got != want {
		t.Errorf("lists\n got %s\nwant %s", got, want)
	}
	if got := ask(t, db, p, "SELECT "+my.Collect(p, sqlgen.Gathered{X: x, Most: 1000})+" FROM t WHERE FALSE"); got != "[]" {
		t.Errorf("a list of nothing: %s, want []", got)
	}
	by, show := my.Key(p, x, schema.JSON, false)
	got = ask(t, db, p, "SELECT COUNT(*), "+show+" FROM t GROUP BY "+by+" ORDER BY MIN(t.n)")
	if want := "2|\"b\"\n2|1\n1|null\n2|{\"a\":1,\"b\":2}\n1|[]\n1|true\n1|-3"; got != want {
		t.Errorf("groups\n got %s\nwant %s", got, want)
	}
	got = ask(t, db, p, "SELECT t.n FROM t ORDER BY "+strings.Join(append(my.Order(p, x, schema.JSON, true), "t.n"), ", "))
	if want := "7 6 4 5 0 8 1 3 9 2"; strings.ReplaceAll(got, "\n", " ") != want {
		t.Errorf("order\n got %s\nwant %s", got, want)
	}
	from, element, position := my.Elements(p, "d.x")
	got = ask(t, db, p, `SELECT `+element+`, `+position+` FROM (SELECT '[1,null,["x"]]' AS x UNION ALL SELECT '{"a":1}' UNION ALL SELECT NULL UNION ALL SELECT '[]' LIMIT 9) AS d, `+from)
	if want := "1|0\nnull|1\n[\"x\"]|2\n{\"a\":1}|0"; got != want {
		t.Errorf("elements\n got %s\nwant %s", got, want)
	}

	// Texts that differ only far from their beginning must form different, sorted groups.
	fill(t, db, "longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin", []any{long + "b", long + "a", long + "b", long + "a"})
	by, show = my.Key(p, "t.x", schema.String, false)
	if got := ask(t, db, p, "SELECT RIGHT("+show+", 1), GROUP_CONCAT(t.n ORDER BY t.n) FROM t GROUP BY "+by+" ORDER BY "+show); got != "a|1,3\nb|0,2" {
		t.Errorf("long texts: %s", got)
	}
	p = &place{}
	text := my.Digest(p, "seed", []string{"'a'", "NULL", "CAST(1.5e0 AS DOUBLE)"}, []schema.Type{schema.String, schema.String, schema.Double})
	if got := ask(t, db, p, "SELECT "+text); got != "fdacffc17ea6ddaa2898990015c6ddfc" {
		t.Errorf("digest %s", got)
	}
}

// fill creates a table t with the values x in the order of n.
func fill(t *testing.T, db *sql.DB, column string, values []any) {
	t.Helper()
	if _, err := db.Exec("CREATE OR REPLACE TABLE t (n int, x " + column + ")"); err != nil {
		t.Fatal(err)
	}
	for n, v := range values {
		if _, err := db.Exec("INSERT INTO t VALUES (?, ?)", n, v); err != nil {
			t.Fatal(err)
		}
	}
}

// of returns a constant of type t.
func of(t schema.Type, v value.Value) plan.Expr { return plan.Const{Value: v, T: t} }

func null(t schema.Type) plan.Expr { return plan.Const{T: t} }
func text(s string) plan.Expr      { return of(schema.String, value.OfString(s)) }
func number(n int64) plan.Expr     { return of(schema.Integer, value.OfInt(n)) }
func real(f float64) plan.Expr     { return of(schema.Double, value.OfFloat(f)) }
func exact(s string) plan.Expr     { return of(schema.Decimal, value.OfDecimal(s)) }
func truth(b bool) plan.Expr       { return of(schema.Boolean, value.OfBool(b)) }

func document(s string) plan.Expr {
	v, err := value.Read([]byte(s), 100)
	if err != nil {
		panic(err)
	}
	return of(schema.JSON, v)
}

func date(s string) plan.Expr {
	v, ok := value.OfDateText(s)
	if !ok {
		panic(s)
	}
	return of(schema.Date, v)
}

func op(op plan.Op, t schema.Type, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: op, Args: args, T: t}
}
