// Package search finds operations of an HTTP API by what somebody wants to do.
//
// It stands before the way, where an agent looks for what it can call. An Index is made of a View, so it holds nothing
// that its principal may not see: hidden operations are in no answer, no count, no near name and no statistic, because
// they were never put in. Texts are ranked with BM25 over weighted fields (id, path, summary, tags, parameters, fields of
// the body, description), on stems of their words; a verb that fits the operation, and words that fill its title, count
// more. An unknown service is refused with near names.
package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Options are an operator's words about one API.
type Options struct {
	Synonyms map[string][]string // a word that people say → words of the API
}

// An Index ranks the operations of one View. It can be used by many at once.
type Index struct {
	v        *visible.View
	entries  []entry
	terms    map[string][]posting
	words    []string // all terms, sorted
	services []Service
	synonyms map[string][]string // stems of both
}

// An entry is what is known of one operation.
type entry struct {
	op    *spec.Operation
	title int    // how many terms its id, path and summary have together
	verb  string // what it does, as a canonical verb; "" where nothing says
	one   bool   // its path ends in a variable: it is about one thing
}

// A posting is a term in an entry.
type posting struct {
	entry  int32
	weight float32 // of the term's frequency over all fields, by their weights and lengths
	title  bool    // it is in the id, the path or the summary
}

// A Service is a group of operations: a tag.
type Service struct {
	Name        string
	Description string
	Operations  int // that are there
}

// The fields of an operation, and what a word in each counts.
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

// The constants of BM25: how soon repetition stops to count, and how much length does.
const (
	saturation = 1.2
	lengths    = 0.6
)

// New makes the index of what is in v.
func New(v *visible.View, o Options) *Index {
	ix := &Index{v: v, terms: map[string][]posting{}, synonyms: map[string][]string{}}
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

// texts returns the stems of every field of an operation.
func texts(v *visible.View, op *spec.Operation, st stemmer) (out [fields][]string) {
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
		o := v.Object(v.Schema(op.Body.Preferred().Schema))
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
	return out
}

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
	ix.entries = append(ix.entries, entry{op: op, title: len(title), verb: verbOf(op), one: strings.HasSuffix(strings.TrimSuffix(op.Path, "/"), "}")})
}

// group counts the operations of every service, those that the document declares first, in its order.
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

// Services returns the groups of operations, those the document declares first, in its order. It must not be changed.
func (ix *Index) Services() []Service { return ix.services }

// service returns the service that name names: its name, in whatever case, or the end of it behind a dot.
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

// idf tells how much a term says that stands in n of the entries.
func (ix *Index) idf(n int) float64 {
	return math.Log(1 + (float64(len(ix.entries))-float64(n)+0.5)/(float64(n)+0.5))
}
