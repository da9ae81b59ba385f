package sqlite

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Order implements sqlgen.Dialect. JSON is ordered by the bytes that fnJSONOrder returns. Texts are ordered by code
// points, regardless of the column's collation.
func (d dialect) Order(_ sqlgen.Scope, x string, t schema.Type, desc bool) []string {
	switch t {
	case schema.JSON, schema.Array:
		x = d.textByPoints(call(fnJSONOrder, x), schema.Any)
	case schema.String, schema.Any:
		x = byPoints(x, d.wide)
	}
	if desc {
		x += " DESC"
	}
	return []string{x}
}

// Written implements sqlgen.Dialect.
func (dialect) Written(x string) string { return x }

// Key implements sqlgen.Dialect. It returns the common key of equal values, and the value to show. The shown value
// doesn't depend on the order of the rows.
func (d dialect) Key(_ sqlgen.Scope, x string, t schema.Type, _ bool) (by, show string) {
	switch t {
	case schema.JSON, schema.Array:
		return call(fnJSONKey, x), "min(" + d.textByPoints(x, schema.Any) + ")" // the equal document with the least text
	case schema.Double:
		return x, "(min(" + x + ") + 0.0)" // 0 and -0 have the same key
	case schema.Any:
		x += " COLLATE BINARY"
		return x, "coalesce(min(" + x + ") FILTER (WHERE typeof(" + x + ") = 'integer'), min(" + x + "))"
	}
	return x, x
}

// Accumulate implements sqlgen.Dialect. Sums of Integers use SQLite's own functions. Doubles and Decimals are added
// exactly by functions of this package, so that the order of the rows doesn't matter. x is "" to count all records.
func (d dialect) Accumulate(s sqlgen.Scope, op plan.Accumulate, x string, from schema.Type) (string, error) {
	structured := from == schema.JSON || from == schema.Array
	switch op {
	case plan.Count:
		if x != "" {
			return call("count", x), nil
		}
		return "count(*)", nil
	case plan.CountDistinct:
		by, _ := d.Key(s, x, from, false)
		return "count(DISTINCT " + by + ")", nil
	case plan.Sum:
		switch from {
		case schema.Integer:
			if d.first {
				return "coalesce(sum(" + x + "), 0)", nil
			}
			return sumOfIntegers(x), nil
		case schema.Decimal:
			return call(fnSum+fnOfDecimals, x), nil
		}
		return call(fnSum, x), nil
	case plan.Avg:
		if from == schema.Integer {
			high, low := halves(x)
			return "((" + high + " * 4294967296.0 + " + low + ") / count(" + x + "))", nil
		}
		return call(fnAvg, x), nil
	case plan.Min:
		if structured {
			return call(fnJSONMin, x), nil
		}
		return call("min", d.textByPoints(x, from)), nil
	case plan.Max:
		if structured {
			return call(fnJSONMax, x), nil
		}
		return call("max", d.textByPoints(x, from)), nil
	case plan.StdDevPop:
		return call(fnStdDevPop, x), nil
	case plan.StdDevSamp:
		return call(fnStdDevSamp, x), nil
	}
	return "", problem.New(problem.Internal, fmt.Sprintf("no accumulator %d in SQLite", op))
}

// sumOfIntegers writes a sum of integers that is null beyond 64 bits, where sum() would fail. total() doesn't fail,
// and differs from the sum by less than 2^30. The lowest 32 bits of the sum come from a sum that can't overflow. So
// the sum is the only number near total() with these bits. If total() exceeds 2^63, the cast gives the nearest 64-bit
// integer, which is near enough if total() exceeds it by at most 2^30. A sum beyond 64 bits becomes a double. SQLite
// computes a repeated aggregate only once, so each row costs two aggregates.
func sumOfIntegers(x string) string {
	total := "total(" + x + ")"
	near := "CAST(" + total + " AS INTEGER)"
	sum := near + " + (((coalesce(sum(" + x + " & 4294967295), 0) & 4294967295) - (" + near + " & 4294967295) + 2147483648 & 4294967295) - 2147483648)"
	return "CASE WHEN abs(" + total + ") <= 9223372037928517632.0 AND typeof(" + sum + ") = 'integer' THEN " + sum + " END"
}

// halves adds the high and low halves of the numbers separately, since sum() fails beyond 64 bits. The sum is high ×
// 2^32 + low.
func halves(x string) (high, low string) {
	low = "sum(" + x + " & 4294967295)"
	return "(sum(" + x + " >> 32) + (" + low + " >> 32))", "(" + low + " & 4294967295)"
}

