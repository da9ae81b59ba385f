package postgres_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/dialecttest"
	"github.com/bailiwick-dev/bailiwick/value"
)

var _ = flag.Bool("update", false, "write the golden file anew")

const long = "x y" // not a name

// TestTexts writes the texts for operands named x, y and z, or "x y" for an expression that isn't a name. Their
// results are tested on a server (see answers). This test checks that operands are computed once, and covers columns
// of each type.
func TestTexts(t *testing.T) {
	b := &dialecttest.Sheet{}
	b.WriteString("# What PostgreSQL gets. <v> is the place of a value. What stands more than once and is no name is called a1 and so on.\n")
	operators(t, b)
	functions(t, b)
	b.Conversions(postgres.Dialect())
	b.Dates(postgres.Dialect(), "Europe/Oslo")
	documents(t, b)
	groups(t, b)
	fields(t, b)
	conditions(t, b)
	searches(t, b)
	b.Golden(t)
}

func operators(t *testing.T, b *dialecttest.Sheet) {
	d, ok := postgres.Dialect(), dialecttest.Text(t)
	apply := func(name string, o plan.Op, typ schema.Type, args ...string) {
		b.Line(name, ok(d.Apply(b, plan.Apply{Op: o, T: typ}, slices.Clone(args))))
	}
	b.Part("operators")
	for _, typ := range []schema.Type{i, m, schema.Double} {
		apply("add "+typ.String(), plan.Add, typ, long, "y", "z")
		apply("multiply "+typ.String(), plan.Mul, typ, long, "y")
		apply("abs "+typ.String(), plan.Abs, typ, long)
		if typ != i {
			apply("floor "+typ.String(), plan.Floor, typ, long)
		}
		b.Line("round "+typ.String(), ok(d.Apply(b, plan.Apply{Op: plan.Round, T: typ, Args: []plan.Expr{number(1), number(0)}}, []string{long, "<0>"})))
		b.Line("trunc 2 "+typ.String(), ok(d.Apply(b, plan.Apply{Op: plan.Trunc, T: typ, Args: []plan.Expr{number(1), number(2)}}, []string{long, "<2>"})))
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
	b.Part("comparisons")
	for _, typ := range []schema.Type{s, i, m, schema.JSON} {
		for _, o := range []plan.Op{plan.Eq, plan.Gt, plan.Gte, plan.Lt, plan.Lte} {
			b.Line(fmt.Sprintf("x %s y %s", sqlgen.Sign(o), typ), ok(d.Compare(b, o, long, "y z", typ)))
		}
	}
	const place = "\x000\x00"
	for _, pair := range [][2]string{{`(a::int8)`, `(b::int8)`}, {`(a::int8)`, place}, {`(a::int8)`, `(f(b)::int8)`}, {`(a::int8)`, "\x000\x00 + \x001\x00"}, {`(a::int8)`, "\x000\x00 + 1"}, {`(a::int8)`, "c"}} {
		b.Line("integers "+strings.ReplaceAll(pair[0]+" "+pair[1], "\x00", "$"), strings.ReplaceAll(ok(d.Compare(b, plan.Gt, pair[0], pair[1], i)), "\x00", "$"))
	}
	b.Line("decimals (a::int8) (b::int8)", ok(d.Compare(b, plan.Gt, "(a::int8)", "(b::int8)", m)))
	b.Line("text and a place", strings.ReplaceAll(ok(d.Compare(b, plan.Eq, `(a COLLATE "C")`, place, s)), "\x00", "$"))
	for _, pair := range [][2]string{{`(a COLLATE "C")`, `(b COLLATE "C")`}, {`(a COLLATE "C")`, `(f(b) COLLATE "C")`}, {`(a::text COLLATE "C")`, `(b COLLATE "C")`}} {
		b.Line("texts "+pair[0]+" "+pair[1], ok(d.Compare(b, plan.Eq, pair[0], pair[1], s)))
		b.Line("texts "+pair[0]+" > "+pair[1], ok(d.Compare(b, plan.Gt, pair[0], pair[1], s)))
	}
}

// functions writes the operators that are function calls, and the errors for unsupported operators.
func functions(t *testing.T, b *dialecttest.Sheet) {
	d, ok := postgres.Dialect(), dialecttest.Text(t)
	b.Part("functions")
	for _, o := range []plan.Op{plan.Sub, plan.Mod, plan.Quo, plan.BitAnd, plan.BitOr, plan.BitXor} {
		b.Line(o.String(), ok(d.Apply(b, plan.Apply{Op: o, T: i}, []string{long, "y"})))
	}
	for _, o := range []plan.Op{plan.Sqrt, plan.Pow, plan.Ln, plan.Log10, plan.Exp} {
		b.Line(o.String(), ok(d.Apply(b, plan.Apply{Op: o, T: schema.Double}, []string{long, "y z"})))
	}
	for _, o := range []plan.Op{plan.Truth, plan.Millis, plan.Common, plan.Without, plan.Pairs, plan.Gather, plan.JoinTexts, plan.IsList, plan.TypeOf, plan.SumList, plan.AvgList,
		plan.MinList, plan.MaxList, plan.Concat, plan.Lower, plan.Upper, plan.Trim, plan.TrimLeft, plan.TrimRight, plan.Length, plan.IndexOf, plan.Reverse, plan.Capitalize} {
		b.Line(o.String(), ok(d.Apply(b, plan.Apply{Op: o, T: s}, []string{long, "y z"})))
	}
	replaced := func(args ...plan.Expr) (string, error) {
		return d.Apply(b, plan.Apply{Op: plan.ReplaceMatches, T: s, Args: append([]plan.Expr{text("x")}, args...)}, []string{long})
	}
	b.Line("replace matches", ok(replaced(text("a.b"), text(`c\1`))))
	b.Line("replace the first", ok(replaced(text("a"), text(""), truth(false))))
	b.Line("replace all that match", ok(replaced(text("a"), text(""), truth(true))))
	if x, err := replaced(text("a{300}"), text("")); err == nil {
		t.Errorf("a repetition of 300 is written: %s", x)
	}
	if x, err := d.Apply(b, plan.Apply{Op: plan.And, T: schema.Boolean}, []string{"x", "y"}); problem.CodeOf(err) != problem.Internal {
		t.Errorf("an and of lists: %s, %v", x, err)
	}
	b.Line("parsed", regexp.MustCompile(`(regexp_replace\(){5,}`).ReplaceAllString(d.ParseJSON("x"), "…("))
	b.Line("a decimal that is shown", d.DerivedColumn("x", m))
	b.Line("a text that is shown", d.DerivedColumn("x", s))
	b.Line("nothing of a text", d.Const(b, value.Value{}, s))
}

func documents(t *testing.T, b *dialecttest.Sheet) {
	d, ok := postgres.Dialect(), dialecttest.Text(t)
	b.Part("JSON")
	b.Line("part", ok(d.Part(b, long, query.Path{"a", "b"})))
	b.Line("the whole", ok(d.Part(b, long, nil)))
	b.Line("set part", ok(d.SetPart(b, long, query.Path{"a", "b"}, "y")))
	for _, to := range []schema.Type{s, i, schema.Double, m, schema.Boolean, schema.Date, schema.JSON} {
		b.Line("as "+to.String(), d.As(b, long, schema.JSON, to))
	}
	for _, from := range []schema.Type{s, schema.Date, schema.Day, schema.Bytes, schema.Array, schema.JSON} {
		b.Line(from.String()+" as JSON", d.ToJSON(b, long, from))
	}
	b.Line("no members", d.Object(b, nil, nil))
	b.Line("no elements", d.List(b, nil))
	// A function accepts 100 arguments.
	for _, n := range []int{1, 40, 41, 80, 81} {
		names := slices.Repeat([]string{"a"}, n)
		b.Line(fmt.Sprintf("%d members", n), strings.ReplaceAll(d.Object(b, names, names), "<a>, a, ", ""))
		b.Line(fmt.Sprintf("%d elements", n), strings.ReplaceAll(d.List(b, names), "a, ", ""))
	}
	body := func(text string) func(sqlgen.Scope, string, string) (string, error) {
		return func(in sqlgen.Scope, element, before string) (string, error) {
			return strings.NewReplacer("E", in.Atom(element), "B", before, "A", in.Atom("x y"), "N", in.Atom("v"), "D", in.Atom(element+" + 1"), "S", in.Atom(strings.TrimSuffix(strings.TrimPrefix(element, "nullif("), ", 'null')"))).Replace(text), nil
		}
	}
	b.Line("map", ok(d.Over(b, sqlgen.Over{Do: plan.MapEach, Input: long, Body: body("E A N D S [B]")})))
	b.Line("select", ok(d.Over(b, sqlgen.Over{Do: plan.SelectEach, Input: long, Body: body("E")})))
	b.Line("select at most", ok(d.Over(b, sqlgen.Over{Do: plan.SelectEach, Input: long, Limit: "y z", Body: body("E")})))
	b.Line("reduce", ok(d.Over(b, sqlgen.Over{Do: plan.ReduceEach, Input: long, Initial: "y", Body: body("E B")})))
	from, element, position := d.Elements(b, long)
	b.Line("elements", from+"; "+element+"; "+position)
	fault := errors.New("no body")
	for _, do := range []plan.Each{plan.MapEach, plan.ReduceEach} {
		if _, err := d.Over(b, sqlgen.Over{Do: do, Input: "x", Body: func(sqlgen.Scope, string, string) (string, error) { return "", fault }}); !errors.Is(err, fault) {
			t.Errorf("%d: %v", do, err)
		}
	}
	if _, err := d.Matches(b, "x", query.Regex{Pattern: "a{300}"}); err == nil {
		t.Error("a repetition of 300 is written")
	}
}

func groups(t *testing.T, b *dialecttest.Sheet) {
	d, ok := postgres.Dialect(), dialecttest.Text(t)
	b.Part("groups")
	ops := []struct {
		name string
		op   plan.Accumulate
	}{{"sum", plan.Sum}, {"avg", plan.Avg}, {"min", plan.Min}, {"max", plan.Max}, {"deviation", plan.StdDevPop}, {"deviation of a sample", plan.StdDevSamp}}
	for _, typ := range []schema.Type{i, m, schema.Double} {
		for _, o := range ops {
			if o.op != plan.StdDevPop && o.op != plan.StdDevSamp || typ == schema.Double {
				b.Line(o.name+" of "+typ.String(), ok(d.Accumulate(b, o.op, long, typ)))
			}
		}
	}
	b.Line("sum of a column", ok(d.Accumulate(b, plan.Sum, "(x::int8)", i)))
	b.Line("sum of what is cast", ok(d.Accumulate(b, plan.Sum, "(f(x)::int8)", i)))
	b.Line("avg of a column", ok(d.Accumulate(b, plan.Avg, "(x::int8)", i)))
	for _, typ := range []schema.Type{s, schema.Boolean, schema.UUID, schema.Bytes, schema.JSON, schema.Date, schema.Array} {
		b.Line("min of "+typ.String(), ok(d.Accumulate(b, plan.Min, long, typ)))
		b.Line("max of "+typ.String(), ok(d.Accumulate(b, plan.Max, long, typ)))
	}
	b.Line("count", ok(d.Accumulate(b, plan.Count, "", schema.Any)))
	b.Line("count of what isn't null", ok(d.Accumulate(b, plan.Count, long, i)))
	for _, typ := range []schema.Type{s, m, schema.JSON} {
		b.Line("count of different "+typ.String(), ok(d.Accumulate(b, plan.CountDistinct, long, typ)))
	}
	if x, err := d.Accumulate(b, plan.Push, "x", schema.JSON); problem.CodeOf(err) != problem.Internal {
		t.Errorf("a list as an accumulator: %s, %v", x, err)
	}
	b.Line("one of a group", d.Pick(b, long, "y", s))
	b.Line("collect", d.Collect(b, sqlgen.Gathered{X: "x", Most: 9}))
	b.Line("collect in order", d.Collect(b, sqlgen.Gathered{X: "x", Terms: []string{"y", "z"}, When: "c", Size: "n", Most: 9}))
	b.Line("size", d.Size(b, long))
	b.Line("digest", d.Digest(b, "seed", []string{"x", "y", "z", "a"}, []schema.Type{s, schema.Any, schema.Bytes, i}))
	b.Part("orders and keys")
	for _, typ := range []schema.Type{s, i, schema.Boolean, schema.JSON, schema.Array} {
		b.Line(typ.String()+" in order", strings.Join(d.Order(b, long, typ, false), ", "))
		b.Line(typ.String()+" from the greatest", strings.Join(d.Order(b, long, typ, true), ", "))
		by, show := d.Key(b, "x", typ, false)
		b.Line("key of "+typ.String(), by+"; "+show)
	}
	b.Line("text in its order", strings.Join(d.Order(b, `(x COLLATE "C")`, s, false), ", "))
	for _, typ := range []schema.Type{m, schema.Double} {
		by, show := d.Key(b, "x", typ, false)
		b.Line("key of "+typ.String(), by+"; "+show)
	}
}

func fields(t *testing.T, b *dialecttest.Sheet) {
	d := postgres.Dialect()
	b.Part("columns")
	for _, f := range []schema.Field{{Type: s, Native: "text"}, {Type: s, Native: "varchar"}, {Type: s, Native: "text", Unordered: true}, {Type: s, Native: "citext", Unordered: true}, {Type: s, Native: "enum"},
		{Type: i, Native: "int8"}, {Type: i, Native: "int4"}, {Type: schema.Double, Native: "float8"}, {Type: schema.Double, Native: "float4"}, {Type: m, Native: "numeric"},
		{Type: schema.Boolean, Native: "bool"}, {Type: schema.Date, Native: "timestamptz"}, {Type: schema.Date, Native: "timestamp"}, {Type: schema.Day, Native: "date"},
		{Type: schema.JSON, Native: "json"}, {Type: schema.JSON, Native: "jsonb"}, {Type: schema.Array, Native: "text"}, {Type: schema.Opaque, Native: "xml"}, {Type: schema.Opaque, Native: "inet"}, {Type: m, Native: "money"}, {Type: schema.UUID, Native: "uuid"}} {
		name := f.Native
		if f.Unordered {
			name += ", in an order of its own"
		}
		stored := d.StoredValue(b, "x", &f)
		b.Line(f.Type.String()+" "+name, stored)
		b.Line("groups by "+name, d.GroupTerm(stored))
	}
	b.Part("constants")
	for _, c := range []struct {
		v value.Value
		t schema.Type
	}{{value.Value{}, s}, {value.Value{}, i}, {value.OfString("a"), s}, {value.OfInt(1), i}, {value.OfDecimal("1.0"), i}, {value.OfInt(1), schema.Double}, {value.OfFloat(math.Inf(1)), schema.Double},
		{value.OfDecimal("1.50"), m}, {value.OfDecimal("1e999"), m}, {value.OfDecimal("1E+0999"), m}, {value.OfDecimal("1e1000"), m}, {value.OfDecimal("1E-1000"), m},
		{value.OfBool(false), schema.Boolean}, {value.OfDate(1500000), schema.Date}, {value.OfDay(0), schema.Day}, {value.OfString("0a"), schema.UUID}, {value.OfBytes("a"), schema.Bytes}} {
		b.Line(fmt.Sprintf("%s of %s", c.v, c.t), d.Const(b, c.v, c.t))
	}
	for _, n := range []int{600, 601} {
		b.Line(fmt.Sprintf("%d digits", n), strings.ReplaceAll(d.Const(b, value.OfDecimal(strings.Repeat("1", n)), m), strings.Repeat("1", 600), "…"))
	}
	doc, err := value.Read([]byte(`{"a":[1e1000,1],"b":1e999}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	b.Line("a document", d.Const(b, doc, schema.JSON))
}
