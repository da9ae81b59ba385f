package interpret

import (
	"encoding/base64"
	"strings"
	"testing"
	_ "time/tzdata"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// lit returns a constant of a type: "null" or JSON. JSON strings also represent dates, days and bytes (in base64).
func lit(text string, t schema.Type) plan.Expr {
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		panic(text + ": " + err.Error())
	}
	if t != schema.JSON && !v.IsNull() {
		v = typed(v, t)
	}
	return plan.Const{Value: v, T: t}
}

func typed(v value.Value, t schema.Type) value.Value {
	switch t {
	case schema.Double:
		f, _ := v.AsFloat()
		return value.OfFloat(f)
	case schema.Decimal:
		return value.OfDecimal(v.String())
	case schema.Date, schema.Day:
		d, ok := value.OfDateText(v.Text())
		if !ok {
			panic(v.Text())
		}
		if t == schema.Date {
			return value.OfDate(d.Micros())
		}
		return d
	case schema.Bytes:
		raw, err := base64.StdEncoding.DecodeString(v.Text())
		if err != nil {
			panic(err)
		}
		return value.OfBytes(string(raw))
	}
	return v
}

// shown returns a value as text, with its kind if JSON doesn't show it. For example, 1, 1d and 1f are an integer, a
// decimal and a double.
func shown(v value.Value) string {
	text := string(v.AppendJSON(nil))
	switch v.Kind() {
	case value.Decimal:
		return text + "d"
	case value.Float:
		return text + "f"
	case value.Date, value.Day:
		return strings.Trim(text, `"`)
	case value.Bytes:
		return "bytes " + text
	}
	return text
}

// of applies an operator to constants of one type.
func of(op plan.Op, t schema.Type, texts ...string) plan.Expr {
	e := plan.Apply{Op: op, T: t}
	for _, text := range texts {
		e.Args = append(e.Args, lit(text, t))
	}
	return e
}

// on applies an operator to constants, whose types follow from their texts: text, integers, and JSON for all others.
func on(op plan.Op, texts ...string) plan.Expr {
	e := plan.Apply{Op: op, T: schema.String}
	for _, text := range texts {
		t := schema.JSON
		switch {
		case strings.HasPrefix(text, `"`):
			t = schema.String
		case strings.Trim(text, "-0123456789") == "":
			t = schema.Integer
		}
		e.Args = append(e.Args, lit(text, t))
	}
	return e
}

type evaluation struct {
	e    plan.Expr
	want string
}

func evaluate(t *testing.T, tests []evaluation) {
	t.Helper()
	for i, tt := range tests {
		r := &reading{ctx: t.Context()}
		got := shown((&place{reading: r}).eval(tt.e))
		if r.err != nil || got != tt.want {
			t.Errorf("%d: %#v = %s, %v; want %s", i, tt.e, got, r.err, tt.want)
		}
	}
}

