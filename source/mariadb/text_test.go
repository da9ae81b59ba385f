package mariadb_test

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/test/dialecttest"
	"github.com/bailiwick-dev/bailiwick/value"
)

var _ = flag.Bool("update", false, "write the golden file anew")

const long = "x y" // not a name

// TestTexts writes the texts for operands named x, y and z, or "x y" for an expression that isn't a name. Their
// results are tested on a server (see TestExpressions). This test checks that operands are computed once, and covers
// columns of each type.
func TestTexts(t *testing.T) {
	b := &dialecttest.Sheet{}
	b.WriteString("# What MariaDB gets. <v> is the place of a value. What stands more than once and is no name is called a1 and so on.\n")
	operators(t, b)
	functions(t, b)
	b.Conversions(mariadb.Dialect())
	b.Dates(mariadb.Dialect(), "Asia/Kathmandu")
	documents(t, b)
	groups(t, b)
	fields(t, b)
	conditions(t, b)
	b.Golden(t)
}

func operators(t *testing.T, b *dialecttest.Sheet) {
	d, ok := mariadb.Dialect(), dialecttest.Text(t)
	apply := func(name string, o plan.Op, typ schema.Type, args ...string) {
		b.Line(name, ok(d.Apply(b, plan.Apply{Op: o, T: typ}, slices.Clone(args))))
	}
	b.Part("operators")
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
			b.Line(o.name+" "+typ.String(), ok(d.Apply(b, plan.Apply{Op: o.op, T: typ, Args: []plan.Expr{number(1), number(2)}}, []string{long, "<2>"})))
		}
	}
	apply("divide", plan.Div, schema.Double, long, "y z")
	apply("substring", plan.Substr, schema.String, long, "y z", "z a")
	apply("replace", plan.ReplaceAll, schema.String, long, "y", "z a")
	for _, set := range []plan.Expr{text("-a"), text(""), op(plan.Concat, schema.String, text("a"), text("b"))} {
		for _, o := range []plan.Op{plan.Trim, plan.TrimLeft, plan.TrimRight} {
			b.Line("trim", ok(d.Apply(b, plan.Apply{Op: o, T: schema.String, Args: []plan.Expr{text("x"), set}}, []string{long, "y"})))
		}
	}
	for _, separator := range []string{",", "\"\n", "\x01\x1f ", "\x7f"} {
		b.Line("split", ok(d.Apply(b, plan.Apply{Op: plan.Split, T: schema.JSON, Args: []plan.Expr{text("x"), text(separator)}}, []string{long, "y"})))
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
	b.Part("comparisons")
	for _, typ := range []schema.Type{schema.String, schema.UUID, schema.JSON} {
		for _, o := range []plan.Op{plan.Eq, plan.Gt, plan.Gte, plan.Lt, plan.Lte} {
			b.Line(fmt.Sprintf("x %s y %s", sqlgen.Sign(o), typ), ok(d.Compare(b, o, long, "y z", typ)))
		}
	}
	for _, pair := range [][2]schema.Field{{{Type: schema.Integer}, {Type: schema.Integer}}, {{Type: schema.Integer}, {Type: schema.UUID}}, {{Type: schema.UUID}, {Type: schema.UUID}},
		{{Type: schema.String}, {Type: schema.String}}, {{Type: schema.String, Unordered: true}, {Type: schema.String}}, {{Type: schema.String}, {Type: schema.String, Unordered: true}},
		{{Type: schema.Double}, {Type: schema.Double}}} {
		find, _ := d.Find("x", &pair[0], "y", &pair[1])
		b.Line(fmt.Sprintf("find %s %s %t %t", pair[0].Type, pair[1].Type, pair[0].Unordered, pair[1].Unordered), find)
	}
}

