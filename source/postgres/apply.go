package postgres

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Apply implements sqlgen.Dialect.
func (p dialect) Apply(s sqlgen.Scope, e plan.Apply, a []string) (string, error) {
	switch e.Op {
	case plan.Add, plan.Sub, plan.Mul:
		return p.arithmetic(s, e, a), nil
	case plan.Div:
		x, y := s.Atom(a[0]), s.Atom(a[1])
		return "(CASE WHEN " + operands(x, y) + " AND " + y + " <> 0 THEN " + x + " / " + y + " + 0 END)", nil
	case plan.Mod:
		return "(" + a[0] + " % nullif(" + a[1] + ", 0))", nil
	case plan.Quo:
		return "(" + a[0] + " / nullif(" + a[1] + ", 0))", nil
	case plan.BitAnd, plan.BitOr, plan.BitXor:
		return "(" + a[0] + map[plan.Op]string{plan.BitAnd: " & ", plan.BitOr: " | ", plan.BitXor: " # "}[e.Op] + a[1] + ")", nil
	case plan.Abs, plan.Ceil, plan.Floor:
		return p.whole(s, e, a[0]), nil
	case plan.Sqrt, plan.Pow, plan.Ln, plan.Log10, plan.Exp:
		return "(" + sqlgen.RealFunction(s, e.Op, a, func(x string) string { return operands(x) }) + "::float8)", nil
	case plan.Trunc, plan.Round:
		return p.cut(s, e, a[0]), nil
	case plan.Truth:
		return "coalesce(" + a[0] + " NOT IN ('false', '0'), FALSE)", nil
	case plan.Millis:
		return "trunc(extract(epoch FROM " + a[0] + " - " + a[1] + ")::numeric * 1000)::int8", nil
	case plan.Size, plan.ElemAt, plan.InList, plan.SliceList, plan.IsList, plan.JoinLists, plan.Common, plan.Without, plan.Pairs, plan.Gather, plan.JoinTexts, plan.SumList,
		plan.AvgList, plan.MinList, plan.MaxList, plan.TypeOf:
		return p.lists(s, e.Op, a), nil
	}
	return p.text(s, e, a)
}

// operands returns the condition that Doubles are in the range of arithmetic.
func operands(xs ...string) string {
	tests := make([]string, len(xs))
	for i, x := range xs {
		tests[i] = "(" + x + " = 0 OR abs(" + x + ") BETWEEN float8 '1e-150' AND float8 '1e150')"
	}
	return strings.Join(tests, " AND ")
}

// arithmetic combines its operands from left to right. Integers are computed as numeric, which doesn't overflow.
func (p dialect) arithmetic(s sqlgen.Scope, e plan.Apply, a []string) string {
	op := map[plan.Op]string{plan.Add: " + ", plan.Sub: " - ", plan.Mul: " * "}[e.Op]
	x := a[0]
	for _, y := range a[1:] {
		x, y = s.Atom(x), s.Atom(y)
		both := x + op + y
		switch e.T {
		case schema.Integer:
			x = "(CASE WHEN " + x + "::numeric" + op + y + " " + pgIntegers + " THEN " + both + " END)"
		case schema.Double:
			x = "(CASE WHEN " + operands(x, y) + " THEN " + both + " + 0 END)"
		default:
			x = "(" + both + ")"
			if e.Op == plan.Mul {
				x = pgDecimal(both)
			}
		}
	}
	return x
}

// whole writes Abs, Ceil and Floor.
func (p dialect) whole(s sqlgen.Scope, e plan.Apply, x string) string {
	name := map[plan.Op]string{plan.Abs: "abs", plan.Ceil: "ceil", plan.Floor: "floor"}[e.Op]
	switch e.T {
	case schema.Integer: // only for Abs
		x = s.Atom(x)
		return "(CASE WHEN " + x + " > -9223372036854775808 THEN abs(" + x + ") END)"
	case schema.Double:
		x = s.Atom(x)
		return "(CASE WHEN " + operands(x) + " THEN " + name + "(" + x + ") + 0 END)"
	}
	return name + "(" + x + ")"
}

// cut writes Trunc and Round.
func (p dialect) cut(s sqlgen.Scope, e plan.Apply, x string) string {
	name := "trunc"
	if e.Op == plan.Round {
		name = "round"
	}
	c, _ := e.Args[1].(plan.Const)
	places := strconv.FormatInt(c.Value.Int(), 10)
	switch e.T {
	case schema.Integer:
		x = s.Atom(x)
		return pgInteger(name + "(" + x + "::numeric, " + places + ")")
	case schema.Double:
		x = s.Atom(x)
		return "(CASE WHEN NOT (" + operands(x) + ") THEN NULL WHEN abs(" + x + ") > 1e15 THEN " + x + " ELSE " + name + "(" + x + "::text::numeric, " + places + ")::float8 END)"
	}
	return name + "(" + x + ", " + places + ")"
}

