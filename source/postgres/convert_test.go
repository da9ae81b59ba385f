package postgres_test

import (
	"math"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
)

// moreAnswers are the expected values of conversions, dates and lists.
var moreAnswers = []answer{
	{to(text("9223372036854775808"), i), "null"}, {to(text("+007"), i), "7"}, {to(text("7\n"), i), "null"}, {to(text("4.0"), i), "null"},
	{to(text("1e400"), d), "null"}, {to(text("1e-999"), d), "0"}, {to(text(".5e1"), d), "5"}, {to(text("1."), d), "null"}, {to(text("0x1"), d), "null"}, {to(text("NaN"), d), "null"},
	{to(text("Infinity"), m), "null"}, {to(text("1e999999"), m), "null"}, {to(text("-1.10"), m), "-1.10"},
	{to(real(1e21), s), "1e+21"}, {to(real(1e20), s), "100000000000000000000"}, {to(real(1.5e-7), s), "1.5e-07"}, {to(real(0.000001), s), "0.000001"}, {to(real(math.NaN()), s), "NaN"},
	{to(real(9.3e18), i), "null"}, {to(real(-1.9), i), "-1"}, {to(real(math.Inf(1)), i), "null"}, {to(real(math.NaN()), m), "null"}, {to(real(0.1), m), "0.1"},
	{to(exact("1.50"), s), "1.5"}, {to(exact("1e400"), d), "null"}, {to(exact("1e-400"), d), "0"}, {to(exact("99999999999999999999"), i), "null"}, {to(exact("-2.9"), i), "-2"},
	{to(text("2026-02-31"), at), "null"}, {to(text("2024-02-29"), at), "2024-02-29 00:00:00"}, {to(text("1900-02-29"), at), "null"}, {to(text("0000-01-01"), at), "null"}, {to(text("2026-13-01"), at), "null"},
	{to(text("2026-02-28 1:30:05,5+05:30"), at), "2026-02-27 20:00:05.5"}, {to(text("2026-02-28T24:00"), at), "null"}, {to(text("2026-02-28T10:60"), at), "null"}, {to(text("infinity"), at), "null"},
	{to(text("2026-01-31T10:00:00.123456789Z"), at), "2026-01-31 10:00:00.123456"}, {to(text("9999-12-31T23:59:59-01:00"), at), "null"}, {to(text("2026-01-31T10:00:00+99:00"), at), "null"},
	{to(number(253402300800000), at), "null"}, {to(number(253402300799999), at), "9999-12-31 23:59:59.999"}, {to(number(-1), at), "1969-12-31 23:59:59.999"}, {to(number(least), at), "null"},
	{to(date("1969-12-31T23:59:59.9985Z"), i), "-1"}, {to(date("2026-01-31T10:00:00.50Z"), s), "2026-01-31T10:00:00.5Z"}, {to(date("0001-01-01T00:00:00Z"), s), "0001-01-01T00:00:00Z"},
	{to(truth(true), s), "true"}, {to(truth(true), d), "1"}, {to(text("no"), b), "true"}, {to(real(0), b), "false"},
	{to(document("1e3"), i), "1000"}, {to(document(`"12"`), i), "12"}, {to(document("1e400"), i), "null"}, {to(document("[1]"), i), "null"}, {to(document("true"), s), "true"}, {to(document("1.0"), s), "1"}, {to(document("0.50"), s), "0.5"},
	{to(document(`"2026-01-31"`), at), "2026-01-31 00:00:00"}, {to(document("0"), b), "false"}, {to(document("{}"), b), "null"},
	{plan.As{X: document("1.0"), T: i}, "1"}, {plan.As{X: document("1e-400"), T: i}, "null"}, {plan.As{X: document("1.7976931348623157e308"), T: d}, "1.7976931348623157e+308"},
	{plan.As{X: document("1e309"), T: d}, "null"}, {plan.As{X: document(`"x"`), T: d}, "null"}, {plan.As{X: document("1"), T: s}, "null"}, {plan.As{X: document(`"true"`), T: b}, "null"},
	{plan.ToJSON{X: real(math.NaN())}, `"NaN"`}, {plan.ToJSON{X: date("2026-01-31T10:00:00.120Z")}, `"2026-01-31T10:00:00.12Z"`}, {plan.ToJSON{X: null(s)}, "null"},

	{plan.DatePart{X: date("2027-01-01T00:00:00Z"), Part: "isoWeekYear"}, "2026"}, {plan.DatePart{X: date("9999-12-31T23:00:00Z"), Part: "year", Zone: "+05:30"}, "null"},
	{plan.DatePart{X: date("2026-03-29T01:00:00Z"), Part: "hour", Zone: "Europe/Oslo"}, "3"}, {plan.DatePart{X: date("2026-01-31T10:20:30.456Z"), Part: "millisecond"}, "456"},
	{plan.DatePart{X: date("2026-02-01T00:00:00Z"), Part: "dayOfWeek"}, "1"}, {plan.DatePart{X: date("2026-02-01T00:00:00Z"), Part: "isoDayOfWeek"}, "7"},
	{plan.DateTrunc{X: date("2026-10-25T12:00:00Z"), Unit: "day", Zone: "Europe/Oslo"}, "2026-10-24 22:00:00"}, {plan.DateTrunc{X: date("0001-01-01T00:00:00Z"), Unit: "week"}, "null"},
	{plan.DateTrunc{X: date("2026-10-25T01:30:00Z"), Unit: "hour", Zone: "Europe/Oslo"}, "2026-10-25 01:00:00"}, {plan.DateTrunc{X: date("2026-01-31T10:10:00Z"), Unit: "hour", Zone: "+05:30"}, "2026-01-31 09:30:00"},
	{plan.DateTrunc{X: date("2026-01-31T10:00:00Z"), Unit: "week", WeekStart: 1}, "2026-01-26 00:00:00"}, {plan.DateTrunc{X: date("2026-01-31T10:00:00Z"), Unit: "week", WeekStart: 6}, "2026-01-31 00:00:00"},
	{plan.DateShift{X: date("2026-03-28T01:30:00Z"), Amount: number(1), Unit: "day", Zone: "Europe/Oslo"}, "2026-03-29 01:30:00"},
	{plan.DateShift{X: date("2026-10-24T00:30:00Z"), Amount: number(1), Unit: "day", Zone: "Europe/Oslo"}, "2026-10-25 00:30:00"}, // 02:30 occurs twice in this night, and the result is the first one
	{plan.DateShift{X: date("2026-01-31T00:00:00Z"), Amount: number(1), Unit: "month"}, "2026-02-28 00:00:00"}, {plan.DateShift{X: date("2026-01-31T00:00:00Z"), Amount: number(least), Unit: "year"}, "null"},
	{plan.DateShift{X: date("2026-01-31T00:00:00Z"), Amount: number(most), Unit: "millisecond"}, "null"}, {plan.DateShift{X: date("0001-01-31T00:00:00Z"), Amount: number(-1), Unit: "month"}, "null"},
	{plan.DateShift{X: date("0001-01-01T00:00:00Z"), Amount: number(315537897599999), Unit: "millisecond"}, "9999-12-31 23:59:59.999"},
	{plan.DateDiff{From: date("2026-10-25T00:30:00Z"), To: date("2026-10-25T02:30:00Z"), Unit: "hour", Zone: "Europe/Oslo"}, "2"}, {plan.DateDiff{From: date("2026-02-01T00:00:00Z"), To: date("2025-12-31T00:00:00Z"), Unit: "year"}, "-1"},
	{plan.DateDiff{From: date("2026-01-31T00:00:00Z"), To: date("2026-02-01T00:00:00Z"), Unit: "week"}, "1"}, {plan.DateDiff{From: date("2026-01-31T00:00:00Z"), To: date("2026-02-01T00:00:00Z"), Unit: "week", WeekStart: 1}, "0"},
	{plan.DateText{X: date("2026-01-31T10:20:30.123456Z"), Format: `%Y'%%"\ %L %G-W%V-%u %j%d%d day`, Zone: "+05:30"}, `2026'%"\ 123 2026-W05-6 0313131 day`},

	{plan.Part{X: document(`{"a\"b":{"c":null,"d":[1]}}`), Path: query.Path{`a"b`, "d"}}, "[1]"}, {plan.Part{X: document(`[{"a":1}]`), Path: query.Path{"a"}}, "null"}, {plan.Part{X: document(`[7]`), Path: query.Path{"0"}}, "null"},
	{plan.SetPart{X: document(`{"a":{}}`), Path: query.Path{"a", "b"}, V: null(j)}, `{"a": {"b": null}}`}, {plan.SetPart{X: document(`{"a":[1]}`), Path: query.Path{"a", "0"}, V: document("2")}, `{"a": [1]}`},
	{plan.Object{}, "{}"}, {plan.List{}, "[]"}, {plan.List{Elements: []plan.Expr{document("true"), null(j)}}, `[true, null]`},
	{op(plan.ElemAt, j, list, number(-1)), `{"x": [1]}`}, {op(plan.ElemAt, j, list, number(1)), "null"}, {op(plan.ElemAt, j, list, number(least)), "null"}, {op(plan.ElemAt, j, list, number(most)), "null"},
	{op(plan.InList, b, null(j), list), "true"}, {op(plan.InList, b, document("1"), list), "true"}, {op(plan.InList, b, document("1"), document("1")), "false"},
	{op(plan.SliceList, j, list, number(-2), number(1)), "[1.0]"}, {op(plan.SliceList, j, list, number(most), number(most)), "[]"}, {op(plan.SliceList, j, list, number(least), number(1)), "[3]"},
	{op(plan.SliceList, j, list, number(0), number(0)), "null"}, {op(plan.SliceList, j, list, null(i), number(1)), "null"}, {op(plan.Size, i, document("{}")), "null"},
	{op(plan.SumList, d, list), "4"}, {op(plan.SumList, d, document("[]")), "0"}, {op(plan.SumList, d, document("[1e308,1e308]")), "null"}, {op(plan.MinList, d, list), "1"}, {op(plan.AvgList, d, document("[]")), "null"},
	{op(plan.JoinLists, j, document("[1]"), document(`[["x"],null]`)), `[1, ["x"], null]`}, {op(plan.JoinLists, j, list, document("1")), "null"},
	{op(plan.TypeOf, s, document("true")), "bool"}, {op(plan.TypeOf, s, null(j)), "null"},
	{plan.Over{Do: plan.MapEach, Input: document("[1,2]"), Body: plan.List{Elements: []plan.Expr{plan.Element{}}}}, `[[1], [2]]`},
	{plan.Over{Do: plan.MapEach, Input: document("[1,2]"), Body: document("0")}, `[0, 0]`}, {plan.Over{Do: plan.MapEach, Input: document("1"), Body: plan.Element{}}, "null"},
	{plan.Over{Do: plan.SelectEach, Input: list, Limit: number(1), Body: op(plan.Gte, b, plan.Element{}, document("3"))}, `[3]`}, {plan.Over{Do: plan.SelectEach, Input: list, Limit: number(-1), Body: truth(true)}, "null"},
	{plan.Over{Do: plan.ReduceEach, Input: document("[1,2,3]"), Initial: document("[]"), Body: op(plan.JoinLists, j, plan.List{Elements: []plan.Expr{plan.Element{}}}, plan.Before{})}, "[3, 2, 1]"},
}

