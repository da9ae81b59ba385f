package sqlparse

import (
	"strings"
)

// spread are the functions that make records from a list.
var spread = map[string]bool{"unnest": true, "generate_series": true, "jsonb_array_elements": true, "json_array_elements": true, "jsonb_array_elements_text": true, "json_array_elements_text": true}

// moveListToFrom moves a list that an item of s turns into records to FROM. The meaning stays the same unless a window
// function counts the records or another item also turns a list into records.
func (t *taker) moveListToFrom(s *Select) {
	var list *Item
	var at *Expr // the list in the item
	for i := range s.Items {
		x := &s.Items[i].X
		for cast, is := (*x).(*Cast); is; cast, is = (*x).(*Cast) {
			x = &cast.X
		}
		if c, ok := (*x).(*Call); ok && spread[c.Name] && c.Over == nil && (len(c.Args) == 1 || c.Name == "generate_series") {
			if list != nil {
				return
			}
			list, at = &s.Items[i], x
		}
	}
	if list == nil || HasWindow(s.Items) || s.Qualify != nil {
		return
	}
	c := (*at).(*Call)
	if hasListAggregate(c.Args) {
		return
	}
	const table, column = "spread list", "element"
	written := idiomKey(c)
	element := &Name{Parts: []Ident{{Text: table, Quoted: true, At: c.At}, {Text: column, Quoted: true, At: c.At}}}
	if list.Alias == nil {
		list.Alias = &Ident{Text: c.Name, Quoted: true, At: c.At}
	}
	*at = element
	for i, e := range s.Group {
		if idiomKey(e) == written {
			s.Group[i] = element
		}
	}
	s.From = append(s.From, &Function{Call: c, Alias: Alias{Name: &Ident{Text: table, Quoted: true, At: c.At}, Columns: []Ident{{Text: column, Quoted: true, At: c.At}}}})
}

func idiomKey(e Expr) string { return Key(e, (*Name).Written) }

// hasListAggregate reports whether x collects a list in each group. Such a list becomes records only after the groups
// are made.
func hasListAggregate(x any) bool {
	found := false
	Walk(x, func(e Expr) bool {
		c, ok := e.(*Call)
		found = found || ok && strings.HasSuffix(c.Name, "_agg")
		return !found
	})
	return found
}
