package postgres_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/postgres"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden file anew")

// A sheet is texts under their names. It is the scope in which they are written: values are shown as <v>, and a text
// that may be repeated is named a1 and so on, unless it is one letter. The named texts are listed after a text.
type sheet struct {
	expr.Scope
	strings.Builder
	names   []string
	aliases int
}

// Arg implements expr.Scope.
func (b *sheet) Arg(v any, _ string) string { return fmt.Sprintf("<%v>", v) }

// Alias implements expr.Scope.
func (b *sheet) Alias(prefix string) string {
	b.aliases++
	return fmt.Sprint(prefix, b.aliases)
}

// Atom implements expr.Scope.
func (b *sheet) Atom(x string) string {
	if len(x) == 1 || regexp.MustCompile("^a[0-9]+$").MatchString(x) {
		return x
	}
	i := slices.Index(b.names, x)
	if i < 0 {
		i, b.names = len(b.names), append(b.names, x)
	}
	return fmt.Sprintf("a%d", i+1)
}

func (b *sheet) line(name, text string) {
	fmt.Fprintf(b, "%-24s  %s\n", name, text)
	for i, x := range b.names {
		fmt.Fprintf(b, "%24s  %s\n", fmt.Sprintf("a%d", i+1), x)
	}
	b.names, b.aliases = nil, 0
}

func (b *sheet) part(name string) { b.WriteString("\n# " + name + "\n") }

