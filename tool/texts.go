package tool

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// mostText is the maximum length of a text that a note repeats, in bytes.
const mostText = 80

// texts adds a note to a query that found nothing and compares texts letter by letter. The note explains how to find
// texts in another case, or within longer texts. texts only adds it if the caller's view has a record that is found
// this way.
func texts(ctx context.Context, c *bailiwick.Call, asked query.Query, v *policy.View) {
	if s, is := asked.(*query.SQL); is {
		inStatement(ctx, c, s)
		return
	}
	where, ok := condition(asked)
	note, other := looser(where, v)
	if !ok || other == nil {
		return
	}
	if n, err := countRecords(ctx, c, asked.From(), other); err == nil && n > 0 {
		c.Note(note)
	}
}

// looser finds the first condition of f that all records must satisfy and that compares a text letter by letter. It
// returns a note on it, and f with a condition instead that ignores case and finds the text within longer ones. Without
// such a condition it returns "" and nil.
func looser(f query.Filter, v *policy.View) (note string, other query.Filter) {
	switch f := f.(type) {
	case query.And:
		for i, part := range f {
			if note, other := looser(part, v); other != nil {
				out := slices.Clone(f)
				out[i] = other
				return note, out
			}
		}
	case query.Compare:
		if f.Op == query.Eq {
			return within(v, f.Path, f.At, f.Value)
		}
	case query.StartsWith:
		if !identifies(f.Path[len(f.Path)-1]) {
			return within(v, f.Path, f.At, value.OfString(f.Prefix))
		}
	case query.In:
		for _, one := range f.Values {
			if note, other := within(v, f.Path, f.At, one); other != nil && !f.Not {
				return note, other
			}
		}
	case query.Regex:
		if !strings.Contains(f.Options, "i") && dependsOnCase(v, f.Path, f.Pattern) {
			return f.At + `: letters of another case don't match; $ilike, and $regex with "$options":"i", ignore case`, expression(f.Path, f.At, f.Pattern, f.Options+"i")
		}
	}
	return "", nil
}

// expression returns the condition that a field matches a regular expression, or nil if the expression isn't supported.
func expression(path query.Path, at, text, options string) query.Filter {
	r, err := query.ParseRegex(text, options, at)
	if err != nil {
		return nil
	}
	r.Path = path
	return r
}

// within returns the note on a comparison of the field at path with a text. It also returns a condition that ignores
// case and, except for identifiers, finds the text within longer ones. It returns "" and nil if it compares something
// else, or if case can't be the reason.
func within(v *policy.View, path query.Path, at string, text value.Value) (note string, other query.Filter) {
	if text.Kind() != value.String || !dependsOnCase(v, path, text.Text()) {
		return "", nil
	}
	pattern := regexp.QuoteMeta(strings.TrimSpace(text.Text()))
	also := ", and finds it within longer texts"
	if identifies(path[len(path)-1]) {
		pattern, also = `\A`+pattern+`\z`, ""
	}
	return fmt.Sprintf(`%s: texts are compared letter by letter; {"$regex":%s,"$options":"i"} ignores case%s`, at, value.AppendQuote(nil, pattern), also),
		expression(path, at, pattern, "i")
}

// dependsOnCase reports whether the field at path has texts without a list of allowed values, and text has a letter with a
// case. The path may go through a pointer.
func dependsOnCase(v *policy.View, path query.Path, text string) bool {
	if len(path) == 2 {
		v, path = v.Behind(path[0]), path[1:]
	}
	return len(path) == 1 && v != nil && free(v.Field(path[0])) && hasCase(text)
}

func free(f *schema.Field) bool {
	return f != nil && f.Type == schema.String && f.Values == nil && f.Form == ""
}

// identifies reports whether name is typical for identifiers. A part of an identifier matches others by chance.
func identifies(name string) bool {
	return strings.EqualFold(name, "id") || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID")
}

func hasCase(text string) bool {
	return len(text) <= mostText && strings.IndexFunc(text, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) }) >= 0
}

// inStatement does the same as texts, for a SELECT statement.
func inStatement(ctx context.Context, c *bailiwick.Call, s *query.SQL) {
	var views []*policy.View
	for _, name := range tables(s.Statement().Body) {
		if v, err := c.View(name); err == nil {
			views = append(views, v)
		}
	}
	done := false
	sqlparse.Walk(s.Statement().Body, func(e sqlparse.Expr) bool {
		var x, y sqlparse.Expr
		switch e := e.(type) {
		case *sqlparse.Unary: // NOT
			return false
		case *sqlparse.Binary:
			if x, y = e.L, e.R; e.Op != "=" {
				return !done
			}
		case *sqlparse.Like:
			if x, y = e.X, e.Pattern; e.Op != "like" || e.Not {
				return !done
			}
		}
		column, isName := x.(*sqlparse.Name)
		text, isText := y.(*sqlparse.String)
		if done || !isName || !isText || text.Type != "" {
			return !done
		}
		name, written := column.Parts[len(column.Parts)-1], strings.Trim(text.Text, "% ")
		if strings.ContainsAny(written, `%_\`) || !hasCase(written) || !slices.ContainsFunc(views, func(v *policy.View) bool { return free(findField(v, name)) }) {
			return true
		}
		done = true
		pattern, also := "%"+written+"%", ", and finds it within longer texts"
		if identifies(name.Text) {
			pattern, also = written, ""
		}
		if foldedIn(ctx, c, s, text, pattern) {
			c.Note(fmt.Sprintf("line %d, column %d: texts are compared letter by letter. %s ILIKE '%s' ignores case%s",
				text.At.Line, text.At.Column, name.Text, strings.ReplaceAll(pattern, "'", "''"), also))
		}
		return false
	})
	_, _ = c.View(s.From()) // the record names this class
}

// findField returns the field of v with this identifier, or nil.
func findField(v *policy.View, name sqlparse.Ident) *schema.Field {
	i := slices.IndexFunc(v.Fields(), func(f *schema.Field) bool {
		return f.Name == name.Text || !name.Quoted && strings.EqualFold(f.Name, name.Text)
	})
	if i < 0 {
		return nil
	}
	return v.Fields()[i]
}

// tables returns the names of the classes that a SELECT reads, without the classes of its sub-queries.
func tables(b sqlparse.Body) (names []string) {
	s, ok := b.(*sqlparse.Select)
	if !ok {
		return nil
	}
	var add func(sqlparse.From)
	add = func(f sqlparse.From) {
		switch f := f.(type) {
		case *sqlparse.Table:
			var parts []string
			for _, part := range f.Name {
				parts = append(parts, part.Text)
			}
			names = append(names, strings.Join(parts, "."))
		case *sqlparse.Join:
			add(f.Left)
			add(f.Right)
		}
	}
	for _, f := range s.From {
		add(f)
	}
	return names
}
