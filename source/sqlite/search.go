package sqlite

import (
	"cmp"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// Search implements sqlgen.Dialect, over FTS5 indexes. If there is only one index, it queries the index once for all
// terms, because FTS5 combines its own lists faster.
func (dialect) Search(t sqlgen.SearchedView, space string, of *policy.Search) error {
	if len(of.In) == 1 {
		query := columns(of.In[0]) + phrases(of.Terms, " AND ")
		if len(of.Without) > 0 {
			query = "(" + query + ") NOT (" + columns(of.In[0]) + phrases(of.Without, " OR ") + ")"
		}
		writeSearch(t, space, of.In[0], query)
		return nil
	}
	somewhere := func(term string) {
		for i, in := range of.In {
			t.Write([]string{"(", " OR "}[min(i, 1)])
			writeSearch(t, space, in, columns(in)+phrases([]string{term}, ""))
		}
		t.Write(")")
	}
	for i, term := range of.Terms {
		if i > 0 {
			t.Write(" AND ")
		}
		somewhere(term)
	}
	for _, term := range of.Without {
		t.Write(" AND NOT ")
		somewhere(term)
	}
	return nil
}

// writeSearch writes the condition that an FTS5 query finds the record. FTS5 raises an error for a query that it
// can't parse. The query here contains only existing columns and quoted phrases.
func writeSearch(t sqlgen.SearchedView, space string, in policy.Searched, query string) {
	t.Write(t.Column(in.Index.Key), " IN (SELECT f.rowid FROM ")
	t.Write(t.Quote(cmp.Or(space, "main")), ".")
	t.Write(t.Quote(in.Index.Name), " AS f WHERE f.", t.Quote(in.Index.Name), " MATCH ", t.Arg(query, ""), ")")
}

// quoteName quotes a column or a phrase in an FTS5 query. The query itself is an argument.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// columns returns the column filter of an FTS5 query.
func columns(in policy.Searched) string {
	names := make([]string, len(in.Fields))
	for i, f := range in.Fields {
		names[i] = quoteName(f)
	}
	return "{" + strings.Join(names, " ") + "} : "
}

// phrases joins terms as phrases of an FTS5 query, with the operator by.
func phrases(terms []string, by string) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = quoteName(t)
	}
	return "(" + strings.Join(quoted, by) + ")"
}
