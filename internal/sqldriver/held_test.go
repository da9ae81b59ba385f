package sqldriver_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A written is a value that is written into a column, and the expected argument of the driver. want is the
// placeholder, unless it is a bare one, then the type of the argument and the argument. For a rejected value, want is
// the reason.
type written struct {
	d    sqlgen.Dialect
	f    schema.Field
	v    value.Value
	form sqldriver.WriteForm
	want string
}

// got writes the value with an UPDATE, and returns the result in the form of want.
func (w written) got() string {
	w.f.Name = "f"
	c := &schema.Class{Source: "app", Name: "c", Table: "c", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer, Native: "bigint"}, w.f}}
	st, err := sqldriver.UpdateStatement(w.d, c, []value.Value{value.OfInt(7)}, []writes.Set{{Field: c.Field("f"), Value: w.v}}, map[string]sqldriver.WriteForm{"f": w.form})
	if err != nil {
		return strings.TrimPrefix(problem.Of(err).Detail, "f ")
	}
	_, place, _ := strings.Cut(st.Text, " = ")
	place, _, _ = strings.Cut(place, " WHERE ")
	return strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%s %T %v", place, st.Args[0], st.Args[0]), "? "), "$1 ")
}

func see(t *testing.T, all []written) {
	t.Helper()
	for _, w := range all {
		if got := w.got(); got != w.want {
			t.Errorf("%s in %s %q of dialect %s, like %v\n got %s\nwant %s", problem.Cut(w.v.String()), w.f.Type, w.f.Native, w.d.Name(), w.form, got, w.want)
		}
	}
}

var lite, pg, maria = sqlite.Dialect(), postgres.Dialect(), mariadb.Dialect()

func column(t schema.Type, native string) schema.Field { return schema.Field{Type: t, Native: native} }

