package sqlgen

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Other tests of package sqlgen show whole statements and their pipelines. The tests here cover the names that stages
// find in the texts of expressions, and values that the classes of the other tests don't have.

// TestShort shows which texts may be repeated: names, arguments, and casts of one.
func TestShort(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{`v1.c1`, true}, {`v1."na me"`, true}, {"v1.`na(me`", true}, {"\x0012\x00", true}, {`v1."a""b"`, true}, {"v1.`a`", true},
		{`(v1.c1::int8)`, true}, {"(\x000\x00::text)", true}, {`(v1."na me" COLLATE "C")`, true},
		{`f(v1.c1)`, false}, {`v1.c1 + 1`, false}, {`(f(x)::int8)`, false}, {`(v1.c1::int8 + (1))`, false}, {`(v1.c1)`, false}, {`(v1.c1`, false},
		{`(f(x) COLLATE "C")`, false}, {"v1.`a` `", false},
		{strings.Repeat("a", 159), true}, {strings.Repeat("a", 160), false},
	} {
		if got := short(tt.text); got != tt.want {
			t.Errorf("short(%s) is %t", tt.text, got)
		}
	}
}

// TestMentions shows where a name occurs in a text: as a whole identifier.
func TestMentions(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"v1.l2", true}, {"v1.l2 + 1", true}, {"f(v1.l2)", true}, {"1 + v1.l2", true}, {"v1.l21 + v1.l2", true}, {"av1.l2, v1.l2", true},
		{"v1.l21", false}, {"av1.l2", false}, {"v1.l", false}, {"", false}, {"v1.l2x", false}, {"_v1.l2", false},
	} {
		if got := mentions(tt.text, "v1.l2"); got != tt.want {
			t.Errorf("%q mentions v1.l2: %t", tt.text, got)
		}
	}
	for c := range 256 {
		if got := word(byte(c)); got != strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", rune(c)) {
			t.Errorf("%q is part of a word: %t", rune(c), got)
		}
	}
}

// TestHeld shows which columns may become null in a join: the columns that the only FROM item has under their own
// names.
func TestHeld(t *testing.T) {
	for _, tt := range []struct {
		column string
		want   bool
	}{{`v1."a"`, true}, {`v2."a"`, false}, {"\x000\x00", false}, {`v1."a" || 'b'`, false}} {
		if got := (&relation{alias: "v1", columns: []string{tt.column}}).hasOnlyItemColumns(); got != tt.want {
			t.Errorf("%s is held: %t", tt.column, got)
		}
	}
}

// correlating is a dialect whose derived tables may refer to the surrounding query.
type correlating struct{ Dialect }

func (correlating) Correlates() bool { return true }

func (correlating) Barrier() string { return "" }

// scopeOver returns a scope over t, whose columns are c1, c2, …
func scopeOver(columns ...plan.Column) *scope {
	return &scope{b: &builder{d: correlating{}}, r: &relation{shape: plan.Shape{Columns: columns}, alias: "t", columns: positions("t", len(columns))}}
}