func TestArithmetic(t *testing.T) {
	const i, f, d = schema.Integer, schema.Double, schema.Decimal
	places := func(op plan.Op, t schema.Type, x, y string) plan.Expr {
		return plan.Apply{Op: op, T: t, Args: []plan.Expr{lit(x, t), lit(y, i)}}
	}
	evaluate(t, []evaluation{
		{of(plan.Add, i, "1", "2"), "3"},
		{of(plan.Add, i, "1", "null"), "null"},
		{of(plan.Add, i, "9223372036854775806", "1"), "9223372036854775807"},
		{of(plan.Add, i, "9223372036854775807", "1"), "null"},
		{of(plan.Sub, i, "-9223372036854775808", "1"), "null"},
		{of(plan.Mul, i, "4294967296", "4294967296"), "null"},
		{of(plan.Mul, i, "-4294967296", "2147483648"), "-9223372036854775808"},
		{of(plan.Sub, i, "9007199254740993", "1"), "9007199254740992"},
		{of(plan.Mod, i, "7", "3"), "1"},
		{of(plan.Mod, i, "-7", "3"), "-1"},
		{of(plan.Mod, i, "7", "-3"), "1"},
		{of(plan.Mod, i, "7", "0"), "null"},
		{of(plan.Mod, i, "-9223372036854775808", "-1"), "0"},
		{of(plan.BitAnd, i, "-3", "9223372036854775807"), "9223372036854775805"},
		{of(plan.BitOr, i, "-9223372036854775808", "5"), "-9223372036854775803"},
		{of(plan.BitXor, i, "-3", "7"), "-6"},
		{of(plan.BitXor, i, "null", "7"), "null"},
		{of(plan.Abs, i, "-9223372036854775808"), "null"},
		{of(plan.Abs, i, "-9223372036854775807"), "9223372036854775807"},

		{of(plan.Add, f, "0.1", "0.2"), "0.30000000000000004f"},
		{of(plan.Div, f, "1", "3"), "0.3333333333333333f"},
		{of(plan.Div, f, "1", "0"), "null"},
		{of(plan.Div, f, "0", "-5"), "0f"},
		{of(plan.Mul, f, "0", "-1"), "0f"},
		{of(plan.Mul, f, "1e150", "1e-150"), "1f"},
		{of(plan.Mul, f, "1.1e150", "1"), "null"},
		{of(plan.Add, f, "1e-150", "0"), "1e-150f"},
		{of(plan.Add, f, "9e-151", "0"), "null"},
		{of(plan.Abs, f, "1e300"), "null"},
		{of(plan.Abs, f, "-2.5"), "2.5f"},
		{of(plan.Ceil, f, "-0.5"), "0f"},
		{of(plan.Ceil, f, "1.2"), "2f"},
		{of(plan.Floor, f, "-1.2"), "-2f"},
		{of(plan.Floor, f, "1e20"), "100000000000000000000f"},

		{of(plan.Add, d, "123456789012345678901234567890", "0.000000001"), "123456789012345678901234567890.000000001d"},
		{of(plan.Mul, d, "123456789012345678.901234567", "10"), "1234567890123456789.01234567d"},
		{of(plan.Sub, d, "1.50", "0.50"), "1d"},
		{of(plan.Mul, d, "1.5", "-0.25"), "-0.375d"},
		{of(plan.Abs, d, "-0.00"), "0d"},
		{of(plan.Ceil, d, "-1.5"), "-1d"},
		{of(plan.Ceil, d, "1.000000000000000000000000000001"), "2d"},
		{of(plan.Floor, d, "-1.5"), "-2d"},
		{of(plan.Floor, d, "2"), "2d"},

		{places(plan.Round, i, "1250", "-2"), "1300"},
		{places(plan.Round, i, "-1250", "-2"), "-1300"},
		{places(plan.Trunc, i, "-1299", "-2"), "-1200"},
		{places(plan.Round, i, "9223372036854775807", "-1"), "null"},
		{places(plan.Round, i, "7", "2"), "7"},
		{places(plan.Round, i, "7", "-20"), "0"},
		{places(plan.Round, f, "2.675", "2"), "2.68f"}, // rounded by its decimal form
		{places(plan.Round, f, "-0.5", "0"), "-1f"},
		{places(plan.Round, f, "-0.4", "0"), "0f"},
		{places(plan.Trunc, f, "-1.99", "1"), "-1.9f"},
		{places(plan.Round, f, "1234.5", "-2"), "1200f"},
		{places(plan.Round, f, "1000000000000001", "-3"), "1000000000000001f"},
		{places(plan.Trunc, f, "1500000000000000", "-15"), "1500000000000000f"},
		{places(plan.Round, f, "1e300", "0"), "null"},
		{places(plan.Round, f, "null", "0"), "null"},
		{places(plan.Round, d, "0.1234567890123456789012345678905", "30"), "0.123456789012345678901234567891d"},
		{places(plan.Trunc, d, "-19.99", "-1"), "-10d"},
	})
}

