// Package search finds operations of an HTTP API from a description of a task, and describes them to agents.
//
//	spec.View ─New→ Index ─Search: words→ Result ─DescribeResult→ text
//	spec.View, operation or schema ─DescribeOperation, DescribeSchema→ text
//
// An Index and a description are made from a View. They contain only what its principal may see. Hidden operations
// affect no result, count, near name or statistic.
//
// Search ranks operations with BM25 over weighted fields, by the stems of their words. The fields are id, path,
// summary, tags, parameters, description, and the fields of body and response. A verb that fits the operation raises
// the score. Matches that cover the operation's title raise it too. An unknown service is refused with near names.
//
// The description of an operation shows the request, with required parts first, and then the response, two levels
// deep. Its size is limited. The response is shortened before the request. DescribePart and DescribeSchema describe
// deeper parts. Texts of the document are untrusted data. They are flattened to one line and cut, so they can't break
// out of their line.
package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Options configure the search of one API.
type Options struct {
	Synonyms map[string][]string // common word → terms of the API for it
}

// An Index ranks the operations of one View. It is safe for concurrent use.
type Index struct {
	v        *spec.View
	entries  []entry
	terms    map[string][]posting
	answers  map[string][]posting // the same for the fields of responses
	words    []string             // all terms, sorted
	services []Service
	synonyms map[string][]string // stems → stems
}

// An entry is the indexed data of one operation.
type entry struct {
	op    *spec.Operation
	title int    // total number of terms in its id, path and summary
	verb  string // its canonical verb, or "" if unknown
	depth int    // segments of its path
	one   bool   // the path ends in a variable, so the operation is about one item
}

// A posting is an occurrence of a term in an entry.
type posting struct {
	entry  int32
	weight float32 // the term's frequency over all fields, weighted and normalized by length
	title  bool    // the term occurs in the id, the path or the summary
}

// A Service is a group of operations: a tag.
type Service struct {
	Name        string
	Description string
	Operations  int // number of visible operations
}

// These are the fields of an operation. Each has a weight for its terms.
const (
	fieldID = iota
	fieldPath
	fieldSummary
	fieldTags
	fieldParameters
	fieldBody
	fieldSchemas
	fieldDescription
	fields
)

var weights = [fields]float32{fieldID: 3, fieldPath: 2, fieldSummary: 3, fieldTags: 1.2, fieldParameters: 0.6, fieldBody: 0.5, fieldSchemas: 0.7, fieldDescription: 0.8}

// These are the constants of BM25. saturation (k1) is how soon repetition saturates, and lengths (b) is the influence
// of length.
const (
	saturation = 1.2
	lengths    = 0.6
)

// New returns an index of the operations in v.
func New(v *spec.View, o Options) *Index {
	ix := &Index{v: v, terms: map[string][]posting{}, answers: map[string][]posting{}, synonyms: map[string][]string{}}
	st := stemmer{}
	all := make([][fields][]string, len(v.Operations()))
	var total [fields]int
	for i, op := range v.Operations() {
		all[i] = texts(v, op, st)
		for f, words := range all[i] {
			total[f] += len(words)
		}
	}
	for i, op := range v.Operations() {
		ix.add(op, all[i], total, len(all))
		ix.answer(i, op, st)
	}
	for term := range ix.terms {
		ix.words = append(ix.words, term)
	}
	slices.Sort(ix.words)
	for word, to := range o.Synonyms {
		for _, from := range st.stems(word) {
			for _, t := range to {
				ix.synonyms[from] = append(ix.synonyms[from], st.stems(t)...)
			}
		}
	}
	ix.group()
	return ix
}

// texts returns the stems in every field of an operation.
func texts(v *spec.View, op *spec.Operation, st stemmer) (out [fields][]string) {
	out[fieldID] = st.stems(op.ID)
	out[fieldPath] = st.stems(op.Path)
	out[fieldSummary] = st.stems(op.Summary)
	out[fieldDescription] = st.stems(op.Description)
	for _, tag := range op.Groups() {
		out[fieldTags] = append(out[fieldTags], st.stems(tag)...)
	}
	for _, p := range v.Parameters(op) {
		out[fieldParameters] = append(out[fieldParameters], st.stems(p.Name)...)
	}
	if op.Body != nil {
		o := v.Object(v.Schema(op.Body.PreferredContent().Schema))
		out[fieldSchemas] = append(out[fieldSchemas], st.stems(spec.ShortName(o.Name))...)
		for _, f := range o.Fields {
			out[fieldBody] = append(out[fieldBody], st.stems(f.Name)...)
		}
	}
	if r := op.Success(); r != nil && len(r.Contents) > 0 {
		s := v.Schema(r.Contents[0].Schema)
		if s.Name == "" && s.Items != nil {
			s = v.Schema(s.Items)
		}
		out[fieldSchemas] = append(out[fieldSchemas], st.stems(spec.ShortName(s.Name))...)
	}
	if slices.Contains(strings.Split(op.Path, "/"), own) {
		out[fieldPath] = append(out[fieldPath], own)
	}
	return out
}

