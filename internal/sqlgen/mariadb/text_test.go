package mariadb_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/mariadb"
	"github.com/bailiwick-dev/bailiwick/problem"
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
// (see TestExpressions); this test is about computing operands once, and about columns of each type.
func TestTexts(t *testing.T) {
	const file = "testdata/texts.txt"
	golden, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	b := &sheet{}
	b.WriteString("# What MariaDB gets. <v> is the place of a value. What stands more than once and is no name is called a1 and so on.\n")
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
	d, ok := mariadb.Dialect(), both(t)
	apply := func(name string, o plan.Op, typ schema.Type, args ...string) {
		b.line(name, ok(d.Apply(b, plan.Apply{Op: o, T: typ}, slices.Clone(args))))
	}
	b.part("operators")
	for _, typ := range []schema.Type{schema.Integer, schema.Decimal, schema.Double} {
		apply("add "+typ.String(), plan.Add, typ, long, "y", "z")
		apply("multiply "+typ.String(), plan.Mul, typ, long, "y")
		apply("modulo "+typ.String(), plan.Mod, typ, long, "y")
		apply("abs "+typ.String(), plan.Abs, typ, long)
		if typ != schema.Integer {
			apply("floor "+typ.String(), plan.Floor, typ, long)
			apply("ceil "+typ.String(), plan.Ceil, typ, long)
		}
		for _, o := range []struct {
			name string
			op   plan.Op
		}{{"trunc", plan.Trunc}, {"round", plan.Round}} {
			b.line(o.name+" "+typ.String(), ok(d.Apply(b, plan.Apply{Op: o.op, T: typ, Args: []plan.Expr{number(1), number(2)}}, []string{long, "<2>"})))
		}
	}
	apply("divide", plan.Div, schema.Double, long, "y z")
	apply("substring", plan.Substr, schema.String, long, "y z", "z a")
	apply("replace", plan.ReplaceAll, schema.String, long, "y", "z a")
	for _, set := range []plan.Expr{text("-a"), text(""), op(plan.Concat, schema.String, text("a"), text("b"))} {
		for _, o := range []plan.Op{plan.Trim, plan.TrimLeft, plan.TrimRight} {
			b.line("trim", ok(d.Apply(b, plan.Apply{Op: o, T: schema.String, Args: []plan.Expr{text("x"), set}}, []string{long, "y"})))
		}
	}
	for _, separator := range []string{",", "\"\n", "\x01\x1f ", "\x7f"} {
		b.line("split", ok(d.Apply(b, plan.Apply{Op: plan.Split, T: schema.JSON, Args: []plan.Expr{text("x"), text(separator)}}, []string{long, "y"})))
	}
	apply("truth", plan.Truth, schema.Boolean, long)
	apply("type of", plan.TypeOf, schema.String, long)
	apply("is list", plan.IsList, schema.Boolean, long)
	apply("size", plan.Size, schema.Integer, long)
	apply("element at", plan.ElemAt, schema.JSON, long, "y z")
	apply("in list", plan.InList, schema.Boolean, long, "y z")
	apply("slice", plan.SliceList, schema.JSON, long, "y z", "z a")
	apply("slice to the end", plan.SliceList, schema.JSON, long, "y")
	apply("join lists", plan.JoinLists, schema.JSON, long, "y", "z a")
	apply("least of a list", plan.MinList, schema.Double, long)
	if text, err := d.Apply(b, plan.Apply{Op: plan.And, T: schema.Boolean}, []string{"x", "y"}); err == nil {
		t.Errorf("an and of lists: %s", text)
	}
	b.part("comparisons")
	for _, typ := range []schema.Type{schema.String, schema.UUID, schema.JSON} {
		for _, o := range []plan.Op{plan.Eq, plan.Gt, plan.Gte, plan.Lt, plan.Lte} {
			b.line(fmt.Sprintf("x %s y %s", expr.Sign(o), typ), ok(d.Compare(b, o, long, "y z", typ)))
		}
	}
	for _, pair := range [][2]schema.Field{{{Type: schema.Integer}, {Type: schema.Integer}}, {{Type: schema.Integer}, {Type: schema.UUID}}, {{Type: schema.UUID}, {Type: schema.UUID}},
		{{Type: schema.String}, {Type: schema.String}}, {{Type: schema.String, Unordered: true}, {Type: schema.String}}, {{Type: schema.String}, {Type: schema.String, Unordered: true}},
		{{Type: schema.Double}, {Type: schema.Double}}} {
		b.line(fmt.Sprintf("find %s %s %t %t", pair[0].Type, pair[1].Type, pair[0].Unordered, pair[1].Unordered), d.Find("x", &pair[0], "y", &pair[1]))
	}
}

