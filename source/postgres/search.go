package postgres

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// Search implements sqlgen.Dialect, over text-search indexes and tsvector columns. It ignores terms that consist only
// of stop words, such as "the" in English, because no text matches them. A search without any other term finds
// nothing.
func (dialect) Search(t sqlgen.SearchedView, _ string, of *policy.Search) error {
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
	return nil
}

// mostKept is the maximum size in bytes of a text that is compared again for a trigger's column. A tsvector can
// contain 1 MB, and to_tsvector raises an error for a longer one.
const mostKept = "131072"

// finds writes the condition that a field contains a term. The index has computed the same expression for every
// record, even for hidden ones, so the expression can't raise an error. A tsvector column is only read. If a trigger
// computes the column, older records may contain words of hidden fields. So the searched fields must contain the term
// as well.
func finds(t sqlgen.SearchedView, in []policy.Searched, place string) {
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

// words returns a term as a phrase query. PostgreSQL accepts any text as such a query.
func words(name, place string) string { return "phraseto_tsquery(" + config(name) + ", " + place + ")" }

func config(name string) string { return "'" + strings.ReplaceAll(name, "'", "''") + "'::regconfig" }
