package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
	modernc "modernc.org/sqlite"
)

// place is a Scope without columns of a stage. Its expressions use constants and stored columns.
type place struct {
	args    []any
	aliases int
	columns []string
}

func (p *place) Arg(v any, _ string) string {
	p.args = append(p.args, v)
	return "?" + strconv.Itoa(len(p.args))
}

func (p *place) Alias(prefix string) string {
	p.aliases++
	return prefix + strconv.Itoa(p.aliases)
}

func (p *place) Atom(x string) string           { return x }
func (p *place) Column(i int) string            { return p.columns[i] }
func (p *place) Outer(int, int) (string, error) { return "", fmt.Errorf("no list is made") }

func (p *place) Field(plan.Expr) (string, *schema.Field) { return "", nil }

type connector struct{ driver *modernc.Driver }

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(":memory:") }
func (c connector) Driver() driver.Driver                        { return c.driver }

func openSQLite(t testing.TB) *sql.DB {
	t.Helper()
	c := connector{&modernc.Driver{}}
	if err := sqlite.RegisterFunctions(c.driver); err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// ask computes e, and returns SQLite's value as SQL.
func ask(t testing.TB, db *sql.DB, e plan.Expr) string {
	t.Helper()
	p := &place{}
	text, err := sqlgen.WriteExpr(sqlite.Dialect(), p, e)
	if err != nil {
		t.Fatalf("%#v: %v", e, err)
	}
	return askText(t, db, "SELECT "+text, p.args)
}

func askText(t testing.TB, db *sql.DB, text string, args []any) string {
	t.Helper()
	var v any
	if err := db.QueryRow(text, args...).Scan(&v); err != nil {
		t.Errorf("%v in %s %v", err, text, args)
		return "error"
	}
	return held(v)
}

func held(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".eIN") {
			text += ".0"
		}
		return text
	case string:
		return "'" + v + "'"
	}
	return fmt.Sprintf("%x", v)
}

// of returns a constant of type t, or null if v is empty.
func of(t schema.Type, v ...value.Value) plan.Expr {
	if len(v) == 0 {
		return plan.Const{T: t}
	}
	return plan.Const{Value: v[0], T: t}
}

func text(s string) plan.Expr  { return of(schema.String, value.OfString(s)) }
func number(n int64) plan.Expr { return of(schema.Integer, value.OfInt(n)) }
func real(f float64) plan.Expr { return of(schema.Double, value.OfFloat(f)) }
func exact(s string) plan.Expr { return of(schema.Decimal, value.OfDecimal(s)) }
func truth(b bool) plan.Expr   { return of(schema.Boolean, value.OfBool(b)) }
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
	return of(schema.Date, value.OfDate(v.Micros()))
}

func op(op plan.Op, t schema.Type, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: op, Args: args, T: t}
}

func null(t schema.Type) plan.Expr { return of(t) }

type answer struct {
	e    plan.Expr
	want string
}

func check(t *testing.T, answers []answer) {
	t.Helper()
	db := openSQLite(t)
	for i, tt := range answers {
		if got := ask(t, db, tt.e); got != tt.want {
			t.Errorf("%d: %s = %s, want %s", i, shown(tt.e), got, tt.want)
		}
	}
}

func shown(e plan.Expr) string { return fmt.Sprintf("%+v", e) }

const (
	biggest  = 1<<63 - 1
	smallest = -1 << 63
)