// TestHeldNumbers writes numbers at the limits of the ranges of columns.
func TestHeldNumbers(t *testing.T) {
	number, text, i, d, m := value.OfInt, value.OfDecimal, schema.Integer, schema.Double, schema.Decimal
	digits := func(n int) value.Value { return text("0." + strings.Repeat("1", n-2)) }
	scaled := func(digits, scale int) schema.Field {
		return schema.Field{Type: m, Native: "numeric", Digits: digits, Scaled: true, Scale: scale}
	}
	see(t, []written{
		{pg, column(i, "int2"), number(-32768), nil, "string -32768"}, {pg, column(i, "int2"), number(-32769), nil, "holds integers from -32768 to 32767"},
		{pg, column(i, "int2"), number(32767), nil, "string 32767"}, {pg, column(i, "int2"), number(32768), nil, "holds integers from -32768 to 32767"},
		{maria, column(i, "mediumint"), number(16777215), nil, "int64 16777215"}, {maria, column(i, "mediumint"), number(16777216), nil, "holds integers from -8388608 to 16777215"},
		{maria, column(i, "bigint"), number(math.MinInt64), nil, "int64 -9223372036854775808"}, {lite, column(i, "smallint"), number(65536), nil, "int64 65536"},

		{lite, column(d, ""), number(5), nil, "int64 5"}, {lite, column(d, "NUMERIC"), number(5), nil, "int64 5"}, {lite, column(d, "NUMERIC"), text("0.5"), nil, "float64 0.5"},
		{lite, column(d, "real"), number(5), nil, "float64 5"}, {lite, column(d, "Float"), number(5), nil, "float64 5"}, {lite, column(d, "double precision"), number(5), nil, "float64 5"},
		{maria, column(d, ""), number(5), nil, "float64 5"}, {maria, column(d, "decimal"), number(5), nil, "float64 5"}, {pg, column(d, "float8"), number(5), nil, "string 5"},
		{pg, column(d, "float4"), text("0.1"), nil, "string 0.1"}, {pg, column(d, "float4"), number(16777217), nil, "can't hold all digits of 16777217"},
		{pg, column(d, "float"), number(16777217), nil, "string 1.6777217e+07"}, {maria, column(d, "float"), number(16777217), nil, "can't hold all digits of 16777217"},
		{maria, column(d, "float4"), number(16777217), nil, "float64 1.6777217e+07"}, {lite, column(d, "FLOAT"), number(16777217), nil, "float64 1.6777217e+07"},
		{pg, column(d, "float8"), value.OfFloat(0.1), nil, "string 0.1"}, {pg, column(d, "float8"), value.OfFloat(math.NaN()), nil, "string NaN"},
		{pg, column(d, "float8"), value.OfFloat(math.Inf(1)), nil, "string Infinity"},

		{pg, column(m, "numeric"), digits(1000), nil, "string " + digits(1000).String()}, {pg, column(m, "numeric"), digits(1001), nil, "can't hold so large a number"},
		{pg, column(m, "numeric"), text("1e300"), nil, "string 1e300"}, {pg, column(m, "numeric"), text("1.1e300"), nil, "can't hold so large a number"},
		{pg, column(m, "numeric"), text("-1e300"), nil, "string -1e300"}, {pg, column(m, "numeric"), text("-1.1e300"), nil, "can't hold so large a number"},
		{pg, column(m, "numeric"), value.OfFloat(math.NaN()), nil, "string NaN"}, {pg, column(m, "numeric"), value.OfString("1"), nil, "must be a number"},
		{pg, scaled(3, 2), text("9.99"), nil, "string 9.99"}, {pg, scaled(3, 2), number(10), nil, "holds 1 digits before the point"}, {pg, scaled(3, 2), text("-9.9"), nil, "string -9.90"},
		{pg, scaled(2, 2), text("0.99"), nil, "string 0.99"}, {pg, scaled(2, 2), text("-0.5"), nil, "string -0.50"}, {pg, scaled(2, 2), number(1), nil, "holds 0 digits before the point"},
		{pg, scaled(3, 0), number(999), nil, "string 999"}, {pg, scaled(3, 0), text("0.5"), nil, "holds 0 digits behind the point"}, {pg, scaled(3, 1), text("1e-1000001"), nil, "holds 1 digits behind the point"},
		{pg, column(d, "float4"), value.OfFloat(16777217), nil, "can't hold all digits of 16777217"},
		{pg, column(m, "money"), text("1.5"), nil, "$1::text::numeric::money string 1.5"}, {pg, column(m, "money"), value.Value{}, nil, "<nil> <nil>"},
		{maria, column(m, "money"), text("1.5"), nil, "string 1.5"},
	})
}

