package sqlbind

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxTextLength is the maximum number of characters that padText and repeatText make.
const maxTextLength = 1000

// textConst returns a constant text.
func textConst(s string) plan.Const { return plan.Const{Value: value.OfString(s), T: schema.String} }

// applyText returns an operator whose result is a text.
func applyText(o plan.Op, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: o, Args: args, T: schema.String}
}

func null() plan.Expr { return plan.Const{T: schema.String} }

func stringWhole(n int64) plan.Expr { return plan.Const{Value: value.OfInt(n), T: schema.Integer} }

func number(o plan.Op, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: o, Args: args, T: schema.Integer}
}

func test(o plan.Op, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: o, Args: args, T: schema.Boolean}
}

// choice returns a Case with two values: the second argument if the condition is true, otherwise the third.
func choice(holds, then, otherwise plan.Expr) plan.Expr {
	return plan.Case{If: []plan.Expr{holds}, Then: []plan.Expr{then}, Else: otherwise, T: then.Type()}
}

// textSide returns n characters of x from the left or the right. A negative n omits -n characters at the other end.
func textSide(x, n plan.Expr, right bool) plan.Expr {
	length := number(plan.Length, x)
	atLeast0 := func(e plan.Expr) plan.Expr { return choice(test(plan.Under, e, stringWhole(0)), stringWhole(0), e) }
	negative := test(plan.Under, n, stringWhole(0))
	start, count := stringWhole(0), choice(negative, atLeast0(number(plan.Add, length, n)), n)
	if right {
		start = choice(negative, number(plan.Sub, stringWhole(0), n), atLeast0(number(plan.Sub, length, n)))
		count = length
	}
	return applyText(plan.Substr, x, start, count)
}

// textFrom returns n characters of x from a position that counts from 0. Without counted, it returns all of them. It is
// null for a negative position or a negative n.
func textFrom(x, start, n plan.Expr, counted bool) plan.Expr {
	valid := test(plan.UpTo, stringWhole(0), start)
	if counted {
		valid = test(plan.And, valid, test(plan.UpTo, stringWhole(0), n))
	}
	return choice(valid, applyText(plan.Substr, x, start, n), null())
}

// asText returns x, the text of a value, in the form of concat and concat_ws. As in PostgreSQL, the form of a Boolean
// is its first letter.
func asText(x plan.Expr, truth bool) plan.Expr {
	if truth {
		return applyText(plan.Substr, x, stringWhole(0), stringWhole(1))
	}
	return x
}

// withText joins the texts of all that aren't null. The argument between is the separator.
func withText(between plan.Const, all []plan.Expr) plan.Expr {
	parts := make([]plan.Expr, len(all)) // each text with the separator before it
	for i, x := range all {
		parts[i] = applyText(plan.IfNull, applyText(plan.Concat, between, x), textConst(""))
	}
	return applyText(plan.Substr, applyText(plan.Concat, parts...), stringWhole(int64(len([]rune(between.Value.Text())))), stringWhole(-1))
}

// padText fills x up to n characters, on the left or on the right. A longer text is cut.
func padText(x plan.Expr, n int64, fill string, left bool) plan.Expr {
	cut := applyText(plan.Substr, x, stringWhole(0), stringWhole(n))
	if fill == "" {
		return cut
	}
	length := number(plan.Length, x)
	both := []plan.Expr{applyText(plan.Substr, textConst(strings.Repeat(fill, int(n))), stringWhole(0), number(plan.Sub, stringWhole(n), length)), x}
	if !left {
		both[0], both[1] = both[1], both[0]
	}
	return choice(test(plan.Under, length, stringWhole(n)), applyText(plan.Concat, both...), cut)
}

// repeatText returns n copies of a constant text that isn't empty. It is null beyond maxTextLength characters.
func repeatText(text string, n plan.Expr) plan.Expr {
	size := int64(len([]rune(text)))
	most := maxTextLength / size
	all := applyText(plan.Substr, textConst(strings.Repeat(text, int(most))), stringWhole(0), number(plan.Mul, n, stringWhole(size)))
	return plan.Case{If: []plan.Expr{test(plan.Under, n, stringWhole(1)), test(plan.UpTo, n, stringWhole(most))}, Then: []plan.Expr{textConst(""), all}, Else: null(), T: schema.String}
}

