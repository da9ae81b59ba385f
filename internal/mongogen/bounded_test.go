package mongogen

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// long are values of every kind that can be long, with the types of their fields.
var long = []struct {
	v any
	t schema.Type
}{
	{strings.Repeat("aé€\U0001F600\"\n", 3000), schema.String},
	{strings.Repeat("aé€\U0001F600\"\n", 3000), schema.JSON},
	{strings.Repeat("a\xff", 9000), schema.String},
	{bson.Binary{Data: []byte(strings.Repeat("\x00\xff", 9000))}, schema.Bytes},
	{bson.Binary{Data: []byte(strings.Repeat("\x00\xff", 9000))}, schema.JSON},
	{bson.A{strings.Repeat("é\"", 9000), bson.D{}, bson.A{}, nil, 1.5, bson.DateTime(1500), bson.Binary{Data: make([]byte, 9000)}}, schema.Array},
	{bson.D{{Key: "a\"", Value: strings.Repeat("x\xffy", 9000)}, {Key: "l", Value: bson.A{int32(1), int64(2), true}}}, schema.JSON},
	{bson.D{{Key: "a", Value: strings.Repeat("x", 20_000)}}, schema.Any},
	{int32(7), schema.Integer},
	{nil, schema.String},
}

// text returns the text by which answers measure a value: bytes unchanged, and JSON in its text form.
func text(v value.Value) string {
	if v.Kind() == value.Bytes {
		return v.Text()
	}
	return v.String()
}

// TestBounded compares cut values with decoded values. A value is whole if the limit is at least its length. Below, it
// is a Cut with that length.
func TestBounded(t *testing.T) {
	for i, tt := range long {
		v := raw(t, tt.v)
		whole := DecodeBSON(v, tt.t)
		n := len(text(whole))
		if got := BoundedBSON(v, tt.t, n); !value.Equal(got, whole) {
			t.Errorf("%d: cut at its own length %d", i, n)
		}
		if got := BoundedBSON(v, tt.t, n-1); n > 10 && (got.Kind() != value.Cut || got.Size() != int64(n)) {
			t.Errorf("%d: %v of %d, want a cut of %d", i, got.Kind(), got.Size(), n)
		}
		if least := int64(n); BSONWeight(v) < least/2 {
			t.Errorf("%d: a weight of %d for %d bytes", i, BSONWeight(v), n)
		}
	}
}

// TestPiece compares pieces from a document with pieces of the decoded value.
func TestPiece(t *testing.T) {
	for i, tt := range long {
		v := raw(t, tt.v)
		whole := DecodeBSON(v, tt.t)
		if some, ok := BSONPiece(v, tt.t, BSONRange{Size: true}); !ok {
			if k := whole.Kind(); (k == value.Array || k == value.Object || k == value.Bytes) && tt.t != schema.JSON {
				t.Errorf("%d: no piece of %v", i, k)
			}
			continue
		} else if want := len([]rune(text(whole))); whole.Kind() != value.Bytes && some.Int() != int64(want) {
			t.Errorf("%d: %d characters, want %d", i, some.Int(), want)
		}
		all := []rune(text(whole))
		for _, from := range []int{0, 1, 7, 5000, len(all) - 3, len(all), len(all) + 5} {
			for _, length := range []int{1, 10, 5000, 1 << 30} {
				some, _ := BSONPiece(v, tt.t, BSONRange{From: int64(from), Length: int64(length)})
				begin := min(from, len(all))
				want := string(all[begin:min(len(all), begin+length)])
				if whole.Kind() == value.Bytes {
					b := whole.Text()
					begin = min(from, len(b))
					want = b[begin:min(len(b), begin+length)]
				}
				if some.Text() != want {
					t.Errorf("%d: %d from %d: %s", i, length, from, fmt.Sprintf("%.40q, want %.40q", some.Text(), want))
				}
			}
		}
	}
}

// TestWeight checks that the weight of a list of many small values is the memory of its values, which is many times the
// stored size.
func TestWeight(t *testing.T) {
	list := bson.A{}
	for range 10_000 {
		list = append(list, int32(1))
	}
	v := raw(t, list)
	if n := BSONWeight(v); n < 10_000*100 {
		t.Errorf("%d for %d bytes of BSON", n, len(v.Value))
	}
}
