package search

import (
	"cmp"
	"slices"
	"strings"
)

// MaxPhrasings is the maximum number of phrasings of one query that are used.
const MaxPhrasings = 8

// Phrasings splits a query into phrasings: "list tickets; get issues" has two.
func Phrasings(text string) (out []string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// A ranking is the result of one phrasing.
type ranking struct {
	entries []int32 // best first
	weak    bool    // the first entry doesn't match well
	match   float64 // the part of the phrasing that the first entry covers
}

// rankings returns the results of each phrasing of text, among the entries that in accepts. It returns nil if text
// has no words.
func (ix *Index) rankings(text string, in func(*entry) bool) (out []ranking) {
	all := Phrasings(text)
	for _, part := range all[:min(len(all), MaxPhrasings)] {
		if a := ix.ask(part); len(a.terms) > 0 {
			out = append(out, ix.rank(a, in))
		}
	}
	return out
}

// near determines how much the first places of a ranking count when several rankings are fused. The place after this
// many others counts half as much as the first.
const near = 3

// fuseRankings combines several rankings into one by the sum of the reciprocal ranks, because scores of two phrasings
// can't be compared. The match of the result is the best match of a phrasing. Each phrasing is a guess at the API's
// words, and one correct guess is enough.
func (ix *Index) fuseRankings(all []ranking) ranking {
	if len(all) == 1 {
		return all[0]
	}
	out := ranking{weak: true}
	scores := make([]float64, len(ix.entries))
	for _, r := range all {
		out.weak, out.match = out.weak && r.weak, max(out.match, r.match)
		for at, i := range r.entries {
			if scores[i] == 0 {
				out.entries = append(out.entries, i)
			}
			scores[i] += 1 / float64(near+at)
		}
	}
	slices.SortFunc(out.entries, func(x, y int32) int {
		return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(ix.entries[x].op.ID, ix.entries[y].op.ID))
	})
	return out
}
