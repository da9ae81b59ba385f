package literals

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// MaxPattern is the maximum number of characters of a regular expression.
const MaxPattern = 256

// CheckPattern returns a valid pattern and its options. It applies the options s and x to the pattern and removes them.
// A valid pattern has RE2 syntax, at most MaxPattern characters, and no quantifier of varying length inside another
// one. The error is a sentence for the caller.
func CheckPattern(text, options string) (pattern, flags string, err error) {
	if len([]rune(text)) > MaxPattern {
		return "", "", fmt.Errorf("a regular expression has at most %d characters", MaxPattern)
	}
	dots := false
	for _, o := range options {
		switch {
		case o == 'x':
			text = stripSpaceAndComments(text)
		case o == 's' && !dots:
			dots = true
		case (o == 'i' || o == 'm') && !strings.ContainsRune(flags, o):
			flags += string(o)
		default:
			return "", "", fmt.Errorf("$options takes each of the letters i, m, s and x once. It is %q", problem.Cut(options))
		}
	}
	if dots {
		text = "(?s)" + text
	}
	tree, err := ParsePattern(text, flags)
	if err != nil {
		for _, border := range []string{`\m`, `\M`, `\y`, `\<`, `\>`} {
			if strings.Contains(text, border) {
				return "", "", fmt.Errorf("not a regular expression in RE2 syntax: %w. A border of a word is \\b", err)
			}
		}
		return "", "", fmt.Errorf("not a regular expression in RE2 syntax: %w", err)
	}
	if hasNestedRepeats(tree, false) {
		return "", "", errors.New("a regular expression can't repeat what already repeats, as (a+)+ does")
	}
	return text, flags, nil
}

// ParsePattern parses a pattern. flags may contain i and m.
func ParsePattern(pattern, flags string) (*syntax.Regexp, error) {
	mode := syntax.Perl
	if strings.Contains(flags, "i") {
		mode |= syntax.FoldCase
	}
	if strings.Contains(flags, "m") {
		mode &^= syntax.OneLine
	}
	return syntax.Parse(pattern, mode)
}

// hasNestedRepeats reports whether a repetition of varying length is inside another repetition. Backtracking engines
// evaluate such expressions in exponential time.
func hasNestedRepeats(tree *syntax.Regexp, inside bool) bool {
	varies := tree.Op == syntax.OpStar || tree.Op == syntax.OpPlus || tree.Op == syntax.OpRepeat && tree.Min != tree.Max
	if inside && varies {
		return true
	}
	repeats := varies || tree.Op == syntax.OpRepeat
	for _, sub := range tree.Sub {
		if hasNestedRepeats(sub, inside || repeats) {
			return true
		}
	}
	return false
}

// stripSpaceAndComments applies the option x: it removes white space and comments outside of brackets.
func stripSpaceAndComments(pattern string) string {
	var out strings.Builder
	class, escaped, comment := false, false, false
	for _, r := range pattern {
		switch {
		case comment:
			comment = r != '\n'
			continue
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case class:
			class = r != ']'
		case r == '[':
			class = true
		case r == '#':
			comment = true
			continue
		case unicode.IsSpace(r):
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}
