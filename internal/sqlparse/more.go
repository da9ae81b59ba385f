package sqlparse

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// small are functions of PostgreSQL, SQLite and MariaDB that can be written with a few other functions.
var small = map[string]form{
	"from_unixtime": aliasOf("to_timestamp", 1), "eomonth": {1, 1, lastDay},
	"utc_timestamp": aliasOf("now", 0), "sysdatetime": aliasOf("now", 0), "getutcdate": aliasOf("now", 0), "utc_date": aliasOf("today", 0),
	"json_arrayagg": aliasOf("json_agg", 1), "jsonb_path_query_first": aliasOf("json_extract", 2), "array_upper": aliasOf("array_length", 2),
	"time": {1, 1, func(_ *taker, c *Call) Expr {
		return call(c, "strftime", idiomText("%H:%M:%S", c.At), c.Args[0])
	}},
	"weekday": {1, 1, func(_ *taker, c *Call) Expr { // MySQL's, from 0 for Monday
		return operation("-", call(c, "extract", idiomText("isodow", c.At), c.Args[0]), idiomNumber("1", c.At))
	}},
	"timezone": {2, 2, func(_ *taker, c *Call) Expr {
		return operation("at time zone", c.Args[1], c.Args[0])
	}},
	"convert_tz": {3, 3, func(_ *taker, c *Call) Expr {
		if from, ok := c.Args[1].(*String); !ok || from.Text != "UTC" && from.Text != "+00:00" {
			return nil
		}
		return operation("at time zone", c.Args[0], c.Args[2])
	}},
	"make_date": {3, 3, madeDate},
	"space":     {1, 1, func(_ *taker, c *Call) Expr { return call(c, "repeat", idiomText(" ", c.At), c.Args[0]) }},
	"ends_with": {2, 2, ending}, "endswith": {2, 2, ending}, "startswith": aliasOf("starts_with", 2),
	"string_to_table": {2, 2, func(_ *taker, c *Call) Expr {
		return call(c, "unnest", call(c, "string_to_array", c.Args...))
	}},
	"regexp_split_to_array": {2, 2, split(func(c *Call) Expr { return call(c, "string_to_array", c.Args...) })},
	"regexp_split_to_table": {2, 2, split(func(c *Call) Expr {
		return call(c, "unnest", call(c, "string_to_array", c.Args...))
	})},
	"array_append": {2, 2, func(_ *taker, c *Call) Expr {
		return operation("||", call(c, "coalesce", c.Args[0], &Array{At: c.At}), asArray(c.Args[1]))
	}},
	"array_prepend": {2, 2, func(_ *taker, c *Call) Expr {
		return operation("||", asArray(c.Args[0]), call(c, "coalesce", c.Args[1], &Array{At: c.At}))
	}},
	"array_cat": {2, 2, func(_ *taker, c *Call) Expr { return operation("||", c.Args[0], c.Args[1]) }},
	"elt":       {2, 51, rewriteElt}, "choose": {2, 51, rewriteElt}, "field": {2, 51, placeAmong},
	"log2": {1, 1, func(_ *taker, c *Call) Expr {
		return operation("/", call(c, "log10", c.Args[0]), call(c, "log10", idiomNumber("2", c.At)))
	}},
	"log": {2, 2, func(_ *taker, c *Call) Expr {
		return operation("/", call(c, "log10", c.Args[1]), call(c, "log10", c.Args[0]))
	}},
	"cbrt": {1, 1, func(_ *taker, c *Call) Expr {
		return call(c, "power", c.Args[0], operation("/", idiomNumber("1.0", c.At), idiomNumber("3", c.At)))
	}},
	"degrees": {1, 1, func(_ *taker, c *Call) Expr {
		return operation("*", c.Args[0], idiomNumber("57.29577951308232", c.At))
	}},
	"radians": {1, 1, func(_ *taker, c *Call) Expr {
		return operation("*", c.Args[0], idiomNumber("0.017453292519943295", c.At))
	}},
	"num_nulls":    {1, 50, counting(false)},
	"num_nonnulls": {1, 50, counting(true)},
}

func idiomNumber(s string, at Pos) Expr { return &Number{Text: s, At: at} }

func operation(op string, l, r Expr) Expr {
	return &Binary{Op: op, L: l, R: r, At: l.Pos()}
}

// asArray returns an array with x as its only element.
func asArray(x Expr) Expr {
	return &Array{Items: []Expr{x}, At: x.Pos()}
}

// madeDate rewrites make_date(year, month, day) as a cast of the text of the date.
func madeDate(_ *taker, c *Call) Expr {
	part := func(i int, width string) Expr {
		return call(c, "lpad", &Cast{X: &Cast{X: c.Args[i], Type: "integer", At: c.At}, Type: "text", At: c.At}, idiomNumber(width, c.At), idiomText("0", c.At))
	}
	all := operation("||", part(0, "4"), idiomText("-", c.At))
	all = operation("||", operation("||", operation("||", all, part(1, "2")), idiomText("-", c.At)), part(2, "2"))
	return &Cast{X: all, Type: "date", At: c.At}
}

// ending rewrites a test that a text ends with a constant text.
func ending(_ *taker, c *Call) Expr {
	end, ok := c.Args[1].(*String)
	if !ok {
		return nil
	}
	return operation("=", call(c, "right", c.Args[0], idiomNumber(strconv.Itoa(utf8.RuneCountInString(end.Text)), c.At)), end)
}

// split rewrites a function that splits at a regular expression, if the expression matches only itself.
func split(by func(*Call) Expr) func(*taker, *Call) Expr {
	return func(_ *taker, c *Call) Expr {
		if s, ok := c.Args[1].(*String); !ok || !literal(s.Text) {
			return nil
		}
		return by(c)
	}
}

// literal reports whether a regular expression matches only itself.
func literal(expression string) bool {
	for _, r := range expression {
		switch r {
		case '\\', '.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '^', '$', '|':
			return false
		}
	}
	return expression != ""
}

// rewriteElt rewrites ELT(n, a, b), which returns argument number n, as a CASE.
func rewriteElt(_ *taker, c *Call) Expr {
	out := &Case{Operand: c.Args[0], At: c.At}
	for i, x := range c.Args[1:] {
		out.When, out.Then = append(out.When, idiomNumber(fmt.Sprint(i+1), c.At)), append(out.Then, x)
	}
	return out
}

// placeAmong rewrites FIELD(x, a, b) as a CASE. Its value is the number of the argument that equals x, or 0.
func placeAmong(_ *taker, c *Call) Expr {
	out := &Case{Operand: c.Args[0], At: c.At, Else: idiomNumber("0", c.At)}
	for i, x := range c.Args[1:] {
		out.When, out.Then = append(out.When, x), append(out.Then, idiomNumber(fmt.Sprint(i+1), c.At))
	}
	return out
}

// counting rewrites num_nulls and num_nonnulls, the number of arguments that are null or not null.
func counting(there bool) func(*taker, *Call) Expr {
	return func(_ *taker, c *Call) Expr {
		var sum Expr
		for _, x := range c.Args {
			one := Expr(&Case{When: []Expr{isNull(x, there, c.At)}, Then: []Expr{idiomNumber("1", c.At)}, Else: idiomNumber("0", c.At), At: c.At})
			if sum != nil {
				one = operation("+", sum, one)
			}
			sum = one
		}
		return sum
	}
}
