package interpret

import (
	"math"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

func TestConvert(t *testing.T) {
	const i, f, d, s, j, b, date, day = schema.Integer, schema.Double, schema.Decimal, schema.String, schema.JSON, schema.Boolean, schema.Date, schema.Day
	to := func(t schema.Type, text string, from schema.Type) plan.Expr {
		return plan.Convert{X: lit(text, from), T: t}
	}
	double := func(x float64, t schema.Type) plan.Expr {
		return plan.Convert{X: plan.Const{Value: value.OfFloat(x), T: f}, T: t}
	}
	evaluate(t, []evaluation{
		{to(i, "1.9", f), "1"}, {to(i, "-1.9", d), "-1"}, {to(i, "1e19", f), "null"}, {to(i, "9223372036854775807.9", d), "9223372036854775807"},
		{double(math.NaN(), i), "null"}, {double(math.Inf(1), i), "null"},
		{to(i, `"+007"`, s), "7"}, {to(i, `"-9223372036854775808"`, s), "-9223372036854775808"}, {to(i, `"9223372036854775808"`, s), "null"},
		{to(i, `"1.0"`, s), "null"}, {to(i, `" 1"`, s), "null"}, {to(i, `"1e3"`, s), "null"}, {to(i, `""`, s), "null"}, {to(i, `"٣"`, s), "null"},
		{to(i, "true", b), "1"}, {to(i, "false", b), "0"}, {to(i, "null", b), "null"},
		{to(i, `"1969-12-31T23:59:59.9985Z"`, date), "-1"}, {to(i, `"1970-01-02"`, day), "86400000"},
		{to(i, "1.99", j), "1"}, {to(i, `"12"`, j), "12"}, {to(i, "true", j), "1"}, {to(i, "[1]", j), "null"}, {to(i, "{}", j), "null"},

		{to(f, "9007199254740993", i), "9007199254740992f"}, {to(f, `"-.5e1"`, s), "-5f"}, {to(f, `"+01.50"`, s), "1.5f"}, {to(f, `"5."`, s), "null"},
		{to(f, `"1e400"`, s), "null"}, {to(f, `"1e-400"`, s), "0f"}, {to(f, `"-0"`, s), "0f"}, {to(f, `"Infinity"`, s), "null"}, {to(f, `"0x10"`, s), "null"},
		{to(f, `"1e-99999"`, s), "0f"}, {to(f, `"1_0"`, s), "null"}, {to(f, `"1970-01-01T00:00:01.5Z"`, date), "1500f"}, {to(f, "1e400", j), "null"},
		{to(f, "0.1", d), "0.1f"},

		{to(d, "0.1", f), "0.1d"}, {to(d, "1e300", f), "1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000d"},
		{to(d, `"123456789012345678901234567890.10"`, s), "123456789012345678901234567890.1d"}, {to(d, `"12e-3"`, s), "0.012d"},
		{to(d, `"1e1001"`, s), "null"}, {to(d, `"0e-1000"`, s), "0d"}, {double(math.NaN(), d), "null"}, {to(d, "0.12345678901234567891", j), "0.12345678901234567891d"},

		{to(s, "-7", i), `"-7"`}, {to(s, "1.50", d), `"1.5"`}, {to(s, "100.0", d), `"100"`}, {to(s, "0.1", f), `"0.1"`}, {to(s, "1e21", f), `"1e+21"`},
		{to(s, "100000", f), `"100000"`}, {to(s, "1e-7", f), `"1e-07"`}, {double(math.Inf(-1), s), `"-Infinity"`}, {to(s, "true", b), `"true"`},
		{to(s, `"2026-01-31T08:00:00.120Z"`, date), `"2026-01-31T08:00:00.12Z"`}, {to(s, `"2026-01-31"`, day), `"2026-01-31"`},
		{to(s, `"AAE="`, schema.Bytes), "null"}, {to(s, "1.0", j), `"1"`}, {to(s, "1e3", j), `"1000"`}, {to(s, "0.10", j), `"0.1"`},
		{to(s, "123456789012345678901", j), `"123456789012345680000"`}, {to(s, "[]", j), "null"}, {to(s, `"x"`, j), `"x"`},

		{to(b, "0", i), "false"}, {to(b, "-1", i), "true"}, {to(b, "0.00", d), "false"}, {double(math.NaN(), b), "true"}, {to(b, `""`, s), "true"},
		{to(b, `"false"`, s), "true"}, {to(b, `"1970-01-01"`, day), "true"}, {to(b, "null", s), "null"}, {to(b, "[]", j), "null"}, {to(b, "0.0", j), "false"},
		{to(b, `"AAE="`, schema.Bytes), "null"},

		{to(date, `"2024-02-29"`, day), "2024-02-29T00:00:00Z"}, {to(date, `"2026-01-31 08:00:00+01:00"`, s), "2026-01-31T07:00:00Z"},
		{to(date, `"2026-02-30"`, s), "null"}, {to(date, `"0000-12-31"`, s), "null"}, {to(date, "-1", i), "1969-12-31T23:59:59.999Z"},
		{to(date, "1500.9", f), "1970-01-01T00:00:01.5Z"}, {to(date, "-0.9", d), "1970-01-01T00:00:00Z"}, {to(date, "9223372036854775807", i), "null"},
		{to(date, "253402300799999", i), "9999-12-31T23:59:59.999Z"}, {to(date, "253402300800000", i), "null"}, {to(date, "-62135596800001", i), "null"},
		{to(date, `"2026-01-31"`, j), "2026-01-31T00:00:00Z"}, {to(date, "true", b), "null"},
	})
}

func TestJSON(t *testing.T) {
	const i, f, d, s, j, date = schema.Integer, schema.Double, schema.Decimal, schema.String, schema.JSON, schema.Date
	as := func(t schema.Type, text string) plan.Expr { return plan.As{X: lit(text, j), T: t} }
	json := func(text string, t schema.Type) plan.Expr { return plan.ToJSON{X: lit(text, t)} }
	widen := func(t schema.Type, text string, from schema.Type) plan.Expr {
		return plan.Widen{X: lit(text, from), T: t}
	}
	part := func(text, path string) plan.Expr {
		return plan.Part{X: lit(text, j), Path: query.ParsePath(path)}
	}
	set := func(text, path, v string) plan.Expr {
		return plan.SetPart{X: lit(text, j), Path: query.ParsePath(path), V: lit(v, j)}
	}
	evaluate(t, []evaluation{
		{as(s, `"x"`), `"x"`}, {as(s, "1"), "null"}, {as(i, "1.0"), "1"}, {as(i, "1.5"), "null"}, {as(i, `"1"`), "null"}, {as(i, "9223372036854775808"), "null"},
		{as(i, "9007199254740993"), "9007199254740993"}, {as(f, "9007199254740993"), "9007199254740992f"}, {as(f, "1e400"), "null"}, {as(f, "true"), "null"},
		{as(d, "123456789012345678901234567890"), "123456789012345678901234567890d"}, {as(d, "7"), "7d"}, {as(schema.Boolean, "false"), "false"},
		{as(schema.Boolean, "0"), "null"}, {as(date, `"2026-01-31T08:00"`), "2026-01-31T08:00:00Z"}, {as(date, "0"), "null"}, {as(date, `"soon"`), "null"},
		{as(s, "null"), "null"}, {as(s, "[]"), "null"},
		{json("1", i), "1"}, {json("2.50", d), "2.5d"}, {json("0.1", f), "0.1d"}, {json("5", f), "5"}, {json("null", s), "null"}, {json("true", schema.Boolean), "true"},
		{json(`"2026-01-31T08:00:00.5Z"`, date), `"2026-01-31T08:00:00.5Z"`}, {json(`"2026-01-31"`, schema.Day), `"2026-01-31"`}, {json(`"AAE="`, schema.Bytes), `"AAE="`},
		{plan.ToJSON{X: plan.Const{Value: value.OfFloat(math.Inf(1)), T: f}}, `"Infinity"`},
		{plan.Apply{Op: plan.Eq, T: schema.Boolean, Args: []plan.Expr{json("0.1", f), lit("0.10000000000000000001", j)}}, "false"},
		{widen(d, "9223372036854775807", i), "9223372036854775807d"}, {widen(f, "9007199254740993", i), "9007199254740992f"}, {widen(f, "0.1", d), "0.1f"},
		{widen(date, `"2026-01-31"`, schema.Day), "2026-01-31T00:00:00Z"}, {widen(s, `"6ba7b811-9dad-11d1-80b4-00c04fd430c8"`, schema.UUID), `"6ba7b811-9dad-11d1-80b4-00c04fd430c8"`},
		{part(`{"a":{"b":1}}`, "a.b"), "1"}, {part(`{"a":[{"b":1}]}`, "a.b"), "null"}, {part(`{"a":1}`, "b"), "null"}, {part("null", "a"), "null"},
		{part(`[1]`, "0"), "null"}, {part(`{"a":null}`, "a"), "null"},
		{set(`{"a":{"b":1},"c":2}`, "a.b", "[3]"), `{"a":{"b":[3]},"c":2}`}, {set(`{"a":{}}`, "a.b", "3"), `{"a":{"b":3}}`}, {set(`{"a":1}`, "a.b", "3"), `{"a":1}`},
		{set(`{}`, "a.b", "3"), `{}`}, {set(`[1]`, "a", "3"), `[1]`}, {set(`{"a":1}`, "a", "null"), `{"a":null}`}, {set("null", "a", "1"), "null"},
		{plan.Object{Names: []string{"x", "y"}, Values: []plan.Expr{lit("1", j), lit("null", j)}}, `{"x":1,"y":null}`},
		{plan.List{Elements: []plan.Expr{lit("null", j), lit(`"a"`, j)}}, `[null,"a"]`}, {plan.List{}, "[]"},
	})
}

func TestOver(t *testing.T) {
	const i, d, j, b = schema.Integer, schema.Decimal, schema.JSON, schema.Boolean
	number := func(e plan.Expr) plan.Expr { return plan.As{X: e, T: d} }
	plus := func(x, y plan.Expr) plan.Expr {
		return plan.ToJSON{X: plan.Apply{Op: plan.Add, T: d, Args: []plan.Expr{number(x), number(y)}}}
	}
	over := func(do plan.Each, input string, body plan.Expr) plan.Over {
		return plan.Over{Do: do, Input: lit(input, j), Body: body}
	}
	above := func(n string) plan.Expr {
		return plan.Apply{Op: plan.Gt, T: b, Args: []plan.Expr{number(plan.Element{}), lit(n, d)}}
	}
	limited := func(n string) plan.Over {
		o := over(plan.SelectEach, "[5,1,6,7]", above("2"))
		o.Limit = lit(n, i)
		return o
	}
	reduce := func(input string, body plan.Expr) plan.Over {
		o := over(plan.ReduceEach, input, body)
		o.Initial = lit("10", j)
		return o
	}
	inner := plan.Over{Do: plan.MapEach, Input: plan.Element{}, Body: plan.List{Elements: []plan.Expr{plan.Element{}, plan.Element{Up: 1}}}}
	mapInReduce := plan.Over{Do: plan.MapEach, Input: plan.Element{}, Body: plus(plan.Element{}, plan.Before{Up: 1})}
	evaluate(t, []evaluation{
		{over(plan.MapEach, "[1,2]", plus(plan.Element{}, plan.Element{})), "[2,4]"},
		{over(plan.MapEach, `[1,"x"]`, plus(plan.Element{}, lit("1", j))), "[2,null]"},
		{over(plan.MapEach, "[]", plan.Element{}), "[]"},
		{over(plan.MapEach, "{}", plan.Element{}), "null"},
		{over(plan.MapEach, "[[1],[2,3]]", inner), "[[[1,[1]]],[[2,[2,3]],[3,[2,3]]]]"},
		{over(plan.SelectEach, `[5,1,"x",6]`, above("2")), "[5,6]"},
		{over(plan.SelectEach, "null", above("2")), "null"},
		{limited("2"), "[5,6]"}, {limited("9"), "[5,6,7]"}, {limited("0"), "null"}, {limited("null"), "null"},
		{reduce("[1,2,3]", plus(plan.Before{}, plan.Element{})), "16d"},
		{reduce("[]", lit("0", j)), "10"},
		{reduce(`[1,"x",2]`, plus(plan.Before{}, plan.Element{})), "null"},
		{reduce("1", plan.Element{}), "null"},
		{reduce("[[1,2]]", mapInReduce), "[11,12]"},
	})
}

func TestDigits(t *testing.T) {
	for _, tt := range []struct{ in, out string }{
		{"1e3", "1000"}, {"-0", "0"}, {"-0.010", "-0.01"}, {"12.5e-3", "0.0125"}, {"1e-30", "0.000000000000000000000000000001"}, {"5e2", "500"},
	} {
		if d, ok := NumberText(tt.in); !ok || d.String() != tt.out {
			t.Errorf("%s is written %s, want %s", tt.in, d, tt.out)
		}
	}
}
