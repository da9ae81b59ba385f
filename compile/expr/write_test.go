package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/compile/expr"
	"github.com/bailiwick-dev/bailiwick/compile/expr/mysql"
	"github.com/bailiwick-dev/bailiwick/compile/expr/postgres"
	"github.com/bailiwick-dev/bailiwick/compile/expr/sqlite"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// What expressions give is tested in the packages of the dialects, in databases. Here is how null passes through logic and
// comparisons, in text.

// columns is a scope: a, b and c are integers, of which a and b are stored; p and q are booleans; j is JSON, s text, d a date.
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
func (columns) Field(e algebra.Expr) (string, *schema.Field) {
	if r, ok := e.(algebra.Ref); ok && r.Column < 2 {
		return "t." + string("ab"[r.Column]), &schema.Field{Type: schema.Integer, Native: "INTEGER"}
	}
	return "", nil
}
func (columns) Outer(_, i int) (string, error) { return "outer" + fmt.Sprint(i), nil }

func ref(i int, t schema.Type) algebra.Expr { return algebra.Ref{Column: i, T: t} }

func apply(op algebra.Op, args ...algebra.Expr) algebra.Expr {
	return algebra.Apply{Op: op, Args: args, T: schema.Boolean}
}

var (
	a, b, c = ref(0, schema.Integer), ref(1, schema.Integer), ref(2, schema.Integer)
	p, q    = ref(3, schema.Boolean), ref(4, schema.Boolean)
	j       = ref(5, schema.JSON)
	s       = ref(6, schema.String)
	d       = ref(7, schema.Date)
	one     = algebra.Const{Value: value.OfInt(1), T: schema.Integer}
	two     = algebra.Const{Value: value.OfInt(2), T: schema.Integer}
	null    = algebra.Const{T: schema.Integer}
	less    = algebra.Apply{Op: algebra.Sub, Args: []algebra.Expr{c, one}, T: schema.Integer} // what may fail
)

