package query

import (
	"regexp/syntax"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ParseRegex checks a regular expression at the JSON pointer at, like that of a $regex.
func ParseRegex(text, options, at string) (Regex, error) {
	f, err := regex(nil, value.OfString(text), value.OfString(options), at)
	if err != nil {
		return Regex{}, err
	}
	return f.(Regex), nil
}

// regex parses $regex with $options. literals.CheckPattern refuses patterns that databases run differently, or that
// could run forever.
func regex(path Path, text, options value.Value, at string) (Filter, error) {
	if text.Kind() != value.String {
		return nil, invalid(at, "$regex takes a string")
	}
	if options.Kind() != value.String && options.Kind() != value.Null {
		return nil, invalid(at, "$options takes a string of the letters i, m, s and x")
	}
	checked, flags, err := literals.CheckPattern(text.Text(), options.Text())
	if err != nil {
		return nil, invalid(at, err.Error())
	}
	return Regex{Path: path, Pattern: checked, Options: flags, At: at}, nil
}

// Tree parses the pattern with its options.
func (r Regex) Tree() (*syntax.Regexp, error) { return literals.ParsePattern(r.Pattern, r.Options) }

// Expression returns the pattern with its options as one RE2 expression.
func (r Regex) Expression() string {
	if r.Options == "" {
		return r.Pattern
	}
	return "(?" + r.Options + ")" + r.Pattern
}

// CheckCaptures returns an error unless all databases find the same parts of a text, with the same texts of the groups.
func (r Regex) CheckCaptures() error { return literals.CheckCaptures(r.Expression()) }

// Groups returns the number of groups that capture.
func (r Regex) Groups() int { return literals.PatternGroups(r.Expression()) }

// Empty reports whether an empty part of a text may match.
func (r Regex) Empty() bool {
	tree, err := r.Tree()
	return err != nil || literals.MatchesEmpty(tree)
}
