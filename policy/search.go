package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/query/search"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Search is a search.Query narrowed to visible fields: what an index holds of others must not decide anything.
type Search struct {
	Terms   []string
	Without []string
	In      []Searched // one or more; no field stands twice
}

// Searched is an index and those of its fields that are searched.
type Searched struct {
	Index  *schema.TextIndex
	Fields []string // one or more, all visible
}

// SearchFields returns the visible fields that text can be searched in, in the order of the class.
func (v *View) SearchFields() []string {
	var out []string
	for _, f := range v.Fields() {
		if v.textIndex(f.Name) != nil {
			out = append(out, f.Name)
		}
	}
	return out
}

// textIndex returns the index that a visible field is searched by: rather one that holds nothing hidden, so that what
// is hidden doesn't choose; nil for none.
func (v *View) textIndex(field string) *schema.TextIndex {
	hidden := func(name string) bool { return v.Field(name) == nil }
	var best *schema.TextIndex
	for i := range v.class.Text {
		x := &v.class.Text[i]
		switch {
		case !slices.Contains(x.Fields, field), x.Key != "" && hidden(x.Key):
		case !slices.ContainsFunc(x.Fields, hidden):
			return x
		case best == nil:
			best = x
		}
	}
	return best
}

// search narrows q to the fields that it names, or to all that can be searched.
func (v *View) search(q *search.Query) (*Search, error) {
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
		if !slices.Contains(can, name) {
			return nil, &problem.Error{Code: problem.Unsupported, Pointer: at, Detail: fmt.Sprintf("%s has no full-text index", name),
				Suggestion: "leave fields out, or choose of " + strings.Join(can, ", ")}
		}
	}
	s := &Search{Terms: q.Terms, Without: q.Without}
	for _, name := range can {
		if q.Fields != nil && !slices.Contains(q.Fields, name) {
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