func TestSQLiteArithmetic(t *testing.T) {
	i, d, m := schema.Integer, schema.Double, schema.Decimal
	check(t, []answer{
		{op(plan.Add, i, number(2), number(3)), "5"},
		{op(plan.Add, i, number(2)), "2"},
		{op(plan.Add, i, number(1), number(2), number(3)), "6"},
		{op(plan.Add, i, number(2), null(i)), "null"},
		{op(plan.Add, i, number(biggest), number(1)), "null"},
		{op(plan.Add, i, number(smallest), number(-1)), "null"},
		{op(plan.Add, i, number(smallest), number(biggest)), "-1"},
		{op(plan.Sub, i, number(smallest), number(1)), "null"},
		{op(plan.Sub, i, number(0), number(smallest)), "null"},
		{op(plan.Sub, i, number(-1), number(smallest)), "9223372036854775807"},
		{op(plan.Mul, i, number(3037000500), number(3037000500)), "null"},
		{op(plan.Mul, i, number(-4294967296), number(2147483648)), "-9223372036854775808"},
		{op(plan.Mul, i, number(4294967296), number(2147483648)), "null"},
		{op(plan.Mul, i, number(smallest), number(-1)), "null"},
		{op(plan.Mod, i, number(-7), number(3)), "-1"},
		{op(plan.Mod, i, number(7), number(0)), "null"},
		{op(plan.Mod, i, number(smallest), number(-1)), "0"},
		{op(plan.BitAnd, i, number(-3), number(biggest)), "9223372036854775805"},
		{op(plan.BitOr, i, number(smallest), number(5)), "-9223372036854775803"},
		{op(plan.BitXor, i, number(smallest), number(biggest)), "-1"},
		{op(plan.BitXor, i, number(-3), number(7)), "-6"},
		{op(plan.BitXor, i, null(i), number(7)), "null"},
		{op(plan.Abs, i, number(smallest)), "null"},
		{op(plan.Abs, i, number(-5)), "5"},
		{op(plan.Add, d, real(0.1), real(0.2)), "0.30000000000000004"},
		{op(plan.Mul, d, real(1e150), real(1e150)), "9.999999999999999e+299"},
		{op(plan.Mul, d, real(1e151), real(1)), "null"},
		{op(plan.Add, d, real(1e-151), real(1)), "null"},
		{op(plan.Div, d, real(1), real(0)), "null"},
		{op(plan.Div, d, real(1), real(4)), "0.25"},
		{op(plan.Abs, d, real(-1e200)), "null"},
		{op(plan.Abs, d, real(-1.5)), "1.5"},
		{op(plan.Ceil, d, real(1.2)), "2.0"},
		{op(plan.Ceil, d, real(-0.2)), "0.0"},
		{op(plan.Floor, d, real(-1.2)), "-2.0"},
		{op(plan.Floor, d, null(d)), "null"},
		{op(plan.Round, d, real(2.5), number(0)), "3.0"},
		{op(plan.Round, d, real(-2.5), number(0)), "-3.0"},
		{op(plan.Round, d, real(1.005), number(2)), "1.01"},
		{op(plan.Round, d, real(1234.5), number(-2)), "1200.0"},
		{op(plan.Round, d, real(50), number(-2)), "100.0"},
		{op(plan.Round, d, real(49), number(-2)), "0.0"},
		{op(plan.Round, d, real(0.5), number(-20)), "0.0"},
		{op(plan.Round, d, real(1.5e16), number(-16)), "1.5e+16"},
		{op(plan.Trunc, d, real(1.999), number(2)), "1.99"},
		{op(plan.Trunc, d, real(-1.999), number(0)), "-1.0"},
		{op(plan.Trunc, d, real(0.29), number(2)), "0.29"},
		{op(plan.Round, i, number(1250), number(-2)), "1300"},
		{op(plan.Round, i, number(biggest), number(-1)), "null"},
		{op(plan.Trunc, i, number(biggest), number(-1)), "9223372036854775800"},
		{op(plan.Add, m, exact("0.1"), exact("0.2")), "0.3"},
		{op(plan.Sub, m, exact("1.10"), exact("0.10")), "1"},
		{op(plan.Mul, m, exact("1.1"), exact("1.1")), "1.21"},
		{op(plan.Add, m, number(biggest), exact("1")), "9.223372036854776e+18"},
		{op(plan.Add, m, exact("0.1"), exact("0.2"), exact("0.3")), "0.6"},
		{op(plan.Mul, m, exact("1e200"), exact("1e200")), "null"},
		{op(plan.Ceil, m, exact("1.2")), "2"},
		{op(plan.Floor, m, exact("-1.2")), "-2"},
		{op(plan.Abs, m, exact("-1.2")), "1.2"},
		{op(plan.Abs, m, number(smallest)), "9.223372036854776e+18"},
		{op(plan.Round, m, number(biggest), number(-19)), "1e+19"},
		{op(plan.Ceil, m, exact("-1.2")), "-1"},
		{op(plan.Ceil, m, exact("-0.2")), "0"},
		{op(plan.Floor, m, exact("0.2")), "0"},
		{op(plan.Floor, m, exact("1e25")), "1e+25"},
		{op(plan.Floor, m, exact("-1e-30")), "-1"},
		{op(plan.Round, m, exact("2.345"), number(2)), "2.35"},
		{op(plan.Trunc, m, exact("2.345"), number(2)), "2.34"},
		{op(plan.Round, m, exact("5"), number(-1)), "10"},
	})
}

