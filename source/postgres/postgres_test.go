package postgres_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/jackc/pgx/v5"
)

// A place is a Scope for constants only. Arguments are numbered in the order of writing, and repeated texts are
// repeated.
type place struct {
	args    []any
	aliases int
}

func (p *place) Arg(v any, cast string) string {
	p.args = append(p.args, v)
	return fmt.Sprintf("\x00%d::%s\x00", len(p.args)-1, cast)
}

// resolve numbers the arguments in text.
func (p *place) resolve(text string) (string, []any) {
	var args []any
	parts := strings.Split(text, "\x00")
	for i := 1; i < len(parts); i += 2 {
		n, cast, _ := strings.Cut(parts[i], "::")
		at, _ := strconv.Atoi(n)
		args = append(args, p.args[at])
		parts[i] = fmt.Sprintf("$%d::%s", len(args), cast)
	}
	return strings.Join(parts, ""), args
}

func (p *place) Alias(prefix string) string {
	p.aliases++
	return prefix + strconv.Itoa(p.aliases)
}

func (p *place) Atom(x string) string                    { return x }
func (p *place) Column(int) string                       { return "" }
func (p *place) Field(plan.Expr) (string, *schema.Field) { return "", nil }
func (p *place) Outer(int, int) (string, error)          { return "", fmt.Errorf("no list is made") }
func of(t schema.Type, v value.Value) plan.Expr          { return plan.Const{Value: v, T: t} }
func text(s string) plan.Expr                            { return of(schema.String, value.OfString(s)) }
func number(n int64) plan.Expr                           { return of(schema.Integer, value.OfInt(n)) }
func real(f float64) plan.Expr                           { return of(schema.Double, value.OfFloat(f)) }
func exact(s string) plan.Expr                           { return of(schema.Decimal, value.OfDecimal(s)) }
func truth(b bool) plan.Expr                             { return of(schema.Boolean, value.OfBool(b)) }
func null(t schema.Type) plan.Expr                       { return of(t, value.Value{}) }
func op(o plan.Op, t schema.Type, a ...plan.Expr) plan.Expr {
	return plan.Apply{Op: o, Args: a, T: t}
}
func to(x plan.Expr, t schema.Type) plan.Expr { return plan.Convert{X: x, T: t} }

func document(s string) plan.Expr {
	v, err := value.Read([]byte(s), 0)
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

func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), services.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), "SET timezone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// ask returns the result of a query as PostgreSQL writes it, or "null".
func ask(t *testing.T, conn *pgx.Conn, sql string, args []any) string {
	t.Helper()
	var got *string
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&got); err != nil {
		return fmt.Sprintf("%v in %s", err, sql)
	}
	if got == nil {
		return "null"
	}
	return *got
}

const least, most = math.MinInt64, math.MaxInt64

const i, d, m, s, j, b, at = schema.Integer, schema.Double, schema.Decimal, schema.String, schema.JSON, schema.Boolean, schema.Date

type answer struct {
	e    plan.Expr
	want string
}

var list = document(`[3,null,"a",1.0,{"x":[1]}]`)

