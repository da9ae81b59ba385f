package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/kljensen/snowball/english"
)

// A stemmer computes the stems of words and caches them.
type stemmer map[string]string

// stems splits a text into words, at spaces, punctuation and case changes, and returns their stems without stop words.
func (st stemmer) stems(text string) []string {
	var out []string
	for _, w := range split(text) {
		if slices.Contains(silent, w) {
			continue
		}
		out = append(out, st.stem(w))
	}
	return out
}

func (st stemmer) stem(word string) string {
	s, ok := st[word]
	if !ok {
		s = english.Stem(word, true)
		st[word] = s
	}
	return s
}

// silent are stop words, which don't describe an operation. The list is short, so it is not sorted.
var silent = []string{"a", "an", "the", "of", "to", "in", "on", "at", "for", "by", "with", "from", "and", "or", "is", "are", "be", "was", "it", "its", "this",
	"that", "these", "those", "my", "our", "your", "their", "i", "we", "you", "me", "us", "do", "does", "did", "can", "could", "will", "would", "should", "please",
	"want", "need", "how", "what", "which", "where", "when", "s", "as", "all", "any", "some", "there", "api", "v1", "v2", "v3", "into", "so", "if", "has", "have", "given", "using", "via"}

// split returns the words of a text in lower case: create, http, token, v2 for createHTTPToken-v2.
func split(text string) []string {
	var out []string
	runes := []rune(text)
	begin := -1
	cut := func(end int) {
		if begin >= 0 {
			out = append(out, strings.ToLower(string(runes[begin:end])))
		}
		begin = -1
	}
	for i, r := range runes {
		switch {
		case r == '\'' || r == '’':
			cut(i)
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			cut(i)
			continue
		case begin < 0:
			begin = i
			continue
		}
		last := runes[i-1]
		next := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsDigit(last) || unicode.IsUpper(last) && next) {
			cut(i)
			begin = i
		}
	}
	cut(len(runes))
	return out
}

// verbs maps common verbs in queries and documents to the canonical verb.
var verbs = []struct {
	verb  string
	words string
}{
	{"list", "list show display enumerate browse see view which who what index query"},
	{"get", "get fetch read retrieve describe lookup inspect download check detail details"},
	{"search", "search find look"},
	{"create", "create add make new register insert open start post submit invite generate upload put place"},
	{"update", "update edit change modify set rename patch replace adjust move configure"},
	{"delete", "delete remove destroy drop erase revoke cancel clear discard detach unlink unassign purge rid"},
}

// alike maps a verb to similar verbs. An operation with a similar verb is not ranked lower.
var alike = map[string]string{"list": "get search", "get": "list search", "search": "list get", "create": "update", "update": "create", "delete": ""}

// verbsOf returns the canonical verb for a word, or "" if it is not a verb.
func verbsOf(word string) string {
	for _, v := range verbs {
		for w := range strings.FieldsSeq(v.words) {
			if w == word {
				return v.verb
			}
		}
	}
	return ""
}

// wordsOf returns the words of a canonical verb.
func wordsOf(verb string) string {
	for _, v := range verbs {
		if v.verb == verb {
			return v.words
		}
	}
	return ""
}

// verbOf returns the canonical verb of an operation. This is the first word of its id or summary if that is a verb,
// and otherwise the verb of its method.
func verbOf(op *spec.Operation) string {
	if op.Declared {
		name := spec.ShortName(op.ID)
		if words := split(name); len(words) > 0 {
			if v := verbsOf(words[0]); v != "" {
				return v
			}
		}
	}
	if words := split(op.Summary); len(words) > 0 {
		if v := verbsOf(words[0]); v != "" {
			return v
		}
	}
	switch op.Method {
	case "GET", "HEAD":
		if strings.HasSuffix(strings.TrimSuffix(op.Path, "/"), "}") {
			return "get"
		}
		return "list"
	case "POST":
		return "create"
	case "PUT", "PATCH":
		return "update"
	case "DELETE":
		return "delete"
	}
	return ""
}
