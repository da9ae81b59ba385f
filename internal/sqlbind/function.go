package sqlbind

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A function binds a call of a function.
type function struct {
	least, most int // the numbers of arguments. A most of -1 means any number
	bind        func(f *called, a []node) (node, error)
}

// A called is a call together with the Binder for its records.
type called struct {
	*Binder
	*sqlparse.Call
}

func (f *called) place() sqlparse.Pos { return f.Call.At }

// operator returns an operator on the arguments. Each argument is converted to the type at its index in types.
func (f *called) operator(o plan.Op, t schema.Type, a []node, types ...schema.Type) (node, error) {
	args := make([]plan.Expr, len(a))
	for i := range a {
		want, err := types[min(i, len(types)-1)], error(nil)
		if want == schema.String {
			args[i], err = f.Text(&a[i], f.Call.Name)
		} else {
			args[i], err = a[i].Want(want, f.Call.Name)
		}
		if err != nil {
			return node{}, err
		}
	}
	return computedOf(plan.Apply{Op: o, Args: args, T: t}, f.place()), nil
}

// call binds a call of a scalar function, as opposed to an aggregate.
func (b *Binder) call(c *sqlparse.Call) (node, error) {
	if c.Over != nil {
		return node{}, invalid(c.At, "a window function can only be in the select list and in ORDER BY")
	}
	if sqlparse.AggregateIn(c) == c {
		return node{}, unsupportedError(c.At, "", "%s(…) can't be here", c.Name)
	}
	if n, is, err := b.partOfAge(c); is {
		return n, err
	}
	fn, ok := b.function(c.Name)
	if !ok {
		return node{}, unknownFunction(c)
	}
	if c.Star || c.Distinct || c.Order != nil || c.Filter != nil || c.Within != nil {
		return node{}, invalid(c.At, "%s is no aggregate: it takes its arguments alone", c.Name)
	}
	if len(c.Args) < fn.least || fn.most >= 0 && len(c.Args) > fn.most {
		err := invalid(c.At, "%s takes %s, and %d are given", c.Name, arityText(fn), len(c.Args))
		err.Suggestion = hint.SQLFunction(c.Name)
		return node{}, err
	}
	args := make([]node, len(c.Args))
	for i, e := range c.Args {
		var err error
		if args[i], err = b.Value(e); err != nil {
			return node{}, err
		}
	}
	return fn.bind(&called{b, c}, args)
}

func arityText(f function) string {
	switch {
	case f.most < 0:
		return fmt.Sprintf("at least %d arguments", f.least)
	case f.least == f.most:
		return plural(f.least)
	}
	return fmt.Sprintf("%d to %d arguments", f.least, f.most)
}

func plural(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// FunctionNames returns the names of the scalar functions and of the aggregates, sorted.
func FunctionNames() []string {
	names := append(slices.Collect(maps.Keys(functions())), slices.Collect(maps.Keys(sqlparse.Aggregates))...)
	slices.Sort(names)
	return slices.Compact(names)
}

// function returns the function called name.
func (b *Binder) function(name string) (function, bool) {
	if b.Known.all == nil {
		b.Known.all = functions()
	}
	fn, ok := b.Known.all[name]
	return fn, ok
}

// functions returns the functions by name.
func functions() map[string]function {
	all := map[string]function{}
	for _, family := range []map[string]function{ofText(), ofParts(), ofNumbers(), ofTime(), betweenTimes(), ofValues()} {
		maps.Copy(all, family)
	}
	return all
}

func integer(n int64) node {
	return node{Node: typecheck.Node{Expr: Whole(n), Constant: true}}
}

// minus returns x - n.
func minus(x plan.Expr, n int64) plan.Expr {
	if k, ok := x.(plan.Const); ok {
		return Whole(k.Value.Int() - n)
	}
	return plan.Apply{Op: plan.Sub, Args: []plan.Expr{x, Whole(n)}, T: schema.Integer}
}

func texts(o plan.Op, t schema.Type) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) { return f.operator(o, t, a, schema.String) }
}

// bindTrim binds a function that removes characters at the ends. The default is a space. A constant text can name other
// characters.
func bindTrim(o plan.Op) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		if len(a) == 1 {
			a = append(a, literal(value.OfString(" "), f.place()))
		}
		if _, ok := a[1].Expr.(plan.Const); !ok {
			return node{}, problem.UnsupportedError(a[1].At, "%s takes the characters as a constant text", f.Call.Name)
		}
		return f.operator(o, schema.String, a, schema.String)
	}
}

// indexOf binds a function that returns the position of the second text in the first, from 1, or 0 if it doesn't occur.
func indexOf(swap bool) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		if swap {
			a[0], a[1] = a[1], a[0]
		}
		n, err := f.operator(plan.IndexOf, schema.Integer, a, schema.String)
		if err != nil {
			return node{}, err
		}
		n.Compute(plan.Apply{Op: plan.Add, Args: []plan.Expr{n.Expr, Whole(1)}, T: schema.Integer})
		return n, nil
	}
}

