package interpret

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// longest is the maximum size of a text that an expression makes, in bytes, as in SQLite.
const longest = 4 << 20

// apply returns the value of an operator on texts. Its operands are not null. The bool is false for another operator.
func apply(e plan.Apply, args []value.Value) (value.Value, bool) {
	x := args[0].Text()
	operand := func(i int) string { return args[i].Text() }
	switch e.Op {
	case plan.Concat:
		return concatTexts(args), true
	case plan.Substr:
		return substring(x, args[1].Int(), args[2].Int()), true
	case plan.Lower:
		x = strings.Map(lower, x)
	case plan.Upper:
		x = strings.Map(upper, x)
	case plan.Trim:
		x = strings.Trim(x, operand(1))
	case plan.TrimLeft:
		x = strings.TrimLeft(x, operand(1))
	case plan.TrimRight:
		x = strings.TrimRight(x, operand(1))
	case plan.Split:
		return split(x, operand(1)), true
	case plan.Length:
		return value.OfInt(int64(utf8.RuneCountInString(x))), true
	case plan.IndexOf:
		i := strings.Index(x, operand(1))
		if i > 0 {
			i = utf8.RuneCountInString(x[:i])
		}
		return value.OfInt(int64(i)), true
	case plan.ReplaceAll:
		if operand(1) == "" {
			break
		}
		if grown := len(operand(2)) - len(operand(1)); grown > 0 && len(x)+strings.Count(x, operand(1))*grown > max(longest, len(x)) {
			return value.Value{}, true
		}
		x = strings.ReplaceAll(x, operand(1), operand(2))
	case plan.Reverse:
		characters := []rune(x)
		slices.Reverse(characters)
		x = string(characters)
	case plan.Capitalize:
		x = capitalize(x)
	case plan.ReplaceMatches:
		return replaceMatches(x, operand(1), operand(2), len(args) < 4 || args[3].Bool()), true
	case plan.FindMatch, plan.FindMatches:
		return findMatches(x, operand(1), e.Op == plan.FindMatches), true
	default:
		return value.Value{}, false
	}
	return value.OfString(x), true
}

// lower changes only ASCII letters, as every database can.
func lower(c rune) rune {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upper(c rune) rune {
	if 'a' <= c && c <= 'z' {
		return c + 'A' - 'a'
	}
	return c
}

// capitalize returns x with the first letter of each word in upper case and the other letters in lower case.
func capitalize(x string) string {
	inside := false
	return strings.Map(func(c rune) rune {
		shown := upper(c)
		if inside {
			shown = lower(c)
		}
		inside = lower(c) != upper(c) || '0' <= c && c <= '9' || c >= 0x80
		return shown
	}, x)
}

// replaceMatches returns x with each match of an expression replaced by another text. Without all, it replaces only the
// first match.
func replaceMatches(x, expression, with string, all bool) value.Value {
	re, err := regexp.Compile(expression)
	if err != nil {
		return value.Value{}
	}
	most := 1
	if all {
		most = -1
	}
	var out strings.Builder
	end := 0
	for _, at := range re.FindAllStringIndex(x, most) {
		out.WriteString(x[end:at[0]])
		out.WriteString(with)
		if end = at[1]; out.Len() > longest && out.Len() > len(x) {
			return value.Value{}
		}
	}
	out.WriteString(x[end:])
	if out.Len() > longest && out.Len() > len(x) {
		return value.Value{}
	}
	return value.OfString(out.String())
}

// concatTexts returns the concatenation of texts.
func concatTexts(args []value.Value) value.Value {
	var out strings.Builder
	n := 0
	for _, a := range args {
		n += len(a.Text())
	}
	if n > longest && n > len(args[0].Text()) {
		return value.Value{}
	}
	out.Grow(n)
	for _, a := range args {
		out.WriteString(a.Text())
	}
	return value.OfString(out.String())
}

// split returns the parts of a text. It returns null if the parts would use more than four times longest in memory.
func split(x, separator string) value.Value {
	const each = 64
	if each*strings.Count(x, separator) > 4*longest {
		return value.Value{}
	}
	var parts []value.Value
	for _, part := range strings.Split(x, separator) {
		parts = append(parts, value.OfString(part))
	}
	return value.OfArray(parts)
}

// substring returns length code points of x, starting at code point from. A negative length means all that follow.
func substring(x string, from, length int64) value.Value {
	if from < 0 {
		return value.Value{}
	}
	x = x[after(x, from):]
	if length >= 0 {
		x = x[:after(x, length)]
	}
	return value.OfString(strings.Clone(x)) // a copy, because the original text may be much longer
}

// after returns the position in text after its first n characters, or the end of text.
func after(text string, n int64) (at int) {
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}