// rows are an expression, as a value and as a test, in PostgreSQL. A test may be null where it doesn't hold.
var rows = []struct {
	name       string
	e          algebra.Expr
	text, test string
}{
	{"and, or", apply(algebra.Or, apply(algebra.And, p, q), p), "(((p IS TRUE) AND (q IS TRUE)) OR (p IS TRUE))", "((p AND q) OR p)"},
	{"or in and", apply(algebra.And, apply(algebra.Or, p, q), p), "(((p IS TRUE) OR (q IS TRUE)) AND (p IS TRUE))", "((p OR q) AND p)"},
	{"not", apply(algebra.Not, p), "(NOT (p IS TRUE))", "(NOT (p IS TRUE))"},
	{"not of and", apply(algebra.Not, apply(algebra.And, p, q)), "(NOT ((p IS TRUE) AND (q IS TRUE)))", "(NOT ((p IS TRUE) AND (q IS TRUE)))"},
	{"is null", apply(algebra.IsNull, p), "(p IS NULL)", "(p IS NULL)"},

	// Null equals null. Of two stored columns, an index finds the rest; where one isn't null, neither is equal to it.
	{"equal, stored", apply(algebra.Eq, a, b), "coalesce((a = b), a IS NULL AND b IS NULL)", "((a = b) OR (a IS NULL AND b IS NULL))"},
	{"equal, computed", apply(algebra.Eq, a, c), "coalesce((a = c), a IS NULL AND c IS NULL)", "coalesce((a = c), a IS NULL AND c IS NULL)"},
	{"equal to a constant", apply(algebra.Eq, c, one), "coalesce((c = <1>), c IS NULL AND <1> IS NULL)", "(c = <1>)"},
	{"a constant equal", apply(algebra.Eq, one, c), "coalesce((<1> = c), <1> IS NULL AND c IS NULL)", "(<1> = c)"},
	{"equal to null", apply(algebra.Eq, c, null), "coalesce((c = NULL::int8), c IS NULL AND NULL::int8 IS NULL)", "coalesce((c = NULL::int8), c IS NULL AND NULL::int8 IS NULL)"},
	{"constants", apply(algebra.Eq, one, two), "(<1> = <2>)", "(<1> = <2>)"},
	{"unequal", apply(algebra.Ne, a, b), "(NOT coalesce((a = b), a IS NULL AND b IS NULL))", "(NOT coalesce((a = b), a IS NULL AND b IS NULL))"},
	{"unequal constants", apply(algebra.Ne, one, two), "(NOT (<1> = <2>))", "(NOT (<1> = <2>))"},
	{"the same", apply(algebra.Same, a, b), "coalesce((a = b), FALSE)", "(a = b)"},

	// And is less than all else.
	{"greater", apply(algebra.Gt, a, c), "coalesce((a > c), a IS NOT NULL)", "coalesce((a > c), a IS NOT NULL)"},
	{"greater than a constant", apply(algebra.Gt, a, one), "coalesce((a > <1>), a IS NOT NULL)", "(a > <1>)"},
	{"a constant greater", apply(algebra.Gt, one, a), "coalesce((<1> > a), <1> IS NOT NULL)", "coalesce((<1> > a), <1> IS NOT NULL)"},
	{"at least", apply(algebra.Gte, a, c), "coalesce((a >= c), c IS NULL)", "coalesce((a >= c), c IS NULL)"},
	{"at least a constant", apply(algebra.Gte, a, one), "coalesce((a >= <1>), <1> IS NULL)", "(a >= <1>)"},
	{"less", apply(algebra.Lt, a, c), "coalesce((a < c), c IS NOT NULL)", "coalesce((a < c), c IS NOT NULL)"},
	{"a constant less", apply(algebra.Lt, one, a), "coalesce((<1> < a), a IS NOT NULL)", "(<1> < a)"},
	{"at most", apply(algebra.Lte, a, c), "coalesce((a <= c), a IS NULL)", "coalesce((a <= c), a IS NULL)"},
	{"a constant at most", apply(algebra.Lte, one, a), "coalesce((<1> <= a), <1> IS NULL)", "(<1> <= a)"},
	{"order of", apply(algebra.Cmp, a, c), "(CASE WHEN coalesce((a < c), c IS NOT NULL) THEN -1 WHEN coalesce((a > c), a IS NOT NULL) THEN 1 ELSE <0> END)",
		"(CASE WHEN coalesce((a < c), c IS NOT NULL) THEN -1 WHEN coalesce((a > c), a IS NOT NULL) THEN 1 ELSE <0> END)"},
	{"order of constants", apply(algebra.Cmp, one, two), "(CASE WHEN (<1> < <2>) THEN -1 WHEN (<1> > <2>) THEN 1 ELSE <0> END)", "(CASE WHEN (<1> < <2>) THEN -1 WHEN (<1> > <2>) THEN 1 ELSE <0> END)"},

	// In an and, null is false: a test that is never null stands as it is.
	{"and of equal, stored", apply(algebra.And, apply(algebra.Eq, a, b)), "((((a = b) OR (a IS NULL AND b IS NULL)) IS TRUE))", "(((a = b) OR (a IS NULL AND b IS NULL)))"},
	{"and of equal, computed", apply(algebra.And, apply(algebra.Eq, a, c)), "(coalesce((a = c), a IS NULL AND c IS NULL))", "(coalesce((a = c), a IS NULL AND c IS NULL))"},
	{"and of equal to a constant", apply(algebra.And, apply(algebra.Eq, c, one)), "(((c = <1>) IS TRUE))", "((c = <1>))"},
	{"and of unequal, stored", apply(algebra.And, apply(algebra.Ne, a, b)), "((NOT coalesce((a = b), a IS NULL AND b IS NULL)))", "((NOT coalesce((a = b), a IS NULL AND b IS NULL)))"},
	{"and of the same", apply(algebra.And, apply(algebra.Same, a, b)), "(((a = b) IS TRUE))", "((a = b))"},
	{"and of is null", apply(algebra.And, apply(algebra.IsNull, a)), "((a IS NULL))", "((a IS NULL))"},

	// An operand that stands twice is an atom.
	{"equal to what is computed", apply(algebra.Eq, c, less), "", ""},
	{"order of what is computed", apply(algebra.Cmp, less, c), "", ""},
	{"order of what is computed and never null", apply(algebra.Cmp, apply(algebra.Truth, j), apply(algebra.Eq, a, b)), "", ""},

	{"case", algebra.Case{If: []algebra.Expr{apply(algebra.Eq, c, one)}, Then: []algebra.Expr{a}, Else: b, T: schema.Integer}, "(CASE WHEN (c = <1>) THEN a ELSE b END)", "(CASE WHEN (c = <1>) THEN a ELSE b END)"},
	{"case without else", algebra.Case{If: []algebra.Expr{p}, Then: []algebra.Expr{a}, T: schema.Integer}, "(CASE WHEN p THEN a END)", "(CASE WHEN p THEN a END)"},
	{"first that isn't null", algebra.Apply{Op: algebra.IfNull, Args: []algebra.Expr{a, b}, T: schema.Integer}, "coalesce(a, b)", "coalesce(a, b)"},
	{"JSON as JSON", algebra.ToJSON{X: j}, "j", "j"},
	{"a number as JSON", algebra.ToJSON{X: c}, "to_jsonb(c)", "to_jsonb(c)"},
	{"a record outside", algebra.Outer{Up: 1, Column: 2, T: schema.Integer}, "outer2", "outer2"},
}

