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

// A Search matches records in which every one of Terms is found, each in some field, and none of Without in any. A term
// is a word or a phrase with at least one letter or digit. A phrase matches its words next to each other in that order.
// Case is ignored. The index determines what a word is, beyond ASCII letters and digits, and whether other word forms
// match.
type Search struct {
	Terms   []string // one or more
	Without []string
	Fields  []string // the fields to search, or empty for all that have an index
}

// ParseSearch parses text, whose JSON pointer is at. Terms without a letter or digit are dropped. A text without a term to
// find is a problem.InvalidArgument.
func ParseSearch(text, at string) (*Search, error) {
	if len(text) > maxSearchText {
		return nil, refuse(at, fmt.Sprintf("query has at most %d bytes; got %d", maxSearchText, len(text)))
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
			// A quote ends a word, so that a phrase may follow without a space.
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
		return nil, refuse(at, fmt.Sprintf("query has at most %d words and phrases; got %d", maxSearchTerms, len(q.Terms)+len(q.Without)))
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

// SearchWords returns the words of a text: its runs of letters and digits, with ASCII letters in lower case.
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

// normalizeSpace replaces white space and control characters by spaces, and trims them at the ends.
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
