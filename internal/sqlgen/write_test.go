package sqlgen_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The packages of the dialects test the results of expressions in databases. The tests here cover the text for null in
// logic and comparisons.

// columns is a scope. a, b and c are integers: a and b are stored, c is computed. p and q are booleans, j is JSON, s is
// a text, d is a date.
type columns struct{}

func (columns) Arg(v any, _ string) string { return fmt.Sprintf("<%v>", v) }
func (columns) Alias(prefix string) string { return prefix }
func (columns) Atom(x string) string {
	if strings.Contains(x, " ") {
		return "[" + x + "]"
	}
	return x
}
func (columns) Column(i int) string { return string("abcpqjsd"[i]) }
func (columns) Field(e plan.Expr) (string, *schema.Field) {
	if r, ok := e.(plan.Ref); ok && r.Column < 2 {
		return "t." + string("ab"[r.Column]), &schema.Field{Type: schema.Integer, Native: "INTEGER"}
	}
	return "", nil
}
func (columns) Outer(_, i int) (string, error) { return "outer" + fmt.Sprint(i), nil }

func ref(i int, t schema.Type) plan.Expr { return plan.Ref{Column: i, T: t} }

func apply(op plan.Op, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: op, Args: args, T: schema.Boolean}
}

var (
	a, b, c = ref(0, schema.Integer), ref(1, schema.Integer), ref(2, schema.Integer)
	p, q    = ref(3, schema.Boolean), ref(4, schema.Boolean)
	j       = ref(5, schema.JSON)
	s       = ref(6, schema.String)
	d       = ref(7, schema.Date)
	one     = plan.Const{Value: value.OfInt(1), T: schema.Integer}
	two     = plan.Const{Value: value.OfInt(2), T: schema.Integer}
	null    = plan.Const{T: schema.Integer}
	less    = plan.Apply{Op: plan.Sub, Args: []plan.Expr{c, one}, T: schema.Integer} // it may be null, so it is not definite
)

