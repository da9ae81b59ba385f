package sqlite

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A declaration contains the facts that SQLite's catalogue stores only as text: the collation of each column, the
// checks, and the expressions of generated columns.
type declaration struct {
	columns    []string
	collations []string // "" if the column names none
	checks     []check
	made       map[string][]sqldriver.Token // the expressions of generated columns
}

// A check is a check constraint. name is "" if the constraint has no name.
type check struct {
	name      string
	condition []sqldriver.Token
}

// constraintWords are the keywords that begin a table constraint. They are reserved, so a column with such a name is
// quoted.
var constraintWords = []string{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}

// parseDDL parses a CREATE TABLE statement in the form that SQLite stores. It returns false if it can't parse it.
func parseDDL(ddl string) (declaration, bool) {
	d := declaration{made: map[string][]sqldriver.Token{}}
	ts, ok := sqldriver.LexSQL(ddl, sqldriver.AllQuotes)
	open := slices.IndexFunc(ts, func(t sqldriver.Token) bool { return t.Is("(") })
	if !ok || open < 0 {
		return d, false
	}
	body, _, ok := sqldriver.TokenGroup(ts[open:])
	if !ok {
		return d, false
	}
	// Each item is a column or, if it begins with one of constraintWords, a constraint of the table.
	for _, item := range sqldriver.SplitTokens(body, ",") {
		if len(item) == 0 {
			return d, false
		}
		first := item[0]
		table := slices.ContainsFunc(constraintWords, first.Is)
		collation, name := "", ""
		for i := 0; i < len(item); i++ {
			switch {
			case item[i].Is("AS") && i+1 < len(item) && item[i+1].Is("("):
				d.made[first.Text], _, _ = sqldriver.TokenGroup(item[i+1:])
			case item[i].Is("("):
				_, rest, ok := sqldriver.TokenGroup(item[i:])
				if !ok {
					return d, false
				}
				i = len(item) - len(rest) - 1
			case item[i].Is("CONSTRAINT") && i+1 < len(item):
				i++
				name = item[i].Text
			case item[i].Is("COLLATE") && i+1 < len(item):
				collation = item[i+1].Text
			case item[i].Is("CHECK") && i+1 < len(item) && item[i+1].Is("("):
				inner, _, ok := sqldriver.TokenGroup(item[i+1:])
				if !ok {
					return d, false
				}
				d.checks = append(d.checks, check{name, inner}) // the name applies to all checks that follow it in the item
			}
		}
		if !table {
			d.columns, d.collations = append(d.columns, first.Text), append(d.collations, collation)
		}
	}
	return d, true
}

// selects adds the SELECT of each view to texts.
func (r *reader) selects(texts map[*sqldriver.FoundTable]string) {
	for _, f := range r.list {
		if f.View {
			texts[f] = selectOf(r.ddl[f])
		}
	}
}

// code reads the bodies of triggers. A body begins after the first BEGIN.
func (r *reader) code(ctx context.Context) error {
	return scan(ctx, r.tx, `SELECT s.tbl_name, s.sql FROM `+r.from()+` WHERE s.type = 'trigger' ORDER BY s.name`, nil, func(rows *sql.Rows) error {
		var table, text string
		if err := rows.Scan(&table, &text); err != nil {
			return err
		}
		if at := begin.FindStringIndex(text); at != nil {
			r.triggers = append(r.triggers, sqldriver.FoundTrigger{Of: r.byName[sqldriver.LowerASCII(table)], Text: text[at[1]:]})
		}
		return nil
	})
}

// begin matches the text before the body of a trigger.
var begin = regexp.MustCompile(`(?i)\bbegin\b`)

