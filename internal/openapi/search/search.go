package search

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// A Query describes a search. If both Text and Service are empty, it finds nothing. See Index.Services.
type Query struct {
	Text    string // search terms in one or several phrasings, or "" for all operations of Service
	Service string // the full or short name of a service, or "" for all services
	Offset  int    // results to skip
	Limit   int    // results to return. 0 means DefaultLimit. The maximum is MaxLimit
}

// These limit the number of operations in one result.
const (
	DefaultLimit = 5
	MaxLimit     = 50
)

// maxAlso is the maximum number of further operations that a Result names.
const maxAlso = 60

// maxWords is the maximum number of terms of a query that are used.
const maxWords = 24

// A Result is the result of a Query.
type Result struct {
	Operations []*spec.Operation // best first, or in the document's order for a service
	Total      int               // number of matches
	Offset     int               // number of matches before Operations
	Service    string            // the full name of the requested service, or "" for all
	Weak       bool              // no operation matches well. See Services instead
	Phrasings  int               // number of phrasings that were used
	// The part of the query's words that the first operation covers, from 0 to 1, for comparison with other APIs.
	Match    float64
	Services []Service         // set if Weak
	Also     []*spec.Operation // the best operations after Operations, to be named only. Nil without a Text
}

// Search finds operations. It returns problem.NotFound with near names for an unknown service.
func (ix *Index) Search(q Query) (Result, error) {
	var r Result
	if q.Service != "" {
		name, err := ix.service(q.Service)
		if err != nil {
			return Result{}, err
		}
		r.Service = name
	}
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	q.Limit, q.Offset = min(q.Limit, MaxLimit), max(q.Offset, 0)
	in := func(e *entry) bool { return r.Service == "" || slices.Contains(e.op.Groups(), r.Service) }
	asked := ix.rankings(q.Text, in)
	r.Phrasings = len(asked)
	var found []int32
	switch {
	case len(asked) > 0:
		one := ix.fuseRankings(asked)
		found, r.Weak, r.Match = one.entries, one.weak, one.match
	case q.Service != "":
		for i := range ix.entries {
			if in(&ix.entries[i]) {
				found = append(found, int32(i))
			}
		}
	default:
		r.Weak = true
	}
	if r.Weak {
		r.Services = ix.services
	}
	r.Total, r.Offset = len(found), min(q.Offset, len(found))
	end := min(r.Offset+q.Limit, len(found))
	r.Operations = ix.operations(found[r.Offset:end])
	if len(asked) > 0 {
		r.Also = ix.operations(found[end:min(end+maxAlso, len(found))])
	}
	return r, nil
}

func (ix *Index) operations(entries []int32) (out []*spec.Operation) {
	for _, i := range entries {
		out = append(out, ix.entries[i].op)
	}
	return out
}

// asked is a parsed query.
type asked struct {
	terms []term
	verb  string // the requested action, or "" if unknown
	many  bool   // the query is about several items
}

// A term is one word of a query with its alternative forms.
type term struct {
	also []also
	verb bool
	most float64 // idf of the rarest form
	own  float64 // idf of the word itself, even if the index doesn't contain it
}

// An also is another term that a word of a query may stand for.
type also struct {
	stem     string
	postings []posting
	value    float64 // idf, reduced for forms that are less similar to the word
}

// ask parses a query text.
func (ix *Index) ask(text string) asked {
	var a asked
	st := stemmer{}
	past := map[string]bool{}
	for _, word := range split(text) {
		if slices.Contains(silent, word) && verbsOf(word) == "" {
			continue
		}
		stem := st.stem(word)
		if past[stem] || len(a.terms) == maxWords {
			continue
		}
		past[stem] = true
		verb := verbsOf(word)
		if verb == "" {
			verb = verbsOf(stem)
		}
		if verb != "" && verb == a.verb && len(ix.terms[stem]) == 0 {
			continue // a repeated verb, for example in "a new device to add"
		}
		// The first verb of a query names the action. A plural means several items.
		t := term{verb: verb != "" && a.verb == "", own: ix.idf(len(ix.terms[stem]))}
		if t.verb {
			a.verb = verb
		} else if strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
			a.many = true
		}
		// The word itself has the highest weight. Then follow the operator's synonyms, the general thesaurus, and
		// other words of the verb.
		ix.form(&t, stem, 1)
		ix.forms(&t, ix.synonyms[stem], 0.8)
		part := related
		if slices.ContainsFunc(ix.terms[stem], isInTitle) {
			part *= direct
		}
		ix.forms(&t, general()[stem], part)
		if t.verb {
			for w := range strings.FieldsSeq(wordsOf(verb)) {
				ix.form(&t, st.stem(w), 0.5)
			}
		}
		// A word that is not in the index may be a prefix of one.
		if len(t.also) == 0 {
			ix.begins(&t, stem)
		}
		if len(t.also) == 0 {
			t.most = ix.idf(0)
			if t.verb {
				t.most = 0
			}
		}
		a.terms = append(a.terms, t)
	}
	a.terms = append(a.terms, ix.impliedTerms(text, st)...)
	return a
}

