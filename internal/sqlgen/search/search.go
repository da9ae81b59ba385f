// Package search writes the condition of a full-text search.
//
// Every term must be found in at least one searched field, and no excluded term in any. The searched fields are fields of
// the view: the query names them, whatever else an index covers. Indexes aren't asked for a rank, which depends on all
// records, hidden ones too.
package search

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
)

// A Text is the statement under construction.
type Text interface {
	// Write appends parts.
	Write(parts ...string)
	// Arg returns the place of a value; cast is a type of the dialect, "" for none.
	Arg(v any, cast string) string
	// Quote quotes a name.
	Quote(name string) string
	// Column returns the column of the view searched that holds a field, or the column of an index.
	Column(name string) string
}

// FTS5 writes a search of SQLite's FTS5 indexes; space is the schema that they are in, "" for none. It queries the index
// once for all terms if there is only one: FTS5 joins its own lists better.
func FTS5(t Text, space string, of *policy.Search) {
	if len(of.In) == 1 {
		query := columns(of.In[0]) + phrases(of.Terms, " AND ")
		if len(of.Without) > 0 {
			query = "(" + query + ") NOT (" + columns(of.In[0]) + phrases(of.Without, " OR ") + ")"
		}
		among(t, space, of.In[0], query)
		return
	}
	somewhere := func(term string) {
		for i, in := range of.In {
			t.Write([]string{"(", " OR "}[min(i, 1)])
			among(t, space, in, columns(in)+phrases([]string{term}, ""))
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
}

// among writes that a record is among those that an FTS5 query finds. FTS5 raises an error for a query that it can't
// parse; this one consists of existing columns and quoted phrases.
func among(t Text, space string, in policy.Searched, query string) {
	t.Write(t.Column(in.Index.Key), " IN (SELECT f.rowid FROM ")
	if space != "" {
		t.Write(t.Quote(space), ".")
	}
	t.Write(t.Quote(in.Index.Name), " AS f WHERE f.", t.Quote(in.Index.Name), " MATCH ", t.Arg(query, ""), ")")
}

// quote quotes a column or a phrase inside of an FTS5 query, which is an argument.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// columns returns the column filter of an FTS5 query.
func columns(in policy.Searched) string {
	names := make([]string, len(in.Fields))
	for i, f := range in.Fields {
		names[i] = quote(f)
	}
	return "{" + strings.Join(names, " ") + "} : "
}

// phrases joins terms as phrases of an FTS5 query.
func phrases(terms []string, by string) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = quote(t)
	}
	return "(" + strings.Join(quoted, by) + ")"
}

// PostgreSQL writes a search of text-search indexes and tsvector columns. It ignores a term that consists only of stop
// words, such as "the" in English: no text matches it. A search without any other term finds nothing.
func PostgreSQL(t Text, of *policy.Search) {
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
		place := t.Arg(term, "text")
		all[i] = counts(place)
		t.Write("(", all[i], " = 0 OR ")
		finds(t, of.In, place)
		t.Write(") AND ")
	}
	t.Write(strings.Join(all, " + "), " > 0")
	for _, term := range of.Without {
		t.Write(" AND ((")
		finds(t, of.In, t.Arg(term, "text"))
		t.Write(") IS NOT TRUE)")
	}
}

// mostKept is the most bytes of a text that is looked at again for a column that a trigger keeps. A tsvector holds 1 MB,
// and to_tsvector raises an error where a text has more.
const mostKept = "131072"

// finds writes that a field contains a term. The index has computed this very expression for every record, hidden ones
// too, so it raises no error. A tsvector column is only read. If a trigger keeps
// it, records from before the trigger may hold words of hidden fields, so the searched fields must hold the term as well.
func finds(t Text, in []policy.Searched, place string) {
	sep := ""
	for _, x := range in {
		if x.Index.Column != "" {
			found := t.Column(x.Index.Column) + " @@ " + words(x.Index.Config, place)
			if t.Write(sep); x.Index.Kept {
				t.Write("(", found, " AND (")
				for i, f := range x.Fields {
					t.Write([]string{"", " OR "}[min(i, 1)], "CASE WHEN octet_length(", t.Column(f), ") <= ", mostKept,
						" THEN to_tsvector(", config(x.Index.Config), ", ", t.Column(f), ") @@ ", words(x.Index.Config, place), " END")
				}
				t.Write("))")
			} else {
				t.Write(found)
			}
			sep = " OR "
			continue
		}
		for _, f := range x.Fields {
			text := t.Column(f)
			if x.Index.NoNulls {
				text = "COALESCE(" + text + ", '')"
			}
			t.Write(sep, "to_tsvector(", config(x.Index.Config), ", ", text, ") @@ ", words(x.Index.Config, place))
			sep = " OR "
		}
	}
}

// words returns a term as a phrase query, which PostgreSQL accepts for any text.
func words(name, place string) string { return "phraseto_tsquery(" + config(name) + ", " + place + ")" }

func config(name string) string { return "'" + strings.ReplaceAll(name, "'", "''") + "'::regconfig" }