func TestSQLiteComparison(t *testing.T) {
	b := schema.Boolean
	pairs := func(x, y plan.Expr) []plan.Expr { return []plan.Expr{x, y} }
	var answers []answer
	// want contains the results of Eq Ne Gt Gte Lt Lte Cmp.
	for _, tt := range []struct {
		args []plan.Expr
		want string
	}{
		{pairs(number(1), number(2)), "0100 11 -1"},
		{pairs(number(2), number(2)), "1001 01 0"},
		{pairs(number(smallest), null(schema.Integer)), "0111 00 1"},
		{pairs(null(schema.Integer), null(schema.Integer)), "1001 01 0"},
		{pairs(null(schema.Double), real(-1e300)), "0100 11 -1"},
		{pairs(real(0), real(-1)), "0111 00 1"},
		{pairs(exact("9007199254740993"), exact("9007199254740992")), "0111 00 1"},
		{pairs(exact("0.5"), exact("1")), "0100 11 -1"},
		{pairs(text("Z"), text("a")), "0100 11 -1"},
		{pairs(text(""), null(schema.String)), "0111 00 1"},
		{pairs(text("a "), text("a")), "0111 00 1"},
		{pairs(text("\U0001F600"), text("\uFFFD")), "0111 00 1"},
		{pairs(truth(false), truth(true)), "0100 11 -1"},
		{pairs(truth(false), null(b)), "0111 00 1"},
		{pairs(date("2026-01-31"), date("2026-02-01")), "0100 11 -1"},
		{pairs(document(`{"a":1,"b":[1.0]}`), document(`{"b":[1],"a":1e0}`)), "1001 01"},
		{pairs(document(`{"a":1}`), document(`{"a":2}`)), "0100 00"},
		{pairs(document(`[1]`), document(`{"a":2}`)), "0111 00"},
		{pairs(document(`1`), document(`"a"`)), "0100 11"},
		{pairs(document(`9007199254740993`), document(`9007199254740992`)), "0111 00"},
		{pairs(document(`1e400`), document(`2`)), "0111 00"},
		{pairs(document(`true`), document(`99`)), "0111 00"},
		{pairs(null(schema.JSON), document(`false`)), "0100 11"},
		{pairs(null(schema.JSON), null(schema.JSON)), "1001 01"},
	} {
		want := strings.ReplaceAll(tt.want[:7], " ", "")
		for i, o := range []plan.Op{plan.Eq, plan.Ne, plan.Gt, plan.Gte, plan.Lt, plan.Lte} {
			answers = append(answers, answer{op(o, b, tt.args...), want[i : i+1]})
		}
		if _, cmp, ok := strings.Cut(tt.want[7:], " "); ok {
			answers = append(answers, answer{op(plan.Cmp, schema.Integer, tt.args...), cmp})
		}
	}
	check(t, append(answers, []answer{
		{op(plan.And, b, truth(true), null(b)), "0"},
		{op(plan.And, b, truth(true), truth(true)), "1"},
		{op(plan.Or, b, null(b), truth(true)), "1"},
		{op(plan.Or, b, null(b), truth(false)), "0"},
		{op(plan.Not, b, null(b)), "1"},
		{op(plan.IsNull, b, null(schema.String)), "1"},
		{op(plan.IfNull, schema.String, null(schema.String), text("x")), "'x'"},
		{plan.Case{If: []plan.Expr{null(b), truth(true)}, Then: []plan.Expr{number(1), number(2)}, Else: number(3), T: schema.Integer}, "2"},
		{plan.Case{If: []plan.Expr{null(b)}, Then: []plan.Expr{number(1)}, T: schema.Integer}, "null"},
	}...))
}