// TestHeldOthers writes values of the other types.
func TestHeldOthers(t *testing.T) {
	text, raw, id := value.OfString, value.OfBytes, "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	among := func(n int) schema.Field {
		f := column(schema.String, "text")
		for i := range n {
			f.Values = append(f.Values, text(fmt.Sprint("v", i)))
		}
		return f
	}
	const first = "v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19"
	stored := func(form schema.Form, held schema.Field) schema.Field {
		return schema.Field{Type: form.Type(), NotNull: true, Stored: &schema.Stored{Form: form, Field: held}}
	}
	place := func(native string) schema.Field {
		return schema.Field{Type: schema.Opaque, Native: native, Point: true}
	}
	b, blob, tags, anything := column(schema.Boolean, "bool"), column(schema.Bytes, "blob"), column(schema.Array, "_text"), column(schema.Any, "")
	see(t, []written{
		{pg, among(20), text("v19"), nil, "string v19"}, {pg, among(20), text("w"), nil, "can't hold w; it holds one of " + first}, {pg, among(21), text("w"), nil, "can't hold w; it holds one of " + first + ", …"},
		{pg, among(1), value.Value{}, nil, "<nil> <nil>"}, {pg, column(schema.String, "text"), text("a\x00b"), nil, "can't hold the NUL character"},
		{maria, column(schema.Opaque, "geometry"), text("POINT(1 2)"), nil, "ST_GeomFromText(?) string POINT(1 2)"}, {maria, column(schema.Opaque, "geometry"), value.Value{}, nil, "<nil> <nil>"},
		{pg, column(schema.Opaque, "geometry"), text("POINT(1 2)"), nil, "string POINT(1 2)"},
		{pg, place("public.geometry"), text("(1,2)"), nil, `$1::text::point::"public".geometry string (1,2)`}, {pg, place("gis.geography"), text("(1,2)"), nil, `$1::text::point::"gis".geometry string (1,2)`},
		{pg, place("point"), text("(1,2)"), nil, "string (1,2)"}, {pg, place("public.geometry"), value.Value{}, nil, "<nil> <nil>"},
		{lite, b, value.OfBool(false), nil, "int64 0"}, {pg, b, value.OfBool(false), nil, "string false"}, {maria, b, value.OfBool(false), nil, "int64 0"}, {maria, b, value.OfBool(true), nil, "int64 1"},
		{pg, column(schema.UUID, "uuid"), raw(id), nil, "must be a UUID"}, {pg, column(schema.UUID, "uuid"), text(id), nil, "string " + id},
		{maria, blob, value.Value{}, nil, "<nil> <nil>"}, {maria, blob, raw("\xff"), nil, "UNHEX(?) string ff"}, {pg, blob, raw("\xff"), nil, `string \xff`}, {lite, blob, raw("\xff"), nil, "[]uint8 [255]"},
		{lite, blob, value.OfInt(1), nil, "must be bytes in base64"}, {lite, blob, text("/w=="), nil, "[]uint8 [255]"},
		{pg, tags, text("a"), nil, "must be a list"}, {pg, tags, value.OfArray([]value.Value{raw("\xff"), value.OfDay(0), value.OfBool(true)}), nil, `string {"\\xff","1970-01-01","true"}`},

		{lite, anything, value.OfBool(false), nil, "int64 0"}, {lite, anything, value.OfBool(true), nil, "int64 1"}, {lite, anything, value.OfDecimal("2.0"), nil, "int64 2"},
		{lite, anything, value.OfFloat(2), nil, "int64 2"}, {lite, anything, value.OfDecimal("2.5"), nil, "float64 2.5"}, {lite, anything, value.OfDay(0), nil, "string 1970-01-01"},
		{lite, anything, value.OfDate(0), nil, "string 1970-01-01T00:00:00Z"}, {lite, anything, text("a\x00"), nil, "can't hold the NUL character"}, {lite, anything, raw("a"), nil, "can't hold bytes"},

		{maria, stored(schema.EpochSeconds, column(schema.Integer, "bigint")), value.OfDate(5e6), nil, "int64 5"}, {maria, stored(schema.EpochSeconds, column(schema.Integer, "bigint")), value.OfDate(5), nil, "holds whole seconds"},
		{maria, stored(schema.EpochSeconds, column(schema.Integer, "bigint")), value.Value{}, nil, "<nil> <nil>"},
		{maria, stored(schema.EpochSeconds, schema.Field{Type: schema.Integer, NotNull: true}), value.Value{}, nil, "can't be null"},
		{pg, stored(schema.JSONText, schema.Field{Type: schema.String, Native: "varchar", Length: 3}), value.OfArray([]value.Value{value.OfInt(1)}), nil, "string [1]"},
		{pg, stored(schema.JSONText, schema.Field{Type: schema.String, Native: "varchar", Length: 3}), value.OfArray([]value.Value{value.OfInt(10)}), nil, "must have at most 3 characters"},
		{lite, stored(schema.Midnight, column(schema.Date, "DATETIME")), value.OfDay(0), "2026-01-31 10:20:30", "string 1970-01-01T00:00:00Z"},
	})
}

