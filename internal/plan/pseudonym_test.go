package plan

import (
	"regexp"
	"testing"

	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPseudonym checks that each key has its own, constant name. The name differs for another class or installation.
func TestPseudonym(t *testing.T) {
	under := func(secret, class string) func(value.Value) value.Value {
		t.Helper()
		apply, err := Mask{Kind: MaskPseudonym, Field: class, Word: "Person"}.Under(NewMaskKey([]byte(secret)))
		if err != nil {
			t.Fatal(err)
		}
		return apply
	}
	people, same := under("secret", "app.people"), under("secret", "app.people")
	form := regexp.MustCompile(`^Person [2-9B-DF-HJKMNP-TV-XZ]{4,13}$`)
	seen := map[string]int64{}
	check := func(n int64, size int) {
		name := people(value.OfInt(n)).Text()
		if !form.MatchString(name) || len(name) != len("Person ")+size {
			t.Errorf("%d is called %q", n, name)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%d and %d are called %q", n, other, name)
		}
		seen[name] = n
		if again := same(value.OfString(value.OfInt(n).String())).Text(); again != name { // ids are text in pipelines
			t.Errorf("%d is called %q, then %q", n, name, again)
		}
	}
	for n := range int64(20000) {
		check(n, 4)
	}
	for n := int64(531440); n < 533000; n++ {
		check(n, map[bool]int{true: 4, false: 6}[n < 531441])
	}
	check(387420489, 8)
	check(1<<62, 13)
	for _, v := range []value.Value{value.OfInt(-5), value.OfString("550e8400-e29b-41d4-a716-446655440000"), value.OfString("007"), value.OfString("")} {
		if name := people(v).Text(); !form.MatchString(name) || name == people(value.OfString("other")).Text() {
			t.Errorf("%v is called %q", v, name)
		}
	}
	five := value.OfInt(5)
	if a, b, c := people(five).Text(), under("other", "app.people")(five).Text(), under("secret", "app.staff")(five).Text(); a == b || a == c || b == c {
		t.Errorf("names don't depend on the secret and the class: %s, %s, %s", a, b, c)
	}
	if !people(value.Value{}).IsNull() {
		t.Error("a record without a key has a name")
	}
	if _, err := (Mask{Kind: MaskPseudonym, Field: "app.people", Word: "Person"}).Under(MaskKey{}); err == nil {
		t.Error("names without a secret")
	}
}