func conversions(b *sheet) {
	d := mariadb.Dialect()
	b.part("conversions")
	for _, from := range []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.Day, schema.UUID, schema.Bytes, schema.JSON} {
		for _, to := range []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date} {
			b.line(fmt.Sprintf("%s to %s", from, to), d.Convert(b, long, from, to))
		}
	}
	b.part("wider")
	for _, pair := range [][2]schema.Type{{schema.Integer, schema.Decimal}, {schema.Integer, schema.Double}, {schema.Decimal, schema.Double}, {schema.Double, schema.Decimal}, {schema.Day, schema.Date}, {schema.UUID, schema.String}} {
		b.line(fmt.Sprintf("%s as %s", pair[0], pair[1]), d.Widen(b, long, pair[0], pair[1]))
	}
}

func dates(b *sheet) {
	d := mariadb.Dialect()
	b.part("dates")
	zones := []string{"", "-05:30", "Asia/Kathmandu"}
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
	for _, zone := range []string{"+05:30", "*05:30", "+05-30", "UTC", "Europe/Oslo"} {
		// Of a zone with many changes only the form is shown: tables of zones differ between systems.
		b.line("hour "+zone, regexp.MustCompile("(, -?[0-9]+){5,}").ReplaceAllString(d.DatePart(b, "x", "hour", zone), ", …"))
	}
	for _, part := range []string{"isoDayOfWeek", "isoWeek", "isoWeekYear"} {
		b.line(part, d.DatePart(b, "x", part, ""))
	}
	for _, unit := range []string{"quarter", "month", "minute", "second", "millisecond"} {
		b.line("trunc "+unit, d.DateTrunc(b, "x", plan.DateTrunc{Unit: unit}))
	}
	for _, format := range []string{"", "%", "a%", "%Y-%m", `a"\b%Q%%%Lz%u%L`} {
		b.line("as "+format, d.DateText(b, "x", format, ""))
	}
	for _, unit := range []string{"year", "quarter", "minute", "second", "day"} {
		b.line("diff "+unit, d.DateDiff(b, "x", "y", plan.DateDiff{Unit: unit}))
		b.line("shift "+unit, d.DateShift(b, "x", "y", unit, ""))
	}
}

