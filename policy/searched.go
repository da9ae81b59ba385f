package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Search is a search query narrowed to visible, unmasked fields, so that the indexed text of other fields can't
// affect the result.
type Search struct {
	Terms   []string
	Without []string
	In      []Searched // one or more. No field appears twice
}

// A Searched is an index and the fields to search in it.
type Searched struct {
	Index  *schema.TextIndex
	Fields []string // one or more, all visible
}

// A searchedClass is a class as one principal sees it.
type searchedClass struct {
	Name   string
	Fields []*schema.Field    // the visible ones, in the order of the class
	Text   []schema.TextIndex // all of the class
	Hidden func(string) bool  // whether a field is not visible, or masked
}

// Searchable returns the visible, unmasked fields with full-text search, in the order of the class.
func (c searchedClass) Searchable() []string {
	var out []string
	for _, f := range c.Fields {
		if c.index(f.Name) != nil {
			out = append(out, f.Name)
		}
	}
	return out
}

// index returns the index for searches of a visible field, or nil. It prefers an index without hidden fields, so that
// hidden fields don't affect the choice. It also prefers an index of separate fields to an index of several fields
// together.
func (c searchedClass) index(field string) *schema.TextIndex {
	var best [3]*schema.TextIndex
	for i := range c.Text {
		x := &c.Text[i]
		some := slices.ContainsFunc(x.Fields, c.Hidden)
		rank := 0
		switch {
		case !slices.Contains(x.Fields, field), c.Hidden(field), x.Key != "" && c.Hidden(x.Key):
			continue
		case x.Column != "" && (some || c.Hidden(x.Column)):
			continue // it doesn't know which field a term is from
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

// Narrow narrows q to the fields in it, or to all searchable fields. It calls check with each named field and the JSON
// pointer of the name. check refuses the fields that a query can't name.
func (c searchedClass) Narrow(q *literals.Search, check func(name, at string) error) (*Search, error) {
	can := c.Searchable()
	if can == nil {
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: "/class_name", Detail: fmt.Sprintf("%s has no full-text index on a field", c.Name),
			Suggestion: `use query_class with where: {"field": {"$regex": "word", "$options": "i"}}`}
	}
	for i, name := range q.Fields {
		at := query.Pointer("/fields", fmt.Sprint(i))
		if err := check(name, at); err != nil {
			return nil, err
		}
		if !slices.Contains(can, name) {
			return nil, &problem.Error{Code: problem.Unsupported, Pointer: at, Detail: fmt.Sprintf("%s has no full-text index", name),
				Suggestion: "leave fields out, or choose of " + strings.Join(can, ", ")}
		}
		if x := c.index(name); x.Column != "" && slices.ContainsFunc(x.Fields, func(f string) bool { return !slices.Contains(q.Fields, f) }) {
			return nil, &problem.Error{Code: problem.Unsupported, Pointer: at,
				Detail: fmt.Sprintf("%s can be searched only together with %s", name, strings.Join(x.Fields, ", ")), Suggestion: "name them all, or leave fields out"}
		}
	}
	s := &Search{Terms: q.Terms, Without: q.Without}
	for _, name := range can {
		if len(q.Fields) > 0 && !slices.Contains(q.Fields, name) {
			continue
		}
		index := c.index(name)
		i := slices.IndexFunc(s.In, func(in Searched) bool { return in.Index == index })
		if i < 0 {
			i, s.In = len(s.In), append(s.In, Searched{Index: index})
		}
		s.In[i].Fields = append(s.In[i].Fields, name)
	}
	return s, nil
}
