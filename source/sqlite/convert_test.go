package sqlite_test

import (
	"math"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

func TestSQLiteConvert(t *testing.T) {
	to := func(x plan.Expr, t schema.Type) plan.Expr { return plan.Convert{X: x, T: t} }
	id := of(schema.UUID, value.OfString("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"))
	bytes := of(schema.Bytes, value.OfBytes("\x00\xff"))
	day := of(schema.Day, value.OfDay(86_400_000_000))
	check(t, []answer{
		{to(real(-1.9), schema.Integer), "-1"},
		{to(real(1e19), schema.Integer), "null"},
		{to(real(-9223372036854775808), schema.Integer), "-9223372036854775808"},
		{to(real(math.Inf(1)), schema.Integer), "null"},
		{to(exact("2.99"), schema.Integer), "2"},
		{to(text("+042"), schema.Integer), "42"},
		{to(text("4.0"), schema.Integer), "null"},
		{to(text("1_0"), schema.Integer), "null"},
		{to(text("9223372036854775808"), schema.Integer), "null"},
		{to(text(" 1"), schema.Integer), "null"},
		{to(truth(true), schema.Integer), "1"},
		{to(date("1970-01-01T00:00:01Z"), schema.Integer), "1000"},
		{to(day, schema.Integer), "86400000"},
		{to(null(schema.String), schema.Integer), "null"},
		{to(document(`1e3`), schema.Integer), "1000"},
		{to(document(`"12"`), schema.Integer), "12"},
		{to(document(`9223372036854775807.0`), schema.Integer), "9223372036854775807"},
		{to(document(`1e400`), schema.Integer), "null"},
		{to(document(`[1]`), schema.Integer), "null"},
		{to(document(`true`), schema.Integer), "1"},
		{to(text("+.5e1"), schema.Double), "5.0"},
		{to(text("007"), schema.Double), "7.0"},
		{to(text("1."), schema.Double), "null"},
		{to(text("1e"), schema.Double), "null"},
		{to(text("+-1"), schema.Double), "null"},
		{to(text("NaN"), schema.Double), "null"},
		{to(text("0x10"), schema.Double), "null"},
		{to(text("-0"), schema.Double), "0.0"},
		{to(text("1e999"), schema.Double), "null"},
		{to(text("1e-999"), schema.Double), "0.0"},
		{to(truth(true), schema.Double), "1.0"},
		{to(date("1970-01-01T00:00:01Z"), schema.Double), "1000.0"},
		{to(document(`1e400`), schema.Double), "null"},
		{to(text("1.10"), schema.Decimal), "1.1"},
		{to(text("9007199254740993"), schema.Decimal), "9007199254740993"},
		{to(text("1e1001"), schema.Decimal), "null"},
		{to(document(`0.5`), schema.Decimal), "0.5"},
		{to(number(smallest), schema.String), "'-9223372036854775808'"},
		{to(real(1e21), schema.String), "'1e+21'"},
		{to(real(0.1), schema.String), "'0.1'"},
		{to(real(math.Inf(-1)), schema.String), "'-Infinity'"},
		{to(exact("1e21"), schema.String), "'1000000000000000000000'"},
		{to(exact("-0.050"), schema.String), "'-0.05'"},
		{to(truth(false), schema.String), "'false'"},
		{to(date("2026-01-31T10:00:00.5Z"), schema.String), "'2026-01-31T10:00:00.5Z'"},
		{to(day, schema.String), "'1970-01-02'"},
		{to(id, schema.String), "'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'"},
		{to(bytes, schema.String), "null"},
		{to(document(`1.50`), schema.String), "'1.5'"},
		{to(document(`12345678901234567890`), schema.String), "'12345678901234567000'"},
		{to(document(`"a\"😀"`), schema.String), `'a"😀'`},
		{to(document(`{"a":1}`), schema.String), "null"},
		{to(real(0), schema.Boolean), "0"},
		{to(text("false"), schema.Boolean), "1"},
		{to(number(0), schema.Boolean), "0"},
		{to(exact("0.1"), schema.Boolean), "1"},
		{to(date("1970-01-01"), schema.Boolean), "1"},
		{to(id, schema.Boolean), "1"},
		{to(bytes, schema.Boolean), "null"},
		{to(null(schema.Date), schema.Boolean), "null"},
		{to(document(`0.0`), schema.Boolean), "0"},
		{to(text("2026-02-31"), schema.Date), "null"},
		{to(text("2026-01-31T10:00:00.1234567+02:00"), schema.Date), "1769846400123"},
		{to(text("0000-12-31"), schema.Date), "null"},
		{to(text("9999-12-31T23:59:59-01:00"), schema.Date), "null"},
		{to(day, schema.Date), "86400000"},
		{to(number(253402300800000), schema.Date), "null"},
		{to(real(-1.9), schema.Date), "-1"},
		{to(exact("1.9"), schema.Date), "1"},
		{to(truth(true), schema.Date), "null"},
		{to(document(`"2026-01-31"`), schema.Date), "1769817600000"},
		{to(document(`1e3`), schema.Date), "1000"},
		{plan.Widen{X: number(1<<53 + 1), T: schema.Double}, "9.007199254740992e+15"},
		{plan.Widen{X: number(biggest), T: schema.Decimal}, "9223372036854775807"},
		{plan.Widen{X: day, T: schema.Date}, "86400000"},
		{plan.Widen{X: id, T: schema.String}, "'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'"},
	})
}

func TestSQLiteAs(t *testing.T) {
	as := func(x plan.Expr, t schema.Type) plan.Expr { return plan.As{X: x, T: t} }
	check(t, []answer{
		{as(document(`"a\n"`), schema.String), "'a\n'"},
		{as(document(`1`), schema.String), "null"},
		{as(document(`2.0`), schema.Integer), "2"},
		{as(document(`2.5`), schema.Integer), "null"},
		{as(document(`"2"`), schema.Integer), "null"},
		{as(document(`9223372036854775808`), schema.Integer), "null"},
		{as(document(`3`), schema.Double), "3.0"},
		{as(document(`-0.0`), schema.Double), "0.0"},
		{as(document(`1e999`), schema.Double), "null"},
		{as(document(`3`), schema.Decimal), "3"},
		{as(document(`0.30`), schema.Decimal), "0.3"},
		{as(document(`true`), schema.Boolean), "1"},
		{as(document(`1`), schema.Boolean), "null"},
		{as(document(`"2026-01-31T00:00:00Z"`), schema.Date), "1769817600000"},
		{as(document(`"soon"`), schema.Date), "null"},
		{as(document(`1769817600000`), schema.Date), "null"},
		{as(document(`{"a":1}`), schema.String), "null"},
		{as(null(schema.JSON), schema.Double), "null"},
	})
}

func TestSQLiteToJSON(t *testing.T) {
	json := func(x plan.Expr) plan.Expr { return plan.ToJSON{X: x} }
	check(t, []answer{
		{json(text("a\"\n\u2028😀")), "'\"a\\\"\\n\u2028😀\"'"},
		{json(text("a\xffb")), "'\"a\uFFFDb\"'"},
		{json(text("")), `'""'`},
		{json(null(schema.String)), "null"},
		{json(number(smallest)), "'-9223372036854775808'"},
		{json(real(1)), "'1'"},
		{json(real(1e300)), "'1e+300'"},
		{json(real(math.Inf(1))), `'"Infinity"'`},
		{json(exact("0.10")), "'0.1'"},
		{json(truth(true)), "'true'"},
		{json(null(schema.Boolean)), "null"},
		{json(date("2026-01-31")), `'"2026-01-31T00:00:00Z"'`},
		{json(of(schema.Day, value.OfDay(0))), `'"1970-01-01"'`},
		{json(of(schema.Bytes, value.OfBytes("\x00\xff"))), `'"AP8="'`},
		{json(null(schema.Bytes)), "null"},
		{json(of(schema.UUID, value.OfString("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"))), `'"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"'`},
		{json(document(`{"a": 1.0}`)), `'{"a":1.0}'`},
	})
}

// TestSQLiteStored reads every kind of value that SQLite can store in a column, as every type of field.
func TestSQLiteStored(t *testing.T) {
	db := openSQLite(t)
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	types := []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.Day,
		schema.UUID, schema.Bytes, schema.JSON, schema.Any}
	for _, tt := range []struct {
		stored any
		want   string // the value as each type in turn, separated by |
	}{
		{nil, "null|null|null|null|null|null|null|null|null|null|null"},
		{int64(1), "null|1|1.0|1|1|1000|null|null|null|'1'|1"},
		{int64(2), "null|2|2.0|2|null|2000|null|null|null|'2'|2"},
		{int64(86400), "null|86400|86400.0|86400|null|86400000|86400000|null|null|'86400'|86400"},
		{int64(99999999999), "null|99999999999|9.9999999999e+10|99999999999|null|99999999999000|null|null|null|'99999999999'|99999999999"},
		{int64(biggest), "null|9223372036854775807|9.223372036854776e+18|9223372036854775807|null|null|null|null|null|'9223372036854775807'|9223372036854775807"},
		{1.0, "null|null|1.0|1|null|null|null|null|null|'1'|1.0"},
		{2.5, "null|null|2.5|2.5|null|null|null|null|null|'2.5'|2.5"},
		{2440588.5, "null|null|2.4405885e+06|2.4405885e+06|null|86400000|86400000|null|null|'2440588.5'|2.4405885e+06"},
		{math.Inf(1), `null|null|+Inf|null|null|null|null|null|null|'"Infinity"'|+Inf`},
		{1e19, `null|null|1e+19|1e+19|null|null|null|null|null|'10000000000000000000'|1e+19`},
		{"", `''|null|null|null|null|null|null|null|null|'""'|''`},
		{"5", `'5'|null|null|null|null|null|null|null|null|'5'|'5'`},
		{"null", `'null'|null|null|null|null|null|null|null|null|null|'null'`},
		{" null ", `' null '|null|null|null|null|null|null|null|null|null|' null '`},
		{"1970-01-02", `'1970-01-02'|null|null|null|null|86400000|86400000|null|null|'"1970-01-02"'|'1970-01-02'`},
		{"1970-01-01 00:00:01.5", `'1970-01-01 00:00:01.5'|null|null|null|null|1500|null|null|null|'"1970-01-01 00:00:01.5"'|'1970-01-01 00:00:01.5'`},
		{"2026-02-31", `'2026-02-31'|null|null|null|null|null|null|null|null|'"2026-02-31"'|'2026-02-31'`},
		{"now", `'now'|null|null|null|null|null|null|null|null|'"now"'|'now'`},
		{"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", `'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6'|null|null|null|null|null|null|'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'|null|'"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"'|'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6'`},
		{[]byte("\x00\xff"), `null|null|null|null|null|null|null|null|00ff|'"AP8="'|00ff`},
		{` {"a" : 1e400} `, `' {"a" : 1e400} '|null|null|null|null|null|null|null|null|'{"a" : 1e400}'|' {"a" : 1e400} '`},
		{`{"a":1,"a":2}`, `'{"a":1,"a":2}'|null|null|null|null|null|null|null|null|'"{\"a\":1,\"a\":2}"'|'{"a":1,"a":2}'`},
		{"\"\xff\"", "'\"\xff\"'|null|null|null|null|null|null|null|null|'\"\\\"\uFFFD\\\"\"'|'\"\xff\"'"},
		{`"\u0000"`, `'"\u0000"'|null|null|null|null|null|null|null|null|'"\"\\u0000\""'|'"\u0000"'`},
		{`"\\u0000"`, `'"\\u0000"'|null|null|null|null|null|null|null|null|'"\\u0000"'|'"\\u0000"'`},
		{"[1,", `'[1,'|null|null|null|null|null|null|null|null|'"[1,"'|'[1,'`},
		{deep, "'" + deep + "'|null|null|null|null|null|null|null|null|'" + deep + "'|'" + deep + "'"},
		{"[" + deep + "]", "'[" + deep + "]'|null|null|null|null|null|null|null|null|'\"[" + deep + "]\"'|'[" + deep + "]'"},
	} {
		wants := strings.Split(tt.want, "|")
		for i, typ := range types {
			text := sqlite.Dialect().StoredValue(&place{}, "t.x", &schema.Field{Type: typ})
			if got := askText(t, db, "SELECT "+text+" FROM (SELECT ? AS x) AS t", []any{tt.stored}); got != wants[i] {
				t.Errorf("%v as %s = %s, want %s", tt.stored, typ, got, wants[i])
			}
		}
	}
}

