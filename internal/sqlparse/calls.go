package sqlparse

import (
	"maps"
	"slices"
	"strings"
)

// A form is a function of another database, with the numbers of arguments that are supported. take returns nil for a
// call without a meaning here. Such a call is refused later by its name.
type form struct {
	least, most int
	take        func(t *taker, c *Call) Expr
}

func call(c *Call, name string, args ...Expr) *Call {
	out := *c
	out.Name, out.Args = name, args
	return &out
}

// aliasOf returns the form of a function that only has a different name here.
func aliasOf(name string, arguments int) form {
	return form{arguments, arguments, func(_ *taker, c *Call) Expr { return call(c, name, c.Args...) }}
}

func idiomText(s string, at Pos) *String { return &String{Text: s, At: at} }

func isNull(x Expr, not bool, at Pos) Expr {
	return &Is{X: x, What: "null", Not: not, At: at}
}

// calls are the supported functions of BigQuery, Snowflake, SQL Server, MySQL, Oracle, ClickHouse and Spark.
var calls = map[string]form{
	"nvl2": {3, 3, func(_ *taker, c *Call) Expr {
		return &Case{When: []Expr{isNull(c.Args[0], true, c.At)}, Then: c.Args[1:2], Else: c.Args[2], At: c.At}
	}},
	"isnull": {1, 2, func(_ *taker, c *Call) Expr {
		if len(c.Args) == 1 { // MySQL's form: SQL Server's has two arguments
			return isNull(c.Args[0], false, c.At)
		}
		return call(c, "coalesce", c.Args...)
	}},
	"zeroifnull": {1, 1, func(_ *taker, c *Call) Expr {
		return call(c, "coalesce", c.Args[0], &Number{Text: "0", At: c.At})
	}},
	"nullifzero": {1, 1, func(_ *taker, c *Call) Expr {
		return call(c, "nullif", c.Args[0], &Number{Text: "0", At: c.At})
	}},
	"decode":  {3, 101, rewriteDecode},
	"countif": {1, 1, rewriteCountIf}, "count_if": {1, 1, rewriteCountIf},
	"safe_divide": {2, 2, func(_ *taker, c *Call) Expr {
		return &Binary{Op: "/", L: &Cast{X: c.Args[0], Type: "double", At: c.At}, R: c.Args[1], At: c.At}
	}},
	"any_value": aliasOf("min", 1),
	"max_by":    {2, 2, extreme("max_by", true)}, "arg_max": {2, 2, extreme("max_by", true)}, "argmax": {2, 2, extreme("max_by", true)},
	"min_by": {2, 2, extreme("min_by", false)}, "arg_min": {2, 2, extreme("min_by", false)}, "argmin": {2, 2, extreme("min_by", false)},
	"approx_count_distinct": {1, 1, distinct}, "approx_distinct": {1, 1, distinct}, "uniq": {1, 1, distinct}, "uniqexact": {1, 1, distinct},
	"regexp_like": {2, 3, matching}, "regexp_contains": {2, 2, matching},
	"last_day": {1, 1, lastDay},
	"pi": {0, 0, func(_ *taker, c *Call) Expr {
		return &Number{Text: "3.141592653589793", At: c.At}
	}},
	"convert": {2, 3, rewriteConvert},
	"format":  {1, 101, rewriteFormat},

	"date_trunc": {2, 2, rewriteDateTrunc}, "timestamp_trunc": {2, 2, rewriteDateTrunc}, "datetime_trunc": {2, 2, rewriteDateTrunc},
	"date_diff": {3, 3, differing("datediff")}, "timestamp_diff": {3, 3, differing("timestampdiff")}, "datetime_diff": {3, 3, differing("timestampdiff")},
	"timestamp_add": aliasOf("date_add", 2), "datetime_add": aliasOf("date_add", 2), "timestamp_sub": aliasOf("date_sub", 2), "datetime_sub": aliasOf("date_sub", 2),
	"format_date": aliasOf("strftime", 2), "format_timestamp": aliasOf("strftime", 2), "format_datetime": aliasOf("strftime", 2),
	"json_extract_scalar": aliasOf("json_value", 2), "json_extract_string": aliasOf("json_value", 2), "json_unquote": {1, 1, rewriteJSONUnquote},
	"toyear": aliasOf("year", 1), "tomonth": aliasOf("month", 1), "tohour": aliasOf("hour", 1), "todate": aliasOf("date", 1),
	"tostartofmonth": {1, 1, startOf("month")}, "tostartofweek": {1, 1, startOf("week")}, "tostartofday": {1, 1, startOf("day")}, "tostartofhour": {1, 1, startOf("hour")},
}

// IdiomNames returns the names of the functions of other databases, sorted.
func IdiomNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(calls)), maps.Keys(small))
	slices.Sort(names)
	return slices.Compact(names)
}

// formOf returns the form with this name, and whether it exists.
func formOf(name string) (form, bool) {
	if of, ok := calls[name]; ok {
		return of, true
	}
	of, ok := small[name]
	return of, ok
}

// rewriteDecode rewrites Oracle's DECODE(x, a, r, …, else) as a CASE. In DECODE, null equals null. A CASE differs in
// this, so only comparisons with constants are rewritten.
func rewriteDecode(_ *taker, c *Call) Expr {
	out := &Case{Operand: c.Args[0], At: c.At}
	rest := c.Args[1:]
	for ; len(rest) > 1; rest = rest[2:] {
		switch rest[0].(type) {
		case *String, *Number:
		default:
			return nil
		}
		out.When, out.Then = append(out.When, rest[0]), append(out.Then, rest[1])
	}
	if len(rest) == 1 {
		out.Else = rest[0]
	}
	return out
}