// TestExpressions evaluates each of the expressions on a server. None may raise an error.
func TestExpressions(t *testing.T) {
	conn := connect(t)
	for _, tt := range append(answers, moreAnswers...) {
		p := &place{}
		text, err := sqlgen.WriteExpr(postgres.Dialect(), p, tt.e)
		if err != nil {
			t.Errorf("%#v: %v", tt.e, err)
			continue
		}
		sql, args := p.resolve("SELECT (" + text + ")::text")
		if got := ask(t, conn, sql, args); got != tt.want {
			t.Errorf("%s %v\n got %s\nwant %s", sql, args, got, tt.want)
		}
	}
}

// TestStored tests the values that expressions see for values that only PostgreSQL can store.
func TestStored(t *testing.T) {
	conn := connect(t)
	for _, tt := range []struct {
		stored string
		f      schema.Field
		want   string
	}{
		{"timestamptz 'infinity'", schema.Field{Type: at, Native: "timestamptz"}, "null"}, {"timestamp '-infinity'", schema.Field{Type: at, Native: "timestamp"}, "null"},
		{"timestamptz '2026-01-31 10:00+01'", schema.Field{Type: at, Native: "timestamptz"}, "2026-01-31 09:00:00"}, {"timestamp '0044-03-15 BC'", schema.Field{Type: at, Native: "timestamp"}, "null"},
		{"timestamptz '10000-01-01'", schema.Field{Type: at, Native: "timestamptz"}, "null"}, {"date 'infinity'", schema.Field{Type: schema.Day, Native: "date"}, "null"}, {"date '2026-01-31'", schema.Field{Type: schema.Day, Native: "date"}, "2026-01-31"},
		{"numeric 'NaN'", schema.Field{Type: m, Native: "numeric"}, "null"}, {"numeric '1e700'", schema.Field{Type: m, Native: "numeric"}, "null"}, {"numeric '1.50'", schema.Field{Type: m, Native: "numeric"}, "1.50"},
		{"float4 '0.1'", schema.Field{Type: d, Native: "float4"}, "0.1"}, {"int2 '7'", schema.Field{Type: i, Native: "int2"}, "7"},
		{`json '{"a":"\u0000"}'`, schema.Field{Type: j, Native: "json"}, "null"}, {`json '1e999999'`, schema.Field{Type: j, Native: "json"}, "null"}, {`json '{"a": 1}'`, schema.Field{Type: j, Native: "json"}, `{"a": 1}`},
		{`jsonb 'null'`, schema.Field{Type: j, Native: "jsonb"}, "null"}, {"ARRAY['a', NULL]", schema.Field{Type: schema.Array, Native: "text"}, `["a", null]`}, {"bpchar 'ab  '", schema.Field{Type: s, Native: "bpchar"}, "ab"},
	} {
		text := postgres.Dialect().StoredValue(&place{}, "v.x", &tt.f)
		if got := ask(t, conn, "SELECT ("+text+")::text FROM (SELECT "+tt.stored+" AS x) AS v", nil); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.stored, got, tt.want)
		}
	}
}
