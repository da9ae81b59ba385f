package interpret

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// matchesSearch reports whether a record matches a search, strictly by the definition of search.Query. A database's
// index may find more: other forms of a word, and letters with and without accents. It may also ignore very common
// words, which count like all other words here.
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

// line joins words with spaces. A space is also at each end.
func line(words []string) string { return " " + strings.Join(words, " ") + " " }