// copies returns n copies of x.
func copies(x plan.Expr, n int64) plan.Expr {
	all := []plan.Expr{applyText(plan.Substr, x, stringWhole(0), stringWhole(0))} // null if x is null
	for range n {
		all = append(all, x)
	}
	return applyText(plan.Concat, all...)
}

// splitPart returns part n of x between separators, counted from 1, or from the end if n is negative. It is "" if there
// is no such part.
func splitPart(x plan.Expr, separator plan.Const, n plan.Expr) plan.Expr {
	parts := plan.Apply{Op: plan.Split, Args: []plan.Expr{x, separator}, T: schema.JSON}
	from := choice(test(plan.Under, n, stringWhole(0)), n, number(plan.Sub, n, stringWhole(1)))
	if k, ok := n.(plan.Const); ok && k.Value.Int() >= 0 {
		from = stringWhole(k.Value.Int() - 1)
	}
	part := plan.As{X: plan.Apply{Op: plan.ElemAt, Args: []plan.Expr{parts, from}, T: schema.JSON}, T: schema.String}
	return applyText(plan.IfNull, part, choice(test(plan.IsNull, x), null(), textConst("")))
}

// joinList returns the elements of a list as texts, joined by a separator. element is plan.Element in the type of the
// elements. Nulls are omitted, or replaced by the text ofNull if it isn't null. A list or an object among the elements
// has no text and makes the result null.
func joinList(items, element plan.Expr, separator plan.Const, ofNull value.Value) plan.Expr {
	is := func(kind string) plan.Expr {
		return test(plan.Eq, applyText(plan.TypeOf, plan.Element{}), textConst(kind))
	}
	truth := choice(plan.As{X: plan.Element{}, T: schema.Boolean}, textConst("t"), textConst("f"))
	shown := plan.Case{If: []plan.Expr{is("bool")}, Then: []plan.Expr{plan.ToJSON{X: truth}}, Else: plan.ToJSON{X: plan.Convert{X: element, T: schema.String}}, T: schema.JSON}
	if !ofNull.IsNull() {
		shown.If, shown.Then = append(shown.If, is("null")), append(shown.Then, plan.ToJSON{X: textConst(ofNull.Text())})
	}
	joined := applyText(plan.JoinTexts, plan.Over{Do: plan.MapEach, Input: items, Body: shown}, separator)
	deep := plan.Over{Do: plan.SelectEach, Input: items, Body: test(plan.Or, is("array"), is("object"))}
	return choice(test(plan.Same, number(plan.Size, deep), stringWhole(0)), applyText(plan.IfNull, joined, textConst("")), null())
}

// splitParts returns the first n parts of x between separators, including the separators between them. A negative n
// returns the last -n parts.
func splitParts(x plan.Expr, separator plan.Const, n int64) plan.Expr {
	first, count := min(n, 1), max(n, -n)
	var all []plan.Expr
	for i := range count {
		if i > 0 {
			all = append(all, separator)
		}
		all = append(all, splitPart(x, separator, stringWhole(first+i)))
	}
	if count == 1 {
		return all[0]
	}
	parts := plan.Apply{Op: plan.Split, Args: []plan.Expr{x, separator}, T: schema.JSON}
	return choice(test(plan.UpTo, number(plan.Size, parts), stringWhole(count)), x, applyText(plan.Concat, all...))
}

// overlayText replaces length characters of x by y. The argument from is the position of the first of them, counted
// from 1. If the argument within is set, x stays unchanged if it has fewer characters than that position.
func overlayText(x, y plan.Expr, from, length int64, within bool) plan.Expr {
	out := applyText(plan.Concat, applyText(plan.Substr, x, stringWhole(0), stringWhole(from-1)), y, applyText(plan.Substr, x, stringWhole(from-1+length), stringWhole(-1)))
	if within {
		return choice(test(plan.Under, number(plan.Length, x), stringWhole(from)), applyText(plan.Concat, x, applyText(plan.Substr, y, stringWhole(0), stringWhole(0))), out)
	}
	return out
}