// substring returns the characters from a position. Positions count from 1, but may also be before the text.
func substring(f *called, a []node) (node, error) {
	if len(a) == 2 && a[1].Kind() == schema.String {
		return node{}, unsupportedError(f.place(), "split_part(x, '@', 2) takes what is between separators, regexp_replace(x, '[^0-9]+', '', 'g') leaves out what isn't wanted, and x ~ '…' tests a text", "substring with a regular expression isn't there")
	}
	x, err := f.Text(&a[0], f.Call.Name)
	if err != nil {
		return node{}, err
	}
	from, err := a[1].Want(schema.Integer, f.Call.Name)
	if err != nil {
		return node{}, err
	}
	start := minus(from, 1)
	n := plan.Expr(Whole(-1))
	if len(a) == 3 {
		if n, err = a[2].Want(schema.Integer, f.Call.Name); err != nil {
			return node{}, err
		}
	}
	k, fixed := start.(plan.Const)
	length, fixedLength := n.(plan.Const)
	switch {
	case fixed && k.Value.Int() >= 0 && (len(a) == 2 || fixedLength && length.Value.Int() >= 0):
		return computedOf(applyText(plan.Substr, x, start, n), f.place()), nil
	case fixed && k.Value.Int() < 0:
		return node{}, unsupportedError(f.place(), "right(x, n) takes characters from the end", "a position before the first character isn't there")
	}
	return computedOf(textFrom(x, start, n, len(a) == 3), f.place()), nil
}

// side returns characters from the left or the right. A negative count omits characters at the other end.
func side(right bool) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		x, err := f.Text(&a[0], f.Call.Name)
		if err != nil {
			return node{}, err
		}
		n, err := a[1].Want(schema.Integer, f.Call.Name)
		if err != nil {
			return node{}, err
		}
		return computedOf(textSide(x, n, right), f.place()), nil
	}
}

// ofText returns the functions on texts. They count characters from 1. Package plan has no operators for starts_with
// and split_part. starts_with is true if the prefix is found at position 0. split_part is an element of Split, counted
// from the end if n is negative.
func ofText() map[string]function {
	return map[string]function{
		"lower": {1, 1, texts(plan.Lower, schema.String)}, "lcase": {1, 1, texts(plan.Lower, schema.String)},
		"upper": {1, 1, texts(plan.Upper, schema.String)}, "ucase": {1, 1, texts(plan.Upper, schema.String)},
		"length": {1, 1, texts(plan.Length, schema.Integer)}, "char_length": {1, 1, texts(plan.Length, schema.Integer)},
		"character_length": {1, 1, texts(plan.Length, schema.Integer)}, "len": {1, 1, texts(plan.Length, schema.Integer)},
		"btrim": {1, 2, bindTrim(plan.Trim)}, "ltrim": {1, 2, bindTrim(plan.TrimLeft)}, "rtrim": {1, 2, bindTrim(plan.TrimRight)},
		"replace":   {3, 3, texts(plan.ReplaceAll, schema.String)},
		"strpos":    {2, 2, indexOf(false)},
		"instr":     {2, 2, indexOf(false)},
		"position":  {2, 2, indexOf(true)},
		"locate":    {2, 2, indexOf(true)},
		"charindex": {2, 2, indexOf(true)},
		"substring": {2, 3, substring}, "substr": {2, 3, substring}, "mid": {3, 3, substring},
		"left": {2, 2, side(false)}, "right": {2, 2, side(true)},
		"lpad": {2, 3, bindPad(true)}, "rpad": {2, 3, bindPad(false)}, "repeat": {2, 2, bindRepeat}, "replicate": {2, 2, bindRepeat},
		"reverse": {1, 1, texts(plan.Reverse, schema.String)}, "initcap": {1, 1, texts(plan.Capitalize, schema.String)}, "regexp_replace": {3, 4, rewritten}, "array_to_string": {2, 3, textOfList},
		"concat":    {1, -1, func(f *called, a []node) (node, error) { return f.Binder.concat(a, true, f.place()) }},
		"concat_ws": {2, -1, concatWith},
		"starts_with": {2, 2, func(f *called, a []node) (node, error) {
			n, err := f.operator(plan.IndexOf, schema.Integer, a, schema.String)
			if err != nil {
				return node{}, err
			}
			there := Not(isNull(n.Expr))
			is := Test(plan.Same, n.Expr, Whole(0))
			return computedOf(cond{is, Test(plan.And, there, Not(is))}.value(), f.place()), nil
		}},
		"split_part": {3, 3, func(f *called, a []node) (node, error) {
			separator, ok := a[1].Expr.(plan.Const)
			if !ok || separator.Value.Text() == "" {
				return node{}, unsupportedAt(a[1].At, "left(x, strpos(x, y) - 1) is what comes before a text of another column", "split_part takes a constant separator that isn't empty")
			}
			x, err := f.Text(&a[0], "split_part")
			if err != nil {
				return node{}, err
			}
			n, err := a[2].Want(schema.Integer, "split_part")
			if err != nil {
				return node{}, err
			}
			return computedOf(splitPart(x, separator, n), f.place()), nil
		}},
	}
}

