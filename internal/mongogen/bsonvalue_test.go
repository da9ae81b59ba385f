package mongogen

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// raw returns the first member of a document in its stored form.
func raw(t *testing.T, v any) bson.RawValue {
	t.Helper()
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		t.Fatal(err)
	}
	return bson.Raw(doc).Lookup("v")
}

func decimal128(t *testing.T, text string) bson.Decimal128 {
	t.Helper()
	d, err := bson.ParseDecimal128(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecode(t *testing.T) {
	id, err := bson.ObjectIDFromHex("65f0a1b2c3d4e5f60718293a")
	if err != nil {
		t.Fatal(err)
	}
	uuid := bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}
	for _, tt := range []struct {
		v    any
		t    schema.Type
		kind value.Kind
		text string
	}{
		{int32(5), schema.Integer, value.Int, "5"},
		{5.0, schema.Integer, value.Int, "5"},
		{5.5, schema.Integer, value.Float, "5.5"},
		{int64(math.MaxInt64), schema.Integer, value.Int, "9223372036854775807"},
		{math.NaN(), schema.Double, value.Float, "NaN"},
		{math.Inf(-1), schema.JSON, value.String, "-Infinity"},
		{decimal128(t, "0.10"), schema.Decimal, value.Decimal, "0.10"},
		{decimal128(t, "NaN"), schema.Decimal, value.Float, "NaN"},
		{decimal128(t, "-Infinity"), schema.Decimal, value.Float, "-Infinity"},
		{decimal128(t, "9.999999999999999999999999999999999E+6144"), schema.Decimal, value.Decimal, "9.999999999999999999999999999999999E+6144"},
		{id, schema.String, value.String, "65f0a1b2c3d4e5f60718293a"},
		{uuid, schema.UUID, value.String, "30313233-3435-3637-3839-616263646566"},
		{bson.Binary{Data: []byte{0, 1}}, schema.Bytes, value.Bytes, "AAE="},
		{bson.DateTime(1500), schema.Date, value.Date, "1970-01-01T00:00:01.5Z"},
		{bson.DateTime(math.MaxInt64), schema.Date, value.String, "Date(9223372036854775807)"},
		{bson.DateTime(1500), schema.JSON, value.String, "1970-01-01T00:00:01.5Z"},
		{nil, schema.String, value.Null, ""},
		{bson.Timestamp{T: 1, I: 2}, schema.Opaque, value.String, `{"$timestamp":{"t":1,"i":2}}`},
		{"a\xffb", schema.String, value.String, "a\uFFFDb"},
		{bson.D{{Key: "a.b", Value: 1}, {Key: "$x", Value: bson.A{1.5, id}}, {Key: "", Value: true}}, schema.JSON, value.Object,
			`{"a.b":1,"$x":[1.5,"65f0a1b2c3d4e5f60718293a"],"":true}`},
		{bson.D{{Key: "a", Value: 1}, {Key: "a", Value: 2}}, schema.JSON, value.Object, `{"a":1}`},
	} {
		got := DecodeBSON(raw(t, tt.v), tt.t)
		if got.Kind() != tt.kind || got.String() != tt.text {
			t.Errorf("%v as %s: %s %q; want %s %q", tt.v, tt.t, got.Kind(), got.String(), tt.kind, tt.text)
		}
	}
}

// TestDecodeHostile decodes values that no driver writes: documents that nest too deep, and bytes that aren't BSON.
func TestDecodeHostile(t *testing.T) {
	deep := any(int32(1))
	for range 150 {
		deep = bson.D{{Key: "a", Value: deep}}
	}
	v := DecodeBSON(raw(t, deep), schema.JSON)
	depth := 0
	for v.Kind() == value.Object {
		v, depth = v.Members()[0].Value, depth+1
	}
	if v.Kind() != value.Cut || depth != maxDepth {
		t.Errorf("150 levels: %s after %d", v.Kind(), depth)
	}
	for _, typ := range []bson.Type{bson.TypeString, bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeBinary, bson.TypeObjectID, bson.TypeDecimal128,
		bson.TypeDateTime, bson.TypeInt64, bson.TypeDouble, bson.TypeBoolean, bson.TypeCodeWithScope, bson.Type(99)} {
		for _, b := range [][]byte{nil, {1}, {255, 255, 255, 127, 0}, {5, 0, 0, 0}} {
			v := DecodeBSON(bson.RawValue{Type: typ, Value: b}, schema.JSON)
			if v.Kind() != value.Cut && v.Kind() != value.Bool {
				t.Errorf("%s of % x: %s %s", typ, b, v.Kind(), v)
			}
		}
	}
}

// TestTexts checks that a text finds every stored value that is decoded to this text in JSON, and no other value.
func TestTexts(t *testing.T) {
	id, _ := bson.ObjectIDFromHex("65f0a1b2c3d4e5f60718293a")
	for _, v := range []any{"x", id, bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}, bson.Binary{Data: []byte("abc")}, bson.DateTime(1500), bson.DateTime(0)} {
		text := DecodeBSON(raw(t, v), schema.JSON).Text()
		found := false
		for _, x := range texts(text) {
			back := raw(t, x)
			if back.Equal(raw(t, v)) {
				found = true
			}
			if got := DecodeBSON(back, schema.JSON).Text(); got != text {
				t.Errorf("%q finds %v, which is %q", text, x, got)
			}
		}
		if !found {
			t.Errorf("%q doesn't find %v", text, v)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		v    value.Value
		t    schema.Type
		want any
	}{
		{value.OfInt(5), schema.Integer, int64(5)},
		{value.OfInt(5), schema.Double, 5.0},
		{value.OfInt(1<<53 + 1), schema.Double, nil},
		{value.OfDecimal("0.1"), schema.Double, 0.1},
		{value.OfDecimal("0.1"), schema.JSON, 0.1},
		{value.OfDecimal("1e2"), schema.Integer, int64(100)},
		{value.OfDecimal("0.12345678901234567890"), schema.JSON, nil},
		{value.OfDecimal("0.12345678901234567890123456789012345"), schema.Decimal, nil},
	} {
		got, ok := number(tt.v, tt.t, false)
		if !ok {
			got = nil
		}
		if got != tt.want {
			t.Errorf("%v for %s: %v; want %v", tt.v, tt.t, got, tt.want)
		}
	}
}
