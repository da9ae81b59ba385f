// Package sqlstring writes functions of texts that SQL has, and plan hasn't, as programs: what is left or right in a text, texts that are
// filled, repeated or split, and lists as texts.
package sqlstring

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Most is the most characters that Padded and Repeated make.
const Most = 1000

// Of returns a constant text.
func Of(s string) plan.Const { return plan.Const{Value: value.OfString(s), T: schema.String} }

// Apply returns an operator whose result is a text.
func Apply(o plan.Op, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: o, Args: args, T: schema.String}
}

func null() plan.Expr { return plan.Const{T: schema.String} }

func whole(n int64) plan.Expr { return plan.Const{Value: value.OfInt(n), T: schema.Integer} }

func number(o plan.Op, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: o, Args: args, T: schema.Integer}
}

func test(o plan.Op, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: o, Args: args, T: schema.Boolean}
}

// choice returns then where a condition holds.
func choice(holds, then, otherwise plan.Expr) plan.Expr {
	return plan.Case{If: []plan.Expr{holds}, Then: []plan.Expr{then}, Else: otherwise, T: then.Type()}
}

// Side takes n characters of x from the left or the right; a negative n leaves as many out at the other end.
func Side(x, n plan.Expr, right bool) plan.Expr {
	length := number(plan.Length, x)
	atLeast0 := func(e plan.Expr) plan.Expr { return choice(test(plan.Under, e, whole(0)), whole(0), e) }
	negative := test(plan.Under, n, whole(0))
	start, count := whole(0), choice(negative, atLeast0(number(plan.Add, length, n)), n)
	if right {
		start = choice(negative, number(plan.Sub, whole(0), n), atLeast0(number(plan.Sub, length, n)))
		count = length
	}
	return Apply(plan.Substr, x, start, count)
}

// From takes n characters of x from a position, from 0, or all that follow; null for a position before the first, and for fewer than none.
func From(x, start, n plan.Expr, counted bool) plan.Expr {
	valid := test(plan.UpTo, whole(0), start)
	if counted {
		valid = test(plan.And, valid, test(plan.UpTo, whole(0), n))
	}
	return choice(valid, Apply(plan.Substr, x, start, n), null())
}

// Shown is x as concat and concat_ws have it, where x is the text of a value: of a truth the first letter, as PostgreSQL shows it.
func Shown(x plan.Expr, truth bool) plan.Expr {
	if truth {
		return Apply(plan.Substr, x, whole(0), whole(1))
	}
	return x
}

// With joins those of all that aren't null, with a constant text between them.
func With(between plan.Const, all []plan.Expr) plan.Expr {
	parts := make([]plan.Expr, len(all)) // each with the separator before it
	for i, x := range all {
		parts[i] = Apply(plan.IfNull, Apply(plan.Concat, between, x), Of(""))
	}
	return Apply(plan.Substr, Apply(plan.Concat, parts...), whole(int64(len([]rune(between.Value.Text())))), whole(-1))
}

// Padded fills x up to n characters, on the left or on the right; a longer one is cut.
func Padded(x plan.Expr, n int64, fill string, left bool) plan.Expr {
	cut := Apply(plan.Substr, x, whole(0), whole(n))
	if fill == "" {
		return cut
	}
	length := number(plan.Length, x)
	both := []plan.Expr{Apply(plan.Substr, Of(strings.Repeat(fill, int(n))), whole(0), number(plan.Sub, whole(n), length)), x}
	if !left {
		both[0], both[1] = both[1], both[0]
	}
	return choice(test(plan.Under, length, whole(n)), Apply(plan.Concat, both...), cut)
}

// Repeated is a constant text, not the empty one, n times; null beyond Most characters.
func Repeated(text string, n plan.Expr) plan.Expr {
	size := int64(len([]rune(text)))
	most := Most / size
	all := Apply(plan.Substr, Of(strings.Repeat(text, int(most))), whole(0), number(plan.Mul, n, whole(size)))
	return plan.Case{If: []plan.Expr{test(plan.Under, n, whole(1)), test(plan.UpTo, n, whole(most))}, Then: []plan.Expr{Of(""), all}, Else: null(), T: schema.String}
}