// TestSQLiteAffinity checks that a column's declared type doesn't change how it compares.
func TestSQLiteAffinity(t *testing.T) {
	db := openSQLite(t)
	if _, err := db.Exec("CREATE TABLE t (s TEXT COLLATE NOCASE, n NUMERIC, x); INSERT INTO t VALUES ('a', '7', 5), ('B', 'b', '5')"); err != nil {
		t.Fatal(err)
	}
	d := sqlite.Dialect()
	for _, tt := range []struct {
		e    func(p *place) plan.Expr
		t    schema.Type
		x    string
		want string
	}{
		{func(*place) plan.Expr {
			return op(plan.Eq, schema.Boolean, plan.Ref{T: schema.String}, text("A"))
		}, schema.String, "s", "0,0"},
		{func(*place) plan.Expr {
			return op(plan.Lt, schema.Boolean, plan.Ref{T: schema.String}, text("a"))
		}, schema.String, "s", "0,1"},
		{func(*place) plan.Expr {
			return op(plan.Eq, schema.Boolean, plan.Ref{T: schema.Integer}, number(7))
		}, schema.Integer, "n", "1,0"},
		{func(*place) plan.Expr { return plan.As{X: plan.Ref{T: schema.Any}, T: schema.Integer} }, schema.Any, "x", "5,"},
		{func(*place) plan.Expr { return plan.As{X: plan.Ref{T: schema.Any}, T: schema.String} }, schema.Any, "x", ",5"},
		{func(*place) plan.Expr { return plan.ToJSON{X: plan.Ref{T: schema.Any}} }, schema.Any, "x", `5,"5"`},
	} {
		p := &place{columns: []string{d.StoredValue(&place{}, "t."+tt.x, &schema.Field{Type: tt.t})}}
		text, err := sqlgen.WriteExpr(d, p, tt.e(p))
		if err != nil {
			t.Fatal(err)
		}
		if got := askText(t, db, "SELECT group_concat(coalesce("+text+", ''), ',' ORDER BY rowid) FROM t", p.args); got != "'"+tt.want+"'" {
			t.Errorf("%s of %s = %s, want %s", text, tt.x, got, tt.want)
		}
	}
}
