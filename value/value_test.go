package value

import (
	"cmp"
	"math"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct{ in, out, refused string }{
		{`{"a":9007199254740993}`, `{"a":9007199254740993}`, ""},
		{`[1.10,1e400,-0.5]`, `[1.10,1e400,-0.5]`, ""},
		{`123456789012345678901234567890`, `123456789012345678901234567890`, ""},
		{` {"z":1, "a":[true,false,null,"é\n"]} `, `{"z":1,"a":[true,false,null,"é\n"]}`, ""},
		{`{"a":1,"a":2}`, "", `the key "a" appears twice`},
		{`{"a":1,"\u0061":2}`, "", `the key "a" appears twice`},
		{`{"a":1} {}`, "", "more text after the document"},
		{`"\u0000"`, "", "NUL"},
		{`{"\u0000":1}`, "", "NUL"},
		{`"\ud800"`, "", "surrogate"},
		{"\"\xff\"", "", "UTF-8"},
		{`[[[[`, "", "ends too early"},
		{``, "", "ends too early"},
		{`[[[[[1]]]]]`, "", "deeper than 4"},
		{`{a:1}`, "", "invalid character"},
		{`01`, "", "more text after"},
		{`NaN`, "", "invalid"},
	} {
		v, err := Read([]byte(tt.in), 4)
		if tt.refused == "" {
			if err != nil || string(v.AppendJSON(nil)) != tt.out {
				t.Errorf("Read(%s) = %s, %v; want %s", tt.in, v.AppendJSON(nil), err, tt.out)
			}
			continue
		}
		if problem.CodeOf(err) != problem.InvalidArgument || !contains(err.Error(), tt.refused) {
			t.Errorf("Read(%s): %v; want a refusal with %q", tt.in, err, tt.refused)
		}
	}
}

func contains(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		a, b  Value
		want  int
		alike bool
	}{
		{OfInt(9007199254740993), OfInt(9007199254740992), 1, true},
		{OfInt(2), OfDecimal("2.000"), 0, true},
		{OfDecimal("-1e3"), OfInt(-1000), 0, true},
		{OfDecimal("0.30"), OfDecimal("3e-1"), 0, true},
		{OfDecimal("1e999999999999"), OfDecimal("2"), 1, true},
		{OfDecimal("1e-999999999999"), OfInt(0), 1, true},
		{OfDecimal("-12"), OfDecimal("-2"), -1, true},
		{OfFloat(0.1), OfDecimal("0.1"), 0, true},
		{OfInt(1), OfString("1"), 0, false},
		{Value{}, Value{}, 0, false},
		{OfBool(true), OfInt(1), 0, false},
		{OfString("Z"), OfString("a"), -1, true},
		{OfDay(0), OfDate(1), -1, true},
	} {
		if got, alike := Compare(tt.a, tt.b); got != tt.want || alike != tt.alike {
			t.Errorf("Compare(%s, %s) = %d, %v; want %d, %v", tt.a, tt.b, got, alike, tt.want, tt.alike)
		}
	}
	a, _ := Read([]byte(`{"x":1,"y":[1.0,{"z":null}]}`), 0)
	b, _ := Read([]byte(`{"y":[1,{"z":null}],"x":1}`), 0)
	if !Equal(a, b) {
		t.Errorf("%s and %s differ", a, b)
	}
}