// Aggregates implements sqlgen.Dialect.
func (dialect) Aggregates() []string {
	return []string{fnSum, fnSum + fnOfDecimals, fnAvg, fnStdDevPop, fnStdDevSamp}
}

func (dialect) Pick(_ sqlgen.Scope, x, when string, _ schema.Type) string {
	return "max(CASE WHEN " + when + " THEN " + x + " END)"
}

// Collect implements sqlgen.Dialect with an aggregate of this package, which is limited to l.Most bytes. It doesn't
// need l.When, because that excludes only the values that Distinct excludes.
func (dialect) Collect(_ sqlgen.Scope, l sqlgen.Gathered) string {
	text := l.X + ", " + strconv.Itoa(l.Most)
	if len(l.Terms) > 0 {
		text += " ORDER BY " + strings.Join(l.Terms, ", ")
	}
	return call(fnGather, text)
}

// Short implements sqlgen.Dialect. A longer value becomes a blob, which fnQuote returns unchanged.
func (dialect) Short(x string, most int) string {
	return "CASE WHEN octet_length(" + x + ") > " + strconv.Itoa(most) + " THEN x'00' ELSE " + x + " END"
}

func (dialect) Distinct(_ sqlgen.Scope, x string, most int) string {
	return call(fnDistinct, x, strconv.Itoa(most))
}

// Digest implements sqlgen.Dialect. A value of a column without a type counts as null, because sources write such
// values differently.
func (d dialect) Digest(s sqlgen.Scope, seed string, xs []string, types []schema.Type) string {
	args := []string{s.Arg(seed, "")}
	for i, x := range xs {
		if types[i] == schema.Bytes {
			args = append(args, d.text(x, types[i]))
			continue
		}
		if types[i] == schema.Any {
			x = "NULL"
		}
		args = append(args, d.Convert(s, x, types[i], schema.String))
	}
	return call(fnDigest, args...)
}

func (dialect) Elements(s sqlgen.Scope, x string) (from, element, position string) {
	e := s.Alias("e")
	return "json_each(" + call(fnUnwind, x) + ") AS " + e, e + ".value", e + ".key"
}

// Gathers implements sqlgen.Dialect.
func (dialect) Gathers() bool { return true }

// Barrier returns an offset. SQLite never merges a derived table with an offset into the outer query.
func (dialect) Barrier() string { return " LIMIT -1 OFFSET 0" }

// An inside is the scope of an element. Values that are computed there aren't columns of the stage.
type inside struct{ sqlgen.Scope }

func (inside) Atom(x string) string { return x }

// Over implements sqlgen.Dialect. It uses each operand once. The elements come from a derived table inside of the
// aggregate's query. Otherwise an aggregate with only outer columns would belong to the outer statement.
func (d dialect) Over(s sqlgen.Scope, o sqlgen.Over) (string, error) {
	e, l, r := s.Alias("e"), s.Alias("l"), s.Alias("r")
	before := ""
	if o.Do == plan.ReduceEach {
		before = r + ".v"
	}
	body, err := o.Body(inside{s}, e+".value", before)
	if err != nil {
		return "", err
	}
	if o.Do == plan.ReduceEach {
		return "(WITH RECURSIVE " + r + "(i, l, v) AS (SELECT 0, " + call(fnList, o.Input) + ", " + call(fnBounded, o.Initial) +
			" UNION ALL SELECT " + r + ".i + 1, " + r + ".l, " + call(fnBounded, body) +
			" FROM " + r + ", json_each(" + call(fnItem, r+".l", r+".i") + ") AS " + e +
			") SELECT CASE WHEN " + r + ".l IS NOT NULL THEN " + r + ".v END FROM " + r + " ORDER BY " + r + ".i DESC LIMIT 1)", nil
	}
	columns, where, outer := body+" AS v", "", ""
	from, when := call(fnItems, o.Input)+" AS l", l+".l IS NOT NULL"
	if o.Do == plan.SelectEach {
		columns, where = e+".value AS v", " WHERE "+body
		if o.Limit != "" {
			columns += ", row_number() OVER (ORDER BY " + e + ".key) AS n"
			from += ", " + o.Limit + " AS n"
			when += " AND " + l + ".n >= 1"
			outer = " WHERE " + r + ".n <= " + l + ".n"
		}
	}
	return "(SELECT CASE WHEN " + when + " THEN (SELECT " + d.Collect(s, sqlgen.Gathered{X: r + ".v", Terms: []string{r + ".k"}, Most: plan.MostOver}) + " FROM (SELECT " +
		e + ".key AS k, " + columns + " FROM json_each(" + l + ".l) AS " + e + where + ") AS " + r + outer +
		") END FROM (SELECT " + from + " LIMIT -1 OFFSET 0) AS " + l + ")", nil
}