func TestComparison(t *testing.T) {
	const i, f, d, s, j, b = schema.Integer, schema.Double, schema.Decimal, schema.String, schema.JSON, schema.Boolean
	evaluate(t, []evaluation{
		{of(plan.Eq, i, "null", "null"), "true"},
		{of(plan.Eq, i, "null", "0"), "false"},
		{of(plan.Ne, i, "null", "0"), "true"},
		{of(plan.Lt, i, "null", "-9223372036854775808"), "true"},
		{of(plan.Gte, i, "null", "null"), "true"},
		{of(plan.Gt, i, "null", "null"), "false"},
		{of(plan.Gt, i, "9007199254740993", "9007199254740992"), "true"},
		{of(plan.Lt, s, `"Z"`, `"a"`), "true"},
		{of(plan.Lt, s, `"\uff61"`, `"𝒳"`), "true"},
		{of(plan.Eq, s, `"a"`, `"a "`), "false"},
		{of(plan.Lt, b, "false", "true"), "true"},
		{of(plan.Eq, d, "1.0", "1.00"), "true"},
		{of(plan.Cmp, d, "0.1000000000000000000000000000001", "0.1"), "1"},
		{of(plan.Cmp, f, "1", "2"), "-1"},
		{of(plan.Cmp, s, "null", `""`), "-1"},
		{of(plan.Cmp, s, "null", "null"), "0"},

		{of(plan.Eq, j, `{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`), "true"},
		{of(plan.Eq, j, "[1,2]", "[2,1]"), "false"},
		{of(plan.Eq, j, "1", "1.0"), "true"},
		{of(plan.Eq, j, "9007199254740993", "9007199254740992"), "false"},
		{of(plan.Ne, j, `"1"`, "1"), "true"},
		{of(plan.Lt, j, "99", `"1"`), "true"},
		{of(plan.Lt, j, `"x"`, "{}"), "true"},
		{of(plan.Lt, j, "{}", "[]"), "true"},
		{of(plan.Lt, j, "[]", "false"), "true"},
		{of(plan.Lt, j, "null", "0"), "true"},
		{of(plan.Lt, j, "[1]", "[2]"), "false"},
		{of(plan.Gt, j, "[1]", "[2]"), "false"},
		{of(plan.Gte, j, "[1]", "[2]"), "false"},
		{of(plan.Lte, j, "[1]", "[2]"), "false"},
		{of(plan.Lte, j, `{"a":1}`, `{"a":1.0}`), "true"},

		{of(plan.IsNull, i, "null"), "true"},
		{of(plan.IsNull, i, "0"), "false"},
		{of(plan.And, b, "true", "null"), "false"},
		{of(plan.And, b, "true", "true", "true"), "true"},
		{of(plan.Or, b, "null", "true"), "true"},
		{of(plan.Or, b, "null", "false"), "false"},
		{of(plan.Not, b, "null"), "true"},
		{of(plan.Not, b, "true"), "false"},
		{of(plan.Truth, j, "null"), "false"},
		{of(plan.Truth, j, "false"), "false"},
		{of(plan.Truth, j, "0.0"), "false"},
		{of(plan.Truth, j, `""`), "true"},
		{of(plan.Truth, j, "[]"), "true"},
		{of(plan.IfNull, i, "null", "null", "3", "4"), "3"},
		{of(plan.IfNull, i, "null"), "null"},
		{plan.Case{If: []plan.Expr{lit("null", b), lit("true", b), lit("true", b)},
			Then: []plan.Expr{lit("1", i), lit("2", i), lit("3", i)}, Else: lit("4", i), T: i}, "2"},
		{plan.Case{If: []plan.Expr{lit("false", b)}, Then: []plan.Expr{lit("1", i)}, Else: lit("4", i), T: i}, "4"},
		{plan.Case{If: []plan.Expr{lit("false", b)}, Then: []plan.Expr{lit("1", i)}, T: i}, "null"},
	})
}