// selectOf returns the SELECT of a CREATE VIEW statement in the form that SQLite stores. The names of the view and of
// its columns come before AS. An unquoted AS is never such a name.
func selectOf(ddl string) string {
	for i := range ddl {
		if rest := ddl[i:]; i > 0 && len(rest) > 3 && strings.EqualFold(rest[:2], "as") && !wordAt(ddl, i-1) && !wordAt(ddl, i+2) {
			if before, ok := sqldriver.LexSQL(ddl[:i], sqldriver.AllQuotes); ok && len(before) > 2 {
				return rest[2:]
			}
		}
	}
	return ""
}

// wordAt reports whether the byte at i is part of a word.
func wordAt(s string, i int) bool {
	c := s[i]
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// settleDDL sets the properties of f that only its DDL contains. If the DDL can't be parsed, it marks every field as
// Unordered, which is always safe.
func (r *reader) settleDDL(f *sqldriver.FoundTable) {
	if f.View {
		for i := range f.Fields {
			f.Fields[i].Unordered = r.foreign // a view's column may have the collation of its origin
		}
		return
	}
	if r.ddl[f] == "" {
		return // a virtual table
	}
	d, ok := parseDDL(r.ddl[f])
	if !ok || slices.ContainsFunc(f.Fields, func(x schema.Field) bool { return d.column(x.Name) < 0 }) {
		for i := range f.Fields {
			field := &f.Fields[i]
			if field.Unordered = true; field.Generated && field.Name != r.rowid[f] {
				field.Origins, field.Untraced = []schema.Origin{{Space: f.Space, Table: f.Table}}, "its expression can't be read"
			}
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
	for name, made := range d.made {
		f.MadeBy(spelt(f, name), made)
	}
	for _, check := range d.checks {
		for _, said := range sqldriver.CheckRules(check.condition) {
			name := spelt(f, said.Column.Text)
			said.With.Text = spelt(f, said.With.Text)
			if field := f.Field(name); field != nil && (binary[name] || said.JSON) && (said.With.Text == "" || field.Type == schema.Integer) { // other fields are compared in their stored form
				sqldriver.RestrictField(field, said)
			}
		}
	}
}

// settleTyping sets how certain the types of the columns of f are. A column of a table has an affinity. It stores a
// number or a text that equals an integer as an integer, and numbers in a text column as texts. STRICT tables and the
// rowid store only values of their types. Nothing enforces the declared types of views and virtual tables.
func (r *reader) settleTyping(f *sqldriver.FoundTable) {
	if f.View || r.ddl[f] == "" {
		return
	}
	for i := range f.Fields {
		switch field := &f.Fields[i]; {
		case r.strict[f] && field.Type != schema.Any, field.Name == r.rowid[f]:
			field.Typing = schema.Strict
		case field.Type == schema.Integer || field.Type == schema.String:
			field.Typing = schema.Converting
		}
	}
}

// bounds returns the fields of c in a check constraint. SQLite uses the condition as the name of an unnamed
// constraint.
func (d *declaration) bounds(c *schema.Class, name string) []string {
	condition, _ := sqldriver.LexSQL(name, sqldriver.AllQuotes)
	var all []sqldriver.Token
	for _, check := range d.checks {
		if check.name == name || check.name == "" && slices.Equal(check.condition, condition) {
			all = append(all, check.condition...)
		}
	}
	return sqldriver.MentionedFields(all, c)
}

// column returns the index of the column that the name means in SQLite, or -1.
func (d *declaration) column(name string) int {
	return slices.IndexFunc(d.columns, func(c string) bool { return sameName(c, name) })
}

// sameName compares names as SQLite does, without regard to the case of ASCII letters.
func sameName(a, b string) bool {
	return len(a) == len(b) && sqldriver.LowerASCII(a) == sqldriver.LowerASCII(b)
}

// spelt returns the field that the name means in SQLite, or "". Their case may differ.
func spelt(f *sqldriver.FoundTable, name string) string {
	for i := range f.Fields {
		if sameName(f.Fields[i].Name, name) {
			return f.Fields[i].Name
		}
	}
	return ""
}
