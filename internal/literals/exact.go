package literals

import (
	"errors"
	"regexp/syntax"
	"slices"
	"unicode"
)

// A step of an expression matches between min and max characters of a set, given as ranges. max is -1 for any number.
type step struct {
	set      []rune
	min, max int
}

var errInexact = errors.New("what it matches isn't the same in every database: write single characters and classes with *, +, ? or {m,n}, each followed by none of its own characters, and | between parts that begin differently")

// ExactPattern returns an error unless every engine finds the same parts of a text, whether it takes the first
// alternative or the longest. They do so if the next character determines how to go on, and if no part is empty.
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
			return errors.New("it also matches where there is nothing to replace; write + in place of *")
		}
		next := first(steps)
		if overlap(begin, next) {
			return errInexact
		}
		begin = append(begin, next...)
	}
	return nil
}

// CheckCaptures returns an error unless every engine also finds the same texts of the groups: see ExactPattern.
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

// MatchesEmpty reports whether an expression matches an empty text, or may match an empty part of one.
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

// bothEnds reports whether branches are ^C+ and C+$ of one set C: where both begin, they match the same.
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

// stepsOf returns the steps of an expression without alternatives, which may begin with ^ and end with $.
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
			if err != nil || len(inside) < len(p.Sub) { // an anchor inside of a group
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

// single returns the step of one character, or of a greedy repetition of one.
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

// literal returns the set of a character, and of those that it folds to.
func literal(r rune, flags syntax.Flags) []rune {
	set := []rune{r, r}
	if flags&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			set = append(set, f, f)
		}
	}
	return set
}

// first returns the characters with which steps can begin.
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
