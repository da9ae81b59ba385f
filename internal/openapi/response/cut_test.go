package response

import (
	"fmt"
	"strings"
	"testing"
)

// TestDefaultBudget checks that an answer without a budget is cut to 100,000 bytes.
func TestDefaultBudget(t *testing.T) {
	v, op := seen(t, "", "")
	body := "[" + strings.Repeat(`"`+strings.Repeat("x", 997)+`",`, 119) + `"x"]`
	a, err := Make(v, op, ok(body), Options{})
	if err != nil || a.Of != 120 || a.Shown != 99 {
		t.Error(a.Shown, a.Of, err)
	}
}

// TestBudget checks the cut body for each body and budget.
func TestBudget(t *testing.T) {
	long := strings.Repeat("é", 400)
	rows := func(n, size int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":%d,"name":%q}`, i, strings.Repeat("x", size)))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	const help = "\nfields picks what you need, and more of it fits"
	for _, tt := range []struct{ name, body, want string }{
		{"a list", rows(20, 30), rows(5, 30) + " 5/20\nthe answer: the first 5 of 20 items are shown, for more is too long. Continue with from: 6" + help},
		{"an envelope", `{"total":20,"items":` + rows(20, 30) + `}`, `{"total":20,"items":` + rows(4, 30) + "} 4/20\nitems: the first 4 of 20 items are shown, for more is too long. Continue with from: 5" + help},
		{"a list before a text", `{"a":"` + long[:200] + `","b":` + rows(9, 10) + `}`,
			`{"a":"` + long[:200] + `","b":` + rows(1, 10) + "} 1/9\nb: the first 1 of 9 items are shown, for more is too long. Continue with from: 2" + help},
		{"a text", `{"a":"` + long + `","b":1}`, `{"a":"` + long[:220] + "… [400 characters]\",\"b\":1}\na: the first 110 of 400 characters are shown. Continue with at: \"a\", from: 111" + help},
		{"one large item", `[{"a":"` + long + `"},{"a":1}]`, `[{"a":"` + long[:224] + "… [400 characters]\"}] 1/2\nthe answer: the first 1 of 2 items are shown, for more is too long. Continue with from: 2\n[0].a: the first 112 of 400 characters are shown. Continue with at: \"[0].a\", from: 113" + help},
		{"a number", strings.Repeat("1", 300), "null\nthe answer: a number is too long to be shown" + help},
	} {
		v, op := seen(t, "", "")
		got := shown(Make(v, op, ok(tt.body), Options{Budget: 1}))
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestLosses checks that many cuts are summarized.
func TestLosses(t *testing.T) {
	var members []string
	for i := range 14 {
		members = append(members, fmt.Sprintf(`"t%02d":%q`, i, strings.Repeat("x", 100+i)))
	}
	v, op := seen(t, "", "")
	a, err := Make(v, op, ok("{"+strings.Join(members, ",")+"}"), Options{Budget: 900})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Notes) != maxLosses+2 || a.Notes[0] != "t00: the first 35 of 100 characters are shown. Continue with at: \"t00\", from: 36" || a.Notes[maxLosses] != "6 more places are cut" {
		t.Errorf("%q", a.Notes)
	}
	// An object with many names is cut like a list: the first members that fit stay whole.
	a, err = Make(v, op, ok("{"+strings.Join(members, ",")+"}"), Options{Budget: MinBudget})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(a.Body.AppendJSON(nil)); got != "{"+members[0]+","+members[1]+"}" ||
		a.Notes[0] != "the answer: 2 of 14 names are shown, for more is too long. Left out: t02, t03, t04, t05, t06, t07, t08, t09, t10, t11 and 2 more. Continue with at: \"t02\"" {
		t.Errorf("%s %q", got, a.Notes)
	}
}
