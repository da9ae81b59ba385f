package compile

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/query"
)

// maxAdvanced is the most bytes of an expression sent to PostgreSQL, so that it never answers "too complex".
const maxAdvanced = 4096

// advanced writes a regular expression of RE2 syntax as PostgreSQL's advanced one (ARE) that matches the same
// texts. It writes every construct in full, for the two differ in what short forms mean: classes by their ranges,
// case folding by classes, anchors and word boundaries by their ARE names or by look-around.
func advanced(r query.Regex) (string, error) {
	tree, err := r.Tree()
	if err != nil {
		return "", fmt.Errorf("a checked expression doesn't parse: %w", err)
	}
	var b strings.Builder
	if err := rewrite(&b, tree); err != nil {
		return "", err
	}
	if b.Len() > maxAdvanced {
		return "", unsupported("the regular expression grows too large for PostgreSQL; write it shorter")
	}
	return b.String(), nil
}

func rewrite(b *strings.Builder, re *syntax.Regexp) error {
	switch re.Op {
	case syntax.OpNoMatch:
		b.WriteString(`(?!)`)
	case syntax.OpEmptyMatch:
		b.WriteString(`(?:)`)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 {
				folded(b, r)
			} else {
				character(b, r)
			}
		}
	case syntax.OpCharClass:
		return bracketed(b, re.Rune)
	case syntax.OpAnyCharNotNL:
		b.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		b.WriteString(`.`) // in an ARE the dot matches the newline too
	case syntax.OpBeginLine:
		b.WriteString(`(?:\A|(?<=\n))`)
	case syntax.OpEndLine:
		b.WriteString(`(?:\Z|(?=\n))`)
	case syntax.OpBeginText:
		b.WriteString(`\A`)
	case syntax.OpEndText:
		b.WriteString(`\Z`)
	case syntax.OpWordBoundary:
		b.WriteString(`(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))`)
	case syntax.OpNoWordBoundary:
		b.WriteString(`(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))`)
	case syntax.OpCapture, syntax.OpConcat:
		return group(b, re.Sub, "")
	case syntax.OpAlternate:
		return group(b, re.Sub, "|")
	default:
		return repeated(b, re)
	}
	return nil
}

func repeated(b *strings.Builder, re *syntax.Regexp) error {
	if err := group(b, re.Sub, ""); err != nil {
		return err
	}
	switch re.Op {
	case syntax.OpStar:
		b.WriteString("*")
	case syntax.OpPlus:
		b.WriteString("+")
	case syntax.OpQuest:
		b.WriteString("?")
	case syntax.OpRepeat:
		if re.Min > 255 || re.Max > 255 {
			return unsupported("PostgreSQL repeats at most 255 times in a regular expression")
		}
		switch {
		case re.Max < 0:
			fmt.Fprintf(b, "{%d,}", re.Min)
		case re.Max == re.Min:
			fmt.Fprintf(b, "{%d}", re.Min)
		default:
			fmt.Fprintf(b, "{%d,%d}", re.Min, re.Max)
		}
	default:
		return unsupported("PostgreSQL can't do this part of a regular expression: %s", re)
	}
	return nil
}

func group(b *strings.Builder, subs []*syntax.Regexp, sep string) error {
	b.WriteString("(?:")
	for i, sub := range subs {
		if i > 0 {
			b.WriteString(sep)
		}
		if err := rewrite(b, sub); err != nil {
			return err
		}
	}
	b.WriteString(")")
	return nil
}

// folded writes all letters that r folds to.
func folded(b *strings.Builder, r rune) {
	if unicode.SimpleFold(r) == r {
		character(b, r)
		return
	}
	b.WriteString("[")
	character(b, r)
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		character(b, f)
	}
	b.WriteString("]")
}

// bracketed writes the ranges of a class, or of its complement when that is shorter.
func bracketed(b *strings.Builder, ranges []rune) error {
	if len(ranges) == 0 {
		b.WriteString(`(?!)`)
		return nil
	}
	if ranges[0] == 0 && ranges[len(ranges)-1] == unicode.MaxRune {
		rest := complement(ranges)
		if len(rest) == 0 {
			b.WriteString(".")
			return nil
		}
		b.WriteString("[^")
		ranges = rest
	} else {
		b.WriteString("[")
	}
	for i := 0; i < len(ranges); i += 2 {
		lo := max(ranges[i], 1) // PostgreSQL's text has no NUL
		character(b, lo)
		if ranges[i+1] > lo {
			b.WriteString("-")
			character(b, ranges[i+1])
		}
	}
	b.WriteString("]")
	return nil
}

func complement(ranges []rune) []rune {
	var rest []rune
	for i := 1; i+1 < len(ranges); i += 2 {
		rest = append(rest, ranges[i]+1, ranges[i+1]-1)
	}
	return rest
}

// character writes one character so that it means itself inside and outside of brackets.
func character(b *strings.Builder, r rune) {
	switch {
	case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		b.WriteRune(r)
	case r <= 0xFFFF:
		fmt.Fprintf(b, `\u%04X`, r)
	default:
		fmt.Fprintf(b, `\U%08X`, r)
	}
}
