package query

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// CheckPath splits and checks the dotted path s at the JSON pointer at.
func CheckPath(s, at string) (Path, error) {
	path := ParsePath(s)
	if len(path) > MaxPath {
		return nil, invalid(at, fmt.Sprintf("a path has at most %d parts", MaxPath))
	}
	for _, part := range path {
		switch {
		case part == "":
			return nil, invalid(at, fmt.Sprintf("%q is not a field name: a part of it is empty", problem.Cut(s)))
		case strings.HasPrefix(part, "$"):
			return nil, invalid(at, fmt.Sprintf("%q is not a field name: it begins with $", problem.Cut(s)))
		case len(part) > maxSegment:
			return nil, invalid(at, fmt.Sprintf("%q is not a field name: it is longer than %d bytes", problem.Cut(part), maxSegment))
		}
	}
	return path, nil
}

// Pointer returns the JSON pointer (RFC 6901) of the member or element token below at.
func Pointer(at, token string) string { return literals.Pointer(at, token) }

func article(noun string) string {
	if noun == "null" {
		return noun
	}
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
