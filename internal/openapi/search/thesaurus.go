package search

import (
	_ "embed" // the thesaurus
	"slices"
	"strings"
	"sync"
)

//go:embed thesaurus.txt
var thesaurusText string

// general is the thesaurus, read once.
var general = sync.OnceValue(func() thesaurus { return readThesaurus(thesaurusText) })

// A thesaurus maps a stem, or several stems separated by spaces, to stems with nearly the same meaning.
type thesaurus map[string][]string

// longest is the maximum number of words in an entry.
const longest = 3

// readThesaurus reads lines of entries with nearly the same meaning, separated by commas. An entry of several words
// maps to the entries of one word. It is never a result, because terms are single words. A line that begins with an
// entry of several words defines only the meaning of that entry.
func readThesaurus(text string) thesaurus {
	st, out := stemmer{}, thesaurus{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		var entries, words []string
		for entry := range strings.SplitSeq(line, ",") {
			stems := st.whole(entry)
			entries = append(entries, strings.Join(stems, " "))
			if len(stems) == 1 {
				words = append(words, stems[0])
			}
		}
		if strings.Contains(entries[0], " ") {
			entries = entries[:1]
		}
		for _, entry := range entries {
			for _, w := range words {
				if w != entry && !slices.Contains(out[entry], w) {
					out[entry] = append(out[entry], w)
				}
			}
		}
	}
	return out
}

// whole returns the stems of all words of a text, including stop words.
func (st stemmer) whole(text string) []string {
	words := split(text)
	for i, w := range words {
		words[i] = st.stem(w)
	}
	return words
}

// particles end verbs of two words. The object often comes between the two words: "log a user out".
var particles = []string{"off", "out", "in", "on", "up", "down", "back", "away", "over", "again"}

// apart is the maximum distance between a verb and its particle, in words.
const apart = 4

// phrases returns the stems for each entry of several words in the query, and for each pair of words that documents
// write as one. It also finds an entry whose particle is separated from its verb.
func (ix *Index) phrases(words []string) [][]string {
	var out [][]string
	for i := range words {
		for n := 2; n <= longest && i+n <= len(words); n++ {
			if to := general()[strings.Join(words[i:i+n], " ")]; to != nil {
				out = append(out, to)
			}
		}
		for n := i + 2; n < len(words) && n <= i+apart; n++ {
			if to := general()[words[i]+" "+words[n]]; to != nil && slices.Contains(particles, words[n]) && !slices.Contains(particles, words[i]) {
				out = append(out, to)
				break
			}
		}
		if i+1 < len(words) && len(ix.terms[words[i]+words[i+1]]) > 0 {
			out = append(out, []string{words[i] + words[i+1]})
		}
	}
	return out
}
