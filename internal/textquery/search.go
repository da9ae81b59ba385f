// Package textquery reads what somebody types to find texts: words, "quoted phrases", and -words to leave out.
//
// It is a word: what it makes has no operators left that a database could read in a way of its own, so that no text can
// make a database fail.
package textquery

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// The limits of a text to search for.
const (
	MaxText  = 400 // bytes
	MaxTerms = 16  // words and phrases
)

// A Query asks for the records in which every one of Terms is found, each in some field, and none of Without in any.
// A term is a word or a phrase, with a letter or a digit in it. It is found where its words stand next to each other in
// that order, in upper or lower case. What a word is beyond letters and digits of ASCII, and whether other forms of it
// are found as well, is up to the index that the source searches.
type Query struct {
	Terms   []string // one or more
	Without []string
	Fields  []string // to search; empty for all that have an index
}

// Parse reads text that stands at the JSON pointer at. A term without a letter or a digit is left out; a text that has
// no term to find is a problem.InvalidArgument.
func Parse(text, at string) (*Query, error) {
	if len(text) > MaxText {
		return nil, refuse(at, fmt.Sprintf("query has at most %d bytes; got %d", MaxText, len(text)))
	}
	q := &Query{}
	for rest := spaced(text); rest != ""; rest = strings.TrimLeft(rest, " ") {
		body, without := strings.CutPrefix(rest, "-")
		end, quoted := " ", strings.HasPrefix(body, `"`)
		if quoted {
			body, end = body[1:], `"`
		}
		var term string
		if term, rest, _ = strings.Cut(body, end); !quoted {
			// A quote ends a word, so that one that is missing a space before it still begins a phrase.
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
		return nil, refuse(at, `query has no word to find; it takes words, "phrases" and -words to leave out`)
	case len(q.Terms)+len(q.Without) > MaxTerms:
		return nil, refuse(at, fmt.Sprintf("query has at most %d words and phrases; got %d", MaxTerms, len(q.Terms)+len(q.Without)))
	}
	return q, nil
}

// String writes q as Parse reads it, and where it is searched; "" for nil.
func (q *Query) String() string {
	if q == nil {
		return ""
	}
	return fmt.Sprintf("%q -%q %q", q.Terms, q.Without, q.Fields)
}

// Words returns the words of a text: its runs of letters and digits, with the capitals of ASCII in lower case.
func Words(text string) []string {
	lower := strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, text)
	return strings.FieldsFunc(lower, func(c rune) bool { return !wordly(c) })
}

func wordly(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

// spaced makes all that is white or controls something into spaces, none at the ends.
func spaced(text string) string {
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