// rows are expressions, as a value and as a test, in PostgreSQL. A test that doesn't hold may be null.
var rows = []struct {
	name       string
	e          plan.Expr
	text, test string
}{
	{"and, or", apply(plan.Or, apply(plan.And, p, q), p), "(((p IS TRUE) AND (q IS TRUE)) OR (p IS TRUE))", "((p AND q) OR p)"},
	{"or in and", apply(plan.And, apply(plan.Or, p, q), p), "(((p IS TRUE) OR (q IS TRUE)) AND (p IS TRUE))", "((p OR q) AND p)"},
	{"not", apply(plan.Not, p), "(NOT (p IS TRUE))", "(NOT (p IS TRUE))"},
	{"not of and", apply(plan.Not, apply(plan.And, p, q)), "(NOT ((p IS TRUE) AND (q IS TRUE)))", "(NOT ((p IS TRUE) AND (q IS TRUE)))"},
	{"is null", apply(plan.IsNull, p), "(p IS NULL)", "(p IS NULL)"},

	// Null equals null. Between two stored columns, an index finds equal values. If one column is never null, a null in
	// the other isn't equal.
	{"equal, stored", apply(plan.Eq, a, b), "coalesce((a = b), a IS NULL AND b IS NULL)", "((a = b) OR (a IS NULL AND b IS NULL))"},
	{"equal, computed", apply(plan.Eq, a, c), "coalesce((a = c), a IS NULL AND c IS NULL)", "coalesce((a = c), a IS NULL AND c IS NULL)"},
	{"equal to a constant", apply(plan.Eq, c, one), "coalesce((c = <1>), c IS NULL AND <1> IS NULL)", "(c = <1>)"},
	{"a constant equal", apply(plan.Eq, one, c), "coalesce((<1> = c), <1> IS NULL AND c IS NULL)", "(<1> = c)"},
	{"equal to null", apply(plan.Eq, c, null), "coalesce((c = NULL::int8), c IS NULL AND NULL::int8 IS NULL)", "coalesce((c = NULL::int8), c IS NULL AND NULL::int8 IS NULL)"},
	{"constants", apply(plan.Eq, one, two), "(<1> = <2>)", "(<1> = <2>)"},
	{"unequal", apply(plan.Ne, a, b), "(NOT coalesce((a = b), a IS NULL AND b IS NULL))", "(NOT coalesce((a = b), a IS NULL AND b IS NULL))"},
	{"unequal constants", apply(plan.Ne, one, two), "(NOT (<1> = <2>))", "(NOT (<1> = <2>))"},
	{"the same", apply(plan.Same, a, b), "coalesce((a = b), FALSE)", "(a = b)"},
	{"not the same", apply(plan.Differ, a, b), "coalesce((NOT (a = b)), FALSE)", "(NOT (a = b))"},
	{"under", apply(plan.Under, a, c), "coalesce((a < c), FALSE)", "(a < c)"},
	{"up to", apply(plan.UpTo, a, c), "coalesce((a <= c), FALSE)", "(a <= c)"},
	{"and of not the same", apply(plan.And, apply(plan.Differ, a, b)), "(((NOT (a = b)) IS TRUE))", "((NOT (a = b)))"},
	{"and of up to and under", apply(plan.And, apply(plan.UpTo, a, c), apply(plan.Under, c, one)), "(((a <= c) IS TRUE) AND ((c < <1>) IS TRUE))", "((a <= c) AND (c < <1>))"},

	// Null is less than all other values.
	{"greater", apply(plan.Gt, a, c), "coalesce((a > c), a IS NOT NULL)", "coalesce((a > c), a IS NOT NULL)"},
	{"greater than a constant", apply(plan.Gt, a, one), "coalesce((a > <1>), a IS NOT NULL)", "(a > <1>)"},
	{"a constant greater", apply(plan.Gt, one, a), "coalesce((<1> > a), <1> IS NOT NULL)", "coalesce((<1> > a), <1> IS NOT NULL)"},
	{"at least", apply(plan.Gte, a, c), "coalesce((a >= c), c IS NULL)", "coalesce((a >= c), c IS NULL)"},
	{"at least a constant", apply(plan.Gte, a, one), "coalesce((a >= <1>), <1> IS NULL)", "(a >= <1>)"},
	{"less", apply(plan.Lt, a, c), "coalesce((a < c), c IS NOT NULL)", "coalesce((a < c), c IS NOT NULL)"},
	{"a constant less", apply(plan.Lt, one, a), "coalesce((<1> < a), a IS NOT NULL)", "(<1> < a)"},
	{"at most", apply(plan.Lte, a, c), "coalesce((a <= c), a IS NULL)", "coalesce((a <= c), a IS NULL)"},
	{"a constant at most", apply(plan.Lte, one, a), "coalesce((<1> <= a), <1> IS NULL)", "(<1> <= a)"},
	{"order of", apply(plan.Cmp, a, c), "(CASE WHEN coalesce((a < c), c IS NOT NULL) THEN -1 WHEN coalesce((a > c), a IS NOT NULL) THEN 1 ELSE <0> END)",
		"(CASE WHEN coalesce((a < c), c IS NOT NULL) THEN -1 WHEN coalesce((a > c), a IS NOT NULL) THEN 1 ELSE <0> END)"},
	{"order of constants", apply(plan.Cmp, one, two), "(CASE WHEN (<1> < <2>) THEN -1 WHEN (<1> > <2>) THEN 1 ELSE <0> END)", "(CASE WHEN (<1> < <2>) THEN -1 WHEN (<1> > <2>) THEN 1 ELSE <0> END)"},

	// In an And, null is false. A test that is never null is unchanged.
	{"and of equal, stored", apply(plan.And, apply(plan.Eq, a, b)), "((((a = b) OR (a IS NULL AND b IS NULL)) IS TRUE))", "(((a = b) OR (a IS NULL AND b IS NULL)))"},
	{"and of equal, computed", apply(plan.And, apply(plan.Eq, a, c)), "(coalesce((a = c), a IS NULL AND c IS NULL))", "(coalesce((a = c), a IS NULL AND c IS NULL))"},
	{"and of equal to a constant", apply(plan.And, apply(plan.Eq, c, one)), "(((c = <1>) IS TRUE))", "((c = <1>))"},
	{"and of unequal, stored", apply(plan.And, apply(plan.Ne, a, b)), "((NOT coalesce((a = b), a IS NULL AND b IS NULL)))", "((NOT coalesce((a = b), a IS NULL AND b IS NULL)))"},
	{"and of the same", apply(plan.And, apply(plan.Same, a, b)), "(((a = b) IS TRUE))", "((a = b))"},
	{"and of is null", apply(plan.And, apply(plan.IsNull, a)), "((a IS NULL))", "((a IS NULL))"},

	// An operand that occurs twice is an atom.
	{"equal to what is computed", apply(plan.Eq, c, less), "", ""},
	{"order of what is computed", apply(plan.Cmp, less, c), "", ""},
	{"order of what is computed and never null", apply(plan.Cmp, apply(plan.Truth, j), apply(plan.Eq, a, b)), "", ""},

	{"case", plan.Case{If: []plan.Expr{apply(plan.Eq, c, one)}, Then: []plan.Expr{a}, Else: b, T: schema.Integer}, "(CASE WHEN (c = <1>) THEN a ELSE b END)", "(CASE WHEN (c = <1>) THEN a ELSE b END)"},
	{"case without else", plan.Case{If: []plan.Expr{p}, Then: []plan.Expr{a}, T: schema.Integer}, "(CASE WHEN p THEN a END)", "(CASE WHEN p THEN a END)"},
	{"first that isn't null", plan.Apply{Op: plan.IfNull, Args: []plan.Expr{a, b}, T: schema.Integer}, "coalesce(a, b)", "coalesce(a, b)"},
	{"JSON as JSON", plan.ToJSON{X: j}, "j", "j"},
	{"a number as JSON", plan.ToJSON{X: c}, "to_jsonb(c)", "to_jsonb(c)"},
	{"a record outside", plan.Outer{Up: 1, Column: 2, T: schema.Integer}, "outer2", "outer2"},
}

