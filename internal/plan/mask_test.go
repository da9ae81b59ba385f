package plan

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

func TestPartial(t *testing.T) {
	for _, tt := range []struct{ in, out string }{
		{"john.doe@example.com", "j•••@e•••.com"},
		{"jd@example.com", "•••@e•••.com"},
		{"john@ex.com", "j•••@•••.com"},
		{"john@mail.example.co.uk", "j•••@m•••.uk"},
		{"øyvind@blåbær.no", "ø•••@b•••.no"},
		{"john@example.averylongtop", "j•••@e•••"},
		{"john@example.museum", "j•••@e•••.museum"},
		{"john@example.website", "j•••@e•••"},
		{"john@.com", "j•••@•••"},
		{"@example.com", "•••"},
		{"john+tag@a.io", "j•••@•••.io"},
		{"@ann", "•••"},
		{"ann@localhost", "a•••"},
		{"https://u:p@host.example.com/", "h•••"},
		{"Ann <ann@example.com>", "A•••"},
		{"4111 1111 1111 1234", "•••1234"},
		{"4111-1111-1111-1234", "•••1234"},
		{"+1 (555) 123-4567", "•••67"},
		{"123456789012", "•••9012"},
		{"12345678901", "•••01"},
		{"123456789", "•••89"},
		{"12345678", "•••"},
		{"1990-05-17", "•••"},
		{"7", "•••"},
		{"192.168.100.200", "1•••"},
		{"DE89 3704 0044 0532 0130 00", "D•••"},
		{"Ann Smith", "A•••"},
		{"Anna", "A•••"},
		{"Ann", "•••"},
		{"A", "•••"},
		{"", "•••"},
		{"   ", "•••"},
		{"山田太郎", "山•••"},
		{"山田", "•••"},
		{"e\u0301tienne", "e•••"},
		{"👨‍👩‍👧 family", "•••"},
		{"\u202eabcdef", "•••"},
		{" padded", "•••"},
		{"\"quoted\"", "•••"},
	} {
		if got := partial(value.OfString(tt.in)); got.Text() != tt.out || got.Kind() != value.String {
			t.Errorf("%q: %v, want %q", tt.in, got, tt.out)
		}
	}
	if got := partial(value.Value{}); !got.IsNull() {
		t.Errorf("null is shown as %v", got)
	}
	if got := partial(value.OfInt(4111111111111234)); got.Text() != "•••1234" { // a number in an untyped column of SQLite
		t.Errorf("a number is shown as %v", got)
	}
}

func TestHash(t *testing.T) {
	key := NewMaskKey([]byte("secret"))
	of := func(k MaskKey, field string, v value.Value) string {
		t.Helper()
		apply, err := Mask{Kind: MaskHash, Field: field}.Under(k)
		if err != nil {
			t.Fatal(err)
		}
		once := apply(v)
		if again := apply(v); !value.Equal(once, again) || once.Kind() != value.String {
			t.Errorf("%v is %v, then %v", v, once, again)
		}
		return once.Text()
	}
	ann := value.OfString("ann@example.com")
	if got, want := of(key, "app.users.email", ann), "48ab3bfbfb21b4d6"; got != want {
		t.Errorf("%v is %s, want %s", ann, got, want)
	}
	seen := map[string]string{}
	for name, got := range map[string]string{
		"ann":               of(key, "app.users.email", ann),
		"bob":               of(key, "app.users.email", value.OfString("bob@example.com")),
		"empty":             of(key, "app.users.email", value.OfString("")),
		"of another field":  of(key, "app.users.mail", ann),
		"under another key": of(NewMaskKey([]byte("other")), "app.users.email", ann),
		"1.5":               of(key, "app.users.email", value.OfDecimal("1.5")),
		"100":               of(key, "app.users.email", value.OfDecimal("100")),
		"1":                 of(key, "app.users.email", value.OfDecimal("1")),
		"1.5e10":            of(key, "app.users.email", value.OfDecimal("1.5e10")),
		"1.5e1":             of(key, "app.users.email", value.OfDecimal("1.5e1")),
		"the text 1.50":     of(key, "app.users.email", value.OfString("1.50")),
	} {
		if seen[got] != "" {
			t.Errorf("%s and %s are both %s", name, seen[got], got)
		}
		seen[got] = name
	}
	for _, same := range [][2]string{{"1.50", "1.5"}, {"1.00", "1"}} {
		if a, b := of(key, "n", value.OfDecimal(same[0])), of(key, "n", value.OfDecimal(same[1])); a != b {
			t.Errorf("%s is %s, %s is %s", same[0], a, same[1], b)
		}
	}
}

func TestUnder(t *testing.T) {
	for _, m := range []Mask{{Kind: MaskHash, Field: "app.users.email"}, {Field: "app.users.email"}, {Kind: "most", Field: "app.users.email"}, {Kind: MaskInside}} {
		if _, err := m.Under(NewMaskKey(nil)); problem.CodeOf(err) != problem.Internal {
			t.Errorf("%s under the zero key: %v", m.Kind, err)
		}
	}
	for _, kind := range []MaskKind{MaskPartial, MaskHash, MaskNull} {
		apply, err := Mask{Kind: kind, Field: "f"}.Under(NewMaskKey([]byte("secret")))
		if err != nil {
			t.Fatal(err)
		}
		if got := apply(value.Value{}); !got.IsNull() {
			t.Errorf("%s makes %v of null", kind, got)
		}
		if got := apply(value.OfString("Ann Smith")); kind == MaskNull != got.IsNull() {
			t.Errorf("%s makes %v of a text", kind, got)
		}
	}
}