func TestSQLiteText(t *testing.T) {
	s, i := schema.String, schema.Integer
	check(t, []answer{
		{op(plan.Concat, s, text("a"), text(""), text("é")), "'aé'"},
		{op(plan.Concat, s, text("a"), null(s)), "null"},
		{op(plan.Substr, s, text("a😀é!"), number(1), number(2)), "'😀é'"},
		{op(plan.Substr, s, text("abc"), number(1), number(-1)), "'bc'"},
		{op(plan.Substr, s, text("abc"), number(9), number(1)), "''"},
		{op(plan.Substr, s, text("abc"), number(biggest), number(biggest)), "''"},
		{op(plan.Substr, s, text("abc"), number(-1), number(1)), "null"},
		{op(plan.Lower, s, text("AÉz")), "'aÉz'"},
		{op(plan.Upper, s, text("aéZ")), "'AéZ'"},
		{op(plan.Trim, s, text("xyaxéyx"), text("xy")), "'axé'"},
		{op(plan.TrimLeft, s, text("😀😀a😀"), text("😀")), "'a😀'"},
		{op(plan.TrimRight, s, text("  a  "), text(" ")), "'  a'"},
		{op(plan.Split, schema.JSON, text(`a,b",`), text(",")), `'["a","b\"",""]'`},
		{op(plan.Split, schema.JSON, text(""), text(",")), `'[""]'`},
		{op(plan.Split, schema.JSON, null(s), text(",")), "null"},
		{op(plan.Length, i, text("a😀é")), "3"},
		{op(plan.Length, i, null(s)), "null"},
		{op(plan.IndexOf, i, text("a😀éb"), text("b")), "3"},
		{op(plan.IndexOf, i, text("abc"), text("")), "0"},
		{op(plan.IndexOf, i, text("abc"), text("x")), "-1"},
		{op(plan.IndexOf, i, text("abc"), null(s)), "null"},
		{op(plan.ReplaceAll, s, text("aXbX"), text("X"), text("")), "'ab'"},
		{op(plan.ReplaceAll, s, text("abc"), text(""), text("x")), "'abc'"},
		{op(plan.ReplaceAll, s, text(strings.Repeat("a", 1000)), text("a"), text(strings.Repeat("b", 100_000))), "null"},
		{op(plan.Reverse, s, text("a😀é")), "'é😀a'"}, {op(plan.Capitalize, s, text("an OLD-house 3rd o'neil éLAN [x]")), "'An Old-House 3rd O'Neil élan [X]'"}, {op(plan.Capitalize, s, text("")), "''"}, {op(plan.Capitalize, s, null(s)), "null"},
		{op(plan.ReplaceMatches, s, text("+47 22-33"), text("[^0-9]+"), text("")), "'472233'"}, {op(plan.ReplaceMatches, s, text("aéA"), text("(?i)a"), text(`\1$1`)), "'\\1$1é\\1$1'"},
		{op(plan.ReplaceMatches, s, text("x\naéa"), text("a"), text(`\`), truth(false)), "'x\n\\éa'"}, {op(plan.ReplaceMatches, s, text("aaa"), text("^a"), text("b")), "'baa'"}, {op(plan.ReplaceMatches, s, null(s), text("a"), text("b")), "null"},
		{op(plan.FindMatch, schema.JSON, text("x\né12-b"), text("([0-9])+(x)?-(b)$")), `'{"match":"12-b","idx":3,"captures":["2",null,"b"]}'`}, {op(plan.FindMatch, schema.JSON, text("ab"), text("^b")), "null"},
		{op(plan.FindMatches, schema.JSON, text("aé a"), text(`\ba|(é*)`)), `'[{"match":"a","idx":0,"captures":[null]},{"match":"é","idx":1,"captures":["é"]},{"match":"a","idx":3,"captures":[null]}]'`},
		{op(plan.FindMatches, schema.JSON, text(strings.Repeat("a", plan.MostMatches+1)), text("a")), "null"}, {op(plan.FindMatch, schema.JSON, text(strings.Repeat("a", plan.MostSearched+1)), text("a")), "null"}, {op(plan.FindMatches, schema.JSON, null(s), text("a")), "null"},
		{plan.Matches{X: text("Größe"), Regex: query.Regex{Pattern: "^GRÖ", Options: "i"}}, "1"},
		{plan.Matches{X: null(s), Regex: query.Regex{Pattern: "a"}}, "0"},
	})
}

func TestSQLiteJSON(t *testing.T) {
	j, i, b, d := schema.JSON, schema.Integer, schema.Boolean, schema.Double
	huge := `{"a":12345678901234567890.10,"b":{"c":[1e400,null,"\u00e9"],"q\"\\":1},"n":null}`
	part := func(x plan.Expr, path ...string) plan.Expr { return plan.Part{X: x, Path: path} }
	set := func(x plan.Expr, v plan.Expr, path ...string) plan.Expr {
		return plan.SetPart{X: x, Path: path, V: v}
	}
	check(t, []answer{
		{part(document(huge), "a"), "'12345678901234567890.10'"},
		{part(document(huge), "b", "c"), `'[1e400,null,"é"]'`},
		{part(document(huge), "b", `q"\`), "'1'"},
		{part(document(huge), "n"), "null"},
		{part(document(huge), "b", "c", "0"), "null"},
		{part(document(`[{"a":1}]`), "a"), "null"},
		{part(document(`"a"`), "a"), "null"},
		{part(null(j), "a"), "null"},
		{set(document(`{"a":{"b":1,"c":2}}`), document(`[3]`), "a", "b"), `'{"a":{"b":[3],"c":2}}'`},
		{set(document(`{"a":{"b":1}}`), null(j), "a", "b"), `'{"a":{"b":null}}'`},
		{set(document(`{"a":[1]}`), document(`2`), "a", "b"), `'{"a":[1]}'`},
		{set(null(j), document(`2`), "a"), "null"},
		{plan.Object{Names: []string{`a"`, "é"}, Values: []plan.Expr{null(j), document(`1`)}}, `'{"a\"":null,"é":1}'`},
		{plan.Object{}, "'{}'"},
		{plan.List{}, "'[]'"},
		{plan.List{Elements: []plan.Expr{document(`{"a":1}`), null(j), document(`"x"`)}}, `'[{"a":1},null,"x"]'`},
		{op(plan.Truth, b, document(`-0.0e5`)), "0"},
		{op(plan.Truth, b, document(`"" `)), "1"},
		{op(plan.Truth, b, document(`0.1`)), "1"},
		{op(plan.Truth, b, document(`false`)), "0"},
		{op(plan.Truth, b, document(`[]`)), "1"},
		{op(plan.Truth, b, null(j)), "0"},
		{op(plan.Size, i, document(`[1,[2,3],{"a":[4,5]},"]"]`)), "4"},
		{op(plan.Size, i, document(`[]`)), "0"},
		{op(plan.Size, i, document(`{"a":1}`)), "null"},
		{op(plan.ElemAt, j, document(`[1,null,"x"]`), number(-1)), `'"x"'`},
		{op(plan.ElemAt, j, document(`[1,null,"x"]`), number(1)), "null"},
		{op(plan.ElemAt, j, document(`[1,2]`), number(smallest)), "null"},
		{op(plan.ElemAt, j, document(`[1,2]`), number(biggest)), "null"},
		{op(plan.InList, b, document(`{"a":1.0}`), document(`[0,{"a":1}]`)), "1"},
		{op(plan.InList, b, null(j), document(`[0,null]`)), "1"},
		{op(plan.InList, b, document(`1`), null(j)), "0"},
		{op(plan.InList, b, document(`1`), document(`{"a":1}`)), "0"},
		{op(plan.SliceList, j, document(`[1,2,3]`), number(-2), number(1)), "'[2]'"},
		{op(plan.SliceList, j, document(`[1,2,3]`), number(-9), number(biggest)), "'[1,2,3]'"},
		{op(plan.SliceList, j, document(`[1,2,3]`), number(3), number(1)), "'[]'"},
		{op(plan.SliceList, j, document(`[1,2,3]`), number(0), number(0)), "null"},
		{op(plan.IsList, b, document(`[]`)), "1"},
		{op(plan.IsList, b, null(j)), "0"},
		{op(plan.JoinLists, j, document(`[1]`), document(`[]`), document(`["a",null]`)), `'[1,"a",null]'`},
		{op(plan.JoinLists, j, document(`[1]`), document(`2`)), "null"},
		{op(plan.SumList, d, document(`[0.1,0.2,"3",null,[9]]`)), "0.3"},
		{op(plan.SumList, d, document(`[]`)), "0.0"},
		{op(plan.SumList, d, document(`[1e400]`)), "null"},
		{op(plan.SumList, d, document(`{}`)), "null"},
		{op(plan.AvgList, d, document(`[1,2,"x"]`)), "1.5"},
		{op(plan.AvgList, d, document(`["x"]`)), "null"},
		{op(plan.MinList, d, document(`[3,-1.5,"-9"]`)), "-1.5"},
		{op(plan.MaxList, d, document(`[3,-1.5]`)), "3.0"},
		{op(plan.MaxList, d, document(`[]`)), "null"},
		{op(plan.TypeOf, schema.String, document(`-1`)), "'number'"},
		{op(plan.TypeOf, schema.String, document(`"x"`)), "'string'"},
		{op(plan.TypeOf, schema.String, document(`true`)), "'bool'"},
		{op(plan.TypeOf, schema.String, document(`{}`)), "'object'"},
		{op(plan.TypeOf, schema.String, document(`[]`)), "'array'"},
		{op(plan.TypeOf, schema.String, null(j)), "'null'"},
	})
}
