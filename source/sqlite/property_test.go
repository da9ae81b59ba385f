package sqlite_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// columnTypes are the types of the columns in the expressions below. Each column may contain any value.
var columnTypes = []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.Day,
	schema.UUID, schema.Bytes, schema.JSON, schema.Any}

var stored = []any{nil, int64(0), int64(1), int64(-1), int64(biggest), int64(smallest), int64(1769817600), 0.5, math.Copysign(0, -1), 1e308, -1e-308, math.Inf(1),
	2440587.5, "", "a", "é😀", "a\x00b", "\xff\xfe", "12", "-1e400", "2026-02-31", "2026-03-29T01:30:00Z", "9999-12-31T23:59:59.999Z", "0001-01-01",
	"null", "[1,[2,{\"a\":null}],\"x\"]", `{"a":{"b":[1e400,-0.0]},"é":"\u0000"}`, `{"a":{"b":1},"q\"":2}`, "[1,", strings.Repeat("[", 101) + strings.Repeat("]", 101),
	"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", []byte{}, []byte("\x00\xff")}

// A tree draws random expressions. reduces has one entry per enclosing Over, which is true for a Reduce.
type tree struct {
	t       *rapid.T
	reduces []bool
}

func (g tree) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "pick") }

func one[T any](g tree, of ...T) T { return of[g.pick(len(of))] }

func (g tree) leaf(t schema.Type) plan.Expr {
	if t == schema.JSON && len(g.reduces) > 0 && g.pick(2) == 0 {
		up := g.pick(len(g.reduces))
		if g.reduces[len(g.reduces)-1-up] && g.pick(2) == 0 {
			return plan.Before{Up: up}
		}
		return plan.Element{Up: up}
	}
	if t != schema.Any && g.pick(3) == 0 {
		return g.constant(t)
	}
	for i, have := range columnTypes {
		if have == t {
			return plan.Ref{Column: i, T: t}
		}
	}
	return null(t)
}

func (g tree) constant(t schema.Type) plan.Expr {
	switch t {
	case schema.String:
		return text(one(g, "", "a", "é😀", "12", "2026-02-31", "2026-10-25T00:30:00Z", "+.5e3", "true"))
	case schema.Integer:
		return number(one[int64](g, 0, 1, -1, 3, 100, biggest, smallest, 1769817600000))
	case schema.Double:
		return real(one(g, 0, 1.5, -2.5, 1e150, 1e-150, 1e300, 123456789.125))
	case schema.Decimal:
		return exact(one(g, "0", "0.1", "-1.005", "9223372036854775807", "1e25", "1e-30"))
	case schema.Boolean:
		return truth(g.pick(2) == 0)
	case schema.Date:
		return date(one(g, "0001-01-01", "1969-12-31T23:59:59.999Z", "2026-03-29T01:00:00Z", "2026-11-01T05:30:00Z", "9999-12-31T23:59:59.999Z"))
	case schema.JSON:
		return document(one(g, "null", "[]", "{}", "1e400", `"a"`, "[1,null,[2],\"x\",{\"a\":1}]", `{"a":{"b":1}}`, "false"))
	}
	return null(t)
}

func (g tree) zone() string {
	return one(g, "", oslo, newYork, havana, apia, "+05:30", "-12:00", "Nowhere/Land")
}

func (g tree) path() query.Path {
	return one(g, query.Path{"a"}, query.Path{"a", "b"}, query.Path{`q"`}, query.Path{"é", "x", "y"})
}

var scalars = []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.JSON}

var convertible = append([]schema.Type{schema.Day, schema.UUID, schema.Bytes}, scalars...)

