package sqlgen

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
)

// In a search, every term must be found in at least one searched field, and no excluded term in any. The searched fields
// are fields of the view: the query names them, whatever else an index covers. Indexes aren't asked for a rank, which
// depends on all records, hidden ones too.

// search queries the index once for all terms if there is only one: FTS5 joins its own lists better.
func (s sqlite) search(w *writer, of *policy.Search) error {
	if len(of.In) == 1 {
		query := columns(of.In[0]) + phrases(of.Terms, " AND ")
		if len(of.Without) > 0 {
			query = "(" + query + ") NOT (" + columns(of.In[0]) + phrases(of.Without, " OR ") + ")"
		}
		s.among5(w, of.In[0], query)
		return nil
	}
	somewhere := func(term string) {
		for i, in := range of.In {
			w.write([]string{"(", " OR "}[min(i, 1)])
			s.among5(w, in, columns(in)+phrases([]string{term}, ""))
		}
		w.write(")")
	}
	for i, term := range of.Terms {
		if i > 0 {
			w.write(" AND ")
		}
		somewhere(term)
	}
	for _, term := range of.Without {
		w.write(" AND NOT ")
		somewhere(term)
	}
	return nil
}

// among5 writes that a record is among those that an FTS5 query finds. FTS5 raises an error for a query that it can't
// parse; this one consists of existing columns and quoted phrases.
func (sqlite) among5(w *writer, in policy.Searched, query string) {
	w.write(w.column(view(-1), in.Index.Key), " IN (SELECT f.rowid FROM ")
	if space := w.plan.View.Class().Space; space != "" {
		w.write(w.quote(space), ".")
	}
	w.write(w.quote(in.Index.Name), " AS f WHERE ", "f."+w.quote(in.Index.Name), " MATCH ")
	w.arg(query, "")
	w.write(")")
}

// columns returns the column filter of an FTS5 query.
func columns(in policy.Searched) string {
	names := make([]string, len(in.Fields))
	for i, f := range in.Fields {
		names[i] = standard{}.quote(f)
	}
	return "{" + strings.Join(names, " ") + "} : "
}

// phrases joins terms as phrases of an FTS5 query.
func phrases(terms []string, by string) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = standard{}.quote(t)
	}
	return "(" + strings.Join(quoted, by) + ")"
}

// search ignores a term that consists only of stop words, such as "the" in English: no text matches it. A search without
// any other term finds nothing.
func (p postgres) search(w *writer, of *policy.Search) error {
	var configs []string
	for _, in := range of.In {
		if !slices.Contains(configs, in.Index.Config) {
			configs = append(configs, in.Index.Config)
		}
	}
	counts := func(place string) string {
		parts := make([]string, len(configs))
		for i, c := range configs {
			parts[i] = "numnode(" + words(c, place) + ")"
		}
		return strings.Join(parts, " + ")
	}
	all := make([]string, len(of.Terms))
	for i, term := range of.Terms {
		place := w.Arg(term, "text")
		all[i] = counts(place)
		w.write("(", all[i], " = 0 OR ")
		p.finds(w, of.In, place)
		w.write(") AND ")
	}
	w.write(strings.Join(all, " + "), " > 0")
	for _, term := range of.Without {
		w.write(" AND ((")
		p.finds(w, of.In, w.Arg(term, "text"))
		w.write(") IS NOT TRUE)")
	}
	return nil
}

// finds writes that a field contains a term. The index has computed this very expression for every record, hidden ones
// too, so it raises no error. A tsvector column is only read.
func (postgres) finds(w *writer, in []policy.Searched, place string) {
	sep := ""
	for _, x := range in {
		if x.Index.Column != "" {
			w.write(sep, w.column(view(-1), x.Index.Column), " @@ ", words(x.Index.Config, place))
			sep = " OR "
			continue
		}
		for _, f := range x.Fields {
			text := w.column(view(-1), f)
			if x.Index.NoNulls {
				text = "COALESCE(" + text + ", '')"
			}
			w.write(sep, "to_tsvector(", config(x.Index.Config), ", ", text, ") @@ ", words(x.Index.Config, place))
			sep = " OR "
		}
	}
}

// words returns a term as a phrase query, which PostgreSQL accepts for any text.
func words(name, place string) string { return "phraseto_tsquery(" + config(name) + ", " + place + ")" }

func config(name string) string { return "'" + strings.ReplaceAll(name, "'", "''") + "'::regconfig" }

func (mysql) search(*writer, *policy.Search) error {
	return unsupported("full-text indexes of MariaDB are not searched")
}