// rewriteCountIf rewrites COUNTIF(condition) as a count of the records for which the condition is true.
func rewriteCountIf(_ *taker, c *Call) Expr {
	out := call(c, "count")
	out.Star, out.Filter = true, c.Args[0]
	if c.Filter != nil {
		out.Filter = &Binary{Op: "and", L: c.Filter, R: c.Args[0], At: c.At}
	}
	return out
}

func distinct(_ *taker, c *Call) Expr {
	out := call(c, "count", c.Args...)
	out.Distinct = true
	return out
}

// extreme rewrites max_by(x, y), the x of the record with the greatest y, and min_by. The records are sorted by y.
func extreme(name string, desc bool) func(*taker, *Call) Expr {
	return func(_ *taker, c *Call) Expr {
		out := call(c, name, c.Args...)
		if c.Order == nil {
			out.Order = []Order{{X: c.Args[1], Desc: desc, Nulls: "last"}}
		}
		return out
	}
}

// matching rewrites REGEXP_LIKE(text, pattern [, 'i']) as a Like.
func matching(_ *taker, c *Call) Expr {
	out := &Like{Op: "~", X: c.Args[0], Pattern: c.Args[1], At: c.At}
	if len(c.Args) == 3 {
		switch flags, _ := c.Args[2].(*String); {
		case flags != nil && flags.Text == "i":
			out.Op = "~*"
		case flags == nil || flags.Text != "c":
			return nil
		}
	}
	return out
}

func lastDay(_ *taker, c *Call) Expr {
	span := func(s string) Expr { return &String{Text: s, Type: "interval", At: c.At} }
	first := call(c, "date_trunc", idiomText("month", c.At), c.Args[0])
	next := &Binary{Op: "+", L: first, R: span("1 month"), At: c.At}
	return &Cast{X: &Binary{Op: "-", L: next, R: span("1 day"), At: c.At}, Type: "date", At: c.At}
}

// rewriteConvert rewrites SQL Server's CONVERT(type, x) and MySQL's CONVERT(x, type) as a CAST.
func rewriteConvert(_ *taker, c *Call) Expr {
	for i, e := range c.Args[:2] {
		if kind := idiomWord(e); types[kind] && len(c.Args) == 2 {
			return &Cast{X: c.Args[1-i], Type: kind, At: c.At}
		}
	}
	return nil
}

// types are the types that CONVERT accepts as words.
var types = map[string]bool{"date": true, "datetime": true, "int": true, "integer": true, "bigint": true, "signed": true, "unsigned": true, "float": true, "real": true, "decimal": true, "numeric": true, "char": true, "varchar": true, "nvarchar": true}

// idiomWord returns e in lower case if it is a single unquoted word, otherwise "".
func idiomWord(e Expr) string {
	switch e := e.(type) {
	case *Name:
		if len(e.Parts) == 1 && !e.Parts[0].Quoted {
			return strings.ToLower(e.Parts[0].Text)
		}
	case *Call:
		if e.Name == "varchar" || e.Name == "nvarchar" || e.Name == "char" { // the conversion would cut a longer text
			return ""
		}
	}
	return ""
}

// idiomUnits are the parts of a time that functions accept as words.
var idiomUnits = map[string]bool{"year": true, "quarter": true, "month": true, "week": true, "isoweek": true, "day": true, "hour": true, "minute": true, "second": true}

// unit returns the unit in e as a text constant, or nil if it isn't a unit. It refuses the word WEEK, because in some
// databases that week begins on Sunday.
func (t *taker) unit(e Expr) Expr {
	u := idiomWord(e)
	if !idiomUnits[u] {
		return nil
	}
	switch u {
	case "week":
		t.fail(e.Pos(), "date_trunc('week', x) has weeks that begin on Monday, and so has ISOWEEK", "WEEK as a word begins on Sunday in some databases and on Monday in others")
	case "isoweek":
		u = "week"
	}
	return idiomText(u, e.Pos())
}

// rewriteDateTrunc rewrites BigQuery's DATE_TRUNC(x, MONTH).
func rewriteDateTrunc(t *taker, c *Call) Expr {
	if u := t.unit(c.Args[1]); u != nil {
		return call(c, "date_trunc", u, c.Args[0])
	}
	return nil
}

// differing rewrites BigQuery's DATE_DIFF(end, begin, DAY) as a call of a function whose arguments are the unit, the
// beginning and the end.
func differing(name string) func(*taker, *Call) Expr {
	return func(t *taker, c *Call) Expr {
		if u := t.unit(c.Args[2]); u != nil {
			return call(c, name, u, c.Args[1], c.Args[0])
		}
		return nil
	}
}

func startOf(unit string) func(*taker, *Call) Expr {
	return func(_ *taker, c *Call) Expr {
		return call(c, "date_trunc", idiomText(unit, c.At), c.Args[0])
	}
}

// rewriteJSONUnquote rewrites MySQL's JSON_UNQUOTE(JSON_EXTRACT(x, path)) as json_value.
func rewriteJSONUnquote(_ *taker, c *Call) Expr {
	if x, ok := c.Args[0].(*Call); ok && x.Name == "json_extract" {
		return call(c, "json_value", x.Args...)
	}
	return nil
}