// text writes the operators of text.
func (p dialect) text(s sqlgen.Scope, e plan.Apply, a []string) (string, error) {
	c := func(text string) string { return "(" + text + pgC + ")" }
	switch e.Op {
	case plan.Concat:
		return "(" + strings.Join(a, " || ") + ")", nil
	case plan.Substr:
		y, z := s.Atom(a[1]), s.Atom(a[2])
		start := "least(" + y + ", 2147483646)::int4 + 1"
		x := s.Atom(a[0])
		return "(CASE WHEN coalesce(" + y + ", -1) < 0 OR " + z + " IS NULL THEN NULL WHEN " + z + " < 0 THEN substr(" + x + ", " + start + ") ELSE substr(" + x + ", " + start + ", least(" + z + ", 2147483647)::int4) END)", nil
	case plan.Lower:
		return c("lower(" + a[0] + pgC + ")"), nil
	case plan.Upper:
		return c("upper(" + a[0] + pgC + ")"), nil
	case plan.Trim:
		return "btrim(" + a[0] + ", " + a[1] + ")", nil
	case plan.TrimLeft:
		return "ltrim(" + a[0] + ", " + a[1] + ")", nil
	case plan.TrimRight:
		return "rtrim(" + a[0] + ", " + a[1] + ")", nil
	case plan.Split:
		x := s.Atom(a[0])
		return "(CASE WHEN " + x + " = '' THEN '[\"\"]' ELSE to_jsonb(string_to_array(" + x + ", " + a[1] + ")) END)", nil
	case plan.Length:
		return "length(" + a[0] + ")::int8", nil
	case plan.IndexOf:
		return "(strpos(" + a[0] + pgC + ", " + a[1] + ") - 1)::int8", nil
	case plan.ReplaceAll:
		// A text may have at most 1 GB. A longer one would raise an error.
		x, z := s.Atom(a[0]), s.Atom(a[2])
		return "(CASE WHEN octet_length(" + x + ")::int8 * (1 + octet_length(" + z + ")) < 500000000 THEN replace(" + x + pgC + ", " + a[1] + ", " + z + ") END)", nil
	case plan.Reverse:
		return "reverse(" + a[0] + ")", nil
	case plan.Capitalize:
		x, w := s.Atom(a[0]), s.Alias("w")
		return "(CASE WHEN " + x + " IS NOT NULL THEN coalesce((SELECT string_agg(upper(left(" + w + ".v[1], 1)" + pgC + ") || lower(substr(" + w + ".v[1], 2)" + pgC + "), '' ORDER BY " + w +
			".o) FROM regexp_matches(" + x + pgC + ", " + pgWords + ", 'g') WITH ORDINALITY AS " + w + "(v, o)), '') END)", nil
	case plan.ReplaceMatches:
		return p.replaceMatches(s, e, a[0])
	case plan.FindMatch, plan.FindMatches:
		return p.findMatches(s, e, a[0])
	}
	return "", problem.New(problem.Internal, fmt.Sprintf("sqlgen can't write operator %s", e.Op))
}

// pgWords matches a run of word characters, or a run of other characters. Word characters are A to Z, digits and
// characters beyond ASCII.
const pgWords = `'[^\u0001-\u002F\u003A-\u0040\u005B-\u0060\u007B-\u007F]+|[\u0001-\u002F\u003A-\u0040\u005B-\u0060\u007B-\u007F]+'`

