package literals

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// The limits of a full-text query.
const (
	maxSearchText  = 400 // bytes
	maxSearchTerms = 16  // words and phrases
)

// A Search matches records that contain each of Terms in at least one field and none of Without in any field. A term is
// a word or a phrase with at least one letter or digit. A phrase matches if its words are next to each other in the
// same order. Case is ignored. The index determines what a word is, beyond ASCII letters and digits, and whether other
// word forms match.
type Search struct {
	Terms   []string // at least one
	Without []string
	Fields  []string // the fields to search, or empty for all fields with an index
}

// ParseSearch parses text. at is the JSON pointer of text, for errors. Terms without a letter or digit are ignored. A
// text without a term to find is a problem.InvalidArgument.
func ParseSearch(text, at string) (*Search, error) {
	if len(text) > maxSearchText {
		return nil, refuse(at, fmt.Sprintf("query has at most %d bytes, got %d", maxSearchText, len(text)))
	}
	q := &Search{}
	for rest := normalizeSpace(text); rest != ""; rest = strings.TrimLeft(rest, " ") {
		body, without := strings.CutPrefix(rest, "-")
		end, quoted := " ", strings.HasPrefix(body, `"`)
		if quoted {
			body, end = body[1:], `"`
		}
		var term string
		if term, rest, _ = strings.Cut(body, end); !quoted {
			// A quote ends a word, so a phrase may follow without a space.
			if word, _, found := strings.Cut(term, `"`); found {
				term, rest = word, body[len(word):]
			}
		}
		switch term = strings.TrimSpace(term); {
		case !strings.ContainsFunc(term, wordly):
		case without:
			q.Without = append(q.Without, term)
		default:
			q.Terms = append(q.Terms, term)
		}
	}
	switch {
	case len(q.Terms) == 0:
		return nil, refuse(at, `query has no word to find. It takes words, "phrases" and -words to leave out`)
	case len(q.Terms)+len(q.Without) > maxSearchTerms:
		return nil, refuse(at, fmt.Sprintf("query has at most %d words and phrases, got %d", maxSearchTerms, len(q.Terms)+len(q.Without)))
	}
	return q, nil
}

// String describes q and the fields it searches, or "" for nil.
func (q *Search) String() string {
	if q == nil {
		return ""
	}
	return fmt.Sprintf("%q -%q %q", q.Terms, q.Without, q.Fields)
}

// SearchWords returns the words of a text, which are its sequences of letters and digits. ASCII letters are in lower
// case.
func SearchWords(text string) []string {
	lower := strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, text)
	return strings.FieldsFunc(lower, func(c rune) bool { return !wordly(c) })
}

func wordly(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

// normalizeSpace replaces white space and control characters by spaces, and removes spaces at both ends.
func normalizeSpace(text string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text))
}

func refuse(at, detail string) error {
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: detail}
}