// impliedTerms returns the terms that a query implies. A query with a proper name implies a search, and words such as
// "my" imply things of the caller. Several words together imply the terms in the thesaurus.
func (ix *Index) impliedTerms(text string, st stemmer) (out []term) {
	add := func(part float64, stems ...string) {
		var t term
		for _, s := range stems {
			ix.form(&t, s, part)
		}
		if len(t.also) > 0 {
			out = append(out, t)
		}
	}
	if ix.names(text) {
		if add(named, st.stem("search")); len(out) > 0 {
			out[0].verb = true // the term is an action, not an object
		}
	}
	if slices.ContainsFunc(split(text), func(w string) bool { return w == own || w == "my" || w == "mine" || w == "i" }) {
		add(1, own)
	}
	for _, stems := range ix.phrases(st.whole(text)) {
		add(phrased, stems...)
	}
	return out
}

// related and phrased are the weights of a stem from the thesaurus, for a word and for several words together. A word
// that the API itself uses needs other words less. Then direct is the rest of related.
const related, phrased, direct = 0.6, 0.9, 0.5

// untitled is the weight of a stem that occurs only in descriptions, parameters and fields. For example, "every" and
// "again" are rare there but don't describe an operation.
const untitled = 0.6

// covering is the weight of the part of its title that a query covers. short is the weight of a short path, because
// POST /refunds is meant more often than POST /charges/{charge}/refunds.
const covering, short = 1.5, 1.5

// inAnswer is the weight of a word of the query that occurs only in a response.
const inAnswer = 0.3

// named is the weight of a search if the query names a thing, because the thing must be found first.
const named = 0.6

// names reports whether a query contains a proper name. A proper name is a capitalized word that no operation
// contains. It is not the first word, and not an abbreviation in capitals (VPN).
func (ix *Index) names(text string) bool {
	st := stemmer{}
	for i, word := range strings.Fields(text) {
		r, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, `"'(`))
		plain := split(word)
		if i > 0 && unicode.IsUpper(r) && strings.ToUpper(word) != word && len(plain) > 0 && !slices.Contains(silent, plain[0]) && len(ix.terms[st.stem(plain[0])]) == 0 {
			return true
		}
	}
	return false
}

// forms adds stems as forms of the term, each with a fraction of its idf.
func (ix *Index) forms(t *term, stems []string, part float64) {
	for _, stem := range stems {
		ix.form(t, stem, part)
	}
}

// form adds a stem as a form of the term, with a fraction of its idf.
func (ix *Index) form(t *term, stem string, part float64) {
	postings := ix.terms[stem]
	if answers := ix.answers[stem]; len(answers) > 0 && part == 1 {
		value := ix.idf(len(answers)) * inAnswer
		t.also = append(t.also, also{"", answers, value})
		t.most = max(t.most, value)
	}
	if len(postings) == 0 || slices.ContainsFunc(t.also, func(a also) bool { return a.stem == stem }) {
		return
	}
	value := ix.idf(len(postings)) * part
	if !slices.ContainsFunc(postings, isInTitle) {
		value *= untitled
	}
	t.also = append(t.also, also{stem, postings, value})
	t.most = max(t.most, value)
}

func isInTitle(p posting) bool { return p.title }

