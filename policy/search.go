package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/result/mask"
	"github.com/bailiwick-dev/bailiwick/internal/textquery"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Search is a search query narrowed to visible, unmasked fields, so that the indexed text of other fields can't
// affect the result.
type Search struct {
	Terms   []string
	Without []string
	In      []Searched // one or more; no field appears twice
}

// Searched is an index and the fields of it to search.
type Searched struct {
	Index  *schema.TextIndex
	Fields []string // one or more, all visible
}

// SearchFields returns the visible, unmasked fields with full-text search, in the order of the class.
func (v *View) SearchFields() []string {
	var out []string
	for _, f := range v.Fields() {
		if v.textIndex(f.Name) != nil {
			out = append(out, f.Name)
		}
	}
	return out
}

// textIndex returns the index by which a visible field is searched, nil for none. It prefers an index without hidden
// fields, so that hidden fields don't affect the choice, and one of single fields to one of several together.
func (v *View) textIndex(field string) *schema.TextIndex {
	hidden := func(name string) bool { return v.Field(name) == nil || v.Mask(name) != nil }
	var best [3]*schema.TextIndex
	for i := range v.class.Text {
		x := &v.class.Text[i]
		some := slices.ContainsFunc(x.Fields, hidden)
		rank := 0
		switch {
		case !slices.Contains(x.Fields, field), hidden(field), x.Key != "" && hidden(x.Key):
			continue
		case x.Column != "" && (some || hidden(x.Column)):
			continue // its terms can't be told apart by field
		case x.Column != "":
			rank = 2
		case some:
			rank = 1
		}
		if best[rank] == nil {
			best[rank] = x
		}
	}
	return cmp.Or(best[0], best[1], best[2])
}

// search narrows q to the fields that it names, or to all searchable fields.
func (v *View) search(q *textquery.Query) (*Search, error) {
	if q == nil {
		return nil, nil
	}
	can := v.SearchFields()
	if can == nil {
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: "/class_name", Detail: fmt.Sprintf("%s has no full-text index on a field", v.name),
			Suggestion: `use query_class with where: {"field": {"$regex": "word", "$options": "i"}}`}
	}
	for i, name := range q.Fields {
		at := query.Pointer("/fields", fmt.Sprint(i))
		if v.Field(name) == nil {
			return nil, v.unknown(name, at)
		}
		v.policy.uses.reads(v.Field(name))
		if v.Mask(name) != nil {
			return nil, mask.Refuse(name, at)
		}
		if !slices.Contains(can, name) {
			return nil, &problem.Error{Code: problem.Unsupported, Pointer: at, Detail: fmt.Sprintf("%s has no full-text index", name),
				Suggestion: "leave fields out, or choose of " + strings.Join(can, ", ")}
		}
		if x := v.textIndex(name); x.Column != "" && slices.ContainsFunc(x.Fields, func(f string) bool { return !slices.Contains(q.Fields, f) }) {
			return nil, &problem.Error{Code: problem.Unsupported, Pointer: at,
				Detail: fmt.Sprintf("%s is searched together with %s alone", name, strings.Join(x.Fields, ", ")), Suggestion: "name them all, or leave fields out"}
		}
	}
	s := &Search{Terms: q.Terms, Without: q.Without}
	for _, name := range can {
		if len(q.Fields) > 0 && !slices.Contains(q.Fields, name) {
			continue
		}
		index := v.textIndex(name)
		i := slices.IndexFunc(s.In, func(in Searched) bool { return in.Index == index })
		if i < 0 {
			i, s.In = len(s.In), append(s.In, Searched{Index: index})
		}
		s.In[i].Fields = append(s.In[i].Fields, name)
	}
	return s, nil
}