func documents(t *testing.T, b *sheet) {
	d, ok := mariadb.Dialect(), both(t)
	b.part("JSON")
	b.line("part", ok(d.Part(b, long, query.Path{"a", "b"})))
	b.line("a name with quotes", ok(d.Part(b, long, query.Path{`a"\`})))
	b.line("set part", ok(d.SetPart(b, long, query.Path{"a", "b"}, "y")))
	for _, to := range []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.Bytes} {
		b.line("as "+to.String(), d.As(b, long, schema.JSON, to))
	}
	b.line("anything as integer", d.As(b, long, schema.Any, schema.Integer))
	for _, from := range []schema.Type{schema.String, schema.Boolean, schema.Integer, schema.Double, schema.Decimal, schema.Date, schema.Day, schema.UUID, schema.Bytes, schema.Opaque} {
		b.line(from.String()+" as JSON", d.ToJSON(b, long, from))
	}
	b.line("no members", d.Object(b, nil, nil))
	b.line("no elements", d.List(b, nil))
	for _, n := range []int{1, 3} {
		names := slices.Repeat([]string{"a"}, n)
		b.line(fmt.Sprintf("%d members", n), d.Object(b, names, names))
		b.line(fmt.Sprintf("%d elements", n), d.List(b, names))
	}
	body := func(text string) func(expr.Scope, string, string) (string, error) {
		return func(in expr.Scope, element, before string) (string, error) {
			return strings.NewReplacer("E", in.Atom(element), "B", before, "A", in.Atom("x y"), "N", in.Atom("v")).Replace(text), nil
		}
	}
	b.line("map", ok(d.Over(b, expr.Over{Do: plan.MapEach, Input: long, Body: body("E A N [B]")})))
	b.line("select", ok(d.Over(b, expr.Over{Do: plan.SelectEach, Input: long, Body: body("E")})))
	b.line("select at most", ok(d.Over(b, expr.Over{Do: plan.SelectEach, Input: long, Limit: "y z", Body: body("E")})))
	if _, err := d.Over(b, expr.Over{Do: plan.ReduceEach, Input: long, Initial: "y", Body: body("E B")}); problem.CodeOf(err) != problem.Unsupported {
		t.Errorf("reduce: %v", err)
	}
	from, element, position := d.Elements(b, long)
	b.line("elements", from+"; "+element+"; "+position)
	fault := errors.New("no body")
	for _, do := range []plan.Each{plan.MapEach, plan.SelectEach} {
		if _, err := d.Over(b, expr.Over{Do: do, Input: "x", Body: func(expr.Scope, string, string) (string, error) { return "", fault }}); !errors.Is(err, fault) {
			t.Errorf("%d: %v", do, err)
		}
	}
	if _, err := d.Matches(b, "x", query.Regex{Pattern: "a{1000}"}); err == nil {
		t.Error("a repetition of 1,000 is written")
	}
}

func groups(t *testing.T, b *sheet) {
	d, ok := mariadb.Dialect(), both(t)
	b.part("groups")
	for _, typ := range []schema.Type{schema.Integer, schema.Decimal, schema.Double} {
		b.line("sum of "+typ.String(), ok(d.Accumulate(b, plan.Sum, long, typ)))
		b.line("avg of "+typ.String(), ok(d.Accumulate(b, plan.Avg, long, typ)))
	}
	// A long text is computed below, except for a count.
	for _, n := range []int{199, 200} {
		b.line(fmt.Sprintf("max of %d bytes", n), strings.ReplaceAll(ok(d.Accumulate(b, plan.Max, strings.Repeat("x", n), schema.String)), strings.Repeat("x", n), "…"))
	}
	b.line("count", ok(d.Accumulate(b, plan.Count, "", schema.JSON)))
	b.line("deviation", ok(d.Accumulate(b, plan.StdDevPop, long, schema.Double)))
	b.line("deviation of a sample", ok(d.Accumulate(b, plan.StdDevSamp, long, schema.Double)))
	for _, typ := range []schema.Type{schema.String, schema.UUID, schema.JSON} {
		b.line("min of "+typ.String(), ok(d.Accumulate(b, plan.Min, long, typ)))
		b.line("max of "+typ.String(), ok(d.Accumulate(b, plan.Max, long, typ)))
		b.line("one "+typ.String(), d.Pick(b, long, "y", typ))
	}
	b.line("collect", d.Collect(b, "x", nil))
	b.line("collect in order", d.Collect(b, "x", []string{"y", "z DESC"}))
	for _, n := range []int{4 << 10, 4<<10 + 1} {
		b.line(fmt.Sprintf("collect %d bytes", n), strings.ReplaceAll(d.Collect(b, strings.Repeat("x", n), nil), strings.Repeat("x", n), "…"))
	}
	b.line("distinct", d.Distinct(b, long))
	b.line("digest", d.Digest(b, "seed", []string{"x", "y", "z", "a"}, []schema.Type{schema.String, schema.Any, schema.Bytes, schema.Integer}))
	b.part("orders and keys")
	for _, typ := range []schema.Type{schema.String, schema.UUID, schema.JSON} {
		b.line(typ.String()+" in order", strings.Join(d.Order(b, long, typ, false), ", "))
		b.line(typ.String()+" from the greatest", strings.Join(d.Order(b, long, typ, true), ", "))
		for _, short := range []bool{false, true} {
			by, show := d.Key(b, long, typ, short)
			b.line(fmt.Sprintf("key of %s %t", typ, short), by+"; "+show)
		}
	}
	for _, typ := range []schema.Type{schema.String, schema.Bytes, schema.Integer, schema.Decimal, schema.Double} {
		b.line("a start of "+typ.String(), d.Start("x", typ))
	}
}

func fields(t *testing.T, b *sheet) {
	d := mariadb.Dialect()
	b.part("columns")
	for _, f := range []schema.Field{{Type: schema.String, Native: "varchar"}, {Type: schema.Integer, Native: "int"}, {Type: schema.Integer, Native: "bit"}, {Type: schema.Double, Native: "float"},
		{Type: schema.Decimal, Native: "decimal"}, {Type: schema.Boolean, Native: "tinyint"}, {Type: schema.Boolean, Native: "bit"}, {Type: schema.Date, Native: "datetime"}, {Type: schema.Day, Native: "date"},
		{Type: schema.JSON, Native: "longtext"}, {Type: schema.UUID, Native: "uuid"}} {
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
	}{{value.OfString("a"), schema.String}, {value.OfInt(1), schema.Integer}, {value.OfDecimal("1.0"), schema.Integer}, {value.OfInt(1), schema.Double}, {value.OfDecimal("1.50"), schema.Decimal},
		{value.OfDecimal("1e34"), schema.Decimal}, {value.OfDecimal("1e35"), schema.Decimal}, {value.OfDecimal("99999999999999999999999999999999999.9999999999999999999999999999999"), schema.Decimal},
		{value.OfDecimal("-99999999999999999999999999999999999.5"), schema.Decimal}, {value.OfDecimal("-1e36"), schema.Decimal}, {value.OfDecimal("1e-30"), schema.Decimal}, {value.OfDecimal("1.5e-30"), schema.Decimal},
		{value.OfDecimal("1e-31"), schema.Decimal}, {value.OfDecimal("1e-40"), schema.Decimal}, {value.OfDecimal("0e-40"), schema.Decimal}, {value.OfDecimal("1.0000000000000000000000000000001"), schema.Decimal}, {value.OfDecimal("1e400"), schema.Decimal}, {value.OfDecimal("-1e400"), schema.Decimal},
		{value.OfDecimal("1e-25"), schema.Decimal}, {value.OfDecimal("1.00000001e-25"), schema.Decimal}, {value.OfDecimal("1e99999999999"), schema.Decimal},
		{value.OfBool(true), schema.Boolean}, {value.OfBool(false), schema.Boolean}, {value.OfDate(1500000), schema.Date}, {value.OfDate(-62135596800000001), schema.Date}, {value.OfDate(-62135596800000000), schema.Date},
		{value.OfDate(253402300800000000), schema.Date}, {value.OfDate(253402300799999999), schema.Date}, {value.OfDay(0), schema.Day}, {value.OfString("0a"), schema.UUID}, {value.OfBytes("aÿ"), schema.Bytes}} {
		b.line(fmt.Sprintf("%s of %s", c.v, c.t), d.Const(b, c.v, c.t))
	}
	for _, typ := range []schema.Type{schema.String, schema.Integer, schema.Boolean, schema.Double, schema.Decimal, schema.Date, schema.Day, schema.UUID, schema.Bytes, schema.JSON} {
		b.line("no "+typ.String(), d.Const(b, value.Value{}, typ))
	}
	doc, err := value.Read([]byte(`{"a":[1e1000,1],"b":1e999}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	b.line("a document", d.Const(b, doc, schema.JSON))
}