// TestRaw shows which texts are computed in a column below: texts that aren't names. The exceptions are stored columns,
// and texts over a group or over several FROM items.
func TestRaw(t *testing.T) {
	stored := plan.Column{Field: &schema.Field{Type: schema.String, Native: "text"}}
	for _, tt := range []struct {
		name   string
		column plan.Column
		change func(r *relation)
		lets   bool
		uses   int
		want   string
	}{
		{"computed", plan.Column{}, nil, true, 0, "t.l1"},
		{"computed and used twice", plan.Column{}, nil, false, 2, "t.l1"},
		{"computed and used once", plan.Column{}, nil, false, 1, "f(x)"},
		{"stored", stored, nil, true, 0, "f(x)"},
		{"a group", plan.Column{}, func(r *relation) { r.grouped = true }, true, 0, "f(x)"},
		{"several things", plan.Column{}, func(r *relation) { r.alias = "" }, true, 0, "f(x)"},
	} {
		s := scopeOver(tt.column)
		s.b.s = named{}
		s.lets, s.r.columns[0] = tt.lets, "f(x)"
		if tt.uses > 0 {
			s.uses = []int{tt.uses}
		}
		if tt.change != nil {
			tt.change(s.r)
		}
		if got := s.raw(0); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// named is a statement whose aliases all have the number 1.
type named struct{ programStatement }

func (named) Alias(prefix string) string { return prefix + "1" }

// TestOuter shows how a list refers to the surrounding records.
func TestOuter(t *testing.T) {
	f := &schema.Field{Type: schema.String, Native: "text"}
	around := scopeOver(plan.Column{}, plan.Column{Field: f})
	around.r.alias, around.r.columns = "v1", []string{"v1.a", "v1.b"}
	s := scopeOver(plan.Column{Field: f}, plan.Column{})
	s.outer = around
	for up, want := range map[int]string{0: "", 1: "v1.a", 2: "", 3: ""} {
		got, err := s.Outer(up, 0)
		if got != want || want == "" && problem.CodeOf(err) != problem.Internal {
			t.Errorf("%d levels out: %q, %v; want %q", up, got, err, want)
		}
	}
	for _, tt := range []struct {
		e    plan.Expr
		want string // "" if there is no stored field
	}{
		{plan.Ref{Column: 0}, "t.c1"}, {plan.Ref{Column: 1}, ""}, {plan.Outer{Up: 1, Column: 1}, "v1.b"}, {plan.Outer{Up: 1, Column: 0}, ""},
		{plan.Outer{Up: 2, Column: 1}, ""}, {plan.Outer{Up: 3, Column: 1}, ""}, {plan.Const{Value: value.OfInt(1)}, ""},
	} {
		x, got := s.Field(tt.e)
		if x != tt.want || (got == f) != (tt.want != "") {
			t.Errorf("%#v: %q, %v; want %q", tt.e, x, got, tt.want)
		}
	}
	s.count = make([]int, 2)
	if x, f := s.Field(plan.Ref{}); x != "" || f != nil {
		t.Errorf("while columns are counted: %q, %v", x, f)
	}
}

// TestSameOrder shows which computations keep an order: only computations that pass on the columns of the order.
func TestSameOrder(t *testing.T) {
	order := func(places ...plan.Place) plan.Shape { return plan.Shape{Order: places} }
	from := &relation{shape: order(plan.Place{Column: 0}, plan.Place{Column: 1, Desc: true})}
	ref := func(i int) plan.Expr { return plan.Ref{Column: i} }
	for _, tt := range []struct {
		name string
		to   plan.Map
		want bool
	}{
		{"the same", plan.Map{Columns: []plan.Expr{ref(0), ref(1)}, Shape: from.shape}, true},
		{"other numbers", plan.Map{Columns: []plan.Expr{ref(1), ref(0)}, Shape: order(plan.Place{Column: 1}, plan.Place{Column: 0, Desc: true})}, true},
		{"other columns", plan.Map{Columns: []plan.Expr{ref(1), ref(0)}, Shape: from.shape}, false},
		{"another direction", plan.Map{Columns: []plan.Expr{ref(0), ref(1)}, Shape: order(plan.Place{Column: 0}, plan.Place{Column: 1})}, false},
		{"computed", plan.Map{Columns: []plan.Expr{plan.Const{}, ref(1)}, Shape: from.shape}, false},
		{"less", plan.Map{Columns: []plan.Expr{ref(0)}, Shape: order(plan.Place{Column: 0})}, false},
	} {
		if got := sameOrder(from, &tt.to); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// TestWindowed shows which parts of an aggregate's text become window functions: its calls, but not quoted texts.
func TestWindowed(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`sum(v1.l2)`, `sum(v1.l2) OVER ()`}, {`coalesce(sum(x), 0) + count(*)`, `coalesce(sum(x) OVER (), 0) + count(*) OVER ()`},
		{`count + max (x)`, `count + max (x)`}, {`min(f(x, (y))) - 1`, `min(f(x, (y))) OVER () - 1`}, {`summed(x)`, `summed(x)`}, {`sum(x`, `sum(x OVER ()`},
		{`'sum(' || max(x)`, `'sum(' || max(x) OVER ()`}, {`max(x || ')"')`, `max(x || ')"') OVER ()`}, {`'a''sum(b)'`, `'a''sum(b)'`}, {`x ' + sum(y)`, `x ' + sum(y) OVER ()`},
		{`v1."sum(a)" + sum(v1."b)")`, `v1."sum(a)" + sum(v1."b)") OVER ()`}, {"v1.`sum(a)` + sum(v1.`b)`)", "v1.`sum(a)` + sum(v1.`b)`) OVER ()"},
	} {
		if got := windowAggregates(tt.text, " OVER ()", nil); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
}
