package sqlgen

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// maxRegex is the maximum size in bytes of an expression that is sent to a database. Below it, PostgreSQL never returns
// "too complex".
const maxRegex = 4096

// A RegexSyntax describes how the regular expressions of a database differ from those of other databases.
type RegexSyntax struct {
	Database  string    // the name of the database, for messages
	All       string    // matches any character, including newlines
	End       string    // matches the end of the text
	Escapes   [2]string // the formats of a character up to U+FFFF and of a character above
	Least     rune      // the least character of a text
	Repeats   int       // the largest repetition count
	MostOpen  int       // the maximum number of repetitions without an upper bound or with a high one, or 0 for no limit
	MostParts int       // the maximum weight with expanded repetitions, or 0 for no limit

	capture bool // groups are written as capturing
}

// Groups is Translate with groups that capture. It refuses an expression for which engines could find different parts.
func (s RegexSyntax) Groups(r query.Regex) (string, error) {
	if err := r.CheckCaptures(); err != nil {
		return "", &problem.Error{Code: problem.Unsupported, Detail: fmt.Sprintf("%s can test this regular expression, but not find the parts that it matches: %v", s.Database, err),
			Suggestion: "write a simpler expression, or use $regexMatch, or $split and $indexOfCP"}
	}
	s.capture = true
	return s.Translate(r)
}

func unsupportedError(format string, args ...any) error {
	return problem.New(problem.Unsupported, fmt.Sprintf(format, args...))
}

// Translate writes an RE2 expression in the syntax s. The result matches the same texts. It writes every construct in
// full, because short forms have different meanings. Classes become ranges, and case folding becomes classes. Anchors
// and word boundaries are written by name or by look-around.
func (s RegexSyntax) Translate(r query.Regex) (string, error) {
	tree, err := r.Tree()
	if err != nil {
		return "", fmt.Errorf("a checked expression doesn't parse: %w", err)
	}
	var b strings.Builder
	if err := s.rewrite(&b, tree); err != nil {
		return "", err
	}
	if b.Len() > maxRegex || s.MostParts > 0 && weight(tree) > s.MostParts {
		return "", unsupportedError("the regular expression grows too large for %s. Write it shorter", s.Database)
	}
	if n := open(tree); s.MostOpen > 0 && n > s.MostOpen {
		return "", unsupportedError("%s can be asked for at most %d repetitions such as * and + in a regular expression, not %d", s.Database, s.MostOpen, n)
	}
	return b.String(), nil
}

// rewrite writes re, an expression that Go has parsed, in the database's syntax. The result matches the same texts as
// Go's RE2. Characters are code points, \b knows only ASCII, and groups don't capture.
func (s RegexSyntax) rewrite(b *strings.Builder, re *syntax.Regexp) error {
	switch re.Op {
	case syntax.OpEmptyMatch:
		b.WriteString(`(?:)`)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 {
				s.folded(b, r)
			} else {
				s.character(b, r)
			}
		}
	case syntax.OpCharClass:
		return s.bracketed(b, re.Rune)
	case syntax.OpAnyCharNotNL:
		b.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		b.WriteString(s.All)
	case syntax.OpBeginLine:
		b.WriteString(`(?:\A|(?<=\n))`)
	case syntax.OpEndLine:
		b.WriteString(`(?:` + s.End + `|(?=\n))`)
	case syntax.OpBeginText:
		b.WriteString(`\A`)
	case syntax.OpEndText:
		b.WriteString(s.End)
	case syntax.OpWordBoundary:
		b.WriteString(`(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))`)
	case syntax.OpNoWordBoundary:
		b.WriteString(`(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))`)
	case syntax.OpCapture:
		if s.capture {
			b.WriteString("(")
			err := s.rewrite(b, re.Sub[0])
			b.WriteString(")")
			return err
		}
		return s.group(b, re.Sub, "")
	case syntax.OpConcat:
		return s.group(b, re.Sub, "")
	case syntax.OpAlternate:
		return s.group(b, re.Sub, "|")
	default:
		return s.repeated(b, re)
	}
	return nil
}

// repeated writes a repetition. It omits the mark of a lazy repetition, which doesn't change whether a text matches. It
// fails if a count is above the database's limit or the database can't express the repetition.
func (s RegexSyntax) repeated(b *strings.Builder, re *syntax.Regexp) error {
	if err := s.group(b, re.Sub, ""); err != nil {
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
		if re.Min > s.Repeats || re.Max > s.Repeats {
			return unsupportedError("%s repeats at most %d times in a regular expression", s.Database, s.Repeats)
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
		return unsupportedError("%s can't do this part of a regular expression: %s", s.Database, re)
	}
	return nil
}

// group writes subs in a group that captures nothing, with sep between them.
func (s RegexSyntax) group(b *strings.Builder, subs []*syntax.Regexp, sep string) error {
	b.WriteString("(?:")
	for i, sub := range subs {
		if i > 0 {
			b.WriteString(sep)
		}
		if err := s.rewrite(b, sub); err != nil {
			return err
		}
	}
	b.WriteString(")")
	return nil
}

// folded writes all letters that r folds to.
func (s RegexSyntax) folded(b *strings.Builder, r rune) {
	if unicode.SimpleFold(r) == r {
		s.character(b, r)
		return
	}
	b.WriteString("[")
	s.character(b, r)
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		s.character(b, f)
	}
	b.WriteString("]")
}

// bracketed writes the ranges of a class, or of the complement if the complement is shorter.
func (s RegexSyntax) bracketed(b *strings.Builder, ranges []rune) error {
	if len(ranges) == 0 {
		b.WriteString(`(?!)`)
		return nil
	}
	if ranges[0] == 0 && ranges[len(ranges)-1] == unicode.MaxRune {
		rest := complement(ranges)
		if len(rest) == 0 {
			b.WriteString(s.All)
			return nil
		}
		b.WriteString("[^")
		ranges = rest
	} else {
		b.WriteString("[")
	}
	for i := 0; i < len(ranges); i += 2 {
		lo := ranges[i]
		if ranges[i+1] > lo {
			lo = max(lo, s.Least)
		}
		s.character(b, lo)
		if ranges[i+1] > lo {
			b.WriteString("-")
			s.character(b, ranges[i+1])
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

// character writes one character as a literal, inside and outside of brackets.
func (s RegexSyntax) character(b *strings.Builder, r rune) {
	switch {
	case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		b.WriteRune(r)
	case r <= 0xFFFF:
		fmt.Fprintf(b, s.Escapes[0], r)
	default:
		fmt.Fprintf(b, s.Escapes[1], r)
	}
}

// weight estimates the size in bytes of re as compiled by PCRE2.
func weight(re *syntax.Regexp) int {
	n := 16 + 10*len(re.Rune)
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		n += 60 * len(re.Rune)
	}
	if re.Op == syntax.OpCharClass {
		n += 40
	}
	for _, sub := range re.Sub {
		n += weight(sub)
	}
	return n * max(1, re.Min, re.Max) // 0 except for repetitions
}

// open counts the repetitions of re that can match a text in many ways.
func open(re *syntax.Regexp) int {
	n := 0
	if re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Max < 0 || re.Max > re.Min+8 {
		n = 1
	}
	for _, sub := range re.Sub {
		n += open(sub)
	}
	return n
}
