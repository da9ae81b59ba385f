package sqlparse

import (
	"strconv"
	"strings"
)

// parseArrayText returns the list in the text of an array, as PostgreSQL reads it: '{a,"b c",NULL}' is ARRAY['a', 'b
// c', NULL]. It returns any other text or expression unchanged, and also the text of an empty list.
func parseArrayText(e Expr) Expr {
	s, ok := e.(*String)
	if !ok || s.Type != "" {
		return e
	}
	items, ok := Elements(s.Text)
	if !ok || items == nil {
		return e
	}
	out := &Array{At: s.At}
	for _, item := range items {
		if item == nil {
			out.Items = append(out.Items, &Word{Text: "null", At: s.At})
		} else {
			out.Items = append(out.Items, idiomText(*item, s.At))
		}
	}
	return out
}

// rewriteFormat rewrites PostgreSQL's format('%s of %2$s', a, b) as joined texts. A null becomes the empty text.
// Directives other than %s and %% are for SQL text, and widths are for columns of a terminal. They aren't supported.
func rewriteFormat(t *taker, c *Call) Expr {
	pattern, ok := c.Args[0].(*String)
	if !ok {
		return nil
	}
	var parts []Expr
	used := map[int]bool{}
	next, rest := 1, pattern.Text
	for {
		before, after, found := strings.Cut(rest, "%")
		if before != "" {
			parts = append(parts, idiomText(before, pattern.At))
		}
		if !found {
			break
		}
		if rest, ok = strings.CutPrefix(after, "%"); ok {
			parts = append(parts, idiomText("%", pattern.At))
			continue
		}
		which := next
		if digits, behind, found := strings.Cut(after, "$"); found {
			if n, err := strconv.Atoi(digits); err == nil {
				which, after = n, behind
			}
		}
		if rest, ok = strings.CutPrefix(after, "s"); !ok {
			t.fail(pattern.At, "concat(a, '-', b) joins texts, round(x, 2) rounds, lpad(x, 5) fills", "format takes %%s, %%1$s and %%%% here")
			return nil
		}
		if which < 1 || which >= len(c.Args) {
			t.fail(pattern.At, "", "format has no value for the %%s with number %d", which)
			return nil
		}
		if _, name := c.Args[which].(*Name); used[which] && !name {
			t.fail(c.Args[which].Pos(), "compute it in a query in FROM, and use its name", "format takes a value twice only if it is a column")
			return nil
		}
		used[which] = true
		parts, next = append(parts, c.Args[which]), which+1
	}
	if len(parts) == 0 {
		return idiomText("", pattern.At)
	}
	return call(c, "concat", parts...)
}
