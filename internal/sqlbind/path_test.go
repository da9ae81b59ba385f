package sqlbind_test

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlbind"
)

// shown returns an expression of members and elements as a path.
func shown(t *testing.T, x plan.Expr) string {
	t.Helper()
	switch x := x.(type) {
	case plan.Element:
		return "x"
	case plan.Part:
		return fmt.Sprintf("%s.%q", shown(t, x.X), x.Path[0])
	case plan.Apply:
		return fmt.Sprintf("%s[%s]", shown(t, x.Args[0]), x.Args[1].(plan.Const).Value)
	}
	t.Fatalf("%T", x)
	return ""
}

func TestPaths(t *testing.T) {
	path, route := sqlbind.JSONPath, sqlbind.JSONRoute
	for _, tt := range []struct {
		follow     func(plan.Expr, string) (plan.Expr, bool)
		text, want string // want is "" for an invalid path
	}{
		{path, "$", "x"},
		{path, "$.a.b[0][-1]", `x."a"."b"[0][-1]`},
		{path, `$."a.b"['c]d']["e"].f g`, `x."a.b"."c]d"."e"."f g"`},
		{path, `$."a\"b".0`, `x."a\"b"."0"`},
		{path, "", ""}, {path, "a", ""}, {path, "$a", ""}, {path, "lax $.a", ""}, {path, "$.", ""}, {path, "$..a", ""}, {path, "$.a[", ""}, {path, "$.a[]", ""},
		{path, "$.a[*]", ""}, {path, "$.*", ""}, {path, "$**.a", ""}, {path, "$.a[0 to 1]", ""}, {path, "$.a[last]", ""}, {path, "$.a.size()", ""}, {path, "$.a ? (@ > 1)", ""}, {path, "$['a'", ""}, {path, "$['a", ""}, {path, "$.a]", ""},
		{route, "{}", "x"},
		{route, " { a, 0 ,\"b,c\", -1,01} ", `x."a"[0]."b,c"[-1]."01"`},
		{route, "a", ""}, {route, "{a", ""}, {route, "{a,}", ""}, {route, "{a,NULL}", ""}, {route, "{{a}}", ""}, {route, "", ""},
	} {
		x, ok := tt.follow(plan.Element{}, tt.text)
		got := ""
		if ok {
			got = shown(t, x)
		}
		if got != tt.want {
			t.Errorf("%q is %s, want %s", tt.text, got, tt.want)
		}
	}
}