// TestWrite shows expressions as values and as tests.
func TestWrite(t *testing.T) {
	for _, tt := range rows {
		text, err := sqlgen.WriteExpr(postgres.Dialect(), columns{}, tt.e)
		test, testErr := sqlgen.WriteCondition(postgres.Dialect(), columns{}, tt.e)
		if err != nil || testErr != nil || tt.text != "" && (text != tt.text || test != tt.test) {
			t.Errorf("%s: %v, %v\n got %s\n     %s\nwant %s\n     %s", tt.name, err, testErr, text, test, tt.text, tt.test)
		}
		if tt.text == "" && !strings.Contains(text, "[") {
			t.Errorf("%s: no atom in %s", tt.name, text)
		}
	}
}

// TestOffset shows which zones have a fixed offset.
func TestOffset(t *testing.T) {
	for _, tt := range []struct {
		zone    string
		minutes int
		ok      bool
	}{
		{"", 0, true}, {"+05:30", 330, true}, {"-05:30", -330, true}, {"-00:15", -15, true}, {"Europe/Oslo", 0, false}, {"Turkey", 0, false}, {"+0530", 0, false}, {"+05-30", 0, false},
		{"x05:30", 0, false}, {"+x5:30", 30, false}, {"+05:x0", 300, false}, {"-x5:30", -30, false}, {"-05:x0", -300, false},
	} {
		if minutes, ok := sqlgen.ZoneOffset(tt.zone); ok != tt.ok || minutes != tt.minutes && ok {
			t.Errorf("%q: %d, %t; want %d, %t", tt.zone, minutes, ok, tt.minutes, tt.ok)
		}
	}
}