func TestAsInt(t *testing.T) {
	for _, tt := range []struct {
		in   Value
		want int64
		ok   bool
	}{
		{OfDecimal("1e3"), 1000, true}, {OfDecimal("1.5"), 0, false}, {OfDecimal("0.0"), 0, true},
		{OfDecimal("9223372036854775807.0"), 9223372036854775807, true}, {OfDecimal("1e19"), 0, false},
		{OfDecimal("-9223372036854775808.0"), -9223372036854775808, true}, {OfString("1"), 0, false}, {OfFloat(3), 3, true},
	} {
		if got, ok := tt.in.AsInt(); ok != tt.ok || ok && got != tt.want {
			t.Errorf("AsInt(%s) = %d, %v; want %d, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestOfDateText(t *testing.T) {
	for _, tt := range []struct{ in, out string }{
		{"2026-01-31", "2026-01-31"}, {"2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"},
		{"2026-01-31 10:00:00.1234567+02:00", "2026-01-31T08:00:00.123456Z"}, {"2026-01-31T10:00", "2026-01-31T10:00:00Z"},
		{"2026-02-30", ""}, {"last week", ""}, {"", ""},
	} {
		v, ok := OfDateText(tt.in)
		if v.String() != tt.out || ok != (tt.out != "") {
			t.Errorf("OfDateText(%q) = %s, %v; want %q", tt.in, v, ok, tt.out)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5,"x",null,{"b":true}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := Read(in, 0)
		if err != nil {
			return
		}
		out := v.AppendJSON(nil)
		again, err := Read(out, 0)
		if err != nil || !Equal(v, again) || string(again.AppendJSON(nil)) != string(out) {
			t.Errorf("%q reads as %s, which reads as %s, %v", in, out, again.AppendJSON(nil), err)
		}
	})
}

func TestAppendText(t *testing.T) {
	for _, tt := range []struct {
		in         Value
		text, json string
	}{
		{Value{}, "", "null"},
		{OfFloat(math.NaN()), "NaN", `"NaN"`},
		{OfFloat(math.Inf(-1)), "-Infinity", `"-Infinity"`},
		{OfFloat(1e300), "1e+300", "1e+300"},
		{OfFloat(0.1), "0.1", "0.1"},
		{OfString("a\"b"), "a\"b", `"a\"b"`},
		{OfBytes("\x00\xff"), "AP8=", `"AP8="`},
		{OfDate(1_500_000), "1970-01-01T00:00:01.5Z", `"1970-01-01T00:00:01.5Z"`},
		{OfDay(0), "1970-01-01", `"1970-01-01"`},
		{OfObject([]Member{{"a", OfArray([]Value{OfBool(true), OfDecimal("1.50")})}}), `{"a":[true,1.50]}`, `{"a":[true,1.50]}`},
	} {
		if got := tt.in.String(); got != tt.text {
			t.Errorf("text %s, want %s", got, tt.text)
		}
		if got := string(tt.in.AppendJSON(nil)); got != tt.json {
			t.Errorf("JSON %s, want %s", got, tt.json)
		}
	}
}

// TestKept checks that stored documents can be decoded again, including NUL, which external documents can't contain.
func TestKept(t *testing.T) {
	text := `{"a\u0000":["\u0000",9007199254740993,1.10]}`
	var v Value
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if b, err := v.MarshalJSON(); err != nil || string(b) != text {
		t.Errorf("%s, %v", b, err)
	}
	for _, bad := range []string{`{"a":1,"a":2}`, `1 2`, `"\ud800"`} {
		if err := v.UnmarshalJSON([]byte(bad)); err == nil {
			t.Error(bad, "was read")
		}
	}
}

// TestOrderOfNumbers checks that numbers of all kinds have a total order, even if they are equal as doubles.
func TestOrderOfNumbers(t *testing.T) {
	sorted := []Value{OfFloat(math.Inf(-1)), OfDecimal("-1e999"), OfInt(-9007199254740993), OfInt(-9007199254740992), OfDecimal("0.09999999999999999999"), OfFloat(0.1), OfDecimal("0.1000000000000000001"),
		OfInt(1), OfDecimal("9007199254740991.9"), OfFloat(9007199254740992), OfDecimal("9007199254740992.5"), OfInt(9007199254740993), OfFloat(9007199254740994),
		OfDecimal("1e400"), OfDecimal("1e999"), OfFloat(math.Inf(1)), OfFloat(math.NaN())}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := Order(a, b); got != cmp.Compare(i, j) {
				t.Errorf("Order(%s, %s) = %d", a, b, got)
			}
		}
	}
	for _, same := range [][2]Value{{OfInt(1), OfFloat(1)}, {OfFloat(0.1), OfDecimal("0.10")}, {OfFloat(1e300), OfDecimal("1e300")}, {OfFloat(0), OfInt(0)}} {
		if Order(same[0], same[1]) != 0 || Order(same[1], same[0]) != 0 {
			t.Errorf("%s and %s differ", same[0], same[1])
		}
	}
}

// TestMap checks that Map replaces elements and values of members. It must keep names, order and other values.
func TestMap(t *testing.T) {
	next := func(v Value) Value { return OfInt(v.Int() + 1) }
	for _, tt := range []struct {
		v    Value
		want string
	}{
		{OfArray([]Value{OfInt(1), OfInt(2)}), "[2,3]"},
		{OfObject([]Member{{Name: "b", Value: OfInt(1)}, {Name: "a", Value: OfInt(2)}}), `{"b":2,"a":3}`},
		{OfArray(nil), "[]"},
		{OfObject(nil), "{}"},
		{OfInt(1), "1"},
		{Value{}, "null"},
	} {
		if got := string(tt.v.Map(next).AppendJSON(nil)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.v, got, tt.want)
		}
	}
	if got := string(OfStrings([]string{"a", ""}).AppendJSON(nil)); got != `["a",""]` {
		t.Error(got)
	}
}