// functions writes the operators that are function calls.
func functions(t *testing.T, b *dialecttest.Sheet) {
	d, ok := mariadb.Dialect(), dialecttest.Text(t)
	b.Part("functions")
	for _, o := range []plan.Op{plan.Quo, plan.BitAnd, plan.BitOr, plan.BitXor} {
		b.Line(o.String(), ok(d.Apply(b, plan.Apply{Op: o, T: schema.Integer}, []string{long, "y"})))
	}
	for _, o := range []plan.Op{plan.Sub, plan.Div, plan.Sqrt, plan.Pow, plan.Ln, plan.Log10, plan.Exp} {
		b.Line(o.String(), ok(d.Apply(b, plan.Apply{Op: o, T: schema.Double}, []string{long, "y z"})))
	}
	for _, o := range []plan.Op{plan.Millis, plan.Common, plan.Without, plan.Pairs, plan.Gather, plan.JoinTexts, plan.SumList, plan.AvgList, plan.MaxList, plan.Concat, plan.Lower, plan.Upper,
		plan.Length, plan.IndexOf, plan.Reverse, plan.Capitalize} {
		b.Line(o.String(), ok(d.Apply(b, plan.Apply{Op: o, T: schema.String}, []string{long, "y z"})))
	}
	replaced := func(args ...plan.Expr) (string, error) {
		return d.Apply(b, plan.Apply{Op: plan.ReplaceMatches, T: schema.String, Args: append([]plan.Expr{text("x")}, args...)}, []string{long})
	}
	b.Line("replace matches", ok(replaced(text("a.b"), text(`c\1`))))
	b.Line("replace the first", ok(replaced(text("a"), text(`\`), truth(false))))
	b.Line("replace all that match", ok(replaced(text("a"), text(""), truth(true))))
	if x, err := replaced(text("a{1000}"), text("")); err == nil {
		t.Errorf("a repetition of 1,000 is written: %s", x)
	}
	// A sum needs no cast of a column of whole numbers, but keeps the cast of a computed value.
	for _, x := range []string{"CAST(t1.`n` AS SIGNED)", "CAST(t1.`n`)", "t1.`n` AS SIGNED)", "CAST(t1.c AS SIGNED)", "CAST(`n` AS SIGNED)", "CAST(f(t1.`n` AS SIGNED)",
		"CAST(t 1.`n` AS SIGNED)", "CAST(t1.`n``m` AS SIGNED)", "CAST(t1.`n` + t1.`m` AS SIGNED)"} {
		for _, o := range []struct {
			name string
			op   plan.Accumulate
		}{{"sum", plan.Sum}, {"avg", plan.Avg}} {
			b.Line(o.name+" of "+x, ok(d.Accumulate(b, o.op, x, schema.Integer)))
		}
	}
	b.Line("sum of a cast to decimals", ok(d.Accumulate(b, plan.Sum, "CAST(t1.`n` AS SIGNED)", schema.Decimal)))
	b.Line("count of what isn't null", ok(d.Accumulate(b, plan.Count, long, schema.Integer)))
	for _, typ := range []schema.Type{schema.String, schema.Decimal, schema.JSON} {
		b.Line("count of different "+typ.String(), ok(d.Accumulate(b, plan.CountDistinct, long, typ)))
	}
	b.Line("parsed", d.ParseJSON("x"))
	b.Line("shown", d.DerivedColumn("x", schema.Decimal))
	for _, typ := range []schema.Type{schema.Integer, schema.Boolean, schema.Date, schema.Day, schema.Decimal, schema.Double} {
		by, show := d.Key(b, "x", typ, false)
		b.Line("key of "+typ.String(), by+"; "+show)
	}
}

func documents(t *testing.T, b *dialecttest.Sheet) {
	d, ok := mariadb.Dialect(), dialecttest.Text(t)
	b.Part("JSON")
	b.Line("part", ok(d.Part(b, long, query.Path{"a", "b"})))
	b.Line("a name with quotes", ok(d.Part(b, long, query.Path{`a"\`})))
	b.Line("set part", ok(d.SetPart(b, long, query.Path{"a", "b"}, "y")))
	for _, to := range []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.Bytes} {
		b.Line("as "+to.String(), d.As(b, long, schema.JSON, to))
	}
	b.Line("anything as integer", d.As(b, long, schema.Any, schema.Integer))
	for _, from := range []schema.Type{schema.String, schema.Boolean, schema.Integer, schema.Double, schema.Decimal, schema.Date, schema.Day, schema.UUID, schema.Bytes, schema.Opaque} {
		b.Line(from.String()+" as JSON", d.ToJSON(b, long, from))
	}
	b.Line("no members", d.Object(b, nil, nil))
	b.Line("no elements", d.List(b, nil))
	for _, n := range []int{1, 3} {
		names := slices.Repeat([]string{"a"}, n)
		b.Line(fmt.Sprintf("%d members", n), d.Object(b, names, names))
		b.Line(fmt.Sprintf("%d elements", n), d.List(b, names))
	}
	body := func(text string) func(sqlgen.Scope, string, string) (string, error) {
		return func(in sqlgen.Scope, element, before string) (string, error) {
			return strings.NewReplacer("E", in.Atom(element), "B", before, "A", in.Atom("x y"), "N", in.Atom("v")).Replace(text), nil
		}
	}
	b.Line("map", ok(d.Over(b, sqlgen.Over{Do: plan.MapEach, Input: long, Body: body("E A N [B]")})))
	b.Line("select", ok(d.Over(b, sqlgen.Over{Do: plan.SelectEach, Input: long, Body: body("E")})))
	b.Line("select at most", ok(d.Over(b, sqlgen.Over{Do: plan.SelectEach, Input: long, Limit: "y z", Body: body("E")})))
	if _, err := d.Over(b, sqlgen.Over{Do: plan.ReduceEach, Input: long, Initial: "y", Body: body("E B")}); problem.CodeOf(err) != problem.Unsupported {
		t.Errorf("reduce: %v", err)
	}
	from, element, position := d.Elements(b, long)
	b.Line("elements", from+"; "+element+"; "+position)
	fault := errors.New("no body")
	for _, do := range []plan.Each{plan.MapEach, plan.SelectEach} {
		if _, err := d.Over(b, sqlgen.Over{Do: do, Input: "x", Body: func(sqlgen.Scope, string, string) (string, error) { return "", fault }}); !errors.Is(err, fault) {
			t.Errorf("%d: %v", do, err)
		}
	}
	if _, err := d.Matches(b, "x", query.Regex{Pattern: "a{1000}"}); err == nil {
		t.Error("a repetition of 1,000 is written")
	}
}

func groups(t *testing.T, b *dialecttest.Sheet) {
	d, ok := mariadb.Dialect(), dialecttest.Text(t)
	b.Part("groups")
	for _, typ := range []schema.Type{schema.Integer, schema.Decimal, schema.Double} {
		b.Line("sum of "+typ.String(), ok(d.Accumulate(b, plan.Sum, long, typ)))
		b.Line("avg of "+typ.String(), ok(d.Accumulate(b, plan.Avg, long, typ)))
	}
	// A long text is computed below, except for a count.
	for _, n := range []int{199, 200} {
		b.Line(fmt.Sprintf("max of %d bytes", n), strings.ReplaceAll(ok(d.Accumulate(b, plan.Max, strings.Repeat("x", n), schema.String)), strings.Repeat("x", n), "…"))
	}
	b.Line("count", ok(d.Accumulate(b, plan.Count, "", schema.JSON)))
	b.Line("deviation", ok(d.Accumulate(b, plan.StdDevPop, long, schema.Double)))
	b.Line("deviation of a sample", ok(d.Accumulate(b, plan.StdDevSamp, long, schema.Double)))
	for _, typ := range []schema.Type{schema.String, schema.UUID, schema.JSON} {
		b.Line("min of "+typ.String(), ok(d.Accumulate(b, plan.Min, long, typ)))
		b.Line("max of "+typ.String(), ok(d.Accumulate(b, plan.Max, long, typ)))
		b.Line("one "+typ.String(), d.Pick(b, long, "y", typ))
	}
	b.Line("collect", d.Collect(b, sqlgen.Gathered{X: "x", Most: 9}))
	b.Line("collect in order", d.Collect(b, sqlgen.Gathered{X: "x", Terms: []string{"y", "z DESC"}, When: "c", Most: 9}))
	for _, n := range []int{4 << 10, 4<<10 + 1} {
		b.Line(fmt.Sprintf("collect %d bytes", n), strings.ReplaceAll(d.Collect(b, sqlgen.Gathered{X: strings.Repeat("x", n), Most: 9}), strings.Repeat("x", n), "…"))
	}
	b.Line("digest", d.Digest(b, "seed", []string{"x", "y", "z", "a"}, []schema.Type{schema.String, schema.Any, schema.Bytes, schema.Integer}))
	b.Part("orders and keys")
	for _, typ := range []schema.Type{schema.String, schema.UUID, schema.JSON} {
		b.Line(typ.String()+" in order", strings.Join(d.Order(b, long, typ, false), ", "))
		b.Line(typ.String()+" from the greatest", strings.Join(d.Order(b, long, typ, true), ", "))
		for _, short := range []bool{false, true} {
			by, show := d.Key(b, long, typ, short)
			b.Line(fmt.Sprintf("key of %s %t", typ, short), by+"; "+show)
		}
	}
	for _, typ := range []schema.Type{schema.String, schema.Bytes, schema.Integer, schema.Decimal, schema.Double} {
		b.Line("a start of "+typ.String(), d.Start("x", typ))
	}
}

func fields(t *testing.T, b *dialecttest.Sheet) {
	d := mariadb.Dialect()
	b.Part("columns")
	for _, f := range []schema.Field{{Type: schema.String, Native: "varchar"}, {Type: schema.Integer, Native: "int"}, {Type: schema.Integer, Native: "bit"}, {Type: schema.Double, Native: "float"},
		{Type: schema.Decimal, Native: "decimal"}, {Type: schema.Boolean, Native: "tinyint"}, {Type: schema.Boolean, Native: "bit"}, {Type: schema.Date, Native: "datetime"}, {Type: schema.Day, Native: "date"},
		{Type: schema.JSON, Native: "longtext"}, {Type: schema.UUID, Native: "uuid"}} {
		name := f.Native
		if f.Unordered {
			name += ", in an order of its own"
		}
		b.Line(f.Type.String()+" "+name, d.StoredValue(b, "x", &f))
	}
	b.Part("constants")
	for _, c := range []struct {
		v value.Value
		t schema.Type
	}{{value.OfString("a"), schema.String}, {value.OfInt(1), schema.Integer}, {value.OfDecimal("1.0"), schema.Integer}, {value.OfInt(1), schema.Double}, {value.OfDecimal("1.50"), schema.Decimal},
		{value.OfDecimal("1e34"), schema.Decimal}, {value.OfDecimal("1e35"), schema.Decimal}, {value.OfDecimal("99999999999999999999999999999999999.9999999999999999999999999999999"), schema.Decimal},
		{value.OfDecimal("-99999999999999999999999999999999999.5"), schema.Decimal}, {value.OfDecimal("-1e36"), schema.Decimal}, {value.OfDecimal("1e-30"), schema.Decimal}, {value.OfDecimal("1.5e-30"), schema.Decimal},
		{value.OfDecimal("1e-31"), schema.Decimal}, {value.OfDecimal("1e-40"), schema.Decimal}, {value.OfDecimal("0e-40"), schema.Decimal}, {value.OfDecimal("1.0000000000000000000000000000001"), schema.Decimal}, {value.OfDecimal("1e400"), schema.Decimal}, {value.OfDecimal("-1e400"), schema.Decimal},
		{value.OfDecimal("1e-25"), schema.Decimal}, {value.OfDecimal("1.00000001e-25"), schema.Decimal}, {value.OfDecimal("1e99999999999"), schema.Decimal}, {value.OfDecimal("1e2000000000"), schema.Decimal}, {value.OfDecimal("1e2000000"), schema.Decimal}, {value.OfDecimal("1e-2000000"), schema.Decimal},
		{value.OfBool(true), schema.Boolean}, {value.OfBool(false), schema.Boolean}, {value.OfDate(1500000), schema.Date}, {value.OfDate(-62135596800000001), schema.Date}, {value.OfDate(-62135596800000000), schema.Date},
		{value.OfDate(253402300800000000), schema.Date}, {value.OfDate(253402300799999999), schema.Date}, {value.OfDay(0), schema.Day}, {value.OfString("0a"), schema.UUID}, {value.OfBytes("aÿ"), schema.Bytes}} {
		b.Line(fmt.Sprintf("%s of %s", c.v, c.t), d.Const(b, c.v, c.t))
	}
	for _, typ := range []schema.Type{schema.String, schema.Integer, schema.Boolean, schema.Double, schema.Decimal, schema.Date, schema.Day, schema.UUID, schema.Bytes, schema.JSON} {
		b.Line("no "+typ.String(), d.Const(b, value.Value{}, typ))
	}
	doc, err := value.Read([]byte(`{"a":[1e1000,1],"b":1e999}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	b.Line("a document", d.Const(b, doc, schema.JSON))
}