// expr draws an expression of type t with at most depth levels.
func (g tree) expr(t schema.Type, depth int) plan.Expr {
	if depth == 0 || g.pick(4) == 0 {
		return g.leaf(t)
	}
	depth--
	if g.pick(6) == 0 {
		return plan.Case{If: []plan.Expr{g.expr(schema.Boolean, depth)}, Then: []plan.Expr{g.expr(t, depth)}, Else: g.expr(t, depth), T: t}
	}
	if g.pick(6) == 0 {
		return op(plan.IfNull, t, g.expr(t, depth), g.expr(t, depth))
	}
	if g.pick(4) == 0 && slices.Contains(scalars, t) && t != schema.JSON {
		if g.pick(2) == 0 {
			return plan.As{X: g.expr(one(g, schema.JSON, schema.JSON, schema.Any), min(depth, 1)), T: t}
		}
		return plan.Convert{X: g.expr(one(g, convertible...), depth), T: t}
	}
	switch t {
	case schema.String:
		return g.text(depth)
	case schema.Integer, schema.Double, schema.Decimal:
		return g.number(t, depth)
	case schema.Boolean:
		return g.test(depth)
	case schema.Date:
		x := g.expr(t, depth)
		if g.pick(2) == 0 {
			return plan.DateTrunc{X: x, Unit: one(g, "year", "quarter", "month", "week", "day", "hour", "minute", "second"), Zone: g.zone(), WeekStart: g.pick(7)}
		}
		return plan.DateShift{X: x, Amount: g.expr(schema.Integer, depth), Zone: g.zone(),
			Unit: one(g, "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")}
	case schema.JSON:
		return g.json(depth)
	}
	return g.leaf(t)
}

func (g tree) text(depth int) plan.Expr {
	s, i := schema.String, schema.Integer
	x := func() plan.Expr { return g.expr(s, depth) }
	switch g.pick(8) {
	case 0:
		return op(plan.Concat, s, x(), x(), x())
	case 1:
		return op(plan.Substr, s, x(), g.expr(i, depth), g.expr(i, depth))
	case 2:
		return op(one(g, plan.Lower, plan.Upper), s, x())
	case 3:
		return op(one(g, plan.Trim, plan.TrimLeft, plan.TrimRight), s, x(), text(one(g, " ", "a1", "😀")))
	case 4:
		return op(plan.ReplaceAll, s, x(), x(), x())
	case 5:
		return op(plan.TypeOf, s, g.expr(schema.JSON, depth))
	case 6:
		return plan.DateText{X: g.expr(schema.Date, depth), Format: "%Y-%m-%dT%H:%M:%S.%L %j %G-%V-%u%%", Zone: g.zone()}
	}
	return plan.Widen{X: g.expr(schema.UUID, 0), T: s}
}

func (g tree) number(t schema.Type, depth int) plan.Expr {
	x := func() plan.Expr { return g.expr(t, depth) }
	list := func() plan.Expr { return g.expr(schema.JSON, depth) }
	switch g.pick(5) {
	case 0:
		return op(one(g, plan.Add, plan.Sub, plan.Mul), t, x(), x())
	case 1:
		if t == schema.Integer {
			return op(plan.Abs, t, x())
		}
		return op(one(g, plan.Abs, plan.Ceil, plan.Floor), t, x())
	case 2:
		return op(one(g, plan.Round, plan.Trunc), t, x(), number(int64(g.pick(41)-20)))
	}
	switch t {
	case schema.Decimal:
		return plan.Widen{X: g.expr(schema.Integer, depth), T: t}
	case schema.Double:
		if g.pick(2) == 0 {
			return op(plan.Div, t, x(), x())
		}
		return op(one(g, plan.SumList, plan.AvgList, plan.MinList, plan.MaxList), t, list())
	}
	dates := []plan.Expr{g.expr(schema.Date, depth), g.expr(schema.Date, depth)}
	switch g.pick(6) {
	case 0:
		return op(one(g, plan.Mod, plan.BitAnd, plan.BitOr, plan.BitXor), t, x(), x())
	case 1:
		return op(plan.Millis, t, dates...)
	case 2:
		return plan.DatePart{X: dates[0], Part: one(g, "year", "month", "dayOfMonth", "dayOfYear", "dayOfWeek", "isoDayOfWeek", "isoWeek",
			"isoWeekYear", "hour", "minute", "second", "millisecond"), Zone: g.zone()}
	case 3:
		return plan.DateDiff{From: dates[0], To: dates[1], Unit: one(g, "year", "quarter", "month", "week", "day", "hour", "millisecond"), Zone: g.zone()}
	case 4:
		return op(plan.Size, t, list())
	}
	return op(plan.IndexOf, t, g.expr(schema.String, depth), g.expr(schema.String, depth))
}

