package absent

import (
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

// mostText is the length of a text, in bytes, up to which a note repeats it.
const mostText = 80

// texts notes how to find texts in another case, or within longer ones, where a query that found nothing compares them
// letter by letter. The note depends on the query and on the types of visible fields alone: no record is looked for.
func texts(c *bailiwick.Call, asked query.Query, v *policy.View) {
	if s, is := asked.(*query.SQL); is {
		inStatement(c, s)
		return
	}
	where, _ := condition(asked)
	if note := literal(where, v); note != "" {
		c.Note(note)
	}
}

// literal returns the note on the first condition of f that a text in another case doesn't meet, of those that all records have
// to meet; "" for none.
func literal(f query.Filter, v *policy.View) (note string) {
	switch f := f.(type) {
	case query.And:
		for _, part := range f {
			if note = literal(part, v); note != "" {
				return note
			}
		}
	case query.Compare:
		if f.Op == query.Eq {
			return within(v, f.Path, f.At, f.Value)
		}
	case query.StartsWith:
		return within(v, f.Path, f.At, value.OfString(f.Prefix))
	case query.In:
		for _, one := range f.Values {
			if note = within(v, f.Path, f.At, one); note != "" && !f.Not {
				return note
			}
		}
	case query.Regex:
		if !strings.Contains(f.Options, "i") && compared(v, f.Path, f.Pattern) {
			return f.At + `: letters of another case don't match; $ilike, and $regex with "$options":"i", ignore case`
		}
	}
	return ""
}

// within returns the note on a comparison of the field at path with a text; "" where it is none, or case can't be the reason.
func within(v *policy.View, path query.Path, at string, text value.Value) string {
	if text.Kind() != value.String || !compared(v, path, text.Text()) {
		return ""
	}
	pattern := value.AppendQuoted(nil, regexp.QuoteMeta(strings.TrimSpace(text.Text())))
	return fmt.Sprintf(`%s: texts are compared letter by letter; {"$regex":%s,"$options":"i"} ignores case, and finds it within longer texts`, at, pattern)
}

// compared reports whether the field at path, which may lead to the record that a pointer refers to, holds texts that no list
// determines, and text has a letter with a case.
func compared(v *policy.View, path query.Path, text string) bool {
	if len(path) == 2 {
		v, path = v.Behind(path[0]), path[1:]
	}
	return len(path) == 1 && v != nil && free(v.Field(path[0])) && cased(text)
}

func free(f *schema.Field) bool {
	return f != nil && f.Type == schema.String && f.Values == nil && f.Form == "" && !identifies(f.Name)
}

// identifies reports whether a field is called as identifiers are: people don't write these in another case.
func identifies(name string) bool {
	return strings.EqualFold(name, "id") || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID")
}

func cased(text string) bool {
	return len(text) <= mostText && strings.IndexFunc(text, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) }) >= 0
}

// inStatement is texts for a SELECT statement.
func inStatement(c *bailiwick.Call, s *query.SQL) {
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
		if strings.ContainsAny(written, `%_\`) || !cased(written) || !slices.ContainsFunc(views, func(v *policy.View) bool { return free(called(v, name)) }) {
			return true
		}
		done = true
		c.Note(fmt.Sprintf("line %d, column %d: texts are compared letter by letter; %s ILIKE '%%%s%%' ignores case, and finds it within longer texts",
			text.At.Line, text.At.Column, name.Text, strings.ReplaceAll(written, "'", "''")))
		return false
	})
	_, _ = c.View(s.From()) // the record names this class
}

// called returns the field of v that an identifier names, or nil.
func called(v *policy.View, name sqlparse.Ident) *schema.Field {
	i := slices.IndexFunc(v.Fields(), func(f *schema.Field) bool {
		return f.Name == name.Text || !name.Quoted && strings.EqualFold(f.Name, name.Text)
	})
	if i < 0 {
		return nil
	}
	return v.Fields()[i]
}

// tables returns the names of the classes that a SELECT reads, without those of its sub-queries.
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
