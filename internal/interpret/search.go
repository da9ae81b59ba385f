package interpret

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// matchesSearch reports whether a record matches a search, only by the definition of search.Query. An index of a database may
// find more, such as other forms of a word, and letters with and without accents. It may also ignore words that are too
// common, which count like all others here.
func matchesSearch(s *policy.Search, of record) bool {
	var texts []string
	for _, in := range s.In {
		for _, f := range in.Fields {
			texts = append(texts, line(literals.SearchWords(of.value(f).Text())))
		}
	}
	somewhere := func(term string) bool {
		words := line(literals.SearchWords(term))
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, words) })
	}
	return !slices.ContainsFunc(s.Terms, func(t string) bool { return !somewhere(t) }) && !slices.ContainsFunc(s.Without, somewhere)
}

// line joins words by spaces, with one at each end.
func line(words []string) string { return " " + strings.Join(words, " ") + " " }