func TestText(t *testing.T) {
	matches := func(x, pattern, options string) plan.Expr {
		return plan.Matches{X: lit(x, schema.String), Regex: query.Regex{Pattern: pattern, Options: options}}
	}
	evaluate(t, []evaluation{
		{on(plan.Concat, `"a"`, `"𝒳"`, `"c"`), `"a𝒳c"`},
		{on(plan.Concat, `"a"`, "null"), "null"},
		{on(plan.Substr, `"a𝒳c😀e"`, "1", "2"), `"𝒳c"`},
		{on(plan.Substr, `"a𝒳c😀e"`, "3", "-1"), `"😀e"`},
		{on(plan.Substr, `"abc"`, "3", "1"), `""`},
		{on(plan.Substr, `"abc"`, "99", "9223372036854775807"), `""`},
		{on(plan.Substr, `"abc"`, "0", "0"), `""`},
		{on(plan.Substr, `"abc"`, "-1", "1"), "null"},
		{on(plan.Lower, `"ÀBC \u03a3\u0130\u212a"`), "\"Àbc \u03a3\u0130\u212a\""},
		{on(plan.Lower, `"AZ@["`), `"az@["`},
		{on(plan.Upper, "\"az`{\""), "\"AZ`{\""},
		{on(plan.Upper, `"straße é"`), `"STRAßE é"`},
		{on(plan.Trim, `"xyaxyx"`, `"yx"`), `"a"`},
		{on(plan.TrimLeft, `"  a "`, `" "`), `"a "`},
		{on(plan.TrimRight, `"a😀😀"`, `"😀"`), `"a"`},
		{on(plan.Trim, `"aaa"`, `"a"`), `""`},
		{on(plan.Trim, `" a "`, `""`), `" a "`},
		{on(plan.Split, `"a,b,,c"`, `","`), `["a","b","","c"]`},
		{on(plan.Split, `""`, `","`), `[""]`},
		{on(plan.Split, `"abc"`, `"abc"`), `["",""]`},
		{on(plan.Split, "null", `","`), "null"},
		{on(plan.Length, `"a𝒳e\u0301"`), "4"},
		{on(plan.Length, `""`), "0"},
		{on(plan.IndexOf, `"😀b😀c"`, `"c"`), "3"},
		{on(plan.IndexOf, `"abc"`, `"x"`), "-1"},
		{on(plan.IndexOf, `"abc"`, `""`), "0"},
		{on(plan.ReplaceAll, `"aaa"`, `"aa"`, `"b"`), `"ba"`},
		{on(plan.ReplaceAll, `"abc"`, `""`, `"-"`), `"abc"`},
		{on(plan.ReplaceAll, `"a.b"`, `"."`, "null"), "null"},
		{on(plan.Reverse, `"a😀é"`), `"é😀a"`},
		{on(plan.Capitalize, `"an OLD-house 3rd o'neil éLAN x_y"`), `"An Old-House 3rd O'Neil élan X_Y"`},
		{on(plan.ReplaceMatches, `"+47 22-33"`, `"[^0-9]+"`, `""`), `"472233"`},
		{on(plan.ReplaceMatches, `"aéa"`, `"^a"`, `"\\1$1"`), `"\\1$1éa"`},
		{on(plan.ReplaceMatches, `"aéa"`, `"a"`, `"b"`, "false"), `"béa"`},
		{on(plan.FindMatch, `"x\né12-b"`, `"([0-9])+(x)?-(b)$"`), `{"match":"12-b","idx":3,"captures":["2",null,"b"]}`},
		{on(plan.FindMatch, `"ab"`, `"^b"`), "null"},
		{on(plan.FindMatch, `"é"`, `"(x*)"`), `{"match":"","idx":0,"captures":[""]}`},
		{on(plan.FindMatches, `"aé a"`, `"\\ba|(é)"`), `[{"match":"a","idx":0,"captures":[null]},{"match":"é","idx":1,"captures":["é"]},{"match":"a","idx":3,"captures":[null]}]`},
		{on(plan.FindMatches, `"x"`, `"a"`), "[]"},
		{on(plan.FindMatches, "null", `"a"`), "null"},
		{on(plan.FindMatches, `"`+strings.Repeat("a", plan.MostMatches+1)+`"`, `"a"`), "null"},
		{on(plan.FindMatch, `"`+strings.Repeat("a", plan.MostSearched+1)+`"`, `"a"`), "null"},
		{matches(`"Apple"`, "^app", "i"), "true"},
		{matches(`"Apple"`, "^app", ""), "false"},
		{matches("null", ".*", ""), "false"},
	})
}

