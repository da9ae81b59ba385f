package sqlbind

import (
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// like binds LIKE and matches of regular expressions. Their patterns are constants, or made of constants and
// parameters.
func (b *Binder) like(e *sqlparse.Like) (cond, error) {
	x, err := b.Value(e.X)
	if err != nil {
		return cond{}, err
	}
	text, err := b.Text(&x, strings.ToUpper(e.Op))
	if err != nil {
		return cond{}, err
	}
	v, err := b.patternText(e.Pattern)
	if err != nil {
		return cond{}, unsupportedError(e.Pattern.Pos(), "for a text within a text use strpos(x, y) > 0", "the pattern is a constant text")
	}
	if v.IsNull() {
		return unknown, nil
	}
	if v.Kind() != value.String {
		return cond{}, invalid(e.Pattern.Pos(), "the pattern is a text, not %s", v.Kind())
	}
	if n := utf8.RuneCountInString(v.Text()); n > literals.MaxPattern {
		return cond{}, invalid(e.Pattern.Pos(), "the pattern has %d characters, and at most %d are possible", n, literals.MaxPattern)
	}
	regex, err := b.pattern(e, v.Text())
	if err != nil {
		return cond{}, err
	}
	there := Not(isNull(text))
	m := plan.Matches{X: text, Regex: regex}
	return cond{Test(plan.And, there, m), Test(plan.And, there, Not(m))}.NegateIf(e.Not), nil
}

// pattern returns the regular expression of a LIKE, a SIMILAR TO or a ~.
func (b *Binder) pattern(e *sqlparse.Like, text string) (query.Regex, error) {
	escape := '\\'
	if e.Escape != nil {
		v, err := b.Constant(e.Escape)
		if err != nil {
			return query.Regex{}, err
		}
		switch c := []rune(v.Text()); len(c) {
		case 0:
			escape = -1
		case 1:
			escape = c[0]
		default:
			return query.Regex{}, invalid(e.Escape.Pos(), "ESCAPE takes one character")
		}
	}
	options := ""
	switch e.Op {
	case "like":
		text = literals.LikePattern(text, escape)
	case "ilike":
		text, options = literals.LikePattern(text, escape), "i"
	case "similar":
		text = "^(?s:" + strings.NewReplacer("%", ".*", "_", ".").Replace(text) + ")$"
	case "~", "~*":
		return expression(text, map[string]string{"~*": "i"}[e.Op], At(e.Pattern.Pos()))
	}
	return query.ParseRegex(text, options, At(e.Pattern.Pos()))
}