// answers are operators on values for which the server could raise an error, or return another result than package
// plan specifies.
var answers = []answer{
	{op(plan.Add, i, number(most), number(1)), "null"}, {op(plan.Add, i, number(1), number(2)), "3"}, {op(plan.Sub, i, number(least), number(1)), "null"},
	{op(plan.Mul, i, number(most), number(most)), "null"}, {op(plan.Mod, i, number(-7), number(3)), "-1"}, {op(plan.Mod, i, number(least), number(-1)), "0"},
	{op(plan.Mod, i, number(1), number(0)), "null"}, {op(plan.Abs, i, number(least)), "null"}, {op(plan.Abs, i, number(-5)), "5"},
	{op(plan.BitAnd, i, number(-3), number(most)), "9223372036854775805"}, {op(plan.BitOr, i, number(least), number(5)), "-9223372036854775803"}, {op(plan.BitXor, i, number(least), number(most)), "-1"},
	{op(plan.BitXor, i, number(-3), number(7)), "-6"}, {op(plan.BitAnd, i, number(1), null(i)), "null"}, {op(plan.BitOr, i, null(i), number(-1)), "null"},
	{op(plan.Mul, d, real(1e200), real(1e200)), "null"}, {op(plan.Mul, d, real(1e150), real(1e150)), "9.999999999999999e+299"}, {op(plan.Mul, d, real(1e-150), real(1e-150)), "1e-300"},
	{op(plan.Mul, d, real(1e-200), real(1)), "null"}, {op(plan.Mul, d, real(-1), real(0)), "0"}, {op(plan.Add, d, real(0.1), real(0.2)), "0.30000000000000004"},
	{op(plan.Add, d, real(math.NaN()), real(0.2)), "null"}, {op(plan.Add, d, real(math.Inf(1)), real(math.Inf(-1))), "null"},
	{op(plan.Div, d, real(1), real(0)), "null"}, {op(plan.Div, d, real(1), real(3)), "0.3333333333333333"}, {op(plan.Div, d, real(0), real(-2)), "0"}, {op(plan.Div, d, real(1e150), real(1e-150)), "9.999999999999999e+299"},
	{op(plan.Add, m, exact("0.1"), exact("0.2")), "0.3"}, {op(plan.Mul, m, exact("1e599"), exact("1e599")), "null"}, {op(plan.Lt, b, exact("1e500"), exact("1e501")), "true"},
	{op(plan.Round, d, real(1.005), number(2)), "1.01"}, {op(plan.Round, d, real(-2.5), number(0)), "-3"}, {op(plan.Round, d, real(1e16), number(-17)), "1e+16"},
	{op(plan.Trunc, d, real(-0.9), number(0)), "0"}, {op(plan.Round, i, number(most), number(-1)), "null"}, {op(plan.Trunc, i, number(129), number(-1)), "120"}, {op(plan.Round, m, exact("2.345"), number(2)), "2.35"},
	{op(plan.Ceil, d, real(-0.5)), "0"}, {op(plan.Floor, m, exact("-0.5")), "-1"},

	{op(plan.Eq, b, text("a"), text("a ")), "false"}, {op(plan.Gt, b, text("é"), text("z")), "true"}, {op(plan.Lt, b, text("Z"), text("a")), "true"}, {op(plan.Lt, b, null(i), number(0)), "true"},
	{op(plan.Gte, b, null(i), null(i)), "true"}, {op(plan.Cmp, i, null(s), text("")), "-1"}, {op(plan.Eq, b, real(math.NaN()), real(math.NaN())), "true"}, {op(plan.Gt, b, real(math.NaN()), real(math.Inf(1))), "true"},
	{op(plan.Eq, b, document(`{"a":1,"b":[1.0]}`), document(`{"b":[1],"a":1e0}`)), "true"}, {op(plan.Eq, b, document(`9007199254740993`), document(`9007199254740992`)), "false"},
	{op(plan.Lt, b, document(`"Z"`), document(`"a"`)), "true"}, {op(plan.Lt, b, document(`9`), document(`""`)), "true"}, {op(plan.Gt, b, document(`true`), document(`[]`)), "true"},
	{op(plan.Gte, b, document(`{}`), document(`{"a":1}`)), "false"}, {op(plan.Lte, b, document(`[1.0]`), document(`[1]`)), "true"}, {op(plan.Gt, b, null(j), document(`[1]`)), "false"},
	{op(plan.And, b, null(b), truth(true)), "false"}, {op(plan.Or, b, null(b), truth(false)), "false"}, {op(plan.Not, b, null(b)), "true"}, {op(plan.IfNull, s, null(s), text("x")), "x"},
	{op(plan.Truth, b, document("-0.0e5")), "false"}, {op(plan.Truth, b, document(`""`)), "true"}, {op(plan.Truth, b, null(j)), "false"},

	{op(plan.Lower, s, text("ÄB😀")), "Äb😀"}, {op(plan.Upper, s, text("äb😀")), "äB😀"}, {op(plan.Concat, s, text("a"), null(s)), "null"},
	{op(plan.Substr, s, text("a😀b"), number(1), number(most)), "😀b"}, {op(plan.Substr, s, text("ab"), number(most), number(1)), ""}, {op(plan.Substr, s, text("ab"), number(1), number(least)), "b"},
	{op(plan.Substr, s, text("ab"), number(least), number(1)), "null"}, {op(plan.Substr, s, text("ab"), null(i), number(1)), "null"}, {op(plan.Substr, s, text("ab"), number(0), null(i)), "null"},
	{op(plan.Length, i, text("a😀")), "2"}, {op(plan.IndexOf, i, text("a😀b"), text("b")), "2"}, {op(plan.IndexOf, i, text("aB"), text("b")), "-1"}, {op(plan.IndexOf, i, text("a"), text("")), "0"},
	{op(plan.Trim, s, text(`]x\-]`), text(`]-\`)), "x"}, {op(plan.TrimRight, s, text("\n a \n"), text(" \n")), "\n a"}, {op(plan.TrimLeft, s, text("éa"), text("é")), "a"},
	{op(plan.Split, j, text(""), text(",")), `[""]`}, {op(plan.Split, j, text(",a,"), text(",")), `["", "a", ""]`},
	{op(plan.ReplaceAll, s, text("aAa"), text("a"), text("x")), "xAx"}, {op(plan.ReplaceAll, s, text("a"), text(""), text("x")), "a"},
	{op(plan.Reverse, s, text("a😀é")), "é😀a"}, {op(plan.Capitalize, s, text("an OLD-house 3rd o'neil éLAN [x]")), "An Old-House 3rd O'Neil élan [X]"}, {op(plan.Capitalize, s, text("")), ""}, {op(plan.Capitalize, s, null(s)), "null"},
	{op(plan.ReplaceMatches, s, text("+47 22-33"), text("[^0-9]+"), text("")), "472233"}, {op(plan.ReplaceMatches, s, text("aéA"), text("(?i)a"), text(`\1$1`)), "\\1$1é\\1$1"},
	{op(plan.ReplaceMatches, s, text("x\naéa"), text("a"), text(`\`), truth(false)), "x\n\\éa"}, {op(plan.ReplaceMatches, s, text("aaa"), text("^a"), text("b")), "baa"}, {op(plan.ReplaceMatches, s, null(s), text("a"), text("b")), "null"},
	{op(plan.FindMatch, j, text("x\né12-b"), text("([0-9])+(x)?-(b)$")), `{"idx": 3, "match": "12-b", "captures": ["2", null, "b"]}`}, {op(plan.FindMatch, j, text("ab"), text("^b")), "null"},
	{op(plan.FindMatch, j, text("\"\\"), text(`\\`)), `{"idx": 1, "match": "\\", "captures": []}`}, {op(plan.FindMatch, j, null(s), text("a")), "null"}, {op(plan.FindMatch, j, text(strings.Repeat("a", plan.MostSearched+1)), text("a")), "null"},
	{op(plan.FindMatch, j, text("b"), text("(a)*b")), `{"idx": 0, "match": "b", "captures": [null]}`}, {op(plan.FindMatch, j, text("aab"), text("(a){0}b")), `{"idx": 2, "match": "b", "captures": [null]}`},
	{op(plan.FindMatches, j, text("😀aa b"), text("(?i)A(c)?")), `[{"idx": 1, "match": "a", "captures": [null]}, {"idx": 2, "match": "a", "captures": [null]}]`}, {op(plan.FindMatches, j, text(""), text("a")), "[]"},
	{op(plan.FindMatches, j, text(strings.Repeat("a", plan.MostMatches+1)), text("a")), "null"}, {op(plan.Size, i, op(plan.FindMatches, j, text(strings.Repeat("a", plan.MostMatches)), text("a"))), "10000"},
	{plan.Matches{X: text("x\n"), Regex: query.Regex{Pattern: "^x$"}}, "false"}, {plan.Matches{X: null(s), Regex: query.Regex{Pattern: "x"}}, "false"},
}