// TestWrite shows expressions as values and as tests.
func TestWrite(t *testing.T) {
	for _, tt := range rows {
		text, err := expr.Write(postgres.Dialect(), columns{}, tt.e)
		test, testErr := expr.Condition(postgres.Dialect(), columns{}, tt.e)
		if err != nil || testErr != nil || tt.text != "" && (text != tt.text || test != tt.test) {
			t.Errorf("%s: %v, %v\n got %s\n     %s\nwant %s\n     %s", tt.name, err, testErr, text, test, tt.text, tt.test)
		}
		if tt.text == "" && !strings.Contains(text, "[") {
			t.Errorf("%s: no atom in %s", tt.name, text)
		}
	}
}

// TestSame shows how columns are compared across places: where both are stored, an index may find what is equal.
func TestSame(t *testing.T) {
	for _, tt := range []struct {
		x, y algebra.Expr
		want string
	}{
		{a, b, "((t.a = t.b) AND (a = b))"}, {a, c, "(a = c)"}, {c, b, "(c = b)"},
	} {
		if got, err := expr.Same(sqlite.Dialect(), columns{}, tt.x, columns{}, tt.y); err != nil || got != tt.want {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
	}
}

// TestNullComparer shows a dialect that knows null in each comparison: constants, which aren't null, it compares as others do.
func TestNullComparer(t *testing.T) {
	for _, tt := range []struct {
		e    algebra.Expr
		want string
	}{
		{apply(algebra.Eq, a, c), "(a IS c)"}, {apply(algebra.Ne, a, c), "(a IS NOT c)"}, {apply(algebra.Cmp, a, c), "bailiwick_compare(a, c)"},
		{apply(algebra.Eq, one, two), "(<1> = <2>)"}, {apply(algebra.Ne, one, two), "(<1> IS NOT <2>)"}, {apply(algebra.Cmp, one, two), "bailiwick_compare(<1>, <2>)"},
		{apply(algebra.Gt, one, c), "(coalesce(<1>, -1e19) > coalesce(c, -1e19))"}, {apply(algebra.Gt, one, two), "(<1> > <2>)"},
	} {
		if got, err := expr.Write(sqlite.Dialect(), columns{}, tt.e); err != nil || got != tt.want {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
	}
}

// TestOperands shows what a dialect is asked to write: here each is a function.
func TestOperands(t *testing.T) {
	for _, tt := range []struct {
		e    algebra.Expr
		want string
	}{
		{algebra.Part{X: j, Path: query.Path{"a", "b"}}, "bailiwick_part(j, <a>, <b>)"},
		{algebra.SetPart{X: j, Path: query.Path{"a"}, V: algebra.ToJSON{X: c}}, "bailiwick_set_part(j, CAST(c AS TEXT), <a>)"},
		{algebra.As{X: j, T: schema.Integer}, "bailiwick_as_integer(j)"}, {algebra.Convert{X: c, T: schema.String}, "bailiwick_to_string(c)"},
		{algebra.Widen{X: c, T: schema.Double}, "CAST(c AS REAL)"}, {algebra.Matches{X: s, Regex: query.Regex{Pattern: "a"}}, "bailiwick_matches(<a>, s)"},
		{algebra.DatePart{X: d, Part: "year", Zone: "+01:00"}, "bailiwick_date_part(d, <year>, <+01:00>)"},
		{algebra.DateTrunc{X: d, Unit: "week", WeekStart: 1}, "bailiwick_date_trunc(d, <week>, <>, <1>)"},
		{algebra.DateText{X: d, Format: "%Y", Zone: "+01:00"}, "bailiwick_date_write(d, <%Y>, <+01:00>)"},
		{algebra.DateShift{X: d, Amount: c, Unit: "day"}, "bailiwick_date_shift(d, c, <day>, <>)"},
		{algebra.DateDiff{From: d, To: algebra.Const{T: schema.Date}, Unit: "day"}, "bailiwick_date_diff(d, NULL, <day>, <>, <0>)"},
		{algebra.Object{Names: []string{"a"}, Values: []algebra.Expr{j}}, `(<{"a":> || coalesce(j, 'null') || '}')`},
		{algebra.List{Elements: []algebra.Expr{j}}, "('[' || coalesce(j, 'null') || ']')"},
	} {
		if got, err := expr.Write(sqlite.Dialect(), columns{}, tt.e); err != nil || got != tt.want {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
	}
	if keep, each := (expr.Standard{}).Materialized(true), (expr.Standard{}).Materialized(false); keep != " MATERIALIZED" || each != " NOT MATERIALIZED" {
		t.Errorf("%q, %q", keep, each)
	}
	if got, err := expr.Write(mysql.Dialect(), columns{}, algebra.ToJSON{X: j}); err != nil || got != "j" {
		t.Errorf("JSON as JSON: %s, %v", got, err) // no dialect is asked
	}
	if got, err := expr.Write(sqlite.Dialect(), columns{}, nil); problem.CodeOf(err) != problem.Internal {
		t.Errorf("nothing: %s, %v", got, err)
	}
}

// faulty is a dialect whose n-th step that can fail does. An Over is only its parts.
type faulty struct {
	expr.Dialect
	left *int
}

var errFault = errors.New("this step fails")

func (d faulty) next() error {
	if *d.left--; *d.left == 0 {
		return errFault
	}
	return nil
}

func (d faulty) Compare(s expr.Scope, op algebra.Op, x, y string, t schema.Type) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Compare(s, op, x, y, t)
}

func (d faulty) Apply(s expr.Scope, e algebra.Apply, args []string) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Apply(s, e, args)
}

func (d faulty) Over(s expr.Scope, o expr.Over) (string, error) {
	body, err := o.Body(s, "element", "before")
	return strings.Join([]string{o.Input, o.Initial, o.Limit, body}, "; "), err
}

// overs are an Over of each kind, and what its parts become.
var overs = []struct {
	e    algebra.Expr
	want string
}{
	{algebra.Over{Do: algebra.MapEach, Input: j, Body: apply(algebra.And, p)}, "j; ; ; ((p IS TRUE))"},
	{algebra.Over{Do: algebra.SelectEach, Input: j, Limit: c, Body: apply(algebra.And, p)}, "j; ; c; (p)"},
	{algebra.Over{Do: algebra.ReduceEach, Input: j, Initial: j, Body: algebra.List{Elements: []algebra.Expr{algebra.Element{}, algebra.Before{}}}}, "j; j; ; jsonb_build_array(element, before)"},
	{algebra.Over{Do: algebra.MapEach, Input: j, Body: algebra.Over{Do: algebra.MapEach, Input: algebra.Element{}, Body: algebra.Element{Up: 1}}}, "j; ; ; element; ; ; element"},
	{algebra.Over{Do: algebra.SelectEach, Input: algebra.ToJSON{X: less}, Limit: less, Body: apply(algebra.Eq, less, one)}, ""},
}

func TestOver(t *testing.T) {
	for _, tt := range overs {
		left := 0
		if got, err := expr.Write(faulty{postgres.Dialect(), &left}, columns{}, tt.e); err != nil || tt.want != "" && got != tt.want {
			t.Errorf("%s, %v; want %s", got, err, tt.want)
		}
	}
	for _, e := range []algebra.Expr{algebra.Element{}, algebra.Before{}, algebra.Element{Up: -1},
		algebra.Over{Do: algebra.MapEach, Input: j, Body: algebra.Element{Up: 1}}, algebra.Over{Do: algebra.MapEach, Input: j, Body: algebra.Element{Up: -1}}} {
		if got, err := expr.Write(faulty{postgres.Dialect(), new(int)}, columns{}, e); problem.CodeOf(err) != problem.Internal {
			t.Errorf("%v: %s, %v", e, got, err)
		}
	}
}

// TestFaults wants no error passed over, wherever it comes from.
func TestFaults(t *testing.T) {
	asked := []algebra.Expr{
		algebra.Object{Names: []string{"a"}, Values: []algebra.Expr{algebra.ToJSON{X: less}}}, algebra.List{Elements: []algebra.Expr{algebra.ToJSON{X: less}}},
		algebra.Case{If: []algebra.Expr{apply(algebra.Eq, less, one)}, Then: []algebra.Expr{less}, Else: less, T: schema.Integer},
		algebra.DateShift{X: algebra.Convert{X: less, T: schema.Date}, Amount: less, Unit: "day"}, algebra.DateDiff{From: algebra.As{X: j, T: schema.Date}, To: algebra.Convert{X: less, T: schema.Date}, Unit: "day"},
		algebra.Part{X: algebra.ToJSON{X: less}, Path: query.Path{"a"}}, algebra.SetPart{X: algebra.ToJSON{X: less}, Path: query.Path{"a"}, V: algebra.ToJSON{X: less}},
		algebra.Widen{X: less, T: schema.Double}, algebra.As{X: algebra.ToJSON{X: less}, T: schema.Integer}, algebra.Matches{X: algebra.Convert{X: less, T: schema.String}, Regex: query.Regex{Pattern: "a"}},
		apply(algebra.Same, less, less), apply(algebra.And, apply(algebra.Same, less, less)), apply(algebra.Not, apply(algebra.Eq, less, less)), apply(algebra.Ne, less, c), apply(algebra.Cmp, less, c),
		apply(algebra.IsNull, less), apply(algebra.Truth, less),
	}
	for _, tt := range rows {
		asked = append(asked, tt.e)
	}
	for _, tt := range overs {
		asked = append(asked, tt.e)
	}
	steps := 0
	for _, e := range asked {
		for name, write := range map[string]func(expr.Dialect, expr.Scope, algebra.Expr) (string, error){"value": expr.Write, "test": expr.Condition} {
			for n := 1; ; n++ {
				left := n
				_, err := write(faulty{postgres.Dialect(), &left}, columns{}, e)
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