// TestSame shows comparisons of columns in two scopes. If both columns are stored, an index can find equal values.
func TestSame(t *testing.T) {
	for _, tt := range []struct {
		x, y plan.Expr
		want string
	}{
		{a, b, "((t.a = t.b) AND (a = b))"}, {a, c, "(a = c)"}, {c, b, "(c = b)"},
	} {
		if got, err := sqlgen.Same(sqlite.Dialect(), columns{}, tt.x, columns{}, tt.y); err != nil || got != tt.want {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
	}
}

// TestNullComparer checks a dialect that compares nulls itself. Constants are never null, so their comparison is the
// same as in other dialects.
func TestNullComparer(t *testing.T) {
	for _, tt := range []struct {
		e    plan.Expr
		want string
	}{
		{apply(plan.Eq, a, c), "(a IS c)"}, {apply(plan.Ne, a, c), "(a IS NOT c)"}, {apply(plan.Cmp, a, c), "bailiwick_compare(a, c)"},
		{apply(plan.Eq, one, two), "(<1> = <2>)"}, {apply(plan.Ne, one, two), "(<1> IS NOT <2>)"}, {apply(plan.Cmp, one, two), "bailiwick_compare(<1>, <2>)"},
		{apply(plan.Gt, one, c), "(coalesce(<1>, -1e19) > coalesce(c, -1e19))"}, {apply(plan.Gt, one, two), "(<1> > <2>)"},
	} {
		if got, err := sqlgen.WriteExpr(sqlite.Dialect(), columns{}, tt.e); err != nil || got != tt.want {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
	}
}

// TestOperands shows the calls that a dialect receives. Each operator is written here as a function.
func TestOperands(t *testing.T) {
	for _, tt := range []struct {
		e    plan.Expr
		want string
	}{
		{plan.Part{X: j, Path: query.Path{"a", "b"}}, "bailiwick_part(j, <a>, <b>)"},
		{plan.SetPart{X: j, Path: query.Path{"a"}, V: plan.ToJSON{X: c}}, "bailiwick_set_part(j, CAST(c AS TEXT), <a>)"},
		{plan.As{X: j, T: schema.Integer}, "bailiwick_as_integer(j)"}, {plan.Convert{X: c, T: schema.String}, "bailiwick_to_string(c)"},
		{plan.Widen{X: c, T: schema.Double}, "CAST(c AS REAL)"}, {plan.Matches{X: s, Regex: query.Regex{Pattern: "a"}}, "bailiwick_matches(<a>, s)"},
		{plan.DatePart{X: d, Part: "year", Zone: "+01:00"}, "bailiwick_date_part(d, <year>, <+01:00>)"},
		{plan.DateTrunc{X: d, Unit: "week", WeekStart: 1}, "bailiwick_date_trunc(d, <week>, <>, <1>)"},
		{plan.DateText{X: d, Format: "%Y", Zone: "+01:00"}, "bailiwick_date_write(d, <%Y>, <+01:00>)"},
		{plan.DateShift{X: d, Amount: c, Unit: "day"}, "bailiwick_date_shift(d, c, <day>, <>)"},
		{plan.DateDiff{From: d, To: plan.Const{T: schema.Date}, Unit: "day"}, "bailiwick_date_diff(d, NULL, <day>, <>, <0>)"},
		{plan.Object{Names: []string{"a"}, Values: []plan.Expr{j}}, `(<{"a":> || coalesce(j, 'null') || '}')`},
		{plan.List{Elements: []plan.Expr{j}}, "('[' || coalesce(j, 'null') || ']')"},
	} {
		if got, err := sqlgen.WriteExpr(sqlite.Dialect(), columns{}, tt.e); err != nil || got != tt.want {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
	}
	if keep, each := (sqlgen.Standard{}).MaterializedKeyword(true), (sqlgen.Standard{}).MaterializedKeyword(false); keep != " MATERIALIZED" || each != " NOT MATERIALIZED" {
		t.Errorf("%q, %q", keep, each)
	}
	if got, err := sqlgen.WriteExpr(mariadb.Dialect(), columns{}, plan.ToJSON{X: j}); err != nil || got != "j" {
		t.Errorf("JSON as JSON: %s, %v", got, err) // the dialect isn't called
	}
	if got, err := sqlgen.WriteExpr(sqlite.Dialect(), columns{}, nil); problem.CodeOf(err) != problem.Internal {
		t.Errorf("nothing: %s, %v", got, err)
	}
}

// faultyExpr is a dialect in which the n-th step that can fail does fail. The text of an Over consists only of its
// parts.
type faultyExpr struct {
	sqlgen.Dialect
	left *int
}

var errFault = errors.New("this step fails")

func (d faultyExpr) next() error {
	if *d.left--; *d.left == 0 {
		return errFault
	}
	return nil
}

func (d faultyExpr) Compare(s sqlgen.Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Compare(s, op, x, y, t)
}

func (d faultyExpr) Apply(s sqlgen.Scope, e plan.Apply, args []string) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Apply(s, e, args)
}

func (d faultyExpr) Over(s sqlgen.Scope, o sqlgen.Over) (string, error) {
	body, err := o.Body(s, "element", "before")
	return strings.Join([]string{o.Input, o.Initial, o.Limit, body}, "; "), err
}

// overs are one Over of each kind, with the text of its parts.
var overs = []struct {
	e    plan.Expr
	want string
}{
	{plan.Over{Do: plan.MapEach, Input: j, Body: apply(plan.And, p)}, "j; ; ; ((p IS TRUE))"},
	{plan.Over{Do: plan.SelectEach, Input: j, Limit: c, Body: apply(plan.And, p)}, "j; ; c; (p)"},
	{plan.Over{Do: plan.ReduceEach, Input: j, Initial: j, Body: plan.List{Elements: []plan.Expr{plan.Element{}, plan.Before{}}}}, "j; j; ; jsonb_build_array(element, before)"},
	{plan.Over{Do: plan.MapEach, Input: j, Body: plan.Over{Do: plan.MapEach, Input: plan.Element{}, Body: plan.Element{Up: 1}}}, "j; ; ; element; ; ; element"},
	{plan.Over{Do: plan.SelectEach, Input: plan.ToJSON{X: less}, Limit: less, Body: apply(plan.Eq, less, one)}, ""},
}

func TestOver(t *testing.T) {
	for _, tt := range overs {
		left := 0
		if got, err := sqlgen.WriteExpr(faultyExpr{postgres.Dialect(), &left}, columns{}, tt.e); err != nil || tt.want != "" && got != tt.want {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
	}
	for _, e := range []plan.Expr{plan.Element{}, plan.Before{}, plan.Element{Up: -1},
		plan.Over{Do: plan.MapEach, Input: j, Body: plan.Element{Up: 1}}, plan.Over{Do: plan.MapEach, Input: j, Body: plan.Element{Up: -1}}} {
		if got, err := sqlgen.WriteExpr(faultyExpr{postgres.Dialect(), new(int)}, columns{}, e); problem.CodeOf(err) != problem.Internal {
			t.Errorf("%v: %s, %v", e, got, err)
		}
	}
}

// TestExpressionFaults checks that no error is ignored, wherever it occurs.
func TestExpressionFaults(t *testing.T) {
	asked := []plan.Expr{
		plan.Object{Names: []string{"a"}, Values: []plan.Expr{plan.ToJSON{X: less}}}, plan.List{Elements: []plan.Expr{plan.ToJSON{X: less}}},
		plan.Case{If: []plan.Expr{apply(plan.Eq, less, one)}, Then: []plan.Expr{less}, Else: less, T: schema.Integer},
		plan.DateShift{X: plan.Convert{X: less, T: schema.Date}, Amount: less, Unit: "day"}, plan.DateDiff{From: plan.As{X: j, T: schema.Date}, To: plan.Convert{X: less, T: schema.Date}, Unit: "day"},
		plan.Part{X: plan.ToJSON{X: less}, Path: query.Path{"a"}}, plan.SetPart{X: plan.ToJSON{X: less}, Path: query.Path{"a"}, V: plan.ToJSON{X: less}},
		plan.Widen{X: less, T: schema.Double}, plan.As{X: plan.ToJSON{X: less}, T: schema.Integer}, plan.Matches{X: plan.Convert{X: less, T: schema.String}, Regex: query.Regex{Pattern: "a"}},
		apply(plan.Same, less, less), apply(plan.And, apply(plan.Same, less, less)), apply(plan.Not, apply(plan.Eq, less, less)), apply(plan.Ne, less, c), apply(plan.Cmp, less, c),
		apply(plan.IsNull, less), apply(plan.Truth, less),
	}
	for _, tt := range rows {
		asked = append(asked, tt.e)
	}
	for _, tt := range overs {
		asked = append(asked, tt.e)
	}
	steps := 0
	for _, e := range asked {
		for name, write := range map[string]func(sqlgen.Dialect, sqlgen.Scope, plan.Expr) (string, error){"value": sqlgen.WriteExpr, "test": sqlgen.WriteCondition} {
			for n := 1; ; n++ {
				left := n
				_, err := write(faultyExpr{postgres.Dialect(), &left}, columns{}, e)
				if left > 0 {
					break
				}
				if steps++; !errors.Is(err, errFault) {
					t.Errorf("%#v as a %s: step %d fails, and the error is %v", e, name, n, err)
				}
			}
		}
	}
	if steps < 100 {
		t.Errorf("only %d steps can fail", steps)
	}
}
