package memory

import (
	"encoding/base64"
	"strings"
	"testing"
	_ "time/tzdata"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// lit writes a constant of a type: "null", or JSON, where strings also write dates, days and bytes (in base64).
func lit(text string, t schema.Type) algebra.Expr {
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		panic(text + ": " + err.Error())
	}
	if t != schema.JSON && !v.IsNull() {
		v = typed(v, t)
	}
	return algebra.Const{Value: v, T: t}
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

// shown is a value with its kind where JSON doesn't tell it: 1 and 1d and 1f are an integer, a decimal and a double.
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
func of(op algebra.Op, t schema.Type, texts ...string) algebra.Expr {
	e := algebra.Apply{Op: op, T: t}
	for _, text := range texts {
		e.Args = append(e.Args, lit(text, t))
	}
	return e
}

// on applies an operator to constants whose types their texts tell: text, integers, JSON for all else.
func on(op algebra.Op, texts ...string) algebra.Expr {
	e := algebra.Apply{Op: op, T: schema.String}
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
	e    algebra.Expr
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
	places := func(op algebra.Op, t schema.Type, x, y string) algebra.Expr {
		return algebra.Apply{Op: op, T: t, Args: []algebra.Expr{lit(x, t), lit(y, i)}}
	}
	evaluate(t, []evaluation{
		{of(algebra.Add, i, "1", "2"), "3"},
		{of(algebra.Add, i, "1", "null"), "null"},
		{of(algebra.Add, i, "9223372036854775806", "1"), "9223372036854775807"},
		{of(algebra.Add, i, "9223372036854775807", "1"), "null"},
		{of(algebra.Sub, i, "-9223372036854775808", "1"), "null"},
		{of(algebra.Mul, i, "4294967296", "4294967296"), "null"},
		{of(algebra.Mul, i, "-4294967296", "2147483648"), "-9223372036854775808"},
		{of(algebra.Sub, i, "9007199254740993", "1"), "9007199254740992"},
		{of(algebra.Mod, i, "7", "3"), "1"},
		{of(algebra.Mod, i, "-7", "3"), "-1"},
		{of(algebra.Mod, i, "7", "-3"), "1"},
		{of(algebra.Mod, i, "7", "0"), "null"},
		{of(algebra.Mod, i, "-9223372036854775808", "-1"), "0"},
		{of(algebra.Abs, i, "-9223372036854775808"), "null"},
		{of(algebra.Abs, i, "-9223372036854775807"), "9223372036854775807"},

		{of(algebra.Add, f, "0.1", "0.2"), "0.30000000000000004f"},
		{of(algebra.Div, f, "1", "3"), "0.3333333333333333f"},
		{of(algebra.Div, f, "1", "0"), "null"},
		{of(algebra.Div, f, "0", "-5"), "0f"},
		{of(algebra.Mul, f, "0", "-1"), "0f"},
		{of(algebra.Mul, f, "1e150", "1e-150"), "1f"},
		{of(algebra.Mul, f, "1.1e150", "1"), "null"},
		{of(algebra.Add, f, "1e-150", "0"), "1e-150f"},
		{of(algebra.Add, f, "9e-151", "0"), "null"},
		{of(algebra.Abs, f, "1e300"), "null"},
		{of(algebra.Abs, f, "-2.5"), "2.5f"},
		{of(algebra.Ceil, f, "-0.5"), "0f"},
		{of(algebra.Ceil, f, "1.2"), "2f"},
		{of(algebra.Floor, f, "-1.2"), "-2f"},
		{of(algebra.Floor, f, "1e20"), "100000000000000000000f"},

		{of(algebra.Add, d, "123456789012345678901234567890", "0.000000001"), "123456789012345678901234567890.000000001d"},
		{of(algebra.Mul, d, "123456789012345678.901234567", "10"), "1234567890123456789.01234567d"},
		{of(algebra.Sub, d, "1.50", "0.50"), "1d"},
		{of(algebra.Mul, d, "1.5", "-0.25"), "-0.375d"},
		{of(algebra.Abs, d, "-0.00"), "0d"},
		{of(algebra.Ceil, d, "-1.5"), "-1d"},
		{of(algebra.Ceil, d, "1.000000000000000000000000000001"), "2d"},
		{of(algebra.Floor, d, "-1.5"), "-2d"},
		{of(algebra.Floor, d, "2"), "2d"},

		{places(algebra.Round, i, "1250", "-2"), "1300"},
		{places(algebra.Round, i, "-1250", "-2"), "-1300"},
		{places(algebra.Trunc, i, "-1299", "-2"), "-1200"},
		{places(algebra.Round, i, "9223372036854775807", "-1"), "null"},
		{places(algebra.Round, i, "7", "2"), "7"},
		{places(algebra.Round, i, "7", "-20"), "0"},
		{places(algebra.Round, f, "2.675", "2"), "2.68f"}, // as it is written, not as it is held
		{places(algebra.Round, f, "-0.5", "0"), "-1f"},
		{places(algebra.Round, f, "-0.4", "0"), "0f"},
		{places(algebra.Trunc, f, "-1.99", "1"), "-1.9f"},
		{places(algebra.Round, f, "1234.5", "-2"), "1200f"},
		{places(algebra.Round, f, "1000000000000001", "-3"), "1000000000000001f"},
		{places(algebra.Trunc, f, "1500000000000000", "-15"), "1500000000000000f"},
		{places(algebra.Round, f, "1e300", "0"), "null"},
		{places(algebra.Round, f, "null", "0"), "null"},
		{places(algebra.Round, d, "0.1234567890123456789012345678905", "30"), "0.123456789012345678901234567891d"},
		{places(algebra.Trunc, d, "-19.99", "-1"), "-10d"},
	})
}

func TestComparison(t *testing.T) {
	const i, f, d, s, j, b = schema.Integer, schema.Double, schema.Decimal, schema.String, schema.JSON, schema.Boolean
	evaluate(t, []evaluation{
		{of(algebra.Eq, i, "null", "null"), "true"},
		{of(algebra.Eq, i, "null", "0"), "false"},
		{of(algebra.Ne, i, "null", "0"), "true"},
		{of(algebra.Lt, i, "null", "-9223372036854775808"), "true"},
		{of(algebra.Gte, i, "null", "null"), "true"},
		{of(algebra.Gt, i, "null", "null"), "false"},
		{of(algebra.Gt, i, "9007199254740993", "9007199254740992"), "true"},
		{of(algebra.Lt, s, `"Z"`, `"a"`), "true"},
		{of(algebra.Lt, s, `"\uff61"`, `"𝒳"`), "true"},
		{of(algebra.Eq, s, `"a"`, `"a "`), "false"},
		{of(algebra.Lt, b, "false", "true"), "true"},
		{of(algebra.Eq, d, "1.0", "1.00"), "true"},
		{of(algebra.Cmp, d, "0.1000000000000000000000000000001", "0.1"), "1"},
		{of(algebra.Cmp, f, "1", "2"), "-1"},
		{of(algebra.Cmp, s, "null", `""`), "-1"},
		{of(algebra.Cmp, s, "null", "null"), "0"},

		{of(algebra.Eq, j, `{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`), "true"},
		{of(algebra.Eq, j, "[1,2]", "[2,1]"), "false"},
		{of(algebra.Eq, j, "1", "1.0"), "true"},
		{of(algebra.Eq, j, "9007199254740993", "9007199254740992"), "false"},
		{of(algebra.Ne, j, `"1"`, "1"), "true"},
		{of(algebra.Lt, j, "99", `"1"`), "true"},
		{of(algebra.Lt, j, `"x"`, "{}"), "true"},
		{of(algebra.Lt, j, "{}", "[]"), "true"},
		{of(algebra.Lt, j, "[]", "false"), "true"},
		{of(algebra.Lt, j, "null", "0"), "true"},
		{of(algebra.Lt, j, "[1]", "[2]"), "false"},
		{of(algebra.Gt, j, "[1]", "[2]"), "false"},
		{of(algebra.Gte, j, "[1]", "[2]"), "false"},
		{of(algebra.Lte, j, "[1]", "[2]"), "false"},
		{of(algebra.Lte, j, `{"a":1}`, `{"a":1.0}`), "true"},

		{of(algebra.IsNull, i, "null"), "true"},
		{of(algebra.IsNull, i, "0"), "false"},
		{of(algebra.And, b, "true", "null"), "false"},
		{of(algebra.And, b, "true", "true", "true"), "true"},
		{of(algebra.Or, b, "null", "true"), "true"},
		{of(algebra.Or, b, "null", "false"), "false"},
		{of(algebra.Not, b, "null"), "true"},
		{of(algebra.Not, b, "true"), "false"},
		{of(algebra.Truth, j, "null"), "false"},
		{of(algebra.Truth, j, "false"), "false"},
		{of(algebra.Truth, j, "0.0"), "false"},
		{of(algebra.Truth, j, `""`), "true"},
		{of(algebra.Truth, j, "[]"), "true"},
		{of(algebra.IfNull, i, "null", "null", "3", "4"), "3"},
		{of(algebra.IfNull, i, "null"), "null"},
		{algebra.Case{If: []algebra.Expr{lit("null", b), lit("true", b), lit("true", b)},
			Then: []algebra.Expr{lit("1", i), lit("2", i), lit("3", i)}, Else: lit("4", i), T: i}, "2"},
		{algebra.Case{If: []algebra.Expr{lit("false", b)}, Then: []algebra.Expr{lit("1", i)}, Else: lit("4", i), T: i}, "4"},
		{algebra.Case{If: []algebra.Expr{lit("false", b)}, Then: []algebra.Expr{lit("1", i)}, T: i}, "null"},
	})
}

func TestText(t *testing.T) {
	matches := func(x, pattern, options string) algebra.Expr {
		return algebra.Matches{X: lit(x, schema.String), Regex: query.Regex{Pattern: pattern, Options: options}}
	}
	evaluate(t, []evaluation{
		{on(algebra.Concat, `"a"`, `"𝒳"`, `"c"`), `"a𝒳c"`},
		{on(algebra.Concat, `"a"`, "null"), "null"},
		{on(algebra.Substr, `"a𝒳c😀e"`, "1", "2"), `"𝒳c"`},
		{on(algebra.Substr, `"a𝒳c😀e"`, "3", "-1"), `"😀e"`},
		{on(algebra.Substr, `"abc"`, "3", "1"), `""`},
		{on(algebra.Substr, `"abc"`, "99", "9223372036854775807"), `""`},
		{on(algebra.Substr, `"abc"`, "0", "0"), `""`},
		{on(algebra.Substr, `"abc"`, "-1", "1"), "null"},
		{on(algebra.Lower, `"ÀBC \u03a3\u0130\u212a"`), "\"Àbc \u03a3\u0130\u212a\""},
		{on(algebra.Lower, `"AZ@["`), `"az@["`},
		{on(algebra.Upper, "\"az`{\""), "\"AZ`{\""},
		{on(algebra.Upper, `"straße é"`), `"STRAßE é"`},
		{on(algebra.Trim, `"xyaxyx"`, `"yx"`), `"a"`},
		{on(algebra.TrimLeft, `"  a "`, `" "`), `"a "`},
		{on(algebra.TrimRight, `"a😀😀"`, `"😀"`), `"a"`},
		{on(algebra.Trim, `"aaa"`, `"a"`), `""`},
		{on(algebra.Trim, `" a "`, `""`), `" a "`},
		{on(algebra.Split, `"a,b,,c"`, `","`), `["a","b","","c"]`},
		{on(algebra.Split, `""`, `","`), `[""]`},
		{on(algebra.Split, `"abc"`, `"abc"`), `["",""]`},
		{on(algebra.Split, "null", `","`), "null"},
		{on(algebra.Length, `"a𝒳e\u0301"`), "4"},
		{on(algebra.Length, `""`), "0"},
		{on(algebra.IndexOf, `"😀b😀c"`, `"c"`), "3"},
		{on(algebra.IndexOf, `"abc"`, `"x"`), "-1"},
		{on(algebra.IndexOf, `"abc"`, `""`), "0"},
		{on(algebra.ReplaceAll, `"aaa"`, `"aa"`, `"b"`), `"ba"`},
		{on(algebra.ReplaceAll, `"abc"`, `""`, `"-"`), `"abc"`},
		{on(algebra.ReplaceAll, `"a.b"`, `"."`, "null"), "null"},
		{matches(`"Apple"`, "^app", "i"), "true"},
		{matches(`"Apple"`, "^app", ""), "false"},
		{matches("null", ".*", ""), "false"},
	})
}

func TestLists(t *testing.T) {
	evaluate(t, []evaluation{
		{on(algebra.Size, "[1,null]"), "2"},
		{on(algebra.Size, "{}"), "null"},
		{on(algebra.ElemAt, "[1,2,3]", "0"), "1"},
		{on(algebra.ElemAt, "[1,2,3]", "-1"), "3"},
		{on(algebra.ElemAt, "[1,2,3]", "3"), "null"},
		{on(algebra.ElemAt, "[1,2,3]", "-4"), "null"},
		{on(algebra.ElemAt, "[1,2,3]", "-9223372036854775808"), "null"},
		{on(algebra.ElemAt, `{"0":1}`, "0"), "null"},
		{of(algebra.InList, schema.JSON, "1", "[2,1.0]"), "true"},
		{of(algebra.InList, schema.JSON, `{"a":1,"b":2}`, `[{"b":2,"a":1}]`), "true"},
		{of(algebra.InList, schema.JSON, "null", "[null]"), "true"},
		{of(algebra.InList, schema.JSON, "1", "[[1]]"), "false"},
		{of(algebra.InList, schema.JSON, "1", "1"), "false"},
		{of(algebra.InList, schema.JSON, "1", "null"), "false"},
		{on(algebra.SliceList, "[1,2,3,4]", "1", "2"), "[2,3]"},
		{on(algebra.SliceList, "[1,2,3,4]", "-2", "9223372036854775807"), "[3,4]"},
		{on(algebra.SliceList, "[1,2,3,4]", "-9", "2"), "[1,2]"},
		{on(algebra.SliceList, "[1,2]", "2", "1"), "[]"},
		{on(algebra.SliceList, "[1,2]", "0", "0"), "null"},
		{on(algebra.SliceList, "{}", "0", "1"), "null"},
		{on(algebra.IsList, "[]"), "true"},
		{on(algebra.IsList, "null"), "false"},
		{on(algebra.JoinLists, "[1]", "[]", "[[2]]"), "[1,[2]]"},
		{on(algebra.JoinLists, "[1]", "{}"), "null"},
		{on(algebra.JoinLists, "[1]", "null"), "null"},
		{on(algebra.SumList, `[0.1,0.2,"5",null,true]`), "0.3f"}, // exact, not 0.30000000000000004
		{on(algebra.SumList, "[]"), "0f"},
		{on(algebra.SumList, "[1e308,1e308]"), "null"},
		{on(algebra.SumList, "[9007199254740993]"), "9007199254740992f"},
		{on(algebra.SumList, "{}"), "null"},
		{on(algebra.AvgList, "[1,2]"), "1.5f"},
		{on(algebra.AvgList, `["x"]`), "null"},
		{on(algebra.MinList, `["a",3,2.5]`), "2.5f"},
		{on(algebra.MaxList, `["a",3,2.5]`), "3f"},
		{on(algebra.MaxList, `["a"]`), "null"},
		{on(algebra.TypeOf, "null"), `"null"`},
		{of(algebra.TypeOf, schema.JSON, "1.5"), `"number"`},
		{of(algebra.TypeOf, schema.JSON, `"x"`), `"string"`},
		{on(algebra.TypeOf, "true"), `"bool"`},
		{on(algebra.TypeOf, "{}"), `"object"`},
		{on(algebra.TypeOf, "[]"), `"array"`},
	})
}

// TestUnknown is about Programs that say what nothing knows: the oracle refuses them.
func TestUnknown(t *testing.T) {
	now := lit(`"2026-01-01"`, schema.Date)
	for _, e := range []algebra.Expr{
		algebra.Element{}, algebra.Element{Up: -1}, algebra.Before{Up: 1}, algebra.Outer{Up: 1}, nil,
		on(algebra.TypeOf+1, "1"), algebra.Matches{X: lit(`"x"`, schema.String), Regex: query.Regex{Pattern: "("}},
		algebra.DatePart{X: now, Part: "era"}, algebra.DatePart{X: now, Part: "year", Zone: "Europe/Nowhere"}, algebra.DateTrunc{X: now, Unit: "era"},
		algebra.DateText{X: now, Format: "%Q"}, algebra.DateText{X: now, Format: "%"}, algebra.DateDiff{From: now, To: now, Unit: "era"},
		algebra.DateShift{X: now, Amount: lit("1", schema.Integer), Unit: "era"},
	} {
		r := &reading{ctx: t.Context()}
		if v := (&place{reading: r}).eval(e); problem.CodeOf(r.err) != problem.Internal {
			t.Errorf("%#v = %s, %v", e, shown(v), r.err)
		}
	}
}
