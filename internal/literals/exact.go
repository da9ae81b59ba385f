package literals

import (
	"errors"
	"regexp/syntax"
	"slices"
	"unicode"
)

// A step of an expression matches between min and max characters of a set, which is a list of ranges. max is -1 for any
// number.
type step struct {
	set      []rune
	min, max int
}

var errInexact = errors.New("what it matches isn't the same in every database: write single characters and classes with *, +, ? or {m,n}, each followed by none of its own characters, and | between parts that begin differently")

// ExactPattern returns an error unless every regular expression engine finds the same matches in a text. Some engines
// prefer the first alternative, others the longest match. The matches are the same if the next character always
// determines how to continue, and if no match is empty.
func ExactPattern(text string) error {
	tree, err := ParsePattern(text, "")
	if err != nil {
		return err
	}
	branches := []*syntax.Regexp{tree}
	if tree = bare(tree); tree.Op == syntax.OpAlternate {
		branches = tree.Sub
	}
	if bothEnds(branches) {
		return nil
	}
	var begin []rune
	for _, b := range branches {
		steps, err := stepsOf(bare(b))
		if err != nil {
			return err
		}
		for i, s := range steps {
			if s.min != s.max && overlap(s.set, first(steps[i+1:])) {
				return errInexact
			}
		}
		if !slices.ContainsFunc(steps, func(s step) bool { return s.min > 0 }) {
			return errors.New("it also matches where there is nothing to replace. Write + in place of *")
		}
		next := first(steps)
		if overlap(begin, next) {
			return errInexact
		}
		begin = append(begin, next...)
	}
	return nil
}

// CheckCaptures returns an error unless every engine also finds the same texts for the groups: see ExactPattern.
func CheckCaptures(text string) error {
	if err := ExactPattern(text); err != nil {
		return err
	}
	tree, err := ParsePattern(text, "")
	if err != nil {
		return err
	}
	inside := bare(tree)
	if inside.Op == syntax.OpAlternate && bothEnds(inside.Sub) && tree.MaxCap() > 0 {
		return errInexact
	}
	return nil
}

// PatternGroups returns the number of groups in an expression.
func PatternGroups(text string) int {
	tree, err := ParsePattern(text, "")
	if err != nil {
		return 0
	}
	return tree.MaxCap()
}

// MatchesEmpty reports whether an expression may match an empty text, or an empty part of a text.
func MatchesEmpty(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return MatchesEmpty(tree.Sub[0])
	case syntax.OpRepeat:
		return tree.Min == 0 || MatchesEmpty(tree.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(tree.Sub, func(s *syntax.Regexp) bool { return !MatchesEmpty(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(tree.Sub, MatchesEmpty)
	}
	return true
}

// bothEnds reports whether branches are ^C+ and C+$ with the same set C. Both have the same match if both match at the
// same place.
func bothEnds(branches []*syntax.Regexp) bool {
	if len(branches) != 2 {
		return false
	}
	var sets [2][]rune
	for i, b := range branches {
		anchor := []syntax.Op{syntax.OpBeginText, syntax.OpEndText}[i]
		if b = bare(b); b.Op != syntax.OpConcat || len(b.Sub) != 2 || b.Sub[i].Op != anchor {
			return false
		}
		s, ok := single(b.Sub[1-i])
		if !ok || s.min != 1 || s.max != -1 {
			return false
		}
		sets[i] = s.set
	}
	return slices.Equal(sets[0], sets[1])
}

// bare returns re without the groups around it.
func bare(re *syntax.Regexp) *syntax.Regexp {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	return re
}

// stepsOf returns the steps of an expression without alternatives. The expression may begin with ^ and end with $.
func stepsOf(re *syntax.Regexp) ([]step, error) {
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	var all []step
	for i, p := range parts {
		switch p = bare(p); {
		case p.Op == syntax.OpBeginText && i == 0, p.Op == syntax.OpEndText && i == len(parts)-1, p.Op == syntax.OpEmptyMatch:
		case p.Op == syntax.OpConcat:
			inside, err := stepsOf(p)
			if err != nil || len(inside) < len(p.Sub) { // an anchor inside a group
				return nil, errInexact
			}
			all = append(all, inside...)
		case p.Op == syntax.OpLiteral && len(p.Rune) > 1:
			for _, r := range p.Rune {
				all = append(all, step{literal(r, p.Flags), 1, 1})
			}
		default:
			s, ok := single(p)
			if !ok {
				return nil, errInexact
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// single returns the step of a single character, or of a greedy repetition of one.
func single(re *syntax.Regexp) (step, bool) {
	if re = bare(re); len(re.Sub) == 1 {
		s, ok := single(re.Sub[0])
		if !ok || s.min != 1 || s.max != 1 || re.Flags&syntax.NonGreedy != 0 {
			return step{}, false
		}
		switch re.Op {
		case syntax.OpStar:
			return step{s.set, 0, -1}, true
		case syntax.OpPlus:
			return step{s.set, 1, -1}, true
		case syntax.OpQuest:
			return step{s.set, 0, 1}, true
		}
		return step{s.set, re.Min, re.Max}, re.Op == syntax.OpRepeat
	}
	switch re.Op {
	case syntax.OpLiteral:
		return step{literal(re.Rune[0], re.Flags), 1, 1}, len(re.Rune) == 1
	case syntax.OpCharClass:
		return step{re.Rune, 1, 1}, len(re.Rune) > 0
	case syntax.OpAnyChar:
		return step{[]rune{0, unicode.MaxRune}, 1, 1}, true
	case syntax.OpAnyCharNotNL:
		return step{[]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}, 1, 1}, true
	}
	return step{}, false
}

// literal returns the set of a character. With FoldCase, the set includes the other cases of the character.
func literal(r rune, flags syntax.Flags) []rune {
	set := []rune{r, r}
	if flags&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			set = append(set, f, f)
		}
	}
	return set
}

// first returns the characters with which the text of steps can begin.
func first(steps []step) (set []rune) {
	for _, s := range steps {
		if set = append(set, s.set...); s.min > 0 {
			break
		}
	}
	return set
}

// overlap reports whether two sets have a character in common.
func overlap(a, b []rune) bool {
	for i := 0; i < len(a); i += 2 {
		for j := 0; j < len(b); j += 2 {
			if a[i] <= b[j+1] && b[j] <= a[i+1] {
				return true
			}
		}
	}
	return false
}
