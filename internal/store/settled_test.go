package store

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
)

// texts are strings that JSON escapes, replaces or can't represent.
var texts = []string{"", "a", "Ärger", "\x00", "<b>&\u2028\"\\\n", "\U0001F600", "\x7f\u0085", "null", "1"}

// broken is a text that isn't UTF-8.
const broken = "a\xffb"

// decimals are forms in which a source may return a number.
var decimals = []string{"1.50", "0", "-0", "12345678901234567890", "1e400", "7", "-1.0"}

// TestSettled compares the settled and the decoded form of the same change, for thousands of random changes.
func TestSettled(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	known := 0
	const rounds = 4000
	for range rounds {
		c := new(change.Change)
		fill(r, reflect.ValueOf(c).Elem())
		before := encoded(t, c)
		got, ok := jsonCopy(c)
		if after := encoded(t, c); after != before {
			t.Fatalf("the change itself was altered: %s\nbefore %s", after, before)
		}
		if !ok {
			continue
		}
		known++
		want, err := decodeChange(before)
		if err != nil {
			t.Fatalf("settled, and can't be decoded: %v\n%s", err, before)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("settled is another change (-decoded +settled):\n%s", cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })))
		}
	}
	if known < rounds/2 {
		t.Errorf("only %d of %d changes were settled", known, rounds)
	}
}

// TestUnsettled contains changes that must be decoded, since their JSON contains another value or none.
func TestUnsettled(t *testing.T) {
	deep := value.OfInt(1)
	for range 129 {
		deep = value.OfArray([]value.Value{deep})
	}
	twice := value.OfObject([]value.Member{{Name: "a"}, {Name: "a"}})
	for name, c := range map[string]*change.Change{
		"text":          {Reason: broken},
		"text deep":     {Decisions: []change.Decision{{By: change.Party{Name: broken}}}},
		"value":         {Input: value.OfArray([]value.Value{value.OfString(broken)})},
		"name":          {Input: value.OfObject([]value.Member{{Name: broken}})},
		"name twice":    {Writes: []value.Value{twice}},
		"deep":          {Effects: []change.Effect{{Before: deep}}},
		"no number":     {Input: value.OfDecimal("1.")},
		"spaces":        {Input: value.OfDecimal("1 ")},
		"another clock": {Created: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))},
	} {
		if _, ok := jsonCopy(c); ok {
			t.Errorf("%s: settled", name)
		}
	}
}

// TestRecentOf checks that a stored change is read without decoding, and that each reader gets its own copy.
func TestRecentOf(t *testing.T) {
	now := time.Now().UTC()
	c := &change.Change{ID: "1", Input: value.OfTime(now), Classes: []string{"a.b"}, History: []change.Step{{State: change.Pending}}}
	row, _, err := NewChangeRow(c, now, change.Filing{Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var recent RecentChanges
	stored, err := recent.Of(row)
	if err != nil {
		t.Fatal(err)
	}
	want, err := decodeChange(row.Body)
	if err != nil {
		t.Fatal(err)
	}
	stored.Classes[0], c.Classes[0] = "x", "y"
	page, _, err := recent.Page([]string{row.Body}, change.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := recent.Read(row.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []*change.Change{page[0], again} {
		if !reflect.DeepEqual(want, got) {
			t.Errorf("it is %+v, decoded %+v", got, want)
		}
	}
	if page[0] == again || recent.next != 1 {
		t.Errorf("decoded %d times, or given to two callers", recent.next)
	}
}

func encoded(t *testing.T, c *change.Change) string {
	t.Helper()
	body, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// fill sets v, and everything in it, at random. About one in some hundred texts is broken.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[value.Value]():
		v.Set(reflect.ValueOf(anyValue(r, 4)))
		return
	case reflect.TypeFor[time.Time]():
		if r.IntN(4) > 0 {
			v.Set(reflect.ValueOf(time.Unix(r.Int64N(1e10), r.Int64N(1e9)).UTC()))
		}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64() >> r.IntN(63))
	case reflect.String:
		v.SetString(anyText(r))
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if n := r.IntN(4) - 1; n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		if n := r.IntN(4) - 1; n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				text := reflect.New(v.Type().Elem()).Elem()
				fill(r, text)
				v.SetMapIndex(reflect.ValueOf(anyText(r)), text)
			}
		}
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(256)))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	default:
		panic("a kind that a change doesn't have: " + v.Kind().String())
	}
}

func anyText(r *rand.Rand) string {
	if r.IntN(1000) == 0 {
		return broken
	}
	return strings.Repeat(texts[r.IntN(len(texts))], r.IntN(3))
}

func anyValue(r *rand.Rand, depth int) value.Value {
	n := r.IntN(12)
	if depth == 0 {
		n = r.IntN(9)
	}
	switch n {
	case 0:
		return value.OfBool(r.IntN(2) == 0)
	case 1:
		return value.OfInt(r.Int64() >> r.IntN(63))
	case 2:
		return value.OfFloat([]float64{0, math.Copysign(0, -1), 1.5, 3, 1e21, 1e-7, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 9007199254740993}[r.IntN(11)])
	case 3:
		return value.OfDecimal(decimals[r.IntN(len(decimals))])
	case 4, 5:
		return value.OfString(anyText(r))
	case 6:
		return []value.Value{value.OfDate(r.Int64() >> r.IntN(20)), value.OfDay(r.Int64N(1e16))}[r.IntN(2)]
	case 7:
		return value.OfBytes("\x00\xff" + anyText(r))
	case 8:
		return []value.Value{{}, value.OfCut(5)}[r.IntN(2)]
	case 9:
		var list []value.Value
		for range r.IntN(3) {
			list = append(list, anyValue(r, depth-1))
		}
		return value.OfArray(list)
	}
	var members []value.Member
	for i := range r.IntN(3) {
		members = append(members, value.Member{Name: anyText(r) + strings.Repeat("'", i*7), Value: anyValue(r, depth-1)})
	}
	return value.OfObject(members)
}
