package sqlidiom

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
)

// small are functions of PostgreSQL, SQLite and MariaDB that are a few others.
var small = map[string]form{
	"from_unixtime": renamed("to_timestamp", 1), "eomonth": {1, 1, lastDay},
	"utc_timestamp": renamed("now", 0), "sysdatetime": renamed("now", 0), "getutcdate": renamed("now", 0), "utc_date": renamed("today", 0),
	"json_arrayagg": renamed("json_agg", 1), "jsonb_path_query_first": renamed("json_extract", 2), "array_upper": renamed("array_length", 2),
	"time": {1, 1, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return call(c, "strftime", text("%H:%M:%S", c.At), c.Args[0])
	}},
	"weekday": {1, 1, func(_ *taker, c *sqlparse.Call) sqlparse.Expr { // MySQL's, from 0 for Monday
		return operation("-", call(c, "extract", text("isodow", c.At), c.Args[0]), number("1", c.At))
	}},
	"timezone": {2, 2, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return operation("at time zone", c.Args[1], c.Args[0])
	}},
	"convert_tz": {3, 3, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		if from, ok := c.Args[1].(*sqlparse.String); !ok || from.Text != "UTC" && from.Text != "+00:00" {
			return nil
		}
		return operation("at time zone", c.Args[0], c.Args[2])
	}},
	"make_date": {3, 3, madeDate},
	"space":     {1, 1, func(_ *taker, c *sqlparse.Call) sqlparse.Expr { return call(c, "repeat", text(" ", c.At), c.Args[0]) }},
	"ends_with": {2, 2, ending}, "endswith": {2, 2, ending}, "startswith": renamed("starts_with", 2),
	"string_to_table": {2, 2, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return call(c, "unnest", call(c, "string_to_array", c.Args...))
	}},
	"regexp_split_to_array": {2, 2, split(func(c *sqlparse.Call) sqlparse.Expr { return call(c, "string_to_array", c.Args...) })},
	"regexp_split_to_table": {2, 2, split(func(c *sqlparse.Call) sqlparse.Expr {
		return call(c, "unnest", call(c, "string_to_array", c.Args...))
	})},
	"array_append": {2, 2, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return operation("||", call(c, "coalesce", c.Args[0], &sqlparse.Array{At: c.At}), alone(c.Args[1]))
	}},
	"array_prepend": {2, 2, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return operation("||", alone(c.Args[0]), call(c, "coalesce", c.Args[1], &sqlparse.Array{At: c.At}))
	}},
	"array_cat": {2, 2, func(_ *taker, c *sqlparse.Call) sqlparse.Expr { return operation("||", c.Args[0], c.Args[1]) }},
	"elt":       {2, 51, chosen}, "choose": {2, 51, chosen}, "field": {2, 51, placeAmong},
	"log2": {1, 1, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return operation("/", call(c, "log10", c.Args[0]), call(c, "log10", number("2", c.At)))
	}},
	"log": {2, 2, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return operation("/", call(c, "log10", c.Args[1]), call(c, "log10", c.Args[0]))
	}},
	"cbrt": {1, 1, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return call(c, "power", c.Args[0], operation("/", number("1.0", c.At), number("3", c.At)))
	}},
	"degrees": {1, 1, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return operation("*", c.Args[0], number("57.29577951308232", c.At))
	}},
	"radians": {1, 1, func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		return operation("*", c.Args[0], number("0.017453292519943295", c.At))
	}},
	"num_nulls":    {1, 50, counting(false)},
	"num_nonnulls": {1, 50, counting(true)},
}

func number(s string, at sqlparse.Pos) sqlparse.Expr { return &sqlparse.Number{Text: s, At: at} }

func operation(op string, l, r sqlparse.Expr) sqlparse.Expr {
	return &sqlparse.Binary{Op: op, L: l, R: r, At: l.Pos()}
}

// alone returns the list of one element.
func alone(x sqlparse.Expr) sqlparse.Expr {
	return &sqlparse.Array{Items: []sqlparse.Expr{x}, At: x.Pos()}
}

// madeDate is make_date(year, month, day), by its text.
func madeDate(_ *taker, c *sqlparse.Call) sqlparse.Expr {
	part := func(i int, width string) sqlparse.Expr {
		return call(c, "lpad", &sqlparse.Cast{X: &sqlparse.Cast{X: c.Args[i], Type: "integer", At: c.At}, Type: "text", At: c.At}, number(width, c.At), text("0", c.At))
	}
	all := operation("||", part(0, "4"), text("-", c.At))
	all = operation("||", operation("||", operation("||", all, part(1, "2")), text("-", c.At)), part(2, "2"))
	return &sqlparse.Cast{X: all, Type: "date", At: c.At}
}

// ending tests whether a text ends with a constant one.
func ending(_ *taker, c *sqlparse.Call) sqlparse.Expr {
	end, ok := c.Args[1].(*sqlparse.String)
	if !ok {
		return nil
	}
	return operation("=", call(c, "right", c.Args[0], number(strconv.Itoa(utf8.RuneCountInString(end.Text)), c.At)), end)
}

// split takes a function that divides at an expression, if that is a text that stands for itself.
func split(by func(*sqlparse.Call) sqlparse.Expr) func(*taker, *sqlparse.Call) sqlparse.Expr {
	return func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		if s, ok := c.Args[1].(*sqlparse.String); !ok || !literal(s.Text) {
			return nil
		}
		return by(c)
	}
}

// literal reports whether a regular expression matches nothing but itself.
func literal(expression string) bool {
	for _, r := range expression {
		switch r {
		case '\\', '.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '^', '$', '|':
			return false
		}
	}
	return expression != ""
}

// chosen is ELT(n, a, b): the argument with the number n.
func chosen(_ *taker, c *sqlparse.Call) sqlparse.Expr {
	out := &sqlparse.Case{Operand: c.Args[0], At: c.At}
	for i, x := range c.Args[1:] {
		out.When, out.Then = append(out.When, number(fmt.Sprint(i+1), c.At)), append(out.Then, x)
	}
	return out
}

// placeAmong is FIELD(x, a, b): the number of the argument that x is, 0 for none.
func placeAmong(_ *taker, c *sqlparse.Call) sqlparse.Expr {
	out := &sqlparse.Case{Operand: c.Args[0], At: c.At, Else: number("0", c.At)}
	for i, x := range c.Args[1:] {
		out.When, out.Then = append(out.When, x), append(out.Then, number(fmt.Sprint(i+1), c.At))
	}
	return out
}

// counting is num_nulls and num_nonnulls: how many arguments are null, or are not.
func counting(there bool) func(*taker, *sqlparse.Call) sqlparse.Expr {
	return func(_ *taker, c *sqlparse.Call) sqlparse.Expr {
		var sum sqlparse.Expr
		for _, x := range c.Args {
			one := sqlparse.Expr(&sqlparse.Case{When: []sqlparse.Expr{isNull(x, there, c.At)}, Then: []sqlparse.Expr{number("1", c.At)}, Else: number("0", c.At), At: c.At})
			if sum != nil {
				one = operation("+", sum, one)
			}
			sum = one
		}
		return sum
	}
}
