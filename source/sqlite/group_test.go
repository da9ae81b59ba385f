package sqlite_test

import (
	"database/sql"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// fill creates a table t with the values x in the order of n. The values have the form that expressions see.
func fill(t *testing.T, db *sql.DB, values []any) {
	t.Helper()
	if _, err := db.Exec("DROP TABLE IF EXISTS t; CREATE TABLE t (n, x)"); err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if _, err := db.Exec("INSERT INTO t VALUES (?, ?)", i, v); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSQLiteAccumulate(t *testing.T) {
	db := openSQLite(t)
	big, small := int64(biggest), int64(smallest)
	for _, tt := range []struct {
		from   schema.Type
		values []any
		want   string // Sum Avg Min Max Count StdDevPop StdDevSamp
	}{
		{schema.Integer, []any{1, nil, 2}, "3|1.5|1|2|3"},
		{schema.Integer, []any{}, "0|null|null|null|0"},
		{schema.Integer, []any{nil}, "0|null|null|null|1"},
		{schema.Integer, []any{big, 1, -1}, "9223372036854775807|3.0744573456182584e+18|-1|9223372036854775807|3"},
		{schema.Integer, []any{big, big}, "null|9.223372036854776e+18|9223372036854775807|9223372036854775807|2"},
		{schema.Integer, []any{small, -1}, "null|-4.611686018427388e+18|-9223372036854775808|-1|2"},
		{schema.Integer, []any{small, -1, 2}, "-9223372036854775807|-3.0744573456182584e+18|-9223372036854775808|2|3"},
		{schema.Integer, []any{big, big, small, small}, "-2|-0.5|-9223372036854775808|9223372036854775807|4"},
		{schema.Double, []any{0.1, 0.2, nil}, "0.3|0.15|0.1|0.2|3|0.05|0.07071067811865475"},
		{schema.Double, []any{1e16, 1.0, -1e16}, "1.0|0.3333333333333333|-1e+16|1e+16|3|8.16496580927726e+15|1e+16"},
		{schema.Double, []any{1e308, 1e308}, "null|null|1e+308|1e+308|2|null|null"},
		{schema.Double, []any{2.0}, "2.0|2.0|2.0|2.0|1|0.0|null"},
		{schema.Double, []any{}, "0.0|null|null|null|0|null|null"},
		{schema.Double, []any{1e-160, 1.0}, "1.0|0.5|1e-160|1.0|2|null|null"},
		{schema.Decimal, []any{0.1, 0.2, 5}, "5.3|1.7666666666666666|0.1|5|3"},
		{schema.Decimal, []any{0.5, 0.5}, "1|0.5|0.5|0.5|2"},
		{schema.Decimal, []any{big, 1}, "9.223372036854776e+18|4.611686018427388e+18|1|9223372036854775807|2"},
		{schema.Decimal, []any{}, "0|null|null|null|0"},
		{schema.String, []any{"b", "a", nil, "Z"}, "||'Z'|'b'|4"},
		{schema.Date, []any{5, -5}, "||-5|5|2"},
		{schema.JSON, []any{`"a"`, `10`, `9.5`, `{"a":1}`, nil}, `||'9.5'|'{"a":1}'|5`},
		{schema.JSON, []any{`true`, `[]`, `false`}, "||'[]'|'true'|3"},
		{schema.JSON, []any{nil}, "||null|null|1"},
	} {
		fill(t, db, tt.values)
		for i, want := range strings.Split(tt.want, "|") {
			ops := []plan.Accumulate{plan.Sum, plan.Avg, plan.Min, plan.Max, plan.Count, plan.StdDevPop, plan.StdDevSamp}
			if want == "" {
				continue
			}
			x := "x"
			if ops[i] == plan.Count {
				x = "" // all records
			}
			text, err := sqlite.Dialect().Accumulate(&place{}, ops[i], x, tt.from)
			if err != nil {
				t.Fatal(err)
			}
			if got := askText(t, db, "SELECT "+text+" FROM t", nil); got != want {
				t.Errorf("%v: %s = %s, want %s", tt.values, text, got, want)
			}
		}
	}
}

// TestSQLiteSumOfIntegers adds integers whose sums are near the limits of 64 bits, some of them after intermediate
// sums far beyond. It compares the sums with exact sums. total() is wrong for most of them.
func TestSQLiteSumOfIntegers(t *testing.T) {
	db := openSQLite(t)
	text, err := sqlite.Dialect().Accumulate(&place{}, plan.Sum, "x", schema.Integer)
	if err != nil {
		t.Fatal(err)
	}
	r, wrong := rand.New(rand.NewPCG(1, 2)), 0
	for range 400 {
		var values []any
		sum := new(big.Int)
		add := func(n int64) {
			values = append(values, n)
			sum.Add(sum, big.NewInt(n))
		}
		for range r.IntN(60) {
			add(int64(r.Uint64()) >> r.IntN(64))
		}
		// Up to 9 more numbers bring the sum near a limit, or near zero.
		to := new(big.Int).Lsh(big.NewInt(int64(r.IntN(3)-1)), 63)
		to.Add(to, big.NewInt(r.Int64N(1<<uint(1+r.IntN(40)))-1<<uint(r.IntN(39))))
		for range 9 {
			left := new(big.Int).Sub(to, sum)
			switch {
			case left.IsInt64():
				add(left.Int64())
			case left.Sign() > 0:
				add(biggest)
			default:
				add(smallest)
			}
		}
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		fill(t, db, values)
		want := "null"
		if sum.IsInt64() {
			want = sum.String()
		}
		if got := askText(t, db, "SELECT "+text+" FROM t", nil); got != want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
		if askText(t, db, "SELECT CAST(total(x) AS INTEGER) FROM t", nil) != want {
			wrong++
		}
	}
	if wrong < 100 {
		t.Errorf("total() was right for %d of 400: the values are too easy", 400-wrong)
	}
}

// TestSQLiteSumOrder adds numbers of all magnitudes in many orders. The sum must always be the same.
func TestSQLiteSumOrder(t *testing.T) {
	db := openSQLite(t)
	values := []any{1e15, 0.1, -1e15, 3.3e-7, 1e100, 7.0, -1e100, 123456.789}
	for range values {
		values = append(values[1:], values[0])
		fill(t, db, values)
		if got := askText(t, db, "SELECT bailiwick_sum(x) FROM t", nil); got != "123463.88900033" {
			t.Errorf("%v: %s", values, got)
		}
	}
}

func TestSQLiteCollect(t *testing.T) {
	db := openSQLite(t)
	d, p := sqlite.Dialect(), &place{}
	for _, tt := range []struct {
		values                  []any
		collect, back, distinct string
	}{
		{nil, "[]", "[]", "[]"},
		{[]any{`2`, nil, `"a"`, `2.0`, `1e400`}, `[2,null,"a",2.0,1e400]`, `[1e400,2.0,"a",null,2]`, `[null,2,1e400,"a"]`},
		{[]any{`{"a":1,"b":2}`, `{"b":2,"a":1}`, `[1]`, `false`, `"b"`, `-1`}, `[{"a":1,"b":2},{"b":2,"a":1},[1],false,"b",-1]`,
			`[-1,"b",false,[1],{"b":2,"a":1},{"a":1,"b":2}]`, `[-1,"b",{"a":1,"b":2},[1],false]`},
	} {
		fill(t, db, tt.values)
		for text, want := range map[string]string{
			d.Collect(p, sqlgen.Gathered{X: "x", Terms: []string{"n"}, Most: 1000}): tt.collect, d.Collect(p, sqlgen.Gathered{X: "x", Terms: []string{"n DESC"}, Most: 1000}): tt.back, d.Distinct(p, "x", 1000): tt.distinct,
		} {
			if got := askText(t, db, "SELECT "+text+" FROM t", nil); got != "'"+want+"'" {
				t.Errorf("%v: %s = %s, want %s", tt.values, text, got, want)
			}
		}
	}
	fill(t, db, []any{`[1]`, nil})
	if got := askText(t, db, "SELECT "+d.Pick(p, "x", "n = 0", schema.JSON)+" FROM t", nil); got != "'[1]'" {
		t.Errorf("picked %s", got)
	}
	if got := askText(t, db, "SELECT "+d.Pick(p, "x", "n = 1", schema.JSON)+" FROM t", nil); got != "null" {
		t.Errorf("picked %s", got)
	}
}

func TestSQLiteKeyAndOrder(t *testing.T) {
	db := openSQLite(t)
	d, p := sqlite.Dialect(), &place{}
	for _, tt := range []struct {
		t            schema.Type
		values       []any
		groups       string // the shown values, each with its count
		order, after string // the positions in ascending and in descending order
	}{
		{schema.Integer, []any{3, nil, -1, 3}, "null×1 -1×1 3×2", "1203", "3021"},
		{schema.String, []any{"b", "B", "a", nil, "a "}, "null×1 'B'×1 'a'×1 'a '×1 'b'×1", "31240", "04213"},
		{schema.Double, []any{0.5, nil, -1.0, 0.5}, "null×1 -1.0×1 0.5×2", "1203", "3021"},
		{schema.Bytes, []any{[]byte("\xff"), []byte("\x00"), nil}, "null×1 00×1 ff×1", "210", "012"},
		{schema.Any, []any{"x", 2, 1.0, 1, nil, []byte("a")}, "null×1 1×2 2×1 'x'×1 61×1", "423105", "501324"},
		{schema.JSON, []any{`{"a":1.0}`, `{"a":1}`, nil, `"a"`, `10`, `9`, `1e1`, `[0]`, `true`, `false`, `-1e-400`, `-2`, `0`, `-0.5`},
			`null×1 '-2'×1 '-0.5'×1 '-1e-400'×1 '0'×1 '9'×1 '10'×2 '"a"'×1 '{"a":1.0}'×2 '[0]'×1 'false'×1 'true'×1`,
			"2,11,13,10,12,5,4,6,3,0,1,7,9,8", "8,9,7,0,1,3,4,6,5,12,10,13,11,2"},
	} {
		fill(t, db, tt.values)
		sep := ","
		if !strings.Contains(tt.order, ",") {
			sep = ""
		}
		for desc, want := range map[bool]string{false: tt.order, true: tt.after} {
			terms := strings.Join(d.Order(p, "x", tt.t, desc), ", ")
			tie := ", n"
			if desc && !strings.Contains(want, ",") {
				tie = ", n DESC"
			}
			if got := askText(t, db, "SELECT group_concat(n, '"+sep+"' ORDER BY "+terms+tie+") FROM t", nil); got != "'"+want+"'" {
				t.Errorf("%v by %s: %s, want %s", tt.values, terms, got, want)
			}
		}
		by, show := d.Key(p, "x", tt.t, false)
		rows, err := db.Query("SELECT " + show + ", count(*) FROM t GROUP BY " + by + " ORDER BY " + strings.Join(d.Order(p, show, tt.t, false), ", "))
		if err != nil {
			t.Fatal(err)
		}
		var groups []string
		for rows.Next() {
			var key, n any
			if err := rows.Scan(&key, &n); err != nil {
				t.Fatal(err)
			}
			groups = append(groups, held(key)+"×"+held(n))
		}
		if got := strings.Join(groups, " "); got != tt.groups || rows.Err() != nil {
			t.Errorf("%v: %s, %v, want %s", tt.values, got, rows.Err(), tt.groups)
		}
	}
}

func TestSQLiteOver(t *testing.T) {
	j := schema.JSON
	element, before := plan.Element{}, plan.Before{}
	double := plan.As{X: element, T: schema.Double}
	more := op(plan.Gt, schema.Boolean, double, real(1))
	each := func(input, body plan.Expr) plan.Expr {
		return plan.Over{Do: plan.MapEach, Input: input, Body: body}
	}
	keep := func(input, limit, body plan.Expr) plan.Expr {
		return plan.Over{Do: plan.SelectEach, Input: input, Limit: limit, Body: body}
	}
	reduce := func(input, initial, body plan.Expr) plan.Expr {
		return plan.Over{Do: plan.ReduceEach, Input: input, Initial: initial, Body: body}
	}
	add := plan.ToJSON{X: op(plan.Add, schema.Double, plan.As{X: before, T: schema.Double}, double)}
	twice := plan.List{Elements: []plan.Expr{before, before}}
	check(t, []answer{
		{each(document(`[1,null,"a",{"b":1e400}]`), plan.List{Elements: []plan.Expr{element}}), `'[[1],[null],["a"],[{"b":1e400}]]'`},
		{each(document(`[1,2]`), null(j)), "'[null,null]'"},
		{each(document(`[]`), element), "'[]'"},
		{each(document(`{"a":1}`), element), "null"},
		{each(null(j), element), "null"},
		{each(document(`[[1,2],[],null]`), each(element, plan.List{Elements: []plan.Expr{element, plan.Element{Up: 1}}})),
			`'[[[1,[1,2]],[2,[1,2]]],[],null]'`},
		{keep(document(`[3,1,"9",2,null]`), nil, more), "'[3,2]'"},
		{keep(document(`[3,1,2]`), number(1), more), "'[3]'"},
		{keep(document(`[3,1,2]`), number(biggest), more), "'[3,2]'"},
		{keep(document(`[3,1,2]`), number(0), more), "null"},
		{keep(document(`[3,1,2]`), null(schema.Integer), more), "null"},
		{keep(document(`[null,1]`), nil, op(plan.IsNull, schema.Boolean, element)), "'[null]'"},
		{keep(document(`[1,2]`), nil, null(schema.Boolean)), "'[]'"},
		{keep(document(`"a"`), nil, truth(true)), "null"},
		{reduce(document(`[1,2,3.5]`), document(`0`), add), "'6.5'"},
		{reduce(document(`[1,"a"]`), document(`0`), add), "null"},
		{reduce(document(`[]`), document(`7`), add), "'7'"},
		{reduce(document(`[]`), null(j), add), "null"},
		{reduce(document(`5`), document(`7`), add), "null"},
		{reduce(null(j), document(`7`), add), "null"},
		{reduce(document(`[1,null,2]`), document(`[]`), plan.List{Elements: []plan.Expr{element, before}}), "'[2,[null,[1,[]]]]'"},
		{each(document(`[[1,2],[3]]`), reduce(element, plan.Element{}, plan.List{Elements: []plan.Expr{plan.Element{Up: 1}, element, before}})),
			`'[[[1,2],2,[[1,2],1,[1,2]]],[[3],3,[3]]]'`},
		// A text that doubles with each element must end at the limit. It has 9·2^n - 3 bytes after n elements,
		// starting with 6 bytes.
		{op(plan.Size, schema.Integer, reduce(document("["+strings.Repeat("1,", 14)+"1]"), document(`"xxxx"`), twice)), "2"},
		{reduce(document("["+strings.Repeat("1,", 15)+"1]"), document(`"xxxx"`), twice), "null"},
	})
}

// TestSQLiteOverColumns evaluates lists for each record of a statement. It also does so inside of an aggregate whose
// body contains only outer columns.
func TestSQLiteOverColumns(t *testing.T) {
	db := openSQLite(t)
	fill(t, db, []any{`[1,2]`, `[3]`, nil})
	column := plan.Ref{T: schema.JSON}
	n := plan.ToJSON{X: plan.Ref{Column: 1, T: schema.Integer}}
	for _, tt := range []struct {
		e    plan.Expr
		want string
	}{
		{plan.Over{Do: plan.MapEach, Input: column, Body: n}, "'[[0,0],[1],null]'"},
		{plan.Over{Do: plan.SelectEach, Input: column, Limit: plan.Ref{Column: 1, T: schema.Integer}, Body: truth(true)}, "'[null,[3],null]'"},
		{plan.Over{Do: plan.ReduceEach, Input: column, Initial: n, Body: plan.List{Elements: []plan.Expr{plan.Before{}, n}}},
			"'[[[0,0],0],[1,1],null]'"},
	} {
		p := &place{columns: []string{"t.x", "t.n"}}
		text, err := sqlgen.WriteExpr(sqlite.Dialect(), p, tt.e)
		if err != nil {
			t.Fatal(err)
		}
		if got := askText(t, db, "SELECT "+sqlite.Dialect().Collect(p, sqlgen.Gathered{X: text, Terms: []string{"t.n"}, Most: 1000})+" FROM t", p.args); got != tt.want {
			t.Errorf("%s = %s, want %s", text, got, tt.want)
		}
	}
}

func TestSQLiteElements(t *testing.T) {
	db := openSQLite(t)
	d, p := sqlite.Dialect(), &place{}
	fill(t, db, []any{`[1,null,{"a":1e400},"x"]`, `[]`, nil, `"y"`, `{"b":[1]}`})
	from, element, position := d.Elements(p, "t.x")
	got := askText(t, db, "SELECT group_concat(n || ':' || "+position+" || '=' || coalesce("+element+", 'null'), ' ' ORDER BY n, "+position+") FROM t, "+from, nil)
	if want := `'0:0=1 0:1=null 0:2={"a":1e400} 0:3="x" 3:0="y" 4:0={"b":[1]}'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSQLiteDigest(t *testing.T) {
	db := openSQLite(t)
	p := &place{}
	d := sqlite.Dialect()
	types := []schema.Type{schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.Day, schema.UUID,
		schema.Bytes, schema.JSON, schema.JSON, schema.Any, schema.String}
	values := []value.Value{value.OfString("a"), value.OfInt(-1), value.OfFloat(0.5), value.OfDecimal("1.50"), value.OfBool(true), value.OfDate(1_500_000),
		value.OfDay(0), value.OfString("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"), value.OfBytes("\x00\xff"),
		value.OfDecimal("2.50"), value.OfArray(nil), value.OfInt(1), {}}
	var texts []string
	for i, v := range values {
		texts = append(texts, d.Const(p, v, types[i]))
	}
	got := askText(t, db, "SELECT "+d.Digest(p, "seed", texts, types), p.args)
	// printf 'seeda\x1f-1\x1f0.5\x1f1.5\x1ftrue\x1f1970-01-01T00:00:01.5Z\x1f1970-01-01\x1ff81d4fae-7dec-11d0-a765-00a0c91e6bf6\x1fAP8=\x1f2.5\x1f\x1f\x1f' | md5sum
	if want := "'13fc32630a0e851cf01a378f7d6c0d56'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSQLiteBarrier checks that a column below a barrier is computed only once for each record.
func TestSQLiteBarrier(t *testing.T) {
	db := openSQLite(t)
	fill(t, db, []any{1, 2, 3})
	for barrier, want := range map[string]bool{"": false, sqlite.Dialect().Barrier(): true} {
		rows, err := db.Query("EXPLAIN QUERY PLAN SELECT y FROM (SELECT length(x) AS y FROM t" + barrier + ") AS d WHERE y > 0 AND y < 9")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			n++
		}
		if apart := n > 1; apart != want {
			t.Errorf("with barrier %q the plan has %d steps", barrier, n)
		}
	}
}

// TestSQLiteDeep writes the deepest expressions that a query may have. The text must stay in proportion, and SQLite
// must accept it.
func TestSQLiteDeep(t *testing.T) {
	j := schema.JSON
	for name, deeper := range map[string]func(x plan.Expr) plan.Expr{
		"map": func(x plan.Expr) plan.Expr {
			return plan.Over{Do: plan.MapEach, Input: document("[[1]]"), Body: x}
		},
		"input": func(x plan.Expr) plan.Expr {
			return plan.Over{Do: plan.MapEach, Input: x, Body: plan.Element{}}
		},
		"filter": func(x plan.Expr) plan.Expr {
			return plan.Over{Do: plan.SelectEach, Input: x, Limit: number(2), Body: op(plan.Truth, schema.Boolean, x)}
		},
		"reduce": func(x plan.Expr) plan.Expr {
			return plan.Over{Do: plan.ReduceEach, Input: document("[1,2]"), Initial: null(j), Body: x}
		},
		"list": func(x plan.Expr) plan.Expr { return plan.List{Elements: []plan.Expr{x}} },
		"compare": func(x plan.Expr) plan.Expr {
			return plan.ToJSON{X: op(plan.Gt, schema.Boolean, x, null(j))}
		},
		"case": func(x plan.Expr) plan.Expr {
			return plan.Case{If: []plan.Expr{op(plan.Truth, schema.Boolean, x)}, Then: []plan.Expr{document("1")}, T: j}
		},
	} {
		e := plan.Expr(plan.Element{})
		if name == "input" || name == "filter" {
			e = document("[1,[2]]")
		}
		most := query.MaxExprDepth
		if name == "filter" {
			most = 5 // because it doubles its operand
		}
		for range most {
			e = deeper(e)
		}
		e = plan.Over{Do: plan.MapEach, Input: document("[[[1]]]"), Body: e}
		p := &place{}
		text, err := sqlgen.WriteExpr(sqlite.Dialect(), p, e)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 16_000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		if got := askText(t, openSQLite(t), "SELECT "+text, p.args); got == "null" {
			t.Errorf("%s gives null", name)
		}
	}
	wide := plan.Object{}
	for i := range 2000 {
		wide.Names, wide.Values = append(wide.Names, strconv.Itoa(i)), append(wide.Values, null(j))
	}
	if got := ask(t, openSQLite(t), op(plan.TypeOf, schema.String, wide)); got != "'object'" {
		t.Errorf("an object of 2,000 members: %s", got)
	}
}