// begins adds terms for a stem that is not in the index. These terms begin with the stem (org, organization), or the
// stem begins with them (repositories, repo).
func (ix *Index) begins(t *term, stem string) {
	if len(stem) < 3 {
		return
	}
	at := sort.SearchStrings(ix.words, stem)
	for ; at < len(ix.words) && strings.HasPrefix(ix.words[at], stem) && len(t.also) < 8; at++ {
		ix.form(t, ix.words[at], 0.7)
	}
	for n := len(stem) - 1; n >= 4 && len(t.also) == 0; n-- {
		ix.form(t, stem[:n], 0.6)
	}
}

// weak is the fraction of the query's idf that the best operation must cover for a strong match.
const weak = 0.3

// least is the fraction of the idf of the query's own words that the best operation must cover. Words that no
// operation contains count too. A query that matches only by some frequent words covers less. For example, "create a
// load balancer" finds operations that create something, and operations about load.
const least = 0.3

// A sum is the total of a query's terms in one entry.
type sum struct {
	score   float64
	title   float64 // idf of the terms in the title
	covered float64 // idf of the found forms without the verb. A word that is only related covers less
	titles  int     // number of terms in the title
	nouns   int     // number of terms, except the verb, that the entry contains in some form
}

// sums computes the sum for each entry.
func (ix *Index) sums(a *asked) []sum {
	sums := make([]sum, len(ix.entries))
	best := make([]float64, len(ix.entries))
	found := make([]float64, len(ix.entries))
	inTitle := make([]bool, len(ix.entries))
	var touched []int32
	for _, t := range a.terms {
		touched = touched[:0]
		for _, f := range t.also {
			for _, p := range f.postings {
				if best[p.entry] == 0 {
					touched = append(touched, p.entry)
				}
				w := float64(p.weight)
				found[p.entry] = max(found[p.entry], f.value)
				best[p.entry] = max(best[p.entry], f.value*w*(saturation+1)/(saturation+w))
				inTitle[p.entry] = inTitle[p.entry] || p.title
			}
		}
		for _, i := range touched {
			s := &sums[i]
			s.score += best[i]
			if !t.verb {
				s.covered += found[i]
				s.nouns++
			}
			if inTitle[i] {
				s.title += t.most
				s.titles++
			}
			best[i], found[i], inTitle[i] = 0, 0, false
		}
	}
	return sums
}

// rank returns the matching entries, best first. It considers only entries that in accepts.
func (ix *Index) rank(a asked, in func(*entry) bool) ranking {
	all, nouns, own, count := 0.0, 0.0, 0.0, 0
	for _, t := range a.terms {
		all += t.most
		if !t.verb {
			count++
			nouns += t.most
			own += max(t.most, t.own)
		}
	}
	sums := ix.sums(&a)
	scores := make([]float64, len(sums))
	var found []int32
	for i := range sums {
		s, e := &sums[i], &ix.entries[i]
		if s.score == 0 || !in(e) {
			continue
		}
		scores[i] = s.score * (1 + 0.6*s.title/all) * (1 + covering*float64(s.titles)/float64(max(e.title, 1))) * (1 + short/float64(e.depth)) * a.fits(e)
		found = append(found, int32(i))
	}
	slices.SortFunc(found, func(x, y int32) int {
		return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(ix.entries[x].op.ID, ix.entries[y].op.ID))
	})
	if len(found) == 0 {
		return ranking{weak: true}
	}
	covered := sums[found[0]].covered
	match := covered / max(own, covered, 1e-9)
	part := sums[found[0]].nouns < count // not set if each word of the query matches a word of the operation
	return ranking{found, covered < weak*nouns || part && match < least, match}
}

// fits returns a factor for how well the query's verb fits the operation.
func (a *asked) fits(e *entry) float64 {
	fit := 1.0
	if e.op.Deprecated {
		fit = 0.8
	}
	switch {
	case e.verb == "":
	case a.verb == "" && reads(e.verb):
		fit *= 1.03
	case a.verb == "":
	case a.verb == e.verb:
		fit *= 1.35
	case strings.Contains(alike[a.verb], e.verb):
	default:
		fit *= 0.7
	}
	if reads(e.verb) && (a.verb == "" || reads(a.verb)) {
		if a.many == e.one {
			fit *= 0.92
		}
	}
	return fit
}

func reads(verb string) bool { return verb == "list" || verb == "get" || verb == "search" }