func TestLists(t *testing.T) {
	evaluate(t, []evaluation{
		{on(plan.Size, "[1,null]"), "2"},
		{on(plan.Size, "{}"), "null"},
		{on(plan.ElemAt, "[1,2,3]", "0"), "1"},
		{on(plan.ElemAt, "[1,2,3]", "-1"), "3"},
		{on(plan.ElemAt, "[1,2,3]", "3"), "null"},
		{on(plan.ElemAt, "[1,2,3]", "-4"), "null"},
		{on(plan.ElemAt, "[1,2,3]", "-9223372036854775808"), "null"},
		{on(plan.ElemAt, `{"0":1}`, "0"), "null"},
		{of(plan.InList, schema.JSON, "1", "[2,1.0]"), "true"},
		{of(plan.InList, schema.JSON, `{"a":1,"b":2}`, `[{"b":2,"a":1}]`), "true"},
		{of(plan.InList, schema.JSON, "null", "[null]"), "true"},
		{of(plan.InList, schema.JSON, "1", "[[1]]"), "false"},
		{of(plan.InList, schema.JSON, "1", "1"), "false"},
		{of(plan.InList, schema.JSON, "1", "null"), "false"},
		{on(plan.SliceList, "[1,2,3,4]", "1", "2"), "[2,3]"},
		{on(plan.SliceList, "[1,2,3,4]", "-2", "9223372036854775807"), "[3,4]"},
		{on(plan.SliceList, "[1,2,3,4]", "-9", "2"), "[1,2]"},
		{on(plan.SliceList, "[1,2]", "2", "1"), "[]"},
		{on(plan.SliceList, "[1,2]", "0", "0"), "null"},
		{on(plan.SliceList, "{}", "0", "1"), "null"},
		{on(plan.IsList, "[]"), "true"},
		{on(plan.IsList, "null"), "false"},
		{on(plan.JoinLists, "[1]", "[]", "[[2]]"), "[1,[2]]"},
		{on(plan.JoinLists, "[1]", "{}"), "null"},
		{on(plan.JoinLists, "[1]", "null"), "null"},
		{on(plan.SumList, `[0.1,0.2,"5",null,true]`), "0.3f"}, // exact, rather than 0.30000000000000004
		{on(plan.SumList, "[]"), "0f"},
		{on(plan.SumList, "[1e308,1e308]"), "null"},
		{on(plan.SumList, "[9007199254740993]"), "9007199254740992f"},
		{on(plan.SumList, "{}"), "null"},
		{on(plan.AvgList, "[1,2]"), "1.5f"},
		{on(plan.AvgList, `["x"]`), "null"},
		{on(plan.MinList, `["a",3,2.5]`), "2.5f"},
		{on(plan.MaxList, `["a",3,2.5]`), "3f"},
		{on(plan.MaxList, `["a"]`), "null"},
		{on(plan.TypeOf, "null"), `"null"`},
		{of(plan.TypeOf, schema.JSON, "1.5"), `"number"`},
		{of(plan.TypeOf, schema.JSON, `"x"`), `"string"`},
		{on(plan.TypeOf, "true"), `"bool"`},
		{on(plan.TypeOf, "{}"), `"object"`},
		{on(plan.TypeOf, "[]"), `"array"`},
	})
}

// TestUnknown checks that the oracle refuses Programs with unknown operators.
func TestUnknown(t *testing.T) {
	now := lit(`"2026-01-01"`, schema.Date)
	for _, e := range []plan.Expr{
		plan.Element{}, plan.Element{Up: -1}, plan.Before{Up: 1}, plan.Outer{Up: 1}, nil,
		on(plan.TypeOf+1, "1"), plan.Matches{X: lit(`"x"`, schema.String), Regex: query.Regex{Pattern: "("}},
		plan.DatePart{X: now, Part: "era"}, plan.DatePart{X: now, Part: "year", Zone: "Europe/Nowhere"}, plan.DateTrunc{X: now, Unit: "era"},
		plan.DateText{X: now, Format: "%Q"}, plan.DateText{X: now, Format: "%"}, plan.DateDiff{From: now, To: now, Unit: "era"},
		plan.DateShift{X: now, Amount: lit("1", schema.Integer), Unit: "era"},
	} {
		r := &reading{ctx: t.Context()}
		if v := (&place{reading: r}).eval(e); problem.CodeOf(r.err) != problem.Internal {
			t.Errorf("%#v = %s, %v", e, shown(v), r.err)
		}
	}
}
