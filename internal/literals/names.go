package literals

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The limits of a path.
const (
	MaxPath    = 8   // parts of a path
	maxSegment = 128 // bytes of a part
)

// Path splits and checks the dotted path s. The argument at is its JSON pointer, for errors.
func Path(s, at string) ([]string, error) {
	path := strings.Split(s, ".")
	if len(path) > MaxPath {
		return nil, problem.Invalid(at, "a path has at most %d parts", MaxPath)
	}
	for _, part := range path {
		switch {
		case part == "":
			return nil, problem.Invalid(at, "%q is not a field name: a part of it is empty", problem.Cut(s))
		case strings.HasPrefix(part, "$"):
			return nil, problem.Invalid(at, "%q is not a field name: it begins with $", problem.Cut(s))
		case len(part) > maxSegment:
			return nil, problem.Invalid(at, "%q is not a field name: it is longer than %d bytes", problem.Cut(part), maxSegment)
		}
	}
	return path, nil
}

// Name rejects a text that isn't the name of a single column or member.
func Name(s, at string) error {
	if strings.Contains(s, ".") {
		return problem.Invalid(at, "%q can't have a dot: it names one field", problem.Cut(s))
	}
	_, err := Path(s, at)
	return err
}

// Variable rejects a text that can't be the name of a variable.
func Variable(s, at string) error {
	ok := s != "" && len(s) <= maxSegment && s[0] >= 'a' && s[0] <= 'z'
	for _, r := range s {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_')
	}
	if !ok {
		return problem.Invalid(at, "%q can't be a variable: write a small letter, then letters, digits and _", problem.Cut(s))
	}
	return nil
}

// Object rejects any value except an object with only known keys. name is the operator that has v as its operand.
func Object(v value.Value, name, at string, known []string) error {
	if v.Kind() != value.Object {
		return problem.Invalid(at, "%s takes an object with %s, not %s", name, joinNames(known), Kind(v))
	}
	for _, m := range v.Members() {
		if !slices.Contains(known, m.Name) {
			return &problem.Error{Code: problem.InvalidQuery, Pointer: Pointer(at, m.Name), Near: problem.Nearest(m.Name, known, 3),
				Detail: fmt.Sprintf("%s has no key %q. It takes %s", name, problem.Cut(m.Name), joinNames(known))}
		}
	}
	return nil
}

// joinNames joins names for a sentence.
func joinNames(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// Kind returns the kind of v with its article, for messages.
func Kind(v value.Value) string {
	noun := v.Kind().String()
	if noun == "null" {
		return noun
	}
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