// both returns a text whose writing can't fail here.
func both(t *testing.T) func(string, error) string {
	return func(x string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

const long = "x y" // it isn't a name

// TestTexts shows the texts for operands named x, y and z, or "x y" for a long one. Their results are tested on a server
// (see answers); this test is about computing operands once, and about columns of each type.
func TestTexts(t *testing.T) {
	const file = "testdata/texts.txt"
	golden, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	b := &sheet{}
	b.WriteString("# What PostgreSQL gets. <v> is the place of a value. What stands more than once and is no name is called a1 and so on.\n")
	operators(t, b)
	conversions(b)
	dates(b)
	documents(t, b)
	groups(t, b)
	fields(t, b)
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(golden), b.String()); diff != "" {
		t.Errorf("run with -update when this is right (-want +got):\n%s", diff)
	}
}

func operators(t *testing.T, b *sheet) {
	d, ok := postgres.Dialect(), both(t)
	apply := func(name string, o plan.Op, typ schema.Type, args ...string) {
		b.line(name, ok(d.Apply(b, plan.Apply{Op: o, T: typ}, slices.Clone(args))))
	}
	b.part("operators")
	for _, typ := range []schema.Type{i, m, schema.Double} {
		apply("add "+typ.String(), plan.Add, typ, long, "y", "z")
		apply("multiply "+typ.String(), plan.Mul, typ, long, "y")
		apply("abs "+typ.String(), plan.Abs, typ, long)
		if typ != i {
			apply("floor "+typ.String(), plan.Floor, typ, long)
		}
		b.line("round "+typ.String(), ok(d.Apply(b, plan.Apply{Op: plan.Round, T: typ, Args: []plan.Expr{number(1), number(0)}}, []string{long, "<0>"})))
		b.line("trunc 2 "+typ.String(), ok(d.Apply(b, plan.Apply{Op: plan.Trunc, T: typ, Args: []plan.Expr{number(1), number(2)}}, []string{long, "<2>"})))
	}
	apply("divide", plan.Div, schema.Double, long, "y z")
	apply("substring", plan.Substr, s, long, "y z", "z a")
	apply("split", plan.Split, schema.JSON, long, "y")
	apply("replace", plan.ReplaceAll, s, long, "y", "z a")
	apply("element at", plan.ElemAt, schema.JSON, long, "y z")
	apply("in list", plan.InList, schema.Boolean, long, "y z")
	apply("slice", plan.SliceList, schema.JSON, long, "y z", "z a")
	apply("join lists", plan.JoinLists, schema.JSON, long, "y", "z a")
	apply("size", plan.Size, i, long)
	b.part("comparisons")
	for _, typ := range []schema.Type{s, i, m, schema.JSON} {
		for _, o := range []plan.Op{plan.Eq, plan.Gt, plan.Gte, plan.Lt, plan.Lte} {
			b.line(fmt.Sprintf("x %s y %s", expr.Sign(o), typ), ok(d.Compare(b, o, long, "y z", typ)))
		}
	}
	const place = "\x000\x00"
	for _, pair := range [][2]string{{`(a::int8)`, `(b::int8)`}, {`(a::int8)`, place}, {`(a::int8)`, `(f(b)::int8)`}, {`(a::int8)`, "\x000\x00 + \x001\x00"}, {`(a::int8)`, "\x000\x00 + 1"}, {`(a::int8)`, "c"}} {
		b.line("integers "+strings.ReplaceAll(pair[0]+" "+pair[1], "\x00", "$"), strings.ReplaceAll(ok(d.Compare(b, plan.Gt, pair[0], pair[1], i)), "\x00", "$"))
	}
	b.line("text and a place", strings.ReplaceAll(ok(d.Compare(b, plan.Eq, `(a COLLATE "C")`, place, s)), "\x00", "$"))
	for _, pair := range [][2]string{{`(a COLLATE "C")`, `(b COLLATE "C")`}, {`(a COLLATE "C")`, `(f(b) COLLATE "C")`}, {`(a::text COLLATE "C")`, `(b COLLATE "C")`}} {
		b.line("texts "+pair[0]+" "+pair[1], ok(d.Compare(b, plan.Eq, pair[0], pair[1], s)))
		b.line("texts "+pair[0]+" > "+pair[1], ok(d.Compare(b, plan.Gt, pair[0], pair[1], s)))
	}
}

func conversions(b *sheet) {
	d := postgres.Dialect()
	b.part("conversions")
	for _, from := range []schema.Type{s, i, schema.Double, m, schema.Boolean, schema.Date, schema.Day, schema.UUID, schema.Bytes, schema.JSON} {
		for _, to := range []schema.Type{s, i, schema.Double, m, schema.Boolean, schema.Date} {
			b.line(fmt.Sprintf("%s to %s", from, to), d.Convert(b, long, from, to))
		}
	}
	b.part("wider")
	for _, pair := range [][2]schema.Type{{i, i}, {i, m}, {i, schema.Double}, {m, schema.Double}, {schema.Day, schema.Date}, {schema.UUID, s}} {
		b.line(fmt.Sprintf("%s as %s", pair[0], pair[1]), d.Widen(b, long, pair[0], pair[1]))
	}
}

func dates(b *sheet) {
	d := postgres.Dialect()
	b.part("dates")
	zones := []string{"", "-05:30", "Europe/Oslo"}
	for _, zone := range zones {
		at := " " + zone
		b.line("year"+at, d.DatePart(b, long, "year", zone))
		for _, unit := range []string{"year", "day", "hour"} {
			b.line("trunc "+unit+at, d.DateTrunc(b, long, plan.DateTrunc{Unit: unit, Zone: zone}))
		}
		b.line("trunc week"+at, d.DateTrunc(b, long, plan.DateTrunc{Unit: "week", Zone: zone, WeekStart: 1}))
		b.line("text"+at, d.DateText(b, long, "%Y", zone))
		for _, unit := range []string{"month", "week", "hour", "millisecond"} {
			b.line("shift "+unit+at, d.DateShift(b, long, "y z", unit, zone))
			b.line("diff "+unit+at, d.DateDiff(b, long, "y z", plan.DateDiff{Unit: unit, Zone: zone, WeekStart: 1}))
		}
	}
	b.line("second", d.DatePart(b, "x", "second", ""))
	b.line("millisecond", d.DatePart(b, "x", "millisecond", ""))
	b.line("day of week", d.DatePart(b, "x", "dayOfWeek", ""))
	for _, zone := range []string{"+05:30", "+1:000", "05:300", "+05-30", "+x5:30", "+05:x0", "-x5:30", "-05:3x", "005:30"} {
		b.line("hour "+zone, d.DatePart(b, "x", "hour", zone))
	}
	for _, format := range []string{"", "%", "a%", "%Y-%m", `a"\b%Q%%%Lz`} {
		b.line("as "+format, d.DateText(b, "x", format, ""))
	}
	for _, unit := range []string{"year", "quarter", "minute", "second", "day"} {
		b.line("diff "+unit, d.DateDiff(b, "x", "y", plan.DateDiff{Unit: unit}))
		b.line("shift "+unit, d.DateShift(b, "x", "y", unit, ""))
	}
}

func documents(t *testing.T, b *sheet) {
	d, ok := postgres.Dialect(), both(t)
	b.part("JSON")
	b.line("part", ok(d.Part(b, long, query.Path{"a", "b"})))
	b.line("the whole", ok(d.Part(b, long, nil)))
	b.line("set part", ok(d.SetPart(b, long, query.Path{"a", "b"}, "y")))
	for _, to := range []schema.Type{s, i, schema.Double, m, schema.Boolean, schema.Date, schema.JSON} {
		b.line("as "+to.String(), d.As(b, long, schema.JSON, to))
	}
	for _, from := range []schema.Type{s, schema.Date, schema.Day, schema.Bytes, schema.Array, schema.JSON} {
		b.line(from.String()+" as JSON", d.ToJSON(b, long, from))
	}
	b.line("no members", d.Object(b, nil, nil))
	b.line("no elements", d.List(b, nil))
	// A function takes 100 arguments.
	for _, n := range []int{1, 40, 41, 80, 81} {
		names := slices.Repeat([]string{"a"}, n)
		b.line(fmt.Sprintf("%d members", n), strings.ReplaceAll(d.Object(b, names, names), "<a>, a, ", ""))
		b.line(fmt.Sprintf("%d elements", n), strings.ReplaceAll(d.List(b, names), "a, ", ""))
	}
	body := func(text string) func(expr.Scope, string, string) (string, error) {
		return func(in expr.Scope, element, before string) (string, error) {
			return strings.NewReplacer("E", in.Atom(element), "B", before, "A", in.Atom("x y"), "N", in.Atom("v"), "D", in.Atom(element+" + 1"), "S", in.Atom(strings.TrimSuffix(strings.TrimPrefix(element, "nullif("), ", 'null')"))).Replace(text), nil
		}
	}
	b.line("map", ok(d.Over(b, expr.Over{Do: plan.MapEach, Input: long, Body: body("E A N D S [B]")})))
	b.line("select", ok(d.Over(b, expr.Over{Do: plan.SelectEach, Input: long, Body: body("E")})))
	b.line("select at most", ok(d.Over(b, expr.Over{Do: plan.SelectEach, Input: long, Limit: "y z", Body: body("E")})))
	b.line("reduce", ok(d.Over(b, expr.Over{Do: plan.ReduceEach, Input: long, Initial: "y", Body: body("E B")})))
	from, element, position := d.Elements(b, long)
	b.line("elements", from+"; "+element+"; "+position)
	fault := errors.New("no body")
	for _, do := range []plan.Each{plan.MapEach, plan.ReduceEach} {
		if _, err := d.Over(b, expr.Over{Do: do, Input: "x", Body: func(expr.Scope, string, string) (string, error) { return "", fault }}); !errors.Is(err, fault) {
			t.Errorf("%d: %v", do, err)
		}
	}
	if _, err := d.Matches(b, "x", query.Regex{Pattern: "a{300}"}); err == nil {
		t.Error("a repetition of 300 is written")
	}
}

func groups(t *testing.T, b *sheet) {
	d, ok := postgres.Dialect(), both(t)
	b.part("groups")
	ops := []struct {
		name string
		op   plan.Accumulate
	}{{"sum", plan.Sum}, {"avg", plan.Avg}, {"min", plan.Min}, {"max", plan.Max}, {"deviation", plan.StdDevPop}, {"deviation of a sample", plan.StdDevSamp}}
	for _, typ := range []schema.Type{i, m, schema.Double} {
		for _, o := range ops {
			if o.op != plan.StdDevPop && o.op != plan.StdDevSamp || typ == schema.Double {
				b.line(o.name+" of "+typ.String(), ok(d.Accumulate(b, o.op, long, typ)))
			}
		}
	}
	b.line("sum of a column", ok(d.Accumulate(b, plan.Sum, "(x::int8)", i)))
	b.line("sum of what is cast", ok(d.Accumulate(b, plan.Sum, "(f(x)::int8)", i)))
	b.line("avg of a column", ok(d.Accumulate(b, plan.Avg, "(x::int8)", i)))
	for _, typ := range []schema.Type{s, schema.Boolean, schema.UUID, schema.Bytes, schema.JSON, schema.Date, schema.Array} {
		b.line("min of "+typ.String(), ok(d.Accumulate(b, plan.Min, long, typ)))
		b.line("max of "+typ.String(), ok(d.Accumulate(b, plan.Max, long, typ)))
	}
	b.line("collect", d.Collect(b, "x", nil))
	b.line("collect in order", d.Collect(b, "x", []string{"y", "z"}))
	b.line("digest", d.Digest(b, "seed", []string{"x", "y", "z", "a"}, []schema.Type{s, schema.Any, schema.Bytes, i}))
	b.part("orders and keys")
	for _, typ := range []schema.Type{s, i, schema.Boolean, schema.JSON, schema.Array} {
		b.line(typ.String()+" in order", strings.Join(d.Order(b, long, typ, false), ", "))
		b.line(typ.String()+" from the greatest", strings.Join(d.Order(b, long, typ, true), ", "))
		by, show := d.Key(b, "x", typ, false)
		b.line("key of "+typ.String(), by+"; "+show)
	}
	b.line("text in its order", strings.Join(d.Order(b, `(x COLLATE "C")`, s, false), ", "))
	for _, typ := range []schema.Type{m, schema.Double} {
		by, show := d.Key(b, "x", typ, false)
		b.line("key of "+typ.String(), by+"; "+show)
	}
}

func fields(t *testing.T, b *sheet) {
	d := postgres.Dialect()
	b.part("columns")
	for _, f := range []schema.Field{{Type: s, Native: "text"}, {Type: s, Native: "varchar"}, {Type: s, Native: "text", Unordered: true}, {Type: s, Native: "citext", Unordered: true}, {Type: s, Native: "enum"},
		{Type: i, Native: "int8"}, {Type: i, Native: "int4"}, {Type: schema.Double, Native: "float8"}, {Type: schema.Double, Native: "float4"}, {Type: m, Native: "numeric"},
		{Type: schema.Boolean, Native: "bool"}, {Type: schema.Date, Native: "timestamptz"}, {Type: schema.Date, Native: "timestamp"}, {Type: schema.Day, Native: "date"},
		{Type: schema.JSON, Native: "json"}, {Type: schema.JSON, Native: "jsonb"}, {Type: schema.Array, Native: "text"}, {Type: schema.Opaque, Native: "money"}, {Type: schema.UUID, Native: "uuid"}} {
		name := f.Native
		if f.Unordered {
			name += ", in an order of its own"
		}
		b.line(f.Type.String()+" "+name, d.Stored(b, "x", &f))
	}
	b.part("constants")
	for _, c := range []struct {
		v value.Value
		t schema.Type
	}{{value.Value{}, s}, {value.Value{}, i}, {value.OfString("a"), s}, {value.OfInt(1), i}, {value.OfDecimal("1.0"), i}, {value.OfInt(1), schema.Double}, {value.OfFloat(math.Inf(1)), schema.Double},
		{value.OfDecimal("1.50"), m}, {value.OfDecimal("1e999"), m}, {value.OfDecimal("1E+0999"), m}, {value.OfDecimal("1e1000"), m}, {value.OfDecimal("1E-1000"), m},
		{value.OfBool(false), schema.Boolean}, {value.OfDate(1500000), schema.Date}, {value.OfDay(0), schema.Day}, {value.OfString("0a"), schema.UUID}, {value.OfBytes("a"), schema.Bytes}} {
		b.line(fmt.Sprintf("%s of %s", c.v, c.t), d.Const(b, c.v, c.t))
	}
	for _, n := range []int{600, 601} {
		b.line(fmt.Sprintf("%d digits", n), strings.ReplaceAll(d.Const(b, value.OfDecimal(strings.Repeat("1", n)), m), strings.Repeat("1", 600), "…"))
	}
	doc, err := value.Read([]byte(`{"a":[1e1000,1],"b":1e999}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	b.line("a document", d.Const(b, doc, schema.JSON))
}
