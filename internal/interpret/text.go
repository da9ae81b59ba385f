package interpret

import (
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// text returns the values of the operators on text.
func text(e plan.Apply, args []value.Value) (value.Value, bool) {
	x := args[0].Text()
	operand := func(i int) string { return args[i].Text() }
	switch e.Op {
	case plan.Concat:
		for i := range args[1:] {
			x += operand(i + 1)
		}
	case plan.Substr:
		return substring(x, args[1].Int(), args[2].Int()), true
	case plan.Lower:
		x = strings.Map(func(c rune) rune {
			if 'A' <= c && c <= 'Z' {
				return c + 'a' - 'A'
			}
			return c
		}, x)
	case plan.Upper:
		x = strings.Map(func(c rune) rune {
			if 'a' <= c && c <= 'z' {
				return c + 'A' - 'a'
			}
			return c
		}, x)
	case plan.Trim:
		x = strings.Trim(x, operand(1))
	case plan.TrimLeft:
		x = strings.TrimLeft(x, operand(1))
	case plan.TrimRight:
		x = strings.TrimRight(x, operand(1))
	case plan.Split:
		var parts []value.Value
		for _, part := range strings.Split(x, operand(1)) {
			parts = append(parts, value.OfString(part))
		}
		return value.OfArray(parts), true
	case plan.Length:
		return value.OfInt(int64(utf8.RuneCountInString(x))), true
	case plan.IndexOf:
		i := strings.Index(x, operand(1))
		if i > 0 {
			i = utf8.RuneCountInString(x[:i])
		}
		return value.OfInt(int64(i)), true
	case plan.ReplaceAll:
		if operand(1) != "" {
			x = strings.ReplaceAll(x, operand(1), operand(2))
		}
	default:
		return value.Value{}, false
	}
	return value.OfString(x), true
}

// substring returns length code points of x, starting at from.
func substring(x string, from, length int64) value.Value {
	if from < 0 {
		return value.Value{}
	}
	points := []rune(x)
	points = points[min(from, int64(len(points))):]
	if length >= 0 {
		points = points[:min(length, int64(len(points)))]
	}
	return value.OfString(string(points))
}