// Copies is x n times.
func Copies(x plan.Expr, n int64) plan.Expr {
	all := []plan.Expr{Apply(plan.Substr, x, whole(0), whole(0))} // null for null
	for range n {
		all = append(all, x)
	}
	return Apply(plan.Concat, all...)
}

// Part is part n of x between separators, from 1, or from the end if it is negative; "" for none.
func Part(x plan.Expr, separator plan.Const, n plan.Expr) plan.Expr {
	parts := plan.Apply{Op: plan.Split, Args: []plan.Expr{x, separator}, T: schema.JSON}
	from := choice(test(plan.Under, n, whole(0)), n, number(plan.Sub, n, whole(1)))
	if k, ok := n.(plan.Const); ok && k.Value.Int() >= 0 {
		from = whole(k.Value.Int() - 1)
	}
	part := plan.As{X: plan.Apply{Op: plan.ElemAt, Args: []plan.Expr{parts, from}, T: schema.JSON}, T: schema.String}
	return Apply(plan.IfNull, part, choice(test(plan.IsNull, x), null(), Of("")))
}

// Joined is the elements of a list as texts with another between them; element is one of them in its type. Nulls are left out, or shown as
// the text ofNull, if that is one. A list or an object among them has no such text, and makes the result null.
func Joined(items, element plan.Expr, separator plan.Const, ofNull value.Value) plan.Expr {
	is := func(kind string) plan.Expr {
		return test(plan.Eq, Apply(plan.TypeOf, plan.Element{}), Of(kind))
	}
	truth := choice(plan.As{X: plan.Element{}, T: schema.Boolean}, Of("t"), Of("f"))
	shown := plan.Case{If: []plan.Expr{is("bool")}, Then: []plan.Expr{plan.ToJSON{X: truth}}, Else: plan.ToJSON{X: plan.Convert{X: element, T: schema.String}}, T: schema.JSON}
	if !ofNull.IsNull() {
		shown.If, shown.Then = append(shown.If, is("null")), append(shown.Then, plan.ToJSON{X: Of(ofNull.Text())})
	}
	joined := Apply(plan.JoinTexts, plan.Over{Do: plan.MapEach, Input: items, Body: shown}, separator)
	deep := plan.Over{Do: plan.SelectEach, Input: items, Body: test(plan.Or, is("array"), is("object"))}
	return choice(test(plan.Same, number(plan.Size, deep), whole(0)), Apply(plan.IfNull, joined, Of("")), null())
}

// Parts is the first n parts of x between separators, or, if n is negative, its last -n parts, with the separators between them.
func Parts(x plan.Expr, separator plan.Const, n int64) plan.Expr {
	first, count := min(n, 1), max(n, -n)
	var all []plan.Expr
	for i := range count {
		if i > 0 {
			all = append(all, separator)
		}
		all = append(all, Part(x, separator, whole(first+i)))
	}
	if count == 1 {
		return all[0]
	}
	parts := plan.Apply{Op: plan.Split, Args: []plan.Expr{x, separator}, T: schema.JSON}
	return choice(test(plan.UpTo, number(plan.Size, parts), whole(count)), x, Apply(plan.Concat, all...))
}

// Overlaid is x with y in the place of length characters from number from, counted from 1. With within it is x if x has fewer characters than from.
func Overlaid(x, y plan.Expr, from, length int64, within bool) plan.Expr {
	out := Apply(plan.Concat, Apply(plan.Substr, x, whole(0), whole(from-1)), y, Apply(plan.Substr, x, whole(from-1+length), whole(-1)))
	if within {
		return choice(test(plan.Under, number(plan.Length, x), whole(from)), Apply(plan.Concat, x, Apply(plan.Substr, y, whole(0), whole(0))), out)
	}
	return out
}