// TestHeldDates writes instants at the limits of the ranges of columns. In SQLite they get the form of the column's
// other values.
func TestHeldDates(t *testing.T) {
	at := func(s string) value.Value {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return value.OfDate(v.UnixMicro())
	}
	day, stamp, local, mine := column(schema.Day, "date"), column(schema.Date, "timestamptz"), column(schema.Date, "timestamp"), column(schema.Date, "DATETIME")
	precise := schema.Field{Type: schema.Date, Native: "datetime", Scaled: true, Scale: 3}
	dated := schema.Field{Type: schema.Date, Native: "DATETIME", Default: "current_timestamp"}
	const seconds, millis = int64(99999999999), int64(100000000000)
	noon := at("2026-01-31T10:20:30Z")
	see(t, []written{
		{maria, local, at("9999-12-31T23:59:59.999999Z"), nil, "string 9999-12-31 23:59:59.999999"}, {maria, local, value.OfDate(253402300800000000), nil, "holds years from 1 to 9999"},
		{maria, local, at("0001-01-01T00:00:00Z"), nil, "string 0001-01-01 00:00:00"}, {maria, local, value.OfDate(-62135596800000001), nil, "holds years from 1 to 9999"},
		{maria, column(schema.Date, "timestamptz"), noon, nil, "string 2026-01-31 10:20:30"}, {pg, stamp, noon, nil, "string 2026-01-31 10:20:30+00"}, {pg, local, noon, nil, "string 2026-01-31 10:20:30"},
		{maria, day, value.OfDay(0), nil, "string 1970-01-01"}, {pg, day, at("2026-01-31T00:00:00Z"), nil, "string 2026-01-31"}, {pg, day, noon, nil, "holds a day without a time"}, {pg, stamp, value.OfDay(0), nil, "string 1970-01-01 00:00:00+00"},
		{maria, precise, at("2026-01-31T10:20:30.123Z"), nil, "string 2026-01-31 10:20:30.123"}, {maria, precise, at("2026-01-31T10:20:30.1234Z"), nil, "holds 3 digits of a second"},

		{lite, day, value.OfDay(0), nil, "string 1970-01-01"}, {lite, day, value.OfDay(0), "2025-01-01", "string 1970-01-01"}, {lite, day, value.OfDay(0), "2025-01-01 00:00:00", "string 1970-01-01 00:00:00"},
		{lite, day, value.OfDay(0), "2025-01-01T", "string 1970-01-01T00:00:00Z"}, {lite, mine, noon, "2025-01-01", "string 2026-01-31T10:20:30Z"}, {lite, dated, noon, nil, "string 2026-01-31 10:20:30"},
		{lite, mine, noon, "2025-01-01 00:00:0", "string 2026-01-31T10:20:30Z"}, {lite, mine, noon, "2025-01-01 00:00:00", "string 2026-01-31 10:20:30"}, {lite, mine, noon, "2025-01-01 00:00:00z", "string 2026-01-31 10:20:30Z"},
		{lite, mine, noon, "2025-01-01 00:00:00.5Z", "string 2026-01-31 10:20:30Z"}, {lite, mine, noon, "2025-01-01 00:00:00+02:00", "string 2026-01-31 10:20:30+00:00"},
		{lite, mine, noon, seconds, "int64 1769854830"}, {lite, mine, noon, -seconds, "int64 1769854830"}, {lite, mine, noon, millis, "int64 1769854830000"}, {lite, mine, noon, -millis, "int64 1769854830000"},
		{lite, mine, at("2026-01-31T10:20:30.5Z"), seconds, "int64 1769854830500"}, {lite, mine, at("2026-01-31T10:20:30.0005Z"), seconds, "string 2026-01-31T10:20:30.0005Z"},
		{lite, mine, value.OfDate(seconds * 1000), millis, "string 1973-03-03T09:46:39.999Z"}, {lite, mine, value.OfDate(millis * 1000), millis, "int64 100000000000"},
		{lite, mine, value.OfDate(-seconds * 1000), millis, "string 1966-10-31T14:13:20.001Z"}, {lite, mine, value.OfDate(-millis * 1000), millis, "int64 -100000000000"},
		{lite, mine, at("1970-01-02T12:00:00Z"), 2461000.5, "float64 2.440589e+06"},
	})
}