// replaceMatches writes ReplaceMatches. It escapes backslashes in the new text, which would otherwise refer to
// groups.
func (p dialect) replaceMatches(s sqlgen.Scope, e plan.Apply, x string) (string, error) {
	pattern, with, all := e.Replacement()
	expression, err := p.pattern(query.Regex{Pattern: pattern})
	if err != nil {
		return "", err
	}
	flags := "''"
	if all {
		flags = "'g'"
	}
	x = s.Atom(x)
	return "(CASE WHEN octet_length(" + x + ")::int8 * " + strconv.Itoa(1+len(with)) + " < 500000000 THEN (regexp_replace(" + x + pgC + ", " + s.Arg(expression, "text") + ", " +
		s.Arg(strings.ReplaceAll(with, `\`, `\\`), "text") + ", " + flags + ")" + pgC + ") END)", nil
}

// lists writes the operators of lists.
func (p dialect) lists(s sqlgen.Scope, op plan.Op, a []string) string {
	x := s.Atom(a[0])
	isList := "jsonb_typeof(" + x + ") = 'array'"
	when := func(text string) string { return "(CASE WHEN " + isList + " THEN " + text + " END)" }
	e := s.Alias("e")
	switch op {
	case plan.Size:
		return when("jsonb_array_length(" + x + ")::int8")
	case plan.ElemAt:
		y := s.Atom(a[1])
		return "(CASE WHEN " + isList + " AND " + y + " BETWEEN -2147483647 AND 2147483647 THEN nullif(" + x + " -> " + y + "::int4, 'null') END)"
	case plan.InList:
		y := s.Atom(a[1])
		return "EXISTS (SELECT 1 FROM " + pgElements(y) + " AS " + e + "(v) WHERE " + e + ".v = coalesce(" + x + ", 'null'))"
	case plan.SliceList:
		y, z := s.Atom(a[1]), s.Atom(a[2])
		start := "(CASE WHEN " + y + " < 0 THEN greatest(jsonb_array_length(" + x + ") + " + y + "::numeric, 0) ELSE " + y + " END)"
		list := "(SELECT coalesce(jsonb_agg(" + e + ".v ORDER BY " + e + ".o), '[]') FROM " + pgElements(x) + " WITH ORDINALITY AS " + e + "(v, o) WHERE " +
			e + ".o > " + start + " AND " + e + ".o <= " + start + " + " + z + ")"
		return "(CASE WHEN " + isList + " AND " + y + " IS NOT NULL AND " + z + " > 0 THEN " + list + " END)"
	case plan.IsList:
		return "coalesce(" + isList + ", FALSE)"
	case plan.JoinLists:
		tests := []string{isList}
		for i := range a {
			if i > 0 {
				a[i] = s.Atom(a[i])
				tests = append(tests, "jsonb_typeof("+a[i]+") = 'array'")
			}
		}
		return "(CASE WHEN " + strings.Join(tests, " AND ") + " THEN " + strings.Join(append([]string{x}, a[1:]...), " || ") + " END)"
	case plan.Common, plan.Without:
		y, other, kept, not := s.Atom(a[1]), s.Alias("e"), s.Alias("e"), ""
		if op == plan.Without {
			not = "NOT "
		}
		first := "(SELECT DISTINCT ON (" + e + ".v) " + e + ".v, " + e + ".o FROM " + pgElements(x) + " WITH ORDINALITY AS " + e + "(v, o) WHERE " + not +
			"EXISTS (SELECT 1 FROM " + pgElements(y) + " AS " + other + "(v) WHERE " + other + ".v = " + e + ".v) ORDER BY " + e + ".v, " + e + ".o) AS " + kept
		return "(CASE WHEN " + isList + " AND jsonb_typeof(" + y + ") = 'array' THEN (SELECT coalesce(jsonb_agg(" + kept + ".v ORDER BY " + kept + ".o), '[]') FROM " + first + ") END)"
	case plan.Pairs:
		return "(CASE jsonb_typeof(" + x + ") WHEN 'object' THEN (SELECT coalesce(jsonb_agg(jsonb_build_object('k', " + e + ".k, 'v', " + e + ".v) ORDER BY " + e + ".k" + pgC +
			"), '[]') FROM jsonb_each(CASE jsonb_typeof(" + x + ") WHEN 'object' THEN " + x + " ELSE '{}' END) AS " + e + "(k, v)) END)"
	case plan.Gather:
		member := func(name, at string) string {
			return "CASE jsonb_typeof(" + e + ".v) WHEN 'object' THEN " + e + ".v -> '" + name + "' WHEN 'array' THEN CASE jsonb_array_length(" + e + ".v) WHEN 2 THEN " + e + ".v -> " + at + " END END"
		}
		k := member("k", "0")
		return when("(SELECT CASE WHEN coalesce(bool_and(coalesce(jsonb_typeof(" + k + ") = 'string', FALSE)), TRUE) THEN coalesce(jsonb_object_agg(coalesce((" + k +
			") #>> '{}', ''), coalesce(" + member("v", "1") + ", 'null') ORDER BY " + e + ".o), '{}') END FROM " + pgElements(x) + " WITH ORDINALITY AS " + e + "(v, o))")
	case plan.JoinTexts:
		return "(SELECT string_agg((" + e + ".v #>> '{}')" + pgC + ", " + a[1] + " ORDER BY " + e + ".o) FROM " + pgElements(x) + " WITH ORDINALITY AS " + e + "(v, o) WHERE jsonb_typeof(" + e + ".v) = 'string')"
	case plan.TypeOf:
		return "(CASE jsonb_typeof(" + x + ") WHEN 'boolean' THEN 'bool' ELSE coalesce(jsonb_typeof(" + x + "), 'null') END" + pgC + ")"
	}
	return when(p.overNumbers(op, x, e))
}

// overNumbers writes the operators over the numbers in a list, each as a Double.
func (dialect) overNumbers(op plan.Op, x, e string) string {
	n := "(CASE jsonb_typeof(" + e + ".v) WHEN 'number' THEN " + e + ".v::numeric END)"
	from := " FROM " + pgElements(x) + " AS " + e + "(v) WHERE jsonb_typeof(" + e + ".v) = 'number'"
	double := "(SELECT " + pgDouble(n) + " AS d" + from + ") AS " + e
	switch op {
	case plan.SumList:
		return "(SELECT coalesce(" + pgDouble("sum("+e+".d::text::numeric)") + ", CASE WHEN count(*) = 0 THEN 0 END) FROM " + double + ")"
	case plan.AvgList:
		return "(SELECT " + pgMean("sum("+e+".d::text::numeric)", "count("+e+".d)") + " FROM " + double + ")"
	case plan.MinList:
		return "(SELECT min(" + e + ".d) FROM " + double + ")"
	}
	return "(SELECT max(" + e + ".d) FROM " + double + ")"
}

// pgElements returns the elements of x, or no rows if x isn't a list.
func pgElements(x string) string {
	return "jsonb_array_elements(CASE jsonb_typeof(" + x + ") WHEN 'array' THEN " + x + " ELSE '[]' END)"
}
