package catalogue

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A declaration is what SQLite's catalogue keeps only as text: the collation of each column, and the checks.
type declaration struct {
	columns    []string
	collations []string // "" if none is named
	checks     [][]token
}

// constraintWords are the keywords that begin a table constraint. They are reserved, so a column of such a name is
// quoted.
var constraintWords = []string{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}

// parseDDL reads a CREATE TABLE statement as SQLite stores it.
func parseDDL(ddl string) (declaration, bool) {
	var d declaration
	ts, ok := lex(ddl, true)
	open := slices.IndexFunc(ts, func(t token) bool { return t.is("(") })
	if !ok || open < 0 {
		return d, false
	}
	body, _, ok := group(ts[open:])
	if !ok {
		return d, false
	}
	for _, item := range split(body, ",") {
		if len(item) == 0 {
			return d, false
		}
		first := item[0]
		table := slices.ContainsFunc(constraintWords, first.is)
		collation := ""
		for i := 0; i < len(item); i++ {
			switch {
			case item[i].is("("):
				_, rest, ok := group(item[i:])
				if !ok {
					return d, false
				}
				i = len(item) - len(rest) - 1
			case item[i].is("COLLATE") && i+1 < len(item):
				collation = item[i+1].text
			case item[i].is("CHECK") && i+1 < len(item) && item[i+1].is("("):
				inner, _, ok := group(item[i+1:])
				if !ok {
					return d, false
				}
				d.checks = append(d.checks, inner)
			}
		}
		if !table {
			d.columns, d.collations = append(d.columns, first.text), append(d.collations, collation)
		}
	}
	return d, true
}

// settleDDL sets on f what its DDL contains and no pragma reports. If the DDL can't be parsed, every field is marked Unordered,
// which is always safe.
func (r *sqliteReader) settleDDL(f *found) {
	if f.View {
		for i := range f.Fields {
			f.Fields[i].Unordered = r.foreign // a view's column may compare as the column it comes from
		}
		return
	}
	if r.ddl[f] == "" {
		return // a virtual table
	}
	d, ok := parseDDL(r.ddl[f])
	if !ok || slices.ContainsFunc(f.Fields, func(x schema.Field) bool { return d.column(x.Name) < 0 }) {
		for i := range f.Fields {
			f.Fields[i].Unordered = true
		}
		return
	}
	binary := map[string]bool{}
	for i := range f.Fields {
		c := d.collations[d.column(f.Fields[i].Name)]
		if binary[f.Fields[i].Name] = c == "" || strings.EqualFold(c, "BINARY"); !binary[f.Fields[i].Name] {
			f.Fields[i].Unordered = true
		}
	}
	for _, check := range d.checks {
		for _, said := range rules(check) {
			name := f.spelt(said.column.text)
			if field := f.Field(name); field != nil && (binary[name] || said.json) {
				restrict(field, said)
			}
		}
	}
}

// column returns the index of the column that SQLite finds by name, or -1.
func (d *declaration) column(name string) int {
	return slices.IndexFunc(d.columns, func(c string) bool { return sameName(c, name) })
}

// sameName compares names as SQLite does: ignoring the case of ASCII letters.
func sameName(a, b string) bool {
	return len(a) == len(b) && lowerASCII(a) == lowerASCII(b)
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
