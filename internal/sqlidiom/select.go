package sqlidiom

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
)

// spread are the functions that make records of a list.
var spread = map[string]bool{"unnest": true, "generate_series": true, "jsonb_array_elements": true, "json_array_elements": true, "jsonb_array_elements_text": true, "json_array_elements_text": true}

// unnested moves a list that an item of s spreads over records into FROM, where it means the same as long as no window
// function counts the records, and no other list is beside it.
func (t *taker) unnested(s *sqlparse.Select) {
	var list *sqlparse.Item
	var at *sqlparse.Expr // the list, in the item
	for i := range s.Items {
		x := &s.Items[i].X
		for cast, is := (*x).(*sqlparse.Cast); is; cast, is = (*x).(*sqlparse.Cast) {
			x = &cast.X
		}
		if c, ok := (*x).(*sqlparse.Call); ok && spread[c.Name] && c.Over == nil && (len(c.Args) == 1 || c.Name == "generate_series") {
			if list != nil {
				return
			}
			list, at = &s.Items[i], x
		}
	}
	if list == nil || sqlparse.Windowed(s.Items) || s.Qualify != nil {
		return
	}
	c := (*at).(*sqlparse.Call)
	if aggregated(c.Args) {
		return
	}
	const table, column = "spread list", "element"
	written := key(c)
	element := &sqlparse.Name{Parts: []sqlparse.Ident{{Text: table, Quoted: true, At: c.At}, {Text: column, Quoted: true, At: c.At}}}
	if list.Alias == nil {
		list.Alias = &sqlparse.Ident{Text: c.Name, Quoted: true, At: c.At}
	}
	*at = element
	for i, e := range s.Group {
		if key(e) == written {
			s.Group[i] = element
		}
	}
	s.From = append(s.From, &sqlparse.Function{Call: c, Alias: sqlparse.Alias{Name: &sqlparse.Ident{Text: table, Quoted: true, At: c.At}, Columns: []sqlparse.Ident{{Text: column, Quoted: true, At: c.At}}}})
}

func key(e sqlparse.Expr) string { return sqlparse.Key(e, (*sqlparse.Name).Written) }

// aggregated reports whether x gathers a list of the records of a group: such a list is spread after the groups are made.
func aggregated(x any) bool {
	found := false
	sqlparse.Walk(x, func(e sqlparse.Expr) bool {
		c, ok := e.(*sqlparse.Call)
		found = found || ok && strings.HasSuffix(c.Name, "_agg")
		return !found
	})
	return found
}