func (g tree) test(depth int) plan.Expr {
	b := schema.Boolean
	t := one(g, scalars...)
	switch g.pick(6) {
	case 0:
		return op(one(g, plan.And, plan.Or), b, g.expr(b, depth), g.expr(b, depth))
	case 1:
		return op(one(g, plan.Not, plan.IsNull), b, g.expr(b, depth))
	case 2:
		return op(one(g, plan.Truth, plan.IsList), b, g.expr(schema.JSON, depth))
	case 3:
		return op(plan.InList, b, g.expr(schema.JSON, depth), g.expr(schema.JSON, depth))
	case 4:
		return plan.Matches{X: g.expr(schema.String, depth), Regex: query.Regex{Pattern: "^a?é", Options: "i"}}
	}
	return op(one(g, plan.Eq, plan.Ne, plan.Gt, plan.Gte, plan.Lt, plan.Lte), b, g.expr(t, depth), g.expr(t, depth))
}

func (g tree) json(depth int) plan.Expr {
	j, i := schema.JSON, schema.Integer
	x := func() plan.Expr { return g.expr(j, depth) }
	switch g.pick(9) {
	case 0:
		return plan.Part{X: x(), Path: g.path()}
	case 1:
		return plan.SetPart{X: x(), Path: g.path(), V: x()}
	case 2:
		return plan.Object{Names: []string{"a", `q"`}, Values: []plan.Expr{x(), x()}}
	case 3:
		return plan.List{Elements: []plan.Expr{x(), x()}}
	case 4:
		return op(plan.ElemAt, j, x(), g.expr(i, depth))
	case 5:
		return op(plan.SliceList, j, x(), g.expr(i, depth), g.expr(i, depth))
	case 6:
		return op(plan.JoinLists, j, x(), x())
	case 7:
		return plan.ToJSON{X: g.expr(one(g, append(convertible, schema.Any)...), depth)}
	}
	o := plan.Over{Do: one(g, plan.MapEach, plan.SelectEach, plan.ReduceEach), Input: x()}
	inner := tree{g.t, append(g.reduces[:len(g.reduces):len(g.reduces)], o.Do == plan.ReduceEach)}
	switch o.Do {
	case plan.ReduceEach:
		o.Initial, o.Body = x(), inner.expr(j, depth)
	case plan.SelectEach:
		o.Body = inner.expr(schema.Boolean, depth)
		if g.pick(2) == 0 {
			o.Limit = g.expr(i, depth)
		}
	default:
		o.Body = inner.expr(j, depth)
	}
	return o
}

// TestSQLiteTotal draws expressions over columns that contain any value. None may raise an error, and each must
// return null or a value of its type.
func TestSQLiteTotal(t *testing.T) {
	db := openSQLite(t)
	d := sqlite.Dialect()
	asked, nulls := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := tree{t: t}
		p := &place{}
		from := "SELECT "
		for i, typ := range columnTypes {
			x := "c" + string(rune('a'+i))
			p.columns = append(p.columns, d.StoredValue(p, "r."+x, &schema.Field{Type: typ}))
			if i > 0 {
				from += ", "
			}
			from += p.Arg(one(g, stored...), "") + " AS " + x
		}
		typ := one(g, scalars...)
		e := g.expr(typ, 4)
		text, err := sqlgen.WriteExpr(d, p, e)
		if err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		var v any
		if err := db.QueryRow("SELECT "+text+" FROM ("+from+d.Barrier()+") AS r", p.args...).Scan(&v); err != nil {
			t.Fatalf("%v\n%+v\n%s\n%v", err, e, text, p.args)
		}
		asked++
		if v == nil {
			nulls++
			return
		}
		if !sound(typ, v) {
			t.Fatalf("%v is no %s\n%+v\n%s\n%v", v, typ, e, text, p.args)
		}
	})
	if asked < 20 || nulls > asked*9/10 {
		t.Errorf("%d expressions, of which %d were null", asked, nulls)
	}
}

// sound reports whether v is a value of type t in SQLite's form.
func sound(t schema.Type, v any) bool {
	switch v := v.(type) {
	case int64:
		return t == schema.Integer || t == schema.Decimal || t == schema.Boolean && (v == 0 || v == 1) ||
			t == schema.Date && v >= -62135596800000 && v <= 253402300799999
	case float64:
		return t == schema.Double || t == schema.Decimal && !math.IsInf(v, 0) && v != math.Trunc(v) || t == schema.Decimal && math.Abs(v) >= 1<<53
	case string:
		if t != schema.JSON {
			return t == schema.String
		}
		read, err := value.Read([]byte(v), 10_000)
		return err == nil && !read.IsNull()
	}
	return false
}