// answer adds the stems of the fields in the response of op, the i-th operation. They are stored separately.
// Otherwise every noun of the API would seem to be common.
func (ix *Index) answer(i int, op *spec.Operation, st stemmer) {
	r := op.Success()
	if r == nil || len(r.Contents) == 0 {
		return
	}
	s := ix.v.Schema(r.Contents[0].Schema)
	if s.Items != nil {
		s = ix.v.Schema(s.Items)
	}
	for _, f := range ix.v.Object(s).Fields {
		for _, w := range st.stems(f.Name) {
			if all := ix.answers[w]; len(all) == 0 || all[len(all)-1].entry != int32(i) {
				ix.answers[w] = append(all, posting{entry: int32(i), weight: 1})
			}
		}
	}
}

// own is the segment of paths, and the term, for things that belong to the caller. As a word it is a stop word.
const own = "me"

// add indexes op with BM25F. The words of each field count by the field's weight and by the field's length relative
// to the mean. n is the number of operations, and total contains the number of words of each field in all operations.
func (ix *Index) add(op *spec.Operation, text [fields][]string, total [fields]int, n int) {
	weight, title := map[string]float32{}, map[string]bool{}
	var order []string
	for f, words := range text {
		if len(words) == 0 {
			continue
		}
		mean := float32(total[f]) / float32(n)
		each := weights[f] / (1 - lengths + lengths*float32(len(words))/mean)
		for _, w := range words {
			if _, ok := weight[w]; !ok {
				order = append(order, w)
			}
			weight[w] += each
			if f == fieldID || f == fieldPath || f == fieldSummary {
				title[w] = true
			}
		}
	}
	at := int32(len(ix.entries))
	for _, w := range order {
		ix.terms[w] = append(ix.terms[w], posting{entry: at, weight: weight[w], title: title[w]})
	}
	ix.entries = append(ix.entries, entry{op: op, title: len(title), verb: verbOf(op), depth: strings.Count(strings.Trim(op.Path, "/"), "/") + 1, one: strings.HasSuffix(strings.TrimSuffix(op.Path, "/"), "}")})
}

// group counts the operations of each service. The declared services come first, in the document's order.
func (ix *Index) group() {
	at := map[string]int{}
	count := map[string]int{}
	for _, e := range ix.entries {
		for _, g := range e.op.Groups() {
			count[g]++
		}
	}
	put := func(name, description string) {
		if _, ok := at[name]; !ok && count[name] > 0 {
			at[name] = len(ix.services)
			ix.services = append(ix.services, Service{Name: name, Description: description, Operations: count[name]})
		}
	}
	_, tags := ix.v.Document()
	for _, tag := range tags {
		put(tag.Name, tag.Description)
	}
	var rest []string
	for name := range count {
		rest = append(rest, name)
	}
	slices.Sort(rest)
	for _, name := range rest {
		put(name, "")
	}
}

// Services returns the services, with the declared ones first, in the document's order. Callers must not modify the
// slice.
func (ix *Index) Services() []Service { return ix.services }

// service returns the full name of a service. The given name may be the full name in any case, or the part after the
// last dot.
func (ix *Index) service(name string) (string, error) {
	var found, all []string
	for _, s := range ix.services {
		if s.Name == name {
			return name, nil
		}
		if strings.EqualFold(s.Name, name) || strings.EqualFold(spec.ShortName(s.Name), name) {
			found = append(found, s.Name)
		}
		all = append(all, s.Name)
		if short := spec.ShortName(s.Name); short != s.Name {
			all = append(all, short)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	near := found
	if len(near) == 0 {
		near = problem.Nearest(name, all, 3)
	}
	near = near[:min(len(near), 5)]
	return "", &problem.Error{Code: problem.NotFound, Near: near, Detail: fmt.Sprintf("unknown service %q%s", problem.Cut(name), problem.DidYouMean(near)),
		Suggestion: "search_api without arguments lists the services"}
}

// idf returns the inverse document frequency of a term that occurs in n entries.
func (ix *Index) idf(n int) float64 {
	return math.Log(1 + (float64(len(ix.entries))-float64(n)+0.5)/(float64(n)+0.5))
}
