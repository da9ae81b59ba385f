package sqlbind

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// catalogueTable returns a table of information_schema or pg_catalog, made from the caller's own views. It creates only
// records that the surrounding WHERE may match. The WHERE itself is evaluated later.
func (b *binder) catalogueTable(name, alias sqlparse.Ident, catalogue string, outer *rel, w *with) (*rel, error) {
	t, names := describedTable(catalogue, name.Text, b.whereValues(alias), b.tables.All)
	if t == nil {
		return nil, &problem.Error{Code: problem.NotFound, Kind: "unknown_class", Pointer: At(name.At), Detail: "unknown table " + catalogue + "." + problem.Cut(name.Text), Near: names}
	}
	b.catalogue = true
	rows := t.Rows
	if len(t.Rows) == 0 {
		rows = []value.Row{make(value.Row, len(t.Types))}
	}
	r := b.fromRows(rows, t.Types, outer, w)
	for i, n := range t.Names {
		r.nameColumn(i, n)
	}
	if len(t.Rows) == 0 {
		r.add(&plan.Filter{If: constantly(false), Shape: *r.shape})
	}
	return r, nil
}

// whereValues returns the texts and patterns with which the surrounding WHERE compares the columns of a FROM item.
func (b *binder) whereValues(alias sqlparse.Ident) Wanted {
	out := &Wanted{}
	for _, part := range b.where {
		switch e := part.(type) {
		case *sqlparse.Binary:
			column, value := e.L, e.R
			if !isName(column) {
				column, value = e.R, e.L
			}
			if name := columnOf(column, alias); name != "" && e.Op == "=" {
				b.among(out, name, []sqlparse.Expr{value})
			}
		case *sqlparse.In:
			if name := columnOf(e.X, alias); name != "" && !e.Not && e.Query == nil {
				b.among(out, name, e.List)
			}
		case *sqlparse.Like:
			name := columnOf(e.X, alias)
			texts, ok := b.texts([]sqlparse.Expr{e.Pattern})
			if ok && name != "" && !e.Not && e.Escape == nil && (e.Op == "like" || e.Op == "ilike") && !strings.Contains(texts[0], `\`) {
				out.Like(name, texts[0])
			}
		}
	}
	return *out
}

// among records in w that a column equals one of the values, if all values are texts.
func (b *binder) among(w *Wanted, column string, values []sqlparse.Expr) {
	if texts, ok := b.texts(values); ok {
		w.Among(column, texts)
	}
}

// columnOf returns the name of a column of the FROM item called alias. It returns "" for any other expression.
func columnOf(e sqlparse.Expr, alias sqlparse.Ident) string {
	n, ok := e.(*sqlparse.Name)
	if !ok || len(n.Parts) > 1 && !equalFold(n.Parts[len(n.Parts)-2], alias.Text) {
		return ""
	}
	return strings.ToLower(n.Parts[len(n.Parts)-1].Text)
}

func isName(e sqlparse.Expr) bool {
	_, ok := e.(*sqlparse.Name)
	return ok
}

// texts returns the texts of constants and parameters. It returns false if one of them isn't a text.
func (b *binder) texts(values []sqlparse.Expr) ([]string, bool) {
	out := []string{}
	for _, v := range values {
		switch v := v.(type) {
		case *sqlparse.String:
			if v.Type != "" {
				return nil, false
			}
			out = append(out, v.Text)
		case *sqlparse.Param:
			given := b.o.Params[v.Name]
			if given.Kind() != value.String {
				return nil, false
			}
			out = append(out, given.Text())
		default:
			return nil, false
		}
	}
	return out, true
}