// concatWith joins all texts after the first that aren't null. The first text is the separator.
func concatWith(f *called, a []node) (node, error) {
	k, ok := a[0].Expr.(plan.Const)
	if !ok || k.Value.Kind() != value.String {
		return node{}, unsupportedAt(a[0].At, "x || y || z puts texts together", "concat_ws takes a constant separator")
	}
	all := make([]plan.Expr, len(a)-1)
	for i := range all {
		var err error
		if all[i], err = f.Text(&a[i+1], "concat_ws"); err != nil {
			return node{}, err
		}
		all[i] = asText(all[i], a[i+1].Kind() == schema.Boolean)
	}
	return computedOf(withText(k, all), f.place()), nil
}

// numbers binds a function whose result has the type of its argument, so that a Decimal stays exact. A whole number is
// its own ceiling and rounding. The number of places must be a constant from -20 to 20, because it becomes part of the
// SQL text.
func numbers(o plan.Op) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		t, number := typecheck.Number([]typecheck.Node{a[0].Node}), a[0].number()
		switch {
		case len(a) == 2:
			number = number.Average()
		case o != plan.Abs:
			number = number.Real()
		}
		if t == schema.Integer && (o == plan.Ceil || o == plan.Floor || len(a) == 1 && (o == plan.Round || o == plan.Trunc)) {
			a[0].Number = number
			return a[0], nil
		}
		types := []schema.Type{t}
		if o == plan.Round || o == plan.Trunc {
			if len(a) == 1 {
				a = append(a, integer(0))
			}
			k, ok := a[1].Expr.(plan.Const)
			if n, isWhole := k.Value.AsInt(); !ok || !isWhole || n < -20 || n > 20 {
				return node{}, invalid(f.place(), "%s takes a whole number from -20 to 20 for the places", f.Call.Name)
			}
			types = append(types, schema.Integer)
		}
		n, err := f.operator(o, t, a, types...)
		n.Number = number
		return n, err
	}
}

// reals binds a function on Doubles.
func reals(o plan.Op) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		n, err := f.operator(o, schema.Double, a, schema.Double)
		n.Number = numberOf(a...).Real()
		return n, err
	}
}

// ofNumbers returns the functions on numbers. As in PostgreSQL and SQLite, log is the logarithm to base 10.
func ofNumbers() map[string]function {
	return map[string]function{
		"abs": {1, 1, numbers(plan.Abs)}, "ceil": {1, 1, numbers(plan.Ceil)}, "ceiling": {1, 1, numbers(plan.Ceil)}, "floor": {1, 1, numbers(plan.Floor)},
		"sqrt": {1, 1, reals(plan.Sqrt)}, "exp": {1, 1, reals(plan.Exp)}, "ln": {1, 1, reals(plan.Ln)}, "log": {1, 1, reals(plan.Log10)}, "log10": {1, 1, reals(plan.Log10)},
		"power": {2, 2, reals(plan.Pow)}, "pow": {2, 2, reals(plan.Pow)},
		"round": {1, 2, numbers(plan.Round)}, "trunc": {1, 2, numbers(plan.Trunc)}, "truncate": {1, 2, numbers(plan.Trunc)},
		"mod": {2, 2, func(f *called, a []node) (node, error) { return f.arithmetic("%", a[0], a[1], f.place()) }},
		"div": {2, 2, func(f *called, a []node) (node, error) { // numeric in PostgreSQL, but a whole number in MySQL
			n, err := f.arithmetic("div", a[0], a[1], f.place())
			n.Number = numeric
			return n, err
		}},
		"width_bucket": {4, 4, bucket},
		"sign": {1, 1, func(f *called, a []node) (node, error) {
			t := typecheck.Number([]typecheck.Node{a[0].Node})
			x, err := a[0].Want(t, "sign")
			n := computedOf(signOf(x, typecheck.Constant(value.OfInt(0), t)), f.place())
			n.Number = a[0].number().Real()
			return n, err
		}},
	}
}

// bucket binds width_bucket.
func bucket(f *called, a []node) (node, error) {
	x, err := a[0].Want(schema.Double, f.Call.Name)
	if err != nil {
		return node{}, err
	}
	var bounds [2]float64
	for i := range bounds {
		k, ok := a[i+1].Expr.(plan.Const)
		if bounds[i], _ = k.Value.AsFloat(); !ok || !k.Value.IsNumber() {
			return node{}, problem.UnsupportedError(a[i+1].At, "width_bucket takes constant bounds. floor((x - low) / width) + 1 numbers parts of any range")
		}
	}
	k, ok := a[3].Expr.(plan.Const)
	n, whole := k.Value.AsInt()
	if low, high := bounds[0], bounds[1]; !ok || !whole || n < 1 || n > 1_000_000 || low == high {
		return node{}, invalid(f.place(), "width_bucket takes a value, two bounds that differ, and a constant whole number of parts")
	}
	return computedOf(bucketOf(x, bounds[0], bounds[1], n), f.place()), nil
}
